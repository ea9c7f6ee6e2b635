"""The points of a machine, read the fastest way: from the store where it is up to date."""

from pathlib import Path

from deepbench_ops import project
from deepbench_ops.analysis import points
from deepbench_ops.analysis.points import Point
from deepbench_ops.releases.release_table import Release


def load(
    results: Path,
    machine: str,
    releases: dict[str, Release],
    rounds: bool = False,
    samples: bool = False,
) -> list[Point]:
    """Return what `points.load` returns, from the store next to the results where it is of these
    results. Raises as that does."""
    if (project.store(results) / "times" / f"{machine}.parquet").exists():
        from deepbench_ops.analysis.parquet_store import Store  # pyarrow takes a while to load

        found = Store.next_to(results).load(machine, releases, rounds, samples)
        if found is not None:
            return found
    return points.load(results, machine, releases, rounds, None, samples)
