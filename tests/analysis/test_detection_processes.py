"""Detection in several processes finds the changes that detection in one finds."""

import random
from datetime import date

from example_points import GEMMS, point

from deepbench_ops import work_on_cores
from deepbench_ops.analysis import detection_processes
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.releases.release_table import Release

RELEASES = [Release("torch", f"2.{n}.0", date(2020 + n // 12, 1 + n % 12, 1)) for n in range(24)]


def example_lines():
    """Lines, every other one with a step, and one that is too short."""
    draw = random.Random(1)
    found = []
    for kernel, problem in enumerate(GEMMS[:6]):
        points = [
            point(
                problem_id=problem,
                release=release,
                seconds=draw.lognormvariate(0, 0.01) * (1.2 if kernel % 2 and number > 11 else 1),
            )
            for number, release in enumerate(RELEASES)
        ]
        found.append(Line(tuple(points)))
    return [*found, Line(found[0].points[:5])]


def test_processes_find_what_one_process_finds(monkeypatch):
    """Each line keeps the changes along it; short ones have none."""
    monkeypatch.setattr(detection_processes, "FEWEST_LINES", 1)
    monkeypatch.setattr(work_on_cores, "cores", lambda: 2)
    together, alone = example_lines(), example_lines()
    assert together == detection_processes.detect([together[:3], together[3:]])
    assert [True] * 6 + [False] == ["detected" in vars(line) for line in together]
    assert [line.detected for line in alone] == [line.detected for line in together]
    assert 3 == sum(bool(line.changes) for line in together)


def test_few_lines_start_no_process(monkeypatch):
    """This one computes their changes."""
    monkeypatch.setattr(work_on_cores, "results", None)
    few, alone = example_lines(), example_lines()
    assert few == detection_processes.detect([few])
    assert [line.detected for line in alone[:6]] == [vars(line)["detected"] for line in few[:6]]
