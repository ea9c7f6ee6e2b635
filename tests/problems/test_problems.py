"""The published lists: exact counts, ids, formulas, selections, errors that help."""

import csv
import importlib.util
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import (
    DEEPBENCH_SETS,
    FAMILIES,
    PRECISIONS,
    SELECTIONS,
    SETS,
    bench_regex,
    find,
    load,
    select,
)
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.benchmark_names import BENCHMARK
from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.family_list import MODERN_LIST, problem_of_line
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import TABLE, groups, precision
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES, heading, published_only, title_prefix
from deepbench_ops.problems.rnn import Rnn
from deepbench_ops.problems.selections import CLASSES, FAMILY_SELECTIONS, operations
from deepbench_ops.problems.sparse_gemm import SparseGemm

ROOT = Path(__file__).resolve().parents[2]
FACTS = ROOT.parent / "shared" / "data" / "deepbench"
FOLDER = ROOT / "deepbench_ops" / "problems"

# Facts of DeepBench: published rows, distinct problems; and the rows of each set. Modern families
# are in none of its lists, so a new one needs no entry.
COUNTS = {
    "gemm": (248, 243, (160, 75, 13)),
    "conv": (217, 191, (94, 107, 16)),
    "rnn": (125, 124, (53, 69, 3)),
    "sparse_gemm": (32, 24, (0, 24, 8)),
    "all_reduce": (7, 7, (7, 0, 0)),
}
ALL = [each for family in COUNTS for each in load(family) if {*each.sets} & {*DEEPBENCH_SETS}]
"""The problems of DeepBench's lists."""

size = st.integers(1, 10**6)
gemms = st.builds(Gemm, size, size, size, st.booleans(), st.booleans())
sparse = st.builds(
    SparseGemm,
    *[size] * 3,
    st.booleans(),
    st.booleans(),
    st.integers(0, 99).map(lambda percent: percent / 100),
)
rnns = st.builds(Rnn, st.sampled_from(["vanilla", "lstm", "gru"]), size, size, size)
convs = st.builds(
    lambda w, h, c, n, k, r, s, *rest: Conv(w + s, h + r, c, n, k, r, s, *rest),
    *[st.integers(0, 500)] * 2,
    *[st.integers(1, 500)] * 5,
    *[st.integers(0, 9)] * 2,
    *[st.integers(1, 9)] * 2,
)
reductions = st.builds(AllReduce, size)
anything = gemms | sparse | rnns | convs | reductions


@pytest.mark.parametrize("family", COUNTS)
def test_counts_are_those_of_the_published_lists(family):
    """Rows, distinct problems and rows of each set are exactly the published ones."""
    rows, distinct, by_set = COUNTS[family]
    problems = [each for each in ALL if each.family == family]
    counted = [sum(dict(zip(p.sets, p.rows, strict=True)).get(s, 0) for p in problems)
               for s in DEEPBENCH_SETS]  # fmt: skip
    assert (rows, distinct) == (sum(sum(p.rows) for p in problems), len(set(problems)))
    assert list(by_set) == counted


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_and_aliases_name_one_problem_each(family):
    """No id of a family is anybody else's id or alias, and each finds its own problem."""
    problems = load(family)
    named = [name for p in problems for name in (p.id, *p.aliases)]
    assert len(named) == len(set(named))
    assert list(problems) == [find(family, p.id) for p in problems]


@pytest.mark.parametrize("family", FAMILIES)
def test_stored_ids_are_the_computed_ones(family):
    """The id column of each table follows from the sizes of its line."""
    for path in (FOLDER / f"{family}.csv", FOLDER / f"{family}{MODERN_LIST}"):
        if path.exists():
            with path.open(encoding="utf-8") as lines:
                for line in csv.DictReader(lines):
                    assert line["id"] == problem_of_line(TYPES[family], line).id


def test_ids_read_as_the_contract_says():
    """One id of each family, spelt as it must be for ever."""
    assert "m1760_n128_k1760_NN" == find("gemm", "m1760_n128_k1760_NN").id
    assert "w224_h224_c3_n16_k64_r7_s7_pad3_3_stride2_2" == (
        Conv(224, 224, 3, 16, 64, 7, 7, 3, 3, 2, 2).id
    )
    assert "w700_h161_c1_n4_k32_r5_s20_pad0_0_stride2_2" == load("conv")[0].id
    assert "lstm_h1024_n64_t25" == Rnn("lstm", 1024, 64, 25).id
    assert "m7680_n1_k2560_NN_sparsity0.95" == load("sparse_gemm")[0].id
    assert "n4194304" == AllReduce(4194304).id


def test_published_slips_join_on_what_was_run():
    """A misprinted id finds the problem that ran, whose note has both sizes."""
    for family, printed, ran in [
        ("all_reduce", "n16777216", "n16777217"),
        ("sparse_gemm", "m7680_n2_k2560_NN_sparsity0.95", "m7860_n2_k2560_NN_sparsity0.95"),
        ("gemm", "m7860_n64_k2560_NN", "m7680_n64_k2560_NN"),
        ("gemm", "m512_n24000_k1530_TN", "m512_n24000_k1536_TN"),
        ("rnn", "vanilla_h32_n1_t96", "vanilla_h64_n1_t96"),
    ]:
        problem = find(family, printed)
        assert ran == problem.id
        differing = set(re.findall(r"\d+", printed)) ^ set(re.findall(r"\d+", ran))
        assert differing <= set(re.findall(r"\d+", problem.note))


@pytest.mark.parametrize(("family", "count"), [("gemm", 3), ("rnn", 12), ("conv", 0)])
def test_what_only_workbooks_time_is_in_no_set(family, count):
    """It is found by its id, with a note that names the workbooks, and nothing measures it."""
    only = published_only(family)
    assert count == len(only)
    assert not set(only) & set(load(family))
    for problem in only:
        assert problem is find(family, problem.id)
        assert problem.note.startswith("published only: in no program list, but timed in DeepBench")
        assert ((), ()) == (problem.sets, problem.rows)


def test_every_problem_says_where_it_is_from():
    """Each has a source, and an application unless its note says that none is published."""
    assert all(p.source.startswith("baidu-research/DeepBench") for p in ALL)
    bare = [p.id for p in ALL if not p.application]
    assert ["n38360000", "n64500000"] == bare
    assert bare == [p.id for p in ALL if "names the application" in p.note]


@pytest.mark.slow
def test_tables_are_made_from_the_published_files(tmp_path):
    """Making the tables again from the published files gives the ones in the project."""
    if not FACTS.is_dir():
        pytest.skip("the published DeepBench files are not next to the project")
    pytest.importorskip("openpyxl", reason="openpyxl (the `tables` extra) reads the workbooks")
    script = table_script()
    script.make(FACTS, tmp_path)
    for family in COUNTS:
        made = (tmp_path / f"{family}.csv").read_text(encoding="utf-8")
        assert (FOLDER / f"{family}.csv").read_text(encoding="utf-8") == made


def table_script():
    """scripts/make_problem_tables.py as a module."""
    path = ROOT / "scripts" / "make_problem_tables.py"
    spec = importlib.util.spec_from_file_location("make_problem_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "headers",
    [
        ["Source", "W", "H", "C", "N", "K", "R (filter height)", "S (filter width)", "pad_h",
         "pad_w", "Vertical Stride", "Horizontal Stride"],
        ["Source", "Vertical Stride", "Horizontal Stride", "pad_w", "pad_h", "S", "R", "K  (f)",
         "N (batch size)", "C (channels)", "H (input)", "W (input - time)"],
    ],
)  # fmt: skip
def test_workbook_columns_are_read_by_header(headers, tmp_path):
    """The same kernel is read whatever the order and spelling of the columns."""
    openpyxl = pytest.importorskip("openpyxl")
    cells = {"So": "OCR", "W": 151, "H": 40, "C": 1, "N": 2, "K": 32, "R": 5, "S": 20,
             "pad_w": 8, "pad_h": 7, "Ho": 3, "Ve": 4}  # fmt: skip
    book = openpyxl.Workbook()
    book.active.append(["Convolution"])
    book.active.append([None, *headers])
    keys = [h if h in cells else h[:2] if h[:2] in cells else h[0] for h in headers]
    book.active.append([None, *(cells[key] for key in keys)])
    book.save(tmp_path / "kernels.xlsx")
    expected = Conv(151, 40, 1, 2, 32, 5, 20, 8, 7, 3, 4)
    read = list(table_script().read_sheets(tmp_path / "kernels.xlsx"))
    assert [(expected, "OCR", set())] == read


def test_headline_is_what_the_readme_shows():
    """The headline holds the rows of the README's tables of results, each in its set."""
    expected = {
        ("training", "m1760_n128_k1760_NN"),
        ("training", "m7680_n64_k2560_NN"),
        ("training", "m2560_n64_k2560_NN"),
        ("training", "m5124_n9124_k2560_TN"),
        ("training", "m3072_n128_k1024_TN"),
        ("inference_server", "m5124_n700_k2048_NN"),
        ("inference_server", "m35_n700_k2048_NN"),
        ("inference_server", "m3072_n3000_k1024_NN"),
        ("inference_server", "m512_n6000_k2816_NN"),
        ("inference_device", "m5124_n700_k2048_NN"),
        ("inference_device", "m35_n700_k2048_NN"),
        ("inference_device", "m3072_n1500_k1024_NN"),
    }
    assert expected == {(one.set, one.problem.id) for one in select("headline", "gemm")}
    expected = {
        ("training", "w700_h161_c1_n32_k32_r5_s20_pad0_0_stride2_2"),
        ("training", "w54_h54_c64_n8_k64_r3_s3_pad1_1_stride1_1"),
        ("training", "w224_h224_c3_n16_k64_r3_s3_pad1_1_stride1_1"),
        ("training", "w7_h7_c512_n16_k512_r3_s3_pad1_1_stride1_1"),
        ("training", "w28_h28_c192_n16_k32_r5_s5_pad2_2_stride1_1"),
        ("inference_server", "w341_h79_c32_n4_k32_r5_s10_pad0_0_stride2_2"),
        ("inference_server", "w224_h224_c3_n1_k64_r7_s7_pad3_3_stride2_2"),
        ("inference_server", "w56_h56_c256_n1_k128_r1_s1_pad0_0_stride2_2"),
        ("inference_server", "w7_h7_c512_n2_k2048_r1_s1_pad0_0_stride1_1"),
        ("inference_device", "w112_h112_c64_n1_k64_r1_s1_pad0_0_stride1_1"),
        ("inference_device", "w56_h56_c256_n1_k128_r1_s1_pad0_0_stride2_2"),
        ("inference_device", "w7_h7_c512_n1_k2048_r1_s1_pad0_0_stride1_1"),
    }
    assert expected == {(one.set, one.problem.id) for one in select("headline", "conv")}


def test_recurrent_headline_is_what_the_readme_shows():
    """Four rows of each table of recurrent results in DeepBench's README, and none of a device."""
    expected = {
        ("training", "vanilla_h1760_n16_t50"),
        ("training", "vanilla_h2560_n32_t50"),
        ("training", "lstm_h1024_n128_t25"),
        ("training", "gru_h2816_n32_t1500"),
        ("inference_server", "lstm_h1536_n4_t50"),
        ("inference_server", "lstm_h256_n4_t150"),
        ("inference_server", "gru_h2816_n1_t1500"),
        ("inference_server", "gru_h2560_n2_t375"),
    }
    assert expected == {(one.set, one.problem.id) for one in select("headline", "rnn")}


def test_sparse_headline_is_what_the_readme_shows():
    """The seven rows of sparse results in DeepBench's README, four on a server, three a device."""
    expected = {
        ("inference_server", "m7680_n1_k2560_NN_sparsity0.95"),
        ("inference_server", "m7860_n2_k2560_NN_sparsity0.95"),
        ("inference_server", "m7680_n1500_k2560_NN_sparsity0.95"),
        ("inference_server", "m10752_n1_k3584_NN_sparsity0.9"),
        ("inference_device", "m7680_n1_k2560_NN_sparsity0.95"),
        ("inference_device", "m7680_n1500_k2560_NN_sparsity0.95"),
        ("inference_device", "m7680_n1_k2560_NN_sparsity0.9"),
    }
    assert expected == {(one.set, one.problem.id) for one in select("headline", "sparse_gemm")}


def test_headline_problems_are_in_the_sets_it_names():
    """No headline row names a set that does not list the problem."""
    for family in FAMILIES:
        for listed, ids in TYPES[family].headline.items():
            assert set(ids) <= {p.id for p in load(family, listed)}


def test_a_headline_has_its_reason():
    """A clause for each problem, or one for all of them."""
    for family in FAMILIES:
        kind = TYPES[family]
        clauses = [each for each in kind.headline_reason.split("; ") if each]
        most = len({id for ids in kind.headline.values() for id in ids})
        assert bool(kind.headline) == bool(clauses)
        assert len(clauses) <= most, family


def benchmark_names(family="gemm"):
    """Every name that asv would search: benchmark, then the repr of each parameter."""
    return {
        (listed, p.id, name): f"{family}.{CLASSES[listed]}.kernel_forward({p.id!r}, {name!r})"
        for listed in SETS
        for p in load(family, listed)
        for name in PRECISIONS
    }


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("precisions", [(), ("float32",), ("float16", "int8")])
def test_regex_picks_exactly_the_selection(name, precisions):
    """Searched as asv does, it picks the selection's rows at the precisions, and no other."""
    pattern = bench_regex(select(name), precisions)
    chosen = {(one.set, one.problem.id) for one in select(name, "gemm")}
    expected = set(itertools.product(chosen, precisions or PRECISIONS))
    found = {((s, i), p) for (s, i, p), text in benchmark_names().items()
             if re.search(pattern, text)}  # fmt: skip
    assert expected == found


@pytest.mark.parametrize("name", FAMILY_SELECTIONS)
def test_every_network_is_in_its_selection_once(name):
    """Each network that a set of whole models lists, and nothing but one batch of it."""
    members = select(name)
    networks = {problem.name for problem in load(*FAMILY_SELECTIONS[name])}
    assert sorted(networks) == sorted(member.problem.name for member in members)
    assert {FAMILY_SELECTIONS[name][1]} == {member.set for member in members}
    assert members == select(name, "model")
    assert () == select(name, "gemm")


@pytest.mark.parametrize("name", FAMILY_SELECTIONS)
def test_regex_picks_one_batch_of_every_network(name):
    """Of all that asv searches, whole models and kernels alike."""
    pattern = bench_regex(select(name), ["float32"])
    expected = {
        (FAMILY_SELECTIONS[name][1], member.problem.id, "float32") for member in select(name)
    }
    found = {
        place
        for family in TYPES
        for place, text in benchmark_names(family).items()
        if re.search(pattern, text)
    }
    assert expected == found


def test_a_batch_is_the_smallest_of_several_items_on_one_thread():
    """A single item only where nothing larger is listed."""
    trained = {member.problem.id for member in select("models-training")}
    served = {member.problem.id for member in select("models-inference")}
    assert {"resnet50_b8", "bert_large_128_b2", "bert_large_384_b1"} <= trained
    assert {"resnet50_b16", "googlenet_b128", "bert_large_384_b1"} <= served


def test_asv_itself_picks_the_selection():
    """asv's own Benchmarks, given the expression, selects the twelve headline products."""
    pytest.importorskip("asv")
    from deepbench_ops.asv_adapter import asv_api

    class Configuration:
        benchmark_dir = "benchmarks"

    suite = [
        {
            "name": f"gemm.{CLASSES[listed]}.kernel_forward",
            "params": [[repr(p.id) for p in load("gemm", listed)], [repr(p) for p in PRECISIONS]],
        }
        for listed in DEEPBENCH_SETS
    ]
    picked = asv_api.benchmarks(Configuration, suite, bench_regex(select("headline"), ["float32"]))
    assert [5, 4, 3] == [len(picked.benchmark_selection[name["name"]]) for name in suite]


def test_regex_leaves_fused_layers_out_when_asked():
    """The published passes stay, those of frameworks' own layers go."""
    (layer,) = [p for p in load("rnn", "inference_device") if p.id == "vanilla_h32_n1_t672"]
    texts = {
        name: f"rnn.InferenceDevice.kernel_{name}({layer.id!r}, 'float32')"
        for name in ("forward", "backward", "fused_forward", "fused_backward")
    }
    members = select("inference-device", "rnn")
    for fused, expected in ((True, set(texts)), (False, {"forward", "backward"})):
        pattern = bench_regex(members, ["float32"], fused)
        assert expected == {name for name, text in texts.items() if re.search(pattern, text)}


def test_regex_leaves_operations_apart_out_when_asked():
    """Of whole models the steps themselves stay."""
    (member,) = [m for m in select("models-training") if m.problem.id == "mmoe_b1024"]
    texts = {
        name: f"model.Training.kernel_{name}('mmoe_b1024', 'float32')"
        for name in ("training_step", "training_step_operations")
    }
    for apart, expected in ((True, set(texts)), (False, {"training_step"})):
        pattern = bench_regex([member], ["float32"], apart=apart)
        assert expected == {name for name, text in texts.items() if re.search(pattern, text)}


def test_regex_of_nothing_matches_nothing():
    """An empty selection picks no benchmark rather than every one."""
    assert not any(re.search(bench_regex([]), text) for text in benchmark_names().values())


@given(gemms)
def test_gemm_formulas(problem):
    """2mnk operations, and the bytes of three matrices with C moved twice."""
    m, n, k = problem.m, problem.n, problem.k
    assert 2 * m * n * k == problem.flops
    assert 4 * (m * k + k * n + 2 * m * n) == problem.bytes("float32")
    assert m * k + k * n + 8 * m * n == problem.bytes("int8")


def test_conv_formulas_of_a_known_layer():
    """ResNet's first layer: 112 x 112 outputs and 3.78 GFLOP at batch 16."""
    layer = Conv(224, 224, 3, 16, 64, 7, 7, 3, 3, 2, 2)
    assert (112, 112) == (layer.p, layer.q)
    assert 2 * 112 * 112 * 16 * 64 * 3 * 7 * 7 == layer.flops
    elements = 16 * 3 * 224 * 224 + 64 * 3 * 7 * 7 + 16 * 64 * 112 * 112
    assert 4 * elements == layer.bytes("float32")


@given(convs)
def test_conv_of_swapped_axes_is_the_same_work(problem):
    """Swapping width with height everywhere leaves operations and bytes as they were."""
    p = problem
    turned = Conv(p.h, p.w, p.c, p.n, p.k, p.s, p.r, p.pad_h, p.pad_w, p.stride_h, p.stride_w)
    assert (p.p, p.q) == (turned.q, turned.p)
    assert (p.flops, p.bytes("int8")) == (turned.flops, turned.bytes("int8"))


def test_width_goes_with_s():
    """A filter wider than high shrinks the width more: DeepSpeech's first layer."""
    layer = load("conv")[0]
    assert (20, 5, 341, 79) == (layer.s, layer.r, layer.q, layer.p)


def test_p_counts_rows_and_q_columns():
    """Of an image of 23 columns and 14 rows, P comes from the height and Q from the width."""
    problem = Conv(w=23, h=14, c=1, n=1, k=1, r=3, s=5, pad_h=2, stride_w=2)

    assert (14 - 3 + 2 * 2 + 1, (23 - 5) // 2 + 1) == (problem.p, problem.q)
    assert 2 * 16 * 10 * 3 * 5 == problem.flops


@given(rnns)
def test_rnn_formulas(problem):
    """2, 8 and 6 times T·N·H² operations for vanilla, LSTM and GRU."""
    factor = {"vanilla": 2, "lstm": 8, "gru": 6}[problem.cell]
    expected = factor * problem.timesteps * problem.batch * problem.hidden**2
    assert expected == problem.flops
    assert problem.batch * problem.timesteps == problem.items


@given(rnns)
def test_a_whole_layer_is_twice_the_recurrent_part(problem):
    """Backward is counted like forward, and an input as wide as the layer doubles a vendor's."""
    once, twice = problem.flops, 2 * problem.flops
    assert [once, once, twice, twice] == [problem.flops_of(one) for one in Rnn.operations]


def test_rnn_bytes_of_a_small_layer():
    """An LSTM of 2 units, batch 3, 5 steps: weights 16, products 120, states 6+6 in, 30+6 out."""
    assert 4 * (16 + 120 + 12 + 36) == Rnn("lstm", 2, 3, 5).bytes("float32")


def test_rnn_bytes_of_the_other_operations():
    """Layers of 2 units, batch 3, 5 steps: states of 6 numbers, 30 over all steps."""
    kept = {"vanilla": 36, "lstm": 4 * 30 + 36 + 30, "gru": 3 * 30 + 30 + 30}
    for cell, gates in (("vanilla", 1), ("lstm", 4), ("gru", 3)):
        problem, weights, biases = Rnn(cell, 2, 3, 5), gates * 4, 2 * gates * 2
        cell_state = 6 * (cell == "lstm")
        backward = weights + 30 + kept[cell] + weights
        into = 2 * weights + biases + 30 + 6 + cell_state
        expected = {
            "forward": problem.bytes("float16"),
            "backward": 2 * backward,
            "fused_forward": 2 * (into + 30 + cell_state),
            "fused_backward": 2 * (backward + 30 + weights + biases),
        }
        assert expected == {one: problem.bytes_of("float16", one) for one in Rnn.operations}


@given(sparse)
def test_sparse_work_and_published_work_make_the_dense_work(problem):
    """Effective plus as-published operations are those of the dense product."""
    dense = Gemm(problem.m, problem.n, problem.k).flops
    assert dense == pytest.approx(problem.flops + problem.flops_as_published)


def test_sparse_bytes_of_a_small_product():
    """4 x 5 with 0.75 sparsity times 5 x 2: 5 values and columns, 5 offsets, B and C."""
    problem = SparseGemm(4, 2, 5, sparsity=0.75)
    assert 5 == problem.nonzeros
    assert 4 * (5 + 10 + 8) + 4 * (5 + 5) == problem.bytes("float32")


def test_a_sparse_product_without_a_stored_value_is_refused():
    """Of 8 entries at a sparsity of 0.95 none is left; at 0.9 one is."""
    with pytest.raises(DeepbenchError, match=r"0\.95 leaves none of the 4 x 2 entries of A"):
        problem_of("sparse_gemm", "m4_n1_k2_NN_sparsity0.95")
    assert 1 == problem_of("sparse_gemm", "m4_n1_k2_NN_sparsity0.9").nonzeros


def test_sparse_operations_count_their_own_work():
    """The dense product multiplies and moves A's 20 entries, the conversion makes 5 of them CSR."""
    problem = SparseGemm(4, 2, 5, sparsity=0.75)
    assert ("forward", "dense_forward", "conversion") == problem.operations
    assert [20, 80, 0] == [problem.flops_of(operation) for operation in problem.operations]
    expected = [problem.bytes("int8"), 20 + 10 + 4 * 8, 20 + 5 + 4 * (5 + 5)]
    assert expected == [problem.bytes_of("int8", operation) for operation in problem.operations]


def test_all_reduce_is_bandwidth_only():
    """No operations, the vector's bytes, and the bus factor of a ring."""
    problem = AllReduce(1000)
    assert (0, 2000) == (problem.flops, problem.bytes("float16"))
    assert [1.0, 1.5, 1.75] == [problem.bus_factor(p) for p in (2, 4, 8)]


@given(anything, st.sampled_from(PRECISIONS))
def test_intensity_times_bytes_is_work(problem, name):
    """Intensity is operations over bytes, and bytes are never nothing."""
    assert problem.bytes(name) > 0
    assert problem.flops == pytest.approx(problem.intensity(name) * problem.bytes(name))


@given(anything)
def test_narrower_types_move_fewer_bytes(problem):
    """Halving the types of a float problem never raises its bytes."""
    assert problem.bytes("bfloat16") == problem.bytes("float16")
    assert problem.bytes("float16") < problem.bytes("float32") == problem.bytes("tf32")


@given(st.lists(anything, min_size=2, max_size=2, unique=True))
def test_ids_differ_where_sizes_do(pair):
    """Two problems of a family have the same id exactly when they have the same sizes."""
    one, other = pair
    if one.family == other.family:
        assert (one.sizes() == other.sizes()) == (one.id == other.id)


@given(anything)
def test_a_line_of_a_table_reads_back(problem):
    """Sizes, written as the tables write them, read back as the same problem."""
    line = {name: str(size).lower() for name, size in problem.sizes().items()}
    blank = {"application": "", "source": "", "note": "", "aliases": ""}
    assert problem == problem_of_line(type(problem), {**line, **dict.fromkeys(SETS, "0"), **blank})


def test_precisions_weigh_what_the_contract_says():
    """Bytes of an input and of an output element of each precision."""
    expected = {"float32": (4, 4), "tf32": (4, 4), "bfloat16": (2, 2), "float16": (2, 2),
                "int8": (1, 4)}  # fmt: skip
    usual = {name: TABLE[name] for name in PRECISIONS}
    assert expected == {name: (p.input_bytes, p.output_bytes) for name, p in usual.items()}
    assert (("float32", "tf32"), ("bfloat16", "float16"), ("int8",)) == groups()


@pytest.mark.parametrize(
    ("call", "offender", "near"),
    [
        (lambda: load("gem"), "gem", "gemm"),
        (lambda: load("gemm", "train"), "train", "training"),
        (lambda: find("gemm", "m1760_n128_k1760"), "m1760_n128_k1760", "m1760_n128_k1760_NN"),
        (lambda: select("headlines"), "headlines", "headline"),
        (lambda: precision("fp32"), "fp32", "float32"),
        (lambda: bench_regex(select("headline"), ["float61"]), "float61", "float16"),
        (lambda: Rnn("ltsm", 1, 1, 1), "ltsm", "lstm"),
    ],
)
def test_unknown_names_get_one_line_with_near_ones(call, offender, near):
    """The error names the offending value and a valid one like it, in one line."""
    with pytest.raises(DeepbenchError) as caught:
        call()
    assert repr(offender) in str(caught.value)
    assert near in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


def test_dashes_do_for_underscores():
    """Set and family names may be typed with dashes."""
    assert load("sparse_gemm", "inference_server") == load("sparse-gemm", "inference-server")


def test_families_are_their_classes():
    """Each family loads as its own frozen dataclass."""
    for family in FAMILIES:
        assert {TYPES[family]} == {type(p) for p in load(family)}


def test_a_kernel_is_named_in_words_and_once():
    """A title names the operation, or has the family's heading before it."""
    found = {name: title_prefix(name) + load(name)[0].title for name in FAMILIES}
    assert "LayerNorm 4096 x 1024" == found["layer_norm"]
    assert "matrix products 1760 x 16 x 1760" == found["gemm"]
    for name, title in found.items():
        assert title[0].isalpha(), title
        assert heading(name).lower() not in load(name)[0].title.lower() or not title_prefix(name)


BENCHMARKS = json.loads((ROOT / "results" / "benchmarks.json").read_text())
DEEPBENCH_OR_MODERN = ("headline", *DEEPBENCH_SETS, "modern", "modern_full")


@pytest.mark.parametrize("selection", DEEPBENCH_OR_MODERN)
def test_each_operation_of_a_problem_has_a_benchmark(selection):
    """In one of its sets: others could be measured, but never stored."""
    listed = {
        (named[1], named[3], problem)
        for name, benchmark in BENCHMARKS.items()
        if (named := BENCHMARK.fullmatch(name))
        for problem in benchmark["params"][0]
    }
    found = [member.problem for member in select(selection)]
    assert found
    for problem in found:
        for operation in operations(problem):
            assert (problem.family, operation, repr(problem.id)) in listed
