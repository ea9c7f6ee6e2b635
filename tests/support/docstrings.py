"""The docstrings of the package: where they are missing, and which use words that make them hard
to read."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import plain_words

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "deepbench_ops"

HOOKS = ("kernel_", "setup", "teardown")

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> list[Path]:
    """Return the files of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def scripts() -> list[Path]:
    """Return the files of `scripts/` and `bench/`."""
    return sorted(path for name in ("scripts", "bench") for path in (ROOT / name).rglob("*.py"))


def tests() -> list[Path]:
    """Return the files of `tests/`, but the one whose examples have the words."""
    found = (ROOT / "tests").rglob("*.py")
    return sorted(path for path in found if path.name != "test_docstrings.py")


def folder_of(module: Path) -> str:
    """Return the folder of the package that a module lies in; "" for the package itself."""
    return module.relative_to(PACKAGE).parts[0] if module.parent != PACKAGE else ""


def missing(module: Path) -> list[str]:
    """Return "line name" of each public class, function and method without a docstring.

    Methods of derived classes are left out, since the base class may document them, and asv's hooks
    in the suite, which their class documents.
    """
    found: list[Definition] = []
    for parent in ast.walk(ast.parse(module.read_text())):
        if isinstance(parent, ast.Module) or (isinstance(parent, ast.ClassDef) and _plain(parent)):
            found += [each for each in parent.body if isinstance(each, Definition)]
    return [
        f"{each.lineno} {each.name}"
        for each in found
        if not each.name.startswith(("_", *HOOKS)) and ast.get_docstring(each) is None
    ]


def _plain(definition: ast.ClassDef) -> bool:
    """Return whether a class is derived from none, or is a protocol or a tuple."""
    bases = {base.id for base in definition.bases if isinstance(base, ast.Name)}
    return not definition.bases or bool(bases & {"Protocol", "NamedTuple", "ABC"})


def unclear(module: Path) -> list[str]:
    """Return "line words" of each docstring with a word to avoid, those of constants included."""
    return _unclear(_texts(ast.parse(module.read_text())))


def unclear_messages(module: Path) -> list[str]:
    """Return "line words" of each other text with a word to avoid; a single word is a key."""
    tree = ast.parse(module.read_text())
    known = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return _unclear(
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in known
        and " " in node.value
        and not any(note in node.value for note in plain_words.RECORDED)
    )


def _unclear(texts: Iterable[tuple[int, str]]) -> list[str]:
    found = ((line, plain_words.unclear(text)) for line, text in texts)
    return [f"{line} {', '.join(words)}" for line, words in found if words]


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string that stands alone as a statement: docstrings."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value
