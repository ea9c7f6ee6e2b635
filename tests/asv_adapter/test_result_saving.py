"""Saving by asv: nothing is lost, no empty file is left, the JSON is strict."""

import json
import math
import multiprocessing
import subprocess
from pathlib import Path

import pytest
from asv import util as asv_util
from asv._stats import get_weight, is_different
from asv.results import Results
from asv.runner import BenchmarkResult
from asv.step_detect import detect_steps
from asv.util import UserError
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import (
    atomic_asv_json,
    machine_entry,
    patch_installation,
    private_result_fields,
    result_merging,
    result_saving,
    run_hooks,
)
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import fingerprint, record_handover
from deepbench_ops.storage import conflict_files, measurement_files
from deepbench_ops.storage.conflict_files import PointVersion

BENCHMARK = {
    "name": "gemm.Training.kernel_forward",
    "version": "1",
    "params": [["'a'", "'b'", "'c'"], ["'float32'"]],
}


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch):
    """asv's classes wrapped for the length of a test, with a spool of its own."""
    monkeypatch.setenv(record_handover.SPOOL_VARIABLE, str(tmp_path / "spool"))
    run = Run(tmp_path / "spool")
    monkeypatch.setattr(run_hooks, "_current", run)
    with patch_installation.applied(
        (*atomic_asv_json.PATCHES, *machine_entry.PATCHES, *result_saving.PATCHES)
    ):
        yield run


class Run:
    """The run that is saved: its records, and whether they are forgotten."""

    journal_path = Path(".asv", "unfinished", "run.jsonl")
    appending, last_round = False, True

    def __init__(self, spool):
        self.spool, self.forgotten = spool, 0

    def records(self):
        return record_handover.collect(self.spool)

    def forget(self):
        self.forgotten += 1


def outcome(values, spread=(1.0, 1.01)):
    """An asv result as its runner would hand it over: numbers, NaN for skips, None for failures.

    ``spread``: the samples of a number, relative to it.
    """
    measured = [isinstance(v, float) and not math.isnan(v) for v in values]
    pairs = list(zip(values, measured, strict=True))
    return BenchmarkResult(
        result=[True if m else v for v, m in pairs],
        samples=[[v * x for x in spread] if m else None for v, m in pairs],
        number=[1 if m else None for m in measured],
        errcode=0,
        stderr="",
        profile=None,
    )


def loaded(folder):
    """The results that asv holds as a run begins: those of earlier ones."""
    results = Results({"machine": "m"}, {}, "0" * 40, 0, "3", "release-py3", {})
    results.load_data(str(folder))
    return results


def save(folder, values, version="1", **how):
    """Save one run of BENCHMARK as `asv run` does: load the stored results, add, save."""
    results = loaded(folder)
    benchmark = {**BENCHMARK, "version": version}
    results.add_result(benchmark, outcome(values, **how), record_samples=False)
    results.save(str(folder))
    return folder / "m" / "00000000-release-py3.json"


def values_in(path):
    return Results.load(str(path)).get_result_value(BENCHMARK["name"], BENCHMARK["params"])


def stats_in(path):
    return Results.load(str(path)).get_result_stats(BENCHMARK["name"], BENCHMARK["params"])


def test_a_run_that_measured_nothing_leaves_no_file(tmp_path):
    """All failures: no result file, not even an empty folder's worth."""
    path = save(tmp_path, [None, None, None])
    assert not path.exists()


def test_a_failed_run_does_not_erase_an_earlier_one(tmp_path):
    """A release that no longer installs keeps the numbers it had."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    before = values_in(path)
    save(tmp_path, [None, None, None])
    assert values_in(path) == before


def test_a_skip_does_not_replace_a_number(tmp_path):
    """New numbers come in, a skip and a failure leave the old ones where they were."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    save(tmp_path, [4.0, float("nan"), None])
    assert values_in(path) == pytest.approx([4.02, 2.01, 3.015])


def test_points_that_no_run_chose_are_skipped_and_have_not_failed(tmp_path):
    """asv takes NaN for a skip and None for a failure, and would print them as failed."""
    for selected in ([0], [1]):
        results = loaded(tmp_path)
        values = [1.0 if place in selected else math.nan for place in range(3)]
        results.add_result(BENCHMARK, outcome(values), selected_idx=selected)
        results.save(str(tmp_path))
    found = values_in(tmp_path / "m" / "00000000-release-py3.json")
    assert [1.005, 1.005] == pytest.approx(found[:2]) and math.isnan(found[2])


def test_a_quick_look_does_not_replace_a_measurement(tmp_path):
    """The single sample of `asv run --quick` fills gaps and leaves fuller results alone."""
    path = save(tmp_path, [1.0, None, 3.0])
    save(tmp_path, [9.0, 9.0, 9.0], spread=[1.0])
    assert values_in(path) == pytest.approx([1.005, 9.0, 3.015])


@pytest.mark.parametrize("later", [[math.nan] * 3, [None] * 3])
def test_a_value_that_stays_keeps_its_interval(tmp_path, later):
    """That of a history is of its rounds' ratios, and does not follow from its samples."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    stored = Results.load(str(path))
    first, *_ = private_result_fields.of(stored).stats[BENCHMARK["name"]]
    first.update(ci_99_a=0.9, ci_99_b=1.2)
    stored.save(str(tmp_path))
    save(tmp_path, later)
    assert (0.9, 1.2) == (stats_in(path)[0]["ci_99_a"], stats_in(path)[0]["ci_99_b"])


def test_a_single_sample_of_a_long_call_is_a_measurement(tmp_path):
    """Its record says that it was no quick look, and it replaces an earlier run's result."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    record_handover.write(a_record("a", [9.0], 2e9))
    record_handover.write({**a_record("b", [9.0], 2e9), "quick": True})
    save(tmp_path, [9.0, 9.0, float("nan")], spread=[1.0])
    assert values_in(path) == pytest.approx([9.0, 2.01, 3.015])


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_benchmark_that_a_run_did_not_reach_keeps_its_times(tmp_path, version):
    """A run that ends at its limit removes those left without a time; stored times stay."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    stored = Results.load(str(path))
    for stat in private_result_fields.of(stored).stats[BENCHMARK["name"]]:
        stat.update(ci_99_a=0.9, ci_99_b=3.2)  # of a history
    stored.save(str(tmp_path))
    before = stats_in(path)
    results = loaded(tmp_path)
    results.add_result({**BENCHMARK, "version": version}, outcome([math.nan] * 3))
    results.remove_result(BENCHMARK["name"])
    other = {**BENCHMARK, "name": "gemm.InferenceServer.kernel_forward"}
    results.add_result(other, outcome([1.0, 1.0, 1.0]))
    results.save(str(tmp_path))
    assert [1.0, 2.0, 3.0] == pytest.approx(values_in(path), rel=0.01)
    assert before == stats_in(path)


def test_another_version_of_a_benchmark_starts_afresh(tmp_path):
    """Numbers of an older benchmark version are not mixed with the new version's."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    save(tmp_path, [4.0, None, None], version="2")
    assert values_in(path) == [pytest.approx(4.02), None, None]


def test_samples_are_kept_without_being_asked_for(tmp_path):
    """Samples stay in the file although `asv run` was not given --record-samples."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    samples = Results.load(str(path)).get_result_samples(BENCHMARK["name"], BENCHMARK["params"])
    assert samples[0] == [1.0, 1.01]


def test_intervals_are_finite(tmp_path):
    """One sample has no interval; the file holds a wide finite one above zero, strict JSON."""

    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    text = save(tmp_path, [1.0, 2.0, 3.0], spread=[1.0]).read_text()
    stored = json.loads(text, parse_constant=refuse)
    row = dict(zip(stored["result_columns"], stored["results"][BENCHMARK["name"]], strict=False))
    assert row["stats_ci_99_a"] == [value / result_merging.WIDEST for value in (1.0, 2.0, 3.0)]
    assert row["stats_ci_99_b"] == [result_merging.WIDEST * value for value in (1.0, 2.0, 3.0)]


@pytest.mark.parametrize("spread", [[1.0, 3.0], [1.0, 1.0, 9.0], [1.0, 1.0, 1.0, 99.0], [1.0] * 9])
def test_stored_intervals_are_above_zero(tmp_path, spread):
    """Also where asv's own, which is made of seconds, is not."""
    for entry in stats_in(save(tmp_path, [1.0, 2.0, 3.0], spread=spread)):
        assert 0 < entry["ci_99_a"] <= entry["ci_99_b"] < math.inf


def test_asv_compare_needs_an_interval_of_few_samples(tmp_path):
    """It looks up both bounds; the widest ones say that the two points need not differ."""
    few = stats_in(save(tmp_path, [1.0, 2.0, 3.0]))
    one, other = [1.0, 1.01], [2.0, 2.02]
    assert not is_different(one, other, few[0], few[1])
    with pytest.raises(KeyError):
        is_different(one, other, {}, {})


def test_quick_points_next_to_full_ones_do_not_stop_asv_publish(tmp_path):
    """asv's search for steps ends on a series where few points have a narrow interval."""
    quick = stats_in(save(tmp_path / "quick", [1.0, 2.0, 3.0], spread=[1.0]))
    full = stats_in(save(tmp_path / "full", [1.0, 2.0, 3.0], spread=[0.99, 1.0, 1.0, 1.0, 1.01]))
    weights = [get_weight(stats) for stats in (quick[0], quick[0], full[0])]
    assert weights[0] < weights[2]
    search = multiprocessing.get_context("fork").Process(
        target=detect_steps, args=([1.0, 1.1, 1.0], weights)
    )
    search.start()
    search.join(20)
    ended = not search.is_alive()
    search.kill()
    assert ended and search.exitcode == 0


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    """When writing fails half way the file on disk is the former one, whole."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    before = path.read_bytes()

    whole = Path.write_bytes

    def half(path, content):
        whole(path, content[: len(content) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, [4.0, 5.0, 6.0])
    assert path.read_bytes() == before
    assert {path.name, "machine.json"} >= {p.name for p in path.parent.iterdir()}


def test_removing_a_benchmark_removes_it(tmp_path):
    """Benchmarks that `asv rm benchmark=...` removed are not put back by saving the result."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    result = Results.load(str(path))
    result.remove_result(BENCHMARK["name"])
    result.save(str(tmp_path))
    assert list(Results.load(str(path)).get_all_result_keys()) == []


@pytest.mark.parametrize("others", [[], ["gelu.Training.kernel_forward"]])
def test_removing_a_benchmark_removes_its_records(tmp_path, others):
    """A later quick look would take them for its own; those of other benchmarks stay."""
    record_handover.write(a_record("a", [0.5], 2e9))
    for other in others:
        record_handover.write({**a_record("a", [0.7], 2e9), "benchmark": other})
    path = save(tmp_path, [1.0, 2.0, 3.0])
    result = Results.load(str(path))
    result.remove_result(BENCHMARK["name"])
    result.save(str(tmp_path))
    assert [] == list(Results.load(str(path)).get_all_result_keys())
    records = measurement_files.file_of(path)
    assert bool(others) == records.exists()
    if others:
        assert others == [entry["benchmark"] for entry in measurement_files.load(records)[1]]


def conflict(benchmark):
    """Versions of a point as a file of conflicts has them."""
    point = {"benchmark": benchmark, "params": ["'a'", "'float32'"], "seconds": 1.0}
    versions = [PointVersion({**point, "seconds": each}, [], False) for each in (1.0, 2.0)]
    return {versions[0].key: versions}


@pytest.mark.parametrize("others", [[], ["gelu.Training.kernel_forward"]])
def test_removing_a_benchmark_removes_its_conflicts(tmp_path, others):
    """Those of other benchmarks stay."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    filed = conflict_files.file_of(path)
    kept = {key: each for name in others for key, each in conflict(name).items()}
    conflict_files.write(filed, {}, conflict(BENCHMARK["name"]) | kept)
    result = Results.load(str(path))
    result.remove_result(BENCHMARK["name"])
    result.save(str(tmp_path))
    assert kept == conflict_files.load(filed).versions
    assert bool(others) == filed.exists()


def test_removing_a_result_removes_its_conflicts(tmp_path):
    """They would be asked about for ever."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    filed = conflict_files.file_of(path)
    conflict_files.write(filed, {}, conflict(BENCHMARK["name"]))
    Results.load(str(path)).rm(str(tmp_path))
    assert not path.exists() and not filed.exists()


def test_a_damaged_file_of_records_stops_a_removal(tmp_path):
    """Neither the result nor the file is changed."""
    record_handover.write(a_record("a", [0.5], 2e9))
    path = save(tmp_path, [1.0, 2.0, 3.0])
    records = measurement_files.file_of(path)
    records.write_bytes(records.read_bytes()[:-9])
    before = path.read_bytes(), records.read_bytes()
    result = Results.load(str(path))
    result.remove_result(BENCHMARK["name"])
    with pytest.raises(measurement_files.DeepbenchError):
        result.save(str(tmp_path))
    assert before == (path.read_bytes(), records.read_bytes())


def test_removing_a_result_removes_its_records(tmp_path):
    """`asv rm commit_hash=...` leaves no measurements behind."""
    record_handover.write(a_record("a", [0.5], 2e9))
    path = save(tmp_path, [1.0, 2.0, 3.0])
    Results.load(str(path)).rm(str(tmp_path))
    assert list((tmp_path / "m").iterdir()) == []


number_or_gap = st.one_of(st.floats(1e-6, 1e3), st.just(float("nan")), st.none())


@given(st.lists(st.lists(number_or_gap, min_size=3, max_size=3), min_size=1, max_size=4))
def test_what_was_ever_measured_stays_measured(tmp_path_factory, runs):
    """After any series of runs a kernel has the number of the last run that measured it."""
    folder = tmp_path_factory.mktemp("results")
    expected = [None, None, None]
    for run in runs:
        path = save(folder, run)
        for i, value in enumerate(run):
            if value is not None and not math.isnan(value):
                expected[i] = value * 1.005
    if not path.exists():
        assert expected == [None, None, None]
        return
    for found, wanted in zip(values_in(path), expected, strict=True):
        if wanted is None:
            assert found is None or math.isnan(found)
        else:
            assert found == pytest.approx(wanted)


def a_record(problem, seconds, started_at):
    return {
        "benchmark": BENCHMARK["name"],
        "params": [problem, "float32"],
        "seconds": seconds,
        "yardstick": [1.0] * len(seconds),
        "started_at": started_at,
        "fingerprint": {"cpu": "abacus", "threads": "2"},
    }


def test_records_are_filed_next_to_their_result(tmp_path):
    """Raw seconds and the fingerprint land next to the result that was saved with them."""
    record_handover.write(a_record("a", [0.5], 2e9))
    path = save(tmp_path, [1.0, 2.0, 3.0])
    facts, found = measurement_files.load(measurement_files.file_of(path))
    assert [entry["seconds"] for entry in found] == [[0.5]]
    assert facts[found[0]["fingerprint"]] == {"cpu": "abacus", "threads": "2", "asv": "0.6.6"}


def test_a_new_measurement_replaces_only_its_own_kernel(tmp_path):
    """Records of an earlier run stay for other kernels and go for the one measured again."""
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    measurement_files.add(path, [a_record("a", [1.0], 1.0), a_record("b", [2.0], 1.0)])
    end_process()
    measurement_files.add(path, [a_record("a", [3.0], 2e9)])
    measurement_files.add(path, [a_record("a", [4.0], 2e9 + 1)])  # the second round of the same run
    _, found = measurement_files.load(path)
    assert sorted((e["params"][0], e["seconds"][0]) for e in found) == [
        ("a", 3.0),
        ("a", 4.0),
        ("b", 2.0),
    ]


def a_skip(problem, started_at):
    return {
        "benchmark": BENCHMARK["name"],
        "params": [problem, "float32"],
        "started_at": started_at,
        "skipped": "no such thing",
    }


def test_a_skip_is_on_record_once(tmp_path):
    """A kernel skipped in both rounds leaves one line with the reason, until it is measured."""
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    measurement_files.add(path, [a_skip("a", 1.0), a_skip("a", 2.0)])
    _, found = measurement_files.load(path)
    assert [entry["skipped"] for entry in found] == ["no such thing"]
    measurement_files.add(path, [a_record("a", [1.0], 3.0)])
    _, found = measurement_files.load(path)
    assert [entry.get("skipped") for entry in found] == [None]


def test_a_skip_of_a_later_round_is_not_repeated(tmp_path):
    """With interleaved rounds asv saves after each; a kernel skipped in both has one line."""
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    measurement_files.add(path, [a_skip("a", 2e9)])
    measurement_files.add(path, [a_skip("a", 2e9 + 1)])
    _, found = measurement_files.load(path)
    assert len(found) == 1


def test_records_of_a_release_that_measured_nothing_join_no_other(tmp_path):
    """Records that a release without a result left in the spool are not filed with the next one."""
    record_handover.write(a_skip("a", 2e9))
    save(tmp_path, [float("nan")] * 3)
    record_handover.write(a_record("b", [0.5], 2e9))
    path = save(tmp_path, [1.0, 2.0, 3.0])
    _, found = measurement_files.load(measurement_files.file_of(path))
    assert [entry["params"][0] for entry in found] == ["b"]


def with_a_record(folder):
    """The records next to a saved result, one of them, and the next run's first results."""
    records_file = measurement_files.file_of(save(folder, [1.0, 2.0, 3.0]))
    measurement_files.add(records_file, [a_record("a", [9.0], 1.0)])
    end_process()
    return records_file, loaded(folder)


def end_process():
    """Forget which records this process has filed, as at the end of a run."""
    measurement_files._filed.clear()


def test_a_run_of_several_rounds_replaces_the_records_of_an_earlier_one(tmp_path):
    """asv appends later rounds to the first; that is not the appending a user asks for."""
    records_file, results = with_a_record(tmp_path)
    for seconds in (1.0, 1.1):
        record_handover.write(a_record("a", [seconds], 2e9))
        results.add_result(BENCHMARK, outcome([1.0, 2.0, 3.0]), append_samples=seconds > 1.0)
    results.save(str(tmp_path))
    _, found = measurement_files.load(records_file)
    assert [[1.0], [1.1]] == [entry["seconds"] for entry in found]


def test_samples_that_a_user_appends_keep_their_records(tmp_path, run):
    """With `asv run --append-samples` the records of the earlier run stay next to the new."""
    run.appending = True
    records_file, results = with_a_record(tmp_path)
    record_handover.write(a_record("a", [1.0], 2e9))
    results.add_result(BENCHMARK, outcome([1.0, 2.0, 3.0]), append_samples=True)
    results.save(str(tmp_path))
    _, found = measurement_files.load(records_file)
    assert [[9.0], [1.0]] == [entry["seconds"] for entry in found]


def test_a_skip_does_not_erase_a_measurement(tmp_path):
    """A release that has lost an operation keeps the records of when it had it."""
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    measurement_files.add(path, [a_record("a", [1.0], 1.0)])
    measurement_files.add(path, [a_skip("a", 2.0)])
    _, found = measurement_files.load(path)
    assert [entry["seconds"] for entry in found] == [[1.0]]


def test_a_quick_look_does_not_erase_a_measurement(tmp_path):
    """The single call of `asv run --quick` leaves the records of a full run alone."""
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    measurement_files.add(path, [a_record("a", [1.0, 1.1], 1.0)])
    measurement_files.add(path, [{**a_record("a", [9.0], 2.0), "quick": True}])
    _, found = measurement_files.load(path)
    assert [entry["seconds"] for entry in found] == [[1.0, 1.1]]


def test_records_are_collected_once(tmp_path, monkeypatch):
    """A record comes out of the spool once, in the order of writing."""
    monkeypatch.setenv(record_handover.SPOOL_VARIABLE, str(tmp_path))
    record_handover.write({"n": 1})
    record_handover.write({"n": 2})
    assert record_handover.collect(tmp_path) == [{"n": 1}, {"n": 2}]
    assert record_handover.collect(tmp_path) == []


@pytest.mark.parametrize("appending", [False, True])
def test_filing_again_after_a_kill_counts_nothing_twice(tmp_path, appending):
    """The next run files the records of an interrupted one again, and its own second round."""
    path = tmp_path / ("x" + measurement_files.SUFFIX)
    measurement_files.add(path, [a_record("a", [1.0], 1.0)], appending)
    end_process()
    measurement_files.add(path, [a_record("a", [1.0], 1.0)], appending)
    measurement_files.add(path, [a_record("a", [2.0], 2.0)], appending)
    _, found = measurement_files.load(path)
    assert [[1.0], [2.0]] == [entry["seconds"] for entry in found]


def test_what_was_saved_is_remembered_for_the_end_of_the_run(tmp_path, run, monkeypatch):
    """There its unsteady points are named."""
    monkeypatch.setattr(result_saving, "saved_files", [])
    path = save(tmp_path, [1.0])
    assert [path] == result_saving.saved_files


def test_a_run_is_forgotten_once_it_is_saved(tmp_path, run):
    save(tmp_path, [1.0, 2.0, 3.0])
    assert 1 == run.forgotten


@pytest.mark.parametrize("writer", ["measurement_files.add", "result_files.util.write_json"])
def test_a_save_that_fails_is_one_line_and_forgets_nothing(tmp_path, monkeypatch, run, writer):
    """It names the file, the reason and the journal, which stays."""
    record_handover.write(a_record("a", [0.5], 2e9))

    def full(path, *_, **__):
        raise OSError(28, "No space left on device", str(path))

    owner, name = writer.rsplit(".", 1)
    monkeypatch.setattr(f"deepbench_ops.asv_adapter.result_saving.{owner}.{name}", full)
    line = r"release-py3.json is not saved \(.*: No space left on device\); .*run.jsonl"
    with pytest.raises(UserError, match=line):
        save(tmp_path, [1.0, 2.0, 3.0])
    assert 0 == run.forgotten


def test_points_that_a_run_did_not_measure_stay_as_other_commands_left_them(tmp_path):
    """Of a run that began before an import and a removal: its own point is written, no other."""
    path = save(tmp_path, [1.0, 2.0, 3.0])
    slow = loaded(tmp_path)
    save(tmp_path, [4.0, 5.0, 6.0])
    one = {"record_samples": True, "selected_idx": {0}}
    slow.add_result(BENCHMARK, outcome([7.0, None, None]), **one)
    slow.save(str(tmp_path))
    assert values_in(path) == pytest.approx([7.035, 5.025, 6.03])
    slow = loaded(tmp_path)
    path.unlink()
    slow.add_result(BENCHMARK, outcome([8.0, None, None]), **one)
    slow.save(str(tmp_path))
    assert values_in(path) == pytest.approx([8.04, math.nan, math.nan], nan_ok=True)


def test_a_machine_may_have_a_file_system_of_its_own(tmp_path):
    """Files are made ready next to their target, on the same file system."""
    folder = tmp_path / "m"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True).returncode:
        pytest.skip("only root may mount here")
    try:
        assert [1.005, 2.01, 3.015] == pytest.approx(values_in(save(tmp_path, [1.0, 2.0, 3.0])))
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_torn_measurements_file_names_its_line(tmp_path):
    """A truncated line is reported with file and line, and the file is not touched."""
    path = tmp_path / "x.measurements.jsonl"
    path.write_text('{"fingerprint": "a", "facts": {}}\n{"benchmark": "gem')
    with pytest.raises(measurement_files.DeepbenchError, match=r"x\.measurements\.jsonl: line 2"):
        measurement_files.add(path, [a_record("a", [1.0], 1.0)])
    assert path.read_text().endswith('{"benchmark": "gem')


def test_a_run_on_another_processor_under_the_same_name_does_not_begin(tmp_path):
    """asv saves the machine as a run begins: then it stops in one line, nothing written."""
    machine = result_saving.Machine()
    machine.machine = "box"
    described = machine_profile.Profile("box", facts={"processor": "1/2/3"})
    path = machine_profile.write(tmp_path, described)
    if not fingerprint.silicon():
        pytest.skip("this system does not tell family, model and stepping of its processor")
    with pytest.raises(UserError, match=r"box has a processor .*1/2/3"):
        machine.save(str(tmp_path))
    assert [path] == list(path.parent.iterdir())


def nested(values):
    return st.lists(values) | st.dictionaries(st.text(), values)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.recursive(LEAVES, nested))
def test_json_that_is_encoded_at_once_is_the_same(tmp_path_factory, data):
    """To the byte, with NaN and text of any language, with a version and without."""
    folder = tmp_path_factory.mktemp("json")
    for version in (None, 2):
        content = {"a": data, "version": 1}
        asv_util.write_json(str(folder / "asv"), content, version, compact=True)
        with patch_installation.applied(atomic_asv_json.PATCHES):
            asv_util.write_json(str(folder / "ours"), content, version, compact=True)
        assert (folder / "asv").read_bytes() == (folder / "ours").read_bytes()
