"""The families of operations, found by their files.

A family is a module with one dataclass derived from `Problem`, and a CSV of its published problems
with the same name next to it. This package has its own; other distributions name a package that
holds such files by an entry point of the group `deepbench.families`.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from typing import Annotated, get_args, get_origin, get_type_hints

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.problem import SETS, Problem

OWN_PACKAGE = __package__
"""The package with this project's own families."""

SEPARATOR = "; "
"""Between the aliases of a line."""

GROUP = "deepbench.families"
"""Entry points whose value is a package of families; the name of an entry point is free."""

NAME = re.compile("[a-z][a-z0-9_]*")
"""Of a family: it becomes part of benchmark names, file names and addresses of pages."""


@dataclass(frozen=True)
class Family:
    """One family: its dataclass, the package of its files, and the distribution they came with."""

    kind: type[Problem]
    package: str
    distribution: str

    @property
    def name(self) -> str:
        """Like gemm."""
        return self.kind.family

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of its CSV, in the order of the file."""
        path = files(self.package).joinpath(f"{self.name}.csv")
        with path.open(encoding="utf-8") as lines:
            rows = csv.DictReader(lines)
            return tuple(self._problem(row, f"{path.name}, line {rows.line_num}") for row in rows)

    def _problem(self, row: Mapping[str, str], where: str) -> Problem:
        """Return the problem of a row; DeepbenchError, saying where it stands, for a wrong one."""
        try:
            made = problem_of_line(self.kind, row)
            known = re.fullmatch(self.kind.id_pattern, made.id)
        except (ValueError, TypeError, AttributeError) as wrong:
            raise DeepbenchError(f"{where}: {wrong}") from None
        if known is None:
            raise DeepbenchError(
                f"{where}: the id {made.id} does not match the id_pattern of {self.name}"
            )
        return made


@cache
def found() -> tuple[Mapping[str, Family], tuple[str, ...]]:
    """Return the families by name, in their order, and a line for each that cannot be used.

    Families of this project come first; another distribution's of the same name, or with ids that
    one of them already means, is left out.
    """
    known: dict[str, Family] = {}
    faults: list[str] = []
    own = [Family(kind, OWN_PACKAGE, "deepbench") for kind in _kinds(OWN_PACKAGE)]
    for family in own:
        known[family.name] = family
    for point in entry_points(group=GROUP):
        try:
            for family in _of_plugin(point):
                _refuse_taken(family, known)
                known[family.name] = family
        except Exception as fault:  # another distribution's code may raise anything
            reason = " ".join(str(fault).split()) or type(fault).__name__
            faults.append(
                f"{_distribution(point)}: its families ({GROUP}: {point.value}) cannot be used:"
                f" {reason}"
            )
    ordered = sorted(known.values(), key=lambda family: (family.kind.position, family.name))
    return {family.name: family for family in ordered}, tuple(faults)


def _of_plugin(point: EntryPoint) -> Iterator[Family]:
    module = point.load()
    kinds = list(_kinds(module.__name__))
    if not kinds:
        raise DeepbenchError(f"{module.__name__} holds no CSV of a family")
    for kind in kinds:
        yield Family(kind, module.__name__, _distribution(point))


def _kinds(package: str) -> Iterator[type[Problem]]:
    """Yield the dataclass of each family whose files lie in a package.

    Raises DeepbenchError where a module next to a CSV declares no family of that name. A CSV
    without a module is other data.
    """
    held = {entry.name for entry in files(package).iterdir()}
    for name in sorted(file.removesuffix(".csv") for file in held if file.endswith(".csv")):
        if f"{name}.py" not in held:
            continue
        module = import_module(f"{package}.{name}")
        kinds = [
            each
            for each in vars(module).values()
            if isinstance(each, type)
            and issubclass(each, Problem)
            and each.__module__ == module.__name__
            and getattr(each, "family", None) == name
        ]
        if len(kinds) != 1 or not NAME.fullmatch(name):
            raise DeepbenchError(
                f"{module.__name__} must declare one dataclass derived from Problem whose family"
                f" is {name!r}"
            )
        yield kinds[0]


def _refuse_taken(family: Family, known: Mapping[str, Family]) -> None:
    """Raise DeepbenchError for a name that another family has, or ids that could be another's."""
    for other in known.values():
        if family.name == other.name:
            raise DeepbenchError(
                f"the family {family.name} is already declared by {other.distribution}"
            )
        for one, another in ((family, other), (other, family)):
            pattern = re.compile(another.kind.id_pattern)
            shared = next((each.id for each in one.problems if pattern.fullmatch(each.id)), None)
            if shared is not None:
                raise DeepbenchError(
                    f"{shared} is an id of the family {family.name} and of {other.name}, which"
                    f" {other.distribution} declares: begin its ids with another word"
                )


def problem_of_line(kind: type[Problem], line: Mapping[str, str]) -> Problem:
    """Return the problem that one line of a family's CSV describes.

    The line names the sizes of `kind`, how many rows each of `SETS` spends on it, and application,
    source, note, aliases and timed. Columns of sizes that are missing have their default.
    """
    counts = {name: int(line.get(name) or 0) for name in SETS}
    sizes = {name: _value(kind, name, line[name]) for name in size_names(kind) if name in line}
    return kind(
        **sizes,  # type: ignore[arg-type]
        application=line.get("application", ""),
        source=line.get("source", ""),
        note=line.get("note", ""),
        sets=tuple(name for name in SETS if counts[name]),
        rows=tuple(counts[name] for name in SETS if counts[name]),
        aliases=_several(line, "aliases"),
        timed=_several(line, "timed"),
    )


def _several(line: Mapping[str, str], column: str) -> tuple[str, ...]:
    return tuple(filter(None, line.get(column, "").split(SEPARATOR)))


def size_names(kind: type[Problem]) -> tuple[str, ...]:
    """Return the size fields of a family, in the order of its dataclass."""
    described = {field.name for field in fields(Problem)}
    return tuple(field.name for field in fields(kind) if field.name not in described)


BOOLEANS = {"true": True, "false": False}
READERS: Mapping[type, tuple[Callable[[str], bool | int | float], str]] = {
    bool: (BOOLEANS.__getitem__, "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
}
"""For each type of a size other than text: a function that reads it, and its name in messages."""


@cache
def size_types(kind: type[Problem]) -> Mapping[str, type]:
    """Return the types of a family's fields by name, without their descriptions."""
    return get_type_hints(kind)


def size_description(kind: type[Problem], name: str) -> str:
    """Return the text of a size in `Annotated`; its name where it has none."""
    hint = get_type_hints(kind, include_extras=True)[name]
    texts = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return str(texts[0]) if texts else name.replace("_", " ")


def _value(kind: type[Problem], name: str, text: str) -> bool | int | float | str:
    """Return the value of a size; ValueError for a text that is not of the size's type."""
    if size_types(kind)[name] not in READERS:
        return text
    read, wanted = READERS[size_types(kind)[name]]
    try:
        return read(text)
    except (KeyError, ValueError):
        raise ValueError(f"{name} is {text!r}: write {wanted}") from None


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
