"""The points of a machine, which all commands and pages that read results take from here: by DuckDB
from the store where it is up to date, else from the results."""

from collections import Counter
from pathlib import Path

from deepbench_ops import damage_reports, project
from deepbench_ops.analysis import point_reading
from deepbench_ops.analysis.point_filter import EVERYTHING, Only, chosen
from deepbench_ops.analysis.points import Point
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases.release_table import Release


def load(
    results: Path,
    machine: str,
    releases: dict[str, Release],
    rounds: bool = False,
    samples: bool = False,
    strange: Counter[str] | None = None,
    only: Only = EVERYTHING,
) -> list[Point]:
    """Return the points of a machine that `only` chooses, from the store next to the results or
    from these.

    A store that cannot be used is reported. The other arguments, and the errors, are those of
    `point_reading.load`.
    """
    store = project.store(results)
    if (store / "times").exists() and (results / machine / "machine.json").exists():
        try:
            return _stored(results, machine, releases, rounds, samples, strange, only)
        except DeepbenchError as reason:
            line = f"{reason}, and {results} is read instead: deepbench store build makes it again"
        except ModuleNotFoundError as missing:
            if missing.name not in ("duckdb", "pyarrow"):
                raise
            line = (
                f"{store} cannot be read without {missing.name}, and {results} is read instead: pip"
                " install 'asv_bench_deepbench[store]' installs it"
            )
        damage_reports.report(line, damaged=False)
    return chosen(point_reading.load(results, machine, releases, rounds, strange, samples), only)


def _stored(
    results: Path,
    machine: str,
    releases: dict[str, Release],
    rounds: bool,
    samples: bool,
    strange: Counter[str] | None,
    only: Only,
) -> list[Point]:
    from deepbench_ops.analysis.parquet_store import Store  # pyarrow takes a while to load

    return Store.next_to(results).load(machine, releases, rounds, samples, strange, only)
