{
 "version": 1,
 "machine": "epyc-9004-2core",
 "date": "2026-11-21",
 "facts": {
  "memory_bytes": "25276514304",
  "last_level_cache_bytes": "33554432",
  "kernel": "6.18.44-fc-v595",
  "processor": "25/17/1"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 205635656660.64252,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 13, kept from 2026-11-21"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: torch is not installed in this environment: install it with 'pip install torch'"
   },
   "bfloat16": {
    "value": 365602807346.564,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 4, kept from 2026-11-21"
   },
   "float16": {
    "value": 145975024013.87625,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 9"
   },
   "int8": {
    "value": 826170152769.808,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 7, kept from 2026-11-21"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 29035650074.00117,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 128 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 118"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": 0.001121910824993222,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-21"
   },
   "memory": {
    "value": 0.0021552979599982793,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-21"
   }
  }
 }
}
