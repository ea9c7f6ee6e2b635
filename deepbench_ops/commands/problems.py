"""`deepbench problems`: the published lists as a table, CSV or JSON."""

from collections.abc import Sequence

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import printed_as
from deepbench_ops.commands.output_format import counted, show
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES, SELECTIONS, SETS, Problem, find, load
from deepbench_ops.problems.family_list import SEPARATOR
from deepbench_ops.problems.precision import groups
from deepbench_ops.problems.problem_lists import TYPES, family_name, named, published_only, set_name
from deepbench_ops.problems.selections import select
from deepbench_ops.problems.suggestions import unknown

SHORT = {
    "training": "train",
    "inference_server": "server",
    "inference_device": "device",
    "modern": "modern",
    "modern_full": "full",
}


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--family", metavar="F", help=f"Only this family: {', '.join(TYPES)}.")
@click.option(
    "--set",
    "listed",
    metavar="S",
    help=f"Only the problems of this set: {', '.join(SETS)}; dashes or underscores.",
)
@click.option(
    "--selection",
    metavar="NAME",
    help=f"Only this choice, a set or a part of some: {', '.join(SELECTIONS)}.",
)
@click.option(
    "--published-only",
    "unlisted",
    is_flag=True,
    help="Problems that result workbooks time and no list has, instead of the lists.",
)
@printed_as("table", "csv", "json")
def problems(
    ids: tuple[str, ...],
    family: str | None,
    listed: str | None,
    selection: str | None,
    unlisted: bool,
    form: str,
) -> None:
    """List the problems with their sizes, FLOPs and bytes.

    \b
        deepbench problems --family gemm
        deepbench problems m1760_n128_k1760_NN --format json

    Each distinct problem of DeepBench's lists and of modern operations is printed once: its sizes,
    the FLOPs of one pass, the bytes that a pass has to move at least, the FLOPs per byte (both at
    each precision of the family), the application that it comes from and the sets that list it.
    With IDs, only these. Whole models are listed with --family model. Published operations that no
    family has, such as attention to chosen keys, are in docs/reference/method_modern.md with the
    reason.
    """
    if unlisted and (listed or selection):
        raise DeepbenchError("--published-only cannot be given with a set or selection")
    found = timed_only(ids, family) if unlisted else chosen(ids, family, listed, selection)
    if not found:
        raise DeepbenchError("no problem meets all of these conditions")
    show(
        form,
        lambda: as_tables(found),
        lambda: [as_data(problem) for problem in found],
        lambda: csv_lines(found),
    )


def chosen(
    ids: Sequence[str] = (),
    family: str | None = None,
    listed: str | None = None,
    selection: str | None = None,
) -> list[Problem]:
    """Return the distinct problems that meet all given conditions, in list order.

    DeepbenchError for an unknown family, set, selection or id. An id without a family is
    looked for in each.
    """
    name = set_name(listed) if listed is not None else None
    if selection is not None:
        members = select(selection, family)
        pool = [one.problem for one in members if name in (None, one.set)]
    else:
        families = FAMILIES if family is None else (family,)
        pool = [problem for each in families for problem in load(each, name)]
    if ids:
        asked = [find_anywhere(id, family) for id in ids]
        free = listed is None and selection is None
        pool = [one for one in asked if one in pool or (free and not one.sets)]
    return list(dict.fromkeys(pool))


def timed_only(ids: Sequence[str], family: str | None) -> list[Problem]:
    """Return the problems in result workbooks that no list has, those of `ids` if any are given."""
    families = FAMILIES if family is None else (family_name(family),)
    found = [problem for each in families for problem in published_only(each)]
    asked = [find_anywhere(id, family) for id in ids]
    return [problem for problem in found if not ids or problem in asked]


def find_anywhere(id: str, family: str | None) -> Problem:
    """Return the problem of that id, in any family unless one is given.

    DeepbenchError, with the nearest ids, when there is none.
    """
    if family is not None:
        return find(family, id)
    everything = {name: each for each in TYPES for name in named(each)}
    if id not in everything:
        raise unknown("problem", id, everything)
    return find(everything[id], id)


def as_data(problem: Problem) -> dict[str, object]:
    """Return all facts of a problem; bytes and intensity are objects by precision."""
    return {
        "family": problem.family,
        "id": problem.id,
        "title": problem.title,
        "sizes": problem.sizes(),
        "flops": problem.flops,
        "items": problem.items,
        "bytes": {name: problem.bytes(name) for name in problem.precisions},
        "intensity": {name: problem.intensity(name) for name in problem.precisions},
        "application": problem.application,
        "sets": list(problem.sets),
        "rows": rows_by_set(problem),
        "source": problem.source,
        "note": problem.note,
        "aliases": list(problem.aliases),
        "timed": list(problem.timed_operations),
    }


def rows_by_set(problem: Problem) -> dict[str, int]:
    """Return the number of rows of a problem in each set that lists it."""
    return dict(zip(problem.sets, problem.rows, strict=True))


def csv_lines(found: Sequence[Problem]) -> list[dict[str, object]]:
    """Return a line for each problem, cells by column; sizes that its family lacks are empty."""
    sizes = dict.fromkeys(name for problem in found for name in problem.sizes())
    precisions = [name for name in ALL_PRECISIONS if any(name in each.precisions for each in found)]
    return [_csv_line(problem, sizes, precisions) for problem in found]


def _csv_line(
    problem: Problem, sizes: dict[str, None], precisions: Sequence[str]
) -> dict[str, object]:
    had = problem.precisions
    rows = rows_by_set(problem)
    return {
        "family": problem.family,
        "id": problem.id,
        **sizes,
        **plain_sizes(problem),
        "flops": problem.flops,
        "items": problem.items,
        **{f"bytes_{n}": problem.bytes(n) if n in had else "" for n in precisions},
        **{f"intensity_{n}": problem.intensity(n) if n in had else "" for n in precisions},
        "application": problem.application,
        "sets": " ".join(problem.sets),
        **{f"rows_{name}": rows.get(name, 0) for name in SETS},
        "source": problem.source,
        "note": problem.note,
        "aliases": SEPARATOR.join(problem.aliases),
        "timed": SEPARATOR.join(problem.timed),
    }


def plain_sizes(problem: Problem) -> dict[str, str]:
    """The sizes by name as text, truth values in small letters."""
    return {name: str(size).lower() for name, size in problem.sizes().items()}


def as_tables(found: Sequence[Problem]) -> str:
    """A table for each family, and a line below it that counts."""
    by_family: dict[str, list[Problem]] = {}
    for problem in found:
        by_family.setdefault(problem.family, []).append(problem)
    return "\n\n".join(as_table(family, listed) for family, listed in by_family.items())


def as_table(family: str, found: Sequence[Problem]) -> str:
    """Return the problems of one family as a table: rounded, precisions of equal size together."""
    weights = groups(found[0].precisions)
    columns = [terminal_tables.Column("id")]
    columns += [terminal_tables.Column(size, right=True, drop=4) for size in found[0].sizes()]
    columns.append(terminal_tables.Column("FLOPs", right=True))
    for name, drop in (("bytes", 3), ("FLOP/byte", 5)):
        columns += [
            terminal_tables.Column(
                f"{name}\n" + "\n".join(group), right=True, drop=drop if place else 0
            )
            for place, group in enumerate(weights)
        ]
    columns += [
        terminal_tables.Column("application", drop=2, wrap=12),
        terminal_tables.Column("sets", drop=1),
    ]
    lines = [
        [
            problem.id,
            *plain_sizes(problem).values(),
            scaled(problem.flops),
            *(scaled(problem.bytes(group[0])) for group in weights),
            *(f"{problem.intensity(group[0]):.3g}" for group in weights),
            problem.application,
            " ".join(SHORT[name] for name in problem.sets),
        ]
        for problem in found
    ]
    table = terminal_tables.table(columns, lines)
    rows = sum(sum(problem.rows) for problem in found)
    sizes = counted(len(found), "problem")
    return f"{table}\n{family}: {sizes}, {counted(rows, 'row')} in its lists"


def scaled(number: float) -> str:
    """A number to four digits with its decimal prefix: 792985600 is "793 M"."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.4g} {prefix}"
    return f"{number:.4g}"
