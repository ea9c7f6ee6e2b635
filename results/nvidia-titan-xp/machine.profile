{
 "version": 1,
 "machine": "nvidia-titan-xp",
 "date": "2018-05-21",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU E5-2690 v4@2.60GHz 3.5GHz Turbo (Broadwell) HT On",
  "GPU Model": "NVIDIA GTX TitanXp",
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
    "value": 12100000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Titan Xp specifications, 2017: 3840 cores at 1582 MHz boost, four INT8 products for one FP32, 547.7 GB/s"
   },
   "int8": {
    "value": 48600000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Titan Xp specifications, 2017: 3840 cores at 1582 MHz boost, four INT8 products for one FP32, 547.7 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 547700000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA Titan Xp specifications, 2017: 3840 cores at 1582 MHz boost, four INT8 products for one FP32, 547.7 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "d2ecc5d59656"
}
