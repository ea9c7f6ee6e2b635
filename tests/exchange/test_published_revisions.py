"""All 102 revisions that DeepBench published arrive, and equal the committed ones."""

import math
from collections import Counter
from pathlib import Path

import pytest

from deepbench_ops.analysis import published_times_in_wrong_rows, wrong_published_times
from deepbench_ops.asv_adapter import asv_api, private_result_fields, published_results
from deepbench_ops.exchange.published import published_machines, published_result_filing
from deepbench_ops.exchange.submissions import submission
from deepbench_ops.exchange.workbooks import workbook_values
from deepbench_ops.releases import release_table

ROOT = Path(__file__).resolve().parents[2]
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
    return [one for path in paths for one in workbook_values.read(path)]


def test_every_time_arrives(paths, found):
    """From all files, of all machines, each cell read or listed with its reason."""
    assert 102 == len(paths)
    assert 49_829 == sum(one.timings for one in found)
    by_workbooks = {machine.name for machine in published_machines.table() if machine.workbook}
    assert by_workbooks == {one.machine.name for one in found}
    assert 310 == sum(len(one.disagreeing) for one in found)
    texts = Counter(cell.text for one in found for cell in one.unread if "lacks" not in cell.reason)
    assert texts == {"": 1739, "N/A*": 519, "Not Supported": 4}
    lacking = [cell for one in found for cell in one.unread if "lacks" in cell.reason]
    assert 10 == len(lacking)


def test_they_are_what_is_committed(found, tmp_path):
    """Into an empty folder, byte for byte."""
    published_result_filing.file(tmp_path, found, list_days=len)
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [] == [
        path.name
        for path in written
        if path.read_bytes() != (ROOT / "results" / path.relative_to(tmp_path)).read_bytes()
    ]
    committed = (ROOT / "results").glob(f"*/*-{published_results.ENVIRONMENT}.json")
    by_workbooks = {one.machine.name for one in found}
    assert {path.relative_to(tmp_path) for path in written if "-" in path.name} == {
        path.relative_to(ROOT / "results") for path in committed if path.parent.name in by_workbooks
    }


def test_slips_are_distinguished_from_new_measurements():
    """Those that later revisions corrected, those beyond their machine's peak, and 155 that stand
    in other rows than their own."""
    found = [
        wrong_published_times.of_machine(path.parent)
        for path in ROOT.glob("results/*/machine.json")
    ]
    assert 1065 == sum(len(wrong) for of in found for wrong in of.values())


def test_times_out_of_step_are_those_of_the_table(found):
    """Of two tables in three workbooks, and of no other."""
    listed = {one.source: published_times_in_wrong_rows.of([one.source]) for one in found}
    assert listed == {one.source: one.out_of_step.keys() for one in found}
    assert [111, 22, 22] == [len(one.out_of_step) for one in found if one.out_of_step]


@pytest.mark.parametrize(
    ("day", "machine", "later", "moved", "as_printed"),
    [
        ("2017-07-27", "nvidia-p100", "2017-08-07", 111, 14),
        ("2017-11-10", "nvidia-titan-xp", "2018-05-21", 22, 14),
    ],
)
def test_times_out_of_step_fit_the_next_publication_once_moved(
    found, day, machine, later, moved, as_printed
):
    """Within a quarter, kernel by kernel: the column they were pasted from had no blank rows."""
    dated = {(one.day.isoformat(), one.machine.name): one for one in found if one.out_of_step}
    one = dated[day, machine]
    after = {
        key: seconds[0]
        for other in found
        if (other.day.isoformat(), other.machine.name) == (later, machine)
        for key, seconds in other.values.items()
    }

    def close(pairs):
        return sum(abs(math.log(ours / after[key])) < math.log(1.25) for ours, key in pairs)

    printed = [(one.values[key][0], key) for key in one.out_of_step]
    packed = []
    for column in {place.column for place in one.out_of_step.values()}:
        keys = [key for key, place in one.out_of_step.items() if place.column == column]
        places = [place for place in one.out_of_step.values() if place.column == column]
        times = [(p.row, one.values[key][0]) for p, key in zip(places, keys, strict=True)]
        times += [
            (cell.place.row, float(cell.text) / 1000)
            for cell in one.unread
            if "all sizes" in cell.reason and cell.place.column == column
        ]
        packed += zip([seconds for _, seconds in sorted(times)], keys, strict=False)
    assert (moved, as_printed) == (close(packed), close(printed))


@pytest.mark.parametrize("machine", ["nvidia-p100", "nvidia-v100"])
def test_a_machine_with_slips_can_be_sent_on(machine):
    """A submission leaves them out, so that none of its rates is found to be impossible."""
    packed = submission.pack(
        ROOT / "results", machine, {each.hash: each for each in release_table.load()}
    )

    submission.check(packed)

    wrong = sum(map(len, wrong_published_times.of_machine(ROOT / "results" / machine).values()))
    sent = sum(len(result["points"]) for result in packed["results"])
    stored = [
        value
        for result in asv_api.machine_results(ROOT / "results", machine)
        for value in private_result_fields.each(result)
    ]
    assert wrong > 0
    assert 0 < sent <= len(stored) - wrong


def test_importing_them_again_changes_nothing(found):
    """No file is another, and no day is new; bench/import_speed.py measures the time."""
    listed = release_table.load()
    assert (0, 0) == published_result_filing.file(
        ROOT / "results", found, lambda days: len({*days} - {*listed})
    )
