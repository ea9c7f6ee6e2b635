{
 "version": 1,
 "machine": "epyc-7003-2core",
 "date": "2026-11-27",
 "facts": {
  "memory_bytes": "25276063744",
  "last_level_cache_bytes": "33554432",
  "kernel": "6.18.44-fc-v782",
  "processor": "25/1/1"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 160199390864.65515,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 6"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu; jax: tf32 exists only on NVIDIA GPUs, not on cpu; onnxruntime: tf32 exists only on NVIDIA GPUs, not on cpu; openvino: tf32 exists only on NVIDIA GPUs, not on cpu; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": 100588223001.35538,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, jax 0.10.2, best of 4"
   },
   "float16": {
    "value": 125129896521.08725,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, openvino 2026.4.1-22982-e213a147257-releases/2026/4, best of 5"
   },
   "int8": {
    "value": 155507411912.58536,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, jax 0.10.2, best of 6"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 18061017181.37376,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 128 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 67, kept from 2026-11-23"
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
 "levels": [
  {
   "nanoseconds": 237.7,
   "yardsticks": {
    "2": {
     "compute": {
      "value": 0.0014858476666650708,
      "unit": "s",
      "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-27"
     },
     "memory": {
      "value": 0.004042736466656531,
      "unit": "s",
      "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-27"
     }
    }
   }
  },
  {
   "nanoseconds": 509.9,
   "yardsticks": {}
  }
 ],
 "checksum": "2ed1f0ab6085"
}
