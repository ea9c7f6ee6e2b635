"""Figures that others published of whole models: four tables, figure by figure, as printed.

scripts/make_model_tables.py writes published_model_figures.csv from them.
"""

import csv
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.precision import PRECISIONS as KNOWN
from deepbench_ops.problems.suggestions import unknown

FIGURES = Path(__file__).with_name("published_model_figures.csv")

SOURCES = {
    "mindspore": "MindSpore r1.7 documentation, note/benchmark",
    "qingcloud": "QingCloud deep-learning platform, performance page",
    "stcp920": "Stream Computing inference performance, V1.2.0.RC1, 2022-02-24",
    "paper": "Xia and Zhou, IJDMS vol. 14 no. 1/2, 2022, tables 1-4",
}
"""The document that each table is from."""

TABLES = tuple(SOURCES)

LAYOUTS = {"NHWC": "channels_last"}
"""Name here of a layout that is not the published one."""

PRECISIONS = {"mixed": "float16"}
"""MindSpore's documentation describes its mixed precision as 16-bit products with weights in
32 bits; a training step in float16 is the same here."""

SPLIT = "tables split over host and devices"
"""The condition of figures that were run otherwise than their problem's id tells."""


@dataclass(frozen=True)
class PublishedFigure:
    """One printed figure: the network and how it was run, the value and its unit.

    printed: the network as the table spells it. day: of publication, and its basis in words.
    devices: accelerators, 0 where a processor computes. batch: per device; None where it is not
    published. precision: "mixed" where the table says so, "" where it says nothing. seconds: of one
    step or batch, where the figure has them. conditions: further ones, such as the build and the
    processors of QingCloud's. efficiency: the rate of a device over that of one alone; MindSpore
    prints it as speedup. platform, cores: the host of the accelerators, and its CPU cores.
    latency_ms: as printed. loss, accuracy: at the end of the training, the latter in percent. note:
    why it is of this network.
    """

    table: str
    network: str
    printed: str
    framework: str
    machine: str
    day: date
    basis: str
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
    efficiency: float | None
    platform: str
    cores: int | None
    latency_ms: float | None
    loss: float | None
    accuracy: float | None
    note: str

    @property
    def split(self) -> bool:
        """Whether it was run with its tables split over host and devices."""
        return self.conditions == SPLIT

    @property
    def other_figures(self) -> str:
        """All that its table reports besides rate and sizes, as text."""
        named = (
            ("scaling efficiency {}", self.efficiency),
            ("latency {} ms", self.latency_ms),
            ("loss {:g}", self.loss),
            ("accuracy {:g} %", self.accuracy),
            ("{}", self.conditions),
            ("{}", self.platform),
            ("{} CPU cores", self.cores),
            ("{}", self.note),
        )
        return ", ".join(words.format(value) for words, value in named if value not in (None, ""))

    @property
    def no_point(self) -> str:
        """Reason why it cannot be a point of the timeline; "" where it can."""
        if self.devices > 1:
            return "several devices: a point is one device's"
        if self.batch is None:
            return "no batch size is given, without which a rate gives no seconds of a step"
        if self.seconds is None:
            return "the time of a whole training, whose number of steps is not given"
        if self.split:
            return f"{SPLIT}: another run than its id names"
        if PRECISIONS.get(self.precision, self.precision) not in KNOWN:
            return "no precision is given"
        return ""


def load(table: str) -> tuple[PublishedFigure, ...]:
    """The figures of one of TABLES in the order printed; DeepbenchError for an unknown one."""
    if table not in TABLES:
        raise unknown("table", table, TABLES)
    return tuple(figure for figure in read(FIGURES) if figure.table == table)


@cache
def read(path: Path) -> tuple[PublishedFigure, ...]:
    """Return the figures of a file in the form of published_model_figures.csv.

    Raises DeepbenchError, naming the line, for a figure without its day or that day's basis.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return tuple(_figure(f"{path}, line {rows.line_num}", row) for row in rows)


def _figure(where: str, line: dict[str, str]) -> PublishedFigure:
    try:
        day = date.fromisoformat(line["day"])
    except ValueError:
        raise DeepbenchError(
            f"{where}: day is {line['day']!r}: write when the figure was published, as YYYY-MM-DD"
        ) from None
    if not line["basis"]:
        raise DeepbenchError(f"{where}: {day} has no basis: write the source of the day")
    known: dict[str, object] = {
        "day": day,
        "devices": int(line["devices"] or 1),
        "batch": int(line["batch"]) if line["batch"] else None,
        "threads": int(line["threads"]),
        "value": float(line["value"]),
        "cores": int(line["cores"]) if line["cores"] else None,
    }
    for name in ("seconds", "efficiency", "latency_ms", "loss", "accuracy"):
        known[name] = float(line[name]) if line[name] else None
    return PublishedFigure(**{**line, **known})  # type: ignore[arg-type]
