"""Frameworks of a machine side by side: who is fastest, beyond the noise or not at all."""

import json
import math
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from example_points import GEMMS, point
from example_rounds import rounds_of

pytest.importorskip("asv", reason="results are read by asv's own classes")
from deepbench_ops.analysis import frameworks_by_kernel, shared_rounds
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Origin
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.backends import NAMES
from deepbench_ops.cli import cli
from deepbench_ops.commands import frameworks
from deepbench_ops.pages import framework_comparison_data, framework_page
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release

RESULTS = Path(__file__).resolve().parents[2] / "results"
NEWEST = {release.framework: release for release in release_table.load()}
ORIGIN = Origin("numpy.jsonl.gz", "numpy-1.26.4", 10, 1.0, 0.99, 1.01, (9e-4, 1.1e-3))


def measured(framework, problem, seconds, noise, random, processes=2):
    """A point of a framework's newest release, its processes `noise` apart."""
    rounds = tuple(seconds * np.exp(random.normal(0, noise, processes)))
    middle = math.exp(float(np.mean(np.log(rounds))))
    return point(release=NEWEST[framework], problem_id=problem, seconds=middle, rounds=rounds)


def contested(ratio, noise, seed=1):
    """Forty kernels of two frameworks, torch taking `ratio` times as long as numpy."""
    random = np.random.default_rng(seed)
    return frameworks_by_kernel.contests(
        measured(name, problem, seconds, noise, random)
        for problem in GEMMS[:40]
        for name, seconds in (("numpy", 1e-3), ("torch", ratio * 1e-3))
    )


def test_a_clear_difference_has_a_fastest():
    """Ten per cent at one per cent of noise shows on every kernel."""
    assert {"numpy"} == {contest.fastest for contest in contested(1.1, 0.01)}
    assert {"torch"} == {contest.fastest for contest in contested(0.9, 0.01)}


def test_no_difference_has_no_fastest():
    """Of 400 kernels on which both are the same, at most a few in a thousand seem to have one."""
    found = [bool(c.fastest) for seed in range(10) for c in contested(1.0, 0.03, seed)]
    assert sum(found) <= 4


def test_less_than_a_percent_makes_no_fastest():
    """Without any noise, half a per cent is still no reason to choose."""
    assert {""} == {contest.fastest for contest in contested(1.005, 1e-6)}


def test_rounds_of_histories_do_not_hide_the_noise_of_processes():
    """Ten rounds that share one calibration are no more certain than a single process."""
    random = np.random.default_rng(1)
    alone, of_histories = (
        [
            measured(name, problem, seconds, noise, random, rounds)._replace(ensemble=origin)
            for problem in problems
            for name, seconds in (("numpy", 1e-3), ("torch", 1.1e-3))
        ]
        for problems, noise, rounds, origin in (
            (GEMMS[:20], 0.05, 2, None),
            (GEMMS[20:40], 0.001, 10, ORIGIN),
        )
    )
    found = frameworks_by_kernel.contests([*alone, *of_histories])
    assert {""} == {contest.fastest for contest in found if contest.kernel.ensemble}
    noises = frameworks_by_kernel.noises
    assert noises(alone) == noises([*alone, *of_histories])
    assert [pytest.approx(0.001, rel=0.2)] * 2 == list(noises(of_histories).values())


def together(spread=0.001, random=None, **seconds):
    """Five rounds that measured the newest releases of frameworks, which take so many seconds."""
    by_release = {NEWEST[name].name: level for name, level in seconds.items()}
    return rounds_of(by_release, spread, random=random)


def led(difference, kernels=300):
    """Kernels with five rounds that measured numpy and torch, the latter so much slower."""
    random = np.random.default_rng(3)
    points, shared = [], {}
    for number in range(kernels):
        problem = f"m{number + 1}_n64_k64_NN"
        both = [measured(name, problem, 1e-3, 0.01, random) for name in ("numpy", "torch")]
        shared[shared_rounds.task_of(both[0])] = together(
            0.02, random, numpy=1e-3, torch=math.exp(difference) * 1e-3
        )
        points += both
    return frameworks_by_kernel.contests(points, shared)


def test_leads_from_shared_rounds_are_corrected_for_the_number_of_kernels():
    """Of 300 kernels without a difference one interval of 99 % leaves out 1, and is no lead."""
    same = led(0.0)
    assert {5} == {contest.shared for contest in same}
    assert {""} == {contest.fastest for contest in same}
    assert 290 < sum(contest.fastest == "numpy" for contest in led(0.2))


def test_shared_rounds_order_frameworks_where_another_without_them_is_the_fastest():
    """Through one of those that share them; the stored times of these have the opposite order."""
    random = np.random.default_rng(1)
    stored = {"torch": 1e-3, "jax": 2e-3, "numpy": 2.1e-3, "tensorflow": 2.2e-3}
    points = [measured(name, GEMMS[0], level, 0.001, random) for name, level in stored.items()]
    shared = together(jax=2.4e-3, numpy=2.2e-3, tensorflow=2e-3)
    (found,) = frameworks_by_kernel.contests(points, {shared_rounds.task_of(points[0]): shared})
    assert ["torch", "tensorflow", "numpy", "jax"] == [p.release.framework for p in found.points]
    assert ("torch", pytest.approx(5 / 3, rel=0.02)) == (found.fastest, found.ahead)


@pytest.mark.parametrize(("noise", "fastest"), [(0.1, ""), (0.001, "torch")])
def test_the_fastest_is_ahead_of_all_others_beyond_the_noise(noise, fastest):
    """Not of the second alone: a third whose time is uncertain may be faster than both."""
    points = [
        point(
            release=NEWEST[name],
            seconds=seconds,
            rounds=(seconds * math.exp(off), seconds * math.exp(-off)),
        )
        for name, seconds, off in (
            ("torch", 1, 0.001),
            ("numpy", 1.05, 0.001),
            ("jax", 1.06, noise),
        )
    ]
    (found,) = frameworks_by_kernel.contests(points)
    assert (fastest, 1.05) == (found.fastest, found.ahead)


@pytest.mark.parametrize(("noise", "fastest"), [(0.4, ""), (0.001, "torch")])
def test_the_fastest_is_ahead_of_all_that_share_rounds_with_it(noise, fastest):
    """The rounds show that the second is slower, and leave it open for the third."""
    random = np.random.default_rng(1)
    points = [measured(name, GEMMS[0], 1e-3, 0.001, random) for name in ("torch", "numpy", "jax")]
    shared = together((0.001, 0.001, noise), torch=1e-3, numpy=1.05e-3, jax=1.1e-3)
    (found,) = frameworks_by_kernel.contests(points, {shared_rounds.task_of(points[0]): shared})
    assert ["torch", "numpy", "jax"] == [each.release.framework for each in found.points]
    assert (fastest, 5) == (found.fastest, found.shared)


@pytest.mark.parametrize(("noise", "fastest"), [(0.4, ""), (0.001, "torch")])
def test_a_time_that_follows_from_rounds_is_as_uncertain_as_they_are(noise, fastest):
    """Only jax was measured with numpy; its rounds say how far numpy is behind torch."""
    random = np.random.default_rng(1)
    stored = {"torch": 1e-3, "jax": 1.2e-3, "numpy": 1.25e-3}
    points = [measured(name, GEMMS[0], level, 0.001, random) for name, level in stored.items()]
    shared = together(noise, jax=1.2e-3, numpy=1.25e-3)
    (found,) = frameworks_by_kernel.contests(points, {shared_rounds.task_of(points[0]): shared})
    assert fastest == found.fastest


def test_a_star_that_is_not_at_the_smallest_time_is_explained():
    """Where shared rounds decide; without such a star there is no such line."""
    (contest, *others) = contested(1.1, 0.01)
    assert "not the smallest" not in frameworks.as_table([contest, *others], markdown=True)
    odd = replace(contest, fastest="torch", shared=10)
    said = frameworks.as_table([odd, *others], markdown=True)
    assert "1 star next to a time that is not the smallest: the rounds in which both" in said


def test_the_newest_release_counts_and_first_calls_do_not():
    """A faster old release does not speak for its framework; compiling is not compared."""
    random = np.random.default_rng(0)
    old = next(release for release in release_table.load() if release.framework == "numpy")
    points = [
        measured("numpy", GEMMS[0], 1e-4, 0.01, random)._replace(release=old),
        measured("numpy", GEMMS[0], 2e-3, 0.01, random),
        measured("torch", GEMMS[0], 1e-3, 0.01, random),
    ]
    (found,) = frameworks_by_kernel.contests(points)
    assert [NEWEST["torch"].name, NEWEST["numpy"].name] == [p.release.name for p in found.points]
    first_calls = [each._replace(operation="first_call") for each in points]
    assert [] == frameworks_by_kernel.contests(first_calls)


def test_points_of_a_single_process_prove_nothing():
    """Where the noise is not known, none is fastest."""
    random = np.random.default_rng(0)
    lonely = [
        measured(name, GEMMS[0], seconds, 0.0, random, processes=1)
        for name, seconds in (("numpy", 1e-3), ("torch", 2e-3))
    ]
    assert [""] == [contest.fastest for contest in frameworks_by_kernel.contests(lonely)]


def test_the_command_prints_recorded_results():
    """Times with intervals, a star at the fastest, and how many kernels have one."""
    run = ["frameworks", "--machine", "epyc-9004-2core", "--results", str(RESULTS)]
    shown = CliRunner().invoke(cli, [*run, "--family", "gemm"], catch_exceptions=False).output
    assert "numpy, ms" in shown and "torch, ms" in shown
    assert " *" in shown and "kernels have a fastest beyond the noise" in shown
    printed = CliRunner().invoke(cli, [*run, "--format", "json"], catch_exceptions=False).output
    found = json.loads(printed)
    assert {*NAMES, None} >= {contest["fastest"] for contest in found}
    assert all(len(contest["seconds"]) >= 2 and contest["ahead"] >= 1 for contest in found)


@pytest.mark.parametrize(
    "asked",
    [("frameworks", "--family", "rnn"), ("overhead",), ("table", "stcp920")],
    ids=lambda asked: asked[0],
)
def test_this_machine_is_the_usual_one(monkeypatch, asked):
    """Without a name the answer is that for this machine."""
    monkeypatch.setattr(machine_entry, "default_name", lambda: "epyc-9004-2core")
    run = [*asked, "--results", str(RESULTS)]
    mine = CliRunner().invoke(cli, run)
    named = CliRunner().invoke(cli, [*run, "--machine", "epyc-9004-2core"])
    assert (named.output, str(named.exception)) == (mine.output, str(mine.exception))
    assert "raspberry" not in mine.output


def test_the_page_has_the_machine_with_the_newest_release_first():
    """As the start page has it; of equally new ones the first by name."""
    old, new = date(2024, 1, 1), date(2025, 1, 1)
    points = [
        point(machine=machine, release=Release(name, "1", day), rounds=(1.0,) * 5)
        for machine, day in (("a", old), ("c", new), ("b", new))
        for name in ("numpy", "torch")
    ]
    found = framework_page.contests_by_machine([Line((each,)) for each in points])
    assert ["b", "c", "a"] == list(found)
    page = framework_page.page("deepbench", found)
    assert page.index("<h3>c</h3>") < page.index("<h3>a</h3>")


def test_the_page_names_machines_releases_and_the_fastest():
    """A machine's name is text, and its data name the fastest framework of each kernel."""
    random = np.random.default_rng(0)
    points = [
        measured(name, GEMMS[0], seconds, 0.01, random)._replace(machine="<b>")
        for name, seconds in (("numpy", 1e-3), ("torch", 2e-3))
    ]
    found = framework_page.contests_by_machine([Line((each,)) for each in points])
    page = framework_page.page("deepbench", found)
    assert "<h3>&lt;b&gt;</h3>" in page and "<h3><b></h3>" not in page
    (row,) = framework_comparison_data.content(found["<b>"])
    assert "numpy" == row["fastest"]
    assert ["numpy", "torch"] == [time[0] for time in row["times"]]
    assert NEWEST["torch"].version == row["times"][1][2]
    assert "No machine" in framework_page.page("deepbench", {})
