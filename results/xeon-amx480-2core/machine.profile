{
 "version": 1,
 "machine": "xeon-amx480-2core",
 "date": "2026-11-24",
 "facts": {
  "memory_bytes": "25276502016",
  "last_level_cache_bytes": "503316480",
  "kernel": "6.18.44-fc-v669",
  "processor": "6/167/1"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 445328078784.9245,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 3"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu; jax: tf32 exists only on NVIDIA GPUs, not on cpu; onnxruntime: tf32 exists only on NVIDIA GPUs, not on cpu; openvino: tf32 exists only on NVIDIA GPUs, not on cpu; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": 2140556210253.065,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.13.0+cpu, best of 2"
   },
   "float16": {
    "value": 408412999427.1489,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 3"
   },
   "int8": {
    "value": 316216058853.19226,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, numpy 2.4.6, best of 4, kept from 2026-11-22"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 21074834546.73348,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 1920 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 7, kept from 2026-11-22"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": 0.0006919763461610273,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-22"
   },
   "memory": {
    "value": 0.002414987599968299,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-22"
   }
  }
 },
 "levels": [
  {
   "nanoseconds": 305.9,
   "yardsticks": {
    "2": {
     "compute": {
      "value": 0.0006163684266653035,
      "unit": "s",
      "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-24"
     },
     "memory": {
      "value": 0.0020581580399993984,
      "unit": "s",
      "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-24"
     }
    }
   }
  }
 ],
 "checksum": "33d13d20b90e"
}
