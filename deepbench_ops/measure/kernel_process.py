"""One kernel in a process of its own, so that threads are settled before its framework is imported.

``python -m deepbench_ops.measure.kernel_process '{"family": ..., "problem": ..., "precision": ...,
"operation": ...}'`` prepares, checks and times it. The last line on standard output is JSON: the
record of `kernel_measurement.timed` with its ``samples``, or ``{"error": text}``.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepbench_ops import process_lifetime, process_messages
from deepbench_ops.backends import plugin_error_line
from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, Unsupported
from deepbench_ops.measure import kernel_measurement, record_handover


def measured(
    task: Mapping[str, str], environ: Mapping[str, str], python: str = sys.executable
) -> dict[str, Any]:
    """Measure a task in a process with these variables added; return its record.

    python: the interpreter. Raises DeepbenchError with the process's reason where the kernel cannot
    be had or is wrong.
    """
    command = [python, "-m", "deepbench_ops.measure.kernel_process", json.dumps(dict(task))]
    done = subprocess.run(
        process_lifetime.bound(command),
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer = process_messages.last_printed(done.stdout)
    except ValueError:
        answer = None
    if answer is None:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise DeepbenchError(f"the measuring process ended with status {done.returncode}: {last}")
    if "error" in answer:
        raise (Unsupported if answer["unsupported"] else DeepbenchError)(answer["error"])
    return answer


def main() -> None:
    """Measure the task in the argument, as JSON; print the answer."""
    task = json.loads(sys.argv[1])
    answers = process_messages.reserved_output()
    try:
        answer = _measure(**task)
    except (DeepbenchError, Unsupported) as wrong:
        answer = {"error": str(wrong), "unsupported": isinstance(wrong, Unsupported)}
    except PLUGIN_FAULTS as fault:
        line = plugin_error_line.line_about(fault)
        if line is None:
            raise
        answer = {"error": line, "unsupported": False}
    process_messages.write(answers, answer)


def _measure(family: str, problem: str, precision: str, operation: str) -> dict[str, Any]:
    kernel_measurement.preload()
    started = time.monotonic()
    prepared = kernel_measurement.prepare(family, problem, precision, operation)
    preparing = time.monotonic() - started
    with tempfile.TemporaryDirectory() as spool:
        os.environ[record_handover.SPOOL_VARIABLE] = spool
        name = f"{family}.kernel_{operation}"
        found = kernel_measurement.timed(prepared, name, [problem, precision], preparing=preparing)
        (entry,) = record_handover.collect(Path(spool))
    return {**entry, **found}


if __name__ == "__main__":
    main()
