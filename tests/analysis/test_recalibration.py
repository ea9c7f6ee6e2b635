"""Stored times follow from the nominal readings that the machine's profile has now."""

import json
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("asv", reason="results are written by asv")
from deepbench_ops.analysis import recalibration
from deepbench_ops.analysis.recalibration import Recalibrated
from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.cli import cli as deepbench
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.releases import release_table
from deepbench_ops.storage import ensemble_round_files, measurement_files
from deepbench_ops.storage.result_key import unquoted

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "epyc-9004-2core"
RELEASES = ("torch-2.13.0", "jax-0.8.0", "jax-0.9.0", "jax-0.10.2")
KIND, FACTOR = "memory", 1.25


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Recorded results of single runs and of a history, which rest on the profile."""
    results = tmp_path_factory.mktemp("recorded")
    machine = results / MACHINE
    machine.mkdir()
    releases = [each for each in release_table.load() if each.name in RELEASES]
    starts = ("machine.", *(each.hash[:8] for each in releases))
    for path in (RESULTS / MACHINE).iterdir():
        if path.name.startswith(starts):
            shutil.copy(path, machine)
    history = RESULTS / MACHINE / "ensembles" / "jax.jsonl.gz"
    (machine / "ensembles").mkdir()
    shutil.copy(history, machine / "ensembles")
    shutil.copy(RESULTS / "benchmarks.json", results)
    recalibration.recalibrate(results, MACHINE)
    return results


@pytest.fixture
def results(recorded, tmp_path):
    """A copy for one test."""
    return Path(shutil.copytree(recorded, tmp_path / "results"))


def multiplied(known: Profile, factor: float, kind: str) -> Profile:
    """Return a profile with other nominal readings of a yardstick in the state near."""
    near, *others = known.levels
    figures = near.yardsticks["2"]
    reading = replace(figures[kind], value=figures[kind].value * factor)
    new = replace(near, yardsticks={"2": {**figures, kind: reading}})
    return replace(known, levels=[new, *others])


def renew(results: Path, factor: float, kind: str = KIND) -> None:
    """Multiply the nominal reading in the profile."""
    known = machine_profile.read(results, MACHINE)
    machine_profile.write(results, multiplied(known, factor, kind))


def times(results: Path) -> dict:
    """Return every stored time by file, benchmark and parameters, with those of its samples."""
    found = {}
    for path in result_files.paths(results / MACHINE):
        for one in private_result_fields.each(result_files.undamaged(path)):
            found[path.name, *unquoted(one.name, one.key)] = [one.value, *(one.samples or ())]
    return found


def rests_on(results: Path) -> dict:
    """Return for each time of a single run how many of its processes used that nominal reading, and
    how many did not."""
    level = machine_profile.read(results, MACHINE).levels[0].yardsticks["2"][KIND].value
    found: dict = {}
    for path in measurement_files.paths(results / MACHINE):
        name = measurement_files.result_of(path).name
        for each in measurement_files.load(path)[1]:
            if "skipped" not in each and "ensemble" not in each:
                key = name, *unquoted(each["benchmark"], each["params"])
                counts = found.setdefault(key, [0, 0])
                counts[each.get("nominal") != level] += 1
    return found


def test_times_follow_a_renewed_reading_and_no_others_move(results):
    """Points whose processes all used it are multiplied; those of other kinds and states stay."""
    before, processes = times(results), rests_on(results)
    renew(results, FACTOR)
    found = recalibration.recalibrate(results, MACHINE)
    after = times(results)
    assert before.keys() == after.keys()
    scaled = {
        key: after[key][0] / before[key][0] for key, (mine, other) in processes.items() if not other
    }
    off = {key: one for key, one in scaled.items() if one != pytest.approx(FACTOR, rel=2e-4)}
    assert ({}, True) == (off, bool(scaled))
    untouched = [key for key, (mine, _) in processes.items() if not mine]
    assert all(after.get(key) == before.get(key) for key in untouched)
    assert found.points == len(processes) - len(untouched)
    assert found.rounds > 20
    assert recalibration.recalibrate(results, MACHINE) == Recalibrated(0, 0)


def test_histories_follow_and_keep_their_ratios(results):
    """The level of all releases of a kernel moves together, so that changes stay."""

    def of_histories():
        return {
            (path.name, *unquoted(each["benchmark"], each["params"])): each["ensemble"]
            for path in measurement_files.paths(results / MACHINE)
            for each in measurement_files.load(path)[1]
            if "ensemble" in each
        }

    before = of_histories()
    renew(results, FACTOR)
    recalibration.recalibrate(results, MACHINE)
    after = of_histories()
    moved = {key: after[key]["seconds"] / each["seconds"] for key, each in before.items()}
    assert {1.0, FACTOR} == {round(each, 3) for each in moved.values()}
    ratios = [(each["ratio"], after[key]["ratio"]) for key, each in before.items()]
    assert all(one == other for one, other in ratios)


def test_readings_that_are_put_back_give_the_former_times(results):
    """The raw seconds are kept, so that nothing is lost but digits."""
    before = times(results)
    for factor in (FACTOR, 1 / FACTOR):
        renew(results, factor)
        recalibration.recalibrate(results, MACHINE)
    for key, several in times(results).items():
        assert several == pytest.approx(before[key], rel=6e-5)


def test_a_reading_that_the_profile_lacks_changes_nothing(results):
    """Times that were calibrated stay so when a profile without readings of their state comes."""
    before = times(results)
    known = machine_profile.read(results, MACHINE)
    machine_profile.write(results, replace(known, yardsticks={"1": known.yardsticks["2"]}))
    assert recalibration.recalibrate(results, MACHINE) == Recalibrated(0, 0)
    assert before == times(results)


def larger(column):
    """Return a column, or a number in it, multiplied by 1.5; null stays."""
    if isinstance(column, list):
        return list(map(larger, column))
    return column and 1.5 * column


def test_samples_of_another_origin_are_named_and_stay(results):
    """A point that does not follow from its raw seconds is not touched, nor is its file; all other
    files are."""
    key, _ = next((key, one) for key, one in rests_on(results).items() if one[0])
    path = results / MACHINE / key[0]
    content = json.loads(path.read_text())
    columns = content["result_columns"]
    row = content["results"][key[1]]
    for name in ("result", "samples", *(each for each in columns if "_ci_" in each)):
        row[columns.index(name)] = larger(row[columns.index(name)])
    path.write_text(json.dumps(content))
    held = path.read_bytes()
    renew(results, FACTOR)
    answer = CliRunner().invoke(
        deepbench, ["recalibrate", "--machine", MACHINE, "--results", str(results)]
    )
    assert "other samples than its raw seconds give" in str(answer.exception)
    assert f"{key[1]}('{key[2][0]}', '{key[2][1]}'" in str(answer.exception)
    assert "rounds of histories are calculated again" in answer.output
    assert held == path.read_bytes()


def test_results_that_no_longer_come_from_the_rounds_stay(results):
    """Points that were removed, or measured alone since, are not those of the rounds."""
    machine = results / MACHINE
    path = next(each for each in measurement_files.paths(machine) if of_history(each))
    ours = [each for each in of_history(path) if each["ensemble"]["file"] == "jax.jsonl.gz"]
    removed, alone = ours[0], ours[-1]
    facts, entries = measurement_files.load(path)
    alone_now = {name: each for name, each in alone.items() if name != "ensemble"}
    kept = [alone_now if each == alone else each for each in entries if each != removed]
    measurement_files.write(path, facts, kept)
    result = measurement_files.result_of(path)
    content = json.loads(result.read_text())
    place = content["result_columns"].index("result")
    for name, row in content["results"].items():
        keys = list(product(*row[1]))
        if name == removed["benchmark"]:
            row[place][keys.index(tuple(map(repr, removed["params"])))] = None
    result.write_text(json.dumps(content))
    before = times(results)
    for kind in ("memory", "compute"):
        renew(results, FACTOR, kind)
    assert recalibration.recalibrate(results, MACHINE).rounds > 20
    after = times(results)
    gone = result.name, *unquoted(removed["benchmark"], removed["params"])
    stays = result.name, *unquoted(alone["benchmark"], alone["params"])
    assert gone not in after
    assert before[stays] == after[stays]
    assert before.keys() == after.keys()


def of_history(path: Path) -> list:
    """Return the records of a file that come from rounds."""
    return [each for each in measurement_files.load(path)[1] if "ensemble" in each]


def test_a_machine_without_readings_is_refused(tmp_path):
    """One line says which command takes them."""
    machine_profile.write(tmp_path, Profile("box"))
    (tmp_path / "box" / "machine.json").write_text('{"machine": "box", "version": 1}')
    answer = CliRunner().invoke(
        deepbench, ["recalibrate", "--machine", "box", "--results", str(tmp_path)]
    )
    assert "box has no nominal readings" in str(answer.exception)


def test_the_command_says_how_much_has_changed(results):
    """And, called again, that all times rest on the profile."""
    renew(results, FACTOR)
    call = ["recalibrate", "--machine", MACHINE, "--results", str(results)]
    first, second = (CliRunner().invoke(deepbench, call).output for _ in range(2))
    assert "rounds of histories are calculated again" in first
    assert f"{MACHINE}: all times rest on the nominal readings of its profile\n" == second
    files = ensemble_round_files.paths(results / MACHINE)
    assert all(ensemble_round_files.load(path).entries for path in files)
