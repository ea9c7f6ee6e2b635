"""Parts of `bench/history_proof.py` count kernels, wait for the second measurement and go on."""

import argparse
import json
import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import history_proof
import proof_comparison
import proof_cost
import pytest
import simulated_rounds
from proof_rounds import Rounds

from deepbench_ops.measure import ensemble_round_json
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.storage import ensemble_round_files, json_lines
from deepbench_ops.storage.ensemble_round_files import RoundsFile

OLD, NEW = "numpy-2.2.6", "numpy-2.4.6"
TASKS = [KernelIdentity("gemm", f"m{n}_n{n}_k{n}_NN", "float32", "forward") for n in (1, 2, 3)]


def measurement(levels, state="near"):
    """Ten rounds of each kernel around its ratio, in one state of the machine."""
    spread = [0.998, 0.999, 1.0, 1.001, 1.002]
    found = {}
    for task, level in zip(TASKS, levels, strict=True):
        several = [
            simulated_rounds.of_ratios(NEW, OLD, [level * each * (1 + number / 1e4)] * 4)
            for number in range(2)
            for each in spread
        ]
        found[task] = [replace(each, state=state, ended_at=each.started_at) for each in several]
    return found


def test_a_kernel_agrees_only_if_its_ratios_lie_within_the_combined_interval():
    """A ratio that has moved by 10 % does not, and one that has hardly moved does."""
    first, second = measurement([1.0, 1.0, 1.0]), measurement([1.0, 1.1, 1.0005])
    found = proof_comparison.ratios(first, second)
    assert [True, False, True] == [each.agrees for each in found]
    lines = proof_comparison.hours_apart(found, first, second)
    assert any("2 of 3 (66.7%); at least 97 %" in line for line in lines)


def test_kernels_without_a_common_state_are_left_out():
    """They are counted apart from those that agree or disagree."""
    first, second = measurement([1.0, 1.0, 1.0]), measurement([1.0, 1.0, 1.0])
    second[TASKS[0]] = [replace(each, state="far") for each in second[TASKS[0]]]
    found = proof_comparison.ratios(first, second)
    assert TASKS[1:] == [each.task for each in found]
    assert proof_comparison.hours_apart(found, first, second)[-1].endswith("1 of 3")


def test_nothing_in_common_is_no_result():
    """Two measurements in different states end with the reason instead of a table."""
    with pytest.raises(SystemExit, match="no kernel has intervals of both in one state"):
        proof_comparison.ratios(measurement([1.0] * 3), measurement([1.0] * 3, state="far"))


def test_a_disturbed_kernel_counts_by_its_worst_ratio():
    """Of two ratios of a kernel, one 3 % and one 6 % off, the second decides."""
    quiet, noisy = measurement([1.0, 1.0, 1.0]), measurement([1.0, 1.03, 1.06])
    found = proof_comparison.ratios(quiet, noisy)
    same_kernel = [replace(each, task=TASKS[1]) for each in found[1:]]
    lines = proof_comparison.disturbed([found[0], *same_kernel], quiet, noisy)
    assert "1 of 2 (50.0%); at least 90 %" in lines[1]
    assert "off by more than 5%: 1;" in lines[2]


def arguments(folder: Path, *given: str) -> argparse.Namespace:
    """Arguments of the part `again` with two rounds of each measurement."""
    return history_proof.parse(
        ["again", "--releases", OLD, NEW, "--rounds", "2", "--out", str(folder), *given]
    )


@pytest.fixture
def measured_numbers(monkeypatch):
    """Numbers of the rounds that are measured; nothing is started or waited for."""
    numbers = []

    def measure(self, launches, tasks, number, budget):
        missing = [task for task in tasks if number not in self.found.get(task, {})]
        for task in missing:
            now = time.time()
            one = replace(
                simulated_rounds.of_ratios(OLD, NEW, [1.0] * 4), started_at=now, ended_at=now
            )
            _, entry = ensemble_round_json.entry_of(task, one)
            json_lines.append(self.path, [{**entry, "number": number}])
            self.found.setdefault(task, {})[number] = one
        numbers.extend([number] if missing else [])
        return True

    monkeypatch.setattr(Rounds, "measure", measure)
    monkeypatch.setattr(history_proof, "launches", lambda names: dict.fromkeys(names))
    monkeypatch.setattr(history_proof, "kernels", lambda *_: TASKS)
    return numbers


def test_the_second_measurement_waits_for_its_time(tmp_path, measured_numbers):
    """The first call measures once; a call too soon measures nothing; a later one the second."""
    for _ in range(2):
        with pytest.raises(SystemExit, match=r"again in 120 min"):
            history_proof.measured_twice(arguments(tmp_path))
    assert [0, 2] == measured_numbers
    first, second = history_proof.measured_twice(arguments(tmp_path, "--apart", "0s"))
    assert [0, 2, 1, 3] == measured_numbers
    assert TASKS == list(first) == list(second)
    assert {2} == {len(each) for part in (first, second) for each in part.values()}


def history_file(folder: Path, **different: Any) -> Path:
    """A history with one round of each kernel."""
    one = replace(simulated_rounds.of_ratios(OLD, NEW, [1.0] * 4), ended_at=4.0, **different)
    entries = [ensemble_round_json.entry_of(task, one)[1] for task in TASKS]
    file = folder / "numpy.jsonl.gz"
    ensemble_round_files.write(file, RoundsFile({}, entries))
    return file


def test_a_history_is_measured_a_second_time(tmp_path, measured_numbers):
    """Its kernels and releases are those of its file; the rounds are kept in another one."""
    options = arguments(tmp_path, str(history_file(tmp_path)))
    first, second = history_proof.measured_twice(options)
    assert TASKS == list(first) == list(second)
    assert [1, 3] == measured_numbers
    assert (tmp_path / "again-numpy.jsonl").exists()


def test_a_history_of_another_machine_is_not_measured_again(tmp_path, measured_numbers):
    """The message names the file and the conditions that differ."""
    file = history_file(tmp_path, conditions={"processor": "another"})
    with pytest.raises(SystemExit, match=r"numpy\.jsonl\.gz .*another"):
        history_proof.measured_twice(arguments(tmp_path, str(file)))
    assert [] == measured_numbers


def waits(seconds: float, code: int = 0) -> list[str]:
    """A command that takes so long and ends with a code."""
    return [sys.executable, "-c", f"import time; time.sleep({seconds}); raise SystemExit({code})"]


def test_the_seconds_of_an_interrupted_command_add_up(tmp_path):
    """Those before a failure count; a command that has ended is not run again."""
    about = {"releases": "a b", "kernels": "headline"}
    with pytest.raises(SystemExit, match="ended with 3"):
        proof_cost.Timings(tmp_path, about).run("one", waits(0.3, 3))
    proof_cost.Timings(tmp_path, about).run("one", waits(0.3))
    proof_cost.Timings(tmp_path, about).run("one", ["no such program"])
    assert 0.6 <= json.loads((tmp_path / "cost.json").read_text())["seconds"]["one"]


def test_a_larger_budget_goes_on(tmp_path):
    """A history that ended with its budget is continued with a larger one, and with no other."""
    timings = proof_cost.Timings(tmp_path, {})
    for budget, times in ((5.0, 1), (5.0, 1), (9.0, 2)):
        add = "import pathlib; pathlib.Path('times').open('a').write('x')"
        timings.run("history", [sys.executable, "-c", add], budget)
        assert times == len((tmp_path / "times").read_text())


def test_seconds_are_stored_while_a_command_runs(tmp_path, monkeypatch):
    """A script that is killed has lost those of the last moments only."""
    monkeypatch.setattr(proof_cost, "STORED_EVERY", 0.05)
    timings, stored = proof_cost.Timings(tmp_path, {}), []
    plain = proof_cost.Timings._store
    monkeypatch.setattr(
        proof_cost.Timings,
        "_store",
        lambda self, title, seconds: (stored.append(seconds), plain(self, title, seconds)),
    )
    timings.run("one", waits(0.4))
    assert len(stored) > 3
    assert sorted(stored) == stored


def test_times_of_other_releases_are_not_continued(tmp_path):
    """The message names the file, and says to name another folder."""
    proof_cost.Timings(tmp_path, {"releases": "a"}).run("one", waits(0))
    with pytest.raises(SystemExit, match=r"cost\.json .* another folder"):
        proof_cost.Timings(tmp_path, {"releases": "b"})


def test_cost_compares_the_history_with_asv_run():
    """Half of its seconds is 50 %, and a kernel without an interval is not within 1 %."""
    share, within = proof_cost.summary(
        {proof_cost.HISTORY: 30.0, proof_cost.ROUNDS: 60.0}, [0.005, 0.02, math.inf]
    )
    assert "50%" in share
    assert "1 of 3" in within
