"""asv's result files and descriptions of machines: reading and writing.

asv takes any JSON for a result: a number that is no time stops its search for steps for ever, and
a file that it cannot read is left out with a warning. Here such a file is an error that names it,
and such a value is left out and named.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from asv import util
from asv.benchmarks import Benchmarks
from asv.machine import Machine
from asv.results import Results
from asv.util import UserError, load_json

from deepbench_ops.asv_adapter import atomic_asv_json, private_result_fields
from deepbench_ops.asv_adapter.patch_installation import applied
from deepbench_ops.asv_adapter.result_checks import REMEDY, check, is_text_map
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import bounded_read

PREFIX = re.compile(r"^Error [a-zA-Z ]+ '.*?': ")
"""The part of asv's message before the reason."""

DAMAGE = (UserError, ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Exceptions that asv raises for files that are not as it writes them."""


def read(path: Path) -> Results:
    """Return a result file without the values that cannot be right; its `refused` names those.

    Raises DeepbenchError, with the reason, for a file that asv cannot read or that is of another
    machine than its folder.
    """
    try:
        bounded_read.demand_smaller(path, bounded_read.RESULT)
        stored = Results.load(str(path), path.parent.name)
        if not hasattr(stored, "refused"):  # `result_cache` has checked it
            check(path, stored)
    except DAMAGE as wrong:
        raise damaged(path, wrong) from None
    return stored


def undamaged(path: Path) -> Results:
    """Return a result file. Raises DeepbenchError where `read` would leave anything out."""
    stored = read(path)
    if stored.refused:
        raise DeepbenchError(stored.refused)
    return stored


def of_machine(folder: Path, report: Callable[[str], None]) -> Iterator[Results]:
    """Yield the results in a machine's folder.

    report: gets a line for each file that is left out, or holds values that are.
    """
    for path in paths(folder):
        try:
            stored = read(path)
        except DeepbenchError as wrong:
            report(str(wrong))
            continue
        if stored.refused:
            report(stored.refused)
        yield stored


def paths(folder: Path) -> list[Path]:
    """Return the result files in a machine's folder."""
    return sorted(path for path in folder.glob("*.json") if path.name != "machine.json")


def entry(path: Path) -> dict[str, str]:
    """Return asv's description of a machine. Raises DeepbenchError for a damaged machine.json."""
    try:
        bounded_read.demand_smaller(path, bounded_read.SMALL)
        found = load_json(str(path), Machine.api_version)
        if not is_text_map(found, (str, int)) or not isinstance(found.get("machine"), str):
            raise ValueError("it describes no machine")
        if wrong := _impossible(found):
            raise ValueError(f"its {wrong} is {str(found[wrong])[:40]}")
    except DAMAGE as wrong:
        raise damaged(path, wrong) from None
    return {name: str(text) for name, text in found.items() if name != "version"}


def _impossible(found: dict[str, str | int]) -> str:
    """Return the name of a field that has a number which no machine has; "" where none has."""
    processors, memory = (str(found.get(name, "")) for name in ("num_cpu", "ram"))
    if not (_is_whole(processors, MOST_PROCESSORS) or _is_words(processors)):
        return "num_cpu"
    return "" if _can_be_memory(memory) else "ram"


def _can_be_memory(text: str) -> bool:
    """Whether a text can be a machine's memory: a number with a unit of bytes, or words."""
    if size := MEMORY_SIZE.fullmatch(text):
        number, unit = size.groups()
        return bool(NUMBER.fullmatch(number)) and 1e6 <= float(number) * UNITS[unit.upper()] <= 1e16
    return _is_whole(text, MOST_BYTES) or _is_words(text)


def _is_whole(text: str, largest: int) -> bool:
    return text.isdecimal() and 1 <= int(text) <= largest


def _is_words(text: str) -> bool:
    """Whether a text is empty or has letters, and is neither a number, as NaN is, nor a word of
    JSON."""
    try:
        float(text)
    except ValueError:
        letters = any(map(str.isalpha, text)) or not text
        return letters and text not in ("true", "false", "null")
    return False


NUMBER = re.compile(r"\d+(\.\d+)?")
MEMORY_SIZE = re.compile(r"(\S+) ?([kKMGTP])i?B")
UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

MOST_PROCESSORS, MOST_BYTES = 10**6, 10**18


def damaged(path: Path, wrong: Exception) -> DeepbenchError:
    """Return the error about a file of results that cannot be read."""
    reason = PREFIX.sub("", " ".join(str(wrong).split())).removeprefix(f"{path}: ")
    if isinstance(wrong, RecursionError):
        reason = "it is nested too deeply"
    if "format" in reason and path.name.endswith(".json"):
        found = json.loads(bounded_read.read_bytes(path, bounded_read.RESULT)).get("version")
        known = VERSIONS.get(path.name, Results.api_version)
        return DeepbenchError(
            f"{path} has format version {found!r}, and asv reads {known}: {REMEDY}"
        )
    return DeepbenchError(f"{path} is not whole ({reason or type(wrong).__name__}): {REMEDY}")


VERSIONS = {"machine.json": Machine.api_version, "benchmarks.json": Benchmarks.api_version}
"""Format versions that asv reads, by file; all other files are results."""


def write_machine(path: Path, entry: dict[str, str]) -> None:
    """Write the machine.json of a results folder to `path`, whole or not at all."""
    with applied(atomic_asv_json.PATCHES):
        util.write_json(str(path), entry, Machine.api_version)


def write(path: Path, results: Results, save: Callable[[Results, str], None] | None = None) -> None:
    """Write a result to `path`, which need not be where asv would write it.

    save: asv's own method, where it is replaced.
    """
    with private_result_fields.named(results, path.name), applied(atomic_asv_json.PATCHES):
        (save or Results.save)(results, str(path.parent))
