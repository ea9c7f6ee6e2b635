"""`deepbench bisect`: which release was the first slow one, or why there is no answer."""

import math
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import simulated_rounds
from click.testing import CliRunner

pytest.importorskip("scipy", reason="verdicts need the `track` extra")
from deepbench_ops.analysis.bisection import bisect
from deepbench_ops.commands.bisect import bisect as command
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import ensemble_sweeps
from deepbench_ops.releases import release_from_wheel_file, worker_launch
from deepbench_ops.releases.release_table import Release

RELEASES = [Release("numpy", f"2.{n}.0", date(2024, 1, 1 + n)) for n in range(9)]


def machine(levels, noise=0.01, seed=0):
    """A measurement of two releases at these levels; rounds scatter by `noise`."""
    random = np.random.default_rng(seed)
    asked = []

    def measure(before, after, rounds, first):
        asked.append((after, rounds, first))
        ratio = levels[RELEASES.index(after)] / levels[RELEASES.index(before)]
        found = []
        for level in random.normal(math.log(ratio), noise, rounds):
            ratios = np.exp(level + random.normal(0, 0.01, 20))
            found.append(simulated_rounds.of_ratios(before.name, after.name, ratios))
        return found

    measure.asked = asked
    return measure


@pytest.mark.parametrize("first_slow", range(1, 9))
def test_the_first_slow_release_is_found(first_slow):
    """Wherever it stands, with at most four comparisons and no more rounds than it takes."""
    levels = [1.0] * first_slow + [1.1] * (9 - first_slow)
    measure = machine(levels, seed=first_slow)
    found = bisect(RELEASES, measure, 20)
    assert RELEASES[first_slow] == found.first_slow
    assert RELEASES[first_slow - 1] == found.last_good
    assert found.sure
    assert len(found.steps) <= 4
    assert sum(rounds for _, rounds, _ in measure.asked) <= 4 * 10


def test_nothing_slower_is_said_after_one_comparison():
    """The same level, or a faster one, at the end."""
    for last in (1.0, 0.9):
        found = bisect(RELEASES, machine([1.0] * 8 + [last]), 20)
        assert (None, True, 1) == (found.first_slow, found.sure, len(found.steps))


def test_an_open_question_is_not_guessed():
    """Noise that hides the change ends in no answer, after all rounds allowed."""
    measure = machine([1.0] * 4 + [1.05] * 5, noise=0.2)
    found = bisect(RELEASES, measure, 12)
    assert (None, False) == (found.first_slow, found.sure)
    assert [5, 5, 2] == [rounds for _, rounds, _ in measure.asked]


def test_a_further_look_has_other_random_orders():
    """They follow from the numbers of the rounds, which go on from those before."""
    measure = machine([1.0] * 4 + [1.05] * 5, noise=0.2)
    bisect(RELEASES, measure, 12)
    assert [0, 5, 10] == [first for _, _, first in measure.asked]


@pytest.mark.slow
def test_looking_often_finds_no_more_in_noise():
    """Of 300 searches between equal releases at most one in a hundred names a slow one."""
    found = [bisect(RELEASES[:2], machine([1.0, 1.0], seed=seed), 20) for seed in range(300)]
    assert sum(one.first_slow is not None for one in found) <= 3


def test_a_release_half_slow_leaves_a_span():
    """One in the middle between good and slow is on neither side: only the span is known."""
    found = bisect(RELEASES[:3], machine([1.0, math.sqrt(1.1), 1.1], noise=0.02), 10)
    assert (RELEASES[0], RELEASES[2], False) == (found.last_good, found.first_slow, found.sure)


def test_what_cannot_be_measured_is_left_out():
    """A release whose install fails is passed over, and named."""
    measure = machine([1.0] * 5 + [1.1] * 4)

    def failing(before, after, rounds, first):
        if after == RELEASES[4]:
            raise DeepbenchError("no wheel for this Python")
        return measure(before, after, rounds, first)

    found = bisect(RELEASES, failing, 20)
    assert {"numpy-2.4.0": "no wheel for this Python"} == found.left_out
    assert (RELEASES[3], RELEASES[5]) == (found.last_good, found.first_slow)


def test_one_release_is_no_span():
    with pytest.raises(DeepbenchError, match="two releases or more"):
        bisect(RELEASES[:1], machine([1.0]), 20)


@pytest.fixture
def simulated(monkeypatch):
    """The command measures nothing: releases from numpy 2.0 on take 1.2 times as long."""
    random, numbers = np.random.default_rng(2), []

    def run_rounds(launches, tasks, rounds, first):
        numbers.append(range(first, first + rounds))
        before, after = launches.values()
        ratio = math.prod(1.2 if each >= "2" else 1.0 for each in (after, before)) / (
            1.44 if before >= "2" else 1.0
        )
        noise = np.exp(random.normal(0, 0.01, rounds))
        found = [simulated_rounds.of_ratios(*launches, [ratio * one] * 20) for one in noise]
        return dict.fromkeys(tasks, found)

    monkeypatch.setattr(worker_launch, "launch", lambda release, *_: release.version)
    monkeypatch.setattr(ensemble_sweeps, "run_rounds", run_rounds)
    return numbers


def run(*arguments):
    return CliRunner().invoke(command, list(arguments))


def test_the_command_names_it(simulated):
    """The first slow and the last good release; status 1."""
    done = run("m3072_n1_k128_NN", "numpy-1.24.4..numpy-2.4.6")
    assert "first slow: numpy-2.0.0; last good: numpy-1.26.4" in done.output
    assert 1 == done.exit_code


def test_the_command_says_when_nothing_is_slower(simulated):
    done = run("m3072_n1_k128_NN", "numpy-2.0.2..numpy-2.4.6")
    assert (0, True) == (done.exit_code, done.output.endswith("not slower\n"))


def test_the_command_numbers_the_rounds_of_a_comparison(simulated):
    """From 0, and in each further look from those that it has."""
    run("m3072_n1_k128_NN", "numpy-2.0.2..numpy-2.4.6")
    assert [range(5), range(5, 10)] == simulated


def an_empty_wheel(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("empty.dist-info/METADATA", "")


def test_wheels_stand_between_the_ends(simulated, tmp_path):
    """Nightlies in the order given, instead of the releases of the table."""
    names = ["numpy-1.26.5.dev1-cp311-none-any.whl", "numpy-2.0.0.dev1-cp311-none-any.whl"]
    files = [tmp_path / name for name in names]
    for file in files:
        an_empty_wheel(file)
    given = [text for file in files for text in ("--wheel", str(file))]
    done = run("m3072_n1_k128_NN", "numpy-1.26.4..numpy-2.0.2", *given)
    assert "first slow: numpy-2.0.0.dev1; last good: numpy-1.26.5.dev1" in done.output


def test_a_wheel_is_installed_from_its_file(tmp_path):
    """With the companions of the release next to it."""
    like = Release("torch", "2.13.0", date(2026, 1, 1), pins=("numpy==2.4.6",))
    file = tmp_path / "torch-2.14.0.dev20261101+cpu-cp311-cp311-linux_x86_64.whl"
    an_empty_wheel(file)
    found = release_from_wheel_file.read(file, like)
    assert f"torch @ {file.as_uri()}" == found.requirement
    assert ("torch-2.14.0.dev20261101+cpu", like.pins) == (found.name, found.pins)
    assert found.hash != like.hash


@pytest.mark.parametrize(
    ("name", "offender"),
    [
        ("numpy.zip", "has not the name of a wheel"),
        ("scipy-1.0-py3-none-any.whl", "a wheel of scipy"),
        ("numpy-9.9-py3-none-any.whl", "no such file"),
    ],
)
def test_what_is_no_such_wheel(name, offender):
    with pytest.raises(DeepbenchError, match=offender):
        release_from_wheel_file.read(Path(name), RELEASES[0])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not found", "is no wheel, which is a zip file"),
        (b"", "is no wheel, which is a zip file"),
        ({"numpy/__init__.py": ""}, "is no wheel, since it holds no METADATA"),
    ],
)
def test_a_junk_wheel_is_named(tmp_path, content, reason):
    """A file with a wheel's name that is none is refused before pip sees it."""
    junk = tmp_path / "numpy-9.9-py3-none-any.whl"
    if isinstance(content, bytes):
        junk.write_bytes(content)
    else:
        with zipfile.ZipFile(junk, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    with pytest.raises(DeepbenchError, match=reason):
        release_from_wheel_file.read(junk, RELEASES[0])


@pytest.mark.parametrize(
    ("arguments", "offender"),
    [
        (["m1", "numpy-1.26.4..numpy-2.0.2"], "m1"),
        (["m3072_n1_k128_NN", "numpy-1.26.4"], "no span"),
        (["m3072_n1_k128_NN", "numpy-1..numpy-2.0.2"], "numpy-1"),
        (["m3072_n1_k128_NN", "numpy-2.0.2..numpy-1.26.4"], "older release comes first"),
        (["m3072_n1_k128_NN", "numpy-2.0.2..numpy-2.0.2"], "both are numpy-2.0.2"),
        (["m3072_n1_k128_NN", "numpy-2.0.2..torch-2.13.0"], "one framework"),
        (["m3072_n1_k128_NN", "numpy-1.26.4..numpy-2.0.2", "--operation", "back"], "back"),
    ],
)
def test_wrong_input_gets_a_line(arguments, offender):
    done = run(*arguments)
    assert isinstance(done.exception, DeepbenchError)
    assert offender in str(done.exception)
    assert "\n" not in str(done.exception)
