"""docs/reference/families.md: families by operations, sets and frameworks, headline, and sizes.

python scripts/make_family_table.py           writes the page
python scripts/make_family_table.py --check   exits with 1 where the page is not up to date

A framework has a family if it has a module for it; no framework is imported.
"""

import ast
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import generated_page

from deepbench_ops.backends import NAMES, framework_list
from deepbench_ops.distributed import transport_interface
from deepbench_ops.problems.family_list import found, size_description
from deepbench_ops.problems.problem import (
    DEEPBENCH_SETS,
    FIRST_CALL,
    MODERN_SETS,
    Problem,
    size_fields,
)

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "families.md"

INTRODUCTION = """\
# Families

The [families](../glossary.md#the-measured-work) of operations, and which framework has kernels of
each. [Method](method.md) and [modern operations](method_modern.md) define them. A framework may
lack some operations or precisions of a family: `deepbench backends --family NAME` tries each one
here and prints the reasons. This page is written by `scripts/make_family_table.py` from the
families' own files.

- *sets*: `published` are DeepBench's three, `modern` are `modern` and `modern_full`.
- Every family has `first_call` as well, unless its row says otherwise: compiling, and the first
  run, in frameworks that compile.
- Collective operations have *transports* instead of frameworks.
"""

HEADLINE = """\
## Headline

The problems of the [selection](../glossary.md#the-measured-work) `headline`, and why they were
chosen: a clause for each, or one for all.
"""

SIZES = """\
## Sizes

The columns of a family's CSV, and of the families in `deepbench time --help` the options (of
`model`, `threads` is `--at-once`, and `whole` is none). A size with a value in
brackets may be left out. "As of" another family: the sizes of these names are described there.
"""

FEWEST_SHARED = 3
"""Sizes that two families have in common from which on they are described once."""

Rows = Iterator[tuple[str, ...]]


def page() -> str:
    """Return the page: the tables of families, of their headlines and of their sizes."""
    heads = ("family", "operations", "precisions", "sets", "frameworks")
    chosen = ("family", "set", "problems", "because")
    sizes = ("family", "size", "is")
    parts = (
        [INTRODUCTION, *table(heads, families())],
        [HEADLINE, *table(chosen, headlines())],
        [SIZES, *table(sizes, meanings())],
    )
    return "\n\n".join("\n".join(part) for part in parts)


def table(heads: tuple[str, ...], rows: Rows) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    for cells in (heads, ("---",) * len(heads), *rows):
        yield f"| {' | '.join(cells)} |"


def families() -> Rows:
    """Yield a row for each family of this project, in their order."""
    for name, family in found()[0].items():
        kind = family.kind
        where = (
            transport_interface.NAMES if kind.ranks else [each for each in NAMES if has(each, name)]
        )
        without = "" if FIRST_CALL in kind.uncompared or kind.ranks else " (no `first_call`)"
        yield (
            f"`{name}`",
            code(kind.operations) + without,
            code(kind.precisions),
            ", ".join(sets(kind)),
            ", ".join(where),
        )


def headlines() -> Rows:
    """Yield a row for each family and set from which the headline takes problems."""
    for name, family in found()[0].items():
        for listed, ids in family.kind.headline.items():
            yield f"`{name}`", f"`{listed}`", code(ids), family.kind.headline_reason


def sets(kind: type[Problem]) -> list[str]:
    """Return the kinds of sets that may list a family: "published", "modern" or both."""
    kinds = {"published": DEEPBENCH_SETS, "modern": MODERN_SETS}
    return [name for name, members in kinds.items() if {*members} & {*kind.listed_in}]


def meanings() -> Rows:
    """Yield a row for each size, and one for those that an earlier family describes."""
    earlier: dict[str, dict[str, str]] = {}
    for name, family in found()[0].items():
        own = sizes(family.kind)
        shared = {other: own.items() & its.items() for other, its in earlier.items()}
        like = max(shared, key=lambda other: len(shared[other]), default="")
        alike = dict(shared.get(like, ())) if len(shared.get(like, ())) >= FEWEST_SHARED else {}
        if alike:
            yield f"`{name}`", ", ".join(size for size in own if size in alike), f"as of `{like}`"
        for size, about in own.items():
            if size not in alike:
                yield f"`{name}`", size, about
        earlier[name] = own


def sizes(kind: type[Problem]) -> dict[str, str]:
    """Return the description of each size of a family, by its name with the default."""
    described = {}
    for size in size_fields(kind):
        words = code(kind.words.get(size, ()))
        default = kind.__dataclass_fields__[size].default
        optional = f" [{default}]" if isinstance(default, str | int | float) else ""
        about = size_description(kind, size)
        described[f"`{size}`{optional}"] = about + (f": {words}" if words else "")
    return described


def code(names: tuple[str, ...]) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def has(framework: str, family: str) -> bool:
    """Return whether a framework, or a class that its own is derived from, has such a module."""
    package = framework_list.found()[0][framework].package
    return any(find_spec(f"{each}.{family}") for each in (package, *bases(package)))


def bases(package: str) -> set[str]:
    """Return the packages of the classes that a framework's class is derived from."""
    file = files(package).joinpath("backend.py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    derived = {
        base.id
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name)
    }
    return {
        node.module.rpartition(".")[0]
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
        if name.name in derived
    } - {"deepbench_ops.backends"}


if __name__ == "__main__":
    generated_page.write_or_check(PAGE, page, "python scripts/make_family_table.py")
