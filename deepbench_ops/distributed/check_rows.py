"""The rows of `deepbench check`, computed in this process or in the interpreter of a release.

``python -m deepbench_ops.distributed.check_rows '{"frameworks": [...], ...}'`` writes
messages to standard output: ``{"step": text}`` before each step, and ``{"row": {...}}`` with the
fields of a `CheckResult` for each row. Importing this module imports no framework.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from deepbench_ops import process_lifetime, process_messages
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import threads
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.problems import PRECISIONS

if TYPE_CHECKING:
    from deepbench_ops.backends.backend_check_table import CheckResult

Say = Callable[[str], object]


@dataclass(frozen=True)
class Selection:
    """The kernels to check; empty precisions or layouts mean all that a family has."""

    frameworks: tuple[str, ...]
    devices: tuple[str, ...]
    families: tuple[str, ...]
    precisions: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()


def rows(wanted: Selection, report: Say = lambda step: None) -> Iterator["CheckResult"]:
    """Yield the row of every kernel, as this process computes it.

    report: called with the name of each step before it. Raises DeepbenchError for names that do not
    exist.
    """
    count = threads.fix()
    # The frameworks are imported only now, after their numbers of threads were set.
    from deepbench_ops.backends import backend_check_table
    from deepbench_ops.distributed import collective_check_table as between_processes

    places = wanted.frameworks, wanted.devices
    in_one, between = between_processes.split_by_processes(wanted.families)
    if in_one:
        yield from backend_check_table.rows(
            *places, in_one, wanted.precisions, threads=count, report=report, layouts=wanted.layouts
        )
    kinds = wanted.precisions or PRECISIONS
    yield from between_processes.rows(
        between, *places, kinds, report=report, layouts=wanted.layouts
    )


def rows_of(
    launch: Launch, wanted: Selection, report: Say = lambda step: None
) -> Iterator["CheckResult"]:
    """Yield the row of every kernel, as the interpreter of a release computes it.

    Raises DeepbenchError if its process ends with an error.
    """
    from deepbench_ops.backends.backend_check_table import CheckResult

    command = [launch.python, "-m", __name__, json.dumps(asdict(wanted))]
    with subprocess.Popen(
        process_lifetime.bound(command),
        stdout=subprocess.PIPE,
        env={**os.environ, **launch.environ},
    ) as process:
        assert process.stdout is not None
        while (message := process_messages.read(process.stdout)) is not None:
            if "step" in message:
                report(message["step"])
            else:
                yield CheckResult(**message["row"])
    if process.returncode:
        raise DeepbenchError(
            f"the checking process of {launch.python} ended with status {process.returncode}"
        )


def main() -> None:
    """Check the selection in the argument, as JSON; write the messages."""
    asked = {name: tuple(values) for name, values in json.loads(sys.argv[1]).items()}
    answers = process_messages.reserved_output()
    for row in rows(
        Selection(**asked), lambda step: process_messages.write(answers, {"step": step})
    ):
        process_messages.write(answers, {"row": asdict(row)})


if __name__ == "__main__":
    main()
