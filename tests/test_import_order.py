"""Imports of the package point one way, by folder, and never in a circle."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import deepbench_ops

PACKAGE = Path(deepbench_ops.__file__).parent
NAME = PACKAGE.name

ORDER = (
    *(
        "errors",
        "damage_reports",
        "process_lifetime",
        "process_messages",
        "garbage_collector_pause",
    ),
    *("random_operands", "run_conditions"),
    *("statistics", "storage"),
    *("problems", "models", "backends", "measure", "distributed", "suite"),
    *("machine", "project", "releases", "asv_adapter", "new_project", "work_on_cores"),
    *("analysis", "exchange", "fleet", "pages", "commands", "cli"),
)
"""Folders and single modules: each may import those before it. Measured environments need those up
to the suite; projects come before releases, which lie in a project folder."""

ENTRY_POINTS = {f"{NAME}.asv_adapter.plugin"}
"""Modules that a program begins with, like cli.py, and that may import every folder."""

MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Yield the imports of a file, also inside of functions; of the package the modules."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: line {node.lineno} imports by a relative name"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else str(node.module) for name in names)


@cache
def imported_by_each() -> dict[str, list[str]]:
    """Imports of each module of the package."""
    return {module: list(imports(path, MODULES)) for module, path in MODULES.items()}


def folder(module: str) -> str:
    """Folder or single module directly below the package; "" for the package itself."""
    return [*module.split("."), ""][1]


def test_every_folder_has_its_place() -> None:
    """The order names each folder and module below the package, and no other."""
    assert set(ORDER) == {folder(module) for module in MODULES} - {""}
    assert len(set(ORDER)) == len(ORDER)


def test_imports_point_one_way() -> None:
    """A module imports its own folder and those before it."""
    places = {name: place for place, name in enumerate(("", *ORDER))}
    upward = [
        f"{module} imports {imported}"
        for module, found in imported_by_each().items()
        for imported in found
        if imported.partition(".")[0] == NAME and module not in ENTRY_POINTS
        if places[folder(imported)] > places[folder(module)]
    ]
    assert [] == upward


def test_no_modules_import_each_other() -> None:
    """There is an order in which every module comes after those that it imports."""
    graph = {
        module: {name for name in found if name in MODULES and name != module}
        for module, found in imported_by_each().items()
    }
    assert set(MODULES) == set(TopologicalSorter(graph).static_order())


def test_an_import_inside_a_function_is_read(tmp_path: Path) -> None:
    """Late imports count, and names are distinguished from modules."""
    path = tmp_path / "module.py"
    path.write_text("import one.two\ndef f():\n    from pack import mod, name\n")
    assert ["one.two", "pack.mod", "pack"] == list(imports(path, {"pack.mod": path}))
