"""Devices of one machine are apart wherever its times are compared, and are named."""

from datetime import date

import pytest
from example_points import GEMMS, point

from deepbench_ops.analysis.fastest_machine_by_kernel import records
from deepbench_ops.analysis.frameworks_by_family import matrix
from deepbench_ops.analysis.frameworks_by_kernel import Contest, contests, noises
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.machine_ranking_by_family import rankings
from deepbench_ops.analysis.points import Point, devices_of_machines
from deepbench_ops.commands import fastest, frameworks
from deepbench_ops.pages import framework_comparison_data, framework_page
from deepbench_ops.problems import load
from deepbench_ops.problems.selections import select
from deepbench_ops.releases.release_table import Release

NUMPY = Release("numpy", "2.4.6", date(2026, 7, 1))
TORCH = point().release
SECONDS = {
    (NUMPY, "cpu"): 1.0,
    (TORCH, "cpu"): 2.0,
    (NUMPY, "cuda"): 0.03,
    (TORCH, "cuda"): 0.01,
}


def on_both_devices(machine: str = "box") -> list[Point]:
    """Return six kernels of two frameworks on two devices of a machine."""
    return [
        point(machine=machine, release=release, device=device, problem_id=id, seconds=seconds)
        for (release, device), seconds in SECONDS.items()
        for id in GEMMS[:6]
    ]


@pytest.fixture
def compared() -> list[Contest]:
    return contests(on_both_devices())


def test_the_matrix_of_frameworks_has_a_row_for_each_device(compared: list[Contest]) -> None:
    """numpy is the fastest on the processor, torch on the GPU."""
    cpu, cuda = matrix(compared)
    assert ("", "cuda") == (cpu.device, cuda.device)
    assert pytest.approx({"numpy": 1, "torch": 2}) == {n: c.ratio for n, c in cpu.cells.items()}
    assert pytest.approx({"torch": 1, "numpy": 3}) == {n: c.ratio for n, c in cuda.cells.items()}
    assert not set(cpu.cells["numpy"].kernels) & set(cuda.cells["numpy"].kernels)


def test_the_page_of_frameworks_counts_the_fastest_by_device(compared: list[Contest]) -> None:
    """The page's table of wins has a line for each."""
    shown = framework_page.page("deepbench", {"box": compared})
    assert "matrix products</th>" in shown
    assert "matrix products on cuda</th>" in shown


def test_rows_of_kernels_name_another_device(compared: list[Contest]) -> None:
    """On the page and in the terminal; the usual device has no name."""
    names = {GEMMS[0], f"{GEMMS[0]}, cuda"}
    found = framework_comparison_data.content(compared)
    assert names == {each["name"] for each in found if each["name"].startswith(GEMMS[0])}
    table = frameworks.as_table(compared, markdown=True)
    assert all(f"| {name} " in table for name in names)
    assert {"cpu", "cuda"} == {frameworks.as_dict(each)["device"] for each in compared}


def test_the_noise_of_a_framework_is_that_of_a_device() -> None:
    """Processes on a GPU may lie further apart than those on the processor."""
    steady, unsteady = (
        point(device=device, rounds=rounds)
        for device, rounds in (("cpu", (1.0, 1.0)), ("cuda", (1.0, 2.0)))
    )
    found = noises([steady, unsteady])
    assert 0 == found["torch", "gemm", "cpu"]
    assert 0.1 < found["torch", "gemm", "cuda"]


def test_each_device_of_a_machine_has_a_rank() -> None:
    """Its rate is that of the fastest framework on it, and its name has the device."""
    points = [*on_both_devices(), *on_both_devices("other")[:6]]
    (ranking,) = rankings([Line((each,)) for each in points], {})
    ranks = {rank.name: rank for rank in ranking.ranks}
    assert {"box, cuda", "box", "other"} == set(ranks)
    assert pytest.approx(100) == ranks["box, cuda"].rate / ranks["box"].rate
    assert ("torch",) == ranks["box, cuda"].frameworks
    assert ("box", "cuda") == (ranks["box, cuda"].machine, ranks["box, cuda"].device)


def test_the_only_device_of_a_machine_is_not_named() -> None:
    """As that of a published GPU, whose name says it."""
    points = [each for each in on_both_devices("card") if each.device == "cuda"]
    points += [each for each in on_both_devices() if each.device == "cpu"]
    (ranking,) = rankings([Line((each,)) for each in points], {})
    assert ["card", "box"] == [rank.name for rank in ranking.ranks]


def test_passes_on_two_devices_are_no_total() -> None:
    """The fastest machine is named with the device that has the total."""
    layer = load("rnn", "training")[0]
    passes = [
        point(
            problem_id=layer.id, family="rnn", operation=operation, device=device, seconds=seconds
        )
        for operation, device, seconds in (
            ("forward", "cpu", 5.0),
            ("forward", "cuda", 2.0),
            ("backward_data", "cuda", 1.0),
        )
    ]
    members = [each for each in select("training", "rnn") if each.problem.id == layer.id]
    (record,) = records(passes, members, ["float32"])
    assert ("cuda", 3.0) == (record.device, record.seconds)
    assert "box, cuda" in fastest._row(record, devices_of_machines(passes))
    (record,) = records([passes[0], passes[2]], members, ["float32"])
    assert ("cpu", 5.0, 1) == (record.device, record.seconds, record.passes)
