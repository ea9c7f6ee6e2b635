"""Makes a machine's profile: facts, peaks and yardsticks, in under a minute."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine import detect, peaks
from deepbench_ops.machine.profile import Figure, Profile
from deepbench_ops.measure import yardstick

# No new product is begun later than this after the start, so that the whole stays under a
# minute; the processor comes first and leaves the accelerator some time.
LATEST_GEMM = {"cpu": 25.0, "cuda": 45.0}
TRIAD_SECONDS = 2.0

MEASURED = "measured:"
KEPT = ", kept from "

Tell = Callable[[str], None]


def survey(
    machine: str, threads: int, old: Profile | None, renew: bool = False, tell: Tell = print
) -> Profile:
    """Measure this machine on `threads` threads, and its accelerator where it has one.

    Nominal yardstick readings of the old profile are kept unless `renew`: every calibrated
    second on the timeline is a multiple of them, so a new reading would move them all. A peak
    of the old profile stays where it is the higher measured one, since a peak is the best ever
    reached and a framework may be missing today; one of a data sheet stays where nothing could
    be measured.
    tell: called with a line before each long step.
    """
    started = time.perf_counter()
    facts = detect.facts()
    tell(f"large GEMMs on the processor, {threads} threads")
    rates = {"cpu": _gemms("cpu", threads, old, started)}
    tell("triad on the processor")
    elements = peaks.triad_elements(detect.last_level_cache(), detect.available_bytes())
    bandwidth = {"cpu": peaks.triad(threads, elements, TRIAD_SECONDS)}
    if "accelerator" in facts:
        tell("large GEMMs and triad on the accelerator")
        rates["cuda"] = _gemms("cuda", threads, old, started)
        bandwidth["cuda"] = _cuda_triad()
    tell("yardsticks")
    return Profile(
        machine=machine,
        date=date.today().isoformat(),
        facts=facts,
        peaks=rates,
        bandwidth=bandwidth,
        yardstick_version=yardstick.VERSION,
        yardsticks=yardsticks(threads, old, renew),
    )


def yardsticks(threads: int, old: Profile | None, renew: bool) -> dict[str, dict[str, Figure]]:
    """Seconds per unit by thread count and kind, with what is not yet known read now."""
    same = old is not None and old.yardstick_version == yardstick.VERSION
    kept = dict(old.yardsticks) if old is not None and same and not renew else {}
    known = kept.get(str(threads), {})
    kept[str(threads)] = {
        kind: figure if (figure := known.get(kind)) and figure.value else _nominal(kind, threads)
        for kind in yardstick.KINDS
    }
    return kept


def _nominal(kind: str, threads: int) -> Figure:
    try:
        seconds = yardstick.nominal(kind, threads)
        what = yardstick.versions()
    except DeepbenchError as reason:
        return Figure(None, "s", f"not measured: {reason}")
    work = what[f"yardstick_{kind}"]
    library = what["yardstick_library"] if kind == "compute" else "libc"
    how = f"measured: {work}, {library}, {threads} threads, {date.today().isoformat()}"
    return Figure(seconds, "s", how)


def kept_peaks(old: Profile | None, device: str) -> dict[str, Figure]:
    """The peaks with a value that the old profile has for a device, each saying since when."""
    if old is None:
        return {}
    figures = old.peaks.get(device, {})
    return {name: _dated(figure, old.date) for name, figure in figures.items() if figure.value}


def _dated(figure: Figure, day: str) -> Figure:
    if KEPT in figure.how or not figure.how.startswith(MEASURED):
        return figure
    return replace(figure, how=f"{figure.how}{KEPT}{day}")


def _gemms(device: str, threads: int, old: Profile | None, started: float) -> dict[str, Figure]:
    measured = peaks.gemm_peaks(device, threads, started + LATEST_GEMM[device])
    kept = kept_peaks(old, device)
    return {name: _better(figure, kept.get(name)) for name, figure in measured.items()}


def _better(new: Figure, old: Figure | None) -> Figure:
    """The new figure, unless it has no value or the old was measured too and is higher."""
    if old is None or old.value is None:
        return new
    if new.value is None or (old.how.startswith(MEASURED) and old.value > new.value):
        return old
    return new


def _cuda_triad() -> Figure:
    try:
        return peaks.cuda_triad(TRIAD_SECONDS)
    except Unsupported as reason:
        return Figure(None, peaks.BYTE_RATE, f"not measured: {reason}")
