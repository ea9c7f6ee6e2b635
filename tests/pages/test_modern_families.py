"""Operations of today on the pages, published from results like any other family."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import published_site
import pytest
from browsing import column, series
from published_site import CONDITIONS, RELEASES

from deepbench_ops.problems import find

pytestmark = pytest.mark.browser

BENCHMARK = "attention.Modern.kernel_forward"
PROBLEMS = (
    "attention_b1_h64_kv8_q1024_s1024_d128_v128_causal",
    "attention_b20_h16_kv16_q384_s384_d64_v64",
)
TITLE = "attention 64 heads of 128, 8 KV heads, 1024 x 1024, causal"
SECONDS = {3: 0.1, 5: 0.2, 7: 0.4}
"""Of the first problem with torch 2.3.1 and 2.5.1, and with numpy 2.2.6, by place in RELEASES."""


@pytest.fixture(scope="module")
def modern(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A published site whose machine has attention next to products."""
    folder = tmp_path_factory.mktemp("modern")
    names = tuple(f"{name!r}" for name in PROBLEMS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(published_site.OTHERS, BENCHMARK, names)
        published_site.write_table(folder / "releases.csv")
        published_site.write_results(folder / "results")
        published_site.write_more(folder / "results")
        for place, seconds in SECONDS.items():
            published_site.store(
                folder / "results", BENCHMARK, "lab-1", *RELEASES[place][:3], seconds, CONDITIONS
            )
        yield published_site.published(folder)


@pytest.fixture
def shown(modern: Path, opened: Callable[..., Any]) -> Callable[[str], Any]:
    """Opens a page of it."""
    return lambda address: opened(modern, address)


def test_a_machine_has_the_family_in_its_tables_and_its_shares(
    shown: Callable[[str], Any],
) -> None:
    """With the shape in words, and the rate that follows from the seconds."""
    page = shown("machine#machine=lab-1&framework=torch&precision=float32&family=attention")
    rate = find("attention", PROBLEMS[0]).flops / SECONDS[5] / 1e9
    table = page.inner_text("#kernels")
    assert TITLE in table
    assert f"{rate:.3g} GFLOP/s" in table
    assert "attention" in page.inner_text("#families")


def test_the_timeline_has_its_lines(shown: Callable[[str], Any]) -> None:
    """A line of torch's two releases, with their seconds."""
    page = shown(
        f"timeline#machine=lab-1&family=attention&problem={PROBLEMS[0]}&framework=torch&measure=seconds"
    )
    (line,) = series(page, "#chart")
    assert ["2024-06-05", "2024-10-29"] == [day[:10] for day in line["x"]]
    assert 2 == pytest.approx(line["y"][1] / line["y"][0])


def test_frameworks_are_compared(shown: Callable[[str], Any]) -> None:
    """Both kernels, with their shapes in words."""
    page = shown("frameworks#where=lab-1")
    table = page.locator("details:has(summary:has-text('attention forward float32'))")
    assert "attention forward float32: 2 kernels" in table.inner_text()
    table.locator("summary").click()
    table.locator(f"text={TITLE}").first.wait_for()


def test_two_releases_are_compared(shown: Callable[[str], Any]) -> None:
    """torch 2.5.1 takes twice as long as 2.3.1."""
    page = shown("compare#side=lab-1@torch-2.3.1&side=lab-1@torch-2.5.1")
    (attention,) = page.locator("#by-family tr:has-text('attention')").all()
    assert "2\N{MULTIPLICATION SIGN} slower" in attention.inner_text()


def test_the_problems_are_listed_with_their_work(shown: Callable[[str], Any]) -> None:
    """Under their titles, whether they are measured or not."""
    page = shown(f"operations#family=attention&precision=bfloat16&find={PROBLEMS[0]}")
    (flops,) = column(page, "#problems", "FLOPs")
    assert TITLE in page.inner_text("#problems")
    assert f"{find('attention', PROBLEMS[0]).flops / 1e9:.3g} GFLOP" == flops
