"""Write the tables of modern operations from a list of published sizes.

    python scripts/make_modern_tables.py FACTS

FACTS is a CSV file with a line for each published size: family, name, dims, dtype, operation,
source_repo, source_path, licence and note. `scripts/modern_table_sources/` has a module for each
family of this project, which states the kinds of lines that it reads and makes problems of each
line. A size that several lines name becomes one problem. The modules also add sizes of this project
where the published ones are too large for a processor. A line that no module reads is an error,
unless `NOT_MEASURED` states the reason.
"""

import argparse
import csv
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import modern_table_sources
from modern_table_sources import NOT_MEASURED, Entry, Fact, LeftOut

from deepbench_ops.problems import MODERN_SETS
from deepbench_ops.problems.family_list import SEPARATOR
from deepbench_ops.storage import atomic_write
from deepbench_ops.storage.csv_text import csv_text

OUT = Path(__file__).resolve().parents[1] / "deepbench_ops" / "problems"


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
    handled: set[str] = set()
    for family, reader in readers().items():
        if chosen.family in (None, family):
            handled |= make(family, reader, facts, chosen.out)
    missing = [fact.name for fact in facts if fact.name not in handled and not excused(fact)]
    if missing and chosen.family is None:
        sys.exit(
            f"make_modern_tables: error: no module reads {', '.join(missing)}: write one, or state"
            " the reason in NOT_MEASURED of scripts/modern_table_sources"
        )


def readers() -> dict[str, ModuleType]:
    """The modules of `modern_table_sources`, by the family that each is named after."""
    names = [module.name for module in pkgutil.iter_modules(modern_table_sources.__path__)]
    return {name: import_module(f"modern_table_sources.{name}") for name in sorted(names)}


def read(path: Path) -> list[Fact]:
    """The lines of a list of published sizes."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [Fact.of(line) for line in csv.DictReader(lines)]


def excused(fact: Fact) -> bool:
    """Return whether a reason is stated why no module reads a line."""
    return fact.name in NOT_MEASURED or fact.kind in NOT_MEASURED


def make(family: str, reader: ModuleType, facts: Sequence[Fact], out: Path) -> set[str]:
    """Write the table of one family, and print its number of problems and the lines left out.

    Returns the names of the lines from which the module made a problem, or that it left out with a
    reason.
    """
    found: list[Entry] = []
    handled: set[str] = set()
    for fact in facts:
        if fact.kind in reader.KINDS:
            try:
                made = reader.entries(fact)
            except LeftOut as reason:
                print(f"  {fact.name} is left out: {reason}")
                handled.add(fact.name)
                continue
            found += made
            handled |= {fact.name} if made else set()
    lines = list(merged([*found, *reader.OURS]))
    cells = ([line[column] for column in lines[0]] for line in lines)
    atomic_write.write_text(out / f"{family}.csv", csv_text([lines[0], *cells]))
    small = sum(int(line["modern"]) > 0 for line in lines)
    print(f"{family}: {len(lines)} problems, {small} of them in the set modern")
    return handled


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
