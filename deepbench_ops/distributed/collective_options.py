"""Options of collective operations, checked before any rank is started.

They are the same for `deepbench collective` and for the program under a launcher. Values are text,
so that each mistake results in one line with the option and its allowed values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from deepbench_ops import problems
from deepbench_ops.distributed import transports
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.collective import Collective
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.suggestions import unknown

FEWEST_RANKS = 2
MOST_RANKS = 32


@dataclass(frozen=True)
class CollectiveRequest:
    """The problems to time, and limits.

    repeats: number of calls to time for each problem; None to continue until the noise is low.
    timeout: seconds that a single step may take before the ranks are ended.
    """

    problems: tuple[Collective, ...]
    repeats: int | None
    timeout: float
    precision: str = AllReduce.precisions[0]


def request(
    ids: Sequence[str],
    elements: Sequence[str],
    repeats: str | None,
    timeout: str,
    kind: type[Collective] = AllReduce,
    precision: str = AllReduce.precisions[0],
) -> CollectiveRequest:
    """Read the options that all ways of running have.

    Without ids and elements the request has the smaller set of the family, or its only set.

    Raises DeepbenchError for an unknown problem or precision, and a wrong number.
    """
    if precision not in kind.precisions:
        raise unknown(f"precision of {kind.heading}", precision, kind.precisions)
    found = [problems.find(kind.family, id) for id in ids]
    found += [kind(elements=whole_number("--elements", text)) for text in elements]
    return CollectiveRequest(
        problems=tuple(found or problems.load(kind.family, kind.listed_in[0])),  # type: ignore[arg-type]
        repeats=None if repeats is None else whole_number("--repeats", repeats),
        timeout=above_zero("--timeout", timeout),
        precision=precision,
    )


def kinds() -> dict[str, type[Collective]]:
    """Return the families of collective operations by name."""
    return {family: each for family, each in TYPES.items() if issubclass(each, Collective)}


def kind(name: str) -> type[Collective]:
    """Return the dataclass of a family of collective operations.

    name: its name, with dashes or underscores.

    Raises DeepbenchError for an unknown name.
    """
    known = kinds()
    found = known.get(name.replace("-", "_"))
    if found is None:
        raise unknown("collective operation", name, tuple(known))
    return found


def ranks(text: str, transport: str = "") -> int:
    """Read the number of ranks on one machine for a transport.

    Raises DeepbenchError for text that is no number, and for one out of range.
    """
    if not text:
        raise DeepbenchError(f"--ranks is missing: from {FEWEST_RANKS} to {MOST_RANKS} processes")
    count = whole_number("--ranks", text, least=None)
    alone = transport in transports.found() and transports.found()[transport].may_be_alone
    fewest = 1 if alone else FEWEST_RANKS
    if not fewest <= count <= MOST_RANKS:
        raise DeepbenchError(
            f"--ranks is {count}: from {FEWEST_RANKS} (one alone has no other to exchange with) to"
            f" {MOST_RANKS} on one machine"
        )
    return count


def whole_number(option: str, text: str, least: int | None = 1) -> int:
    """Read a whole number of at least `least`.

    Raises DeepbenchError, naming the option, for any other text.
    """
    try:
        number = int(text)
    except ValueError:
        raise DeepbenchError(f"{option} is {text!r}: give a whole number") from None
    if least is not None and number < least:
        raise DeepbenchError(f"{option} is {number}: give a whole number from {least} up")
    return number


def above_zero(option: str, text: str) -> float:
    """Read a number of seconds above 0.

    Raises DeepbenchError, naming the option, for any other text.
    """
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise DeepbenchError(f"{option} is {text!r}: give a number of seconds above 0")
    return number
