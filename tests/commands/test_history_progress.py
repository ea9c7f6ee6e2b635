"""Lines of a history while it is measured."""

import pytest

from deepbench_ops.analysis.ensemble_verdicts import Goal
from deepbench_ops.commands.history_progress import HistoryProgress
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH

KERNELS = [KernelIdentity("gemm", f"m{m}_n1_k1_NN", "float32") for m in (1, 2, 3)]


def said(seconds_each: float, budget: float, rounds: int = 2, open_after: int = 3, first: int = 0):
    """Return the lines, and how often results are filed, of rounds whose kernels take so long."""
    now, lines, filed = [0.0], [], []
    progress = HistoryProgress(
        kernels=3,
        goal=Goal(0.01, 40, budget),
        missing=lambda: 3 * (FEWEST_FOR_WIDTH - 1) * seconds_each,
        file=lambda: filed.append(1),
        say=lines.append,
        clock=lambda: now[0],
    )
    for number in range(first, first + rounds):
        left = KERNELS if number == first else KERNELS[:open_after]
        for task in left:
            now[0] += seconds_each
            progress.note(number, task, left)
    return lines, len(filed)


def test_a_line_a_minute_says_how_far_it_is():
    """Round, kernel of the round, kernels done, and minutes by the budget or by the rounds."""
    lines, _ = said(30.0, 3600.0, open_after=2)
    assert [
        "round 1, kernel 2 of 3: 0 of 3 kernels done, at most 59 min left",
        "round 2, kernel 1 of 2: 1 of 3 kernels done, at most 39 min left",
    ] == lines


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize(("budget", "warned"), [(3600.0, True), (7200.0, False)])
def test_a_budget_for_too_few_rounds_is_said_after_the_first_round(budget, warned, first):
    """With the one that is enough, once, also where a command goes on from the fourth round."""
    lines, _ = said(300.0, budget, rounds=3, first=first)
    of_all = [line for line in lines if "intervals need 6 rounds" in line]
    assert warned == len(of_all)
    assert warned == any("take about 75 min for all 3 kernels" in line for line in of_all)
    assert warned == any("--budget 95m" in line for line in of_all)
    assert not any("intervals need" in line for line in said(300.0, budget, rounds=1)[0])


def test_results_are_filed_every_five_minutes():
    """Six kernels of two minutes each."""
    assert 2 == said(120.0, 3600.0)[1]
