"""Choices that a reader takes along from page to page, in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsing import open_page
from published_site import HOSTILE, unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

READY = "body[data-ready]"


def followed(page: Any, name: str) -> None:
    """Click the link to a page in the navigation or the footer."""
    page.click(f"header a[href^='{name}'] >> nth=0" if name != "timeline" else "footer a >> nth=0")
    page.wait_for_url(f"**/{name}.html*")
    page.wait_for_selector(READY)


@pytest.mark.parametrize(
    ("name", "select", "value"),
    [
        ("frameworks", "#where", HOSTILE),
        ("release", "#machine", HOSTILE),
        ("release", "#framework", "torch"),
        ("compare", "#sides select >> nth=0", HOSTILE),
        ("compare", "#sides select >> nth=1", "torch"),
        ("timeline", "#machines input:checked", HOSTILE),
        ("timeline", "#frameworks input:checked", "torch"),
    ],
)
def test_the_navigation_carries_a_choice(
    page: Any, site: str, name: str, select: str, value: str
) -> None:
    """Machine and framework that were chosen on one page are chosen on the next one."""
    open_page(page, site, "machine.html#machine=lab-1")
    page.select_option("#machine", HOSTILE)
    page.wait_for_function("name => location.hash.includes(encodeURIComponent(name))", arg="<")
    page.select_option("#framework", "torch")
    page.wait_for_function("() => location.hash.includes('framework=torch')")
    followed(page, name)
    assert value == page.input_value(select)
    assert 0 == page.locator(".missing").count()


def links(page: Any) -> dict[str, str]:
    """The choices in the link to each page of the navigation and the footer, by its file."""
    found = page.eval_on_selector_all(
        "header a, footer a", "all => all.map(link => link.getAttribute('href'))"
    )
    return {name: chosen for name, _, chosen in (each.partition("#") for each in found)}


def test_links_carry_only_what_their_page_has_choices_of(page: Any, site: str) -> None:
    """By the names of that page; the page's own link and those without choices carry nothing."""
    open_page(page, site, "operations.html#family=gemm&precision=int8&machine=lab-1&find=1760")
    found = links(page)
    assert "where=lab-1&at=int8&carried=yes" == found["frameworks.html"]
    assert "side=lab-1&precision=int8&family=gemm&carried=yes" == found["compare.html"]
    assert "machine=lab-1&carried=yes" == found["models.html"]
    without = ("operations.html", "verdicts.html", "releases.html")
    assert ["", "", ""] == [found[name] for name in without]
    open_page(page, site, "models.html")
    assert {""} == {*links(page).values()}


def test_links_follow_a_choice_and_back(page: Any, site: str) -> None:
    """They have the choices in the address, so Back takes one out again."""
    open_page(page, site, "operations.html")
    assert "" == links(page)["timeline.html"]
    page.select_option("#precision", "int8")
    assert "precision=int8" in links(page)["timeline.html"]
    page.go_back()
    page.wait_for_function("() => document.querySelector('footer a').hash === ''")


def test_the_framework_of_a_side_is_carried_without_its_version(page: Any, site: str) -> None:
    """A side may be a release of a framework."""
    open_page(page, site, "compare.html#side=lab-1@numpy-2.0.2&side=lab-1@torch")
    assert "machine=lab-1&framework=numpy&carried=yes" == links(page)["release.html"]


@pytest.mark.parametrize(
    "address",
    [
        "machine.html#machine=lab-9&framework=jax&precision=float8&conditions=cuda",
        "machine.html#machine=lab-1&framework=jax&precision=int8",
        "frameworks.html#where=lab-9&at=float8",
        "operations.html#machine=lab-9&precision=float8&family=fft&operation=inverse",
        "release.html#machine=lab-9&framework=jax",
        "compare.html#side=lab-9@jax&precision=float8&family=fft&device=cuda",
        "models.html#machine=lab-9",
        "index.html#machine=lab-9&framework=jax&precision=float8&family=fft",
        "timeline.html#machine=lab-9&framework=jax&precision=float8&family=fft",
        "timeline.html#machine=lab-1&family=conv",
    ],
)
def test_a_carried_choice_without_data_is_ignored(page: Any, site: str, address: str) -> None:
    """The page looks as without it, and reports nothing, as it does for other addresses."""
    name = address.partition("#")[0]
    open_page(page, site, name + ("#machine=lab-1" if "lab-1" in address else ""))
    usual = page.inner_text("main")
    open_page(page, site, f"{address}&carried=yes")
    assert usual == page.inner_text("main")
    assert 0 == page.locator(".missing, #found:has-text('names')").count()


def test_a_release_of_the_carried_machine_is_shown(page: Any, site: str, html: Path) -> None:
    """Though another machine measured a newer one of the framework."""
    index = json.loads(unpacked((html / "data/changes/index.js").read_text("utf-8")))
    (own,) = (one for one in index if (one["machine"], one["framework"]) == ("lab-1", "numpy"))
    own["releases"] = own["releases"][:1]
    body = script_of(json.dumps(index))
    page.route("**/data/changes/index.js", lambda route: route.fulfill(body=body))
    open_page(page, site, "release.html#machine=lab-1&framework=numpy&carried=yes")
    assert "lab-1" == page.input_value("#machine")
