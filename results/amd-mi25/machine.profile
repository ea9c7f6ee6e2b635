{
 "version": 1,
 "machine": "amd-mi25",
 "date": "2018-04-04",
 "facts": {
  "CPU Model": "AMD EPYC",
  "GPU Model": "AMD MI25",
  "Linux Kernel Version": "4.13.0-37-generic",
  "ROCm Version": "1.7.1",
  "MIOpen Version": "1.3"
 },
 "peaks": {
  "rocm": {
   "float32": {
    "value": 12300000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: AMD Radeon Instinct MI25 data sheet, 2017: 12.3 and 24.6 TFLOPS, 484 GB/s"
   },
   "float16": {
    "value": 24600000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: AMD Radeon Instinct MI25 data sheet, 2017: 12.3 and 24.6 TFLOPS, 484 GB/s"
   }
  }
 },
 "bandwidth": {
  "rocm": {
   "value": 484000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: AMD Radeon Instinct MI25 data sheet, 2017: 12.3 and 24.6 TFLOPS, 484 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "2cf3c3c704da"
}
