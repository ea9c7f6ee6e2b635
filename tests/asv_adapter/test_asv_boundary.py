"""asv's insides are known in one folder, and the private fields of its results in one module."""

import ast
from collections.abc import Iterator
from pathlib import Path

from asv.results import Results

import deepbench_ops

PACKAGE = Path(deepbench_ops.__file__).parent
ADAPTER = PACKAGE / "asv_adapter"
NETWORKS = PACKAGE / "models"
FIELDS = {name for name in vars(Results({"machine": ""}, {}, "", 0, "", "", {})) if name[0] == "_"}


def imported(tree: ast.Module) -> set[str]:
    """Names of the modules that a module imports, inside of functions as well."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


def private(tree: ast.Module) -> Iterator[str]:
    """Names of the private fields of asv's results that a module reads or sets."""
    for node in ast.walk(tree):
        own = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
        if isinstance(node, ast.Attribute) and node.attr in FIELDS and not own:
            yield node.attr
        elif isinstance(node, ast.Constant) and node.value in FIELDS:
            yield str(node.value)


def test_only_the_adapter_imports_asv() -> None:
    """Every other folder works through it, and measured code needs asv_runner alone."""
    found = {
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in PACKAGE.rglob("*.py")
        for name in imported(ast.parse(path.read_text("utf-8")))
        if name.partition(".")[0] == "asv" and ADAPTER not in path.parents
    }
    assert set() == found


def test_one_module_reads_the_private_fields_of_results() -> None:
    """private_result_fields.py does; else only the networks do, which hold cells of MindSpore."""
    found = {
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if NETWORKS not in path.parents and [*private(ast.parse(path.read_text("utf-8")))]
    }
    assert {Path("asv_adapter", "private_result_fields.py")} == found


def test_a_private_field_is_found() -> None:
    """As an attribute of anything but self, and by its name."""
    text = "a._results['x']; self._params; getattr(b, '_samples'); c._filename = ''; d.results"
    assert {"_results", "_samples", "_filename"} == set(private(ast.parse(text)))
