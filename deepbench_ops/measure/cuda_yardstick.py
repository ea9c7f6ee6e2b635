"""Fixed workloads of NVIDIA GPUs: arithmetic in registers, and a copy in the GPU's memory.

They go through the driver alone, without a framework or a library of CUDA, so that no release can
change them: the arithmetic is a kernel in PTX, which the driver compiles. It moves with the clock
of the multiprocessors, which power and heat limit; the copy moves with the memory's.

Each unit ends when the GPU is done. Sizes are the same on every GPU. On an H200 a unit of
arithmetic takes 0.63 ms and a copy 0.14 ms; by data sheets either takes milliseconds on a T4.
"""

import ctypes

import numpy as np

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.cuda_driver import Gpu
from deepbench_ops.measure.device_yardsticks import Work, Workload, Workloads

BLOCKS, THREADS, CHAINS, STEPS = 8192, 256, 8, 1024
FACTOR, SHIFT = -1 + 2.0**-10, 0.5

COPY_BYTES = 256 * 2**20
"""Of one buffer: twice the largest cache of today's GPUs, of 126 MB."""

CACHED_BYTES = 32 * 2**20
"""Operands up to this size stay in the cache of most GPUs that compute in 16 bits."""

BOUND_INTENSITY = 20.0
"""FLOPs per byte from which a large kernel is compared with the arithmetic: about the balance of a
GPU without its tensor cores."""

LIBRARY = "NVIDIA driver"

CHAIN_REGISTERS = "\n".join(f"    add.f32 %a{n}, %start, 0f{0x3E000000 + n:08X};" for n in range(8))
CHAIN_STEPS = "\n".join(f"    fma.rn.f32 %a{n}, %a{n}, %factor, %shift;" for n in range(8))
CHAIN_SUMS = "\n".join(f"    add.f32 %sum, %sum, %a{n};" for n in range(8))

PTX = f"""\
.version 7.0
.target sm_52
.address_size 64
.visible .entry chains(.param .u64 output, .param .u32 steps)
{{
    .reg .pred %more;
    .reg .b32  %thread, %block, %width, %place, %left;
    .reg .b64  %address, %offset;
    .reg .f32  %start, %factor, %shift, %sum, %a<{CHAINS}>;
    mov.u32 %thread, %tid.x;
    mov.u32 %block, %ctaid.x;
    mov.u32 %width, %ntid.x;
    mad.lo.u32 %place, %block, %width, %thread;
    ld.param.u64 %address, [output];
    cvta.to.global.u64 %address, %address;
    ld.param.u32 %left, [steps];
    mul.wide.u32 %offset, %place, 4;
    add.u64 %address, %address, %offset;
    cvt.rn.f32.u32 %start, %thread;
    mul.f32 %start, %start, 0f3B800000;
    mov.f32 %factor, 0fBF7FC000;
    mov.f32 %shift, 0f3F000000;
{CHAIN_REGISTERS}
AGAIN:
{CHAIN_STEPS}
    sub.u32 %left, %left, 1;
    setp.ne.u32 %more, %left, 0;
    @%more bra AGAIN;
    mov.f32 %sum, 0f00000000;
{CHAIN_SUMS}
    st.global.f32 [%address], %sum;
    ret;
}}
"""
"""Of every thread: start = thread / 256, the chains, which begin at about start + 1/8, each
a = a * FACTOR + SHIFT in every step, and the sum of them. A chain swings around its level and comes
to rest after some thousand steps, so that bits change as in real work."""


def expected(steps: int = STEPS) -> np.ndarray:
    """Return the sums of the threads of a block, in float64, shape (THREADS,)."""
    start = np.arange(THREADS) / 256 + 0.125
    rest = SHIFT / (1 - FACTOR)
    return CHAINS * (rest + (start - rest) * FACTOR**steps)


def arithmetic(gpu: Gpu) -> Work:
    """Prepare the kernel, and check its results.

    Raises DeepbenchError where a sum is wrong.
    """
    output = gpu.memory(4 * BLOCKS * THREADS)
    start = gpu.kernel(PTX, "chains", BLOCKS, THREADS, (output, ctypes.c_uint(STEPS)))
    start()
    gpu.wait()
    found = gpu.values(output, BLOCKS * THREADS).reshape(BLOCKS, THREADS)
    if not np.allclose(found, expected(), rtol=1e-3):
        raise DeepbenchError("the yardstick's kernel computed wrong sums on the GPU")

    def unit() -> None:
        gpu.enter()
        start()
        gpu.wait()

    return Work((unit,), (output, start))


def copy(gpu: Gpu) -> Work:
    """Prepare a copy from one buffer into another."""
    source, target = gpu.memory(COPY_BYTES, 0x3F9E3779), gpu.memory(COPY_BYTES)

    def unit() -> None:
        gpu.enter()
        gpu.copy(target, source, COPY_BYTES)
        gpu.wait()

    return Work((unit,), (source, target))


WORKLOADS = Workloads(
    version="1",
    compute=Workload(
        f"{BLOCKS} x {THREADS} threads with {CHAINS} chains of {STEPS} float32 multiply-adds",
        LIBRARY,
        lambda seed: arithmetic(Gpu()),
    ),
    memory=Workload(
        f"copy of {COPY_BYTES} bytes on the GPU",
        LIBRARY,
        lambda seed: copy(Gpu()),
        bytes=2 * COPY_BYTES,
    ),
    cached_bytes=CACHED_BYTES,
    bound_intensity=BOUND_INTENSITY,
)
