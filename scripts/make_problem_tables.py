"""Make deepbench_ops/problems/*.csv from the lists and workbooks that DeepBench published.

The project contains the tables and not the published files, so that a clone needs neither the files
nor openpyxl. With the files, this script checks the tables or makes them again:

    python scripts/make_problem_tables.py FACTS

FACTS is a folder with problem_lists/*.csv and workbooks/*.xlsx. The lists contain the problems. The
`Source` column of the workbooks names the application of each problem: a later workbook overrules
an earlier one, and a kernel list overrules every result workbook. The number of problems without a
named application is printed at the end. A problem that no list contains, but for which a result
workbook has a time with consistent FLOPS, is added without a set, with a note that names the
workbooks.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from re import fullmatch

from deepbench_ops.exchange.workbooks import workbook_timings, xlsx_reader
from deepbench_ops.exchange.workbooks.workbook_headings import (
    SIZES,
    Section,
    required,
    section,
    words_and_unit,
)
from deepbench_ops.problems import DEEPBENCH_SETS, FAMILIES, Problem
from deepbench_ops.problems.family_list import SEPARATOR
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.storage import atomic_write
from deepbench_ops.storage.csv_text import csv_text

LIST_SOURCE = "baidu-research/DeepBench problem lists 2019-10"
WORKBOOK_SOURCE = "baidu-research/DeepBench result workbooks"
NO_APPLICATION = "no published workbook names the application"

# Columns of the lists whose names differ from those of the tables.
LIST_COLUMNS = {
    "filter_w_s": "s",
    "filter_h_r": "r",
    "hidden_units": "hidden",
    "batch_size": "batch",
    "time_steps": "timesteps",
    "num_floats": "elements",
}

SPELLINGS = {"Deep Speech": "DeepSpeech"}
PLATFORMS = {"inference_server": "Server", "inference_device": "Device"}


@dataclass(frozen=True)
class Misprint:
    """A size whose printed value differs from the one that was run.

    ran: a pattern for the ids of the problems as they were run.
    swap: the part of the id as run, and as printed.
    """

    ran: str
    swap: tuple[str, str]
    note: str

    def printed(self, problem_id: str) -> str:
        """The id of a problem with the misprinted sizes."""
        return problem_id.replace(*self.swap)


MISPRINTS = (
    Misprint(
        r"m7680_n64_k2560_NN",
        ("m7680", "m7860"),
        "DeepBench's README prints m=7860, the list has 7680",
    ),
    Misprint(
        r"m(512|1024)_n\d+_k1536_[NT]N",
        ("k1536", "k1530"),
        "the programs ran k=1536, the workbooks print 1530",
    ),
    Misprint(
        r"m7860_.*_sparsity.*",
        ("m7860", "m7680"),
        "the programs ran m=7860, the workbooks print 7680",
    ),
    Misprint(
        r"vanilla_h64_n1_t96",
        ("h64", "h32"),
        "the programs ran 64 hidden units, the workbooks print 32",
    ),
    Misprint(
        r"n16777217",
        ("16777217", "16777216"),
        "the programs ran 16777217 elements, the workbooks print 16777216",
    ),
)


@dataclass
class Statement:
    """Statement of one workbook about one problem: its applications and platforms."""

    workbook: str
    applications: list[str] = field(default_factory=list)
    platforms: set[str] = field(default_factory=set)


def main() -> None:
    """Write one CSV file per family, and print which facts the workbooks lack."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("facts", type=Path, help="folder with problem_lists and workbooks")
    options.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).resolve().parents[1] / "deepbench_ops" / "problems",
        help="folder to write to (default: deepbench_ops/problems)",
    )
    chosen = options.parse_args()
    lists = chosen.facts / "problem_lists"
    if not lists.is_dir():
        sys.exit(f"make_problem_tables: error: no problem_lists folder in {chosen.facts}")
    make(chosen.facts, chosen.out)


def make(facts: Path, out: Path) -> None:
    """Write the five tables into `out`, and print a line about each."""
    statements = read_workbooks(facts / "workbooks")
    timed = read_timed(facts / "workbooks")
    for family in FAMILIES:
        if not (facts / "problem_lists" / f"{family}.csv").is_file():
            continue  # DeepBench has no such family
        lines = list(family_lines(family, facts / "problem_lists", statements))
        lines += published_only(family, lines, timed, statements)
        write(out / f"{family}.csv", lines)
        rows = sum(int(line[name]) for line in lines for name in DEEPBENCH_SETS)
        only = sum(line["source"].startswith(WORKBOOK_SOURCE) for line in lines)
        bare = sum(not line["application"] for line in lines)
        print(
            f"{family}: {rows} rows, {len(lines) - only} distinct, {only} published only,"
            f" {bare} without application"
        )
        known = ids_of(lines)
        for problem_id in sorted({key[1] for key in statements if key[0] == family} - known):
            print(f"  {problem_id} is in a workbook, in no list")


def family_lines(
    family: str, lists: Path, statements: dict[tuple[str, str, str], Statement]
) -> Iterator[dict[str, str]]:
    """The lines of a family's table: one for each distinct problem, as first listed."""
    counts: dict[Problem, dict[str, int]] = {}
    for problem, listed in read_list(family, lists / f"{family}.csv"):
        counts.setdefault(problem, dict.fromkeys(DEEPBENCH_SETS, 0))[listed] += 1
    for problem, rows in counts.items():
        yield line_of(problem, rows, LIST_SOURCE, [], statements)


def published_only(
    family: str,
    listed: list[dict[str, str]],
    timed: dict[Problem, dict[str, list[str]]],
    statements: dict[tuple[str, str, str], Statement],
) -> list[dict[str, str]]:
    """The lines of problems that workbooks time and no list contains; they belong to no set."""
    known = ids_of(listed)
    return [
        line_of(
            problem,
            dict.fromkeys(DEEPBENCH_SETS, 0),
            WORKBOOK_SOURCE,
            [f"published only: in no program list, but timed in {spans(workbooks)}"],
            statements,
        )
        for problem, workbooks in timed.items()
        if problem.family == family and problem.id not in known
    ]


def line_of(
    problem: Problem,
    rows: dict[str, int],
    source: str,
    notes: list[str],
    statements: dict[tuple[str, str, str], Statement],
) -> dict[str, str]:
    """The line of one problem. `rows` has the number of its rows in the list of each set."""
    aliases, misprint_notes = misprints(problem)
    applications, workbooks, doubts = describe(problem, aliases, rows, statements)
    missing = [] if applications else [NO_APPLICATION]
    if workbooks:
        source += "; application from " + ", ".join(workbooks)
    return {
        "id": problem.id,
        **{name: text(value) for name, value in problem.sizes().items()},
        **{name: str(count) for name, count in rows.items()},
        "application": SEPARATOR.join(applications),
        "source": source,
        "note": SEPARATOR.join([*notes, *misprint_notes, *missing, *doubts]),
        "aliases": SEPARATOR.join(aliases),
    }


def ids_of(lines: list[dict[str, str]]) -> set[str]:
    """Every id and every alias of the lines."""
    aliases = {alias for line in lines for alias in line["aliases"].split(SEPARATOR)}
    return {line["id"] for line in lines} | aliases


def read_list(family: str, path: Path) -> Iterator[tuple[Problem, str]]:
    """Every row of a published list, and the set of the row.

    The all-reduce list names no set; DeepBench publishes all-reduce with training.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            listed = row.pop("set", "training")
            sizes = {LIST_COLUMNS.get(name, name): value(cell) for name, cell in row.items()}
            yield TYPES[family](**sizes), listed


def misprints(problem: Problem) -> tuple[list[str], list[str]]:
    """Ids under which the sheets misprint a problem, and notes about the misprints.

    The lists hold the sizes that the programs ran, so a sheet's time belongs to those sizes.
    """
    for misprint in MISPRINTS:
        if fullmatch(misprint.ran, problem.id):
            return [misprint.printed(problem.id)], [misprint.note]
    return [], []


def describe(
    problem: Problem,
    aliases: list[str],
    rows: dict[str, int],
    statements: dict[tuple[str, str, str], Statement],
) -> tuple[list[str], list[str], list[str]]:
    """Applications of a problem, the workbooks that state them, and notes on contradictions.

    Training workbooks are used for the training set, inference workbooks for the others. A problem
    that the workbooks of its own kind lack is looked up in those of the other kind.
    """
    kinds = list(dict.fromkeys(kind_of_set(name) for name in DEEPBENCH_SETS if rows[name]))
    names = [problem.id, *aliases]

    def stated(kinds: list[str]) -> list[Statement]:
        keys = [(problem.family, name, kind) for kind in kinds for name in names]
        return [statements[key] for key in keys if key in statements]

    found = stated(kinds) or stated(["train", "inference"])
    applications = list(dict.fromkeys(name for each in found for name in each.applications))
    workbooks = list(dict.fromkeys(each.workbook for each in found))
    listed = {PLATFORMS[name] for name in DEEPBENCH_SETS if rows[name] and name in PLATFORMS}
    if not any(rows.values()):
        return applications, workbooks, []
    doubts = [
        f"{each.workbook} says {'/'.join(sorted(each.platforms, reverse=True))}, "
        f"the lists have it for {'/'.join(sorted(listed, reverse=True)).lower()} only"
        for each in found
        if each.platforms and each.platforms != listed
    ]
    return applications, workbooks, doubts


def kind_of_set(name: str) -> str:
    """The kind of workbook that publishes a set: train or inference."""
    return "train" if name == "training" else "inference"


def read_workbooks(folder: Path) -> dict[tuple[str, str, str], Statement]:
    """Return the statements of the workbooks by (family, problem id, kind).

    A later workbook overrules an earlier one, and a kernel list every result workbook.
    """
    paths = sorted(folder.glob("*.xlsx"), key=lambda path: ("kernel_list" in path.name, path.name))
    statements: dict[tuple[str, str, str], Statement] = {}
    for path in paths:
        statements |= read_workbook(path)
    return statements


def read_workbook(path: Path) -> dict[tuple[str, str, str], Statement]:
    """Return the statements of one workbook by (family, problem id, kind)."""
    published, kind, name = path.stem.split("__")[:3]
    kind = "inference" if "inference" in kind + name else "train"
    statements: dict[tuple[str, str, str], Statement] = {}
    for problem, application, platforms in read_sheets(path):
        key = (problem.family, problem.id, kind)
        statement = statements.setdefault(key, Statement(f"{name} {published}"))
        if application not in statement.applications:
            statement.applications.append(application)
        statement.platforms |= platforms
    return statements


def read_timed(folder: Path) -> dict[Problem, dict[str, list[str]]]:
    """The problems that result workbooks time, with the days of these times in each workbook.

    A size whose printed FLOPS contradict its time is left out: it is not the one that was run.
    """
    found: dict[Problem, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("*.xlsx")):
        published, kind, name = path.stem.split("__")[:3]
        if kind == "kernel_list":
            continue
        for timing in workbook_timings.read(xlsx_reader.read(path))[0]:
            if timing.agrees:
                found.setdefault(timing.problem, {}).setdefault(name, []).append(published)
    return found


def spans(workbooks: dict[str, list[str]]) -> str:
    """The workbooks by name, with their first and last days."""
    return ", ".join(
        f"{name} {' to '.join(dict.fromkeys([min(days), max(days)]))}"
        for name, days in workbooks.items()
    )


def read_sheets(path: Path) -> Iterator[tuple[Problem, str, set[str]]]:
    """Every kernel with a stated source in any sheet: problem, source, platforms."""
    # Only this script needs openpyxl, which is in the `tables` extra.
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        # Drawings and the like, which openpyxl cannot keep; the script does not need them.
        warnings.simplefilter("ignore", UserWarning)
        book = load_workbook(path, data_only=True)
    for sheet in book.worksheets:
        about, headers = None, None
        for cells in sheet.iter_rows(values_only=True):
            if str(cells[0] or "").strip():
                about, headers = section(cells[0]), None
            if about and not headers:
                headers = find_headers(about, cells)
            elif about and headers:
                yield from read_kernel(about, headers, cells)


def find_headers(about: Section, cells: tuple[object, ...]) -> list[str | None] | None:
    """The field in each column, or None if this is no header row.

    A header row names every size. Result sheets have the `Source` column without its header,
    between the section's title and the first size, and it is recognised by that place.
    """
    headers = [header_field(about.family, cell) for cell in cells]
    sizes = required(about)
    if not sizes <= set(headers):
        return None
    before = min(headers.index(name) for name in sizes) - 1
    if "source" not in headers and before > 0 and not cells[before]:
        headers[before] = "source"
    return headers if "source" in headers else None


def header_field(family: str, header: object) -> str | None:
    """The field in a column: a size of the family, source, platform, or None."""
    words, _ = words_and_unit(header)
    return words if words in ("source", "platform") else SIZES[family].get(words)


def read_kernel(
    about: Section, headers: list[str | None], cells: tuple[object, ...]
) -> Iterator[tuple[Problem, str, set[str]]]:
    """The kernel of one row; none if the row is not a kernel with a source."""
    found = {name: cell for name, cell in zip(headers, cells, strict=False) if name}
    application = " ".join(str(found.pop("source") or "").split())
    platforms = set(filter(None, str(found.pop("platform", None) or "").split("/")))
    sizes = {name: value(str(cell).strip()) for name, cell in found.items()}
    if not application or not all(plausible(size) for size in sizes.values()):
        return
    application = SPELLINGS.get(application, application)
    yield TYPES[about.family](**sizes, **about.fixed), application, platforms


def value(cell: str) -> bool | int | float | str:
    """The value of a cell: a number, a truth value (also N or T of a transpose) or a text."""
    truths = {"true": True, "false": False, "T": True, "N": False}
    if cell in truths:
        return truths[cell]
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if number.is_integer() else number


def plausible(size: bool | int | float | str) -> bool:
    """Whether a cell held a size, unlike a repeated header or an empty cell."""
    return not isinstance(size, str)


def text(value: bool | int | float | str) -> str:
    """A value as the tables write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def write(path: Path, lines: list[dict[str, str]]) -> None:
    """Write the lines as CSV, with the columns of the first line."""
    cells = ([line.get(column) for column in lines[0]] for line in lines)
    atomic_write.write_text(path, csv_text([lines[0], *cells]))


if __name__ == "__main__":
    main()
