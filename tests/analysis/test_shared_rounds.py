"""Verdicts from rounds that two releases share: the rounds that count, and their verdict."""

import math
from datetime import date
from itertools import pairwise

import numpy as np
import orjson
import pytest
from example_points import GEMMS

from deepbench_ops.analysis import lines_with_rounds, shared_rounds
from deepbench_ops.analysis.change_causes import causes
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Origin, Point
from deepbench_ops.analysis.shared_rounds import JudgedSteps, SharedStep
from deepbench_ops.commands import verdict, verdict_steps
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import ensemble_round_json
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.pages import cached_line_encoding, verdict_page
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CACHE
from deepbench_ops.storage import ensemble_round_files

NAMES = ["numpy-1.0", "numpy-2.0", "numpy-3.0"]
RELEASES = [Release("numpy", f"{number}.0", date(2020 + number, 1, 1)) for number in (1, 2, 3)]


def point(release: Release, problem: str, seconds: float = 1e-3) -> Point:
    """Return a point of one process."""
    return Point(
        machine="m",
        release=release,
        family="gemm",
        set="training",
        operation="forward",
        problem_id=problem,
        precision="float32",
        ranks=None,
        device="cpu",
        cache="warm",
        layout="published",
        execution="eager",
        seconds=seconds,
        low=None,
        high=None,
        samples=1,
    )


def line(problem: str) -> Line:
    """Return a line of three releases with a process each, too short for the detector."""
    return Line(tuple(point(release, problem) for release in RELEASES))


def rounds(steps, count: int = 10, seed: int = 1, noise: float = 0.005, **fields) -> list[Round]:
    """Return rounds of three releases that lie so far apart in logarithms, with so much noise."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        levels = np.cumsum([0.0, *steps]) + random.normal(0, noise, 3)
        sweeps = np.exp(levels + random.normal(0, 0.005, (12, 3))) * 1e-3
        one = Round([dict(zip(NAMES, row, strict=True)) for row in sweeps.tolist()], **fields)
        one.id, one.started_at, one.anchor = f"r{number}", float(number), NAMES[-1]
        found.append(one)
    return found


def task(problem: str):
    return shared_rounds.task_of(point(RELEASES[0], problem))


def between(found: list[Round], before: Point, after: Point) -> SharedStep | None:
    return JudgedSteps({task("a"): found}).between(before, after)


def test_short_lines_are_judged_by_shared_rounds():
    """Three releases of one process each: 5 % between the last two is found, and nothing else."""
    (found,) = lines_with_rounds.joined([line("a")], {task("a"): rounds([0.0, 0.05])})
    assert not line("a").judgeable
    assert found.judgeable
    (shift,) = found.changes
    assert ("numpy-2.0", "numpy-3.0") == (shift.before.release.name, shift.after.release.name)
    assert pytest.approx(math.exp(0.05), abs=0.01) == shift.change.ratio
    assert "10 shared rounds" == shift.origin


def test_too_few_rounds_decide_nothing():
    """Two of them leave the line as it was."""
    before = line("a")
    (found,) = lines_with_rounds.joined([before], {task("a"): rounds([0.5, 0.5], count=2)})
    assert before == found


def test_rounds_of_one_state_are_compared():
    """Of two states that of the points counts, or the one with more rounds."""
    mixed = rounds([0.0, 0.1], 6, state="near") + rounds([0.0, 0.4], 5, seed=2, state="far")
    before, after = (point(release, "a") for release in RELEASES[1:])
    near = between(mixed, before, after)
    assert ("6 shared rounds, near", "near") == (near.origin, near.state)
    far = between(mixed, before._replace(state="far"), after._replace(state="far"))
    assert pytest.approx(math.exp(0.4), rel=0.02) == far.verdict.ratio


def test_rounds_under_other_conditions_do_not_count():
    """External settings that differ, and a cold cache."""
    before, after = (point(release, "a")._replace(settings=()) for release in RELEASES[1:])
    plain = rounds([0.0, 0.1], conditions={"settings": ""})
    steered = rounds([0.0, 0.1], conditions={"settings": "OPENBLAS_CORETYPE=Haswell"})
    cold = rounds([0.0, 0.1], conditions={CACHE.name: "cold"})
    assert between(plain, before, after) is not None
    assert between(steered, before, after) is None
    assert between(cold, before, after) is None


def test_rounds_on_other_threads_do_not_count():
    """Those of a kernel on two threads and on one: each point has its own, unknown ones have all,
    and points on different threads share none."""
    two = rounds([0.0, 0.1], 6, conditions={"threads": "2"})
    both = [*two, *rounds([0.0, 0.4], 5, seed=2, conditions={"threads": "1"})]
    unknown = [point(release, "a") for release in RELEASES[1:]]
    before, after = (each._replace(threads="2") for each in unknown)
    found = between(both, before, after)
    assert 6 == found.verdict.rounds
    assert pytest.approx(math.exp(0.1), rel=0.02) == found.verdict.ratio
    assert between(both, before._replace(threads="1"), after) is None
    assert 11 == between(both, *unknown).verdict.rounds


def test_steps_judged_together_are_those_of_one_after_the_other():
    """Of a kernel with ten rounds, one with four of two releases, and one without."""
    shared = {task("a"): rounds([0.0, 0.1]), task("b"): rounds([0.1, 0.0], 4, seed=1)}
    for each in shared[task("b")]:
        for sweep in each.sweeps:
            del sweep[NAMES[0]]
    pairs = [
        (point(before, kernel), point(after, kernel))
        for kernel in ("a", "b", "c")
        for before, after in pairwise(RELEASES)
    ]
    together = JudgedSteps(shared)
    together.judge(pairs)
    found = [together.between(*pair) for pair in pairs]
    assert [JudgedSteps(shared).between(*pair) for pair in pairs] == found
    assert [True, True, False, True, False, False] == [each is not None for each in found]


def test_kernels_of_a_cause_have_one_mean():
    """Five kernels about 3 % slower: the mean is narrower than each of them."""
    problems = ["a", "b", "c", "d", "e"]
    shared = {task(each): rounds([0.0, 0.03], seed=i) for i, each in enumerate(problems)}
    (cause,) = causes(lines_with_rounds.joined([line(each) for each in problems], shared))
    assert cause.slower
    assert 5 == len(cause.shifts)
    assert "10 shared rounds" == cause.origin
    low, high = cause.interval
    assert low < math.exp(0.03) < high
    widths = [shift.change.high - shift.change.low for shift in cause.shifts]
    assert high - low < min(widths)


def test_the_mean_says_how_many_kernels_count_in_it():
    """The ratio of a cause never stands next to an interval of fewer kernels."""
    problems = GEMMS[:5]
    shared = {task(each): rounds([0.0, 0.03], seed=i) for i, each in enumerate(problems[:4])}
    shared[task(problems[4])] = rounds([0.0, 0.7], noise=0.2)
    (cause,) = causes(lines_with_rounds.joined([line(each) for each in problems], shared))
    assert (5, 4, None) == (len(cause.shifts), cause.pooled.kernels, cause.interval)
    assert any("; mean of 4 kernels: 1.0" in text for text in verdict._row(cause, None))
    assert verdict_page.row(cause)["mean_range"].endswith(" (4 of 5 kernels)")


def in_set(published_set: str, problem: str, ensemble: bool = True) -> Line:
    """Return a line of one set, filed by a history or measured by processes of its own."""
    origin = Origin("numpy.jsonl.gz", NAMES[-1], 10, 1.0, 0.99, 1.01, (9e-4, 1.1e-3))
    return Line(
        tuple(
            each._replace(set=published_set, ensemble=origin if ensemble else None)
            for each in line(problem).points
        )
    )


def test_a_kernel_of_several_sets_is_one_kernel():
    """A history files the same rounds in each set: they are judged, and counted, once."""
    shared = {task("a"): rounds([0.0, 0.05])}
    alone = lines_with_rounds.joined([in_set("training", "a")], shared)
    twice = [in_set("training", "a"), in_set("inference_device", "a")]
    joined = lines_with_rounds.joined(twice, shared)
    assert [alone[0].shared] * 2 == [each.shared for each in joined]
    assert ["inference_device"] == [
        each.points[0].set for each in lines_with_rounds.distinct(joined)
    ]
    assert 1 == len(causes(lines_with_rounds.distinct(joined)))


def test_a_kernel_of_several_sets_with_older_times_of_their_own_is_one_kernel():
    """The line with the most points stands for both, and each step is judged once."""
    shared = {task("a"): rounds([0.0, 0.05])}
    own, other = in_set("training", "a"), in_set("inference_device", "a")
    older = Release("numpy", "0.9", date(2020, 1, 1))
    longer = Line((own.points[0]._replace(release=older, ensemble=None), *own.points), own.shared)
    joined = lines_with_rounds.joined([longer, other], shared)
    assert [[1, 2], [0, 1]] == [[place for place, _ in each.shared] for each in joined]
    assert [step for _, step in joined[0].shared] == [step for _, step in joined[1].shared]
    assert ["training"] == [each.points[0].set for each in lines_with_rounds.distinct(joined)]


def test_sets_that_were_measured_apart_stay_apart():
    """Each has times of its own, and other kernels are never the same."""
    lines = [
        in_set("training", "a", ensemble=False),
        in_set("inference_device", "a", ensemble=False),
        in_set("inference_device", "b"),
    ]
    assert lines == lines_with_rounds.distinct(lines)


def test_lines_with_shared_rounds_are_cached(tmp_path):
    """Lines that pages store as JSON come back the same, changes too."""
    (found,) = lines_with_rounds.joined([line("a")], {task("a"): rounds([0.0, 0.05])})
    assert found.changes
    stored = orjson.loads(
        orjson.dumps(cached_line_encoding.encode(([found], MachineRecord("m", {}), [])))
    )
    (again,), _, _ = cached_line_encoding.decode(stored)
    assert found == again
    assert [shift.origin for shift in found.changes] == [shift.origin for shift in again.changes]


def test_filed_rounds_are_read_with_their_states(tmp_path):
    """From the file next to the results; a state follows from latencies at two levels."""
    taken = rounds([0.0, 0.1], count=8)
    for number, each in enumerate(taken):
        each.latencies = [200.0, 205.0] if number < 4 else [480.0, 490.0]
    lines = [ensemble_round_json.entry_of(task("a"), each) for each in taken]
    path = ensemble_round_files.path_of(tmp_path / "m", "numpy")
    path.parent.mkdir(parents=True)
    entries = [entry for _, entry in lines]
    ensemble_round_files.write(path, ensemble_round_files.RoundsFile({}, entries))
    found = shared_rounds.load(tmp_path, "m")[task("a")]
    assert ["near"] * 4 + ["far"] * 4 == [each.state for each in found]
    assert {} == shared_rounds.load(tmp_path, "other")


def test_steps_are_listed_by_size_with_the_code_that_ran(capsys):
    """Beyond 3 %: one of two steps, as a table and as JSON, once for two sets."""
    code = {"numpy-2.0": "openblas Zen", "numpy-3.0": "openblas Haswell"}
    lines = [line("a"), Line(tuple(p._replace(set="device") for p in line("a").points))]
    shared = {task("a"): rounds([0.02, 0.05], implementations=code)}
    found = verdict_steps.steps_beyond(lines_with_rounds.joined(lines, shared), 0.03)
    assert ["numpy-3.0"] == [step.after.release.name for step in found]
    verdict_steps.print_steps(found, "markdown")
    assert "openblas Zen -> openblas Haswell" in capsys.readouterr().out
    with pytest.raises(DeepbenchError, match="no two releases share rounds"):
        verdict_steps.steps_beyond([line("a")], 0.03)
