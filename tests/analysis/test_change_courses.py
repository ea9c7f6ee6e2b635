"""The course of a change is that of the line on which it was found."""

import pytest
from example_points import RELEASES, point

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.change_courses import Courses
from deepbench_ops.analysis.change_detection import Change
from deepbench_ops.analysis.kernel_lines import Line, lines
from deepbench_ops.measure.machine_states import FAR, NEAR


def slower_after_the_second(line: Line) -> Cause:
    """Return a change of the line between its second and its third release."""
    shift = line.shift(Change(2, 2.0, 1.9, 2.1, 1.0))
    before, after = shift.before.release, shift.after.release
    return Cause("box", before, after, True, "kernel", (shift,), 1)


def test_unknown_settings_and_none_are_of_one_course():
    """Settings of releases before they were recorded are unknown; the newest release has none."""
    points = [
        point(release=release, settings=None if release != RELEASES[-1] else ())
        for release in RELEASES
    ]
    (line,) = lines(points, RELEASES)
    course = Courses([line]).of(slower_after_the_second(line))
    assert [(release, 1.0) for release in RELEASES] == course


def test_a_change_in_one_state_of_the_machine_has_the_course_of_that_state():
    """A kernel has a line in each state, so its name does not say which line changed."""
    seconds = {NEAR: (1.0, 1.0, 2.0, 2.0), FAR: (4.0, 4.0, 4.0, 4.0)}
    points = [
        point(release=release, state=state, seconds=value)
        for state, values in seconds.items()
        for release, value in zip(RELEASES, values, strict=True)
    ]
    found = lines(points, RELEASES)
    far, near = found
    course = Courses(found).of(slower_after_the_second(near))
    assert pytest.approx([1, 1, 2, 2]) == [ratio for _, ratio in course]
    assert pytest.approx([1] * 4) == [
        ratio for _, ratio in Courses(found).of(slower_after_the_second(far))
    ]
