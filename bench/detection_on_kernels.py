"""Compare real kernels with themselves, and with themselves plus a little extra work.

This is the part of detection_simulation.py that measures: two live processes on this machine,
compared by `compare_pairs`. Without extra work every verdict other than *same* and *ambiguous* is
false; with extra work, *slower* is right. The plain medians of the same processes, ten before and
ten after, also go through asv's own step detection. This favours asv, because the two sides were
measured in the same minutes. Rounds are saved, so that another estimator can be applied to them.
`detection_simulation.py --physical` measures many kernels. One kernel, also on a GPU:

    python bench/detection_on_kernels.py --framework torch --device cuda --extra 0.02 --problem ID
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.analysis.verdict import Verdict, compare_pairs
from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.measure import ensemble_sweeps, worker_control
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.gemm import Gemm

SLOWED = str(Path(__file__).with_name("worker_with_extra_work.py"))
ROUNDS = 10
EXTRAS = (0.0, 0.02, 0.05, 0.1)

Pair = tuple[float, float]
"""Seconds per call without and with the extra work, in one sweep."""


@dataclass(frozen=True)
class Case:
    """One kernel, measured in rounds of pairs, with a share `extra` of extra work on the second
    side."""

    problem: str
    extra: float
    rounds: list[list[Pair]]

    @cached_property
    def verdict(self) -> Verdict:
        return compare_pairs(self.rounds)

    @property
    def kind(self) -> str:
        return self.verdict.kind

    @cached_property
    def asv_found(self) -> bool:
        return _asv_finds(self.rounds)


def headline() -> list[str]:
    """The headline's products of training and server, except one that takes a second per call."""
    ids = [*Gemm.headline["training"], *Gemm.headline["inference_server"]]
    return [id for id in dict.fromkeys(ids) if "n9124" not in id]


def cases(
    framework: str, extra: float, repeats: int, problems: Sequence[str], rounds: int = ROUNDS
) -> Iterator[Case]:
    """Measure every problem `repeats` times, and yield a case for each."""
    environ = {"DEEPBENCH_FRAMEWORK": framework}
    plain = worker_control.Launch(sys.executable, environ)
    other = plain
    if extra:
        other = worker_control.Launch(sys.executable, {**environ, "EXTRA": str(extra)}, (SLOWED,))
    tasks = [KernelIdentity("gemm", problem, "float32") for problem in problems]
    for _ in range(repeats):
        sides = {"plain": plain, "other": other}
        for task, found in ensemble_sweeps.run_rounds(sides, tasks, rounds).items():
            pairs = [[(one["plain"], one["other"]) for one in taken.sweeps] for taken in found]
            yield Case(task.problem, extra, pairs)


def _asv_finds(rounds: Sequence[Sequence[Pair]]) -> bool:
    """Whether asv's detection finds a rise where the plain medians of the second side begin."""
    before, after = (
        [statistics.median(pair[side] for pair in taken) for taken in rounds] for side in (0, 1)
    )
    steps = asv_api.detect_steps(before + after)
    return any(
        abs(second[0] - len(before)) <= 2 and second[2] > first[2]
        for first, second in pairwise(steps)
    )


def table(found: Sequence[Case]) -> list[dict[str, object]]:
    """Return a row for each share of extra work."""
    rows = []
    for extra in sorted({case.extra for case in found}):
        mine = [case for case in found if case.extra == extra]

        def share(kind: str, mine: Sequence[Case] = mine) -> str:
            return f"{100 * sum(case.kind == kind for case in mine) / len(mine):.1f}"

        rows.append(
            {
                "extra work": f"{extra:.0%}" if extra else "none",
                "cases": len(mine),
                "ratio": f"{statistics.median(case.verdict.ratio for case in mine):.4f}",
                "detectable": f"{statistics.median(case.verdict.detectable for case in mine):.1%}",
                **{kind: share(kind) for kind in ("slower", "faster", "same", "ambiguous")},
                "asv on plain medians": f"{100 * sum(c.asv_found for c in mine) / len(mine):.1f}",
            }
        )
    return rows


def load(path: Path) -> list[Case]:
    """Return the cases of a file written by `save`; none if the file does not exist."""
    return [Case(**case) for case in json.loads(path.read_text())] if path.exists() else []


def save(path: Path, found: Sequence[Case]) -> None:
    """Write every case with its rounds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(case) for case in found]) + "\n")


def main() -> None:
    """Measure one case, unless the file has it already, and print the table of all its cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", default="numpy")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--extra", type=float, default=0.0, help="share of extra work, as 0.02")
    parser.add_argument("--problem", required=True)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, default=Path("artifacts/kernels.json"))
    asked = parser.parse_args()
    os.environ["DEEPBENCH_DEVICE"] = asked.device  # for the workers
    found = load(asked.json)
    if not any((case.problem, case.extra) == (asked.problem, asked.extra) for case in found):
        found += cases(asked.framework, asked.extra, 1, [asked.problem], asked.rounds)
        save(asked.json, found)
    print(tabulate(table(found), headers="keys", disable_numparse=True))


if __name__ == "__main__":
    main()
