"""Try all features that need a GPU, in parts that an interrupted run does not repeat.

Run the script with the interpreter for which the framework is installed. Its packages are not
changed: deepbench is installed in an environment of its own, from the folder of
`collect_wheels.py` and without a network. After every part the results, the logs and the state are
packed into one archive, in the folder named by the environment variable OUT, or in the work folder.
A part that has ended is not repeated. On another machine, `--resume ARCHIVE` continues.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for modules that need Python alone

from gpu_check_parts import STEPS, Part, Target, parts_of
from gpu_check_session import Archive, Journal, Session

ROOT = Path(__file__).resolve().parents[1]

ALL_ENDED, SOME_WRONG, UNFINISHED = 0, 1, 3
"""Exit status: all parts succeeded; some part failed; time ran out before the last part."""


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="steps: " + "; ".join(f"{name}: {text}" for name, text in STEPS.items()),
    )
    parser.add_argument("--list", action="store_true", help="list the parts and their state")
    parser.add_argument("--only", action="append", choices=STEPS, metavar="STEP")
    parser.add_argument(
        "--again", action="store_true", help="repeat ended parts, of those in --only"
    )
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--device", default="cuda", help="cpu tries all parts without a GPU")
    parser.add_argument("--machine", help="name in the results (default: that of the GPU)")
    parser.add_argument("--minutes", type=float, default=9.5, help="begin no part after so many")
    parser.add_argument(
        "--rounds", type=int, default=2, metavar="N", help="processes for each time in results"
    )
    parser.add_argument(
        "--at-once",
        type=int,
        default=max(1, min(8, (os.cpu_count() or 1) // 2)),
        metavar="N",
        help="checks that run at the same time (default: half the processors, at most 8)",
    )
    parser.add_argument(
        "--short", action="store_true", help="a trial with the smallest work of each part"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "artifacts" / "gpu_check")
    parser.add_argument("--wheels", type=Path, default=ROOT / "wheels")
    parser.add_argument(
        "--resume", type=Path, metavar="ARCHIVE", help="continue with these results"
    )
    given = parser.parse_args()
    given.folder, given.wheels = given.folder.resolve(), given.wheels.resolve()
    return given


def groups(parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts in groups, in order: one with times alone, neighbours without together."""
    found: list[list[Part]] = []
    for part in parts:
        if part.timed or not found or found[-1][0].timed:
            found.append([])
        found[-1].append(part)
    return found


def main() -> int:
    """Run the parts that have not ended; return the exit status."""
    began, given = time.monotonic(), options()
    archive = Archive(given.folder, Path(os.environ.get("OUT") or given.folder))
    archive.unpack(given.resume)
    journal = Journal(given.folder / "state.json")
    target = Target.here(given.framework, given.device, given.machine, given.rounds, given.short)
    session = Session(ROOT, given.folder, given.wheels, Path(sys.executable), target)
    if not given.list:
        session.end_leftovers()
    session.prepare()
    parts = parts_of(target, session.families())
    chosen = [part for part in parts if not given.only or part.step in given.only]
    if given.list:
        for part in chosen:
            print(f"{journal.text(part.name):40} {part.name}")
        return ALL_ENDED
    if given.again and given.only:
        journal.forget(part.name for part in chosen)
    end = began + 60 * given.minutes

    def run(part: Part) -> bool:
        """Run a part that has not ended, if there is time; return whether there was."""
        if journal.has_ended(part.name):
            return True
        left = end - time.monotonic()
        if left < part.least_seconds:
            print(f"no time is left for {part.name}: run this again", flush=True)
            return False
        session.run(part, left, journal)
        return True

    for group in groups(chosen):
        with ThreadPoolExecutor(1 if group[0].timed else given.at_once) as pool:
            in_time = all(pool.map(run, group))
        archive.pack()
        if not in_time:
            break
    print(journal.summary([part.name for part in chosen]))
    waiting = [part for part in chosen if not journal.has_ended(part.name)]
    failed = [part for part in chosen if journal.has_failed(part.name)]
    return UNFINISHED if waiting else SOME_WRONG if failed else ALL_ENDED


if __name__ == "__main__":
    sys.exit(main())
