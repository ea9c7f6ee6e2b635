"""Print the causes of the width of the intervals of `history_proof.py same`.

    python bench/interval_widths.py artifacts/proof/same-numpy-2.4.6-30-rounds.jsonl

A release was measured against itself, so all differences are noise. For each kernel:

- the half-width of its 99 % interval from the rounds in one state of the machine, as verdicts have
  it, and from all rounds;
- the standard deviation of the ratio between rounds, and the part of it that the sweeps of a round
  leave by themselves. The rest differs between rounds, as processes and states of the machine do.

Nothing is measured.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from proof_rounds import Rounds
from proof_tables import median, named, show

from deepbench_ops.analysis.ensemble_verdicts import compare, half_width
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.statistics.spread import scaled_mad

IN_ONE_STATE, IN_ALL = "half-width, one state", "half-width, all rounds"
BETWEEN, OF_SWEEPS = "between rounds", "of sweeps"


def figures(used: Sequence[Round], every: Sequence[Round]) -> dict[str, float]:
    """Return the figures of a kernel, as shares of its time.

    used: its rounds in one state. every: all of them.
    """
    before, after = sorted(every[0].names)
    levels = np.array([each.difference(before, after) for each in every])
    return {
        IN_ONE_STATE: half_width(compare(used, before, after)),
        IN_ALL: half_width(compare(every, before, after)),
        BETWEEN: float(scaled_mad(levels[:, 0])),
        OF_SWEEPS: math.sqrt(np.mean(levels[:, 1])),
    }


def row(task: KernelIdentity, used: Sequence[Round], every: Sequence[Round]) -> dict[str, str]:
    """Return the row of a kernel."""
    seconds = median([value for each in every for one in each.sweeps for value in one.values()])
    return {
        **named(task),
        "ms": f"{1e3 * seconds:.3g}",
        "sweeps": f"{median([len(each.sweeps) for each in every]):.0f}",
        "rounds": f"{len(used)} of {len(every)}",
        **{name: f"{value:.2%}" for name, value in figures(used, every).items()},
    }


def main() -> None:
    """Print a row for each kernel, and the medians of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", type=Path, help="rounds that history_proof.py same has kept")
    path = parser.parse_args().rounds
    rounds = Rounds(path)
    if not rounds.found:
        raise SystemExit(f"{path} has no rounds: measure some with history_proof.py same")
    rounds.derive_states()
    kernels = {
        task: (rounds.selected(task, sorted(mine)), rounds.of(task, sorted(mine)))
        for task, mine in rounds.found.items()
    }
    show([row(task, *both) for task, both in kernels.items()])
    every = [figures(*both) for both in kernels.values()]
    medians = {name: median([each[name] for each in every]) for name in every[0]}
    print(*(f"{name}: {value:.2%}" for name, value in medians.items()), sep="\n")


if __name__ == "__main__":
    main()
