"""Points measured again: an unsteady one does not replace a steady one, and is named."""

import re

import pytest
from asv.results import Results
from asv.runner import BenchmarkResult

from deepbench_ops.analysis import unsteady_list
from deepbench_ops.asv_adapter.remeasured_points import NotTaken, Remeasured
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import measurement_files

NAME = "gemm.Training.kernel_forward"
PARAMS = [["'m1760_n16_k1760_NN'", "'m1760_n32_k1760_NN'"], ["'float32'"]]
FIRST = (NAME, ("m1760_n16_k1760_NN", "float32"))
STEADY, DISTURBED = 1.0, 6.0
"""Readings of the yardstick over its nominal one."""


class Run:
    """A run of several rounds of `FIRST`, saved after each as asv does where rounds alternate."""

    def __init__(self, folder, number, remeasured=None):
        self.path = folder / "m" / "00000000-release-py3.json"
        self.remeasured, self.number = remeasured or Remeasured(), number
        measurement_files._filed.clear()

    def round(self, number, seconds, reading=STEADY, last=True):
        """Measure and save one round; `number` from 1 joins asv's samples to those it has."""
        results = Results({"machine": "m"}, {}, "0" * 40, 0, "3", "release-py3", {})
        results.load_data(str(self.path.parents[1]))
        answer = BenchmarkResult([True, None], [[seconds] * 3, None], [1, None], 0, "", None)
        benchmark = {"name": NAME, "version": "1", "params": PARAMS}
        results.added = {NAME: number > 0}
        results.add_result(benchmark, answer, record_samples=True, append_samples=number > 0)
        records = [self.record(number, seconds, reading)]
        if self.path.exists():
            stored = Results.load(str(self.path))
            records = self.remeasured.settle(self.path, results, stored, records, last)
        results.save(str(self.path.parents[1]))
        measurement_files.add(measurement_files.file_of(self.path), records)

    def record(self, number, seconds, reading):
        """The raw record of one round."""
        return {
            "benchmark": NAME,
            "params": list(FIRST[1]),
            "seconds": [seconds * reading] * 3,
            "yardstick": [1e-3 * reading] * 3,
            "nominal": 1e-3,
            "started_at": 100.0 * self.number + number,
            "fingerprint": {"cpu": "abacus"},
        }

    @property
    def samples(self):
        """The samples that are stored."""
        return Results.load(str(self.path)).get_result_samples(NAME, PARAMS)[0]

    @property
    def starts(self):
        """When the records that are stored began."""
        _, found = measurement_files.load(measurement_files.file_of(self.path))
        return [entry["started_at"] for entry in found]


@pytest.fixture
def stored(tmp_path):
    """A folder with a steady point of one round, 1 s, that an earlier run has saved."""
    Run(tmp_path, 1).round(0, 1.0)
    return tmp_path


def test_an_unsteady_point_does_not_replace_a_steady_one(stored):
    """Value and records stay, and the point is named with its reason."""
    again = Run(stored, 2)
    again.round(0, 0.5, DISTURBED)
    assert ([1.0] * 3, [100.0]) == (again.samples, again.starts)
    (found,) = again.remeasured.not_taken
    assert (FIRST, "0" * 40) == (found.key, found.commit)
    assert found.reason.startswith("yardstick off: 6 times its nominal reading")


def test_a_steady_point_replaces_a_steady_one(stored):
    again = Run(stored, 2)
    again.round(0, 1.1)
    assert ([1.1] * 3, [200.0]) == (again.samples, again.starts)
    assert [] == again.remeasured.not_taken


@pytest.mark.parametrize("reading", [STEADY, DISTURBED])
def test_an_unsteady_point_is_replaced_by_any(tmp_path, reading):
    """The later measurement counts, as everywhere."""
    Run(tmp_path, 1).round(0, 1.0, DISTURBED)
    again = Run(tmp_path, 2)
    again.round(0, 0.5, reading)
    assert ([0.5] * 3, [200.0]) == (again.samples, again.starts)


def test_alternating_rounds_replace_a_steady_point_when_all_are_there(stored):
    """Until then it stays; then both rounds are stored, once each."""
    again = Run(stored, 2)
    again.round(0, 1.1, last=False)
    assert ([1.0] * 3, [100.0]) == (again.samples, again.starts)
    again.round(1, 1.2)
    assert ([1.1] * 3 + [1.2] * 3, [200.0, 201.0]) == (again.samples, again.starts)


def test_alternating_rounds_that_disagree_do_not_replace_a_steady_point(stored):
    """Each of them is steady by itself."""
    again = Run(stored, 2)
    again.round(0, 1.1, last=False)
    again.round(1, 2.2)
    assert ([1.0] * 3, [100.0]) == (again.samples, again.starts)
    assert ["processes disagree"] == [
        found.reason.partition(":")[0] for found in again.remeasured.not_taken
    ]


@pytest.mark.parametrize("resumed", [False, True])
def test_rounds_of_one_run_that_disagree_are_stored_as_they_are(tmp_path, resumed):
    """The first round is no earlier point, also where a kill came between the two."""
    run = Run(tmp_path, 1)
    run.round(0, 1.0, last=False)
    if resumed:
        run = Run(tmp_path, 1)
        run.round(0, 1.0, last=False)
    run.round(1, 2.0)
    assert ([1.0] * 3 + [2.0] * 3, [100.0, 101.0]) == (run.samples, run.starts)


def test_a_run_killed_between_rounds_saves_them_when_it_goes_on(stored):
    """Its journal has the first round, which the results do not have yet."""
    Run(stored, 2).round(0, 1.1, last=False)
    again = Run(stored, 2)
    again.round(0, 1.1, last=False)
    again.round(1, 1.2)
    assert ([1.1] * 3 + [1.2] * 3, [200.0, 201.0]) == (again.samples, again.starts)


def test_a_run_killed_after_its_last_save_counts_nothing_twice(stored):
    """Both rounds are stored already when its journal is read."""
    for _ in range(2):
        again = Run(stored, 2)
        again.round(0, 1.1, last=False)
        again.round(1, 1.2)
    assert ([1.1] * 3 + [1.2] * 3, [200.0, 201.0]) == (again.samples, again.starts)


def test_damaged_records_of_another_release_do_not_hinder_the_saving(stored):
    (stored / "m" / f"11111111-release-py3{measurement_files.PLAIN}").write_text("{")
    again = Run(stored, 2)
    again.round(0, 0.5, DISTURBED)
    assert [1.0] * 3 == again.samples


def test_points_that_were_not_taken_are_named_with_their_command():
    """A line for each release and conditions, with a pattern that picks these points alone."""
    numpy = Release("numpy", "2.4.6", None)
    reason = "yardstick off: 6 times"
    reduced = ("all_reduce.Inference.kernel_sum", ("n100", "float32", "2"))
    cold = {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "cold"}
    found = [
        NotTaken(numpy.hash, {"DEEPBENCH_DEVICE": "cpu"}, FIRST, reason),
        NotTaken(numpy.hash, {}, reduced, reason),
        NotTaken(numpy.hash, cold, FIRST, reason),
    ]
    warm_line, cold_line = unsteady_list.not_taken(found, {numpy.hash: numpy})
    assert warm_line.startswith("2 points of numpy-2.4.6 came out unsteady (2 yardstick off)")
    assert "to measure them again: DEEPBENCH_CACHE=cold asv run --bench" in cold_line
    pattern = re.search(r"--bench '(.*)' numpy-2.4.6$", warm_line)[1]
    assert re.search(pattern, f"{NAME}('m1760_n16_k1760_NN', 'float32')")
    assert re.search(pattern, f"{reduced[0]}('n100', 'float32', 2)")
    assert not re.search(pattern, f"{NAME}('m1760_n32_k1760_NN', 'float32')")
