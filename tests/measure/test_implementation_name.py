"""The name of the code that computed a kernel comes into its record."""

from types import SimpleNamespace

import pytest

from deepbench_ops.backends import run_cache
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.measure import kernel_measurement, kernel_process
from deepbench_ops.measure.implementation_name import (
    LONGEST_NAME,
    VARIABLE,
    implementation_of,
)
from deepbench_ops.storage import record_checks


def test_numpy_names_its_blas() -> None:
    """A product's record names the BLAS library and its code path, and is a valid record."""
    task = {"family": "gemm", "problem": "m35_n700_k2048_NN", "precision": "float32"}
    environ = {"DEEPBENCH_FRAMEWORK": "numpy", "DEEPBENCH_THREADS": "1"}
    found = kernel_process.measured({**task, "operation": "forward"}, environ)
    record_checks.check({**found, "fingerprint": "as a digest"})
    assert NumpyBackend().implementation() == found["implementation"]


def test_a_long_call_is_not_repeated_for_a_name() -> None:
    """Where a call takes seconds its implementation is not asked for."""
    kernel = SimpleNamespace(implementation=lambda: pytest.fail("asked"))
    assert "" == implementation_of(kernel, 1.5)


def test_a_name_is_one_short_line() -> None:
    """Line breaks become spaces, and a long name is cut."""
    assert "a b" == implementation_of(SimpleNamespace(implementation=lambda: " a\n b\n"), 0.1)
    long = SimpleNamespace(implementation=lambda: "x" * 1000)
    assert LONGEST_NAME == len(implementation_of(long, 0.1))


def test_only_the_first_process_of_a_point_asks(monkeypatch, tmp_path) -> None:
    """The others take the name from the cache of the run; another point asks again."""
    monkeypatch.setenv(run_cache.FOLDER_VARIABLE, str(tmp_path))
    asked = []
    kernel = SimpleNamespace(implementation=lambda: asked.append(1) or "mkl SGEMM", notes={})
    prepared = SimpleNamespace(kernel=kernel, backend=SimpleNamespace(device="cpu", versions=dict))
    for problem, times in (("m1", 1), ("m1", 1), ("m2", 2)):
        process = run_cache.RunCache("implementation of a kernel")
        monkeypatch.setattr(kernel_measurement, "_implementations", process)
        found = kernel_measurement._implementation(
            prepared, 0.1, "gemm.Training.kernel_forward", problem
        )
        assert ("mkl SGEMM", times) == (found, len(asked))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("implementation", 3),
        ("core_latencies", [250.0, 0.0]),
        ("core_latencies", ["250"]),
        ("core_latencies", 250.0),
        ("core_latencies", [True]),
    ],
)
def test_fields_that_cannot_be_right_are_refused(name: str, value: object) -> None:
    """The optional fields have checks, and a record without them is right."""
    entry = {"benchmark": "b", "params": [], "seconds": [1.0], "yardstick": []}
    entry |= {"fingerprint": "a digest", "started_at": 1.0}
    record_checks.check(entry)
    with pytest.raises(record_checks.NoRecord, match=name):
        record_checks.check({**entry, name: value})


def test_names_may_be_left_out(monkeypatch) -> None:
    """On a GPU the first question takes a process five seconds."""
    monkeypatch.setenv(VARIABLE, "0")
    assert "" == implementation_of(SimpleNamespace(implementation=lambda: "name"), 0.1)
