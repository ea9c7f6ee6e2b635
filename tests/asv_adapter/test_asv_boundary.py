"""asv's insides are known in one folder, and the private fields of its results in one module.

The whole repository is searched. asv documents its command line, its configuration and the types
of benchmarks that asv_runner collects, so asv_runner may be imported anywhere.
"""

import ast
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import asv
import pytest
from asv.results import Results

ROOT = Path(__file__).resolve().parents[2]
ADAPTER = ROOT / "deepbench_ops" / "asv_adapter"
FIELDS_MODULE = ADAPTER / "private_result_fields.py"
ITS_TESTS = ROOT / "tests" / "asv_adapter"
OTHER_FIELDS = {
    ROOT / "deepbench_ops" / "models" / "mindspore" / "layers.py": "a cell of MindSpore has _params"
}
"""Modules that read a field of the same name of something else, each with its reason."""

FOLDERS = ("asv_bench_deepbench", "bench", "benchmarks", "deepbench_ops", "scripts", "tests")
CODE = sorted(
    [*ROOT.glob("*.py"), *(path for each in FOLDERS for path in ROOT.glob(f"{each}/**/*.py"))]
)

FIELDS = {name for name in vars(Results({"machine": ""}, {}, "", 0, "", "", {})) if name[0] == "_"}
MODULES = "|".join(module.name for module in pkgutil.iter_modules(asv.__path__))
IMPORT = re.compile(r"^\s*(?:from\s+(asv(?:\.\w+)*)\s+import|import\s+(asv(?:\.\w+)*))\b", re.M)
DOTTED = re.compile(rf"asv(?:\.(?:{MODULES})(?:\.\w+)*)")


def imported(tree: ast.Module) -> Iterator[str]:
    """Names of asv's modules that a module imports: in functions, by name, and in code as text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if of_asv(each.name))
        elif isinstance(node, ast.ImportFrom) and not node.level and of_asv(str(node.module)):
            yield str(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (one or other for one, other in IMPORT.findall(node.value))
            if DOTTED.fullmatch(node.value):
                yield node.value


def of_asv(module: str) -> bool:
    return module.partition(".")[0] == "asv"


def private(tree: ast.Module) -> Iterator[str]:
    """Names of the private fields of asv's results that a module reads or sets."""
    for node in ast.walk(tree):
        own = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
        if isinstance(node, ast.Attribute) and node.attr in FIELDS and not own:
            yield node.attr
        elif isinstance(node, ast.Constant) and node.value in FIELDS:
            yield str(node.value)


def code(words: re.Pattern[str], *but: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Every module of the repository that has one of the words, but for these files and folders."""
    for path in CODE:
        text = path.read_text("utf-8")
        if not {path, *path.parents} & set(but) and words.search(text):
            yield path.relative_to(ROOT), ast.parse(text)


def test_all_code_of_the_repository_is_searched() -> None:
    """No other folder holds Python, but for environments and files that commands write."""
    made = {"html", "results", "artifacts", "build", "node_modules"}
    other = {each.name for each in ROOT.iterdir() if each.is_dir() and each.name[0] != "."}
    found = {name for name in other - {*FOLDERS, *made} if any(ROOT.glob(f"{name}/**/*.py"))}
    assert set() == found
    assert all(any(ROOT.glob(f"{name}/**/*.py")) for name in FOLDERS)


def test_only_the_adapter_imports_asv() -> None:
    """Every other module works through it; its own tests compare it with asv."""
    found = {
        f"{path} imports {name}"
        for path, tree in code(re.compile(r"\basv\b"), ADAPTER, ITS_TESTS)
        for name in imported(tree)
    }
    assert set() == found


def test_one_module_reads_the_private_fields_of_results() -> None:
    """The tests of the adapter look into results too, and OTHER_FIELDS are of other things."""
    words = re.compile("|".join(FIELDS))
    found = {
        f"{path} has {name}"
        for path, tree in code(words, FIELDS_MODULE, ITS_TESTS, *OTHER_FIELDS)
        for name in private(tree)
    }
    assert set() == found
    assert {*private(ast.parse(FIELDS_MODULE.read_text("utf-8")))}
    assert all({*private(ast.parse(path.read_text("utf-8")))} for path in OTHER_FIELDS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import asv", "asv"),
        ("def f():\n    from asv.config import Config", "asv.config"),
        ("import numpy, asv.util as u", "asv.util"),
        ("SCRIPT = '''\nimport os\nfrom asv import runner\n'''", "asv"),
        ("patch('asv.console.log.error')", "asv.console.log.error"),
        ("import_module('asv.results')", "asv.results"),
        ("from asv_runner.benchmarks.time import TimeBenchmark; 'asv.conf.json'", None),
        ("from .asv import x; from deepbench_ops.asv_adapter import asv_api", None),
        ("'import asv_runner'; 'deepbench config, then asv run'", None),
    ],
)
def test_an_import_of_asv_is_found(text: str, expected: str | None) -> None:
    """In any form; asv_runner, and files and commands with asv's name, are none."""
    assert [expected] * (expected is not None) == [*imported(ast.parse(text))]


def test_a_private_field_is_found() -> None:
    """As an attribute of anything but self, and by its name."""
    text = "a._results['x']; self._params; getattr(b, '_samples'); c._filename = ''; d.results"
    assert {"_results", "_samples", "_filename"} == set(private(ast.parse(text)))
