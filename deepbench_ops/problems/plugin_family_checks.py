"""Checks of a family of another distribution, made before any command uses it."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, one_line
from deepbench_ops.problems.precision import ALL_PRECISIONS
from deepbench_ops.problems.problem import NAME, SETS, Problem, size_fields

SELECTIONS = ("headline", *(name.replace("_", "-") for name in SETS))
"""Names of selections that no family may declare as its own."""


def check_declarations(kind: type[Problem]) -> None:
    """Raise DeepbenchError for a class variable of `Problem` that has a value of another type, or
    names an unknown precision, set, operation or size."""
    for name, hint in get_type_hints(Problem).items():
        if get_origin(hint) is not ClassVar:
            continue
        (wanted,) = get_args(hint)
        value = getattr(kind, name, None)
        if not _fits(value, wanted):
            raise DeepbenchError(f"{name} of {kind.family} is {value!r}, no {_text(wanted)}")
    try:
        re.compile(kind.id_pattern)
    except re.error as wrong:
        raise DeepbenchError(f"id_pattern of {kind.family}: {wrong}") from None
    if not kind.operations:
        raise DeepbenchError(f"operations of {kind.family} is (): name at least one")
    odd = [each for each in kind.operations if not NAME.fullmatch(each)]
    if odd:
        raise DeepbenchError(
            f"operations of {kind.family} names {odd[0]!r}: write a name of lower-case letters,"
            " digits and underscores"
        )
    sizes = size_fields(kind)
    published = kind.sheets.times.values() if kind.sheets is not None else ()
    for name, named, known in (
        ("precisions", kind.precisions, ALL_PRECISIONS),
        ("listed_in", kind.listed_in, SETS),
        ("headline", kind.headline, SETS),
        ("selections", kind.selections.values(), SETS),
        ("served", kind.served, kind.operations),
        ("totalled", kind.totalled, tuple(dict.fromkeys((*kind.operations, *published)))),
        ("smallest", kind.smallest, sizes),
        ("words", kind.words, sizes),
    ):
        unknown = [each for each in named if each not in known]
        if unknown:
            raise DeepbenchError(
                f"{name} of {kind.family} names {unknown[0]!r}: choose among {', '.join(known)}"
            )
    taken = [name for name in kind.selections if name in SELECTIONS]
    if taken:
        raise DeepbenchError(f"selections of {kind.family} names {taken[0]!r}, which exists")


def check_problems(kind: type[Problem], problems: Sequence[Problem]) -> None:
    """Raise DeepbenchError for a headline without its problem, and for a figure or text of a
    problem that cannot be computed or is of another type."""
    ids = {name for problem in problems for name in (problem.id, *problem.aliases)}
    missing = [each for named in kind.headline.values() for each in named if each not in ids]
    if missing:
        raise DeepbenchError(f"headline of {kind.family} names {missing[0]}, which its CSV lacks")
    for problem in problems:
        for name, wanted, compute in _facts(problem):
            value = _computed(f"{name} of {problem.id}", compute)
            if not _fits(value, wanted):
                raise DeepbenchError(f"{name} of {problem.id} is {value!r}, no {_text(wanted)}")
    if kind.selections:
        _computed(f"few of {kind.family}", lambda: kind.few(problems))


def _facts(problem: Problem) -> Iterator[tuple[str, Any, Callable[[], object]]]:
    """Yield the name, the type and the function of all that commands print of a problem."""
    kind = type(problem)
    yield "title", str, lambda: problem.title
    yield "impossible", str, problem.impossible
    yield "flops", Real, lambda: problem.flops
    yield "items", Real, lambda: problem.items
    yield "fast_factor", Real, lambda: problem.fast_factor
    yield "traffic", tuple[Real, Real], problem.traffic
    if kind.bytes is not Problem.bytes:
        for name in kind.precisions:
            yield "bytes", Real, partial(problem.bytes, name)
    if kind.flops_of is not Problem.flops_of:
        for operation in kind.operations:
            yield "flops_of", Real, partial(problem.flops_of, operation)
    if kind.bytes_of is not Problem.bytes_of:
        name = kind.precisions[0]
        for operation in kind.operations:
            yield "bytes_of", Real, partial(problem.bytes_of, name, operation)


def _computed(what: str, compute: Callable[[], object]) -> object:
    try:
        return compute()
    except PLUGIN_FAULTS as fault:
        kind = type(fault).__name__
        raise DeepbenchError(f"{what} raises {kind}: {one_line(fault)}") from None


def _fits(value: object, wanted: Any) -> bool:
    """Return whether a value is of a type: a class, a union, tuple[...] or Mapping[...].

    A number must be finite and not negative.
    """
    origin, parts = get_origin(wanted), get_args(wanted)
    if wanted is Real:
        return isinstance(value, Real) and 0 <= value < math.inf  # type: ignore[operator]
    if origin is None:
        return isinstance(value, wanted)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        each = parts[:1] * len(value) if parts[-1] is ... else parts
        return len(each) == len(value) and all(map(_fits, value, each))
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, parts[0]) and _fits(held, parts[1]) for key, held in value.items()
        )
    return any(_fits(value, part) for part in parts)


def _text(wanted: Any) -> str:
    """Return a type as a declaration writes it, such as Mapping[str, tuple[str, ...]]."""
    if get_origin(wanted) is None and isinstance(wanted, type):
        return "number, finite and not negative" if wanted is Real else wanted.__name__
    return re.sub(r"\b(?:\w+\.)+", "", str(wanted)).replace("Real", "number")
