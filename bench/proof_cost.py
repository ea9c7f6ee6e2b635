"""Time of a history and of three interleaved rounds of asv run, for `history_proof.py cost`.

The seconds of each command are stored while it runs. Both commands go on where they were
interrupted, and their seconds add up.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from proof_rounds import say
from proof_tables import say_result, share_of, show

from deepbench_ops import process_lifetime
from deepbench_ops.analysis.ensemble_verdicts import compare, half_width
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.asv_adapter.history_join import ALONE_VARIABLE
from deepbench_ops.measure import ensemble_round_json, preferred_state
from deepbench_ops.releases import release_table
from deepbench_ops.storage import atomic_write, ensemble_round_files

WITHIN = 0.01
"""Half-width of the intervals that the history is to reach."""

STORED_EVERY = 5.0
"""Seconds between two times at which the seconds of a running command are stored."""

HISTORY = "deepbench history, within 1 %"
ROUNDS = "asv run, three interleaved rounds"
PREPARATION = ["machine", "environments"]


@dataclass
class Timings:
    """Seconds of the commands in a folder, in a file.

    about: releases and kernels. ended: the commands that ended by themselves, with their budget.
    """

    folder: Path
    about: Mapping[str, str]
    seconds: dict[str, float] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            stored = json.loads(self.path.read_text())
            if stored["about"] != self.about:
                raise SystemExit(
                    f"{self.path} has times of other releases or kernels: name another folder"
                )
            self.seconds, self.ended = stored["seconds"], stored["ended"]

    @property
    def path(self) -> Path:
        """The file of the times."""
        return self.folder / "cost.json"

    def run(self, title: str, command: Sequence[str], budget: float = 0.0) -> None:
        """Run a command, unless it has ended with this budget before, and add up its seconds.

        Raises SystemExit if it fails.
        """
        if self.ended.get(title, -1.0) >= budget:
            return
        say(f"{self.folder}: {' '.join(command)[:150]}")
        before, began = self.seconds.get(title, 0.0), time.monotonic()
        environ = {**os.environ, ALONE_VARIABLE: "1"}
        process = subprocess.Popen(process_lifetime.bound(command), cwd=self.folder, env=environ)
        try:
            while process.poll() is None:
                self._store(title, before + time.monotonic() - began)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(STORED_EVERY)
        except KeyboardInterrupt:
            process.wait()
            raise
        finally:
            if process.poll() == 0:
                self.ended[title] = budget
            self._store(title, before + time.monotonic() - began)
        if process.returncode:
            raise SystemExit(
                f"{title} ended with {process.returncode}: mend its reason, and the same command"
                " goes on"
            )

    def _store(self, title: str, seconds: float) -> None:
        self.seconds[title] = seconds
        stored = {"about": self.about, "seconds": self.seconds, "ended": self.ended}
        atomic_write.write_text(self.path, json.dumps(stored, indent=1) + "\n")


def measure(folder: Path, count: int, problem: str | None, budget: float) -> None:
    """Time the missing commands in a project folder, and print the table.

    count: number of newest listed releases of numpy. problem: the only product, of the headline's
    unless given. budget: of the history, in seconds.
    """
    if not (folder / "asv.conf.json").exists():
        subprocess.run([tool("deepbench"), "init", str(folder)], check=True)
    listed = [one.name for one in release_table.measurable() if one.framework == "numpy"]
    names = listed[-count:]
    timings = Timings(folder, {"releases": " ".join(names), "kernels": problem or "headline"})
    chosen = ["headline", "--family", "gemm", "--precision", "float32"]
    bench = problem or output([tool("deepbench"), "select", *chosen], folder)
    asv = [tool("asv"), "run", "--bench"]
    say("preparing the machine's profile and all environments, which does not count")
    timings.run(PREPARATION[0], [tool("deepbench"), "machine", "--yes"])
    timings.run(PREPARATION[1], [*asv, "m35_n700_k2048_NN.*float32", " ".join(names)])
    left = max(1.0, budget - timings.seconds.get(HISTORY, 0.0))
    history = [tool("deepbench"), "history", "numpy", f"{names[0]}..{names[-1]}"]
    history += ["--family", "gemm", *(["--problem", problem] if problem else [])]
    history += ["--within", f"{WITHIN:.0%}", "--budget", f"{left:.0f}s"]
    timings.run(HISTORY, history, budget)
    timings.run(ROUNDS, [*asv, bench, " ".join(names), "--interleave-rounds", "-a", "rounds=3"])
    minutes = {title: f"{timings.seconds[title] / 60:.1f}" for title in (HISTORY, ROUNDS)}
    show([{"command": title, "minutes": text} for title, text in minutes.items()])
    say_result(*summary(timings.seconds, half_widths(folder)))


def summary(seconds: Mapping[str, float], widths: Sequence[float]) -> list[str]:
    """Return the summary; `widths` has the half-width of each kernel of the history."""
    share = seconds[HISTORY] / seconds[ROUNDS]
    return [
        f"- time of the history, as a share of that of three rounds: {share:.0%}; at most 60 %",
        f"- kernels within {WITHIN:.0%} in it:"
        f" {share_of(sum(each <= WITHIN for each in widths), len(widths))}",
    ]


def half_widths(folder: Path) -> list[float]:
    """Return the largest half-width of each kernel of the history, over its releases."""
    machine = folder / "results" / machine_entry.default_name()
    found = ensemble_round_json.load(ensemble_round_files.path_of(machine, "numpy"))
    preferred_state.derive([each for mine in found.values() for each in mine])
    widths = []
    for rounds in map(list, found.values()):
        used, anchor = preferred_state.select(rounds).rounds, rounds[0].anchor
        names = {name for each in rounds for name in each.names} - {anchor}
        widths.append(
            max((half_width(compare(used, anchor, name)) for name in names), default=math.inf)
        )
    return widths


def output(command: Sequence[str], folder: Path) -> str:
    """Return the output of a command."""
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def tool(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))
