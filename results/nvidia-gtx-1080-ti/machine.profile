{
 "version": 1,
 "machine": "nvidia-gtx-1080-ti",
 "date": "2018-05-21",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU E5-2690 v4@2.60GHz 3.5GHz Turbo (Broadwell) HT On",
  "GPU Model": "NVIDIA GTX 1080 Ti",
  "Linux Kernel Version": "3.13.0-57-generic",
  "CUDA Version": "8.0.88",
  "Cudnn Version": "6.0.21",
  "Nvidia Driver": "375.66",
  "Motherboard": "ASUSTeK COMPUTER INC. X99-E WS/USB 3.1",
  "Bios Version": "3502"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": 11300000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA GTX 1080 Ti specifications, 2017: 3584 cores at 1582 MHz boost, four INT8 products for one FP32, 484 GB/s"
   },
   "int8": {
    "value": 45400000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA GTX 1080 Ti specifications, 2017: 3584 cores at 1582 MHz boost, four INT8 products for one FP32, 484 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 484000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA GTX 1080 Ti specifications, 2017: 3584 cores at 1582 MHz boost, four INT8 products for one FP32, 484 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "5adfb587b1ff"
}
