{
 "version": 1,
 "machine": "nvidia-p100",
 "date": "2018-05-21",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU E5-2690 v4@2.60GHz 3.5GHz Turbo (Broadwell) HT On",
  "GPU Model": "NVIDIA Tesla P100",
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
    "value": 9300000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Tesla P100 PCIe data sheet, 2016: 9.3 and 18.7 TFLOPS, 732 GB/s"
   },
   "float16": {
    "value": 18700000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Tesla P100 PCIe data sheet, 2016: 9.3 and 18.7 TFLOPS, 732 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 732000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA Tesla P100 PCIe data sheet, 2016: 9.3 and 18.7 TFLOPS, 732 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "4786617387be"
}
