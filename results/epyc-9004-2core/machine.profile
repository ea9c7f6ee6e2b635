{
 "version": 1,
 "machine": "epyc-9004-2core",
 "date": "2026-11-29",
 "facts": {
  "memory_bytes": "25276502016",
  "last_level_cache_bytes": "33554432",
  "kernel": "6.18.44-fc-v669",
  "processor": "25/17/1"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 213583870836.8362,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, jax 0.10.2, best of 7, kept from 2026-11-24"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: numpy: numpy has no tf32: it exists only on NVIDIA GPUs; torch: tf32 exists only on NVIDIA GPUs, not on cpu; jax: tf32 exists only on NVIDIA GPUs, not on cpu; onnxruntime: tf32 exists only on NVIDIA GPUs, not on cpu; openvino: tf32 exists only on NVIDIA GPUs, not on cpu; tensorflow: tensorflow is not installed in this environment: install it with 'pip install tensorflow'; mindspore: mindspore is not installed in this environment: install it with 'pip install mindspore'"
   },
   "bfloat16": {
    "value": 408139441805.92096,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 3, kept from 2026-11-24"
   },
   "float16": {
    "value": 207991415286.21143,
    "unit": "FLOP/s",
    "how": "measured: 2048^3 GEMM, openvino 2026.4.1-22982-e213a147257-releases/2026/4, best of 7, kept from 2026-11-24"
   },
   "int8": {
    "value": 885035421815.0243,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.13.0+cpu, best of 5, kept from 2026-11-24"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 41350479025.90086,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 128 MiB float64, 24 bytes an element, numpy 2.4.6, 2 processes, best of 75"
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
 },
 "levels": [
  {
   "nanoseconds": 177.4,
   "yardsticks": {
    "2": {
     "compute": {
      "value": 0.001080575666209269,
      "unit": "s",
      "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-29"
     },
     "memory": {
      "value": 0.0018700393213657662,
      "unit": "s",
      "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-29"
     }
    }
   }
  },
  {
   "nanoseconds": 337.3,
   "yardsticks": {
    "2": {
     "compute": {
      "value": 0.0011257284888011377,
      "unit": "s",
      "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 2 threads, 2026-11-28"
     },
     "memory": {
      "value": 0.0012998531427521292,
      "unit": "s",
      "how": "measured: memcpy 16777216 bytes per thread, libc, 2 threads, 2026-11-28"
     }
    }
   }
  }
 ],
 "checksum": "2c0be870b071"
}
