"""The cost of a family: how many files it consists of."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from deepbench_ops.problems import MODERN_SETS
from deepbench_ops.problems.problem_lists import TYPES

ROOT = Path(__file__).resolve().parents[2]
MOST = 11
"""Files of a family: dataclass, list, rule of the list, operands, six backends, and tests."""

PLACES = (
    "deepbench_ops/problems/*",
    "deepbench_ops/suite/*.py",
    "deepbench_ops/backends/*/*.py",
    "deepbench_ops/distributed/collectives/*.py",
    "scripts/modern_table_sources/*.py",
    "tests/backends/test_*.py",
)
OF_TODAY = [name for name, kind in TYPES.items() if kind.listed_in == MODERN_SETS]


def family_of(path):
    """Return the family that a file is named after, "" for none."""
    named = [name for name in TYPES if re.fullmatch(rf"(test_)?{name}(_\w+)?", path.stem)]
    return max(named, key=len, default="")


def importers():
    """Return the files of the package that import each module, by its dotted name."""
    found = defaultdict(set)
    for path in (ROOT / "deepbench_ops").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names)):
                    found[name].add(path)
    return found


@cache
def files_by_family():
    """Return the files that belong to each family: by name, or since no other file imports them."""
    imported = importers()
    found = defaultdict(set)
    backends = set(ROOT.glob("deepbench_ops/backends/*/*.py"))
    for place in PLACES:
        for path in ROOT.glob(place):
            found[family_of(path)].add(path)
    for path in found.pop("") & backends:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        families = {family_of(each) for each in imported[name]}
        if len(families) == 1 and path.name not in ("__init__.py", "backend.py"):
            found[families.pop()].add(path)
    return found


@pytest.mark.parametrize("family", OF_TODAY)
def test_a_family_of_today_has_eleven_files_at_most(family):
    """A new one needs as many as the present ones."""
    assert [] == sorted(str(path.relative_to(ROOT)) for path in files_by_family()[family])[MOST:]
