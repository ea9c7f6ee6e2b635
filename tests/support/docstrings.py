"""The docstrings of the package: where they are missing, and which use words that make them hard
to read."""

import ast
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
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


def commented() -> list[Path]:
    """Return other files with comments: scripts, tests, pages, and those in the root."""
    pages = (PACKAGE / "pages").rglob("*.*")
    own = [path for path in pages if path.suffix in (".js", ".css", ".html")]
    root = [ROOT / name for name in ("Makefile", "setup.py", "pyproject.toml", "asv.conf.json")]
    return [
        *scripts(),
        *tests(),
        *sorted(path for path in own if "vendor" not in path.parts),
        *root,
    ]


def tables() -> list[Path]:
    """Return the package's CSV files."""
    return sorted(PACKAGE.rglob("*.csv"))


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


def unclear_names(module: Path) -> list[str]:
    """Return "line name" of each function, argument and variable with a word to avoid in its
    name."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Name(id=str(name), ctx=ast.Store()) | ast.arg(arg=str(name)):
                found.add((node.lineno, name))
            case ast.FunctionDef(name=str(name)) | ast.ClassDef(name=str(name)):
                found.add((node.lineno, name))
            case ast.Attribute(attr=str(name), ctx=ast.Store()):
                found.add((node.lineno, name))
    return [
        f"{line} {name}"
        for line, name in sorted(found)
        if plain_words.NAMES & {*name.lower().split("_")}
    ]


RAISED = ("DeepbenchError", "NoAnswer", "Unsupported", "BeyondLimits")


def unnamed_errors(module: Path) -> list[str]:
    """Return "line function error" of each error of ours that a public function itself raises and
    its docstring does not name.

    Commands are left out: their docstrings are help texts, and every error of theirs is one line.
    """
    return [
        f"{each.lineno} {each.name} {error}"
        for parent in ast.walk(ast.parse(module.read_text()))
        if isinstance(parent, ast.Module | ast.ClassDef)
        and not getattr(parent, "name", "").startswith("_")
        for each in parent.body
        if isinstance(each, ast.FunctionDef)
        and not each.name.startswith(("_", *HOOKS))
        and not any("command" in ast.unparse(mark) for mark in each.decorator_list)
        for error in sorted(_raised(each))
        if error not in (ast.get_docstring(each) or "")
    ]


def _raised(function: ast.FunctionDef) -> set[str]:
    """Return the names of errors in the statements of a function, without those inside it."""
    found, left = set(), list[ast.AST](function.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            found.add(ast.unparse(node.exc.func).rpartition(".")[2])
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            left += ast.iter_child_nodes(node)
    return found & {*RAISED}


def unclear(module: Path) -> list[str]:
    """Return "line words" of each docstring with a word to avoid, those of constants included."""
    return _unclear(_texts(ast.parse(module.read_text())))


def unclear_messages(module: Path) -> list[str]:
    """Return "line words" of each other text with a word to avoid; a single word is a key."""
    tree = ast.parse(module.read_text())
    known = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in known
        and " " in node.value
        and not any(note in node.value for note in plain_words.RECORDED)
    )
    return _unclear(texts)


def unclear_comments(path: Path) -> list[str]:
    """Return "line words" of each block of comments with a word to avoid: Python's with "#", those
    of pages with "/* */", "//" and "<!-- -->"."""
    find = plain_words.nameless if ROOT / "tests" in path.parents else plain_words.plain
    return _unclear(_joined(_comments(path)), find)


def unclear_cells(table: Path) -> list[str]:
    """Return "line words" of each row of a CSV file with a word to avoid."""
    return _unclear(enumerate(table.read_text(encoding="utf-8").splitlines(), 1))


COMMENT = re.compile(r"/\*.*?\*/|<!--.*?-->|(?<![:\"'/\w])//[^\n]*", re.DOTALL)


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every comment of a file."""
    if path.suffix == ".py":
        with tokenize.open(path) as file:
            for token in tokenize.generate_tokens(file.readline):
                if token.type == tokenize.COMMENT:
                    yield token.start[0], token.string.lstrip("#! ")
    elif path.suffix in (".js", ".css", ".html", ".json"):
        text = path.read_text(encoding="utf-8")
        for match in COMMENT.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0].strip("/*<!->\n ")
    else:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("#") and not line.startswith("#!"):
                yield number, line.lstrip().lstrip("# ")


def _joined(comments: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield comments on lines that follow each other as one text."""
    first, last, text = 0, -1, ""
    for number, comment in comments:
        if number != last + 1 and text:
            yield first, text
            text = ""
        first = first if text else number
        text, last = f"{text}\n{comment}".strip(), number + comment.count("\n")
    if text:
        yield first, text


def _unclear(
    texts: Iterable[tuple[int, str]], find: Callable[[str], list[str]] = plain_words.plain
) -> list[str]:
    found = ((line, find(text)) for line, text in texts)
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
