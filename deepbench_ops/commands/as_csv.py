"""Lines as comma-separated values, as several commands print them."""

import csv
import io
from collections.abc import Mapping, Sequence


def as_csv(lines: Sequence[Mapping[str, object]]) -> str:
    """Return a header of all names in the order in which they come up, and the lines."""
    out = io.StringIO()
    columns = list(dict.fromkeys(name for line in lines for name in line))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()
