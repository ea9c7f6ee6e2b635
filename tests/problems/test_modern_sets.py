"""The sets of modern operations: listed, selected and measured, and each once."""

import csv
import re
from pathlib import Path

import make_modern_tables
import pytest
from modern_table_sources import Fact, LeftOut

from deepbench_ops.problems import MODERN_SETS, bench_regex, load, select
from deepbench_ops.problems.problem import DEEPBENCH_SETS, SETS
from deepbench_ops.problems.problem_lists import TYPES, measured

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT.parent / "shared" / "data" / "modern" / "problems.csv"
FOLDER = ROOT / "deepbench_ops" / "problems"
LINES = 226
"""Published sizes in the list from which the tables of modern operations are made."""

FAMILIES = [name for name, kind in TYPES.items() if kind.listed_in == MODERN_SETS]


def suite():
    """Each benchmark of the suite's classes that no file holds: (benchmark, problem, precision)."""
    discovered = pytest.importorskip("deepbench_ops.suite.discovered_families")
    for kind in vars(discovered).values():
        for name, method in vars(kind).items() if isinstance(kind, type) else ():
            if name.startswith("kernel_"):
                for problem in method.params[0]:
                    for precision in method.params[1]:
                        yield method.benchmark_name, problem, precision


def test_families_of_today_and_of_deepbench_are_listed_apart():
    """No problem is in a set that its family does not declare."""
    for family, kind in TYPES.items():
        assert kind.listed_in in (MODERN_SETS, DEEPBENCH_SETS, SETS)
        for problem in load(family):
            assert set(problem.sets) <= set(kind.listed_in)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_full_set_includes_the_smaller_one(family):
    """All problems are in modern_full, each is measured in one set alone, and modern has some."""
    small, rest = (measured(family, name) for name in MODERN_SETS)
    assert small
    assert not set(small) & set(rest)
    assert load(family) == load(family, "modern_full")
    assert small == load(family, "modern")
    assert {*small, *rest} == {*load(family)}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_suite_measures_each_problem_once(family):
    """A benchmark for each problem, operation that is timed of it, and precision of its family."""
    found = [each for each in suite() if each[0].startswith(f"{family}.")]
    assert len(found) == len(set(found))
    first = (0, 1)
    expected = {
        (f"{family}.{('Modern', 'ModernFull')[place]}.kernel_{operation}", problem.id, precision)
        for place in first
        for problem in measured(family, MODERN_SETS[place])
        for operation in problem.timed_operations
        for precision in problem.precisions
    }
    assert expected == {each for each in found if "first_call" not in each[0]}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_selection_names_the_class_that_measures(family):
    """The pattern of modern-full picks every problem of the family in the suite."""
    pattern = bench_regex(select("modern-full", family))
    found = [each for each in suite() if each[0].startswith(f"{family}.")]
    picked = {p for name, p, kind in found if re.search(pattern, f"{name}({p!r}, {kind!r})")}
    assert {problem.id for problem in load(family)} == picked


@pytest.mark.parametrize("family", FAMILIES)
def test_problems_of_today_say_where_they_are_from(family):
    """Each has a source, an application and a title with words; its timed operations exist."""
    for problem in load(family):
        assert problem.source and problem.application
        assert " " in problem.title
        assert set(problem.timed) <= set(problem.operations)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_headline_has_some_of_each_family_of_today(family):
    """About two, from the smaller set."""
    chosen = TYPES[family].headline
    assert ["modern"] == list(chosen)
    assert 1 <= len(chosen["modern"]) <= 3


def published_lines():
    """Each published line, with its problems or the reason why it has none."""
    with (FOLDER / make_modern_tables.LINES).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_every_published_line_is_in_the_set_or_has_a_reason():
    """Together they are all lines; those that two cores can run are in the smaller set."""
    listed = published_lines()
    measured_lines = [line for line in listed if line["problems"]]
    stated = [line for line in listed if line["reason"]]
    assert LINES == len({line["name"] for line in listed}) == len(measured_lines) + len(stated)
    for line in measured_lines:
        for each in line["problems"].split("; "):
            family, problem = each.split()
            wanted = "modern" if line["core"] == "1" else "modern_full"
            assert problem in {found.id for found in load(family, wanted)}


def test_rows_of_the_sets_are_the_published_lines_and_those_of_this_project():
    """A line that two families measure has a row in each; no row is without a line."""
    sources = make_modern_tables.readers()
    rows = {
        family: sum(
            count
            for problem in load(family)
            for name, count in zip(problem.sets, problem.rows, strict=True)
            if name in MODERN_SETS
        )
        for family in sources
    }
    entries = [each.split()[0] for line in published_lines() if line["problems"]
               for each in line["problems"].split("; ")]  # fmt: skip
    assert rows == {name: entries.count(name) + len(sources[name].OURS) for name in sources}


def test_the_documentation_has_the_reason_of_each_line_without_a_problem():
    """By its name, in the table of sizes that are left out."""
    page = (ROOT / "docs" / "reference" / "method_modern.md").read_text(encoding="utf-8")
    left_out = page.partition("## Left out")[2]
    missing = [line["name"] for line in published_lines() if line["reason"]]
    assert missing
    assert [] == [name for name in missing if f"`{name}`" not in left_out]


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the list of published sizes is not here")
def test_the_tables_are_those_of_the_script(monkeypatch, tmp_path):
    """Every table that scripts/make_modern_tables.py writes is the committed one."""
    monkeypatch.setattr("sys.argv", ["", str(PUBLISHED), "--out", str(tmp_path)])
    make_modern_tables.main()
    for path in tmp_path.iterdir():
        assert (FOLDER / path.name).read_text("utf-8") == path.read_text("utf-8")


LINE = {
    "family": "gemm_llm",
    "name": "llama3_8b_qkv_m1",
    "dims": "m=1;n=6144;k=4096;layout=NT",
    "dtype": "bf16|fp16",
    "operation": "forward",
    "source_repo": "vllm-project/vllm",
    "source_path": "weight_shapes.py",
    "licence": "Apache-2.0",
    "note": "core; 0.0503 GFLOP; exact row",
}


def test_a_published_line_is_read():
    """Sizes as text, the mark of the smaller set, and the note without FLOPs."""
    fact = Fact.of(LINE)
    assert (1, 6144, True) == (fact.size("m"), fact.size("n"), fact.core)
    assert ("exact row", "vllm-project/vllm weight_shapes.py") == (fact.note, fact.source)
    assert ["published in bfloat16, float16", "float32 added by this project"] == fact.type_notes
    with pytest.raises(LeftOut, match="b is missing"):
        fact.size("b")


def test_a_line_that_no_module_reads_is_an_error(tmp_path, monkeypatch):
    """Unless the reason is stated; lines that are read or left out with a reason are none."""
    readers = {name: make_modern_tables.readers()[name] for name in ("linear_layer", "all_gather")}
    monkeypatch.setattr(make_modern_tables, "readers", lambda: readers)

    def written(**changes):
        rows = [LINE, {**LINE, "name": "qwen2.5_7b_m2", **changes}]
        with (tmp_path / "facts.csv").open("w", encoding="utf-8", newline="") as lines:
            table = csv.DictWriter(lines, LINE)
            table.writeheader()
            table.writerows(rows)
        arguments = ["", str(tmp_path / "facts.csv"), "--out", str(tmp_path)]
        monkeypatch.setattr("sys.argv", arguments)
        make_modern_tables.main()

    written()
    written(dims="m=1;n=6144")  # left out: k is missing
    written(family="attention_index")  # the reason is stated
    with pytest.raises(SystemExit, match=r"no module reads qwen2\.5_7b_m2: write one"):
        written(family="unheard_of")
    with pytest.raises(SystemExit, match="no module reads"):
        written(family="collective", dims="ranks=8;tokens=8;hidden=8", operation="broadcast")


def test_lines_of_one_size_become_one_problem(tmp_path):
    """Rows are counted, sources joined, the smaller set decides, and timed operations add up."""
    other = {**LINE, "name": "qwen2.5_7b_m1", "note": "exact row", "source_path": "other.py"}
    facts = [Fact.of(LINE), Fact.of(other)]
    reader = make_modern_tables.readers()["linear_layer"]
    make_modern_tables.make("linear_layer", reader, facts, tmp_path)
    with (tmp_path / "linear_layer.csv").open(encoding="utf-8") as lines:
        first, *own = csv.DictReader(lines)
    assert ("linear_m1_n6144_k4096", "2", "0") == tuple(
        first[name] for name in ("id", "modern", "modern_full")
    )
    assert "vllm-project/vllm weight_shapes.py; vllm-project/vllm other.py" == first["source"]
    assert "forward" == first["timed"]
    assert len(reader.OURS) == len(own)
