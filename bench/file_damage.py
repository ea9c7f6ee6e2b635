"""Ways to damage a file: flipped bytes, a cut, a wrong type, deep nesting, a doubled line.

In a compressed file the text may be damaged too, with a correct checksum.
"""

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import openpyxl

from deepbench_ops.storage import compression

ODD_VALUES: list[Any] = [
    *(True, None, "x", "1.0", [], {}, -1, 0, 1e9, 1e308, 1e-320, float("nan"), float("inf")),
    *(10**30, "=1+1", "<b>"),
]
"""Values that replace a value of the file."""


def damage(path: Path, draw: random.Random) -> str:
    """Damage a file in a way drawn at random; return the name of the way."""
    how = DAMAGES[draw.choice(sorted(DAMAGES))]
    name, before = how.__name__, path.read_bytes()
    if path.suffix == ".xlsx" and name not in BYTE_DAMAGES:
        return _damaged_workbook(path, draw)
    if path.suffix == compression.ENDING and (name not in BYTE_DAMAGES or draw.random() < 0.5):
        path.write_bytes(compression.pack(how(gzip.decompress(before), draw)))
        return f"{name} inside"
    path.write_bytes(how(before, draw))
    return name


def flipped(content: bytes, draw: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(draw.randint(1, 3)):
        found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def replaced(content: bytes, draw: random.Random) -> bytes:
    """Replace one number of a text by an odd value."""
    odd = draw.choice(ODD_VALUES)
    places = list(re.finditer(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])", content))
    return _with(content, draw.choice(places) if places else None, json.dumps(odd).encode())


def swapped(content: bytes, draw: random.Random) -> bytes:
    """Replace one quoted text by a value of another type."""
    places = list(re.finditer(rb'"[^"\n]*"', content))
    odd = json.dumps(draw.choice(ODD_VALUES)).encode()
    return _with(content, draw.choice(places) if places else None, odd)


def nested(content: bytes, draw: random.Random) -> bytes:
    """Replace one number by a hundred thousand brackets."""
    places = list(re.finditer(rb"(?<![\w.])\d+\.\d+(?![\w.])", content))
    return _with(content, draw.choice(places) if places else None, b"[" * 100_000)


def doubled(content: bytes, draw: random.Random) -> bytes:
    """Double a line, or an item of a list in a file of one line."""
    lines = content.splitlines(True)
    if len(lines) > 2:
        at = draw.randrange(len(lines))
        return b"".join([*lines[: at + 1], *lines[at:]])
    places = list(re.finditer(rb"\d+(?:\.\d+)?(?=, ?\d)", content))
    place = draw.choice(places) if places else None
    return _with(content, place, (place[0] + b", " + place[0]) if place else b"")


def _with(content: bytes, place: re.Match[bytes] | None, new: bytes) -> bytes:
    return (
        content + new if place is None else content[: place.start()] + new + content[place.end() :]
    )


def _damaged_workbook(path: Path, draw: random.Random) -> str:
    """Put an odd value into a cell that has a value."""
    book = openpyxl.load_workbook(path)
    cells = [c for sheet in book.worksheets for r in sheet.iter_rows() for c in r if c.value]
    cell = draw.choice(cells)
    odd = draw.choice([each for each in ODD_VALUES if not isinstance(each, list | dict | int)])
    cell.value = None if isinstance(odd, float) and odd != odd else str(odd)
    book.save(path)
    return f"replaced in {cell.parent.title}!{cell.coordinate}"


DAMAGES = {each.__name__: each for each in (flipped, cut, replaced, swapped, nested, doubled)}
BYTE_DAMAGES = ("flipped", "cut")
"""Ways for files that are not text. Compressed files are damaged in these ways, and their text
in any way."""
