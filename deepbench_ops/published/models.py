"""What others published of whole models: four tables, figure by figure, as printed.

scripts/make_model_tables.py writes models.csv from them.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from deepbench_ops.problems.model import Model
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.precision import TABLE as PRECISIONS
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.published.machines import PublishedMachine
from deepbench_ops.published.publication import Publication

TABLES = ("mindspore", "qingcloud", "stcp920", "paper")
ISO_DAY = len("2022-02-24")

MACHINES = {
    "stream-stcp920": PublishedMachine(
        workbook="",
        name="stream-stcp920",
        accelerator="Stream Computing STCP920",
        device="npu",
        arch="",
        cpu="",
        peaks={},
        bandwidth=None,
        source="Stream Computing inference performance, V1.2.0.RC1, 2022-02-24",
    )
}
"""Machines of figures that can stand on the timeline. No peak is in their source."""


@dataclass(frozen=True)
class Figure:
    """One printed figure: the network and how it was run, the value and its unit.

    printed: the network as the table spells it. devices: accelerators, 0 where a processor
    computes. batch: per device; None where it is not told.
    precision: "mixed" where the table says so, "" where it says nothing. seconds: of one step or
    batch, where the figure tells.
    """

    table: str
    network: str
    printed: str
    framework: str
    machine: str
    date: str
    devices: int
    operation: str
    precision: str
    layout: str
    batch: int | None
    threads: int
    value: float
    unit: str
    seconds: float | None
    conditions: str


def load(table: str) -> tuple[Figure, ...]:
    """The figures of one of TABLES in the order printed; DeepbenchError for an unknown one."""
    if table not in TABLES:
        raise unknown("table", table, TABLES)
    return tuple(figure for figure in _all() if figure.table == table)


@cache
def _all() -> tuple[Figure, ...]:
    with files(__package__).joinpath("models.csv").open(encoding="utf-8") as lines:
        return tuple(_figure(line) for line in csv.DictReader(lines))


def _figure(line: dict[str, str]) -> Figure:
    numbers = {
        "devices": int(line["devices"] or 1),
        "batch": int(line["batch"]) if line["batch"] else None,
        "threads": int(line["threads"]),
        "value": float(line["value"]),
        "seconds": float(line["seconds"]) if line["seconds"] else None,
    }
    return Figure(**{**line, **numbers})  # type: ignore[arg-type]


def publications(figures: Iterable[Figure]) -> list[Publication]:
    """Return those figures that can be points of the timeline, by machine and day.

    That asks for the day of publication, one device, batch and precision, and the seconds that
    follow; other figures are in their table alone.
    """
    found: dict[tuple[str, str], Publication] = {}
    for figure in figures:
        if len(figure.date) != ISO_DAY or figure.devices > 1 or figure.batch is None:
            continue
        if figure.precision not in PRECISIONS or figure.seconds is None:
            continue
        machine = MACHINES[figure.machine]
        one = found.setdefault(
            (figure.machine, figure.date),
            Publication(
                machine.source, machine, date.fromisoformat(figure.date), "inference_server", {}
            ),
        )
        problem = Model(name=figure.network, batch=figure.batch, threads=figure.threads)
        kind = "training" if figure.operation == "training_step" else "inference_server"
        benchmark = f"model.{CLASSES[kind]}.kernel_{figure.operation}"
        key = (benchmark, (repr(problem.id), repr(figure.precision)))
        one.values.setdefault(key, []).append(figure.seconds)
    return list(found.values())
