{
 "version": 1,
 "machine": "nvidia-t4",
 "date": "2019-10-07",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU Gold 6140 @ 2.0GHz",
  "GPU Model": "NVIDIA T4",
  "Linux Kernel Version": "4.18.0-16-generic",
  "CUDA Version": "10.1.243",
  "Cudnn Version": "7.6.2.24",
  "OpenMPI Version": "-",
  "Nvidia Driver": "418.67",
  "Motherboard": "Supermicro X11DPG-OT-CPU",
  "Bios Version": "3.1",
  "HCA Version": "-"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": 8100000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA T4 data sheet, 2019: 8.1 and 65 TFLOPS, 130 TOPS, 320 GB/s"
   },
   "float16": {
    "value": 65000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA T4 data sheet, 2019: 8.1 and 65 TFLOPS, 130 TOPS, 320 GB/s"
   },
   "int8": {
    "value": 130000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA T4 data sheet, 2019: 8.1 and 65 TFLOPS, 130 TOPS, 320 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 320000000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA T4 data sheet, 2019: 8.1 and 65 TFLOPS, 130 TOPS, 320 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "62b45dbaa2dd"
}
