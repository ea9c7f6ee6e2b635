"""Output of a command: text for a reader, CSV, JSON or JUnit's XML."""

import json
import math
from collections.abc import Callable, Mapping, Sequence

import click

from deepbench_ops.exchange.spreadsheet_text import guarded_csv

Rows = Sequence[Mapping[str, object]]


def show(
    form: str,
    text: Callable[[], str],
    data: Callable[[], object],
    lines: Callable[[], Rows] = list,
    junit: Callable[[], str] = str,
    names: Callable[[], Sequence[str]] = list,
    columns: Sequence[str] = (),
) -> None:
    """Print an answer: `data` as JSON, `lines` as CSV, `junit`, `names` as a line for a shell,
    nothing for none, else `text` for a reader.

    columns: names in the header of CSV, also where there is no line.
    """
    if form == "junit":
        click.echo(junit())
    elif form == "json":
        click.echo(as_json(data()))
    elif form == "csv":
        click.echo(as_csv(lines(), columns), nl=False)
    elif form == "names":
        line = " ".join(names())
        click.echo(line, nl=bool(line))
    else:
        click.echo(text())


def as_json(value: object) -> str:
    """Return strict JSON: numbers that are not finite, which it lacks, are null."""
    try:
        return json.dumps(value, indent=1, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), indent=1, allow_nan=False)


def as_csv(lines: Rows, first: Sequence[str] = ()) -> str:
    """Return a header of the names `first` and all others, in the order in which they come up, and
    the lines."""
    columns = list(dict.fromkeys([*first, *(name for line in lines for name in line)]))
    return guarded_csv([columns, *([line.get(name) for name in columns] for line in lines)])


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
