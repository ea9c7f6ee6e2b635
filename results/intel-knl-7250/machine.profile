{
 "version": 1,
 "machine": "intel-knl-7250",
 "date": "2017-12-07",
 "facts": {
  "CPU Model": "Intel(R) Xeon Phi(TM) 7250F",
  "Linux Kernel Version": "3.10.0-514.6.2.0.1.el7.x86_64.knl1",
  "ICC Version": "17.0.4 20170411",
  "Intel MKL Version": "MKL 2017.3, MKLML (2017.0.1)",
  "LIBXSMM Version": "master-1.5.2-190",
  "Intel MPI Version": "2017 Update 3",
  "Intel MLSL Version": "2017 Update 2 Preview",
  "Motherboard": "Groveport",
  "Bios Version": "GVPRCRB1.86B.0011.R04.1610130403",
  "OPA Version": "Intel Corporation Omni-Path HFI Silicon 100 Series [discrete] (rev 11)",
  "IFS Version": "10.5.0.0.155"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 6090000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: Intel ARK, Xeon Phi 7250: 68 cores at 1.4 GHz, two AVX-512 units each; 115.2 GB/s to DDR4 (MCDRAM apart)"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 115200000000.0,
   "unit": "bytes/s",
   "how": "data sheet: Intel ARK, Xeon Phi 7250: 68 cores at 1.4 GHz, two AVX-512 units each; 115.2 GB/s to DDR4 (MCDRAM apart)"
  }
 },
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "4a7944f3f832"
}
