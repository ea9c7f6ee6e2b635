"""Errors of networks of their published size in int8, and the networks that cannot run in it.

    nice python bench/int8_whole_networks.py [--by compiled] [--write FILE] [NETWORK ...]

Each network runs in `deepbench latency --precision int8` in a process of its own, compiled and in
ONNX Runtime, with a time limit. The command compares the first and the last item with float64, and
fails where one is off by more than is allowed. A row has the largest error and the drift (root mean
square), as parts of the typical output; or the reason why there is no figure. Writes the table in
Markdown, into the marked part of a file where one is named.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from detection_simulation import markdown, put

from deepbench_ops.problems.model import network_sizes

WAYS = ("compiled", "onnxruntime")
PROGRAM = "from deepbench_ops.cli import main; main()"

Row = dict[str, object]


def run(network: str, batch: int, way: str, limit: float) -> Row:
    """Run one network; return its row. The time is that of the process, building included."""
    options = ["--batch", str(batch), "--precision", "int8", "--by", way, "--seconds", "0.1"]
    command = [sys.executable, "-c", PROGRAM, "latency", network, *options, "--format", "json"]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as failed:
        process = subprocess.Popen(command, stdout=said, stderr=failed)
        ended = threading.Timer(limit, process.kill)
        ended.start()
        _, status, usage = os.wait4(process.pid, 0)
        in_time = ended.is_alive()
        ended.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        failed.seek(0)
        lines = failed.read().strip().splitlines() or ["no message"]
        found = json.loads(said.read()) if process.returncode == 0 else {}
    reason = lines[-1].removeprefix("deepbench: ") if in_time else f"not done in {limit:.0f} s"
    return {
        "network": network,
        "by": way,
        "largest error": f"{found['off']:.3f}" if found else "-",
        "drift": f"{found['drift']:.4f}" if found else "-",
        "seconds": f"{time.monotonic() - began:.0f}",
        "memory, GB": f"{usage.ru_maxrss * 1024 / 1e9:.1f}",
        "check": "passed" if found else reason,
    }


def main() -> None:
    """Run the networks, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="all unless given")
    parser.add_argument("--by", choices=WAYS, action="append", help="both unless given")
    parser.add_argument("--batch", type=int, default=2, help="items; first and last are judged")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of each process")
    parser.add_argument("--write", type=Path, help="put the table into this file")
    asked = parser.parse_args()
    rows = []
    for network in asked.networks or network_sizes():
        for way in asked.by or WAYS:
            rows.append(run(network, asked.batch, way, asked.limit))
            print(*rows[-1].values(), sep="  ", flush=True)
    if asked.write is not None:
        put(markdown(rows), asked.write, "int8", Path(__file__).name)
    else:
        print(markdown(rows))


if __name__ == "__main__":
    main()
