"""Content security policy of the pages: nothing that results contain can run."""

import json
import re
from pathlib import Path
from typing import Any

import published_site
import pytest

from deepbench_ops.pages.rendering import render

POLICY = render("policy.html").strip()
pytestmark = pytest.mark.browser

HOSTILE = published_site.HOSTILE
PAGES = (
    *("index", "machine", "operations", "timeline", "compare", "models", "release", "verdicts"),
    *("frameworks", "nodes", "releases", "benchmarks"),
)


def test_every_page_has_the_policy_before_its_first_script(html: Path) -> None:
    """Browsers apply a policy only to the text after it."""
    assert {f"{name}.html" for name in PAGES} == {path.name for path in html.glob("*.html")}
    for path in html.glob("*.html"):
        text = path.read_text()
        assert 1 == text.count(POLICY), path
        assert text.index(POLICY) < text.index("<script"), path


@pytest.mark.parametrize("name", PAGES)
def test_no_page_contains_a_script(html: Path, name: str) -> None:
    """All scripts are files, and no element has a handler in its markup."""
    text = re.sub(r'"[^"]*"|&[^;]*;', "", (html / f"{name}.html").read_text())
    assert text.count("<script") == text.count("<script src=") + text.count("<script language=")
    assert not re.search(r"<[^>]*\son\w+=", text)


def test_markup_that_scripts_insert_runs_nothing(browser: Any, site: str) -> None:
    """The browser reports the refused attempt."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site}benchmarks.html")
    refused = page.evaluate(
        """() => new Promise(done => {
            document.addEventListener('securitypolicyviolation',
                event => done(event.violatedDirective), {once: true});
            const span = document.createElement('span');
            span.innerHTML = '<img src="swallow.png" onload="window.pwned = 1">';
            document.body.append(span);
            setTimeout(() => done('none'), 3000);
        })"""
    )
    assert refused.startswith("script-src")
    assert page.evaluate("window.pwned") is None
    context.close()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A site of results whose list of benchmarks holds markup wherever there is text."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    path = tmp_path / "results" / "benchmarks.json"
    listed = json.loads(path.read_text())
    for name, benchmark in listed.items():
        if name != "version":
            benchmark["pretty_name"] = HOSTILE
            benchmark["param_names"] = [HOSTILE, f"precision{HOSTILE}"]
            benchmark["unit"] = benchmark["type"] = HOSTILE
            benchmark["code"] = benchmark["pretty_source"] = HOSTILE
            benchmark["params"][0].append(HOSTILE)
    path.write_text(json.dumps(listed))
    return published_site.published(tmp_path)


@pytest.mark.parametrize("place", ["", "summarylist", "regressions", published_site.BENCHMARK])
def test_asvs_pages_show_markup_of_the_list_of_benchmarks_as_text(
    browser: Any, hostile: Path, place: str
) -> None:
    """Also without the policy, which this browser is asked to ignore."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{hostile.as_uri()}/benchmarks.html#{place or '/'}")
    page.wait_for_timeout(1000)
    for hovered in page.locator(".benchmark-container, #graphdisplay-tree a").all()[:4]:
        if hovered.is_visible():
            hovered.hover()
            page.wait_for_timeout(200)
    assert 0 == page.locator("img[src=x]").count()
    assert page.evaluate("window.pwned") is None
    assert [] == faults
    context.close()
