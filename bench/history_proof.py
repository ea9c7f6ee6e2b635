"""Check the verdicts of histories on real kernels, in five parts, each with a target.

    python bench/history_proof.py same --budget 60m       # a release against itself
    python bench/history_proof.py extra --budget 120m     # 1, 2 and 5 % more work
    python bench/history_proof.py again --budget 60m      # releases, and hours later once more
    python bench/history_proof.py neighbour --budget 60m  # one core is busy half of the time
    python bench/history_proof.py cost FOLDER             # compared with three rounds of asv run

Nothing else should run on the machine. Missing environments of releases are installed. Rounds are
kept in artifacts/proof/ (those of the last part in its folder, with the seconds of each command):
after an interruption, or when the budget is spent, the same command continues, and prints the table
of all rounds so far. Nothing is written to results/.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import proof_comparison
import proof_cost
from proof_comparison import Measurement, ratios
from proof_rounds import LONGEST, Budget, Rounds, kernels, neighbour, say
from proof_tables import median, named, say_result, show

from deepbench_ops import project
from deepbench_ops.analysis.ensemble_verdicts import compare, half_width
from deepbench_ops.analysis.verdict import Verdict
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import ensemble_round_json, ensemble_sweeps
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import release_table, table_location, worker_launch
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import ensemble_round_files

SLOWED = str(Path(__file__).with_name("worker_with_extra_work.py"))
PLAIN, CONTROL = "plain", "plain again"
EXTRAS = {0.01: 0.50, 0.02: 0.90, 0.05: 0.97}
"""Shares of extra work, and the share of trials in which each should be found."""

FILES = (
    "a history's file of rounds, which is measured again; or that and a second one, which are only"
    " compared (default: the part's own rounds, measured by the first call)"
)

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
    widths = [half_width(each) for each in verdicts.values()]
    known = [each for each in verdicts.values() if math.isfinite(half_width(each))]
    missed = sum(not each.low <= 1 <= each.high for each in known)
    if not verdicts:
        raise SystemExit("no kernel has all rounds yet: the same command with a larger --budget")
    kinds = Counter(each.kind for each in verdicts.values())
    say_result(
        f"{found.name} installed twice, {len(verdicts)} of {len(tasks)} kernels measured in"
        f" {arguments.rounds} rounds ({rounds.states()}):",
        f"- intervals of 99 % that miss 1: {missed} of {len(known)} (at most 2 of 30)",
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
    """Measure releases, and some hours later the same kernels again; compare the ratios of both.

    Without files the first call measures the first time, and a later one the second time.
    """
    if len(arguments.files) == 2:
        first, second = map(ensemble_round_json.load, arguments.files)
    else:
        first, second = measured_twice(arguments)
    found = ratios(first, second)
    show([proof_comparison.row(each) for each in found if arguments.all or not each.agrees])
    say_result(*proof_comparison.hours_apart(found, first, second))


def measured_twice(arguments: argparse.Namespace) -> tuple[Measurement, Measurement]:
    """Return a first measurement and a second one, after measuring their missing rounds.

    Raises SystemExit where the first is not whole, or where it is too early for the second.
    """
    path = part_file(arguments, "rounds")
    numbers = [range(start, 2 * arguments.rounds, 2) for start in (0, 1)]
    first: Measurement
    if arguments.files:
        first = comparable_rounds(arguments.files[0])
        path = path.with_name(f"again-{ensemble_round_files.name_of(arguments.files[0])}.jsonl")
        every = proof_comparison.every_round(first)
        names = {name for each in every for name in each.names}
        anchor = every[0].anchor
        sides, tasks = launches([*sorted(names - {anchor}), anchor]), list(first)
    else:
        sides = launches(arguments.releases)
        tasks = kernels(
            sides[arguments.releases[-1]], part_file(arguments, "kernels"), arguments.kernels, 0.0
        )
        first = whole(measured(arguments, sides, tasks, numbers[0], path), tasks, numbers[0])
        if len(first) < len(tasks):
            raise SystemExit("the first measurement is not whole yet")
    demand_pause(first, arguments.apart)
    return first, whole(measured(arguments, sides, tasks, numbers[1], path), tasks, numbers[1])


def comparable_rounds(path: Path) -> Measurement:
    """Return the rounds of a file. Raises SystemExit for those of another machine or setting."""
    found = ensemble_round_json.load(path)
    here = ensemble_sweeps.conditions()
    for each in proof_comparison.every_round(found):
        if each.conditions != here:
            raise SystemExit(
                f"{path} was measured with {each.conditions}, and this is {here}: name a file of"
                " this machine, or set the same"
            )
    if not found:
        raise SystemExit(f"{path} has no rounds of this version: name another file")
    return found


def demand_pause(first: Measurement, apart: float) -> None:
    """Raise SystemExit where the first measurement ended less than `apart` seconds ago."""
    ago = time.time() - max(each.ended_at for each in proof_comparison.every_round(first))
    if ago < apart:
        raise SystemExit(
            f"the first measurement ended {ago / 60:.0f} min ago: the same command measures again"
            f" in {math.ceil((apart - ago) / 60)} min (or sooner, with a shorter --apart)"
        )


def with_neighbour(arguments: argparse.Namespace) -> None:
    """Measure releases in alternately quiet and disturbed rounds (one core busy)."""
    sides = launches(arguments.releases)
    last = arguments.releases[-1]
    tasks = kernels(sides[last], part_file(arguments, "kernels"), arguments.kernels, 0.0)
    rounds, budget = Rounds(part_file(arguments, "rounds")), Budget(arguments.budget)
    for number in range(2 * arguments.rounds):
        with neighbour(number) if number % 2 else nullcontext():
            if not rounds.measure(sides, tasks, number, budget):
                say("the budget is spent: the same command goes on")
                break
    measured_tasks = complete(rounds, tasks, range(2 * arguments.rounds))
    quiet, noisy = (
        whole(rounds, measured_tasks, range(start, 2 * arguments.rounds, 2)) for start in (0, 1)
    )
    found = ratios(quiet, noisy)
    show([proof_comparison.row(each) for each in found])
    say_result(
        f"{len(quiet)} of {len(tasks)} kernels have all rounds, {arguments.rounds} of each kind:",
        *proof_comparison.disturbed(found, quiet, noisy),
    )


def cost(arguments: argparse.Namespace) -> None:
    """Time a history and three interleaved rounds of asv run, in a separate project folder."""
    proof_cost.measure(arguments.folder, arguments.count, arguments.problem, arguments.budget)


def launches(names: Iterable[str]) -> dict[str, Launch]:
    """Return how to start each release; missing environments are installed."""
    return {name: worker_launch.launch(release(name), None, say) for name in names}


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
    tasks: Sequence[KernelIdentity],
    numbers: Sequence[int],
    path: Path | None = None,
) -> Rounds:
    """Return the rounds of a part or of a file, after measuring missing ones within the budget."""
    rounds = Rounds(path or part_file(arguments, "rounds"))
    budget = Budget(arguments.budget)
    for number in numbers:
        if not rounds.measure(sides, tasks, number, budget):
            say("the budget is spent: the same command goes on")
            break
    rounds.derive_states()
    return rounds


def complete(
    rounds: Rounds, tasks: Sequence[KernelIdentity], numbers: Sequence[int]
) -> list[KernelIdentity]:
    """Return the kernels for which all of these rounds are measured."""
    return [task for task in tasks if len(rounds.of(task, numbers)) == len(numbers)]


def whole(rounds: Rounds, tasks: Sequence[KernelIdentity], numbers: range) -> Measurement:
    """Return the rounds of each kernel for which all of these are measured."""
    return {task: rounds.of(task, numbers) for task in complete(rounds, tasks, numbers)}


def row(task: KernelIdentity, verdict: Verdict) -> dict[str, str]:
    """Return the row of a kernel of a release against itself."""
    return {
        **named(task),
        "ratio": f"{verdict.ratio:.4f}",
        "99 % interval": f"{verdict.low:.4f} .. {verdict.high:.4f}",
        "half-width": f"{half_width(verdict):.2%}",
        "verdict": verdict.kind,
    }


def seconds(text: str) -> float:
    """Return the seconds of a text such as 90s, 60m or 2h."""
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def parse(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of a part, from a command line."""
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
    releases = ["numpy-1.26.4", "numpy-2.2.6", "numpy-2.4.6"]
    add = part("again", again)
    add("files", type=Path, nargs="*", help=FILES)
    add("--all", action="store_true", help="list all ratios, not only those that disagree")
    add("--releases", nargs="+", default=releases)
    add("--apart", type=seconds, default=7200.0, help="shortest pause in between (default 2h)")
    part("neighbour", with_neighbour)("--releases", nargs="+", default=releases)
    add = part("cost", cost, rounds=False)
    add("folder", type=Path, help="a project folder, made where it is missing")
    add("--count", type=int, default=7, help="number of newest listed releases of numpy")
    add("--problem", help="only this product, for a trial of the script")
    arguments = parser.parse_args(given)
    files = getattr(arguments, "files", ())
    if len(files) > 2:
        parser.error("more than two files: name a first measurement, or that and a second one")
    if missing := [str(each) for each in files if not each.is_file()]:
        parser.error(f"no such file: {missing[0]}: name a history's file of rounds")
    return arguments


def main() -> None:
    """Run one part."""
    arguments = parse()
    try:
        arguments.does(arguments)
    except DeepbenchError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(
            "interrupted; finished rounds are kept, the same command goes on"
        ) from None


if __name__ == "__main__":
    main()
