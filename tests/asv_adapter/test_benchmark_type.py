"""The asv benchmark type, run by asv's own runner in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import asv
import pytest

from asv_bench_deepbench.benchmarks import kernel
from deepbench_ops.measure import record_handover

RUNNER = Path(asv.__file__).with_name("benchmark.py")

SUITE = """
import pathlib

from deepbench_ops.errors import DeepbenchError

LOG = pathlib.Path({log!r})


class Kernel:
    flops, bytes = 1000.0, 1.0
    notes = {{}}
    clock = None

    def run(self):
        sum(range(1000))

    def synchronise(self):
        pass

    reset = synchronise


class Suite:
    params = [["a", "b", "c", "d"]]
    param_names = ["problem"]
    rounds = 2

    def setup(self, problem):
        if problem == "b":
            raise NotImplementedError("not here")
        if problem == "c":
            raise DeepbenchError("computes a wrong result")
        with LOG.open("a") as log:
            log.write("setup\\n")

    def {method}(self, problem):
        return {body}
"""

FAKE_TIMING = """
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import kernel_measurement
from deepbench_ops.measure.kernel_sampling import Policy, measure


def timed(prepared, name, params, quick=False, preparing=0.0):
    if params == ("d",):
        raise DeepbenchError("computed a wrong result at last")
    policy = Policy(budget_seconds=0.05, warmup_seconds=0.01)
    found = measure(prepared, None, policy.quick() if quick else policy)
    return {"samples": found.seconds, "number": found.number}


kernel_measurement.timed = timed
"""


def run(tmp_path, method, body, index=0, extra="{}"):
    """Run one parameter of a one-benchmark suite as asv does; return its result and its setups."""
    suite = tmp_path / "suite"
    suite.mkdir()
    log = tmp_path / "log"
    text = SUITE.format(log=str(log), method=method, body=body)
    (suite / "__init__.py").write_text(FAKE_TIMING)
    (suite / "work.py").write_text(text)
    result = tmp_path / "result.json"
    name = f"work.Suite.{method}-{index}"
    command = [sys.executable, RUNNER, "run", suite, name, extra, "None", result]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60)
    setups = log.read_text().count("setup") if log.exists() else 0
    return json.loads(result.read_text()) if done.returncode == 0 else None, setups


def test_setup_runs_once_however_many_calls_are_timed(tmp_path):
    """Thousands of calls are timed after a single setup, and every sample holds many of them."""
    result, setups = run(tmp_path, "kernel_forward", "Kernel()")
    assert setups == 1
    assert result["number"] > 1
    assert len(result["samples"]) > 1


def test_stock_timing_would_rebuild_its_inputs(tmp_path):
    """asv_runner's own type runs setup before each call, which ours exists to avoid."""
    result, setups = run(tmp_path, "time_forward", "sum(range(1000))")
    assert result["number"] == 1
    assert setups > len(result["samples"])


def test_quick_is_a_single_call(tmp_path):
    """With the arguments of `asv run --quick`, one call is timed once."""
    extra = json.dumps({"repeat": 1, "number": 1, "rounds": 1, "warmup_time": 0})
    result, _ = run(tmp_path, "kernel_forward", "Kernel()", extra=extra)
    assert (result["number"], len(result["samples"])) == (1, 1)


def test_what_is_not_supported_is_skipped(tmp_path, monkeypatch):
    """A setup that raises NotImplementedError gives NaN, and its reason goes on record."""
    monkeypatch.setenv("DEEPBENCH_SPOOL", str(tmp_path / "spool"))
    result, setups = run(tmp_path, "kernel_forward", "Kernel()", index=1)
    assert result != result
    assert setups == 0
    (entry,) = record_handover.collect(tmp_path / "spool")
    assert entry["benchmark"] == "work.Suite.kernel_forward"
    assert entry["params"] == ["b"]
    assert entry["skipped"] == "not here"


@pytest.mark.parametrize(
    ("index", "reason"), [(2, "computes a wrong result"), (3, "computed a wrong result at last")]
)
def test_what_fails_leaves_its_reason(tmp_path, monkeypatch, index, reason):
    """A wrong output fails for asv, which only prints why; the reason is on record all the same."""
    monkeypatch.setenv("DEEPBENCH_SPOOL", str(tmp_path / "spool"))
    result, _ = run(tmp_path, "kernel_forward", "Kernel()", index=index)
    assert result is None
    (entry,) = record_handover.collect(tmp_path / "spool")
    assert (["abcd"[index]], reason) == (entry["params"], entry["skipped"])


@pytest.mark.parametrize("attribute, value", [("type", "time"), ("unit", "seconds")])
def test_asv_shows_it_as_a_time(attribute, value):
    """asv formats, compares and judges it as seconds."""
    from asv_bench_deepbench.benchmarks.kernel import KernelBenchmark

    def kernel_forward():
        pass

    assert (
        getattr(KernelBenchmark("kernel_forward", kernel_forward, [kernel_forward]), attribute)
        == value
    )


class Source:
    """A suite of one kernel, as asv_runner finds it."""

    params = (["a", "b"],)
    param_names = ("problem",)
    number = 3

    def kernel_forward(self, problem):
        return problem


SOURCE = Source()


def benchmark():
    """The benchmark of the kernel, as asv_runner makes it whenever it looks for benchmarks."""
    method = SOURCE.kernel_forward
    return kernel.KernelBenchmark("Source.kernel_forward", method, [method, SOURCE])


@pytest.fixture
def no_benchmarks(monkeypatch):
    """No benchmark has been made in this process."""
    monkeypatch.setattr(kernel, "_made", {})


@pytest.mark.usefixtures("no_benchmarks")
def test_parameters_of_a_run_stay_with_their_benchmark():
    """asv_runner inserts them into the sources of attributes; another benchmark of the same
    function, made before or after, keeps its own."""
    before, changed = benchmark(), benchmark()
    changed._attr_sources.insert(0, Quick)
    changed.set_param_idx(1)
    after = benchmark()
    for each in (before, changed, after):
        each._load_vars()
    assert [3, 1, 3] == [each.number for each in (before, changed, after)]
    assert [(), ("b",), ()] == [each._current_params for each in (before, changed, after)]


class Quick:
    """Parameters of `asv run --quick`."""

    number = 1


@pytest.mark.usefixtures("no_benchmarks")
def test_a_benchmark_made_again_is_as_the_first(monkeypatch):
    """Its text is read once, and every attribute is that of one whose text was read."""
    benchmark()
    copied = benchmark()
    monkeypatch.setattr(kernel, "_made", {})
    assert vars(benchmark()) == vars(copied)
    assert "def kernel_forward" in copied.code
