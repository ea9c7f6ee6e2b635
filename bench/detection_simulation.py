"""Count the changes that detectors find, miss and wrongly report.

The series have 80 points with known noise and known changes, and fixed seeds. Compared are
`analysis.detect_changes`, asv's own step detection, a threshold on the ratio to the previous run,
and a z-score over the last twenty runs. interval_coverage_simulation.py does the same for two
releases.

    python bench/detection_simulation.py [--series 10000] [--others 1000] [--write FILE]
    python bench/detection_simulation.py --physical [--framework torch] [--repeats 30]

Prints tables in Markdown, or writes them into the marked part of a file. --physical measures
kernels of this machine instead of drawing random numbers (see detection_on_kernels.py). Nothing
else should run at the same time.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import detection_on_kernels
import numpy as np
from tabulate import tabulate

from deepbench_ops.analysis.change_detection import detect_changes
from deepbench_ops.asv_adapter import asv_api

POINTS = 80
TOLERANCE = 2
"""Largest distance, in points, at which a reported change of the right direction counts as
found."""

NO_ALARM = ("same", "ambiguous")
"""Verdicts that raise no alarm."""

Noise = Callable[[np.random.Generator, float], np.ndarray]
Found = list[tuple[int, bool]]
"""Places of changes, and whether each is upward."""


def gaussian(random: np.random.Generator, cv: float) -> np.ndarray:
    return random.normal(0, cv, POINTS)


def spikes(random: np.random.Generator, cv: float) -> np.ndarray:
    """Normal noise; three points in a hundred are 15 % higher."""
    return gaussian(random, cv) + np.log(1.15) * (random.random(POINTS) < 0.03)


def bimodal(random: np.random.Generator, cv: float) -> np.ndarray:
    """Noise of two modes, of total coefficient of variation `cv`.

    Three points in ten are in the second mode, four deviations of a mode higher.
    """
    return 0.48 * gaussian(random, cv) + 1.92 * cv * (random.random(POINTS) < 0.3)


def trend(random: np.random.Generator, cv: float, height: float = 1.0) -> np.ndarray:
    """A straight line that rises or falls in total by 0.5 to 1 times the noise around it."""
    slope = random.choice([-1, 1]) * random.uniform(0.5, 1) * height * cv
    return gaussian(random, cv) + slope * np.arange(POINTS) / POINTS


def steep_trend(random: np.random.Generator, cv: float) -> np.ndarray:
    """A trend three times as steep."""
    return trend(random, cv, 3.0)


def wave(random: np.random.Generator, cv: float, height: float = 0.5) -> np.ndarray:
    """A wave of an amplitude of half the noise and a period of 60 to 160 points."""
    turns = np.arange(POINTS) / random.uniform(60, 160) + random.random()
    return gaussian(random, cv) + height * cv * np.sin(2 * np.pi * turns)


def high_wave(random: np.random.Generator, cv: float) -> np.ndarray:
    """A wave of the same amplitude as the noise."""
    return wave(random, cv, 1.0)


def autocorrelated(random: np.random.Generator, cv: float) -> np.ndarray:
    """Autoregressive noise, coefficient 0.5, of total coefficient of variation `cv`."""
    kicks = random.normal(0, cv * np.sqrt(1 - 0.5**2), POINTS)
    kicks[0] = random.normal(0, cv)
    values = np.empty(POINTS)
    value = 0.0
    for place, kick in enumerate(kicks):
        value = values[place] = 0.5 * value + kick
    return values


NOISES: dict[str, Noise] = {
    "Gaussian": gaussian,
    "spikes": spikes,
    "bimodal": bimodal,
    "drift, line": trend,
    "drift, wave": wave,
    "autocorrelated": autocorrelated,
    "drift, steep line": steep_trend,
    "drift, high wave": high_wave,
}


@dataclass(frozen=True)
class Step:
    """A step in either direction, `after` points before the end, in noise of `cv`."""

    size: float
    after: int
    cv: float

    def __str__(self) -> str:
        return f"{self.size:.0%} at CV {self.cv:.0%}, {self.after} after"


STEPS = (Step(0.05, 5, 0.01), Step(0.02, 10, 0.01), Step(0.10, 5, 0.03), Step(0.15, 1, 0.03))
NO_STEPS = (Step(0, 0, 0.01), Step(0, 0, 0.03))


def ours(seconds: np.ndarray) -> Found:
    return [(change.index, change.ratio > 1) for change in detect_changes(seconds)]


def asv_steps(seconds: np.ndarray) -> Found:
    """Every step that asv finds; its page of regressions lists only rises of at least 5 %."""
    found = asv_api.detect_steps(list(seconds))
    return [(after[0], after[2] > before[2]) for before, after in pairwise(found)]


def previous_run(seconds: np.ndarray) -> Found:
    """Points that differ by more than 7 % from the previous run (TorchBench's threshold)."""
    ratios = seconds[1:] / seconds[:-1]
    return [(int(i) + 1, ratios[i] > 1) for i in np.flatnonzero(np.abs(ratios - 1) > 0.07)]


def z_score(seconds: np.ndarray) -> Found:
    """Points more than three standard deviations from the mean of the last twenty runs."""
    windows = np.lib.stride_tricks.sliding_window_view(seconds, 20)[:-1]
    z = (seconds[20:] - windows.mean(axis=1)) / windows.std(axis=1, ddof=1)
    return [(int(i) + 20, z[i] > 0) for i in np.flatnonzero(np.abs(z) > 3)]


OWN = "deepbench"
DETECTORS: dict[str, Callable[[np.ndarray], Found]] = {
    OWN: ours,
    "asv": asv_steps,
    "previous run, 7 %": previous_run,
    "z-score, 3": z_score,
}
Counts = dict[str, int]
"""Number of series per cell of the table, by detector; all use the first of the same series."""


def series(random: np.random.Generator, noise: Noise, step: Step) -> tuple[np.ndarray, bool]:
    """Return seconds, and whether their step is a rise."""
    logs = noise(random, step.cv)
    upward = bool(random.random() < 0.5)
    if step.after:
        logs[-step.after :] += (1 if upward else -1) * np.log1p(step.size)
    return np.exp(logs), upward


def right(found: Found, step: Step, upward: bool) -> int:
    """Return how many of the found changes are the step, 0 or 1."""
    place = POINTS - step.after
    return int(
        step.after > 0 and any(abs(at - place) <= TOLERANCE and way == upward for at, way in found)
    )


def along(counts: Counts, seed: int) -> list[dict[str, str]]:
    """Return a row for each noise and step, with shares of each detector in percent.

    Without a step: series with a reported change. With a step: steps found / reported changes that
    are the step.
    """
    cells = [(name, step) for name in NOISES for step in (*NO_STEPS, *STEPS)]
    with ProcessPoolExecutor() as pool:
        return list(pool.map(partial(row, counts, seed), *zip(*cells, strict=True)))


def row(counts: Counts, seed: int, noise: str, step: Step) -> dict[str, str]:
    """Return the row of one noise and step."""
    cells = {"noise": noise, "change": str(step) if step.after else f"none, CV {step.cv:.0%}"}
    for name, count in counts.items():
        random = np.random.default_rng(seed)
        hits = reported = alarmed = 0
        for _ in range(count):
            seconds, upward = series(random, NOISES[noise], step)
            found = DETECTORS[name](seconds)
            hits += right(found, step, upward)
            reported += len(found)
            alarmed += bool(found)
        if step.after:
            precise = f"{100 * hits / reported:.0f}" if reported else "-"
            cells[name] = f"{100 * hits / count:.1f} / {precise}"
        else:
            cells[name] = f"{100 * alarmed / count:.1f}"
    return cells


def creep(counts: Counts, seed: int) -> dict[str, str]:
    """Return the row of a slow rise: 1.00 to 1.21 in eight steps, nine points each, CV 1 %."""
    cells = {"noise": "Gaussian", "change": "creep to 1.21 in 8 steps"}
    climb = np.log1p(0.21 * np.minimum(np.arange(POINTS) // 9, 8) / 8)
    for name, count in counts.items():
        random = np.random.default_rng(seed)
        many = (np.exp(gaussian(random, 0.01) + climb) for _ in range(count))
        found = sum(any(upward for _, upward in DETECTORS[name](seconds)) for seconds in many)
        cells[name] = f"{100 * found / count:.1f}"
    return cells


def speed(seed: int, count: int = 1000) -> float:
    """Return the seconds for `count` series, half of them with a step."""
    random = np.random.default_rng(seed)
    many = [series(random, gaussian, (STEPS + NO_STEPS)[i % 2 * 4])[0] for i in range(count)]
    began = time.perf_counter()
    for seconds in many:
        detect_changes(seconds)
    return time.perf_counter() - began


def simulated(counts: Counts, seed: int) -> str:
    """Return the table of simulated series."""
    rows = [*along(counts, seed), creep(counts, seed)]
    took = f"1000 series of {POINTS} points took {speed(seed):.1f} s of one core."
    return f"{_counted(counts)}:\n\n{markdown(rows)}\n\n{took}"


def _counted(counts: Counts) -> str:
    """Return a sentence with the number of series of each row."""
    others = max((count for name, count in counts.items() if name != OWN), default=0)
    return f"{counts[OWN]} series a row" + (f", the first {others} for others" if others else "")


def measured(framework: str, repeats: int, slowed: int, saved: Path) -> str:
    """Return the table of kernels of this machine; saved cases are not measured again."""
    found = detection_on_kernels.load(saved)
    problems = detection_on_kernels.headline()
    for extra in detection_on_kernels.EXTRAS:
        had = sum(case.extra == extra for case in found) // len(problems)
        missing = (slowed if extra else repeats) - had
        for case in detection_on_kernels.cases(framework, extra, missing, problems):
            found.append(case)
            detection_on_kernels.save(saved, found)
    about = (
        f"{framework}, {len(problems)} kernels, {detection_on_kernels.ROUNDS} rounds"
        " of pairs for each case;"
        f" {sum(case.kind not in NO_ALARM for case in found if not case.extra)} of"
        f" {sum(not case.extra for case in found)} without extra work are called slower or faster"
    )
    return f"{about}:\n\n{markdown(detection_on_kernels.table(found))}"


def markdown(rows: Sequence[dict[str, object]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True)


def put(text: str, page: Path, part: str, script: str = "detection_simulation.py") -> None:
    """Replace the part of a page between its two marks."""
    begin, end = f"<!-- {part}, written by bench/{script} -->\n", "<!-- end -->\n"
    before, found, rest = page.read_text().partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"{page}: no line {begin.strip()!r}, and an end after it")
    page.write_text(f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--series", type=int, default=10000, help="of each cell, for this project's detector"
    )
    parser.add_argument(
        "--others", type=int, default=1000, help="of each cell, for other detectors; 0: none"
    )
    parser.add_argument("--seed", type=int, default=20161225, help="of every row")
    parser.add_argument("--physical", action="store_true", help="measure kernels of this machine")
    parser.add_argument("--framework", default="numpy", help="framework of the kernels")
    parser.add_argument("--repeats", type=int, default=30, help="of each kernel without extra work")
    parser.add_argument("--slowed", type=int, default=10, help="of each kernel and extra work")
    parser.add_argument(
        "--json",
        type=Path,
        default=Path("artifacts/kernels.json"),
        help="file of measured cases, with which an interrupted run continues",
    )
    parser.add_argument("--write", type=Path, help="put the tables into this file")
    arguments = parser.parse_args()
    if arguments.physical:
        text = measured(arguments.framework, arguments.repeats, arguments.slowed, arguments.json)
    else:
        counts = {name: arguments.series if name == OWN else arguments.others for name in DETECTORS}
        text = simulated({name: count for name, count in counts.items() if count}, arguments.seed)
    if arguments.write is None:
        print(text)
    else:
        put(text, arguments.write, "kernels" if arguments.physical else "series")


if __name__ == "__main__":
    main()
