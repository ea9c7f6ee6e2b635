"""All-reduces inside asv: the suite's own class, run by asv's own runner."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import asv
import pytest

from deepbench_ops import problems
from deepbench_ops.distributed import collective_kernel, prepared_ranks
from deepbench_ops.errors import Unsupported
from deepbench_ops.measure import record_handover
from deepbench_ops.problems.selections import bench_regex, select

ROOT = Path(__file__).resolve().parents[2]
RUNNER = Path(asv.__file__).with_name("benchmark.py")
NAME = "all_reduce.Training.kernel_sum"
QUICK = json.dumps({"repeat": 1, "number": 1, "rounds": 1, "warmup_time": 0})


pytestmark = [pytest.mark.usefixtures("none_left"), pytest.mark.slow]


def run(tmp_path, monkeypatch, framework, extra="{}", **environ):
    """Run the first point of the suite (two ranks) as asv does; its result and its record."""
    spool = tmp_path / "spool"
    monkeypatch.setenv("DEEPBENCH_SPOOL", str(spool))
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", framework)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    result = tmp_path / "result.json"
    command = [sys.executable, RUNNER, "run", ROOT / "benchmarks", f"{NAME}-0", extra, "None"]
    subprocess.run([*command, result], check=True, capture_output=True, cwd=tmp_path, timeout=120)
    (entry,) = record_handover.collect(spool)
    return json.loads(result.read_text()), entry


def test_a_release_of_torch_sums_over_gloo(tmp_path, monkeypatch):
    """asv gets samples in seconds; raw seconds, yardstick and the ranks are on record."""
    pytest.importorskip("torch")
    result, entry = run(tmp_path, monkeypatch, "torch")
    assert all(seconds > 0 for seconds in result["samples"])
    assert (NAME, ["n100000", "float32", 2]) == (entry["benchmark"], entry["params"])
    assert len(entry["seconds"]) == len(entry["yardstick"]) == len(result["samples"])
    assert ("2", "gloo") == (entry["notes"]["ranks"], entry["notes"]["transport"])
    assert "1 per rank, not pinned" == entry["notes"]["threads"]
    assert entry["fingerprint"]["framework"].startswith("torch ")
    assert ("1", "2") == (entry["fingerprint"]["threads"], entry["fingerprint"]["ranks"])


def test_quick_is_a_single_sum(tmp_path, monkeypatch):
    """`asv run --quick` times one all-reduce."""
    pytest.importorskip("torch")
    result, entry = run(tmp_path, monkeypatch, "torch", QUICK)
    assert (1, 1, True) == (result["number"], len(result["samples"]), entry["quick"])


def test_a_call_beyond_the_limit_is_skipped(tmp_path, monkeypatch):
    """Where one call would take too long, asv gets a skip, and the reason is on record."""
    pytest.importorskip("torch")
    result, entry = run(tmp_path, monkeypatch, "torch", DEEPBENCH_CALL_LIMIT="1e-9")
    assert result != result
    assert "over gloo, more than the limit of 1e-09 s" in entry["skipped"]


def test_a_release_of_numpy_sums_over_mpi_or_says_why_not(tmp_path, monkeypatch):
    """numpy's ranks use MPI where it is installed; elsewhere the skip says what is missing."""
    result, entry = run(tmp_path, monkeypatch, "numpy", QUICK)
    if "skipped" in entry:
        assert result != result
        assert "mpi needs mp" in entry["skipped"]
    else:
        assert "mpi" == entry["notes"]["transport"]
        assert entry["fingerprint"]["mpi"]


@pytest.mark.parametrize(
    ("framework", "environ", "precision", "reason"),
    [
        ("torch", {}, "float16", "measured in float32, not in float16"),
        ("torch", {"DEEPBENCH_CACHE": "cold"}, "float32", "no cold start"),
        ("torch", {"DEEPBENCH_LAYOUT": "channels_last"}, "float32", "no layout but published"),
        ("torch", {"DEEPBENCH_EXECUTION": "compiled"}, "float32", "no execution but eager"),
        (
            "numpy",
            {"DEEPBENCH_DEVICE": "cuda"},
            "float32",
            "nothing to carry messages between processes",
        ),
    ],
)
def test_what_cannot_be_is_a_reason(monkeypatch, framework, environ, precision, reason):
    """An operation that no release has is unsupported, and nothing is started to find that out."""
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", framework)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(prepared_ranks, "RankGroup", None)
    with pytest.raises(Unsupported, match=reason):
        prepared_ranks.prepare("all_reduce", "n100000", precision, 2)


def test_too_little_memory_is_a_reason(monkeypatch):
    """Vectors beyond this machine's memory are skipped before any process is started."""
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "torch")
    monkeypatch.setattr(collective_kernel.free_memory, "available", lambda: 2**30)
    monkeypatch.setattr(prepared_ranks, "RankGroup", None)
    with pytest.raises(Unsupported, match="memory"):
        prepared_ranks.prepare("all_reduce", "n64500000", "float32", 32)


def test_the_suite_has_every_size_and_number_of_ranks():
    """Seven sizes of DeepBench, and two modern ones, by five numbers of ranks; a selection finds
    them."""
    name = "all_reduce_suite"
    spec = importlib.util.spec_from_file_location(
        name, ROOT / "deepbench_ops" / "suite" / "all_reduce.py"
    )
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    ids, precisions, ranks = suite.Training.params
    assert [problem.id for problem in problems.load("all_reduce", "training")] == ids
    assert (["float32"], [2, 4, 8, 16, 32]) == (precisions, ranks)
    assert (["n8192", "n1073741824"], precisions, ranks) == suite.ModernFull.params
    assert all(hasattr(kind, "kernel_sum") for kind in (suite.Training, suite.ModernFull))
    pattern = re.compile(bench_regex(select("training", "all_reduce"), ["float32"]))
    assert pattern.search(f"{NAME}('n100000', 'float32', 32)")


def test_the_headline_has_the_sizes_and_ranks_of_the_readme():
    """DeepBench's README shows two sizes on 8, 16 and 32 processors, and no other."""
    pattern = re.compile(bench_regex(select("headline", "all_reduce"), ["float32"]))
    found = {
        (problem.id, ranks)
        for problem in problems.load("all_reduce")
        for ranks in (2, 4, 8, 16, 32)
        if pattern.search(f"{NAME}({problem.id!r}, 'float32', {ranks})")
    }
    assert {(size, n) for size in ("n16777217", "n64500000") for n in (8, 16, 32)} == found
