{
 "version": 1,
 "machine": "raspberry-pi-3",
 "date": "2017-07-14",
 "facts": {
  "CPU": "1.2 GHZ quad-core ARM Cortex A53",
  "OS 32 bit": "Raspbian GNU/Linux 8.0 (jessie) - used for GEMM and Sparse GEMMs",
  "OS 64 bit": "https://github.com/bamarni/pi64/releases - used for Convolutions",
  "Eigen Version": "3.3.3",
  "Gemmlowp version": "Latest code from github repo",
  "ARM Compute Lib version": "17.05"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: neither Broadcom nor the Raspberry Pi Foundation names FLOPS of the BCM2837's cores"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "e52adc93fbd5"
}
