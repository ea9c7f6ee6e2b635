{
 "version": 1,
 "machine": "epyc-9005-2core",
 "date": "2026-11-21",
 "facts": {
  "memory_bytes": "25276510208",
  "last_level_cache_bytes": "33554432",
  "kernel": "6.18.44-fc-v657",
  "processor": "26/2/1"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 203310495016.49637,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 9, under OPENBLAS_CORETYPE=Haswell (inferred: docs/lab-notes/2026-11-24-openblas-core.md)"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu"
   },
   "bfloat16": {
    "value": 757332120534.7257,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 7"
   },
   "float16": {
    "value": 2352697932.1856065,
    "unit": "FLOP/s",
    "how": "measured: 512^3 GEMM, torch 2.13.0+cpu, best of 10"
   },
   "int8": {
    "value": 1722389259216.891,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 13"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 39122088809.1106,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 128 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 158"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": null,
    "unit": "s",
    "how": "not measured: 0.0009806 s was read, under OPENBLAS_CORETYPE=Haswell (inferred: docs/lab-notes/2026-11-24-openblas-core.md)"
   },
   "memory": {
    "value": 0.0017874864598525165,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-21"
   }
  }
 },
 "checksum": "fff80a43c976"
}
