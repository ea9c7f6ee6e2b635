"""Print which framework is the fastest in rounds that measured several frameworks.

    python bench/frameworks_together.py results/epyc-9004-2core/ensembles/frameworks.jsonl.gz

A line for each kernel: the fastest release, the second, and the ratio of their seconds with its
interval of 99 %, from the rounds of the most frequent state of the machine; and the widest of the
intervals of ratios to the anchor, by its half-width. The intervals are those of single comparisons.
Nothing is measured.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.analysis import shared_rounds
from deepbench_ops.analysis.ensemble_verdicts import compare, half_width
from deepbench_ops.analysis.verdict import FEWEST_ROUNDS
from deepbench_ops.measure import ensemble_round_json, preferred_state
from deepbench_ops.measure.ensemble_round import Round

Row = dict[str, object]


def row(problem: str, rounds: Sequence[Round]) -> Row:
    """Return the figures of a kernel."""
    anchor = rounds[0].anchor
    others = {name for each in rounds for name in each.names} - {anchor}
    verdicts = {name: compare(rounds, anchor, name) for name in others}
    widest = max(verdicts, key=lambda name: half_width(verdicts[name]))
    ratios = {anchor: 1.0, **{name: each.ratio for name, each in verdicts.items()}}
    first, second = sorted(ratios, key=ratios.__getitem__)[:2]
    lead = compare(rounds, first, second)
    return {
        "product": problem,
        "rounds": lead.rounds,
        "fastest": _framework(first) if lead.kind == "slower" else "none beyond the noise",
        "second, its time over that of the fastest": f"{_framework(second)} {lead.ratio:.3f}",
        "99 % interval": f"{lead.low:.3f} to {lead.high:.3f}",
        "widest to the anchor": f"{_framework(widest)} {half_width(verdicts[widest]):.0%}",
    }


def _framework(release: str) -> str:
    return release.rpartition("-")[0]


def table(path: Path) -> tuple[list[Row], str]:
    """Return a row for each kernel of a file, and a line about rounds that are left out."""
    results, machine = path.parents[2], path.parent.parent.name
    named = {each.id for rounds in ensemble_round_json.load(path).values() for each in rounds}
    rows, left_out, count = [], 0, 0
    for task, every in shared_rounds.load(results, machine).items():
        mine = [each for each in every if each.id in named]
        if not any(each.names for each in mine):
            continue
        selected = preferred_state.select(mine)
        left_out += selected.left_out
        count += selected.left_out + len(selected.rounds)
        if len(selected.rounds) >= FEWEST_ROUNDS:
            rows.append(row(task.problem, selected.rounds))
    return rows, f"{left_out} of {count} rounds were left out: the machine was in another state"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="RESULTS/MACHINE/ensembles/frameworks.jsonl.gz")
    rows, remark = table(parser.parse_args().file)
    print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True))
    print(f"\n{remark}")


if __name__ == "__main__":
    main()
