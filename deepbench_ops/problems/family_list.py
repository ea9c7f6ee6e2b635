"""List of the families of operations, found by their files.

A family is a module with one dataclass derived from `Problem`, and a CSV file of its problems with
the same name next to it. A family of DeepBench that also has modern sizes lists these in a second
file, `<family>_modern.csv`. This package has the families of this project. Another distribution
registers a package with such files by an entry point of the group `deepbench.families`.
"""

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from typing import Annotated, get_args, get_origin, get_type_hints

from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, one_line
from deepbench_ops.problems.problem import NAME, SETS, Problem, size_fields

OWN_PACKAGE = __package__
"""Package with the families of this project."""

SEPARATOR = "; "
"""Text between the aliases of a line."""

MODERN_LIST = "_modern.csv"
"""End of the name of the file with a DeepBench family's modern sizes."""

GROUP = "deepbench.families"
"""Group of the entry points whose value is a package of families; their names do not matter."""


@dataclass(frozen=True)
class Family:
    """One family: its dataclass, the package of its files, and the distribution of the package."""

    kind: type[Problem]
    package: str
    distribution: str

    @property
    def name(self) -> str:
        """Name of the family, such as gemm."""
        return self.kind.family

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the family's CSV files, in the order of the files."""
        modern = f"{self.name}{MODERN_LIST}"
        more = self._listed(modern) if files(self.package).joinpath(modern).is_file() else ()
        return (*self._listed(f"{self.name}.csv"), *more)

    def _listed(self, name: str) -> tuple[Problem, ...]:
        with files(self.package).joinpath(name).open(encoding="utf-8") as lines:
            rows = csv.DictReader(lines)
            return tuple(self._problem(row, f"{name}, line {rows.line_num}") for row in rows)

    def _problem(self, row: Mapping[str, str], where: str) -> Problem:
        """Return the problem of a row; raise DeepbenchError, with its place, for a wrong row."""
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
    """Return the families by name, in the order of tables, and a message for each family of another
    distribution that cannot be used.

    A family with the name of an earlier one, or with ids that could be those of an earlier one,
    cannot be used; families of this project come first.
    """
    known: dict[str, Family] = {}
    faults: list[str] = []
    for name in _names(OWN_PACKAGE):
        known[name] = Family(_kind(OWN_PACKAGE, name), OWN_PACKAGE, "deepbench")
    points = entry_points(group=GROUP)
    if points:  # most processes measure without: they import no checks
        from deepbench_ops.problems.plugin_family_checks import check_declarations, check_problems
    for point in points:
        origin = _distribution(point)
        where = f"{GROUP}: {point.value}"
        try:
            package, names = _of_plugin(point)
        except PLUGIN_FAULTS as fault:
            faults.append(f"{origin}: its families ({where}) cannot be used: {one_line(fault)}")
            continue
        for name in names:
            try:
                family = Family(_kind(package, name), package, origin)
                check_declarations(family.kind)
                _refuse_taken(family, known)
                check_problems(family.kind, family.problems)
                known[name] = family
            except PLUGIN_FAULTS as fault:
                faults.append(
                    f"{origin}: its family {name} ({where}) cannot be used: {one_line(fault)}"
                )
    ordered = sorted(known.values(), key=lambda family: (family.kind.position, family.name))
    return {family.name: family for family in ordered}, tuple(faults)


def _of_plugin(point: EntryPoint) -> tuple[str, list[str]]:
    """Return the package of an entry point, and the names of its families."""
    module = point.load()
    names = _names(module.__name__)
    if not names:
        raise DeepbenchError(f"{module.__name__} holds no CSV of a family")
    return module.__name__, names


def _names(package: str) -> list[str]:
    """Return the names of the families in a package: of CSV files with a module next to them.

    A CSV file without a module is other data.
    """
    held = {entry.name for entry in files(package).iterdir()}
    names = sorted(file.removesuffix(".csv") for file in held if file.endswith(".csv"))
    return [name for name in names if f"{name}.py" in held]


def _kind(package: str, name: str) -> type[Problem]:
    """Return the dataclass of a family in a package.

    Raises DeepbenchError where the module next to its CSV file declares no family of that name.
    """
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
    return kinds[0]


def _refuse_taken(family: Family, known: Mapping[str, Family]) -> None:
    """Raise DeepbenchError for a name that another family has, or ids that could be those of
    another."""
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
    """Return the problem that one line of a family's CSV file describes.

    The line has the sizes of `kind`, the number of rows in each of `SETS`, and application, source,
    note, aliases and timed. Sizes without a column have their default.
    """
    counts = {name: int(line.get(name) or 0) for name in SETS}
    sizes = {name: _value(kind, name, line[name]) for name in size_fields(kind) if name in line}
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


BOOLEANS = {"true": True, "false": False}
READERS: Mapping[type, tuple[Callable[[str], bool | int | float], str]] = {
    bool: (BOOLEANS.__getitem__, "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
}
"""Function that reads a size, and name of its type in messages, for each type other than text."""


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
    """Return the value of a size; raise ValueError for a text that is not of the size's type."""
    if size_types(kind)[name] not in READERS:
        return text
    read, wanted = READERS[size_types(kind)[name]]
    try:
        return read(text)
    except (KeyError, ValueError):
        raise ValueError(f"{name} is {text!r}: write {wanted}") from None


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
