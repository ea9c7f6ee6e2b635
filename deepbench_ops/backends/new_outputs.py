"""Operations whose call returns one or several new outputs, in newly allocated memory."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from deepbench_ops.backends.kernel_assembly import Prepared
from deepbench_ops.backends.latest_output import LatestOutput


def prepared(
    call: Callable[[], Any],
    outputs: Sequence[str],
    notes: Mapping[str, str],
    reset: Callable[[], object] = lambda: None,
) -> Prepared:
    """Return `call` as a prepared operation.

    outputs: names of the outputs in the order of the tuple that `call` returns; one name for a call
    that returns one output. A single number becomes an output of shape (1,). reset: function to
    call at a reset, after the output has been released.
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
    """Return output number `number` of the newest call; a single number gets the shape (1,)."""
    made = newest.value()
    found = made[number] if isinstance(made, tuple | list) else made
    return found if found.shape else found.reshape(1)
