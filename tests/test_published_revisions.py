"""All 102 revisions that DeepBench published arrive, and are what is committed."""

from collections import Counter
from pathlib import Path

import pytest

from deepbench_ops.published import corrections, filing, machines, publication, submission
from deepbench_ops.releases import table

ROOT = Path(__file__).resolve().parents[1]
WORKBOOKS = ROOT.parent / "shared" / "data" / "deepbench" / "workbooks"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WORKBOOKS.is_dir(), reason="DeepBench's workbooks are not here"),
]


@pytest.fixture(scope="module")
def paths():
    found = sorted(WORKBOOKS.glob("*.xlsx"))
    return [path for path in found if "__kernel_list__" not in path.name]


@pytest.fixture(scope="module")
def found(paths):
    return [one for path in paths for one in publication.read(path)]


def test_every_time_arrives(paths, found):
    """From all files, of all machines, each cell read or listed with its reason."""
    assert 102 == len(paths)
    assert 49_829 == sum(one.timings for one in found)
    by_workbooks = {machine.name for machine in machines.table() if machine.workbook}
    assert by_workbooks == {one.machine.name for one in found}
    assert 310 == sum(len(one.disagreeing) for one in found)
    texts = Counter(cell.text for one in found for cell in one.unread if "lacks" not in cell.reason)
    assert texts == {"": 1739, "N/A*": 519, "Not Supported": 4}
    lacking = [cell for one in found for cell in one.unread if "lacks" in cell.reason]
    assert 10 == len(lacking)


def test_they_are_what_is_committed(found, tmp_path):
    """Into an empty folder, byte for byte."""
    filing.file(tmp_path, found, list_days=len)
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [] == [
        path.name
        for path in written
        if path.read_bytes() != (ROOT / "results" / path.relative_to(tmp_path)).read_bytes()
    ]
    committed = (ROOT / "results").glob(f"*/*-{filing.ENVIRONMENT}.json")
    by_workbooks = {one.machine.name for one in found}
    assert {path.relative_to(tmp_path) for path in written if "-" in path.name} == {
        path.relative_to(ROOT / "results") for path in committed if path.parent.name in by_workbooks
    }


def test_slips_are_told_from_measurements_anew():
    """Those that later revisions corrected, and 49 beyond their machine's peak."""
    found = [corrections.of_machine(path.parent) for path in ROOT.glob("results/*/machine.json")]
    assert 923 == sum(len(slips) for of in found for slips in of.values())


@pytest.mark.parametrize("machine", ["nvidia-p100", "nvidia-v100"])
def test_a_machine_with_slips_can_be_sent_on(machine):
    """Without them: whoever checks its rates finds none that is impossible."""
    packed = submission.pack(ROOT / "results", machine, {each.hash: each for each in table.load()})
    submission.check(packed)


def test_importing_them_again_changes_nothing(found):
    """No file is another, and no day is new; bench/import_speed.py tells how long it takes."""
    listed = table.load()
    assert (0, 0) == filing.file(ROOT / "results", found, lambda days: len({*days} - {*listed}))
