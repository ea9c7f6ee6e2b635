"""External settings: environment variables that steer which code of a library runs.

`OPENBLAS_CORETYPE=Haswell`, which some hosts and images set, makes numpy's products half as long
again on a processor with AVX-512. Two times are compared only where their settings agree, so each
point records them. Left out are variables that this project sets itself (thread counts), the choice
of a device, and names that only say where files lie or how much is logged.
"""

import os
import platform
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

Settings = tuple[tuple[str, str], ...]
"""Names and values, sorted by name."""

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Every pool a framework may bring along reads one of these, once, while it loads; `threads.fix`
sets them all."""

CORES = "DEEPBENCH_CORES"
"""The variable that chooses cores (`core_choice`): a setting of this project's own, which changes
times as external settings do."""

BLAS = "OPENBLAS_"
"""The prefix of the variables that OpenBLAS reads."""

PREFIXES = (
    CORES,
    # matrix products
    *(BLAS, "GOTO_", "MKL_", "BLIS_", "AOCL_", "FLEXIBLAS", "VECLIB_", "NUMEXPR_", "TF32_"),
    # threads and how they wait
    *("OMP_", "KMP_", "GOMP_", "LIBOMP_", "TBB_"),
    # primitives of deep learning
    *("DNNL_", "ONEDNN_", "ZENDNN_", "CUDNN_", "CUBLAS_", "MIOPEN_", "ROCBLAS_", "HIPBLAS"),
    # devices and messages between processes
    *("CUDA_", "NVIDIA_TF32_", "HIP_", "HSA_", "NCCL_", "RCCL_", "UCX_", "GLOO_", "I_MPI_"),
    *("MPICH_", "OMPI_MCA_coll", "OMPI_MCA_pml", "OMPI_MCA_btl"),
    # memory, and libraries put before others
    *("MALLOC_", "MIMALLOC_", "TCMALLOC_", "JEMALLOC_", "GLIBC_TUNABLES", "PYTHONMALLOC"),
    *("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"),
)
"""Those of libraries that several frameworks use. Each framework declares its own: `VARIABLES` of
its package."""

ARM_PREFIXES = ("NVPL_", "ARMPL_", "ACL_")
"""Libraries that exist for Arm alone: elsewhere nothing reads these."""

OUT = (
    *THREAD_VARIABLES,
    *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES"),
    *("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"),
    *("TF_CPP_MIN_LOG_LEVEL", "TF_CPP_VMODULE", "JAX_LOGGING_LEVEL", "TORCH_LOGS"),
    # how much of a GPU's memory is reserved, which the backend of jax sets itself
    *("XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_PYTHON_CLIENT_MEM_FRACTION"),
    # read where extensions of torch are compiled, which this project does not do
    "TORCH_CUDA_ARCH_LIST",
    # Terraform's, which shares a prefix with TensorFlow
    *("TF_LOG", "TF_INPUT", "TF_WORKSPACE", "TF_IN_AUTOMATION"),
)

OUT_PREFIXES = ("TF_CLI_", "TF_VAR_", "TF_LOG_", "TF_PLUGIN_", "TF_REGISTRY_")

OUT_ENDINGS = ("_HOME", "_PATH", "_PATHS", "_DIR", "_ROOT", "_VERSION", "_LIB_PATHS")
"""Where something lies, or which version an image holds. LD_LIBRARY_PATH is none of the recorded
variables for the same reason: a cluster's modules set it to other folders for every user, and the
library that was loaded is recorded by its own name and version."""


@cache
def prefixes(processor: str) -> tuple[str, ...]:
    """Return the prefixes of all variables that steer a library or a framework, on a processor.

    Those of each framework that can be measured are among them, whichever is measured: a command
    and a process that it starts find the same.
    """
    from deepbench_ops.backends import framework_list  # a yardstick's process needs none

    declared = (each for known in framework_list.found()[0].values() for each in known.variables)
    arm = processor.lower() in ("aarch64", "arm64")
    return (*PREFIXES, *(ARM_PREFIXES if arm else ()), *declared)


def foreign(
    environ: Mapping[str, str] | None = None, processor: str = platform.machine()
) -> Settings:
    """Return the external settings among environment variables, without empty ones.

    processor: the architecture, as "x86_64".
    """
    environ = os.environ if environ is None else environ
    steering = prefixes(processor)
    return tuple(
        (name, environ[name])
        for name in sorted(environ)
        if environ[name].strip()
        and name.startswith(steering)
        and name not in OUT
        and not name.startswith(OUT_PREFIXES)
        and not name.endswith(OUT_ENDINGS)
    )


@cache
def environment_at_start() -> Mapping[str, str]:
    """Return the environment variables that this process was started with.

    The first call must come before a framework is imported: some set variables of their own.
    """
    return dict(os.environ)


@cache
def of_this_process() -> Settings:
    """Return the external settings that this process was started with."""
    return foreign(environment_at_start())


def text(settings: Settings) -> str:
    """Return settings as one line that a shell reads, "" for none."""
    return shlex.join(f"{name}={value}" for name, value in settings)


def parse(line: str) -> Settings:
    """Return the settings that `text` has written."""
    pairs = (word.partition("=") for word in shlex.split(line))
    return tuple((name, value) for name, _, value in pairs)


def notice(settings: Settings) -> str:
    """Return one line that names them for the start of a run; "" for none."""
    if not settings:
        return ""
    return (
        f"external settings: {text(settings)} (recorded with every time, which is compared only"
        " with times under the same; unset them to measure the libraries' own choices)"
    )


@contextmanager
def without(prefix: str) -> Iterator[None]:
    """Hide variables of a prefix, but for thread counts, while a library loads."""
    hidden = {
        name: os.environ.pop(name)
        for name in list(os.environ)
        if name.startswith(prefix) and name not in THREAD_VARIABLES
    }
    try:
        yield
    finally:
        os.environ.update(hidden)
