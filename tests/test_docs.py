"""The documentation: its links, the files that it names, its lab notes and its words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import copy_code_into_docs
import make_family_table
import plain_words
import pytest

from deepbench_ops.exchange.submissions import submission_checks
from deepbench_ops.machine import impossible_times, steadiness
from deepbench_ops.problems import conv

ROOT = Path(__file__).parent.parent
FRONT = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "results/README.md")
]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NOTES = [page for page in PAGES if page.parent.name == "lab-notes" and page.name != "index.md"]

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
FOLDERS = "deepbench_ops|asv_bench_deepbench|benchmarks|bench|scripts|tests|docs"
NAMED = re.compile(rf"`((?:{FOLDERS})/[\w./-]+)`")
"""Paths of this repository between backquotes; those with a placeholder are none."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and mkdocs make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", title.lower()).strip() for title in titles]
    return {re.sub(r" +", "-", title) for title in plain}


@pytest.mark.parametrize("page", [*FRONT, *PAGES], ids=name_of)
def test_links_lead_to_files_and_headings(page):
    """Every relative link names a file that exists, and a heading in it."""
    for target, anchor in LINK.findall(page.read_text()):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("page", [*FRONT, *PAGES], ids=name_of)
def test_named_files_exist(page):
    """A path of this repository that a page names is there."""
    named = set(NAMED.findall(page.read_text()))
    assert set() == {path for path in named if not (ROOT / path).exists()}


@pytest.mark.parametrize("note", NOTES, ids=name_of)
def test_a_lab_note_is_dated_and_listed(note):
    """It says on which day, on which machine and with which script, and the list links to it."""
    day, *_ = re.match(r"(\d{4}-\d\d-\d\d)-", note.name).groups()
    text = note.read_text()
    assert str(int(day[-2:])) in text.splitlines()[2]
    assert re.search(r"Machine|Data", text)
    assert re.search(r"Script|script", text)
    assert (
        f"| {day} | [{text.splitlines()[0][2:]}]({note.name}) |"
        in (note.parent / "index.md").read_text()
    )


@pytest.mark.parametrize("page", [*FRONT[:3], ROOT / "CHANGELOG.md", *PAGES], ids=name_of)
def test_pages_use_plain_words(page):
    """No paragraph uses a word, or begins a sentence, in a way that is hard to read."""
    text = page.read_text()
    found = [words for part in text.split("\n\n") if (words := plain_words.nameless(part))]
    assert [] == [*found, *plain_words.relative(text)]


def test_the_architecture_is_one_page():
    """At most 90 lines and 1,150 words; formats and long reasons are pages of the reference."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert len(text.splitlines()) <= 90
    assert len(text.split()) <= 1150


def test_a_change_is_one_line():
    """Below Unreleased every entry of the changelog is one line, and none stands there twice."""
    unreleased = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1]
    lines = [line for line in unreleased.splitlines()[1:] if line and not line.startswith("#")]
    assert [] == [line for line in lines if not line.startswith("- ") or len(line) > 150]
    assert len(lines) == len({*lines})


def test_entries_of_the_changelog_are_one_line_each():
    """Below the headings of each version, and no line is the second one of an entry."""
    versions = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    lines = [line for each in versions for line in each.split("\n### ", 1)[1].splitlines()[1:]]
    assert [] == [line for line in lines if line and not line.startswith(("- ", "### "))]


def test_the_architecture_lists_every_folder():
    """A row of its table for each folder of the package, and no other."""
    table = (ROOT / "ARCHITECTURE.md").read_text()
    listed = re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)
    folders = {path.parent.name for path in (ROOT / "deepbench_ops").glob("*/__init__.py")}
    assert sorted(folders) == sorted(listed)


def test_the_page_of_experiments_lists_every_script_in_order():
    """A stranger finds the script of a question there."""
    listed = re.findall(r"^\| `(\w+\.py)` \|", (ROOT / "bench/README.md").read_text(), re.MULTILINE)
    scripts = sorted(path.name for path in (ROOT / "bench").glob("*.py"))
    assert scripts == listed


def decisions(page: Path, before: str) -> list[tuple[str, str]]:
    """Return the rows of the table below a line that begins so: subject, and the choice up to its
    reason."""
    table = page.read_text().split(f"\n{before}", 1)[1].split("|---|---|\n", 1)[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return [(subject, re.split("[,;:.(]", choice)[0].strip()) for subject, choice in rows]


def test_both_lists_of_library_decisions_agree():
    """The page of dependencies has the decisions of the architecture, in its order."""
    short = decisions(ROOT / "ARCHITECTURE.md", "Libraries are preferred")
    page = ROOT / "docs" / "reference" / "dependencies.md"
    assert short == decisions(page, "## Libraries and own code")
    assert ("locks", "filelock") in short


def variables_of_the_program() -> Iterator[str]:
    """Yield the names of environment variables in the code: texts such as DEEPBENCH_THREADS."""
    for package in ("deepbench_ops", "asv_bench_deepbench"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and re.fullmatch("DEEPBENCH_[A-Z_]+", text):
                    yield text


def test_the_tables_of_variables_list_those_of_the_program():
    """Each variable that the code reads or sets has its row in the conventions, and no other."""
    page = (ROOT / "docs" / "reference" / "conventions.md").read_text()
    _, section = page.split("\n## Environment variables\n")
    listed = re.findall(r"^\| `(DEEPBENCH_\w+)`", section.split("\n## ")[0], re.MULTILINE)
    names_of_sets = {"DEEPBENCH_SETS"}  # a name in Python
    assert sorted(set(variables_of_the_program()) - names_of_sets) == sorted(listed)


def test_the_table_of_families_is_that_of_the_code():
    """docs/reference/families.md is up to date: scripts/make_family_table.py writes it."""
    assert make_family_table.page() == make_family_table.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", copy_code_into_docs.PAGES, ids=name_of)
def test_printed_files_are_the_files(page):
    """A block of code below a file's name is that file: scripts/copy_code_into_docs.py copies."""
    assert copy_code_into_docs.copied(page) == page.read_text(encoding="utf-8")


LIMITS = {
    "less than {:g} or more than {:g} times its nominal": steadiness.SCALING,
    "not within {:.0%} of": (steadiness.CONFIRMED - 1,),
    "a factor of {:g}, or {:g} robust": (steadiness.LEAST_APART, steadiness.DEVIATIONS),
    "than {:g} times the peak": (impossible_times.BEYOND,),
    "whole models, {:g} times the peak": (impossible_times.BEYOND * conv.FAST_ALGORITHM,),
    "more than {:g} times the memory": (impossible_times.BEYOND_CACHES,),
    "{:g} times where the operands are {:g} times": (
        impossible_times.BEYOND_MEMORY,
        impossible_times.LARGER,
    ),
    "more than {:g} times off the median of its own samples": (
        submission_checks.LARGEST_SAMPLE_RATIO,
    ),
    "more than {:g} times off the median of its raw": (submission_checks.LARGEST_RECORD_RATIO,),
    "less than a {:g}th of the peak": (1 / submission_checks.LEAST_SHARE_OF_ROOF,),
    "{:g} kernels of a family": (submission_checks.FEWEST_KERNELS,),
}
"""Sentences of the page of limits, and the constants in them."""


@pytest.mark.parametrize("sentence", LIMITS)
def test_the_page_of_limits_has_the_constants(sentence):
    """A limit is the one of the code, here and on its page."""
    page = (ROOT / "docs" / "reference" / "limits.md").read_text().replace(" %", "%")
    assert sentence.format(*LIMITS[sentence]) in page.replace("\n", " ")
