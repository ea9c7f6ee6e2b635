"""Check the verdicts of histories on real kernels, in five parts, each with a target.

    python bench/history_proof.py same --budget 60m       # a release against itself
    python bench/history_proof.py extra --budget 120m     # 1, 2 and 5 % more work
    python bench/history_proof.py again FIRST.jsonl.gz SECOND.jsonl.gz   # hours apart
    python bench/history_proof.py neighbour --budget 60m  # one core is busy half of the time
    python bench/history_proof.py cost FOLDER             # compared with three rounds of asv run

Nothing else should run on the machine. Missing environments of releases are installed. Rounds are
kept in artifacts/proof/: after an interruption, or when the budget is spent, the same command
continues, and prints the table of all rounds so far. Nothing is written to results/.
"""

import argparse
import math
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from proof_rounds import LONGEST, Budget, Rounds, count_states, kernels, neighbour, say
from tabulate import tabulate

from deepbench_ops import project
from deepbench_ops.analysis.ensemble_verdicts import compare, half_width
from deepbench_ops.analysis.verdict import Verdict
from deepbench_ops.measure import kernel_round_json, round_states
from deepbench_ops.measure.kernel_round import Round
from deepbench_ops.measure.kernel_task import KernelTask
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import release_table, table_location, worker_launch
from deepbench_ops.releases.release_table import Release

SLOWED = str(Path(__file__).with_name("worker_with_extra_work.py"))
PLAIN, CONTROL = "plain", "plain again"
EXTRAS = {0.01: 0.50, 0.02: 0.90, 0.05: 0.97}
"""Shares of extra work, and the share of trials in which each should be found."""

SHORTEST_PAUSE = 1800.0
"""Shortest pause, in seconds, between two measurements of a history in one file."""

SHORTEST_SLOWED = 1e-3
"""Shortest call, in seconds, to which 1 % can be added in pieces of some microseconds."""


def same(arguments: argparse.Namespace) -> None:
    """Measure two installations of one release against each other."""
    found = release(arguments.release)
    folder = project.environments().parent / "proof"
    sides = {name: worker_launch.launch(found, folder / name, say) for name in ("first", "second")}
    tasks = kernels(sides["first"], part_file(arguments, "kernels"), arguments.kernels, 0.0)
    rounds = measured(arguments, sides, tasks, range(arguments.rounds))
    verdicts = {
        task: compare(rounds.selected(task, range(arguments.rounds)), *sides)
        for task in complete(rounds, tasks, range(arguments.rounds))
    }
    show([row(task, verdict) for task, verdict in verdicts.items()])
    missed = sum(not each.low <= 1 <= each.high for each in verdicts.values())
    widths = [half_width(each) for each in verdicts.values()]
    if not verdicts:
        raise SystemExit("no kernel has all rounds yet: the same command with a larger --budget")
    kinds = Counter(each.kind for each in verdicts.values())
    say_result(
        f"{found.name} installed twice, {len(verdicts)} of {len(tasks)} kernels measured in"
        f" {arguments.rounds} rounds ({rounds.states()}):",
        f"- intervals of 99 % that miss 1: {missed} (at most 2 of 30)",
        f"- median half-width: {median(widths):.2%} (at most 1 %)",
        f"- verdicts: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}",
    )


def extra(arguments: argparse.Namespace) -> None:
    """Measure a release against itself with known extra work; each trial has new rounds."""
    found = release(arguments.release)
    plain = worker_launch.launch(found, None, say)
    sides = {PLAIN: plain, CONTROL: plain}
    for share in EXTRAS:
        environ = {**plain.environ, "EXTRA": str(share)}
        sides[f"{share:.0%}"] = Launch(plain.python, environ, (SLOWED,))
    path = part_file(arguments, "kernels")
    tasks = kernels(plain, path, arguments.kernels, SHORTEST_SLOWED)
    trials = math.ceil(arguments.trials / max(1, len(tasks)))
    rounds = measured(arguments, sides, tasks, range(trials * arguments.rounds))
    rows = []
    for name in list(sides)[1:]:
        verdicts = []
        for trial in range(trials):
            numbers = range(trial * arguments.rounds, (trial + 1) * arguments.rounds)
            for task in complete(rounds, tasks, numbers):
                verdicts.append(compare(rounds.selected(task, numbers), PLAIN, name))
        rows.append(extra_row(name, verdicts))
    show(rows)
    say_result(
        f"{found.name}, {len(tasks)} kernels of {1e3 * SHORTEST_SLOWED:g} to {1e3 * LONGEST:g} ms,"
        f" {arguments.rounds} rounds a trial ({rounds.states()})",
        f"{CONTROL} has no extra work: each of its slower and faster ones is a false alarm",
    )


def extra_row(name: str, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return the row of one share of extra work."""
    kinds = Counter(each.kind for each in verdicts)
    target = next((goal for share, goal in EXTRAS.items() if f"{share:.0%}" == name), None)
    count = max(1, len(verdicts))
    return {
        "extra work": name,
        "trials": str(len(verdicts)),
        "ratio, median": f"{median([each.ratio for each in verdicts]):.4f}",
        "half-width, median": f"{median([half_width(each) for each in verdicts]):.2%}",
        "slower": f"{kinds['slower'] / count:.0%}",
        "faster": f"{kinds['faster'] / count:.0%}",
        "to be found": "-" if target is None else f"{target:.0%}",
    }


def again(arguments: argparse.Namespace) -> None:
    """Compare the ratios of two measurements of one history, from files of rounds."""
    parts = [kernel_round_json.load(path) for path in arguments.files]
    if not all(parts):
        raise SystemExit("no rounds of this version in one of the files")
    if len(parts) == 1:
        parts = halves(parts[0])
    every = [each for part in parts for mine in part.values() for each in mine]
    round_states.derive(every)
    rows, inside = [], []
    for task in (task for task in parts[0] if task in parts[1]):
        state, sides = common_state([part[task] for part in parts])
        anchor = sides[0][0].anchor or sides[0][0].names[-1]
        names = {name for each in sides[0] for name in each.names} - {anchor}
        for name in sorted(names):
            verdicts = [compare(side, anchor, name) for side in sides]
            if not all(math.isfinite(half_width(each)) for each in verdicts):
                continue
            apart, reach = distance(*verdicts)
            inside.append((task, apart <= reach))
            if apart > reach or arguments.all:
                rows.append(again_row(task, name, state, verdicts, apart, reach))
    show(rows)
    kernel_count = len({task for task, _ in inside})
    whole = kernel_count - len({task for task, good in inside if not good})
    agree = sum(good for _, good in inside)
    say_result(
        f"two measurements ({count_states(every)}); the table has the ratios that disagree:",
        f"- ratios within their combined interval of 99 %: {agree} of {len(inside)}"
        f" ({share_of(agree, len(inside))}; at least 97 %)",
        f"- kernels with all ratios within: {whole} of {kernel_count}",
    )


def halves(rounds: Mapping[KernelTask, list[Round]]) -> list[dict[KernelTask, list[Round]]]:
    """Return the rounds before and after the longest pause."""
    times = sorted(each.started_at for mine in rounds.values() for each in mine)
    if len(times) < 2:
        raise SystemExit("a single round: nothing to compare")
    pause = max(range(1, len(times)), key=lambda place: times[place] - times[place - 1])
    if times[pause] - times[pause - 1] < SHORTEST_PAUSE:
        raise SystemExit(
            "no pause of half an hour in this file: one measurement, or name two files"
        )
    say(f"one file: parted at a pause of {(times[pause] - times[pause - 1]) / 3600:.1f} h")
    early: dict[KernelTask, list[Round]] = {}
    late: dict[KernelTask, list[Round]] = {}
    for task, mine in rounds.items():
        for each in mine:
            (early if each.started_at < times[pause] else late).setdefault(task, []).append(each)
    return [early, late]


def common_state(sides: list[list[Round]]) -> tuple[str, list[list[Round]]]:
    """Return the rounds of the most frequent state of both sides; all if none is shared."""
    named = [[round_states.parts(each) for each in side] for side in sides]
    counts = [Counter(chain.from_iterable(side)) for side in named]
    shared = set(counts[0]) & set(counts[1])
    if not shared:
        return "different", sides
    best = max(sorted(shared), key=lambda name: min(count[name] for count in counts))
    return best or "unknown", [[each[best] for each in side if best in each] for side in named]


def distance(one: Verdict, other: Verdict) -> tuple[float, float]:
    """Return the distance of two ratios and their combined half-width, as logarithms."""
    widths = [(math.log(each.high) - math.log(each.low)) / 2 for each in (one, other)]
    return abs(math.log(one.ratio / other.ratio)), math.hypot(*widths)


def again_row(
    task: KernelTask, name: str, state: str, verdicts: Sequence[Verdict], apart: float, reach: float
) -> dict[str, str]:
    """Return the row of one ratio."""
    first, second = (f"{each.ratio:.4f} ({each.low:.4f} .. {each.high:.4f})" for each in verdicts)
    return {
        **named(task),
        "release": name,
        "state": state,
        "first": first,
        "second": second,
        "apart": f"{apart:.2%}",
        "allowed": f"{reach:.2%}",
    }


def with_neighbour(arguments: argparse.Namespace) -> None:
    """Measure releases in alternately quiet and disturbed rounds (one core busy)."""
    releases = [release(name) for name in arguments.releases]
    sides = {one.name: worker_launch.launch(one, None, say) for one in releases}
    last = releases[-1].name
    tasks = kernels(sides[last], part_file(arguments, "kernels"), arguments.kernels, 0.0)
    rounds, budget = Rounds(part_file(arguments, "rounds")), Budget(arguments.budget)
    for number in range(2 * arguments.rounds):
        if number % 2:
            with neighbour(number):
                whole = rounds.measure(sides, tasks, number, budget)
        else:
            whole = rounds.measure(sides, tasks, number, budget)
        if not whole:
            break
    rounds.derive_states()
    numbers = [range(start, 2 * arguments.rounds, 2) for start in (0, 1)]
    rows, offs = [], []
    for task in complete(rounds, tasks, range(2 * arguments.rounds)):
        for name in list(sides)[:-1]:
            quiet, noisy = (compare(rounds.selected(task, those), last, name) for those in numbers)
            if math.isnan(quiet.ratio) or math.isnan(noisy.ratio):
                continue
            off = noisy.ratio / quiet.ratio - 1
            offs.append(off)
            rows.append({**named(task), "release": name, **neighbour_row(quiet, noisy, off)})
    show(rows)
    near = sum(abs(off) <= 0.015 for off in offs)
    say_result(
        f"ratios to {last}, {arguments.rounds} quiet and as many disturbed rounds"
        f" ({rounds.states()}):",
        f"- within 1.5 % of the quiet ones: {near} of {len(offs)} ({share_of(near, len(offs))};"
        " at least 90 %)",
        f"- off by more than 5 %: {sum(abs(off) > 0.05 for off in offs)} (none allowed)",
    )


def neighbour_row(quiet: Verdict, noisy: Verdict, off: float) -> dict[str, str]:
    """Return the figures of one ratio."""
    return {
        "quiet": f"{quiet.ratio:.4f}",
        "disturbed": f"{noisy.ratio:.4f}",
        "off by": f"{off:+.2%}",
        "quiet half-width": f"{half_width(quiet):.2%}",
        "disturbed half-width": f"{half_width(noisy):.2%}",
    }


def cost(arguments: argparse.Namespace) -> None:
    """Time a history and three interleaved rounds of asv run, in a separate project folder."""
    folder: Path = arguments.folder
    if not folder.exists():
        run(["deepbench", "init", str(folder)], Path.cwd())
    listed = [one.name for one in release_table.measurable() if one.framework == "numpy"]
    releases = listed[-arguments.count :]
    names, only = " ".join(releases), ["--problem", arguments.problem] if arguments.problem else []
    chosen = ["headline", "--family", "gemm", "--precision", "float32"]
    bench = arguments.problem or output(["deepbench", "select", *chosen], folder)
    asv = ["asv", "run", "--bench", bench, names]
    history = ["deepbench", "history", "numpy", f"{releases[0]}..{releases[-1]}", *only]
    history += ["--family", "gemm", "--within", "1%", "--budget", f"{arguments.budget:.0f}s"]
    say("preparing the machine's profile and all environments, which does not count")
    run(["deepbench", "machine", "--yes"], folder)
    run([*asv[:3], "m35_n700_k2048_NN.*float32", names], folder)
    rows = []
    for title, command in (
        ("deepbench history, within 1 %", history),
        ("asv run, three interleaved rounds", [*asv, "--interleave-rounds", "-a", "rounds=3"]),
    ):
        began = time.monotonic()
        run(command, folder)
        rows.append({"command": title, "minutes": (time.monotonic() - began) / 60})
    show([{**each, "minutes": f"{each['minutes']:.1f}"} for each in rows])
    ratio = rows[0]["minutes"] / rows[1]["minutes"]
    say_result(
        f"the history takes {ratio:.0%} of the time (at most 60 %); compare its last line for how"
        " many kernels are within 1 %"
    )


def run(command: Sequence[str], folder: Path, must: bool = True) -> None:
    """Run a command in a folder. Raises SystemExit if it fails and `must` is set."""
    say(f"{folder}: {' '.join(command)[:150]}")
    code = subprocess.run([tool(command[0]), *command[1:]], cwd=folder).returncode
    if code and must:
        raise SystemExit(f"{command[0]} {command[1]} ended with {code}: no figures")


def output(command: Sequence[str], folder: Path) -> str:
    """Return the output of a command."""
    done = [tool(command[0]), *command[1:]]
    return subprocess.run(
        done, cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def tool(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))


def release(name: str) -> Release:
    """Return a release of the project's table."""
    return release_table.find(name, table_location.measurable(project.results()))


def part_file(arguments: argparse.Namespace, what: str) -> Path:
    """Return the file of a part's kernels or rounds, which depends on releases and limits."""
    releases = getattr(arguments, "releases", None) or [arguments.release]
    name = f"{arguments.part}-{'-'.join(releases)}-{arguments.kernels}-{what}"
    return Path(arguments.out) / f"{name}.{'json' if what == 'kernels' else 'jsonl'}"


def measured(
    arguments: argparse.Namespace,
    sides: Mapping[str, Launch],
    tasks: Sequence[KernelTask],
    numbers: Sequence[int],
) -> Rounds:
    """Return the rounds of a part, after measuring missing ones within the budget."""
    rounds, budget = Rounds(part_file(arguments, "rounds")), Budget(arguments.budget)
    for number in numbers:
        if not rounds.measure(sides, tasks, number, budget):
            say("the budget is spent: the same command goes on")
            break
    rounds.derive_states()
    return rounds


def complete(
    rounds: Rounds, tasks: Sequence[KernelTask], numbers: Sequence[int]
) -> list[KernelTask]:
    """Return the kernels for which all of these rounds are measured."""
    return [task for task in tasks if len(rounds.of(task, numbers)) == len(numbers)]


def named(task: KernelTask) -> dict[str, str]:
    """Return the first columns of a kernel's row."""
    return {"kernel": f"{task.family} {task.operation} {task.problem}"}


def row(task: KernelTask, verdict: Verdict) -> dict[str, str]:
    """Return the row of a kernel of a release against itself."""
    return {
        **named(task),
        "ratio": f"{verdict.ratio:.4f}",
        "99 % interval": f"{verdict.low:.4f} .. {verdict.high:.4f}",
        "half-width": f"{half_width(verdict):.2%}",
        "verdict": verdict.kind,
    }


def median(values: Sequence[float]) -> float:
    """Return the median; NaN if there are no values."""
    return statistics.median(values) if values else math.nan


def share_of(number: int, whole: int) -> str:
    """Return a share as a percentage."""
    return f"{number / whole:.1%}" if whole else "-"


def show(rows: Sequence[Mapping[str, str]]) -> None:
    """Print a table in Markdown; nothing if there are no rows."""
    if rows:
        print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True), end="\n\n")


def say_result(*lines: str) -> None:
    """Print the summary of a part."""
    print("\n".join(lines), flush=True)


def seconds(text: str) -> float:
    """Return the seconds of a text such as 90s, 60m or 2h."""
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)

    def part(name: str, does: Callable[[argparse.Namespace], None], rounds: bool = True):
        one = parts.add_parser(name, help=does.__doc__, description=does.__doc__)
        one.set_defaults(does=does)
        if rounds:
            one.add_argument("--kernels", type=int, default=30, help="how many (default 30)")
            one.add_argument("--rounds", type=int, default=10, help="rounds of each (default 10)")
            one.add_argument("--out", default="artifacts/proof", help="folder of the rounds")
        one.add_argument(
            "--budget", type=seconds, default=3600.0, help="longest time (default 60m)"
        )
        return partial(one.add_argument)

    part("same", same)("--release", default="numpy-2.4.6")
    add = part("extra", extra)
    add("--release", default="numpy-2.4.6")
    add("--trials", type=int, default=60, help="fewest trials of each share of extra work")
    add = part("again", again, rounds=False)
    add("files", type=Path, nargs="+", help="two files of rounds, or one with a pause in it")
    add("--all", action="store_true", help="list all ratios, not only those that disagree")
    quiet = ["numpy-1.26.4", "numpy-2.2.6", "numpy-2.4.6"]
    part("neighbour", with_neighbour)("--releases", nargs="+", default=quiet)
    add = part("cost", cost, rounds=False)
    add("folder", type=Path, help="a project folder, made where it is missing")
    add("--count", type=int, default=7, help="number of newest listed releases of numpy")
    add("--problem", help="only this product, for a trial of the script")
    arguments = parser.parse_args()
    try:
        arguments.does(arguments)
    except KeyboardInterrupt:
        raise SystemExit(
            "interrupted; finished rounds are kept, the same command goes on"
        ) from None


if __name__ == "__main__":
    main()
