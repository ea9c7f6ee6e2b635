{
 "version": 1,
 "machine": "nvidia-v100",
 "date": "2019-10-07",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz",
  "GPU Model": "NVIDIA V100",
  "Linux Kernel Version": "4.15.0-54-generic",
  "CUDA Version": "10.1.243",
  "Cudnn Version": "7.6.2.24",
  "OpenMPI Version": "-",
  "Nvidia Driver": "418.67"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": 15700000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Tesla V100 SXM2 data sheet, 2018: 15.7 TFLOPS, 125 TFLOPS in tensor cores, 900 GB/s"
   },
   "float16": {
    "value": 125000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Tesla V100 SXM2 data sheet, 2018: 15.7 TFLOPS, 125 TFLOPS in tensor cores, 900 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 900000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA Tesla V100 SXM2 data sheet, 2018: 15.7 TFLOPS, 125 TFLOPS in tensor cores, 900 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "ffb889e6febe"
}
