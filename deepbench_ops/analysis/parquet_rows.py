"""Rows of Parquet files, read by DuckDB, which skips the groups of rows that no one asked for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path

import duckdb
import pyarrow as pa
from duckdb import ColumnExpression, ConstantExpression

from deepbench_ops.analysis.point_filter import Only
from deepbench_ops.errors import DeepbenchError


def read(path: Path, columns: Sequence[str], only: Only) -> pa.Table:
    """Return these columns of the rows of a file that `only` chooses, in any order.

    Raises DeepbenchError for a file that cannot be read.
    """
    with _readable(path), duckdb.connect(":memory:") as connection:
        rows = _chosen(connection, path, only)
        return rows.select(*map(ColumnExpression, columns)).to_arrow_table()


def read_samples(path: Path, times: Path, only: Only) -> pa.Table:
    """Return the samples in a file of the times that `only` chooses in another, in any order.

    Raises DeepbenchError for a file that cannot be read.
    """
    with _readable(path), duckdb.connect(":memory:") as connection:
        samples = connection.read_parquet(escape(str(path)))
        if only:
            wanted = _chosen(connection, times, only).select("number")
            samples = samples.join(wanted, "number", how="semi")
        return samples.to_arrow_table()


def _chosen(
    connection: duckdb.DuckDBPyConnection, path: Path, only: Only
) -> duckdb.DuckDBPyRelation:
    rows = connection.read_parquet(escape(str(path)))
    for name, values in only.items():
        wanted = map(ConstantExpression, values)
        rows = rows.filter(ColumnExpression(name).isin(*wanted) if values else "false")
    return rows


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise DeepbenchError(f"{path}: {' '.join(str(error).split())}") from None
