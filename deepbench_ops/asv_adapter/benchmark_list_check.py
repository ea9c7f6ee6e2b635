"""Check of results/benchmarks.json, asv's list of the suite.

asv's scripts write names from it into HTML without escaping, and its Python code does not check
its structure.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asv.benchmarks import Benchmarks
from asv.util import load_json

from deepbench_ops.asv_adapter import result_files
from deepbench_ops.asv_adapter.result_checks import is_list_of_texts
from deepbench_ops.storage import bounded_read

FILE = "benchmarks.json"

NAME = re.compile(r"[\w.\-]+")
"""Of a benchmark: it is part of addresses and of file names."""

MARKUP = re.compile(r"[<>&\"'`]")
AS_TEXT = ("code", "name")
"""Fields that pages show as text (`assets/asv_pages.js`), or that `NAME` has checked."""


def demand_whole(path: Path) -> None:
    """Raise DeepbenchError for a list that asv cannot read."""
    try:
        bounded_read.demand_smaller(path, bounded_read.RESULT)
        found = load_json(str(path), Benchmarks.api_version)
        for name, benchmark in found.items():
            if name != "version":
                _check(name, benchmark)
    except result_files.DAMAGE as wrong:
        raise result_files.damaged(path, wrong) from None


def _check(name: str, benchmark: Any) -> None:
    """Raise ValueError for an entry that is no benchmark."""
    if not isinstance(benchmark, dict) or benchmark.get("name") != name:
        raise ValueError(f"{name!r} is no benchmark")
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a benchmark")
    for field in ("code", "type", "unit", "version", "pretty_name"):
        text = benchmark.get(field, "" if field == "pretty_name" else None)
        if not isinstance(text, str | None if field == "pretty_name" else str):
            raise ValueError(f"{name} has the {field} {text!r}")
    names, axes = benchmark.get("param_names") or [], benchmark.get("params") or []
    if not (is_list_of_texts(axes) and is_list_of_texts([names] if names else [])):
        raise ValueError(f"{name} has parameters that are no texts")
    if len(names) != len(axes):
        raise ValueError(f"{name} has {len(axes)} parameters and {len(names)} names")


def without_markup(benchmark: Mapping[str, Any]) -> dict[str, Any]:
    """Return a benchmark with a question mark for each character of HTML's markup.

    Its code and the values of its parameters keep theirs: pages show them as text.
    """
    return {
        field: MARKUP.sub("?", value)
        if isinstance(value, str) and field not in AS_TEXT
        else [MARKUP.sub("?", name) for name in value]
        if field == "param_names"
        else value
        for field, value in benchmark.items()
    }
