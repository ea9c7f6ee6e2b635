"""Rounds of ensembles as lines of a file, and back (`storage.ensemble_round_files`)."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from deepbench_ops.measure import benchmark_versions, ensemble_sweeps
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.storage import ensemble_round_files, facts_digest
from deepbench_ops.storage.ensemble_round_files import Entry, RoundsFile
from deepbench_ops.storage.fact_lines import FactsByDigest

DIGITS = 5
"""Significant digits of stored seconds."""


def load(path: Path) -> dict[KernelIdentity, list[Round]]:
    """Return the rounds of each kernel that a file holds, oldest first; {} where there is none.

    Rounds of another `ensemble_sweeps.VERSION`, and of another version of the kernel's benchmark,
    are left out. Raises DeepbenchError naming file and line.
    """
    return by_kernel(ensemble_round_files.load(path))


def by_kernel(content: RoundsFile) -> dict[KernelIdentity, list[Round]]:
    """Return the rounds of each kernel, oldest first."""
    found: dict[KernelIdentity, list[Round]] = defaultdict(list)
    for entry in content.entries:
        task = KernelIdentity(*ensemble_round_files.kernel_of(entry))
        if _is_of_now(task, entry):
            found[task].append(round_of(entry, content.facts))
    return {
        task: sorted(rounds, key=lambda each: (each.started_at, each.id))
        for task, rounds in found.items()
    }


def entry_of(task: KernelIdentity, this_round: Round) -> tuple[FactsByDigest, Entry]:
    """Return the line of one round of a kernel, and the facts that it names by their digest."""
    facts: FactsByDigest = {}
    fingerprints = _digests(this_round.facts, facts)
    entry: Entry = {
        **asdict(task),
        "round": this_round.id,
        "version": ensemble_sweeps.VERSION,
        "benchmark_version": benchmark_versions.now(task),
        "started_at": round(this_round.started_at, 3),
        "ended_at": round(this_round.ended_at, 3),
        "anchor": this_round.anchor,
        "fingerprints": fingerprints,
        "calls": this_round.calls,
        "seconds": {
            name: [_rounded(sweep.get(name, math.nan)) for sweep in this_round.sweeps]
            for name in this_round.names
        },
        "reasons": this_round.reasons,
        "latencies": this_round.latencies,
    }
    if this_round.has_yardstick:
        entry["yardstick"] = {
            "kind": this_round.yardstick_kind,
            "nominal": this_round.nominal,
            **({"remark": this_round.calibration} if this_round.calibration else {}),
            "seconds": [_rounded(each) for each in this_round.yardstick],
            **({"nominals": this_round.nominals} if this_round.nominals else {}),
            **({"remarks": this_round.remarks} if any(this_round.remarks) else {}),
        }
    optional = {
        "sweep_latencies": [[_rounded(each) for each in two] for two in this_round.sweep_latencies],
        "implementations": this_round.implementations,
        "notes": _digests(this_round.notes, facts),
        "conditions": this_round.conditions,
    }
    return facts, {**entry, **{name: value for name, value in optional.items() if value}}


def round_of(entry: Entry, facts: Mapping[str, Mapping[str, str]]) -> Round:
    """Return the round of a checked line; `facts` are those of its file, by digest."""
    columns = entry["seconds"]
    count = max(map(len, columns.values()), default=0)
    yardstick = entry.get("yardstick", {})
    nominals = list(yardstick.get("nominals", ()))
    return Round(
        sweeps=[
            {name: column[row] for name, column in columns.items() if column[row] is not None}
            for row in range(count)
        ],
        reasons=entry["reasons"],
        latencies=list(entry.get("latencies", ())),
        sweep_latencies=[
            (_number(before), _number(after)) for before, after in entry.get("sweep_latencies", ())
        ],
        id=entry["round"],
        anchor=entry["anchor"],
        started_at=entry["started_at"],
        ended_at=entry["ended_at"],
        yardstick=[_number(each) for each in yardstick.get("seconds", ())],
        yardstick_kind=yardstick.get("kind", ""),
        nominal=yardstick.get("nominal"),
        calibration=yardstick.get("remark", ""),
        nominals=nominals,
        remarks=list(yardstick.get("remarks", [""] * len(nominals))),
        calls=entry.get("calls", {}),
        facts=_looked_up(entry.get("fingerprints", {}), facts),
        notes=_looked_up(entry.get("notes", {}), facts),
        implementations=entry.get("implementations", {}),
        state=entry.get("state", ""),
        conditions=entry.get("conditions", {}),
    )


def _is_of_now(task: KernelIdentity, entry: Entry) -> bool:
    """Whether a round was measured in the way of today, and its kernel did the work of today."""
    work = entry.get("benchmark_version") or benchmark_versions.unrecorded(task)
    return (entry["version"], work) == (ensemble_sweeps.VERSION, benchmark_versions.now(task))


def _digests(several: Mapping[str, Mapping[str, str]], facts: FactsByDigest) -> dict[str, str]:
    """Return the digest of each release's facts, and add the facts by their digest."""
    found = {name: facts_digest.digest(each) for name, each in several.items()}
    facts |= {found[name]: dict(each) for name, each in several.items()}
    return found


def _looked_up(
    digests: Mapping[str, str], facts: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    return {name: dict(facts[digest]) for name, digest in digests.items() if digest in facts}


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
