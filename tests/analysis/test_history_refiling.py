"""Results of histories, calculated again from their rounds."""

import json
import shutil
from itertools import product
from pathlib import Path

import pytest

from deepbench_ops.analysis import history_refiling
from deepbench_ops.storage import ensemble_round_files, measurement_files

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "epyc-9004-2core"
SEVERAL = ensemble_round_files.path_of(RESULTS / MACHINE, ensemble_round_files.SEVERAL)


@pytest.fixture
def copied(tmp_path):
    """Copy of the committed results of a machine on which frameworks were measured together."""
    results = tmp_path / "results"
    shutil.copytree(RESULTS / MACHINE, results / MACHINE)
    for path in RESULTS.iterdir():
        if path.is_file():
            shutil.copy(path, results)
    return results


def times(results: Path) -> dict[str, list[float]]:
    """Return the stored times by file and benchmark; NaN as null."""
    found = {}
    for path in (results / MACHINE).glob("*-release-py3-*cpu.json"):
        for name, (values, *_) in json.loads(path.read_text())["results"].items():
            times = [None if value != value else value for value in values or []]
            found[f"{path.name} {name}"] = times
    return found


def one_of_several(results: Path) -> tuple[Path, str, int]:
    """Return the place of a time from rounds over several frameworks: file, benchmark, number."""
    for records in measurement_files.paths(results / MACHINE):
        path = measurement_files.result_of(records)
        for entry in measurement_files.load(records)[1]:
            if entry.get("ensemble", {}).get("file") == SEVERAL.name:
                name = entry["benchmark"]
                keys = list(product(*json.loads(path.read_text())["results"][name][1]))
                return path, name, keys.index(tuple(map(repr, entry["params"])))
    raise AssertionError("no time is from rounds over several frameworks")


def test_committed_times_follow_from_the_rounds_over_several_frameworks(copied):
    """Filed again, results of these rounds come back; those of a framework's own history stay."""
    before = times(copied)
    changed, benchmark, place = one_of_several(copied)
    content = json.loads(changed.read_text())
    columns = dict(zip(content["result_columns"], content["results"][benchmark], strict=False))
    columns["result"][place] = max(columns["samples"][place])
    changed.write_text(json.dumps(content))
    assert before != times(copied)
    path = copied / SEVERAL.relative_to(RESULTS)
    assert 9 == history_refiling.file_again(path)
    assert before == times(copied)
