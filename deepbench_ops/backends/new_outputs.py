"""Operations whose call returns a new output, or several, in memory of their own."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from deepbench_ops.backends.assembly import Prepared
from deepbench_ops.backends.latest_output import LatestOutput


def prepared(
    call: Callable[[], Any],
    outputs: Sequence[str],
    notes: Mapping[str, str],
    reset: Callable[[], object] = lambda: None,
) -> Prepared:
    """Return an operation of `call`.

    outputs: names of what it returns, in order: of one, or of a tuple. A single number is an output
    of the shape (1,). reset: what is to be done before a run, besides letting the output go.
    """
    newest = LatestOutput(call)

    def start() -> None:
        newest.reset()
        reset()

    start()
    readers = {name: partial(part, newest, number) for number, name in enumerate(outputs)}
    return Prepared(
        run=newest.run,
        reset=start,
        output=readers.pop(""),
        further=readers,
        notes={"output": "a new one in every call", **notes},
    )


def part(newest: LatestOutput, number: int) -> Any:
    """Return one of the newest outputs, with an axis."""
    made = newest.value()
    found = made[number] if isinstance(made, tuple | list) else made
    return found if found.shape else found.reshape(1)
