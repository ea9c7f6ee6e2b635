"""Points of a machine, read from its results."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("asv", reason="results are read by asv")
from deepbench_ops import damage_reports
from deepbench_ops.analysis import point_reading
from deepbench_ops.problems.benchmark_names import EARLIER
from deepbench_ops.releases import release_table

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE, RELEASE = "epyc-9005-2core", "numpy-2.2.6"
BENCHMARK = "gemm.InferenceDevice.kernel_forward"
RELEASES = {release.hash: release for release in release_table.load()}


@pytest.fixture
def results(tmp_path):
    """A copy of a machine with one release, and the path of its result."""
    folder = tmp_path / MACHINE
    folder.mkdir()
    start = release_table.find(RELEASE, release_table.load()).hash[:8]
    for path in (RESULTS / MACHINE).iterdir():
        if path.name.startswith((start, "machine.")):
            shutil.copy(path, folder)
    (path,) = folder.glob(f"{start}*.json")
    return tmp_path, path


def of_benchmark(results: Path) -> int:
    """Return how many points the benchmark has."""
    found = point_reading.load(results, MACHINE, RELEASES)
    return sum(
        f"{p.family}.{p.set}.{p.operation}" == "gemm.inference_device.forward" for p in found
    )


def test_times_of_an_earlier_version_are_left_out_and_counted(results):
    """They did other work; asv leaves them out of its pages too. It is no damage."""
    folder, path = results
    before, everything = of_benchmark(folder), len(point_reading.load(folder, MACHINE, RELEASES))
    content = json.loads(path.read_text())
    row = content["results"][BENCHMARK]
    row[content["result_columns"].index("version")] = "0"
    path.write_text(json.dumps(content))
    strange: Counter[str] = Counter()
    left = point_reading.load(folder, MACHINE, RELEASES, strange=strange)
    assert (everything - before, before) == (len(left), sum(strange.values()))
    with damage_reports.held_back() as reports:
        assert 0 == of_benchmark(folder)
    ((line, damaged),) = reports
    assert line.endswith(f"{BENCHMARK} has times of an {EARLIER}")
    assert f"{before} times are left out" in line
    assert not damaged


@pytest.mark.parametrize(
    ("recorded", "expected"), [({}, "math"), ({"implementation": "openblas Zen"}, "openblas Zen")]
)
def test_the_note_on_an_implementation_stays_where_no_library_code_is_recorded(recorded, expected):
    """tensorflow's attention has such a note, and no name of the code that ran."""
    found = dict(point_reading._notes({"notes": {"implementation": "math"}, **recorded}, "near"))
    assert {"implementation": expected, "state of the machine": "near"} == found
