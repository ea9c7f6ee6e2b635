"""Write the tables of modern operations from a list of published sizes.

    python scripts/make_modern_tables.py FACTS

FACTS is a CSV file with a line for each published size: family, name, dims, dtype, operation,
source_repo, source_path, licence and note. `scripts/modern_table_sources/` has a module for each
family of this project, which states the kinds of lines that it reads and makes problems of each
line. A size that several lines name becomes one problem. The modules also add sizes of this project
where the published ones are too large for a processor. A line that no module reads is an error,
unless `NOT_MEASURED` states the reason. `modern_lines.csv` has all lines, each with its problems or
with the reason why it has none.
"""

import argparse
import csv
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import modern_table_sources
from modern_table_sources import NOT_MEASURED, Entry, Fact, LeftOut

from deepbench_ops.problems import DEEPBENCH_SETS, MODERN_SETS
from deepbench_ops.problems.family_list import MODERN_LIST, SEPARATOR
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.storage import atomic_write
from deepbench_ops.storage.csv_text import csv_text

OUT = Path(__file__).resolve().parents[1] / "deepbench_ops" / "problems"

LINES = "modern_lines.csv"
"""File with all published lines."""


@dataclass(frozen=True)
class Made:
    """Outcome of one family, by the name of a line: its problems, or why it is left out."""

    problems: dict[str, list[str]]
    reasons: dict[str, str]


def main() -> None:
    """Write one CSV file per family, and print which lines were left out and why."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("facts", type=Path, help="CSV of published sizes")
    options.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    options.add_argument("--family", metavar="F", help="only this family")
    chosen = options.parse_args()
    if not chosen.facts.is_file():
        sys.exit(f"make_modern_tables: error: {chosen.facts} is no file: name a CSV of sizes")
    facts = read(chosen.facts)
    made: list[Made] = []
    for family, reader in readers().items():
        if chosen.family in (None, family):
            made.append(make(family, reader, facts, chosen.out))
    if chosen.family is not None:
        return
    lines = [line_of(fact, made) for fact in facts]
    missing = [line["name"] for line in lines if not line["problems"] and not line["reason"]]
    if missing:
        sys.exit(
            f"make_modern_tables: error: no module reads {', '.join(missing)}: write one, or state"
            " the reason in NOT_MEASURED of scripts/modern_table_sources"
        )
    cells = ([line[column] for column in lines[0]] for line in lines)
    atomic_write.write_text(chosen.out / LINES, csv_text([lines[0], *cells]))
    left_out = sum(not line["problems"] for line in lines)
    print(f"{len(lines)} published lines, {left_out} of them without a problem")


def readers() -> dict[str, ModuleType]:
    """The modules of `modern_table_sources`, by the family that each is named after."""
    names = [module.name for module in pkgutil.iter_modules(modern_table_sources.__path__)]
    return {name: import_module(f"modern_table_sources.{name}") for name in sorted(names)}


def read(path: Path) -> list[Fact]:
    """The lines of a list of published sizes."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [Fact.of(line) for line in csv.DictReader(lines)]


def line_of(fact: Fact, made: Sequence[Made]) -> dict[str, str]:
    """Return the line of a published size in LINES: its problems, else the stated reasons."""
    problems = joined(each for family in made for each in family.problems.get(fact.name, []))
    stated = NOT_MEASURED.get(fact.name) or NOT_MEASURED.get(fact.kind)
    reasons = [stated] if stated else [family.reasons.get(fact.name, "") for family in made]
    return {
        "kind": fact.kind,
        "name": fact.name,
        "core": str(int(fact.core)),
        "problems": problems,
        "reason": "" if problems else joined(reasons),
    }


def make(family: str, reader: ModuleType, facts: Sequence[Fact], out: Path) -> Made:
    """Write the table of one family, and print its number of problems and the lines left out."""
    found: list[Entry] = []
    made = Made({}, {})
    for fact in facts:
        if fact.kind in reader.KINDS:
            try:
                entries = reader.entries(fact)
            except LeftOut as reason:
                print(f"  {fact.name} is left out: {reason}")
                made.reasons[fact.name] = str(reason)
                continue
            found += entries
            made.problems[fact.name] = [f"{family} {entry.problem.id}" for entry in entries]
    lines = list(merged([*found, *reader.OURS]))
    cells = ([line[column] for column in lines[0]] for line in lines)
    atomic_write.write_text(out / file_name(family), csv_text([lines[0], *cells]))
    small = sum(int(line["modern"]) > 0 for line in lines)
    print(f"{family}: {len(lines)} problems, {small} of them in the set modern")
    return made


def file_name(family: str) -> str:
    """Return the name of a family's table; one of DeepBench has its modern sizes in a second."""
    second = DEEPBENCH_SETS[0] in TYPES[family].listed_in
    return f"{family}{MODERN_LIST if second else '.csv'}"


def merged(entries: Iterable[Entry]) -> Iterator[dict[str, str]]:
    """A line for each problem, in the order of first mention."""
    alike: dict[str, list[Entry]] = {}
    for entry in entries:
        alike.setdefault(entry.problem.id, []).append(entry)
    for problem_id, same in alike.items():
        problem = same[0].problem
        core = any(entry.modern for entry in same)
        counts = dict.fromkeys(MODERN_SETS, 0) | {MODERN_SETS[not core]: len(same)}
        named = {name for entry in same for name in entry.timed or problem.operations}
        timed = [name for name in problem.operations if name in named]
        everything = len(timed) == len(problem.operations)
        yield {
            "id": problem_id,
            **{name: str(size).lower() for name, size in problem.sizes().items()},
            **{name: str(count) for name, count in counts.items()},
            "application": joined(entry.application for entry in same),
            "source": joined(entry.source for entry in same),
            "note": joined(note for entry in same for note in entry.notes),
            "aliases": "",
            "timed": "" if everything else SEPARATOR.join(timed),
        }


def joined(texts: Iterable[str]) -> str:
    """The texts that are not empty, each once, as one text."""
    return SEPARATOR.join(dict.fromkeys(filter(None, texts)))


if __name__ == "__main__":
    main()
