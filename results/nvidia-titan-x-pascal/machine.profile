{
 "version": 1,
 "machine": "nvidia-titan-x-pascal",
 "date": "2018-05-23",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU E5-2650 v3 @ 2.30GHz",
  "GPU Model": "Nvidia TitanX Pascal",
  "Linux Kernel Version": "3.13.0-57-generic",
  "CUDA Version": "8",
  "Cudnn Version": "5",
  "OpenMPI Version": "1.10.2",
  "Nvidia Driver": "367.48",
  "Motherboard": "Tyan FT77C-B7079",
  "Bios Version": "V1.03B.B10",
  "HCA Version": "v2.34.5000"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": 11000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Titan X announcement, 2016-07: 11 TFLOPS, 44 TOPS INT8, 480 GB/s"
   },
   "int8": {
    "value": 44000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Titan X announcement, 2016-07: 11 TFLOPS, 44 TOPS INT8, 480 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 480000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA Titan X announcement, 2016-07: 11 TFLOPS, 44 TOPS INT8, 480 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "5724aa820bcc"
}
