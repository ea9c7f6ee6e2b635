"""Backends name the library code that computes a kernel."""

import subprocess
import sys
from itertools import product

import pytest
from installed_frameworks import loaded

from deepbench_ops.backends import families
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES

PRODUCT = "m35_n700_k2048_NN"

LOG = """MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture
MKL_VERBOSE SGEMM(N,N,512,512,512,0x7ffe,0x7fd7,512,0x55,512,0x7f,0x7f,512) 21.75ms TID:0  NThr:2
MKL_VERBOSE SGEMM(N,N,512,512,512,0x7ffe,0x7fd7,512,0x55,512,0x7f,0x7f,512) 21.75ms TID:0  NThr:2
onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abdec::f0,19.114
onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core_bf16,undef,src:bf16,9.66187
onednn_verbose,v1,primitive,exec,cpu,gemm_api,,undef,src_s8::blocked:ab:f0,49.1208
dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_training,src_f32::blocked:aBcd8b:f0,0.1
"""
"""Lines of torch 2.13.0's log, shortened, and one in the form of oneDNN 2."""


def test_libraries_of_torch_are_read_from_logs() -> None:
    """Each call once, in order, without reorders and headers; torch's own code prints nothing."""
    log = pytest.importorskip("deepbench_ops.backends.torch_backend.library_log")
    assert (
        "mkl SGEMM, onednn matmul brg_matmul:avx512_core_bf16, onednn gemm_api,"
        " onednn convolution jit:avx2"
    ) == log.summary(LOG)
    assert "torch" == log.summary("")


EVENTS = (
    "Memset (Device)",
    "void at::native::(anonymous namespace)::softmax_warp<float, 4>(float*, float const*, int)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute",
    "void at::native::(anonymous namespace)::softmax_warp<float, 4>(float*, float const*, int)",
    "Memcpy DtoD (Device -> Device)",
)
"""Names of the kernels of a GPU, as torch's profiler lists them."""


def test_kernels_of_a_gpu_are_named_without_their_arguments() -> None:
    """Each kernel once, in order; copies are none."""
    log = pytest.importorskip("deepbench_ops.backends.torch_backend.library_log")
    expected = f"at::native::softmax_warp<float,4>, {EVENTS[2]}"
    assert expected == log.kernels_of_gpu(EVENTS)
    assert log.KERNEL_NAME_LENGTH == len(log.kernels_of_gpu(["k" * 1000]))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ('custom-call(%a, %b), custom_call_target="__onednn$matmul"', "xla __onednn$matmul"),
        ("ROOT %d = f32[4,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}", "xla dot"),
        ("%c = f32[1,2,3,4]{3,2,1,0} convolution(%a, %b), window={size=3x3}", "xla convolution"),
        (
            "ROOT %d = f32[4,4]{1,0} dot(%a, %b)\n%f = f32[4,4]{1,0} fusion(%a, %b), kind=kCustom,"
            ' backend_config={"fusion_config":{"kind":"__ynn_fusion"}}',
            "xla __ynn_fusion",
        ),
        ("ROOT %s = f32[4]{0} add(%a, %b)", ""),
    ],
)
def test_targets_of_xla_are_read_from_programs(program: str, expected: str) -> None:
    """Custom calls and fusions of libraries, else XLA's own products."""
    names = pytest.importorskip("deepbench_ops.backends.jax_backend.xla_names")
    assert expected == names.of(program)


@pytest.mark.parametrize(
    ("framework", "words"),
    [
        ("numpy", ""),
        ("torch", ""),
        ("jax", "xla "),
        ("onnxruntime", "CPUExecutionProvider: Gemm"),
        ("openvino", "MatMul "),
    ],
)
def test_a_real_product_names_its_code(framework: str, words: str, capfd) -> None:
    """The name is the same when asked again, the output stays right, and nothing is printed."""

    backend = loaded(framework)
    kernel = backend.build(problem_of("gemm", PRODUCT), "float32")
    kernel.reset()
    kernel.run()
    found = kernel.implementation()
    assert found.startswith(words)
    assert found
    assert found == kernel.implementation()
    assert ("", "") == capfd.readouterr()


@pytest.mark.parametrize("family", TYPES)
def test_numpy_names_the_blas_of_every_kernel_with_products(family) -> None:
    """So a change of its code path is a reason for changed times, as it is for plain products."""
    backend, kind = loaded("numpy"), TYPES[family]
    if backend.builder(family) is None:
        pytest.skip(f"numpy has no kernels of {family}")
    for operation, precision in product(kind.operations, kind.precisions):
        try:
            kernel = backend.build(families.kinds(family)[0], precision, operation)
        except Unsupported:
            continue
        route = kernel.notes["route"]
        if "np.matmul" in route and "no BLAS" not in route:
            assert "" != kernel.implementation(), (operation, precision)
            assert backend.implementation() == kernel.implementation()


def test_mindspore_names_the_calls_of_onednn(capfd) -> None:
    """Asking prints nothing; MindSpore itself may, where it is imported."""
    kernel = loaded("mindspore").build(problem_of("gemm", PRODUCT), "float32")
    kernel.reset()
    kernel.run()
    capfd.readouterr()
    assert kernel.implementation().startswith("onednn matmul ")
    assert ("", "") == capfd.readouterr()


FORKED = """
import os
from deepbench_ops.backends.torch_backend.backend import TorchBackend
from deepbench_ops.backends.torch_backend import library_log

def threads():
    return len(os.listdir("/proc/self/task"))

before = threads()
TorchBackend.before_forks()
assert before == threads(), "a thread was started"
if not os.fork():
    log = library_log.find_clock_rate()
    print("GHz" in log, "MKL_VERBOSE SDOT" in log, flush=True)
    os._exit(0)
assert os.wait()[1] == 0
"""


def test_mkl_finds_the_clock_rate_before_processes_are_forked() -> None:
    """The one process has the line with the clock rate and no further thread; its forks do not find
    the rate again."""
    torch = pytest.importorskip("torch")
    if not (torch.backends.mkl.is_available() and hasattr(torch.backends.mkl, "verbose")):
        pytest.skip("this torch has no log of MKL")
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, check=True
    )
    assert "False True\n" == done.stdout
