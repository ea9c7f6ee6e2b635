"""Outputs of benchmark programs, written here as the programs' sources write them, are read."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import load
from deepbench_ops.published import joining, logs, publication

GEMM = "    m       n      k      a_t     b_t      precision        time (usec) "
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
MICROSECONDS = st.integers(1, 10_000_000)


def output(header, *rows, width=88, running="training"):
    """As the programs frame it: what runs, a line of dashes, headers, rows."""
    return "\n".join(
        [f"Running {running} benchmark ", "Times".rjust(30), "-" * width, header, *rows]
    )


def facts(text):
    found, _ = logs.read(text)
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
    found, unread = logs.read(output(header, *rows, running="inference"))
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
    found, unread = logs.read(output(RNN_AMD, "-" * 190, row, totals, width=190))
    assert {t.operation: t.seconds for t in found} == {
        "forward": pytest.approx(1.209e-3),
        "backward_data": pytest.approx(1.411e-3),
    }
    assert ["0"] == [u.text for u in unread]


@given(problem=st.sampled_from(load("sparse_gemm")), times=st.tuples(MICROSECONDS, MICROSECONDS))
def test_sparse_products(problem, times):
    """sparse_bench prints the dense time of the same product beside."""
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
    """Floats, bytes and milliseconds; the size that the sheets misprint is what was run."""
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
    found, unread = logs.read(NCCL_TESTS)
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
    assert [] == logs.read(integers)[0]
    with pytest.raises(DeepbenchError, match="no number of ranks"):
        logs.read(OSU[OSU.index("#") :])


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
    kind=st.sampled_from([("f32", "float32"), ("bf16bf16bf16", "bfloat16"), ("u8s8s32", "int8")]),
)
def test_benchdnn_convolutions(problem, direction, kind):
    """Every size by its letters; the average time counts."""
    p = problem
    prb = f"mb{p.n}ic{p.c}ih{p.h}iw{p.w}oc{p.k}oh{p.q}ow{p.p}kh{p.r}kw{p.s}"
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", "neither a workbook nor the output"),
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
    ],
)
def test_what_does_not_fit_is_named_with_its_line(text, expected):
    """One line: where, what it says."""
    with pytest.raises(DeepbenchError, match=expected):
        logs.read(text)


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
    assert [malformed] == [cell.text for cell in logs.read(text)[1] if cell.text == malformed]
    assert logs.read(text)[0]


def test_a_log_is_imported_like_a_workbook(tmp_path: Path):
    """By content: under its machine and day, joined to the same problems."""
    path = tmp_path / "gemm.log"
    path.write_text(output(GEMM, "512 8 1530 0 0 half 57", "1760 16 1760 0 0 half 57"))
    [found] = publication.read(path, "our-card", date(2026, 11, 21), "cuda")
    assert (found.published_set, found.machine.device) == ("training", "cuda")
    assert ("gemm.Training.kernel_forward", ("'m1760_n16_k1760_NN'", "'float16'")) in found.values


def test_all_reduce_is_published_with_training():
    """Also where none of its sizes is listed."""
    found, _ = logs.read(NCCL_TESTS.replace("4194304     float", "4194303     float"))
    assert joining.set_of(found) == "training"
