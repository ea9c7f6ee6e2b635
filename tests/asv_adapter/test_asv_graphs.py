"""asv's pages are made faster, and stay the same to the last byte."""

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import published_site
import pytest
from asv import graph as asv_graph
from asv import step_detect, util
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import patch_installation
from deepbench_ops.asv_adapter.publishing import asv_graphs, step_fit
from deepbench_ops.storage import json_cache

PLAIN = """
import sys
from pathlib import Path
import deepbench_ops.asv_adapter.release_repository
from asv.commands.publish import Publish
from asv.config import Config
folder = Path(sys.argv[1])
Publish.run(Config.from_json({
    "project": "deepbench <ops>", "dvcs": "releases", "repo": str(folder / "releases.csv"),
    "branches": ["numpy", "torch"], "results_dir": str(folder / "results"),
    "html_dir": str(folder / "plain"), "env_dir": str(folder / ".asv" / "env")}))
"""
"""asv's own publishing of a folder, with nothing of ours but the release table."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    published_site.publish(folder)
    subprocess.run([sys.executable, "-c", PLAIN, str(folder)], check=True, capture_output=True)
    return folder


def strict(path: Path) -> object:
    """A file's content, without the NaN that we replace: it is no JSON."""
    return json.loads(path.read_text("utf-8"), parse_constant=lambda _: None)


def test_graphs_and_lists_are_those_of_plain_asv(folder: Path) -> None:
    """Every graph and list; on purpose the grid's small ones are of one framework here, and lists
    are without lines that have no time."""
    plain = {path.relative_to(folder / "plain") for path in (folder / "plain").rglob("*.json")}
    assert plain == {
        path.relative_to(folder / "html") for path in (folder / "html").rglob("*.json")
    } - {Path("noise.json")}
    compared = [path for path in plain if "graphs" in path.parts and "summary" not in path.parts]
    assert len(compared) == 8  # a graph and a list for each of two machines and two frameworks
    for path in compared:
        expected: Any = strict(folder / "plain" / path)
        if path.name == "summary.json":
            expected = [row for row in expected if row["last_value"] is not None]
        assert expected == strict(folder / "html" / path), path


def test_regressions_are_those_of_plain_asv(folder: Path) -> None:
    plain, ours = (strict(folder / name / "regressions.json") for name in ("plain", "html"))
    assert sorted(map(json.dumps, plain["regressions"])) == sorted(
        map(json.dumps, ours["regressions"])
    )
    assert plain["regressions"]


def test_pages_without_the_speedups_are_the_same_to_the_last_byte(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DEEPBENCH_PLAIN_ASV=1 publishes the same files with asv's own graphs, fits and reading."""
    before = contents(folder / "html")
    monkeypatch.setenv(patch_installation.PLAIN_VARIABLE, "1")
    assert before == contents(published_site.published(folder))


def contents(html: Path) -> dict[str, str]:
    """Digest of every file by its name, without the two that hold the minute of publishing."""
    return {
        str(path.relative_to(html)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in html.rglob("*")
        if path.is_file() and path.name not in ("info.json", "info.json.js")
    }


def plain_fit() -> Any:
    """asv's own module, as it is before anything of ours stands in for a part of it."""
    spec = importlib.util.find_spec("asv.step_detect")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LEVELS = st.sampled_from([1e-5, 1.0, 1.5, 2.0, 30.0])
SECONDS = st.floats(1e-6, 1e3)


@st.composite
def series(draw: Any) -> tuple[list[float], list[float | None]]:
    """Seconds that stay, step or wander, with weights or without."""
    cut = draw(st.integers(1, 30))
    flat = [draw(LEVELS)] * cut + [draw(LEVELS)] * draw(st.integers(0, 30))
    noise = draw(st.lists(st.sampled_from([1.0, 0.99, 1.05]), min_size=60, max_size=60))
    steps = [level * factor for level, factor in zip(flat, noise, strict=False)]
    values = draw(st.sampled_from([flat, steps]) | st.lists(SECONDS, min_size=1, max_size=12))
    weight = draw(st.sampled_from([st.none(), st.none() | st.floats(0.1, 4)]))
    return values, [draw(weight) for _ in values]


@settings(max_examples=300, deadline=None)
@given(one=series())
def test_a_line_is_cut_as_asv_cuts_it(one: tuple[list[float], list[float | None]]) -> None:
    """To the last bit: places, levels and deviations."""
    values, weights = one
    with patch_installation.applied(step_fit.PATCHES):
        found = step_detect.detect_steps(values, weights)
    assert plain_fit().detect_steps(values, weights) == found


def test_what_was_fitted_is_not_fitted_again(folder: Path, monkeypatch) -> None:
    """A second publishing takes all fits from the first, and writes the same lists."""
    lists = {path: path.read_text() for path in (folder / "html").rglob("summary.json")}
    assert lists

    def refused(*_: object) -> None:
        raise AssertionError("fitted again")

    monkeypatch.setattr(asv_graphs, "_fit", lambda lines: [refused() for _ in lines])
    published_site.published(folder)
    assert lists == {path: path.read_text() for path in (folder / "html").rglob("summary.json")}


def test_fits_of_another_version_of_asv_are_computed_again(folder: Path, monkeypatch) -> None:
    """Its fit may find other steps."""
    path = folder / ".asv" / "fitted.json"
    published_site.published(folder)
    before = set(json_cache.read(path))
    monkeypatch.setattr("asv.__version__", "0.0")
    published_site.published(folder)
    after = set(json_cache.read(path))
    assert len(before) == len(after) and not before & after


@pytest.mark.parametrize("stored", [None, [1], {"digest": 1}, {"digest": [[1]]}, "text"])
def test_damaged_fits_are_computed_again(folder: Path, stored: object) -> None:
    """Those without their checksum (None), and those with one that are no fits."""
    path = folder / ".asv" / "fitted.json"
    if stored is None:
        path.write_text("{}")
    else:
        json_cache.write(path, stored)
    published_site.published(folder)
    assert "digest" not in json_cache.read(path)
    assert json_cache.read(path)


points = st.one_of(st.none(), st.floats(1e-6, 1e3))
weights = st.one_of(st.none(), st.floats(0.1, 1e6))


@given(st.lists(st.tuples(points, weights), max_size=20))
def test_steps_are_asvs(drawn: list) -> None:
    """With points missing anywhere, and weights that are known or not."""
    line = [(3 * at, y, weight if y is not None else None) for at, (y, weight) in enumerate(drawn)]
    assert asv_graph._compute_graph_steps(line) == asv_graphs.steps_of(line)


def test_a_whole_number_of_more_than_64_bits_is_written(tmp_path):
    """A damaged file can have one; orjson refuses it, and asv's own way writes it."""
    path = tmp_path / "index.json"
    asv_graphs.written_at_once(util.write_json)(path, {"ram": 10**30}, compact=True)
    assert {"ram": 10**30} == json.loads(path.read_text())


def test_a_graph_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A full disk leaves the old one, and nothing next to it."""
    path = tmp_path / "graphs" / "line.json"
    write = asv_graphs.written_at_once(util.write_json)
    write(path, [[1, 2.0], [2, float("nan")]], compact=True)
    assert [[1, 2.0], [2, None]] == json.loads(path.read_text())
    whole = Path.write_bytes

    def half(target: Path, content: bytes) -> int:
        whole(target, content[: len(content) // 2])
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match=r"line\.json"):
        write(path, [[1, 3.0]], compact=True)
    assert [[1, 2.0], [2, None]] == json.loads(path.read_text())
    assert [path] == list(path.parent.iterdir())
