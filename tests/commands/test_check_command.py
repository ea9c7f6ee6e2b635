"""`deepbench check`: a table of all kernels, and an exit status that a wrong one changes."""

import csv
import importlib.util
import io
import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from command import deepbench

from deepbench_ops import backends, problems
from deepbench_ops.backends import backend_check_table, families
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.backends.output_check import Check
from deepbench_ops.distributed import collective_check_table as between_ranks
from deepbench_ops.distributed.prepared_ranks import TRANSPORTS
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.problem_lists import FAMILIES
from deepbench_ops.problems.sparse_gemm import SparseGemm

pytest.importorskip("asv", reason="the command needs the `track` extra")
pytest.importorskip("click", reason="the command needs the `track` extra")
from click.testing import CliRunner

from deepbench_ops.cli import cli

NUMPY = ["--framework", "numpy", "--device", "cpu"]


def run(*arguments):
    """Run the command in this process; (exit status, stdout, stderr)."""
    done = CliRunner().invoke(cli, ["check", *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


class Broken(NumpyBackend):
    """Leaves out the last row of C where B is transposed, and has no bfloat16."""

    def build(self, problem, *what):
        kernel = super().build(problem, *what)
        if not problem.b_transposed:
            return kernel

        def result():
            values = kernel.result()
            values[-1] = 0
            return values

        return replace(kernel, result=result)


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.setattr(backends, "load", lambda *place: Broken(*place[1:]))


def test_right_kernels_pass():
    """The exit status is 0, each row has its error within its tolerance, and the end counts."""
    status, out, _ = run(*NUMPY, "--family", "gemm")
    *table, counted = out.splitlines()
    assert (0, "3 ok, 0 wrong, 2 skipped") == (status, counted)
    assert {"framework", "error", "tolerance", "verdict"} <= set(table[0].split())
    assert ["numpy", "cpu", "gemm", "forward", "float32"] == table[2].split()[:5]
    layout, error, tolerance, verdict = table[2].split()[5:]
    assert "published" == layout
    assert 0 < float(error) <= float(tolerance)
    assert "ok" == verdict


def test_a_wrong_kernel_fails_the_command(broken):
    """The exit status is 1, and the row names the small problem, the entry and how far off."""
    status, out, _ = run(*NUMPY, "--family", "gemm", "--precision", "float32", "--format", "json")
    (row,) = json.loads(out)
    assert (1, "wrong") == (status, row["verdict"])
    assert ("numpy", "cpu", "gemm", "forward", "float32") == tuple(list(row.values())[:5])
    assert row["problem"].endswith("_NT")
    assert row["error"] > row["tolerance"] > 0
    kinds = len(families.kinds("gemm"))
    assert row["reason"].startswith(f"3 of {kinds} kinds: entry (")
    assert "is allowed" in row["reason"]


def test_a_wrong_kernel_is_counted_last(broken):
    """In the table the last line counts the wrong ones, and the row says wrong."""
    status, out, _ = run(*NUMPY, "--family", "gemm", "--precision", "float32")
    assert (1, "0 ok, 1 wrong, 0 skipped") == (status, out.splitlines()[-1])
    assert "wrong" in out.splitlines()[2].split()


def test_a_kernel_that_raises_is_wrong_and_the_rest_is_still_checked(monkeypatch):
    """A fault is a row that names it, and no end of the table."""

    def build(self, problem, precision, *what):
        if precision == "float32":
            raise RuntimeError("out of\nluck")
        return NumpyBackend.build(self, problem, precision, *what)

    faulty = type("Faulty", (NumpyBackend,), {"build": build})
    monkeypatch.setattr(backends, "load", lambda *_: faulty())
    found = {
        row.precision: row
        for row in backend_check_table.rows(["numpy"], ["cpu"], ["gemm"], PRECISIONS)
    }
    assert ("wrong", "ok") == (found["float32"].verdict, found["int8"].verdict)
    assert found["float32"].reason.endswith("_NN raises RuntimeError: out of luck")
    assert (None, 0) == (found["float32"].error, found["float32"].compared)


def test_not_a_number_is_wrong_and_still_strict_json(monkeypatch):
    """A kernel that computes NaN is wrong, and its error is null."""

    def build(self, *what):
        kernel = NumpyBackend.build(self, *what)
        return replace(kernel, result=lambda: np.full(kernel.reference.shape, np.nan))

    strange = type("Strange", (NumpyBackend,), {"build": build})
    monkeypatch.setattr(backends, "load", lambda *_: strange())
    status, out, _ = run(*NUMPY, "--family", "gemm", "--precision", "float32", "--format", "json")
    (row,) = json.loads(out, parse_constant=pytest.fail)
    assert (1, "wrong", None) == (status, row["verdict"], row["error"])
    assert "off by nan" in row["reason"]


def test_what_is_skipped_carries_its_reason():
    """A precision, a family and a device that are not to be had say why, in rows of their own."""
    status, out, counted = run(
        "--framework", "numpy", "--family", "all-reduce", "--family", "gemm", "--precision",
        "bfloat16", "--precision", "int8", "--format", "json",
    )  # fmt: skip
    found = json.loads(out)
    assert (0, "1 ok, 0 wrong, 4 skipped") == (status, counted.splitlines()[-1])
    no_sum = "all-reduce is measured in float32, not in"
    reasons = {tuple(list(row.values())[:5]): row["reason"] for row in found}
    assert {
        ("numpy", "cpu", "all_reduce", "sum", "bfloat16"): f"{no_sum} bfloat16",
        ("numpy", "cpu", "all_reduce", "sum", "int8"): f"{no_sum} int8",
        ("numpy", "cpu", "gemm", "forward", "bfloat16"): "numpy has no bfloat16 type",
        ("numpy", "cpu", "gemm", "forward", "int8"): "",
        ("numpy", "cuda", "all", "all", "all"): "numpy runs on the cpu only, not on cuda",
    } == reasons
    assert all(row["error"] is None for row in found if row["verdict"] == "skipped")


def test_a_framework_that_is_not_installed_is_skipped(monkeypatch):
    """One row says which is missing, and the others are checked."""

    def load(name, device):
        if name == "torch":
            raise DeepbenchError("torch is not installed")
        return NumpyBackend(device)

    monkeypatch.setattr(backends, "load", load)
    found = list(backend_check_table.rows(["torch", "numpy"], ["cpu"], ["gemm"], ["float32"]))
    assert [("skipped", "torch is not installed"), ("ok", "")] == [
        (row.verdict, row.reason) for row in found
    ]


def test_kinds_that_are_skipped_are_counted(monkeypatch):
    """A row that some kinds of problem are missing from is ok, and says how many and why."""

    def build(self, problem, *what):
        if problem.b_transposed:
            raise Unsupported("B cannot be turned")
        return NumpyBackend.build(self, problem, *what)

    partial = type("Partial", (NumpyBackend,), {"build": build})
    monkeypatch.setattr(backends, "load", lambda *_: partial())
    (row,) = backend_check_table.rows(["numpy"], ["cpu"], ["gemm"], ["float32"])
    kinds = len(families.kinds("gemm"))
    expected = ("ok", kinds - 3, f"3 of {kinds} kinds: B cannot be turned")
    assert expected == (row.verdict, row.compared, row.reason)


def test_of_several_reasons_the_usual_one_is_printed(monkeypatch):
    """Where all kinds are missing, the row has the reason of most, not that of the first."""

    def build(self, problem, *what):
        raise Unsupported("no transposes" if problem.b_transposed else "no products")

    lacking = type("Lacking", (NumpyBackend,), {"build": build})
    monkeypatch.setattr(backends, "load", lambda *_: lacking())
    (row,) = backend_check_table.rows(["numpy"], ["cpu"], ["gemm"], ["float32"])
    assert ("skipped", "no products") == (row.verdict, row.reason)


@pytest.mark.slow
def test_sums_between_processes_are_compared_as_well():
    """All-reduce has a row a transport: exact on every rank, or the reason why there is none."""
    status, out, _ = run("--family", "all-reduce", "--precision", "float32", "--format", "json")
    found = {(row["framework"], row["device"]): row for row in json.loads(out)}
    assert set(TRANSPORTS) == set(found)
    assert 0 == status
    compared = len(between_ranks.RANKS) * len(between_ranks.ELEMENTS)
    for row in found.values():
        if row["verdict"] == "skipped":
            assert row["reason"]
        else:
            expected = ("ok", 0.0, 0.0, compared)
            assert expected == tuple(row[k] for k in ("verdict", "error", "tolerance", "compared"))
    if importlib.util.find_spec("torch"):
        assert "ok" == found["torch", "cpu"]["verdict"]


def test_a_wrong_sum_between_processes_fails_the_command(monkeypatch):
    """A rank that holds another sum is named, and the exit status is 1."""

    def prepare(problem, group, precision):
        raise DeepbenchError("rank 1 holds a wrong sum at entry 3")

    @contextmanager
    def group(name, ranks):
        yield None

    monkeypatch.setattr(between_ranks, "RankGroup", group)
    monkeypatch.setattr(between_ranks.collective_kernel, "prepare", prepare)
    arguments = ["--framework", "torch", "--device", "cpu", "--family", "all-reduce"]
    status, out, _ = run(*arguments, "--precision", "float32", "--format", "json")
    (row,) = json.loads(out)
    assert (1, "wrong") == (status, row["verdict"])
    assert "rank 1 holds a wrong sum" in row["reason"]


def test_csv_holds_what_json_holds():
    """Both have the same rows; the count goes to stderr, so that another program can read them."""
    arguments = [*NUMPY, "--family", "gemm", "--precision", "float32", "--precision", "tf32"]
    first, second = (run(*arguments, "--format", form) for form in ("csv", "json"))
    lines = list(csv.DictReader(io.StringIO(first[1])))
    expected = [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in json.loads(second[1])
    ]
    assert expected == lines
    assert ["1 ok, 0 wrong, 1 skipped"] * 2 == [
        each[2].splitlines()[-1] for each in (first, second)
    ]


def test_each_layout_that_a_family_has_is_checked():
    """Convolutions lie both ways, products one; asked for another, they say that they have none."""
    arguments = [*NUMPY, "--family", "conv", "--family", "gemm", "--precision", "float32"]
    seen = []
    for more in ([], ["--layout", "channels_last"]):
        status, out, _ = run(*arguments, *more, "--format", "json")
        assert 0 == status
        rows = json.loads(out)
        seen.append({(r["family"], r["operation"], r["layout"]): r["verdict"] for r in rows})
    passes = ("forward", "backward_data", "backward_weights")
    last = {("conv", one, "channels_last"): "ok" for one in passes}
    plain = {("conv", one, "published"): "ok" for one in passes}
    assert {**last, **plain, ("gemm", "forward", "published"): "ok"} == seen[0]
    assert {**last, ("gemm", "forward", "channels_last"): "skipped"} == seen[1]


@pytest.mark.parametrize("layout", ["published", "channels_last"])
def test_kernels_are_checked_in_the_layout_of_their_row(layout, monkeypatch):
    """The layout in a row is that of its kernels."""
    made = []

    def build(self, problem, *what):
        made.append(self.layout)
        return NumpyBackend.build(self, problem, *what)

    watched = type("Watched", (NumpyBackend,), {"build": build})
    monkeypatch.setattr(backends, "load", lambda *_: watched())
    rows = list(
        backend_check_table.rows(
            ["numpy"], ["cpu"], ["conv"], ["float32"], kinds=1, layouts=[layout]
        )
    )
    assert {layout} == set(made) == {row.layout for row in rows}


def test_a_name_given_twice_counts_once():
    """Repeating an option's value repeats no row."""
    out = run(*NUMPY, *["--family", "gemm"] * 2, *["--precision", "int8"] * 2, "--format", "json")[
        1
    ]
    assert 1 == len(json.loads(out))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--framework", "pytorch"],
        ["--device", "gpu"],
        ["--family", "gemms"],
        ["--precision", "fp16"],
        ["--layout", "nhwc"],
    ],
)
def test_unknown_names_end_in_one_line(arguments):
    """An unknown name exits 2 with one line on stderr, before anything is checked."""
    status, out, err = deepbench("check", *arguments)
    assert (2, "") == (status, out)
    assert err.startswith(f"deepbench: error: unknown {arguments[0][2:]} '{arguments[1]}'")
    assert 1 == len(err.splitlines())


@pytest.mark.slow
def test_everything_at_hand_is_right():
    """All families, at the precisions that they have, pass on frameworks that compile nothing.

    Those that compile every kind take minutes: test_compiled_backends.py has some kinds of theirs.
    """
    chosen = ("numpy", "torch")
    status, out, _ = run(
        "--format", "json", *(text for name in chosen for text in ("--framework", name))
    )
    found = json.loads(out)
    assert (0, 0) == (status, Counter(row["verdict"] for row in found)["wrong"])
    here = {(row["framework"], row["family"]) for row in found if row["verdict"] == "ok"}
    assert {("numpy", "gemm"), ("numpy", "sparse_gemm")} <= here


def test_every_transpose_and_a_vector_are_among_the_kinds():
    """The twins come from the published list: its transposes, vectors and small batches."""
    twins = families.kinds("gemm")
    assert len({twin.id for twin in twins}) == len(twins) <= families.TWIN_LIMIT
    assert {"NN", "NT", "TN"} == {twin.id[-2:] for twin in twins}
    assert {1, 2, 4, 8, 16, 32, 53} == {twin.n for twin in twins}
    assert {families.small(one).id for one in problems.load("gemm")} == {twin.id for twin in twins}


def test_too_many_kinds_keep_every_size(monkeypatch):
    """Whatever the cap, every value of every size of the list's twins is still among them."""
    everything = {pair for twin in families.kinds("gemm") for pair in twin.sizes().items()}
    for most, expected in ((1, 11), (11, 11), (14, 14), (100, 18)):
        monkeypatch.setattr(families, "TWIN_LIMIT", most)
        twins = families.kinds("gemm")
        assert everything == {pair for twin in twins for pair in twin.sizes().items()}
        assert expected == len(twins) == len({twin.id for twin in twins})


def test_a_family_with_kernels_appears_by_itself(monkeypatch):
    """A family that a backend has kernels for is checked without being named anywhere."""
    asked = []

    def build(backend, problem, precision, operation, seed):
        asked.append((type(problem), operation))
        raise Unsupported("not yet")

    monkeypatch.setattr(NumpyBackend, "builder", {"sparse_gemm": build}.get)
    found = list(backend_check_table.rows(["numpy"], ["cpu"], FAMILIES, ["float32"]))
    reasons = {row.family: row.reason for row in found}
    none = {family: NumpyBackend.lacking_reason(family) for family in FAMILIES}
    assert {**none, "sparse_gemm": "not yet"} == reasons
    assert {(SparseGemm, operation) for operation in SparseGemm.operations} == set(asked)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Check(0.0, 0.0, ok=True), 0),
        (Check(1.0, 2.0, ok=True), 0.5),
        (Check(1.0, 0.0, ok=False), float("inf")),
        (Check(float("nan"), 2.0, ok=False), float("inf")),
    ],
)
def test_badness_is_the_part_of_what_is_allowed(found, expected):
    """Errors are compared by their tolerances, and no number is the worst of all."""
    assert expected == found.badness


def test_gemm_small_twins_are_their_own():
    """A twin is checked as it stands: cutting it down again changes nothing."""
    for twin in families.kinds("gemm"):
        assert isinstance(twin, Gemm)
        assert twin == families.small(twin)
