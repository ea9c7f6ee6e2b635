{
 "version": 1,
 "machine": "xeon-amx300-2core",
 "date": "2026-11-30",
 "facts": {
  "memory_bytes": "25276510208",
  "last_level_cache_bytes": "314572800",
  "kernel": "6.18.44-fc-v657",
  "processor": "6/207/2"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 285508711911.65967,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, torch 2.13.0+cpu, best of 9, 2 threads"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu; jax: tf32 exists only on NVIDIA GPUs, not on cpu; onnxruntime: tf32 exists only on NVIDIA GPUs, not on cpu; openvino: tf32 exists only on NVIDIA GPUs, not on cpu; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": 1670037856115.301,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 6, 2 threads"
   },
   "float16": {
    "value": 264742382495.09634,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, torch 2.13.0+cpu, best of 8, 2 threads, kept from 2026-11-30"
   },
   "int8": {
    "value": 2442787712502.951,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 7, 2 threads, kept from 2026-11-30"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 21934395611.13155,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 1200 MiB float64, 24 bytes an element, numpy 2.4.6, 2 processes, best of 5, kept from 2026-11-30"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": 0.0012270447625610359,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-30"
   },
   "memory": {
    "value": 0.002804385799936426,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-30"
   }
  }
 },
 "levels": [
  {
   "nanoseconds": 441.7,
   "yardsticks": {
    "2": {
     "compute": {
      "value": 0.0012270447625610359,
      "unit": "s",
      "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-30"
     },
     "memory": {
      "value": 0.002804385799936426,
      "unit": "s",
      "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-30"
     }
    }
   }
  }
 ],
 "yardstick_levels": {
  "2": 441.7
 },
 "checksum": "40cdcd1d692b"
}
