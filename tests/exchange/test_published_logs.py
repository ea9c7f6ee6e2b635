"""Outputs of benchmark programs, written here as the programs' sources write them, are read."""

from datetime import date
from pathlib import Path

import pytest
from example_logs import GEMM, output
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import program_logs
from deepbench_ops.exchange.published import problem_matching
from deepbench_ops.exchange.workbooks import workbook_values
from deepbench_ops.problems import load
from deepbench_ops.problems.conv import Conv

CONV = (
    "   w      h      c      n      k      f_w    f_h  pad_w  pad_h    stride_w  stride_h    "
    "precision  fwd_time (usec)  "
)
BACK = "bwd_inputs_time (usec)  bwd_params_time (usec)  total_time (usec)"
RNN = "    type    hidden   N     timesteps   precision     fwd_time (usec)   bwd_time (usec)"
RNN_AMD = (
    "hidden_size     batch_size     time_steps     rnn_type     fwd_time (usec)  "
    "bwd_inputs_time (usec)  bwd_params_time (usec)  total_time (usec)  "
)
SPARSE = (
    "    m       n      k      a_t     b_t    sparsity   sparse time (usec)  "
    "dense time (usec)  speedup"
)
WORDS = {"float32": "float", "float16": "half", "int8": "int8"}
MICROSECONDS = st.integers(100, 10_000_000)
"""Times that a device can take for each of the published problems."""


def facts(text):
    found, _ = program_logs.read(text)
    return {(t.problem.id, t.operation, t.precision, t.ranks): t.seconds for t in found}


@given(
    problem=st.sampled_from(load("gemm")), time=MICROSECONDS, precision=st.sampled_from(list(WORDS))
)
def test_products(problem, time, precision):
    """gemm_bench prints transposes as 0 and 1, and whole microseconds."""
    p = problem
    turned = f"{p.a_transposed:7d}{p.b_transposed:7d}"
    row = f"{p.m:7}{p.n:7}{p.k:7}{turned}{WORDS[precision]:>13}{time:20}"
    expected = {(p.id, "forward", precision, None): pytest.approx(time * 1e-6)}
    assert expected == facts(output(GEMM, row))


@given(
    problem=st.sampled_from(load("conv", "training")),
    times=st.tuples(MICROSECONDS, MICROSECONDS, MICROSECONDS),
    padded=st.booleans(),
)
def test_convolutions(problem, times, padded):
    """conv_bench in training: three passes, their sum, perhaps a padding flag, the algorithm."""
    p = problem
    sizes = (p.w, p.h, p.c, p.n, p.k, p.s, p.r, p.pad_w, p.pad_h, p.stride_w, p.stride_h)
    header = CONV + BACK + (" pad_kerenels  " if padded else "") + "   fwd_algo "
    cells = [*sizes, "half", *times, sum(times), *([1] if padded else []), "IMPLICIT_PRECOMP_GEMM"]
    row = "".join(f"{cell!s:>24}" for cell in cells)
    dashes = "-" * 200
    assert facts(output(header, dashes, row)) == {
        (p.id, name, "float16", None): pytest.approx(time * 1e-6)
        for name, time in zip(("forward", "backward_data", "backward_weights"), times, strict=True)
    }


def test_a_kernel_that_is_not_supported_is_listed():
    """Two words in one column; its neighbours are read."""
    header = CONV + " pad_kerenels     fwd_algo "
    sizes = "  224    224      3      1     64      3      3      1       1       1       1    int8"
    rows = (f"{sizes}  Not Supported  0  WINOGRAD", f"{sizes}            120  1  WINOGRAD")
    found, unread = program_logs.read(output(header, *rows, running="inference"))
    assert [pytest.approx(1.2e-04)] == [t.seconds for t in found]
    assert [("N/A", "line 5")] == [(u.text, str(u.place)) for u in unread]


@given(
    problem=st.sampled_from(load("rnn", "training")), times=st.tuples(MICROSECONDS, MICROSECONDS)
)
def test_recurrent_layers(problem, times):
    """rnn_bench's one backward time is that of the way back through the steps."""
    p = problem
    row = (
        f"{p.cell:>8}{p.hidden:8}{p.batch:8}{p.timesteps:8}{'float':>14}{times[0]:18}{times[1]:18}"
    )
    assert facts(output(RNN, row)) == {
        (p.id, "forward", "float32", None): pytest.approx(times[0] * 1e-6),
        (p.id, "backward_data", "float32", None): pytest.approx(times[1] * 1e-6),
    }


def test_a_pass_that_was_left_out_is_listed():
    """AMD's program prints 0 for the gradients that it does not time, and totals below."""
    row = "512     16     25     lstm     1209     1411     0     2620"
    totals = "Totals     1209     1411     0     2620"
    found, unread = program_logs.read(output(RNN_AMD, "-" * 190, row, totals, width=190))
    assert {t.operation: t.seconds for t in found} == {
        "forward": pytest.approx(1.209e-3),
        "backward_data": pytest.approx(1.411e-3),
    }
    assert ["0"] == [u.text for u in unread]


@given(problem=st.sampled_from(load("sparse_gemm")), times=st.tuples(MICROSECONDS, MICROSECONDS))
def test_sparse_products(problem, times):
    """sparse_bench prints the dense time of the same product too."""
    p = problem
    sizes = f"{p.m:7}{p.n:7}{p.k:7}{0:7}{0:7}{p.sparsity:11}"
    row = f"{sizes}{times[0]:16}{times[1]:16}{times[1] / times[0]:20.6g}"
    assert facts(output(SPARSE, row, width=110)) == {
        (p.id, "forward", "float32", None): pytest.approx(times[0] * 1e-6),
        (p.id, "dense_forward", "float32", None): pytest.approx(times[1] * 1e-6),
    }


DEEPBENCH_NCCL = f"""\
 NCCL AllReduce 
 Num Ranks: 8
{"-" * 75}
    # of floats    bytes transferred    Time (msec)   
{"-" * 75}
         100000         400000               0.044
       16777217       67108868               7.401
"""


def test_deepbenchs_all_reduce():
    """Floats, bytes and milliseconds; the size is that of the run, which the sheets misprint."""
    assert facts(DEEPBENCH_NCCL) == {
        ("n100000", "sum", "float32", 8): 4.4e-05,
        ("n16777217", "sum", "float32", 8): 0.007401,
    }


NCCL_TESTS = """\
# nThread 1 nGpus 2 minBytes 4194304 maxBytes 16777216 step: 2(factor) warmup iters: 5 iters: 20
# Using devices
#  Rank  0 Group  0 Pid    123 on      node1 device  0 [0x00] a card
#  Rank  1 Group  0 Pid    123 on      node1 device  1 [0x00] a card
#
#                                                       out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)
    16777216       4194304     float     sum      -1    607.5   27.62   27.62      0    600.1
    16777216       8388608      half     sum      -1    307.5   54.56   54.56      0    300.1
# Avg bus bandwidth    : 27.62
"""


def test_nccl_tests():
    """Out-of-place times of float sums; other types are listed, and ranks counted."""
    found, unread = program_logs.read(NCCL_TESTS)
    assert facts(NCCL_TESTS) == {("n4194304", "sum", "float32", 2): 0.0006075}
    assert 1 == len(found) == len(unread)
    assert "not a sum of float" in unread[0].reason


OSU = """\
$ mpirun -np 4 osu_allreduce -m 400000:400000

# OSU MPI Allreduce Latency Test v5.8
# Size       Avg Latency(us)
400000                137.34
"""


def test_osu():
    """Average latency of so many bytes; the ranks are those of the command above."""
    assert facts(OSU) == {("n100000", "sum", "float32", 4): pytest.approx(137.34e-6)}
    integers = OSU.replace("# Size", "# Datatype: MPI_INT.\n# Size")
    assert [] == program_logs.read(integers)[0]
    with pytest.raises(DeepbenchError, match="no number of ranks"):
        program_logs.read(OSU[OSU.index("#") :])


BENCHDNN = """\
Output template: perf,%engine%,%impl%,%name%,%prb%,%Gops%,%-time%,%-Gflops%,%0time%,%0Gflops%
perf,cpu,jit:avx512_core,"a",--conv --dir={dir} --cfg={cfg} {prb},0.5,0.40,1250,0.50,1000
tests:1 passed:1 skipped:0 mistrusted:0 unimplemented:0 invalid_arguments:0 failed:0 listed:0
"""


@given(
    problem=st.sampled_from(load("conv")),
    direction=st.sampled_from(
        [("FWD_D", "forward"), ("BWD_D", "backward_data"), ("BWD_W", "backward_weights")]
    ),
    kind=st.sampled_from([("f32", "float32"), ("bf16bf16bf16", "bfloat16"), ("s8:s8:s8", "int8")]),
)
def test_benchdnn_convolutions(problem, direction, kind):
    """Every size by its letters; the average time counts."""
    p = problem
    prb = f"mb{p.n}ic{p.c}ih{p.h}iw{p.w}oc{p.k}oh{p.p}ow{p.q}kh{p.r}kw{p.s}"
    prb += f"sh{p.stride_h}sw{p.stride_w}ph{p.pad_h}pw{p.pad_w}"
    text = BENCHDNN.format(dir=direction[0], cfg=kind[0], prb=prb)
    assert facts(text) == {(p.id, direction[1], kind[1], None): 0.0005}


def test_benchdnn_leaves_out_what_is_square():
    """kh3ph1 without widths is 3 x 3 with padding 1 both ways."""
    text = BENCHDNN.format(dir="FWD_B", cfg="f32", prb='mb8ic64ih56oc64oh56kh3ph1n"res:b"')
    assert [*facts(text)] == [
        ("w56_h56_c64_n8_k64_r3_s3_pad1_1_stride1_1", "forward", "float32", None)
    ]


def test_benchdnn_products_turn_round():
    """Row-major M x K by K x N is, column-major, the published product with m and n changed."""
    text = BENCHDNN.replace("--conv --dir={dir} --cfg={cfg} {prb}", "--matmul 700x2048:2048x5124")
    assert [*facts(text)] == [("m5124_n700_k2048_NN", "forward", "float32", None)]


def kernels(text):
    """The timings without their seconds, and why the other rows are none."""
    found, unread = program_logs.read(text)
    return {(t.problem.id, t.operation, t.precision) for t in found}, [u.reason for u in unread]


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--attr-fpmath=bf16 ", "has --attr-fpmath"),
        ("--attr-post-ops=relu ", "has --attr-post-ops"),
        ("--attr-post-ops=sum:0.5+relu,add:f32:per_oc ", "has --attr-post-ops"),
        ("--attr-scales=src:common:0.5 ", "has --attr-scales"),
        ("--dt=f32:bf16:f32 ", "multiplies f32:bf16:f32"),
        ("--dt=f8_e5m2:f8_e5m2:f32 ", "multiplies f8_e5m2"),
    ],
)
def test_benchdnn_with_more_than_the_plain_kernel_is_listed(option, reason):
    """Another arithmetic or a fused operation is another kernel."""
    text = BENCHDNN.format(dir="FWD_D", cfg="f32", prb=f"{option}mb8ic64ih56oc64oh56kh3ph1")
    found, [unread] = kernels(text)
    assert (set(), True) == (found, unread.startswith(reason))


@pytest.mark.parametrize(
    "option", ["--attr-fpmath=strict ", "--attr-scratchpad=user --engine=cpu "]
)
def test_benchdnn_with_harmless_options_is_read(option):
    """Such as the arithmetic that is usual anyway."""
    text = BENCHDNN.format(dir="FWD_D", cfg="f32", prb=f"{option}ic64ih56oc64oh56kh3ph1")
    expected = {("w56_h56_c64_n2_k64_r3_s3_pad1_1_stride1_1", "forward", "float32")}
    assert (expected, []) == kernels(text)


@pytest.mark.parametrize(
    "options",
    [
        "--stag=axb ",
        "--stag=nhwc ",
        "--stag=acdb --wtag=any --dtag=any ",
        "--dtag=axb ",
        "--stag=abx --wtag=hwio --dtag=abx ",
        "--stag=aBx16b ",
    ],
)
def test_benchdnn_in_another_layout_is_listed(options):
    """Channels last is no plain convolution, whichever tensor has them last."""
    text = BENCHDNN.format(dir="FWD_D", cfg="f32", prb=f"{options}mb8ic64ih56oc64oh56kh3ph1")
    found, [unread] = kernels(text)
    assert (set(), True) == (found, "another layout than the plain one" in unread)


@pytest.mark.parametrize("tag", ["any", "abx", "abcd", "nchw"])
def test_benchdnn_in_the_plain_layout_is_read(tag):
    """However it is called, and where the library may choose."""
    prb = f"--stag={tag} --wtag=any --dtag={tag} ic64ih56oc64oh56kh3ph1"
    expected = {("w56_h56_c64_n2_k64_r3_s3_pad1_1_stride1_1", "forward", "float32")}
    assert (expected, []) == kernels(BENCHDNN.format(dir="FWD_D", cfg="f32", prb=prb))


def test_benchdnn_descriptors_with_underscores_and_names():
    """As its documentation and its older releases write them."""
    prb = "g1mb8_ic64ih56iw56_oc64oh56ow56_kh3kw3_sh1sw1_ph1pw1_nresnet_50:conv1"
    expected = {("w56_h56_c64_n8_k64_r3_s3_pad1_1_stride1_1", "forward", "float32")}
    assert (expected, []) == kernels(BENCHDNN.format(dir="FWD_D", cfg="f32", prb=prb))


@pytest.mark.parametrize(
    ("direction", "cfg", "precision"),
    [
        ("FWD_D", "bf16bf16f32", "bfloat16"),
        ("BWD_D", "f32bf16bf16", "bfloat16"),
        ("BWD_W", "bf16f32bf16", "bfloat16"),
        ("FWD_D", "u8s8f32", "int8"),
        ("FWD_D", "f32_wino", "float32"),
    ],
)
def test_benchdnn_precision_is_that_of_the_two_factors(direction, cfg, precision):
    """Not that of the output."""
    text = BENCHDNN.format(dir=direction, cfg=cfg, prb="mb8ic64ih56oc64oh56kh3ph1")
    assert [precision] == [t.precision for t in program_logs.read(text)[0]]


def test_benchdnn_recurrent_layers_are_listed():
    """They are not read; the line tells why."""
    text = BENCHDNN.replace(
        "--conv --dir={dir} --cfg={cfg} {prb}", "--rnn --alg=VANILLA_GRU l1t5mb4"
    )
    assert (set(), ["is neither of --conv nor of --matmul"]) == kernels(text)


OSU_OURS = """\
# OSU MPI Allreduce Latency Test
# Number of Ranks 8
# Size           Avg Latency(ms)
100000                      0.41
3097600                     5.03
16777217                   31.70
"""
OSU_OF_2016 = """\
mpirun -ppn 1 -np 2 numactl -m 1 ./osu_allreduce
# OSU MPI Allreduce Latency Test
# Size           Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations
100000                    120.53              119.01              122.04         100
4194304                  3810.20             3800.11             3820.29         100
"""
OSU_DOUBLING = """\
mpirun -np 2 osu_allreduce
# OSU MPI Allreduce Latency Test
# Size       Avg Latency(us)
4                       1.34
4194304               275.19
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            OSU_OURS,
            {("n100000", 8): 0.00041, ("n3097600", 8): 0.00503, ("n16777217", 8): 0.0317},
        ),
        (OSU_OF_2016, {("n100000", 2): 120.53e-6, ("n4194304", 2): 3810.20e-6}),
        (OSU_DOUBLING, {("n1", 2): 1.34e-6, ("n1048576", 2): 275.19e-6}),
        (OSU_DOUBLING + OSU_OURS, {("n1", 2): 1.34e-6, ("n100000", 8): 0.00041}),
    ],
    ids=["deepbench", "deepbench-2016", "upstream", "both"],
)
def test_osu_of_deepbench_counts_floats(text, expected):
    """Milliseconds or the ranks mean DeepBench's, else its sizes; upstream's are bytes."""
    found = {(id, ranks): seconds for (id, _, _, ranks), seconds in facts(text).items()}
    assert {
        key: pytest.approx(seconds) for key, seconds in expected.items()
    }.items() <= found.items()


@pytest.mark.parametrize(
    "text",
    [
        OSU_DOUBLING.replace("4                       1.34\n", ""),
        OSU_DOUBLING.replace("4       ", "300001  "),
        OSU_OF_2016.replace("Test", "Test v5.8"),
    ],
    ids=["in-both", "in-neither", "contradiction"],
)
def test_osu_output_of_no_known_program_is_refused(text):
    """Bytes or floats: nothing is guessed."""
    with pytest.raises(DeepbenchError, match="neither version nor sizes tell"):
        program_logs.read(text)


def test_osu_of_other_collectives_is_listed():
    """Tests of a suite often stand in one file."""
    other = "# OSU MPI Broadcast Latency Test v5.8\n# Size       Avg Latency(us)\n400000  55.10\n"
    found, unread = program_logs.read(OSU + other)
    assert (1, ["is of another test"]) == (len(found), [u.reason for u in unread])


def all_reduce(program, header, row):
    line = "-" * 75
    header = f"    # of floats    bytes transferred    {header}"
    return "\n".join([f" {program} ", " Num Ranks: 4", line, header, line, row])


@pytest.mark.parametrize(
    ("program", "header", "times"),
    [
        ("NCCL MPI AllReduce", "Avg Time (msec)    Max Time (msec)", "0.51 0.62"),
        ("Ring AllReduce", "Avg Time (msec)    Max Time (msec)", "0.51 0.62"),
        ("RCCL AllReduce", "Time (msec)   Bandwidth (GB/s)", "0.51 0.784"),
        ("NCCL AllReduce", "Time (msec)", "0.51"),
    ],
)
def test_all_reduce_is_read_by_its_headings(program, header, times):
    """The average of the ranks, or the one time, whatever stands next to it."""
    text = all_reduce(program, header, f"100000 400000 {times}")
    assert {("n100000", "sum", "float32", 4): pytest.approx(0.51e-3)} == facts(text)


OLD_NCCL = NCCL_TESTS.replace("    root ", " ").replace("sum      -1 ", "sum ")


def test_nccl_tests_before_the_root():
    """Older releases print no root, the earliest milliseconds, with # before each row."""
    assert facts(NCCL_TESTS) == facts(OLD_NCCL)
    oldest = """\
# Using devices
#   Rank  0 on       node device  0 [0x05] a card
#   Rank  1 on       node device  1 [0x06] a card

#                                    out-of-place               in-place
#      bytes        N    type   op   time  algbw  busbw   res   time  algbw  busbw   res
#   16777216  4194304   float  sum  1.628  10.31  10.31 0e+00  1.932   8.68   8.68 0e+00
"""
    assert {("n4194304", "sum", "float32", 2): pytest.approx(1.628e-3)} == facts(oldest)


def test_nccl_tests_of_the_processor_are_listed():
    """-C 1 prints, in the place of the times, those to issue the sums."""
    text = NCCL_TESTS.replace("     time ", "  cputime ")
    assert ({}, True) == (facts(text), "(-C 1)" in program_logs.read(text)[1][0].reason)
    assert facts(NCCL_TESTS) == facts(NCCL_TESTS + text)


def test_nccl_tests_of_split_ranks():
    """Each group sums by itself; the times are of the first."""
    split = NCCL_TESTS.replace("Rank  1 Group  0", "Rank  1 Group  1")
    assert {("n4194304", "sum", "float32", 1)} == set(facts(split))


def test_nccl_tests_of_other_collectives_are_listed():
    """reduce_scatter_perf prints the same columns, and counts the elements that each rank gets."""
    text = NCCL_TESTS.replace("16777216       4194304", "16777216       2097152")
    assert ({}, True) == (facts(text), "another collective" in program_logs.read(text)[1][0].reason)


ARM_CSV = """\
Running the inference device set
GEMMOP,TA,TB,M,N,K,USEC,GOP/s
GEMMLOWP,false,false,5124,700,2048,251340,58.4
SGEMM,true,false,35,700,2048,1.2345e+04,8.1
DGEMM,false,false,35,700,2048,12345,8.1
SGEMM,false,false,35
"""
ARM_COLUMNS = """\
    m       n      k      a_t    b_t    time (msec)     GOPS 
   5124    700   2048      n      t        251.34      58.4537
"""


def test_products_of_arm():
    """gemmlowp multiplies 8-bit integers into 32 bits, SGEMM is a BLAS's."""
    assert facts(ARM_CSV) == {
        ("m5124_n700_k2048_NN", "forward", "int8", None): pytest.approx(0.25134),
        ("m35_n700_k2048_TN", "forward", "float32", None): pytest.approx(0.012345),
    }
    assert ["is no product of SGEMM or GEMMLOWP", "has 4 cells, not 8"] == kernels(ARM_CSV)[1]
    expected = {("m5124_n700_k2048_NT", "forward", "int8", None): pytest.approx(0.25134)}
    assert expected == facts(ARM_COLUMNS)


def test_sparse_products_of_arm():
    """Those of uint8_t are added up in 8 bits: listed, and the float ones read."""
    header = SPARSE.replace("sparsity ", "sparsity  precision ")
    sizes = "7680      1   2560      0      0       0.95"
    rows = (
        f"{sizes}     uint8_t   1211    9120   7.53",
        f"{sizes}     float   2011    9920   4.93",
    )
    found, reasons = kernels(output(header, *rows, width=110))
    id = "m7680_n1_k2560_NN_sparsity0.95"
    assert found == {(id, "forward", "float32"), (id, "dense_forward", "float32")}
    assert 2 == len([reason for reason in reasons if "uint8_t" in reason])


def test_products_of_intel():
    """Calls as MKL names them; doubles are none of our precisions."""
    text = """\
Running the training benchmark (set first program argument to 0 for inference)
SGEMM(N,T,1760,16,1760) 57.0 usec 1739.00000 GFlop/sec 
GEMM_S8U8S32(N,N,1760,32,1760) 61.5 usec 3223.00000 GOp/sec 
DGEMM(N,N,1760,16,1760) 114.0 usec 869.00000 GFlop/sec 
SGEMM(N,N,1760,16
Total time 232.5 usec, Overall Performance: 1300.00000 GFlop/sec 
"""
    assert facts(text) == {
        ("m1760_n16_k1760_NT", "forward", "float32", None): pytest.approx(57e-6),
        ("m1760_n32_k1760_NN", "forward", "int8", None): pytest.approx(61.5e-6),
    }
    assert [True, True] == [
        reason.startswith(expected)
        for reason, expected in zip(
            kernels(text)[1], ("multiplies doubles", "is no whole row"), strict=True
        )
    ]


INTEL_CONV = (
    "W=56, H=56, C=64, N=8, K={k}, S={s}, R={s} | {mode} w/ padding in flops min(ms) 1.00;"
    " max(gflop/s) 1.00;avg(ms) {ms}; avg(gflop/s) {rate};"
)
INTEL_FIRST = (
    "W=700, H=161, C=1, N=4, K=32, R=5, S=20 | {mode}  w/ padding in flops :min(ms) 0.40;"
    " min(gflop/s) 1.00; avg(ms) 0.50; avg(gflop/s) 1.00;"
)


def test_convolutions_of_intel():
    """Padding and stride are those of the list, of two the one that the rate fits."""
    wide = {"k": 256, "s": 1, "mode": "FWD", "ms": "1.00", "rate": "205.52"}
    lines = [
        " FWD Convolution",
        INTEL_CONV.format(**wide),
        INTEL_CONV.format(**wide | {"rate": "400.00"}),
        INTEL_CONV.format(**wide | {"k": 77}),
        " BWD_F Convolution",
        INTEL_CONV.format(**wide | {"mode": "BWD_F", "rate": "821.00", "ms": "1.02"}),
        INTEL_FIRST.format(mode="BWD_D"),
        "W=56, H=56, C=64",
    ]
    found, unread = program_logs.read("\n".join(lines))
    assert {(t.problem.id, t.operation, t.precision): t.seconds for t in found} == {
        ("w56_h56_c64_n8_k256_r1_s1_pad0_0_stride2_2", "forward", "float32"): 0.001,
        ("w56_h56_c64_n8_k256_r1_s1_pad0_0_stride1_1", "backward_weights", "float32"): 0.00102,
        ("w700_h161_c1_n4_k32_r5_s20_pad0_0_stride2_2", "backward_data", "float32"): 0.0005,
    }
    assert ["line 8", "line 3", "line 4"] == [str(cell.place) for cell in unread]


INTEL_CSV = "{mode},0,8,56,56,64,64,3,3,1,1,1,1,4.1e-01,4.5e+03,4.2e-01,4.4e+03"


@pytest.mark.parametrize(
    ("above", "mode", "precision"),
    [
        ("./std_conv_bench --csv-output --inference-server --u8s8u8", "FWD", "int8"),
        (" MKL Convolution - SKX (inference-server, int8)", "FWD", "int8"),
        (" MKL Convolution - SKX (training, float32)", "FWD", "float32"),
        ("", "BWD_D", "float32"),
    ],
)
def test_convolutions_of_intel_with_all_sizes(above, mode, precision):
    """Comma-separated they are complete; the precision is that of the command or the title."""
    found, _ = kernels(f"{above}\n{INTEL_CSV.format(mode=mode)}\n")
    assert {"w56_h56_c64_n8_k64_r3_s3_pad1_1_stride1_1"} == {id for id, _, _ in found}
    assert {precision} == {kind for _, _, kind in found}


def test_convolutions_of_intel_in_sixteen_bits_are_listed():
    """Integers of 16 bits are none of our precisions."""
    text = "./std_conv_bench --csv-output --s16s16s32\n" + INTEL_CSV.format(mode="FWD")
    assert (set(), ["multiplies 16-bit integers: none of our precisions"]) == kernels(text)


def test_sparse_products_of_intel():
    """The sparsity is the listed one that the nonzeros fit."""
    header = "             m   |   n  |   k  |    nnz   | time spmv  | perf spmv  | res spmv/loop"
    row = "sparse    [  7680|     1|  2560|{:>10}|    0.000151|       12.13|       1e-07"
    text = "\n".join([header, row.format(983412), row.format(1966110), row.format(5000000)])
    assert facts(text) == {
        ("m7680_n1_k2560_NN_sparsity0.95", "forward", "float32", None): 0.000151,
        ("m7680_n1_k2560_NN_sparsity0.9", "forward", "float32", None): 0.000151,
    }
    assert ["prints no sparsity: no listed one fits the nonzeros"] == kernels(text)[1]


LIBXSMM = "+ numactl --membind=1 samples/dnn/layer_example_f32 1000 56 56"
PASSES = {"forward": "FP", "backward_data": "BP", "backward_weights": "WU"}


def dump(problem, operation, seconds, pads):
    """A line of libxsmm's sample, with one padding in its early releases."""
    p = problem
    sizes = (p.n, p.c, p.k, p.w, p.h, p.s, p.r, p.stride_w, p.pad_w, p.pad_h)[: 8 + pads]
    rate = p.flops / seconds * 1e-9
    cells = [PASSES[operation], "1.8.1-1024", 64, *sizes, f"{seconds:.5g}", f"{rate:.5g}"]
    norms = ["0.000001"] * (3 + 2 * pads)
    return ",".join(str(cell) for cell in ["PERFDUMP", *cells, *norms])


@given(
    problem=st.sampled_from([p for p in load("conv") if p.stride_w == p.stride_h]),
    operation=st.sampled_from(list(PASSES)),
    time=MICROSECONDS,
    pads=st.sampled_from([1, 2]),
)
def test_convolutions_of_libxsmm(problem, operation, time, pads):
    """Widths stand before heights; seconds of a call, and the rate that they give."""
    pads = pads if problem.pad_w == problem.pad_h else 2
    line = dump(problem, operation, time * 1e-6, pads)
    expected = {
        (problem.id, operation, "float32", None): pytest.approx(time * 1e-6, rel=1e-4),
    }
    assert expected == facts(f"{LIBXSMM}\n{line}\n")


def test_the_paddings_of_libxsmm_are_the_widths_and_the_heights():
    """In this order."""
    problem = Conv(w=30, h=9, c=16, n=3, k=32, r=2, s=5, pad_w=2, pad_h=0)
    text = f"{LIBXSMM}\n{dump(problem, 'forward', 0.003, 2)}\n"
    assert {(problem.id, "forward", "float32", None): 0.003} == facts(text)


@pytest.mark.parametrize(
    ("command", "changed", "reason"),
    [
        ("", ("", ""), "names no sample"),
        ("gcc -c layer_example_f32.c", ("", ""), "names no sample"),
        ("./layer_example_qi16f32 10 56", ("", ""), "is of layer_example_qi16f32"),
        (LIBXSMM, ("PERFDUMP,", "PERFDUMP-NHWC-RSCK,"), "is in the layout NHWC-RSCK"),
        (LIBXSMM, ("FP", "UP"), "is no line of a convolution"),
        (LIBXSMM, (",64,8,", ",64,8,7,"), "is no line of a convolution"),
        (LIBXSMM, (",1,1,1,0.0005,", ",1,1,0.0005,0.0005,"), "is no line of a convolution"),
        (LIBXSMM, (",56,56,3,3,", ",56,54,3,3,"), "has a time and a rate"),
        (LIBXSMM, (",0.0005,", ",nan,"), "has a time and a rate"),
    ],
)
def test_what_is_no_plain_convolution_of_libxsmm_is_listed(command, changed, reason):
    """Samples of other types, layouts and layers print PERFDUMP too."""
    [problem] = [p for p in load("conv") if p.id == "w56_h56_c64_n8_k64_r3_s3_pad1_1_stride1_1"]
    line = dump(problem, "forward", 0.0005, 2)
    assert changed[0] in line
    found, [unread] = kernels(f"{command}\n{line.replace(*changed)}\n")
    assert (set(), True) == (found, unread.startswith(reason))


def grouped(number):
    return f"{int(number):_}"


def in_arabic(number):
    return number.translate({ord("0") + digit: 0x660 + digit for digit in range(10)})


SPMM = "             m   |   n  |   k  |    nnz   | time spmv  | perf spmv  | res spmv/loop"
NUMBERS = {
    "gemm_bench": output(GEMM, "7680 16 1760 0 0 float 1000"),
    "arm": "GEMMOP,TA,TB,M,N,K,USEC,GOP/s\nGEMMLOWP,false,false,7680,700,2048,1000,58.4",
    "intel-gemm": "SGEMM(N,T,7680,16,1760) 1000 usec 1739.0 GFlop/sec",
    "intel-conv": "std_conv_bench --f32\nFWD,0,7680,56,56,64,64,3,3,1,1,1,1,1,1,1000,1",
    "intel-spmm": f"{SPMM}\nsparse [  7680|     1|  2560|    983412|    1000|     12.13|   1e-07",
    "libxsmm": f"{LIBXSMM}\nPERFDUMP,FP,1,64,7680,8,4,9,8,3,2,1,0,0,1000,1.4451e-04{',0' * 7}",
    "all_reduce": all_reduce("NCCL AllReduce", "Time (msec)", "7680 30720 1000"),
    "nccl-tests": NCCL_TESTS.replace("16777216       4194304", "30720 7680").replace(
        "607.5", "1000"
    ),
    "osu": OSU.replace("400000     ", "7680     ").replace("137.34", "1000"),
    "benchdnn-conv": BENCHDNN.format(
        dir="FWD_D", cfg="f32", prb="mb7680ic64ih56oc64oh56kh3ph1"
    ).replace("0.50,1000", "1000,1"),
    "benchdnn-matmul": BENCHDNN.replace(
        "--conv --dir={dir} --cfg={cfg} {prb}", "--matmul 7680x2048:2048x5124"
    ).replace("0.50,1000", "1000,1"),
}


@pytest.mark.parametrize("text", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("plain", ["7680", "1000"], ids=["size", "time"])
@pytest.mark.parametrize("write", [grouped, in_arabic])
def test_numbers_are_of_plain_digits(text, plain, write):
    """Python takes more: such a size or time is refused or listed, never taken or left out."""
    assert 1 == len(program_logs.read(text)[0])
    changed = text.replace(plain, write(plain))
    assert changed != text
    try:
        found, unread = program_logs.read(changed)
    except DeepbenchError:
        return
    assert [] == found
    assert len(program_logs.read(text)[1]) < len(unread)


@pytest.mark.parametrize("write", [grouped, in_arabic])
def test_numbers_next_to_the_time_are_of_plain_digits(write):
    """Nonzeros and rates that tell which listed size it is."""
    sparse = NUMBERS["intel-spmm"].replace("983412", write("983412"))
    line = INTEL_CONV.format(k=256, s=1, mode="FWD", ms="0.1", rate="2055")
    text = f"std_conv_bench --f32\n{line}\n{line.replace('2055', write('2055'))}"
    assert (0, 1) == tuple(map(len, program_logs.read(sparse)))
    assert (1, 1) == tuple(map(len, program_logs.read(text)))


@pytest.mark.parametrize("ranks", ["1_024", in_arabic("8"), "0"])
def test_ranks_are_of_plain_digits(ranks):
    """1_024 ranks are not 1."""
    found, unread = program_logs.read(DEEPBENCH_NCCL.replace("Ranks: 8", f"Ranks: {ranks}"))
    assert (0, 2) == (len(found), len(unread))
    for text in (
        OSU.replace("-np 4", f"-np {ranks}"),
        OSU_OURS.replace("Ranks 8", f"Ranks {ranks}"),
    ):
        with pytest.raises(DeepbenchError, match="no number of ranks"):
            program_logs.read(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", "neither a workbook nor the output"),
        (" \n", "it is empty"),
        (output(GEMM, "1760 16 1760 0 2 float 57"), "line 5: b_transposed is '2'"),
        (output(GEMM, "1760 16 1760 0 0 double 57"), "line 5: precision is 'double'"),
        (output(GEMM, "1760 16 1760 0 0 float -57"), "line 5: a time is '-57'"),
        (output(GEMM, "1760 16 1760 0 0 float inf"), "line 5: a time is 'inf'"),
        (output(GEMM, "1760 0 1760 0 0 float 57"), "line 5: n is '0'"),
        (output(SPARSE, "8 1 8 0 0 1.0 5 6 1"), "line 5: sparsity is '1.0'"),
        (BENCHDNN.format(dir="FWD_B", cfg="f32", prb="mb1ic1ih9oc1kh3sh0"), "line 2: stride_h"),
        (DEEPBENCH_NCCL.replace("0.044", "nan"), "line 6: a time is 'nan'"),
        (OSU.replace("137.34", "inf"), "line 5: a time is 'inf'"),
        (NCCL_TESTS.replace("#  Rank", "#"), "how many ranks"),
        (INTEL_CSV.format(mode="FWD"), "line 1: the output names no precision"),
        (
            f"std_conv_bench --u8s8u8\n{INTEL_CSV.format(mode='BWD_D')}",
            "line 2: the command above is not of float32",
        ),
        (ARM_CSV.replace("251340", "-1"), "line 3: a time is '-1'"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(text, expected):
    """One line: place and message."""
    with pytest.raises(DeepbenchError, match=expected):
        program_logs.read(text)


@pytest.mark.parametrize(
    ("sizes", "time", "reason"),
    [
        ("1760 128 1000000000 0 0", 1696, "would be 2.66e+17 FLOP/s"),
        ("1760 128 1760 true 0", 1696, "a_transposed is 'true' and b_transposed is '0', which"),
    ],
)
def test_a_row_that_no_device_gives_is_named_with_its_line(sizes, time, reason):
    """A size with digits too many, or a flag in another spelling than its neighbour."""
    with pytest.raises(DeepbenchError, match="line 5") as caught:
        facts(output(GEMM, f"{sizes} float {time}"))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "malformed"),
    [
        (output(GEMM, "1760 16 1760 0 0 float 57", "1760 16 1760 0 0"), "1760 16 1760 0 0"),
        (DEEPBENCH_NCCL + "   200000   800001   0.05", "200000   800001   0.05"),
        (NCCL_TESTS + "  16777216  4194304  float", "16777216  4194304  float"),
        (OSU + "800000", "800000"),
        (
            "perf,cpu,a\n" + BENCHDNN.format(dir="FWD_B", cfg="f32", prb="mb1ic1ih9oc1kh3"),
            "perf,cpu,a",
        ),
    ],
    ids=["gemm_bench", "nccl_single_all_reduce", "all_reduce_perf", "osu_allreduce", "benchdnn"],
)
def test_a_row_that_is_no_whole_row_is_listed(text, malformed):
    """Such as the last one of an output that broke off."""
    assert [malformed] == [
        cell.text for cell in program_logs.read(text)[1] if cell.text == malformed
    ]
    assert program_logs.read(text)[0]


def test_a_log_is_imported_like_a_workbook(tmp_path: Path):
    """By content: under its machine and day, joined to the same problems."""
    path = tmp_path / "gemm.log"
    path.write_text(output(GEMM, "512 8 1530 0 0 half 57", "1760 16 1760 0 0 half 57") + "\n")
    [found] = workbook_values.read(path, "our-card", date(2026, 11, 21), "cuda")
    assert (found.published_set, found.machine.device) == ("training", "cuda")
    assert ("gemm.Training.kernel_forward", ("'m1760_n16_k1760_NN'", "'float16'")) in found.values


def test_all_reduce_is_published_with_training():
    """Also where none of its sizes is listed."""
    found, _ = program_logs.read(
        NCCL_TESTS.replace("16777216       4194304", "16777212       4194303")
    )
    assert problem_matching.set_of(found) == "training"
