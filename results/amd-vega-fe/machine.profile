{
 "version": 1,
 "machine": "amd-vega-fe",
 "date": "2018-04-04",
 "facts": {
  "CPU Model": "Intel(R) CPU i7-5760X (Haswell)",
  "GPU Model": "AMD Vega Frontier Edition 16GB",
  "Linux Kernel Version": "4.13.0-37-generic",
  "ROCm Version": "1.7.1",
  "MIOpen Version": "1.3"
 },
 "peaks": {
  "rocm": {
   "float32": {
    "value": 13100000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: AMD Radeon Vega Frontier Edition specifications, 2017: 13.1 and 26.2 TFLOPS, 483 GB/s"
   },
   "float16": {
    "value": 26200000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: AMD Radeon Vega Frontier Edition specifications, 2017: 13.1 and 26.2 TFLOPS, 483 GB/s"
   }
  }
 },
 "bandwidth": {
  "rocm": {
   "value": 483000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: AMD Radeon Vega Frontier Edition specifications, 2017: 13.1 and 26.2 TFLOPS, 483 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "b9f17bc94a90"
}
