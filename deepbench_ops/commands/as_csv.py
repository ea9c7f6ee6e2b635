"""Lines as comma-separated values, as several commands print them."""

import csv
import io
from collections.abc import Mapping, Sequence

from deepbench_ops.exchange.spreadsheet_text import guarded


def as_csv(lines: Sequence[Mapping[str, object]]) -> str:
    """Return a header of all names in the order in which they come up, and the lines, with texts
    that no spreadsheet program computes."""
    out = io.StringIO()
    columns = list(dict.fromkeys(name for line in lines for name in line))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: guarded(cell) for name, cell in line.items()} for line in lines)
    return out.getvalue()
