"""Compute the results of committed histories again from their rounds.

    python scripts/file_rounds_again.py [--results results]

For use after a change of the way in which results follow from rounds. Nothing is measured: the
rounds in RESULTS/MACHINE/ensembles/ stay as they are, and the results and records of the releases
that they measured are replaced. Rounds over several frameworks replace only those that came from
them, and fill in missing ones.
"""

import argparse
from pathlib import Path

from deepbench_ops.analysis import history_refiling


def main() -> None:
    """File all histories again, and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    results = parser.parse_args().results
    for path in sorted(results.glob("*/ensembles/*.jsonl.gz")):
        print(f"{path}: {history_refiling.file_again(path)} kernels filed again")


if __name__ == "__main__":
    main()
