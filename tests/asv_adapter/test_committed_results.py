"""The results in the repository: asv's files and the records next to them."""

import json
import math
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from deepbench_ops.problems.benchmark_names import why_not
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.result_key import unquoted

RESULTS = Path(__file__).resolve().parents[2] / "results"
RECORDED = [
    path for folder in sorted(RESULTS.glob("*/")) for path in measurement_files.paths(folder)
]
MACHINES = sorted({path.parent.name for path in RECORDED})


@pytest.mark.parametrize("machine", MACHINES)
def test_every_sample_is_of_a_record(machine: str) -> None:
    """A point has as many samples as its records have slices, and they are those, calibrated."""
    compared = 0
    for path in measurement_files.paths(RESULTS / machine):
        _, records = measurement_files.load(path)
        slices = defaultdict(list)
        for entry in records:
            if "skipped" not in entry:
                slices[entry["benchmark"], tuple(map(repr, entry["params"]))] += calibrated(entry)
        stored = json.loads(measurement_files.result_of(path).read_text())
        where = stored["result_columns"].index("samples")
        for name, (values, params, *more) in stored["results"].items():
            for i, key in enumerate(product(*params) if values else ()):
                if values[i] is None or math.isnan(values[i]):
                    continue
                samples, expected = more[where - 2][i], slices[name, key]
                assert sorted(samples) == pytest.approx(sorted(expected), rel=2e-3), (
                    path,
                    name,
                    key,
                )
                compared += 1
    assert compared


def test_no_stored_interval_reaches_zero() -> None:
    """asv's own commands read the stored bounds, of measured and of published results."""
    for path in sorted(RESULTS.glob("*/*-*.json")):
        stored = json.loads(path.read_text())
        titles = stored["result_columns"]
        for name, row in stored["results"].items():
            columns = dict(zip(titles, row, strict=False))
            bounds = [columns.get(f"stats_ci_99_{side}") or () for side in "ab"]
            for low, high in zip(*bounds, strict=True):
                known = low is not None or high is not None
                assert not known or 0 < low <= high < math.inf, (path, name, low, high)


def calibrated(entry: measurement_files.Record) -> list[float]:
    """The calibrated seconds of a record's slices, raw ones where it had no yardstick."""
    if not entry["yardstick"] or not entry["nominal"]:
        return list(entry["seconds"])
    pairs = zip(entry["seconds"], entry["yardstick"], strict=True)
    return [entry["nominal"] * seconds / yardstick for seconds, yardstick in pairs]


def test_records_whose_code_path_the_release_would_not_choose_bear_the_setting() -> None:
    """numpy's OpenBLAS on the Zen 5 machine ran Haswell's kernels: OPENBLAS_CORETYPE was set. Other
    machines' records agree with the releases' own choice, and their settings stay unknown."""
    found = defaultdict(set)
    for path in RECORDED:
        for facts in measurement_files.facts(path).values():
            if "settings_inferred" in facts:
                found[path.parent.name].add((facts["blas_core"], facts["settings"]))
            elif facts.get("blas_core") == "Haswell":
                assert "avx512f" not in facts["cpu_flags"], path
    assert {"epyc-9005-2core": {("Haswell", "OPENBLAS_CORETYPE=Haswell")}} == found
    profile = json.loads((RESULTS / "epyc-9005-2core" / "machine.profile").read_text())
    reading = profile["yardsticks"]["2"]["compute"]
    assert (None, True) == (reading["value"], "OPENBLAS_CORETYPE=Haswell" in reading["how"])


def test_every_committed_time_is_of_a_kernel() -> None:
    """Of a problem, an operation and a precision that its family has."""
    reasons = set()
    for path in sorted(RESULTS.glob("*/*-*.json")):
        for name, (values, params, *_) in json.loads(path.read_text())["results"].items():
            for value, key in zip(values or (), product(*params), strict=False):
                if value is not None and not math.isnan(value):
                    reasons.add(why_not(*unquoted(name, key)))
    assert {""} == reasons


def test_the_results_stay_small() -> None:
    """Under 40 MB in all: a clone and every command read them. asv's lists are mostly of nothing,
    and written without spaces."""
    sizes = {path: path.stat().st_size for path in RESULTS.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < 40e6
    for path in RESULTS.glob("*/*-*.json"):
        text = path.read_text(encoding="utf-8")
        assert text == json.dumps(json.loads(text), separators=(",", ":")), path
