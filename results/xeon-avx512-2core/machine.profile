{
 "version": 1,
 "machine": "xeon-avx512-2core",
 "date": "2026-11-23",
 "facts": {
  "memory_bytes": "25276510208",
  "last_level_cache_bytes": "272629760",
  "kernel": "6.18.44-fc-v657",
  "processor": "6/207/2"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 401445338863.50085,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 4"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu; jax: tf32 exists only on NVIDIA GPUs, not on cpu; onnxruntime: tf32 exists only on NVIDIA GPUs, not on cpu; openvino: tf32 exists only on NVIDIA GPUs, not on cpu; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": 265477423582.94846,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, jax 0.10.2, best of 15"
   },
   "float16": {
    "value": 330058257004.89264,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 4"
   },
   "int8": {
    "value": 250367329910.00845,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 14, kept from 2026-11-23"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 22711269325.916813,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 1040 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 14"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": 0.0007628539076917534,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-23"
   },
   "memory": {
    "value": 0.002322543249999853,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-23"
   }
  }
 },
 "checksum": "c170ab6a67b7"
}
