{
 "version": 1,
 "machine": "epyc-7003-2core",
 "date": "2026-11-23",
 "facts": {
  "memory_bytes": "25276510208",
  "last_level_cache_bytes": "33554432",
  "kernel": "6.18.44-fc-v657",
  "processor": "25/1/1"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 153794384634.2178,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 10, kept from 2026-11-22"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: torch is not installed in this environment: install it with 'pip install torch'; jax: jax is not installed in this environment: install it with 'pip install jax'; onnxruntime: onnxruntime is not installed in this environment: install it with 'pip install onnxruntime'; openvino: openvino is not installed in this environment: install it with 'pip install openvino'; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no bfloat16 type; torch: torch is not installed in this environment: install it with 'pip install torch'; jax: jax is not installed in this environment: install it with 'pip install jax'; onnxruntime: onnxruntime is not installed in this environment: install it with 'pip install onnxruntime'; openvino: openvino is not installed in this environment: install it with 'pip install openvino'; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "float16": {
    "value": 99933197138.90625,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 7, kept from 2026-11-22"
   },
   "int8": {
    "value": 143524060166.539,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 9, kept from 2026-11-22"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 18061017181.37376,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 128 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 67"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": 0.0014700041166681407,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-22"
   },
   "memory": {
    "value": 0.0022747587499978295,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-22"
   }
  }
 },
 "checksum": "98099937a5c5"
}
