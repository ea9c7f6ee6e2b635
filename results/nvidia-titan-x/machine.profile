{
 "version": 1,
 "machine": "nvidia-titan-x",
 "date": "2018-05-21",
 "facts": {
  "CPU Model": "Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz",
  "GPU Model": "Nvidia TitanX",
  "Linux Kernel Version": "3.13.0-57-generic",
  "CUDA Version": "7.5.18",
  "Cudnn Version": "5",
  "OpenMPI Version": "1.10.2",
  "Nvidia Driver": "352.79",
  "Motherboard": "Tyan FT77C-B7079",
  "Bios Version": "V1.03B.B10",
  "HCA Version": "v2.34.5000",
  "Mellanox Driver": "3.0-2.0.1",
  "Mellanox OS": "3.4.2008"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": 6600000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: NVIDIA GTX Titan X specifications, 2015: 3072 cores at 1075 MHz boost, 336.5 GB/s"
   }
  }
 },
 "bandwidth": {
  "cuda": {
   "value": 336500000000.0,
   "unit": "bytes/s",
   "how": "data sheet: NVIDIA GTX Titan X specifications, 2015: 3072 cores at 1075 MHz boost, 336.5 GB/s"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "09e8229a8b40"
}
