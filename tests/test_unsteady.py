"""Points whose processes disagree are found, and picked for asv."""

import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.commands.unsteady import unsteady as command
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.results import unsteady

NAME = "gemm.Training.kernel_forward"


def entry(problem, seconds, yardstick=(), **more):
    """A record of one process, as measuring leaves it."""
    return {
        "benchmark": NAME,
        "params": [problem, "float32"],
        "release": "numpy-2.4.6",
        "seconds": list(seconds),
        "yardstick": list(yardstick),
        **more,
    }


@pytest.fixture
def results(tmp_path):
    """A machine with one steady point, one unsteady, one measured once and one skipped."""
    records = [
        entry("steady", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        entry("steady", [10.0, 11.0], [10.0, 10.0]),
        entry("unsteady", [1.0], [1.0]),
        entry("unsteady", [1.5], [1.0]),
        entry("once", [1.0]),
        {**entry("skipped", [1.0]), "skipped": "too long"},
    ]
    (tmp_path / "box").mkdir()
    path = tmp_path / "box" / "0123-x.measurements.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def test_calibrated_medians_are_compared(results):
    """Only what was measured in two processes counts, and by its ratio to the yardstick."""
    found = unsteady.spread(unsteady.of_release(results / "box", "numpy-2.4.6"))
    expected = {(NAME, ("steady", "float32")): 0.05, (NAME, ("unsteady", "float32")): 0.5}
    assert expected == pytest.approx(found)


def test_processes_under_other_conditions_are_not_compared(results):
    """A layout's or an execution's speed is its own; the widest of them counts."""
    path = results / "box" / "0123-x-DEEPBENCH_EXECUTIONcompiled.measurements.jsonl"
    records = [entry("once", [3.0], [1.0]), entry("steady", [1.0], [1.0]), entry("steady", [1.2])]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = unsteady.spread(unsteady.of_release(results / "box", "numpy-2.4.6"))
    assert (NAME, ("once", "float32")) not in found
    assert 0.2 == pytest.approx(found[NAME, ("steady", "float32")])


def test_without_a_yardstick_raw_seconds_are_compared():
    """A device that has none can be unsteady as well."""
    found = unsteady.spread([entry("a", [1.0]), entry("a", [3.0])])
    assert {(NAME, ("a", "float32")): 2.0} == found


@given(st.lists(st.text("abmnk0123._x", min_size=1), min_size=1, max_size=5, unique=True))
def test_the_pattern_picks_these_points_only(problems):
    """asv searches it in the benchmark's name with the repr of its parameters."""
    pattern = re.compile(unsteady.pattern((NAME, (name, "float32")) for name in problems[1:]))
    shown = [f"{NAME}({name!r}, 'float32')" for name in problems]
    assert [False] + [True] * len(shown[1:]) == [bool(pattern.search(text)) for text in shown]


def test_the_command_prints_a_pattern_and_says_how_many(results):
    """The pattern alone goes to stdout, so that a shell can hand it to asv."""
    arguments = ["numpy-2.4.6", "--machine", "box", "--results", str(results)]
    done = CliRunner().invoke(command, arguments)
    assert unsteady.pattern([(NAME, ("unsteady", "float32"))]) + "\n" == done.stdout
    assert "1 of 2 points lie more than 20% apart" in done.stderr
    assert "unsteady float32, by 50%" in done.stderr


def test_nothing_unsteady_picks_nothing(results):
    """The pattern matches no benchmark at all, rather than all of them."""
    arguments = ["numpy-2.4.6", "--machine", "box", "--results", str(results), "--beyond", "0.6"]
    done = CliRunner().invoke(command, arguments)
    assert not re.search(done.stdout.strip(), f"{NAME}('steady', 'float32')")


@pytest.mark.parametrize(
    ("machine", "release", "limit", "message"),
    [
        ("bix", "numpy-2.4.6", 0.2, "unknown machine 'bix'.*box"),
        ("box", "numpy-2.4.5", 0.2, "unknown measured release 'numpy-2.4.5'.*numpy-2.4.6"),
        ("box", "numpy-2.4.6", 0.0, "no share above 0"),
        ("box", "numpy-2.4.6", float("nan"), "no share above 0"),
    ],
)
def test_bad_input_is_named(results, machine, release, limit, message):
    """A machine, release or limit that does not exist ends in one line."""
    with pytest.raises(DeepbenchError, match=message):
        unsteady.beyond(unsteady.spread(unsteady.of_release(results / machine, release)), limit)
