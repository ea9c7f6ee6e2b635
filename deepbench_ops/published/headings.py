"""What titles and column headers of DeepBench's sheets mean, however a revision spells them.

A section begins with its title in the first column; the row that names the sizes is the same one
or the next. Columns go by their headers: their order changed over the years.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from deepbench_ops.problems.tables import size_names

SECTIONS = {
    "dense matrix": ("gemm", {}),
    "sparse matrix": ("sparse_gemm", {}),
    "convolution": ("conv", {}),
    "recurrent layers - vanilla": ("rnn", {"cell": "vanilla"}),
    "recurrent layers - lstm": ("rnn", {"cell": "lstm"}),
    "recurrent layers - gru": ("rnn", {"cell": "gru"}),
    "all-reduce": ("all_reduce", {}),
}

_PRODUCT = {
    "m": "m",
    "n": "n",
    "k": "k",
    "a transpose": "a_transposed",
    "b transpose": "b_transposed",
}

SIZES = {
    "gemm": _PRODUCT,
    "sparse_gemm": {**_PRODUCT, "sparsity": "sparsity"},
    # Filters go by the letter: one revision swapped the words behind R and S, never the letters.
    "conv": {
        **{letter: letter for letter in "whcnkrs"},
        "pad_w": "pad_w",
        "pad_h": "pad_h",
        "horizontal stride": "stride_w",
        "vertical stride": "stride_h",
    },
    "rnn": {"hidden units": "hidden", "input": "hidden", "n": "batch", "timesteps": "timesteps"},
    "all_reduce": {"size # floats": "elements"},
}

TIMES = {
    "gemm": {"time": "forward"},
    "sparse_gemm": {
        "sparse time": "forward",
        "dense time": "dense_forward",
        "conversion time": "conversion",
    },
    "conv": {
        "forward": "forward",
        "wrt inputs": "backward_data",
        "wrt parameters": "backward_weights",
    },
    "rnn": {
        "time forward": "forward",
        # The programs of these years timed the way back through the steps and nothing else.
        "time backward": "backward_data",
        "time backward wrt inputs": "backward_data",
        "time backward wrt weights": "backward_weights",
        "time backward total": "backward",
        "time fused forward": "fused_forward",
        "time fused backward": "fused_backward",
    },
    "all_reduce": {"mean all reduce time": "sum"},
}
"""Times by header, without the unit, and the operation each is of. Conversion, total and fused are
what our own exports have besides; of several headers for an operation they write the last."""

DERIVED = ("total time", "std dev all reduce time")
"""Columns of seconds that are no kernel's time but made of others."""

UNITS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6}
RATES = {"gigaflops": 1e9, "teraflops": 1e12, "gigabytes/sec": 1e9}
RANKS = ("# chips / accelerator cards", "# nodes")

_WORDS_OF_RATES = {
    "": "forward",
    "sparse": "forward",
    "fwd": "forward",
    "bwd": "backward",
    "bwd inputs": "backward_data",
    "bwd params": "backward_weights",
    "bwd parms": "backward_weights",
    "bwd weights": "backward_weights",
}


@dataclass(frozen=True)
class Section:
    """What a table of a sheet is about: the family, and for recurrent layers the cell."""

    family: str
    fixed: dict[str, Any]


@dataclass
class Columns:
    """Where the columns of a section are, by what they hold.

    sizes: by the field of the problem. times: by operation. units: seconds that a time's number
    counts, None where its header names no unit. rates: by operation, with the number of FLOP/s
    (of all-reduce bytes/s) that one stands for.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    units: dict[str, float | None] = field(default_factory=dict)
    rates: dict[str, tuple[int, float]] = field(default_factory=dict)
    ranks: int | None = None


def section(title: object) -> Section | None:
    """Return what the section with that title is about, None for any other text."""
    words = _plain(title)
    for start, (family, fixed) in SECTIONS.items():
        if words.startswith(start):
            return Section(family, dict(fixed))
    return None


def columns(of: Section, cells: Sequence[object]) -> Columns:
    """Return where everything is that these cells name, for what is lacking see `lacking`."""
    found = Columns()
    for place, cell in enumerate(cells):
        words, unit = words_and_unit(cell)
        if words in SIZES[of.family]:
            found.sizes.setdefault(SIZES[of.family][words], place)
        elif words in TIMES[of.family]:
            operation = TIMES[of.family][words]
            found.times.setdefault(operation, place)
            found.units.setdefault(operation, unit)
        elif of.family == "all_reduce" and words in RANKS:
            found.ranks = place
        elif (rate := _rate(of.family, words)) is not None:
            operation, scale = rate
            found.rates.setdefault(operation, (place, scale))
    if "backward_data" in found.times and "backward" in found.rates:
        found.rates["backward_data"] = found.rates.pop("backward")
    return found


def required(of: Section) -> set[str]:
    """Return the sizes that a table of that section must have."""
    return set(size_names(of.family)) - set(of.fixed) - {"repeats"}


def lacking(of: Section, found: Columns) -> list[str]:
    """Return the headers that a table of that section must have and does not."""
    words = {name: text for text, name in reversed(SIZES[of.family].items())}
    missing = sorted(words[name] for name in required(of) - set(found.sizes))
    if of.family == "all_reduce" and found.ranks is None:
        missing.append(RANKS[0])
    return missing if found.times else [*missing, next(iter(TIMES[of.family]))]


def is_unread(found: Columns, place: int, cell: object) -> bool:
    """Whether a header names a time that nothing is made of: of no known pass, or a second one."""
    words, unit = words_and_unit(cell)
    if place in (*found.times.values(), *found.sizes.values()) or words in DERIVED:
        return False
    return unit is not None or re.search(r"time\b", words) is not None


def words_and_unit(cell: object) -> tuple[str, float | None]:
    """Return the words of a header without what stands in brackets, and its unit of time."""
    words = _plain(cell)
    if "(" not in words:
        return words, None
    inside = re.findall(r"\(([^)]*)\)", words)
    unit = next((UNITS[text] for text in inside if text in UNITS), None)
    return " ".join(re.sub(r"\([^)]*\)", " ", words).split()), unit


def _rate(family: str, words: str) -> tuple[str, float] | None:
    """Return operation and scale of a column of FLOP/s, or for all-reduce of bytes/s."""
    for name, scale in RATES.items():
        if name not in words:
            continue
        operation = _WORDS_OF_RATES.get(words.replace(name, " ").strip().replace("  ", " "))
        if name == "gigabytes/sec":
            operation = "sum"
        if operation is not None:
            return operation, scale
    return None


def _plain(cell: object) -> str:
    """Return a cell's text in lower case, with single blanks; "" for what is no text."""
    return " ".join(cell.lower().split()) if isinstance(cell, str) else ""
