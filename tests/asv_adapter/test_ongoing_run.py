"""Long runs: their messages, and the points that an interrupted one leaves for the next."""

import errno
import json
import math
import shutil
import subprocess
import sys
import time
from collections import Counter
from types import MappingProxyType, SimpleNamespace

import pytest
from asv.commands import find as find_command
from asv.results import Results
from asv.runner import BenchmarkResult
from asv.util import UserError
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import (
    asv_run_journal,
    private_result_fields,
    run_command,
    run_hooks,
)
from deepbench_ops.asv_adapter.asv_run_journal import MeasuredPoint, RunJournal
from deepbench_ops.asv_adapter.run_progress import RunProgress, duration_text, shares
from deepbench_ops.backends import run_cache
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.measure import nominal_readings
from deepbench_ops.storage import measurement_files

POINT = ("gemm.Training.kernel_forward", ("m1_n1_k1_NN", "float32"))
OTHER = ("gemm.Training.kernel_forward", ("m2_n1_k1_NN", "float32"))
ANSWER = BenchmarkResult([True], [[1.0, 2.0]], [1], 0, "", None)._asdict()
RECORD = {
    "benchmark": POINT[0],
    "params": [*POINT[1]],
    "fingerprint": {"framework": "torch 2.13.0"},
    "started_at": 1.0,
    "seconds": [1.0, 2.0],
    "yardstick": [],
}
ENTRY = MeasuredPoint(ANSWER, [RECORD])
ENSEMBLE = {
    **{"file": "torch.jsonl.gz", "anchor": "torch-2.12.0", "rounds": 2, "seconds": 1.0},
    **{"ratio": 1.0, "low": 0.9, "high": 1.1, "interval": [0.9, 1.1], "anchor_seconds": [1.0]},
    **{"calibrated": True},
}


class Clock:
    """A clock that stands until it is moved."""

    now = 0.0

    def __call__(self):
        return self.now


def test_an_interrupted_run_is_taken_up_point_by_point(tmp_path):
    """Each time a point was measured is handed out once, in order, to the next run."""
    first = RunJournal(tmp_path / "new", {"code": "1"})
    second_round = MeasuredPoint({**ANSWER, "result": [float("nan")], "samples": [None]}, [])
    first.add(POINT, ENTRY)
    first.add(POINT, second_round)
    again = RunJournal(tmp_path / "new", {"code": "1"})
    assert 2 == again.waiting
    assert None is again.take(OTHER)
    assert ENTRY == again.take(POINT)
    assert str(second_round) == str(again.take(POINT))
    assert None is again.take(POINT)


def test_points_outlast_any_number_of_interruptions(tmp_path):
    """A run that took up points and is interrupted itself leaves them to the next one."""
    RunJournal(tmp_path, {}).add(POINT, ENTRY)
    second = RunJournal(tmp_path, {})
    second.take(POINT)
    second.add(OTHER, ENTRY)
    third = RunJournal(tmp_path, {})
    assert (ENTRY, ENTRY) == (third.take(POINT), third.take(OTHER))


def test_a_saved_run_leaves_nothing_to_take_up(tmp_path):
    """Closing removes all files that it took points from, be there one or none."""
    run = RunJournal(tmp_path, {})
    run.close()
    run.add(POINT, ENTRY)
    second = RunJournal(tmp_path, {})
    second.take(POINT)
    second.add(OTHER, ENTRY)
    second.close()
    assert [] == list(tmp_path.iterdir())


def test_points_that_a_run_does_not_ask_for_stay(tmp_path):
    """A run of a few points keeps the other points that a longer one has measured."""
    long = RunJournal(tmp_path, {})
    long.add(POINT, ENTRY)
    long.add(OTHER, ENTRY)
    short = RunJournal(tmp_path, {})
    short.take(POINT)
    short.close()
    again = RunJournal(tmp_path, {})
    assert (None, ENTRY) == (again.take(POINT), again.take(OTHER))


def test_a_point_is_taken_up_once_after_a_kill_between_two_files(tmp_path):
    """A run that was killed while it closed its journal leaves points in two of them."""
    run = RunJournal(tmp_path, {})
    run.add(POINT, ENTRY)
    shutil.copy(run.path, tmp_path / "copy.jsonl")
    assert 1 == RunJournal(tmp_path, {}).waiting


def test_saved_points_are_taken_up_by_the_same_command_alone(tmp_path):
    """Until the command has ended; another command measures them, and theirs are forgotten then."""
    run = RunJournal(tmp_path, {"release": "1"}, "A B")
    run.add(POINT, ENTRY)
    run.close()
    other = RunJournal(tmp_path, {"release": "1"}, "A")
    assert (0, None) == (other.waiting, other.take(POINT))
    again = RunJournal(tmp_path, {"release": "1"}, "A B")
    assert (1, ENTRY, 0) == (again.saved, again.take(POINT), again.saved)
    other.add(POINT, ENTRY)
    other.close()
    assert 0 == RunJournal(tmp_path, {"release": "1"}, "A B").waiting
    asv_run_journal.forget_saved(tmp_path, "A")
    assert 0 == RunJournal(tmp_path, {"release": "1"}, "A").waiting


def test_saved_points_outlast_interruptions_too(tmp_path):
    """A resumed command that takes up a part of them leaves all to the next one, as saved."""
    run = RunJournal(tmp_path, {}, "A B")
    run.add(POINT, ENTRY)
    run.add(OTHER, ENTRY)
    run.close()
    second = RunJournal(tmp_path, {}, "A B")
    second.take(POINT)
    second.close()
    assert 2 == RunJournal(tmp_path, {}, "A B").saved
    assert [] == list(tmp_path.glob("*.jsonl"))


def test_saved_points_of_another_day_are_removed(tmp_path, monkeypatch):
    """Those of any command: the one that measured them may never be started again."""
    run = RunJournal(tmp_path, {}, "A B")
    run.add(POINT, ENTRY)
    run.close()
    now = asv_run_journal.time.time() + asv_run_journal.LONGEST_SECONDS + 1
    monkeypatch.setattr(asv_run_journal.time, "time", lambda: now)
    RunJournal(tmp_path, {}, "C")
    assert [] == list(tmp_path.rglob("*.jsonl"))


def test_other_code_or_conditions_are_measured_again(tmp_path):
    """A point is not taken up by a run that would have measured something else, and stays."""
    RunJournal(tmp_path, {"code": "1"}).add(POINT, ENTRY)
    other = RunJournal(tmp_path, {"code": "2"})
    assert 0 == other.waiting
    other.close()
    assert 1 == RunJournal(tmp_path, {"code": "1"}).waiting


def test_points_of_the_day_before_are_measured_again(tmp_path, monkeypatch):
    """The machine of yesterday is another one: its journals are removed."""
    RunJournal(tmp_path, {}).add(POINT, ENTRY)
    now = asv_run_journal.time.time() + asv_run_journal.LONGEST_SECONDS + 1
    monkeypatch.setattr(asv_run_journal.time, "time", lambda: now)
    assert 0 == RunJournal(tmp_path, {}).waiting
    assert [] == list(tmp_path.iterdir())


@given(cut=st.integers(1, 60))
def test_a_torn_last_line_costs_that_point_only(tmp_path_factory, cut):
    """A run killed while it wrote is taken up from the point before, and journals go on."""
    folder = tmp_path_factory.mktemp("run")
    run = RunJournal(folder, {})
    run.add(POINT, ENTRY)
    run.add(OTHER, ENTRY)
    run.path.write_text(run.path.read_text()[:-cut])
    again = RunJournal(folder, {})
    assert ENTRY == again.take(POINT)
    assert again.take(OTHER) in (None, ENTRY)
    assert (again.waiting, None) == (0, again.take(OTHER))
    again.add(OTHER, ENTRY)
    assert ENTRY == RunJournal(folder, {}).take(OTHER)


def test_journals_of_the_former_version_are_taken_up(tmp_path):
    """A point is a list of benchmark and parameters there; lines of other forms are left."""
    line = {"at": time.time(), "answer": ENTRY.answer, "records": ENTRY.records, "conditions": {}}
    points = [[POINT[0], *POINT[1]], [POINT[0], 1], [], 5]
    text = "".join(json.dumps({**line, "point": point}) + "\n" for point in points)
    (tmp_path / "20261120-120000-abcd1234.jsonl").write_text(text)
    again = RunJournal(tmp_path, {})
    assert (1, ENTRY) == (again.waiting, again.take(POINT))


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line.update(answer=5),
        lambda line: line["answer"].pop("samples"),
        lambda line: line["answer"].update(more=1),
        lambda line: line["answer"].update(samples=[["x"]]),
        lambda line: line["answer"].update(result=["x"]),
        lambda line: line["answer"].update(result=["x"], samples=[None]),
        lambda line: line["answer"].update(samples=[[1e9]]),
        lambda line: line["records"][0].update(seconds=[-1.0]),
        lambda line: line["records"][0].pop("seconds"),
        lambda line: line.update(records=["x"]),
        lambda line: line.update(conditions=None),
    ],
)
def test_a_damaged_point_is_measured_again(tmp_path, damage):
    """Answers of another form, and values that are no times, cost that point alone."""
    run = RunJournal(tmp_path, {})
    run.add(POINT, ENTRY)
    run.add(OTHER, ENTRY)
    first, second = map(json.loads, run.path.read_text().splitlines())
    damage(first)
    run.path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    again = RunJournal(tmp_path, {})
    assert (None, ENTRY) == (again.take(POINT), again.take(OTHER))


def test_a_full_disk_leaves_no_half_line(tmp_path):
    """The point that did not fit is reported; the next one that fits is read again."""
    program = f"""
import pathlib, resource, signal, sys
from deepbench_ops.asv_adapter.asv_run_journal import MeasuredPoint, RunJournal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run = RunJournal(pathlib.Path(sys.argv[1]), {{}})
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    run.add({POINT}, MeasuredPoint({{"samples": [[1.0] * 1000]}}, []))
except OSError as error:
    print(error.errno)
run.add({OTHER}, MeasuredPoint({ENTRY.answer}, {ENTRY.records}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert f"{errno.EFBIG}\n" == done.stdout
    again = RunJournal(tmp_path, {})
    assert (None, ENTRY) == (again.take(POINT), again.take(OTHER))


def test_all_rounds_of_a_release_are_taken_up_until_the_last_is_saved(tmp_path, monkeypatch):
    """A run whose rounds alternate is killed in the last: the next one measures nothing again."""
    monkeypatch.chdir(tmp_path)
    benchmark = {"name": "a.B.kernel_c", "params": [], "rounds": 2}
    measured = []

    class Suite(dict):
        benchmark_selection = MappingProxyType({})
        benchmark_dir = str(tmp_path / "benchmarks")

    def measure(*_, **__):
        measured.append(1.0 + len(measured))
        return BenchmarkResult([True], [[measured[-1]]], [1], 0, "", None)

    def answers_of(watching, round_number):
        found = []
        point = watching.around_point(measure)
        run = watching.around_run(lambda *_, **__: found.append(point(benchmark, None, 0)))
        environment = SimpleNamespace(installed_commit_hash="0" * 40, name="release", env_vars={})
        run(Suite({"a.B.kernel_c": benchmark}), environment, run_rounds=[round_number])
        return [answer.samples for answer in found]

    killed = run_hooks.OngoingRun(tmp_path / "spool")
    answers_of(killed, 2)
    killed.forget()
    answers_of(killed, 1)
    for _ in range(2):  # it is killed again, after its release is saved
        again = run_hooks.OngoingRun(tmp_path / "spool")
        again.command = "A B"
        assert [[[1.0]]] == answers_of(again, 2)
        again.forget()
        assert [[[2.0]]] == answers_of(again, 1)
        assert 2 == len(measured)
        again.forget()
        assert [] == list((tmp_path / run_hooks.FOLDER).glob("*.jsonl"))
    again.end()
    assert [] == list((tmp_path / run_hooks.FOLDER).rglob("*.jsonl"))
    fresh = run_hooks.OngoingRun(tmp_path / "spool")
    fresh.command = "A B"
    assert [[[3.0]]] == answers_of(fresh, 2)


def test_points_of_another_machine_or_processor_are_measured_again(tmp_path, monkeypatch):
    """They would be filed under a machine that has not measured them."""
    monkeypatch.chdir(tmp_path)
    benchmark, measured = {"name": "a.B.kernel_c", "params": []}, []

    class Suite(dict):
        benchmark_selection = MappingProxyType({})
        benchmark_dir = str(tmp_path / "benchmarks")

    def measure(*_, **__):
        measured.append(1)
        return BenchmarkResult(**ANSWER)

    def points_measured(machine, processor):
        monkeypatch.setattr(run_hooks.fingerprint, "silicon", lambda: processor)
        killed = run_hooks.OngoingRun(tmp_path / "spool")
        point = killed.around_point(measure)
        run = killed.around_run(lambda *_, **__: point(benchmark, None, 0))
        environment = SimpleNamespace(installed_commit_hash="0" * 40, name="release", env_vars={})
        results = Results({"machine": machine}, {}, "0" * 40, 0, "3", "release", {})
        run(Suite({"a.B.kernel_c": benchmark}), environment, results=results)
        return len(measured)

    runs = [("vm", "25/17/1"), ("vm", "25/17/1"), ("other", "25/17/1"), ("vm", "6/85/7")]
    assert [1, 1, 2, 3] == [points_measured(*each) for each in runs]


def test_no_samples_are_appended_to_points_of_a_history(tmp_path, monkeypatch):
    """Its times are not samples of one process; the other points are measured."""
    monkeypatch.chdir(tmp_path)
    results = Results({"machine": "vm"}, {}, "0" * 40, 0, "3", "release", {})
    of_history = {**RECORD, "ensemble": ENSEMBLE}
    other = {**RECORD, "params": [*OTHER[1]]}
    path = tmp_path / "results" / private_result_fields.path_of(results)
    path.parent.mkdir(parents=True)
    records = [{**each, "fingerprint": {"cpu": "abacus"}} for each in (of_history, other)]
    measurement_files.add(measurement_files.file_of(path), records)
    measured, said = [], []
    monkeypatch.setattr(run_hooks.log, "info", said.append)

    class Suite(dict):
        benchmark_selection = MappingProxyType({})
        benchmark_dir = str(tmp_path / "benchmarks")

    def measure(benchmark, spawner, index):
        measured.append(index)
        return BenchmarkResult(**ANSWER)

    params = [[repr(POINT[1][0]), repr(OTHER[1][0])], ["'float32'"]]
    benchmark = {"name": POINT[0], "params": params}
    run = run_hooks.OngoingRun(tmp_path / "spool")
    run.appending_to = tmp_path / "results"
    point, answers = run.around_point(measure), []
    loop = run.around_run(
        lambda *_, **__: answers.extend(point(benchmark, None, i) for i in (0, 1))
    )
    environment = SimpleNamespace(installed_commit_hash="0" * 40, name="release", env_vars={})
    loop(Suite({POINT[0]: benchmark}), environment, results=results)
    assert ([1], [True, False]) == (measured, [each is run_hooks.LEFT_OUT for each in answers])
    assert said[0].startswith("1 point is of a history")


def test_spools_that_killed_runs_left_are_removed(tmp_path, monkeypatch):
    """A process with the same number would file their records as its own."""
    monkeypatch.chdir(tmp_path)
    own, left = (run_command.SPOOLS.resolve() / name for name in ("7-new", "7-old"))
    for spool in (own, left):
        spool.mkdir(parents=True)
    with run_command.only_measurement(own):
        assert [own] == list(run_command.SPOOLS.resolve().iterdir())


def test_a_run_says_how_far_it_is_and_when_it_ends():
    """A line names the point, the count and the time that is left at the pace so far."""
    clock, said = Clock(), []
    progress = RunProgress(Counter({POINT: 1, OTHER: 9}), clock, said.append)
    progress.begin(POINT)
    assert [] == said
    clock.now = 20.0
    progress.end(POINT, 20.0)
    progress.begin(OTHER)
    clock.now = 22.0
    progress.begin(OTHER)
    assert [f"1 of 10 points, about 3 min 0 s left: now {OTHER[0]} {' '.join(OTHER[1])}"] == said


def test_the_time_left_is_that_of_the_same_points_where_they_are_known():
    """A second process takes the first one's time, others the benchmark's mean, or that of all."""
    left = Counter({("a", ("1",)): 2, ("a", ("2",)): 2, ("a", ("3",)): 2, ("b", ("1",)): 1})
    progress = RunProgress(left, Clock())
    progress.end(("a", ("1",)), 1.0)
    progress.skip(("a", ("2",)), 5.0)
    assert 1.0 + 5.0 + 2 * 3.0 + 3.0 == progress.remaining()
    progress.end(("b", ("1",)), 30.0)
    assert 1.0 + 5.0 + 2 * 3.0 == progress.remaining()


def test_the_end_of_a_run_says_where_the_time_went():
    """Kernels, the figures measured next to them, and all else add up to the whole; a point that an
    earlier run measured cost this one nothing."""
    clock = Clock()
    progress = RunProgress(Counter([POINT, OTHER]), clock)
    progress.skip(OTHER, 3.0)
    clock.now = 100.0
    spent = {"preparing": 9.0, "kernel": 60.0, "measuring": 80.0, "checking": 4.0}
    progress.end(POINT, 100.0, [{"spent": spent}, {"skipped": "too long"}])
    expected = (
        "2 of 2 points in 1 min 40 s, 100.0 s each: "
        "60% in the kernels, 20% in yardsticks and waiting, 20% outside "
        "(9% preparing, 4% checking outputs, 7% processes and skips)"
    )
    assert expected == progress.summary()


def test_a_run_of_skips_has_no_shares():
    """Where nothing was timed there is nothing to divide."""
    assert "" == shares([{"skipped": "no"}], 5.0)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.2, "1 s"), (89, "89 s"), (100, "1 min 40 s"), (1000, "16 min"), (7300, "2 h 1 min")],
)
def test_durations_are_spoken(seconds, expected):
    """One or two units, never more."""
    assert expected == duration_text(seconds)


def test_a_change_of_measuring_code_changes_the_conditions(tmp_path):
    """The digest follows the suite's own files and their tables, not other files."""
    (tmp_path / "gemm.py").write_text("rounds = 2")
    before = run_hooks._code(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing")
    assert before == run_hooks._code(tmp_path)
    (tmp_path / "gemm.py").write_text("rounds = 3")
    assert before != run_hooks._code(tmp_path)


@pytest.mark.parametrize("part", ["models/layers.py", "random_operands.py", "run_conditions.py"])
def test_networks_operands_and_conditions_are_measuring_code(tmp_path, monkeypatch, part):
    """They decide a time as much as the clock does."""
    for name in ("models/layers.py", "random_operands.py", "run_conditions.py"):
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    monkeypatch.setattr(
        run_hooks.deepbench_ops, "__file__", str(tmp_path / "package" / "__init__.py")
    )
    before = run_hooks._code(tmp_path / "benchmarks")
    (tmp_path / "package" / part).write_text("after")
    assert before != run_hooks._code(tmp_path / "benchmarks")


def test_a_variable_that_decides_what_is_measured_is_a_condition(monkeypatch):
    """Every variable of the project counts, but for folders: records, answers and references."""
    monkeypatch.setenv("DEEPBENCH_SPOOL", "here")
    before = run_hooks._variables()
    monkeypatch.setenv("DEEPBENCH_SPOOL", "there")
    monkeypatch.setenv("DEEPBENCH_ANSWERS", "there")
    monkeypatch.setenv("DEEPBENCH_REFERENCES", "there")
    assert before == run_hooks._variables()
    monkeypatch.setenv("DEEPBENCH_CALL_LIMIT", "0.125")
    assert {**before, "DEEPBENCH_CALL_LIMIT": "0.125"} == run_hooks._variables()


def test_answers_last_while_one_release_is_measured(tmp_path, monkeypatch):
    """The cache of a release is emptied before the next one begins."""
    monkeypatch.setenv("DEEPBENCH_ANSWERS", str(tmp_path / "answers"))
    rates, found = RunCache("rate"), []
    rates.put("float32", 1.0)

    class Suite(dict):
        benchmark_selection = MappingProxyType({})
        benchmark_dir = str(tmp_path)

    def run(*_, **__):
        found.append(RunCache("rate").get("float32"))

    run_hooks.OngoingRun(tmp_path).around_run(run)(
        Suite(), SimpleNamespace(installed_commit_hash="", env_vars={}), profile=True
    )
    assert found == [None]


def test_nominal_readings_are_no_condition_of_a_journal(monkeypatch):
    """A state of the machine met since the kill adds one; the journal's points still count."""
    monkeypatch.setenv("DEEPBENCH_CORES", "near")
    before = run_hooks._variables()
    monkeypatch.setenv(nominal_readings.VARIABLE, '{"1": 0.5}')
    assert before == run_hooks._variables()
    assert "near" == before["DEEPBENCH_CORES"]


def test_parameters_are_named_as_a_person_would(tmp_path):
    """asv's quotes are taken off; a benchmark without parameters has its name alone."""
    benchmark = {"name": "a.B.kernel_c", "params": [["'x'", "'y'"], ["'float32'", "'int8'"]]}
    assert ("a.B.kernel_c", ("y", "float32")) == run_hooks._point(benchmark, 2)
    assert ("a", ()) == run_hooks._point({"name": "a", "params": []}, 0)
    assert 4 == len(run_hooks.selected(benchmark, None))
    assert [("a.B.kernel_c", ("y", "int8"))] == run_hooks.selected(benchmark, {3})


def test_answers_survive_the_journal_as_asv_gave_them(tmp_path):
    """Skips (NaN) and samples come back as they were, so that a result file does not differ."""
    answer = run_hooks.BenchmarkResult([float("nan")], [None], [None], 0, "skipped", None)
    RunJournal(tmp_path, {}).add(POINT, MeasuredPoint(answer._asdict(), []))
    back = run_hooks.BenchmarkResult(**RunJournal(tmp_path, {}).take(POINT).answer)
    assert json.dumps(answer) == json.dumps(back)


def test_a_run_with_a_limit_begins_no_point_after_it(tmp_path, monkeypatch):
    """Points that are left out take the place of no stored value, and the command goes on later."""
    monkeypatch.setattr(run_hooks, "FOLDER", tmp_path / "unfinished")
    run = run_hooks.OngoingRun(tmp_path)
    run._progress = RunProgress(Counter([POINT, OTHER]), say=lambda line: None)
    benchmark = {"name": POINT[0], "params": [["'m1_n1_k1_NN'", "'m2_n1_k1_NN'"], ["'float32'"]]}
    answers = iter([BenchmarkResult(**ANSWER)])
    measure = run.around_point(lambda *_, **__: next(answers))
    assert [True] == measure(benchmark, None, 0).result
    run.until = time.monotonic()
    assert run_hooks.LEFT_OUT == measure(benchmark, None, 1)
    again = measure(benchmark, None, 0)  # in a later round: its answer of before, not nothing
    assert [True] == again.result
    forgotten = []
    monkeypatch.setattr(run_hooks, "forget_saved", lambda *_: forgotten.append(1))
    run.end()
    assert [] == forgotten


@pytest.mark.parametrize("text", ["soon", "0", "-3", "nan"])
def test_a_limit_is_a_number_of_seconds_above_zero(text):
    assert math.inf == run_hooks.limit({})
    assert 90 < run_hooks.limit({"DEEPBENCH_RUN_LIMIT": "100"}) - time.monotonic() <= 100
    with pytest.raises(UserError, match=f"DEEPBENCH_RUN_LIMIT is '{text}': give a number"):
        run_hooks.limit({"DEEPBENCH_RUN_LIMIT": text})


@pytest.mark.parametrize("stored", [[math.nan, None], [math.nan, 2.0]])
def test_a_benchmark_that_the_limit_left_without_a_time_is_not_stored(tmp_path, stored):
    """It would look skipped; one with a time of an earlier round stays."""

    class Stored:
        removed = ()

        def get_all_result_keys(self):
            return [POINT[0]]

        def get_result_params(self, key):
            return []

        def get_result_value(self, key, params):
            return stored

        def remove_result(self, key):
            self.removed = (key,)

    run = run_hooks.OngoingRun(tmp_path)
    run._progress, run.until = (
        RunProgress(Counter([POINT]), say=lambda line: None),
        time.monotonic(),
    )
    benchmark = {"name": POINT[0], "params": [["'m1_n1_k1_NN'"], ["'float32'"]]}
    run.around_point(lambda *_, **__: pytest.fail("begun"))(benchmark, None, 0)
    run._results = Stored()
    run._remove_not_begun()
    assert (() if 2.0 in stored else (POINT[0],)) == run._results.removed


def test_find_takes_no_cached_value_of_another_release(tmp_path, monkeypatch):
    """Checks that one release has passed, and its estimates, are asked for again."""
    monkeypatch.setenv(run_cache.FOLDER_VARIABLE, str(tmp_path / "answers"))
    found = []
    monkeypatch.setattr(
        find_command,
        "run_benchmarks",
        lambda: found.append(RunCache("checks").get("kernel")),
    )
    RunCache("checks").put("kernel", "passed")
    (patch,) = [row for row in run_hooks.PATCHES if row.owner is find_command]
    with patch.applied():
        find_command.run_benchmarks()
    assert [None] == found


def test_a_run_whose_limit_is_over_before_its_first_point_says_so(tmp_path, monkeypatch):
    """As where the kernels that join a history took all of it."""
    monkeypatch.chdir(tmp_path)
    run = run_hooks.OngoingRun(tmp_path / "spool")
    run.until = -1.0
    benchmark = {"name": "a.B.kernel_c", "params": []}

    class Suite(dict):
        benchmark_selection = MappingProxyType({})
        benchmark_dir = str(tmp_path / "benchmarks")

    point = run.around_point(lambda *_, **__: None)
    whole = run.around_run(lambda *_, **__: point(benchmark, None, 0))
    said = []
    monkeypatch.setattr(run_hooks.log, "info", said.append)
    environment = SimpleNamespace(installed_commit_hash="0" * 40, name="release", env_vars={})
    whole(Suite({"a.B.kernel_c": benchmark}), environment)
    assert "DEEPBENCH_RUN_LIMIT is over: the same command goes on from here" == said[-1]
