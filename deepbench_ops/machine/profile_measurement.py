"""Measurement of a machine's profile: facts, peaks and yardsticks, in about a minute.

Everything is measured several times with other measurements in between, and the best value counts.
If the values disagree, or other processes used the processors, the machine was disturbed and the
figures may be too low: the user gets a warning.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from deepbench_ops import backends
from deepbench_ops.backends import free_memory
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine import machine_facts, memory_bandwidth, peak_rates
from deepbench_ops.machine.machine_profile import NEXT_TO_LOAD, Figure, Profile
from deepbench_ops.machine.memory_bandwidth import BYTE_RATE
from deepbench_ops.machine.nominal_measurement import Say, ignore, is_of_now, yardsticks
from deepbench_ops.machine.other_load import LoadMonitor
from deepbench_ops.measure import threads as thread_counts
from deepbench_ops.measure import yardstick

# Seconds from the start after which each of the two passes begins no new precision, so that the
# measurement takes about a minute. The processor comes first and leaves some time to each
# accelerator. The second pass begins with the precisions for which the first had no time.
LATEST_GEMM = (20.0, 45.0)
MORE_SECONDS = 10.0
GPU_SECONDS = 60.0
"""Seconds for the products of a pass on a GPU; their operands are drawn on the processor."""
TRIAD_SECONDS = 1.0

DISAGREE = 1.1
"""Factor between the best values of two passes above which they were disturbed; on a quiet machine
they differ by a few percent."""

MUCH = 1.1
"""Factor between a former peak and today's above which the user is informed that it is kept."""

MEASURED_PREFIX = "measured:"
KEPT = ", kept from "

LIBRARIES = ("cuda", "hip", "cudnn", "xla_runtime")
"""Names in `Backend.versions` of the GPU libraries that a framework contains."""


@dataclass(frozen=True)
class Renewed:
    """Kinds of figures of the old profile that are always replaced."""

    peaks: bool = False
    yardsticks: bool = False


def measure_profile(
    machine: str,
    threads: int,
    old: Profile | None,
    renewed: Renewed = Renewed(),
    say: Say = print,
    warn: Say = ignore,
    frameworks: tuple[str, ...] = backends.NAMES,
    at: float | None = None,
) -> Profile:
    """Measure this machine on `threads` threads, and its accelerators; return the new profile.

    frameworks: those whose products are measured, if they are installed. at: the level of latency
    between two cores, in nanoseconds, at which the processor's yardsticks are read; None for any.

    Accelerators are the GPU that the driver lists, and devices that other distributions declare if
    a framework for them is installed.

    Nominal yardstick readings of the old profile are kept: every calibrated second on the timeline
    is a multiple of them, and a new reading would change all of these. A measured peak or bandwidth
    of the old profile stays if it is higher than today's, since the machine has reached it and may
    be disturbed today, or may lack a framework. One from a data sheet stays if nothing could be
    measured. renewed: exceptions from this. say: called with a line before each long step. warn:
    called with a line for each problem.
    """
    facts = machine_facts.facts()
    say("nothing yet: frameworks are being loaded")
    devices = [device for device in backends.DEVICES if _here(device, facts, threads, frameworks)]
    started, monitor = time.perf_counter(), LoadMonitor()
    passes: list[dict[str, dict[str, Figure]]] = []
    for place, which in enumerate(("first", "second")):
        measured = {}
        for number, device in enumerate(devices):
            say(f"large GEMMs and bandwidth on {device}, {which} pass")
            latest = started + LATEST_GEMM[place] + number * MORE_SECONDS
            if device == peak_rates.GPU:
                latest = max(latest, time.perf_counter() + GPU_SECONDS)
            former = passes[-1][device] if passes else {}
            without = [name for name, figure in former.items() if not figure.value]
            gemms = peak_rates.gemm_peaks(
                device, threads, latest, frameworks=frameworks, first=without
            )
            measured[device] = {**gemms, BYTE_RATE: _bandwidth(device, threads)}
        passes.append(measured)
    say("yardsticks")
    nominal = yardsticks(threads, old, renewed.yardsticks, warn, devices, at)
    facts |= _libraries(threads, frameworks) if peak_rates.GPU in devices else {}
    found = {device: best_of([each[device] for each in passes], warn) for device in devices}
    earlier = None if renewed.peaks else old
    if reason := monitor.found():
        warn(f"{reason} meanwhile: peaks and new yardstick readings may be wrong. {AGAIN}")
        found = {device: _marked(figures, reason) for device, figures in found.items()}
    kept = {device: _kept(found[device], earlier, device, warn) for device in devices}
    return Profile(
        machine=machine,
        date=date.today().isoformat(),
        facts=facts,
        peaks={
            device: {name: each for name, each in figures.items() if name != BYTE_RATE}
            for device, figures in kept.items()
        },
        bandwidth={device: figures[BYTE_RATE] for device, figures in kept.items()},
        yardstick_version=yardstick.VERSION,
        yardsticks=nominal,
        factor_by_chance=old.factor_by_chance if old else 0.0,
        **_states(old),
    )


def _states(old: Profile | None) -> dict[str, Any]:
    """Return the fields on states of the old profile, which `state_profile` extends."""
    if old is None:
        return {}
    if not is_of_now(old):
        return {"levels": [replace(level, yardsticks={}) for level in old.levels]}
    return {"levels": old.levels, "yardstick_levels": old.yardstick_levels}


AGAIN = "Run this command again when the machine is quiet: the higher peaks stay"


def best_of(passes: list[dict[str, Figure]], warn: Say) -> dict[str, Figure]:
    """Return the best value of each figure over all passes; call `warn` if passes disagree."""
    found = {}
    for name in passes[0]:
        figures = [each[name] for each in passes]
        values = [figure.value for figure in figures if figure.value is not None]
        # arrays of the triad differ with the free memory
        same = name == BYTE_RATE or len({_measured_by(figure) for figure in figures}) == 1
        if values and same and max(values) > DISAGREE * min(values):
            unit = figures[0].unit
            several = " and ".join(f"{value / 1e9:.3g}" for value in values)
            warn(f"{name}: {several} G{unit} in two passes, so the machine was disturbed. {AGAIN}")
        found[name] = peak_rates.best(figures) if values else figures[0]
    return found


def _marked(figures: Mapping[str, Figure], load: str) -> dict[str, Figure]:
    """Return figures that name the load next to which they were measured."""
    return {
        name: each if each.value is None else replace(each, how=f"{each.how}{NEXT_TO_LOAD}{load}")
        for name, each in figures.items()
    }


def _measured_by(figure: Figure) -> str:
    """Return the framework that measured a figure, such as "numpy 2.4.6"."""
    return figure.how.split(", ")[1] if figure.value is not None else ""


def _here(device: str, facts: Mapping[str, str], threads: int, frameworks: tuple[str, ...]) -> bool:
    """Load the frameworks for a device, and return whether this machine has the device.

    A machine has a GPU if the driver lists it, and any other device if a framework for it loads.
    """
    if device == peak_rates.GPU and "accelerator" not in facts:
        return False
    loaded, _ = peak_rates.load_all(device, threads, frameworks)
    return bool(loaded) or device in (yardstick.PROCESSOR, peak_rates.GPU)


def _libraries(threads: int, frameworks: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of CUDA and cuDNN in the frameworks for a GPU, such as torch's."""
    return {
        f"{backend.name}_{name}": versions[name]
        for backend in peak_rates.load_all(peak_rates.GPU, threads, frameworks)[0]
        if (versions := backend.versions())
        for name in LIBRARIES
        if name in versions
    }


def _bandwidth(device: str, threads: int) -> Figure:
    """Return the bytes/s of a device: a triad, or the copy of the yardstick that it declares."""
    try:
        if device == yardstick.PROCESSOR:
            elements = memory_bandwidth.triad_elements(
                machine_facts.last_level_caches(), free_memory.available()
            )
            cpus = sorted(thread_counts.cores(threads))
            return memory_bandwidth.triad(cpus, elements, TRIAD_SECONDS)
        if device == peak_rates.GPU:
            return memory_bandwidth.cuda_triad(TRIAD_SECONDS)
        return memory_bandwidth.copy_rate(device, TRIAD_SECONDS)
    except (DeepbenchError, Unsupported) as reason:
        return Figure(None, BYTE_RATE, f"not measured: {reason}")


def _kept(
    measured: Mapping[str, Figure], old: Profile | None, device: str, warn: Say
) -> dict[str, Figure]:
    """Return the measured figures of a device, with those of the old profile that stay."""
    former = kept_figures(old, device)
    found = {name: _better(figure, former.get(name)) for name, figure in measured.items()}
    for name, figure in measured.items():
        stays = found[name].value
        if figure.value and stays and stays > MUCH * figure.value:
            warn(
                f"{name} on {device}: {stays / 1e9:.4g} G{figure.unit} stays"
                f" ({found[name].how}); {figure.value / 1e9:.4g} were reached today. If the machine"
                " has changed, --renew-peaks takes today's"
            )
    return found


def kept_figures(old: Profile | None, device: str) -> dict[str, Figure]:
    """Return the peaks and the bandwidth of a device in the old profile, each with the day of its
    measurement in its text."""
    if old is None:
        return {}
    figures = dict(old.peaks.get(device, {}))
    if device in old.bandwidth:
        figures[BYTE_RATE] = old.bandwidth[device]
    return {name: _dated(figure, old.date) for name, figure in figures.items() if figure.value}


def _dated(figure: Figure, day: str) -> Figure:
    if KEPT in figure.how or not figure.how.startswith(MEASURED_PREFIX):
        return figure
    return replace(figure, how=f"{figure.how}{KEPT}{day}")


def _better(new: Figure, old: Figure | None) -> Figure:
    """Return the new figure, or the old one if it was measured and is higher, or the new one has no
    value. One that was measured next to other load gives way to one that was not."""
    if old is None or old.value is None:
        return new
    if old.disturbed and new.value is not None and not new.disturbed:
        return new
    if new.value is None or (old.how.startswith(MEASURED_PREFIX) and old.value > new.value):
        return old
    return new
