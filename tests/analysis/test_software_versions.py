"""Software that a machine's times were measured with, release by release."""

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis.software_versions import as_text, changed, stacks
from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases.release_table import Release, load
from deepbench_ops.storage.measurement_files import shared_facts

DAY = datetime.date(2025, 1, 1)
OLD, NEW, OTHER = (
    Release("numpy", "2.1.3", DAY),
    Release("numpy", "2.2.6", DAY + datetime.timedelta(9)),
    Release("torch", "2.8.0", DAY),
)
PUBLISHED = Release("published", "2025.1.1", DAY)
FACTS = st.dictionaries(st.sampled_from("abcd"), st.text(min_size=1, max_size=3))


def measured(
    folder: Path, release: Release, *facts: dict[str, str], environment: str = "env"
) -> None:
    lines = [{"fingerprint": str(n), "facts": each} for n, each in enumerate(facts)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    folder.mkdir(exist_ok=True)
    (folder / f"{release.hash[:8]}-{environment}.measurements.jsonl").write_text(text, "utf-8")


def test_new_software_of_a_release_is_listed_against_the_one_before(tmp_path: Path) -> None:
    """A value that changed, one that came, one that went; another framework's is no news."""
    measured(tmp_path / "box", OLD, {"blas": "0.3.27", "core": "Zen", "gone": "1"})
    measured(tmp_path / "box", OTHER, {"blas": "mkl"})
    measured(tmp_path / "box", NEW, {"blas": "0.3.29", "core": "Zen", "come": "2"})
    first, other, second = stacks(tmp_path, "box", [OLD, OTHER, NEW])
    assert {} == first.new == other.new
    assert {"blas": ("0.3.27", "0.3.29"), "come": ("", "2"), "gone": ("1", "")} == second.new
    assert "0.3.29" == second.facts["blas"]


def test_only_software_common_to_all_times_of_a_release_is_listed(tmp_path: Path) -> None:
    """In one file and in several: threads that differ between kernels are no news."""
    measured(tmp_path / "box", OLD, {"blas": "a", "threads": "1"}, {"blas": "a", "threads": "2"})
    measured(tmp_path / "box", OLD, {"blas": "a", "core": "Zen"}, environment="other")
    assert {"blas": "a"} == stacks(tmp_path, "box", [OLD])[0].facts


def test_software_of_a_framework_that_is_not_installed_is_listed(tmp_path: Path) -> None:
    """Its distribution was removed after its releases were measured."""
    gone = Release("removed", "1.0.0", DAY)
    assert not gone.measurable
    measured(tmp_path / "box", gone, {"blas": "a"})
    assert {"blas": "a"} == stacks(tmp_path, "box", [gone])[0].facts


def test_ranks_of_an_all_reduce_hide_nothing(tmp_path: Path) -> None:
    """They load no BLAS; they are asked where nothing else was measured."""
    own, ranks = {"blas": "0.3.27", "threads": "2"}, {"gloo": "1", "ranks": "8"}
    measured(tmp_path / "box", OLD, ranks, own)
    measured(tmp_path / "box", NEW, ranks)
    old, new = stacks(tmp_path, "box", [OLD, NEW])
    assert (own, ranks) == (old.facts, new.facts)


def test_a_release_without_any_word_has_no_stack(tmp_path: Path) -> None:
    measured(tmp_path / "box", OLD)
    assert [] == stacks(tmp_path, "box", [OLD, NEW])


def test_a_publication_tells_the_libraries_of_its_day(tmp_path: Path) -> None:
    (tmp_path / "card").mkdir()
    path = tmp_path / "card" / f"{PUBLISHED.hash[:8]}-published.json"
    about = (PUBLISHED.hash, PUBLISHED.milliseconds, "", "published", {})
    asv_api.Results({"machine": "card"}, {"CUDA Version": "8.0"}, *about).save(str(tmp_path))
    assert {"CUDA Version": "8.0"} == stacks(tmp_path, "card", [PUBLISHED])[0].facts
    path.write_text("[]", "utf-8")
    with pytest.raises(DeepbenchError, match=r"is not whole \(.*\): restore it from git"):
        stacks(tmp_path, "card", [PUBLISHED])


def test_the_published_cards_came_by_new_libraries() -> None:
    """Of the committed results: the V100 of November 2018 had CUDA 10 where it had 9 before."""
    results = Path(__file__).resolve().parents[2] / "results"
    timeline = sorted(load(), key=lambda release: release.date)
    found = {one.release.date.isoformat(): one for one in stacks(results, "nvidia-v100", timeline)}
    assert "10.0.130" == found["2018-11-02"].new["CUDA Version"][1]


def test_that_the_release_is_another_is_no_news() -> None:
    """Neither by the framework's own version nor by its name with the version."""
    before = {"framework": "numpy 2.1.3", "numpy": "2.1.3", "scipy": "1.15.3"}
    after = {"framework": "numpy 2.2.6", "numpy": "2.2.6", "scipy": "1.16.3"}
    assert {"scipy": ("1.15.3", "1.16.3")} == changed(before, after)


def test_news_are_one_line() -> None:
    """A new library, one that is gone, and long names."""
    news = {"blas_core": ("Zen", "Haswell"), "mkl": ("", "2024.2"), "gone": ("1", "")}
    gone = "gone not recorded (before: 1)"
    assert f"blas core Haswell (before: Zen); mkl 2024.2; {gone}" == as_text(news)
    assert "x 1234567..." == as_text({"x": ("", "12345678901")}, longest=10)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("fpu sse " * 9 + "avx", "fpu sse " * 9 + "avx512", "flags avx512 (before: avx)"),
        ("fpu sse " * 9, "fpu sse " * 9 + "avx", "flags with avx"),
        ("fpu sse " * 9 + "avx", "fpu sse " * 9, "flags without avx"),
        ("fpu " * 20 + "sse", "sse " + "fpu " * 20, "flags in another order"),
    ],
)
def test_of_long_texts_the_words_that_differ_are_shown(before: str, after: str, text: str) -> None:
    """Cut after so many characters, both would look the same."""
    assert text == as_text({"flags": (before, after)})


def test_memory_is_in_gibibytes_and_small_differences_are_none() -> None:
    """The kernel keeps another share of the same memory for itself."""
    size = 25276502016
    assert "" == as_text({"memory_bytes": (str(size), str(size + 2**20))})
    news = {"memory_bytes": (str(size), str(2 * size))}
    assert "memory 47.08 GiB (before: 23.54 GiB)" == as_text(news)
    assert "memory 23.54 GiB" == as_text({"memory_bytes": ("", str(size))})
    assert "last level cache 32 MiB" == as_text({"last_level_cache_bytes": ("", str(2**25))})


@given(before=FACTS, after=FACTS)
def test_what_changed_leads_from_one_to_the_other(
    before: dict[str, str], after: dict[str, str]
) -> None:
    """Applied to the first it gives the second, and backwards the first again."""
    news = changed(before, after)
    forward = {**before, **{name: new for name, (_, new) in news.items()}}
    assert after == {name: text for name, text in forward.items() if text}
    assert {} == changed(after, after)
    assert {name: pair[::-1] for name, pair in news.items()} == changed(after, before)


@given(several=st.lists(FACTS))
def test_what_all_agree_on_is_in_each(several: list[dict[str, str]]) -> None:
    assert all(shared_facts(several).items() <= facts.items() for facts in several)
