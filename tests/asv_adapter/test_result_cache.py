"""While pages are made, a result file is read once."""

import json
from pathlib import Path

import published_site
import pytest
from asv.commands import publish as asv_publish

from deepbench_ops.asv_adapter import asv_api, result_cache


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    published_site.publish(folder)
    return folder


def test_within_the_block_a_result_is_read_once_unless_it_changes(site: Path) -> None:
    """A changed file is read again, and so is every file after the block."""
    path = next((site / "results").glob("*/*-*.json"))
    with result_cache.remembered():
        first, second = asv_api.Results.load(str(path)), asv_api.Results.load(str(path))
        path.write_text(path.read_text())  # a measurement is stored meanwhile
        third = asv_api.Results.load(str(path))
    assert first is second
    assert third is not second
    assert asv_api.Results.load(str(path)) is not third


def test_of_large_files_only_the_last_ones_read_are_remembered(site: Path, monkeypatch) -> None:
    """Otherwise publishing millions of times would hold all of them in memory twice."""
    first, second, third = sorted((site / "results").glob("*/*-*.json"))[:3]
    monkeypatch.setattr(result_cache, "MOST_BYTES", second.stat().st_size + third.stat().st_size)
    with result_cache.remembered():
        read = [asv_api.Results.load(str(path)) for path in (first, second, third)]
        assert asv_api.Results.load(str(third)) is read[2]
        assert asv_api.Results.load(str(second)) is read[1]
        assert asv_api.Results.load(str(first)) is not read[0]


def test_a_result_of_another_machine_is_refused_as_asv_does(site: Path) -> None:
    """asv's own check of the machine's name holds within the block."""
    path = next((site / "results").glob("*/*-*.json"))
    with result_cache.remembered():
        asv_api.Results.load(str(path), json.loads(path.read_text())["params"]["machine"])
        with pytest.raises(asv_api.UserError, match="machine name is not"):
            asv_api.Results.load(str(path), "another")


def test_a_broken_result_is_reported_within_the_block_too(tmp_path: Path) -> None:
    """The error names the file."""
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "a-b.json"
    path.write_text("{")
    with result_cache.remembered(), pytest.raises(asv_api.UserError, match=r"a-b\.json"):
        asv_api.Results.load(str(path))


def graph_points(results: Path) -> list[tuple[object, ...]]:
    """Release, environment, times and weights of each benchmark, as asv draws them."""
    return sorted(
        (each.commit_hash, each.env_name, name, repr(values), repr(weights))
        for each in asv_publish.iter_results(str(results))
        for name, axes in each._benchmark_params.items()
        for values in [each.get_result_value(name, axes)]
        for weights in [list(map(asv_publish._stats.get_weight, each.get_result_stats(name, axes)))]
    )


def test_asv_publishes_from_one_reading_of_each_file(site: Path, monkeypatch) -> None:
    """All its passes get the times and weights that the files hold, and open none again."""
    expected = graph_points(site / "results")
    with result_cache.read_once(site / "results"), monkeypatch.context() as block:
        block.setattr(asv_api.Results, "load", None)
        assert graph_points(site / "results") == graph_points(site / "results") == expected
    assert len(expected) > 4
