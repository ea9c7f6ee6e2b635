"""`deepbench query`: SQL over all results."""

import json
from pathlib import Path

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import printed_as, results_folder, store_folder
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.store import opened


@click.command()
@click.argument("sql")
@store_folder
@results_folder
@printed_as("table", "csv", "json")
def query(sql: str, folder: Path | None, results: Path, form: str) -> None:
    """Answer a SELECT statement over all results.

    \b
        deepbench query "SELECT machine, count(*) FROM times GROUP BY machine"
        deepbench query "SELECT machine, version, 1000 * seconds AS ms FROM times
                         WHERE problem = 'm1760_n128_k1760_NN' AND framework = 'numpy'
                         ORDER BY ms LIMIT 5"
        deepbench query "SELECT machine, max(flops / seconds) / 1e9 AS gflops FROM times
                         JOIN counts USING (family, problem, operation, precision)
                         WHERE family = 'gemm' AND unsteady = '' GROUP BY machine"
        deepbench query "DESCRIBE times"

    The tables are times, samples, counts, rounds, model_runs, machines and libraries, as "deepbench
    store build" has made them; the SQL is DuckDB's. Nothing can be changed, and no other file can
    be read. Times that are not to be trusted have their reason in the column unsteady.
    """
    from deepbench_ops.analysis import read_only_query

    answer = read_only_query.answer(opened(folder, results), sql)
    show(
        form,
        lambda: terminal_tables.table(
            [terminal_tables.Column(name, right=name in answer.numbers) for name in answer.columns],
            [[_cell(value) for value in row] for row in answer.rows],
        ),
        lambda: answer.lines,
        lambda: [{name: _flat(each) for name, each in line.items()} for line in answer.lines],
        columns=answer.columns,
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(_flat(value))


def _flat(value: object) -> object:
    """Return a value as one cell has it: lists and objects as JSON."""
    nested = isinstance(value, list | dict)
    return json.dumps(value, ensure_ascii=False) if nested else value
