"""Releases whose times are known: their workers report seconds instead of measuring any.

As a program it is the `deepbench` command with such workers, in a project folder of one machine:

    python known_workers.py history numpy 2.2.4..2.2.6 --problem m35_n700_k2048_NN --family gemm
"""

import json
import os
import sys
from pathlib import Path

from deepbench_ops import cli
from deepbench_ops.analysis import history_stores
from deepbench_ops.asv_adapter import filing_target, machine_entry, result_files
from deepbench_ops.asv_adapter.filing_target import FilingTarget
from deepbench_ops.commands.history_progress import HistoryProgress
from deepbench_ops.measure import core_latency, ensemble_sweeps, threads
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import worker_launch

TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")
COMMITTED = Path(__file__).parents[2] / "results" / "benchmarks.json"
MACHINE = "m"

PROGRAM = """
import json, os, random, sys, time
name, seconds = os.environ["NAME"], float(os.environ["CALL"])
try:
    print(json.dumps({"ready": True}), flush=True)
except BrokenPipeError:
    os._exit(1)
for number, line in enumerate(sys.stdin):
    command = json.loads(line)
    if command["do"] == "prepare" and name == os.environ.get("LACKS"):
        answer = {"error": os.environ.get("REASON", "Unsupported: no such operation")}
    elif command["do"] == "prepare":
        answer = {"seconds": seconds, "stoppable": False, "yardstick": "compute"}
        answer |= {"facts": {"threads": os.environ["THREADS"], "settings": ""}}
        answer |= {"notes": {"route": "r"}}
        answer |= {"implementation": "library " + name}
    else:
        if name == os.environ.get("DIES") and number == 3:
            os.kill(os.getpid(), 9)
        if name == os.environ.get("HANGS") and number == 3:
            time.sleep(3600)
        time.sleep(float(os.environ.get("SLICE", 0)))
        answer = {"seconds": seconds * random.uniform(0.999, 1.001), "ended": 0.0}
    try:
        print(json.dumps(answer), flush=True)
    except BrokenPipeError:
        os._exit(1)
"""
"""A worker that reports known times, and may be killed or hang in the middle; a slice takes SLICE
seconds."""

TIMES = {"numpy-2.2.4": 1e-3, "numpy-2.2.5": 1e-3, "numpy-2.2.6": 1.5e-3, "numpy-2.3.0": 1.2e-3}

LOG = "MEASURED_LOG"
"""Variable: a file to which problem and id of each round are appended that was measured to its end;
it is made when the command is loaded."""
AS_MACHINE = "AS_MACHINE"
"""Variable: the name of this machine."""
FILED_EVERY = "FILED_EVERY"
"""Variable: seconds after which results are filed while more is measured."""
SECONDS_EACH = "SECONDS_EACH"
"""Variable: seconds of a round for each release; 0 for the fewest sweeps."""


def launch_of(name: str, seconds: float) -> Launch:
    """Return how to start a worker whose calls take so long."""
    known = {"NAME": name, "CALL": str(seconds), "THREADS": str(threads.wanted())}
    return Launch(sys.executable, known, ("-S", "-c", PROGRAM))


def filing(results: Path) -> FilingTarget:
    """Make a results folder with the suite's benchmarks; the nominal reading is 1 ms."""
    entry = {"machine": MACHINE, "cpu": "c", "num_cpu": "2", "os": "Linux", "ram": "1", "arch": "a"}
    described = results / MACHINE / "machine.json"
    if not described.exists():
        described.parent.mkdir(parents=True)
        result_files.write_machine(described, entry)
    listed = json.loads(COMMITTED.read_text())
    suite = {name: one for name, one in listed.items() if name != "version"}
    variables = {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"}
    nominal = NominalReadings({str(threads.wanted()): {"compute": 1e-3}})
    return FilingTarget(results, entry, "release-py3", variables, suite, nominal)


def main() -> None:
    """Run the command."""
    core_latency.Reader.read = lambda reader: 250.0
    worker_launch.launch = lambda release, *_: launch_of(
        release.name, TIMES.get(release.name, 1e-3)
    )
    history_stores.member = lambda: launch_of("yardstick", 2e-3)
    filing_target.demand_environment = lambda: None
    filing_target.find = lambda *_: filing(Path("results").resolve())
    HistoryProgress.FILED_SECONDS = float(
        os.environ.get(FILED_EVERY, HistoryProgress.FILED_SECONDS)
    )
    ensemble_sweeps.SECONDS_EACH = float(os.environ.get(SECONDS_EACH, ensemble_sweeps.SECONDS_EACH))
    if AS_MACHINE in os.environ:
        machine_entry.default_name = lambda: os.environ[AS_MACHINE]
    measure = ensemble_sweeps.run_round

    def noted(*given, **options):
        for task, taken in measure(*given, **options):
            with Path(os.environ[LOG]).open("a") as log:
                log.write(f"{task.problem} {taken.id}\n")
            yield task, taken

    if LOG in os.environ:
        Path(os.environ[LOG]).touch()
        ensemble_sweeps.run_round = noted
    cli.main()


if __name__ == "__main__":
    main()
