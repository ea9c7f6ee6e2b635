{
 "version": 1,
 "machine": "nvidia-h200",
 "date": "2026-11-27",
 "facts": {
  "memory_bytes": "135148564480",
  "last_level_cache_bytes": "314572800",
  "kernel": "6.18.44-fc-v657-gpu",
  "processor": "6/207/2",
  "accelerator": "NVIDIA H200",
  "driver": "580.159.04",
  "accelerator_memory_bytes": "150754820096",
  "driver_cuda": "13.0",
  "gpu_sm_mhz_highest": "1980",
  "gpu_memory_mhz_highest": "3201",
  "gpu_power_limit_watts": "700",
  "torch_cuda": "13.0",
  "torch_cudnn": "91900"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": 1458399670618.2527,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.11.0+cu130, best of 6"
   },
   "tf32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "not measured: torch: tf32 exists only on NVIDIA GPUs, not on cpu"
   },
   "bfloat16": {
    "value": 4358826349540.6904,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 3"
   },
   "float16": {
    "value": 1523086826162.9358,
    "unit": "FLOP/s",
    "how": "measured: 4096^3 GEMM, torch 2.11.0+cu130, best of 6"
   },
   "int8": {
    "value": 8753993596332.735,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 5"
   }
  },
  "cuda": {
   "float32": {
    "value": 50829253642414.15,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 24"
   },
   "tf32": {
    "value": 401166097709727.56,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 154"
   },
   "bfloat16": {
    "value": 779373182032318.8,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 288"
   },
   "float16": {
    "value": 740912298192268.0,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 284"
   },
   "int8": {
    "value": 819457209637373.4,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 327"
   },
   "fp8": {
    "value": 1386130056286487.5,
    "unit": "FLOP/s",
    "how": "measured: 8192^3 GEMM, torch 2.11.0+cu130, best of 541"
   }
  }
 },
 "bandwidth": {
  "cpu": {
   "value": 24235935272.977997,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 1200 MiB float64, 24 bytes an element, numpy 2.5.2, 16 threads, best of 6"
  },
  "cuda": {
   "value": 4316983913942.1636,
   "unit": "bytes/s",
   "how": "measured: triad a = b + 3c, 3 x 1024 MiB float32, 12 bytes an element, torch 2.11.0+cu130, best of 1318"
  }
 },
 "yardstick_version": "1",
 "yardsticks": {
  "16": {
   "compute": {
    "value": 0.0016027402833332853,
    "unit": "s",
    "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 16 threads, 2026-11-27"
   },
   "memory": {
    "value": 0.00545638815000018,
    "unit": "s",
    "how": "measured: memcpy 16777216 bytes per thread, libc, 16 threads, 2026-11-27"
   },
   "cuda compute 1": {
    "value": 0.0006297664062504538,
    "unit": "s",
    "how": "measured: 8192 x 256 threads with 8 chains of 1024 float32 multiply-adds, NVIDIA driver, 1 thread, 2026-11-27"
   },
   "cuda memory 1": {
    "value": 0.00013716848611113145,
    "unit": "s",
    "how": "measured: copy of 268435456 bytes on the GPU, NVIDIA driver, 1 thread, 2026-11-27"
   }
  }
 },
 "levels": [
  {
   "nanoseconds": 374.0,
   "yardsticks": {
    "16": {
     "compute": {
      "value": 0.0016027402833332853,
      "unit": "s",
      "how": "measured: sgemm 384x384x384 per thread, scipy-openblas32 0.3.34.481.3, 16 threads, 2026-11-27"
     },
     "memory": {
      "value": 0.00545638815000018,
      "unit": "s",
      "how": "measured: memcpy 16777216 bytes per thread, libc, 16 threads, 2026-11-27"
     },
     "cuda compute 1": {
      "value": 0.0006297664062504538,
      "unit": "s",
      "how": "measured: 8192 x 256 threads with 8 chains of 1024 float32 multiply-adds, NVIDIA driver, 1 thread, 2026-11-27"
     },
     "cuda memory 1": {
      "value": 0.00013716848611113145,
      "unit": "s",
      "how": "measured: copy of 268435456 bytes on the GPU, NVIDIA driver, 1 thread, 2026-11-27"
     }
    }
   }
  }
 ],
 "yardstick_levels": {
  "16": 374.0
 },
 "checksum": "58a4ad1c71cb"
}
