"""Answers to SQL over the store, by DuckDB, which reads the columns that a question needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import dataset

from deepbench_ops import damage_reports
from deepbench_ops.analysis import printable_values
from deepbench_ops.analysis.parquet_store import DAMAGED, OUTDATED, SCHEMAS, Store, demand
from deepbench_ops.errors import DeepbenchError

READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)

SHOWN = 3
"""Machines that a message names; of more it says how many there are."""

SHARED = {"counts": "DISTINCT"}
"""How rows of a table are selected whose machines' files have rows in common."""

CLOSED = (
    "SET enable_external_access = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)
"""Settings under which a statement reaches neither other files nor the network, nor values of this
program, and cannot change that."""


@dataclass(frozen=True)
class Answer:
    """Rows of an answer, of `printable_values`. columns: their names, each once. numbers: the names
    of those that hold numbers."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    numbers: set[str]

    @classmethod
    def of(cls, rows: duckdb.DuckDBPyRelation) -> "Answer":
        """Return these rows. Raises DeepbenchError for a value that cannot be printed."""
        names = printable_values.unique(rows.columns)
        table = printable_values.printable(rows).to_arrow_table()
        values = map(printable_values.of_column, names, table.columns)
        numbers = {
            name
            for name, kind in zip(names, table.schema.types, strict=True)
            if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        }
        return cls(names, list(zip(*values, strict=True)), numbers)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The rows by the columns' names."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def answer(store: Store, sql: str) -> Answer:
    """Return the answer to one SELECT, EXPLAIN or DESCRIBE statement.

    Machines whose files are out of date are reported, and answered as they are stored; those whose
    files are damaged are reported and left out. That a store is a copy, without the results that
    it was made from, is reported and is no fault, unless it lacks a table. Raises DeepbenchError
    for a statement that is wrong, or no question, without a store, where all files are damaged, and
    for values that cannot be printed.
    """
    machines = demand(store)
    states = store.states()
    damaged = [machine for machine, state in states.items() if state == DAMAGED]
    sound = [machine for machine in machines if machine not in damaged]
    if damaged:
        line = f"{store.folder} is not whole for {_listed(damaged)}: deepbench store build makes"
        if not sound:
            raise DeepbenchError(f"{line} its files again")
        damage_reports.report(f"{line} its files again; the answer leaves them out")
    if store.is_copy:
        line = f"{store.results} holds no results: {store.folder} is read as it was copied"
        lacking = [name for name in SCHEMAS if len(store.files(name, sound)) < len(sound)]
        if lacking:
            line += f", made by an earlier version without all of {', '.join(lacking)}"
        damage_reports.report(line, damaged=bool(lacking))
    elif old := [machine for machine, state in states.items() if state == OUTDATED]:
        damage_reports.report(f"the store is out of date for {_listed(old)}: deepbench store build")
    try:
        with duckdb.connect(":memory:") as connection:
            _demand_question(connection.extract_statements(sql))
            for name, schema in SCHEMAS.items():
                stored = dataset.dataset(store.files(name, sound), schema=schema)
                connection.register(f"{name}_files", stored)
                rows = f"SELECT {SHARED.get(name, '')} * FROM {name}_files"
                connection.execute(f"CREATE VIEW {name} AS {rows}")
            for setting in CLOSED:
                connection.execute(setting)
            return Answer.of(connection.sql(sql))
    except duckdb.Error as error:
        raise DeepbenchError(f"query: {' '.join(str(error).split())}") from None
    except pa.ArrowException as error:
        text = " ".join(str(error).split())
        raise DeepbenchError(
            f"{store.folder} cannot be read: {text}: deepbench store build --again makes it again"
        ) from None


def _listed(machines: Sequence[str]) -> str:
    """Return the first machines of a list, and how many follow."""
    more = f" and {len(machines) - SHOWN} more" if len(machines) > SHOWN else ""
    return ", ".join(machines[:SHOWN]) + more


def _demand_question(statements: list[Any]) -> None:
    """Raise DeepbenchError for anything but one statement that only reads."""
    if len(statements) != 1:
        raise DeepbenchError(f"query: give one statement instead of {len(statements)}")
    if (kind := statements[0].type) not in READING:
        raise DeepbenchError(f"query: {kind.name} is refused: the store is only read, by SELECT")
