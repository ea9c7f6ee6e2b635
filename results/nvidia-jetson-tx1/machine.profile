{
 "version": 1,
 "machine": "nvidia-jetson-tx1",
 "date": "2017-01-17",
 "facts": {
  "CPU Model": "4x ARM\u00ae Cortex\u00ae-57 2MB L2",
  "GPU Model": "NVIDIA Maxwell 256-core",
  "Motherboard": "NVIDIA Jetson TX1 Developer Kit Carrier Board",
  "Linux Kernel Version": "3.10.96-tegra",
  "CUDA Version": "7.0.74",
  "Cudnn Version": "5.0.5",
  "OpenMPI Version": "1.6.5"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": 512000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Jetson TX1 specifications, 2015: 256 cores at 1 GHz, 1 TFLOPS in FP16, 25.6 GB/s"
   },
   "float16": {
    "value": 1024000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA Jetson TX1 specifications, 2015: 256 cores at 1 GHz, 1 TFLOPS in FP16, 25.6 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 25600000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA Jetson TX1 specifications, 2015: 256 cores at 1 GHz, 1 TFLOPS in FP16, 25.6 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "0a77d5cb6478"
}
