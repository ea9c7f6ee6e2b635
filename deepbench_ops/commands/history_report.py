"""Output of `deepbench history`: the table of kernels, the JSON document, and the lines below."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from deepbench_ops.commands import terminal_tables

if TYPE_CHECKING:
    from deepbench_ops.analysis.ensemble_verdicts import Ensemble
    from deepbench_ops.analysis.verdict import Verdict
    from deepbench_ops.measure.kernel_identity import KernelIdentity

COLUMNS = (
    terminal_tables.Column("kernel", wrap=16),
    terminal_tables.Column("operation", drop=2),
    terminal_tables.Column("rounds", right=True, drop=1),
    terminal_tables.Column("newest / oldest", right=True),
    terminal_tables.Column("99 % interval"),
    terminal_tables.Column("largest step", wrap=16),
)


CONTEST = (
    *COLUMNS[:3],
    terminal_tables.Column("fastest", wrap=16),
    terminal_tables.Column("second / first", wrap=16),
    terminal_tables.Column("99 % interval"),
)
"""Columns for several frameworks."""

NAMED = 8
"""Most kernels that are named for their wide intervals."""


def table(found: "Ensemble", tasks: "Sequence[KernelIdentity]", several: bool) -> str:
    """Return a row for each kernel: its steps, or the fastest of several frameworks."""
    if several:
        return terminal_tables.table(CONTEST, _contests(found, tasks))
    return terminal_tables.table(COLUMNS, _rows(found, tasks))


def _contests(found: "Ensemble", tasks: "Sequence[KernelIdentity]") -> list[list[str]]:
    """Return the fastest release of each kernel, and the time of the second over its.

    It is named where it is ahead of all others (see `clear_leads`).
    """
    from deepbench_ops.analysis.clear_leads import are_clear, first_two_compared

    fastest: dict[KernelIdentity, str] = {}
    verdicts: dict[KernelIdentity, dict[str, Verdict]] = {}
    for task in tasks:
        if len(names := _by_time(found, task)) > 1:
            first, *others = first_two_compared(names, partial(found.compare, task))
            fastest[task] = first
            verdicts[task] = {name: found.compare(task, first, name) for name in others}
    clear = are_clear([list(each.values()) for each in verdicts.values()])
    cells = {task: ["0", "-", "-", "-"] for task in tasks}
    for (task, over), is_clear in zip(verdicts.items(), clear, strict=True):
        (second, lead), *_ = over.items()
        name = fastest[task] if is_clear else "none beyond the noise"
        cells[task] = [str(lead.rounds), name, f"{second}: {lead.ratio:.3f}", _interval(lead)]
    return [[task.problem, task.operation, *cells[task]] for task in tasks]


def _by_time(found: "Ensemble", task: "KernelIdentity") -> list[str]:
    """Return the releases that have times of a kernel, fastest first."""
    ratios = dict.fromkeys(found.measured(task), 1.0)
    ratios |= {name: each.ratio for name, each in found.against_anchor(task).items()}
    known = [name for name in ratios if ratios[name] == ratios[name]]
    return sorted(known, key=ratios.__getitem__)


def _rows(found: "Ensemble", tasks: "Sequence[KernelIdentity]") -> list[list[str]]:
    largest: dict[KernelIdentity, tuple[str, float]] = {}
    for (task, _, after), step in found.all_steps(tasks).items():
        most = largest.get(task, ("", 1.0))[1]
        if step.kind in ("slower", "faster") and abs(math.log(step.ratio)) > abs(math.log(most)):
            largest[task] = after, step.ratio
    return [
        [task.problem, task.operation, *_whole_span(found, task), _spoken(largest.get(task))]
        for task in tasks
    ]


def _whole_span(found: "Ensemble", task: "KernelIdentity") -> list[str]:
    """Return the rounds of a kernel, and its newest release's time over its oldest's."""
    measured = found.measured(task)
    if len(measured) < 2:
        return ["0", "-", "-"]
    whole = found.compare(task, measured[0], measured[-1])
    return [str(whole.rounds), f"{whole.ratio:.3f}", _interval(whole)]


def _interval(found: "Verdict") -> str:
    """Return the interval of a ratio as text."""
    if not math.isfinite(found.low):
        return "too few rounds"
    return f"{found.low:.3f} .. {found.high:.3f}"


def _spoken(step: tuple[str, float] | None) -> str:
    if step is None:
        return "none"
    name, ratio = step
    times = f"{ratio:.3g} times slower" if ratio > 1 else f"{1 / ratio:.3g} times faster"
    return f"{name}: {times}"


def document(
    found: "Ensemble", tasks: "Sequence[KernelIdentity]", reasons: dict[str, str]
) -> dict[str, object]:
    """Return all ratios to the anchor of each kernel, for --format json."""
    from dataclasses import asdict

    kernels = [
        {
            **asdict(task),
            "anchor": found.anchor_of(task),
            "releases": {name: asdict(each) for name, each in found.against_anchor(task).items()},
            "left_out": found.reasons(task),
            "state": (selected := found.selected(task)).state,
            "rounds_of_other_states": selected.left_out,
        }
        for task in tasks
    ]
    return {"anchor": found.anchor, "left_out": reasons, "kernels": kernels}


def remarks(
    found: "Ensemble", tasks: "Sequence[KernelIdentity]", reasons: dict[str, str], within: float
) -> list[str]:
    """Return the lines below the table: kernels within the goal and others, states, reasons."""
    able = [task for task in tasks if found.measured(task) or not found.store.of(task)]
    wide = {task: width for task in able if (width := found.half_width(task)) > within}
    known = len(able) - len(wide)
    lines = [f"{known} of {len(able)} kernels are known to {100 * within:g} % or better"]
    if wide:
        lines.append(f"not known so well, with half-widths: {_widest(wide)}")
        lines.append("the same command with a larger --budget or --rounds goes on")
    if waiting := [f"{task.problem} {task.operation}" for task in able if not found.store.of(task)]:
        lines.append(f"not measured, for want of time: {', '.join(waiting)}")
    lines += _states(found, able)
    lines += [f"left out: {name}: {text}" for name, text in reasons.items()]
    return lines + _left_out(found, tasks)


def _widest(wide: "Mapping[KernelIdentity, float]") -> str:
    """Return the kernels of the widest intervals, in percent, widest first."""
    ordered = sorted(wide, key=wide.__getitem__, reverse=True)
    named = [
        f"{task.problem} {task.operation} "
        + (f"{100 * wide[task]:.2g} %" if math.isfinite(wide[task]) else "(too few rounds)")
        for task in ordered[:NAMED]
    ]
    more = [f"and {len(ordered) - NAMED} more"] if len(ordered) > NAMED else []
    return ", ".join([*named, *more])


def _left_out(found: "Ensemble", tasks: "Sequence[KernelIdentity]") -> list[str]:
    """Return a line for each reason why releases have no times of an operation."""
    who: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for task in tasks:
        for name, text in found.reasons(task).items():
            who[task.family, task.operation, _without_version(name, text)].add(name)
    lines = []
    for (family, operation, text), names in sorted(who.items()):
        listed = [name for name in found.names if name in names] or sorted(names)
        every = f"all {len(listed)} releases" if len(listed) == len(found.names) else ""
        lines.append(f"left out: {every or ', '.join(listed)}, {family} {operation}: {text}")
    return lines


def _without_version(release: str, reason: str) -> str:
    """Return a reason without the version of its release, which is the same for several releases
    then."""
    framework, _, version = release.partition("-")
    return re.sub(rf"\b{framework} {re.escape(version)}\S*", framework, reason)


def _states(found: "Ensemble", tasks: "Sequence[KernelIdentity]") -> list[str]:
    """Return a line about the states of the machine that count; none where no state is known."""
    every = [found.selected(task) for task in tasks]
    counts = Counter(each.state for each in every if each.state)
    left_out = sum(each.left_out for each in every)
    if not counts and not left_out:
        return []
    total = left_out + sum(len(each.rounds) for each in every)
    kernels = [f"{state} ({number} of {len(tasks)} kernels)" for state, number in counts.items()]
    why = ", measured in another state, an unknown one or while it changed" if left_out else ""
    return [
        f"state of the machine: {', '.join(kernels) or 'not known'}; {left_out} of {total} rounds"
        f" left out{why}"
    ]
