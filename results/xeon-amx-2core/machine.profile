{
 "version": 1,
 "machine": "xeon-amx-2core",
 "date": "2026-11-22",
 "facts": {
  "memory_bytes": "25276502016",
  "last_level_cache_bytes": "110100480",
  "kernel": "6.18.44-fc-v669",
  "processor": "6/167/8"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 228636682897.77243,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 12"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu; jax: tf32 exists only on NVIDIA GPUs, not on cpu; onnxruntime: tf32 exists only on NVIDIA GPUs, not on cpu; openvino: tf32 exists only on NVIDIA GPUs, not on cpu; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": 493481040227.20166,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 5"
   },
   "float16": {
    "value": 165228121317.1518,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, torch 2.13.0+cpu, best of 11"
   },
   "int8": {
    "value": 149979953202.05515,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, numpy 2.4.6, best of 10"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 12641102002.302599,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 420 MiB float64, 24 bytes an element, numpy 2.4.6, 2 threads, best of 18"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "2": {
   "compute": {
    "value": 0.0014279442166639455,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-22"
   },
   "memory": {
    "value": 0.003894532150022201,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-22"
   }
  }
 },
 "checksum": "86ca8fd8ed76"
}
