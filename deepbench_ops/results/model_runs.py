"""What `deepbench latency` and `deepbench scaling` found of whole models on a machine.

results/MACHINE/model_runs.jsonl holds one JSON object a line. A run replaces the one that asked
the same of the same release.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deepbench_ops.conditions import LAYOUT
from deepbench_ops.errors import DeepbenchError

FILE = "model_runs.jsonl"
ASKED = {
    "latency": (
        *("model", "batch", "threads", "precision", "by", "layout", "inter_op"),
        *("device", "release"),
    ),
    "scaling": ("model", "batch", "ranks", "precision", "split", "device", "release"),
}
"""By kind of run, what it was asked."""

FORMERLY = {"layout": LAYOUT.usual, "inter_op": None}
"""What runs were asked before they said so: the usual layout, torch's own threads."""

Run = dict[str, Any]


def load(machine: Path) -> list[Run]:
    """Return the runs in a machine's folder, none where it has none.

    Raises DeepbenchError naming file and line for text that is not such a run.
    """
    path = machine / FILE
    runs = []
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else (), 1):
        try:
            run = json.loads(line)
            _key(run)
            runs.append(run)
        except (ValueError, KeyError, TypeError):
            raise DeepbenchError(
                f"{path}: line {number} is not a run of a model; restore the file or remove the"
                " line"
            ) from None
    return runs


def add(machine: Path, runs: Iterable[Run]) -> Path:
    """File runs of a machine, the newest of each kind of question, and return where."""
    kept = {_key(run): run for run in [*load(machine), *runs]}
    path = machine / FILE
    text = "".join(json.dumps(run, allow_nan=False) + "\n" for run in kept.values())
    unfinished = path.with_name(path.name + ".tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(text)
    unfinished.replace(path)
    return path


def _key(run: Run) -> tuple[Any, ...]:
    asked = FORMERLY | run
    return run["kind"], *(asked[name] for name in ASKED[run["kind"]])
