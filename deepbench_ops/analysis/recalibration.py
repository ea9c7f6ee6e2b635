"""Stored times of a machine, calculated again with the nominal readings that its profile has now.

A calibrated time is a multiple of a nominal reading of the yardstick. Where that was wrong, or the
machine's state had none of its own yet, all times that rest on it are: the raw seconds, the
readings next to them and the latencies between two cores have been stored, so they are calculated
again and need not be measured again.
"""

from pathlib import Path
from typing import Any, NamedTuple

from deepbench_ops.analysis import history_refiling
from deepbench_ops.asv_adapter import recalibrated_points, result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import fingerprint, yardstick
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import Choice, NominalReadings
from deepbench_ops.storage import atomic_write, ensemble_round_files, locks
from deepbench_ops.storage.ensemble_round_files import Entry, RoundsFile

DOING = "deepbench recalibrate"


class Recalibrated(NamedTuple):
    """Numbers of changed points of single runs, and of changed rounds of histories; and a line for
    each file that stays as it is."""

    points: int
    rounds: int
    faults: tuple[str, ...] = ()


def recalibrate(results: Path, machine: str) -> Recalibrated:
    """Calculate all stored times of a machine again; return how much has changed.

    A second call changes nothing. Each file is replaced with those that follow from it, or stays.
    Raises DeepbenchError for a machine without nominal readings.
    """
    known = machine_profile.read(results, machine)
    nominal = known.nominal_readings(yardstick.VERSION) if known else NominalReadings()
    if nominal == NominalReadings():
        raise DeepbenchError(
            f"{machine} has no nominal readings of the yardsticks: deepbench machine takes them"
        )
    points = rounds = 0
    faults = []
    with locks.results(results, doing=DOING):
        for path in result_files.paths(results / machine):
            try:
                with atomic_write.together() as ready:
                    changed = recalibrated_points.recalibrate(path, nominal, ready)
                points += changed
            except DeepbenchError as wrong:
                faults.append(str(wrong))
        for path in ensemble_round_files.paths(results / machine):
            try:
                rounds += _rounds(path, nominal)
            except DeepbenchError as wrong:
                faults.append(str(wrong))
    return Recalibrated(points, rounds, tuple(faults))


def _rounds(path: Path, nominal: NominalReadings) -> int:
    """Calculate the times of a file of rounds again; return how many rounds have changed."""
    former = ensemble_round_files.load(path)
    entries = [_recalibrated(each, nominal) for each in former.entries]
    changed = [
        KernelIdentity(*ensemble_round_files.kernel_of(new))
        for new, old in zip(entries, former.entries, strict=True)
        if new is not old
    ]
    if changed:
        history_refiling.replace(path, RoundsFile(former.facts, entries), set(changed))
    return len(changed)


def _recalibrated(entry: Entry, nominal: NominalReadings) -> Entry:
    """Return a round of a kernel with the nominal readings of now, the same object where those have
    not changed."""
    former = entry.get("yardstick")
    threads = entry.get("conditions", {}).get(fingerprint.THREADS, "")
    if not former or not threads.isdecimal():
        return entry

    def chosen(latencies: list[float | None]) -> Choice:
        known = [each for each in latencies if each is not None]
        return recalibrated_points.chosen(nominal, former["kind"], threads, known)

    whole = chosen(entry.get("latencies", []))
    if whole == Choice(None) or (nominal.by_level and not entry.get("latencies")):
        return entry  # without latencies its state is not known
    new = {**former, "nominal": whole.seconds, "remark": whole.remark}
    if former.get("nominals"):
        each_sweep = [chosen(two) for two in entry["sweep_latencies"]]
        new["nominals"] = [each.seconds for each in each_sweep]
        new["remarks"] = [each.remark for each in each_sweep]
    new = {name: value for name, value in new.items() if _is_stored(name, value)}
    return entry if new == former else {**entry, "yardstick": new}


def _is_stored(name: str, value: Any) -> bool:
    """Whether a line has a field of the yardstick: remarks only where there are any."""
    if name == "remark":
        return bool(value)
    return name != "remarks" or any(value)
