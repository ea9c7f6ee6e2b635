"""Pages mark a time for which different numbers were sent, with the other one and the commands that
choose."""

from pathlib import Path
from typing import Any

import pytest
from browsing import column
from published_site import (
    BENCHMARK,
    MODEL_RUNS,
    PRECISIONS,
    PROBLEMS,
    RELEASES,
    commit,
    published,
    write_results,
    write_table,
)

from deepbench_ops.storage import conflict_files, entry_conflict_files, model_run_fields
from deepbench_ops.storage.conflict_files import PointVersion
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryVersion

pytestmark = pytest.mark.browser

OLDER, NEWEST = "2.1.3", "2.2.6"
"""Releases of numpy that the site measures one after the other."""

SECONDS = {version: seconds for name, version, _, seconds in RELEASES if name == "numpy"}
OTHER = 1.9e-3
OTHER_RUN = 22.3e-3
LIST = "deepbench conflicts --machine lab-1"
CHOOSE = "deepbench conflicts resolve --shown --machine lab-1"
KERNEL = "family=gemm&set=training&operation=forward&precision=float32&machine=lab-1"


@pytest.fixture(scope="module")
def html(tmp_path_factory: Any) -> Path:
    """A site with two times of numpy's newest release for a kernel of lab-1."""
    folder = tmp_path_factory.mktemp("conflict")
    write_table(folder / "releases.csv")
    write_results(folder / "results")
    params = [PROBLEMS[0], PRECISIONS[0]]
    versions = [
        PointVersion({"benchmark": BENCHMARK, "params": params, "seconds": each, "samples": [each]})
        for each in (SECONDS[NEWEST], OTHER)
    ]
    [result] = (folder / "results" / "lab-1").glob(f"{commit('numpy', NEWEST)[:8]}-*.json")
    conflict_files.write(conflict_files.file_of(result), {}, {versions[0].key: versions})
    latency, *_, scaling = MODEL_RUNS
    runs = [
        EntryVersion(model_run_fields.FILE, {**run, name: seconds})
        for run, name in ((latency, "median_seconds"), (scaling, "step_seconds"))
        for seconds in (run[name], OTHER_RUN)
    ]
    several = {one.key: [each for each in runs if each.key == one.key] for one in runs}
    entry_conflict_files.write(folder / "results" / "lab-1", EntryConflicts({}, several))
    return published(folder)


@pytest.mark.parametrize(
    ("address", "place", "text"),
    [
        ("machine#machine=lab-1&framework=numpy", "#kernels", "1.9 ms"),
        (f"timeline#{KERNEL}&problem={PROBLEMS[0].strip(chr(39))}", "#table", "1.9 ms"),
        (
            f"release#release=numpy-{NEWEST}&machine=lab-1",
            "#kernels",
            f"numpy-{NEWEST}: 1.9 ms",
        ),
        (
            f"release#release=numpy-{OLDER}&machine=lab-1&before=numpy-{NEWEST}",
            "#kernels",
            f"numpy-{NEWEST}: 1.9 ms",
        ),
        ("compare#side=lab-1@numpy&side=lab-1@torch", "#kernels", "numpy: 1.9 ms"),
        (
            f"compare#side=lab-1@torch&side=lab-1@numpy-{NEWEST}",
            "#kernels",
            f"numpy-{NEWEST}: 1.9 ms",
        ),
    ],
)
def test_a_time_in_conflict_is_marked(
    opened: Any, html: Path, address: str, place: str, text: str
) -> None:
    """The column is filled for this time alone; its row opens the commands that list and choose."""
    page = opened(html, address)
    page.wait_for_selector(f"{place} tbody tr")
    cells = column(page, place, "other version")
    assert [text] == [cell for cell in cells if cell]
    assert 1 < len(cells)
    row = page.locator(f"{place} tbody tr").nth(cells.index(text))
    row.locator(".open").click()
    commands = page.locator(f"{place} .detail .command code")
    commands.get_by_text(CHOOSE, exact=True).first.wait_for()
    assert {LIST, CHOOSE} <= set(commands.all_inner_texts())
    assert "1.5 ms and 1.9 ms were sent" in page.locator(f"{place} .detail").inner_text()


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("machine#machine=lab-1&framework=torch", "#kernels"),
        (f"release#release=numpy-{OLDER}&machine=lab-1", "#kernels"),
        (f"compare#side=lab-1@numpy-{OLDER}&side=lab-1@torch", "#kernels"),
    ],
)
def test_tables_without_such_a_time_have_no_column(
    opened: Any, html: Path, address: str, place: str
) -> None:
    """It would be empty."""
    page = opened(html, address)
    page.wait_for_selector(f"{place} tbody tr")
    assert "other version" not in page.locator(f"{place} thead").inner_text()


@pytest.mark.parametrize("place", ["#latency", "#scaling"])
def test_a_run_of_a_model_in_conflict_is_marked(opened: Any, html: Path, place: str) -> None:
    """The column has the other seconds of this run alone."""
    page = opened(html, "models")
    page.wait_for_selector(f"{place} tbody tr")
    assert ["22.3 ms"] == [cell for cell in column(page, place, "other version") if cell]


def test_the_timeline_crosses_the_time(opened: Any, html: Path) -> None:
    """Its key says that the table has the reason."""
    page = opened(html, f"timeline#{KERNEL}&problem={PROBLEMS[0].strip(chr(39))}")
    page.wait_for_selector("#chart .crossed")
    assert "in conflict" in page.inner_text("#key")
