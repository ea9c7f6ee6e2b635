"""The noise of anchored values, bench/anchored_values.py."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_records_of_collective_operations_are_read_too():
    """Their number of ranks is a number and no text."""
    path = ROOT / "bench" / "anchored_values.py"
    spec = importlib.util.spec_from_file_location("anchored_values", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found = script.rounds_of(ROOT / "results", "epyc-7003-2core")
    kernels = {kernel for rounds in found.values() for kernel in rounds}
    ranks = {params.split()[-1] for benchmark, params in kernels if "all_reduce" in benchmark}
    assert {"2"} <= ranks
