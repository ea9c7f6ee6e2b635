"""Our own pages with missing, broken or foreign files in results/."""

import json
import shutil
from pathlib import Path
from typing import Any

import published_site
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = (
    *("compare", "frameworks", "index", "machine", "models", "nodes", "operations"),
    *("release", "releases", "timeline", "verdicts"),
)
WITHOUT_RESULTS = ("models", "operations", "releases")
"""Pages whose published tables, problems and releases need no results."""


def test_without_results_every_page_says_so(tmp_path: Path, opened: Any) -> None:
    """A sentence with "yet" stands in place of the content, and pages of other lists show these."""
    published_site.write_table(tmp_path / "releases.csv")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "benchmarks.json").write_text('{"version": 2}', "utf-8")
    html = published_site.published(tmp_path)
    for name in PAGES:
        page = opened(html, name)
        if name in WITHOUT_RESULTS:
            assert page.locator("main tbody tr").count(), name
        else:
            assert "yet" in page.inner_text("main"), name


def test_a_single_machine_is_enough(tmp_path: Path, opened: Any) -> None:
    """Every page works, and names it; only nodes need several."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    shutil.rmtree(tmp_path / "results" / published_site.HOSTILE)
    html = published_site.published(tmp_path)
    for name in PAGES:
        page = opened(html, name)
        assert (name == "nodes") != ("lab-1" in page.inner_text("main")), name
        assert 0 == page.locator("[role=alert]").count(), name


def test_a_single_release_is_enough(tmp_path: Path, opened: Any) -> None:
    """Pages that need two releases say so, the others show the release."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    shutil.rmtree(tmp_path / "results" / published_site.HOSTILE)
    for path in (tmp_path / "results" / "lab-1").glob("*-release-*"):
        if not path.name.startswith(published_site.commit("numpy", "2.2.6")[:8]):
            path.unlink()
    html = published_site.published(tmp_path)
    shown = {name: opened(html, name).inner_text("main") for name in PAGES}
    assert "No family has two releases" in shown["index"]
    assert "numpy-2.2.6" in shown["timeline"]
    assert "is the first release of its kernels" in shown["release"]
    assert "No kernel has enough times to judge yet" in shown["verdicts"]
    compare = opened(html, "compare")
    compare.locator("#releases").scroll_into_view_if_needed()
    compare.wait_for_selector("#heat-summary:has-text('two releases or more')")


def test_broken_files_are_reported_on_every_page(tmp_path: Path, opened: Any) -> None:
    """A broken profile and broken raw samples are named; the rest is shown."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    (tmp_path / "results" / "lab-1" / "machine.profile").write_text("{", "utf-8")
    torn = min((tmp_path / "results" / "lab-1").glob("*.jsonl"))
    torn.write_text(torn.read_text()[:-20], "utf-8")
    html = published_site.published(tmp_path)
    for name in PAGES:
        page = opened(html, name)
        page.wait_for_selector("[role=alert]")
        shown = page.locator("[role=alert]").all_inner_texts()
        assert 2 == len(shown), name
        assert any(torn.name in text for text in shown)
        assert any("machine.profile is not a machine profile" in text for text in shown)
    assert published_site.HOSTILE in opened(html, "index").inner_text("#machines")


@pytest.mark.parametrize("what", ["machine.json", "*-release-*.json"])
def test_a_file_of_another_format_version_is_reported(
    tmp_path: Path, opened: Any, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    """asv skips the file: the pages and the output of publishing name it, and show the rest."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    path = min((tmp_path / "results" / "lab-1").glob(what))
    stored = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(stored | {"version": 99}), "utf-8")
    page = opened(published_site.published(tmp_path), "index")
    (report,) = page.locator("[role=alert]").all_inner_texts()
    assert path.name in report and "has format version 99, and asv reads" in report
    assert "has format version 99" in caplog.text
    assert published_site.HOSTILE in page.inner_text("#machines")


def test_a_removed_benchmark_is_left_out(tmp_path: Path, opened: Any) -> None:
    """Its results stay in the files; asv's pages and ours show the other benchmarks."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    path = next((tmp_path / "results" / "lab-1").glob("*-release-*.json"))
    stored = json.loads(path.read_text("utf-8"))
    stored["results"]["gone.Training.kernel_forward"] = stored["results"][published_site.BENCHMARK]
    path.write_text(json.dumps(stored), "utf-8")
    site = published_site.published(tmp_path)
    assert "gone" not in opened(site, "machine").inner_text("#content")
    shown = opened(site, "index").locator("[role=alert]").all_inner_texts()
    assert any(
        "gone.Training.kernel_forward is a benchmark of another suite" in text for text in shown
    )


@pytest.mark.parametrize(
    ("name", "params", "why"),
    [
        ("gemm.<img src=x onerror=alert(1)>.kernel_forward", None, "no benchmark is called"),
        ("gemm.Training.kernel_backward", ["'m1_n1'", "'float32'"], "unknown gemm problem 'm1_n1'"),
        ("gemm.ModernFull.kernel_forward", ["'m1_n1_k1_NN'", "'half'"], "unknown precision of"),
        ("gemm.Training.kernel_odd", ["'m1_n1_k1_NN'", "'float32'"], "unknown operation of gemm"),
        ("gemm.Training.kernel_backward", ["'m1_n1_k1_NN'"], "are not the parameters of gemm"),
    ],
)
def test_a_result_that_names_no_kernel_is_reported_and_the_rest_is_shown(
    tmp_path: Path, opened: Any, name: str, params: list[str] | None, why: str
) -> None:
    """The pages are written, nothing in the file is executed, and its times are counted."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    path = next((tmp_path / "results" / "lab-1").glob("*-release-*.json"))
    stored = json.loads(path.read_text("utf-8"))
    entry = list(stored["results"][published_site.BENCHMARK])
    if params is not None:
        entry[0], entry[1] = [1.0], [[text] for text in params]
        del entry[2:]
    stored["results"][name] = entry
    path.write_text(json.dumps(stored), "utf-8")
    page = opened(published_site.published(tmp_path), "index")
    assert any(why in text for text in page.locator("[role=alert]").all_inner_texts())
    assert published_site.HOSTILE in page.inner_text("#machines")
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seconds": 0.0}, "0.0 is no time"),
        ({"seconds": -1.0}, "-1.0 is no time"),
        ({"env_vars": {"DEEPBENCH_LAYOUT": "x\ncurl evil #"}}, "is no condition"),
    ],
)
def test_an_impossible_time_or_condition_is_reported(
    tmp_path: Path, opened: Any, change: dict[str, Any], why: str
) -> None:
    """It causes no division by zero and no command from the file."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    path = next((tmp_path / "results" / "lab-1").glob("*-release-*.json"))
    stored = json.loads(path.read_text("utf-8"))
    if "seconds" in change:
        values = stored["results"][published_site.BENCHMARK][0]
        values[:] = [value and change["seconds"] for value in values]
    stored["env_vars"] |= change.get("env_vars", {})
    path.write_text(json.dumps(stored), "utf-8")
    page = opened(published_site.published(tmp_path), "index")
    assert any(why in text for text in page.locator("[role=alert]").all_inner_texts())


def test_a_published_file_that_names_no_kernel_stops_nothing(tmp_path: Path, opened: Any) -> None:
    """Also where the machine has a peak that times are compared with."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    path = next((tmp_path / "results" / "lab-1").glob("*-release-*.json"))
    stored = json.loads(path.read_text("utf-8"))
    entry = stored["results"].pop(published_site.BENCHMARK)
    stored["results"] = {
        "gone": entry,
        "gemm.Training.kernel_forward": [[1.0], [["'m0_n1_k1_NN'"]]],
    }
    stored["env_name"] = "published"
    path.with_name(path.name[:8] + "-published.json").write_text(json.dumps(stored), "utf-8")
    page = opened(published_site.published(tmp_path), "index")
    shown = page.locator("[role=alert]").all_inner_texts()
    assert any("is a benchmark of another suite" in text for text in shown)
    assert any("are not the parameters of gemm" in text for text in shown)


def test_an_unknown_release_is_reported(tmp_path: Path, opened: Any) -> None:
    """Its row is not in the release table: its times are left out, and the page says so."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    table = tmp_path / "releases.csv"
    rows = [line for line in table.read_text().splitlines() if "numpy,2.2.6" not in line]
    table.write_text("\n".join(rows) + "\n", "utf-8")
    page = opened(published_site.published(tmp_path), "timeline")
    short = published_site.commit("numpy", "2.2.6")[:8]
    assert f"lab-1: 2 times of commit {short} are left out" in page.inner_text("#main")
    assert "numpy-2.1.3" in page.inner_text("#table")
