"""asv is changed by the rows of one table, and nowhere else."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from asv.commands.publish import Publish

import deepbench_ops
from deepbench_ops.asv_adapter import __main__, patch_installation, plugin
from deepbench_ops.asv_adapter.patch_installation import Patch
from deepbench_ops.asv_adapter.patch_table import TABLE

PACKAGE = Path(deepbench_ops.__file__).parent


class Owner:
    """Stands for a class of asv."""

    def plain(self) -> str:
        return "asv's"

    @classmethod
    def of_class(cls) -> str:
        return f"asv's {cls.__name__}"

    @staticmethod
    def static() -> str:
        return "asv's"


def row(attribute: str, needed: bool = True) -> Patch:
    """A patch that puts a word before asv's output."""
    return Patch(
        Owner, attribute, lambda original: lambda *args: f"not {original(*args)}", "why", needed
    )


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [("plain", "asv's"), ("of_class", "asv's Owner"), ("static", "asv's")],
)
def test_a_patch_keeps_the_kind_of_method_and_ends_with_its_block(attribute, expected):
    """Class and static methods stay such, and the original comes back."""
    before = vars(Owner)[attribute]
    with patch_installation.applied([row(attribute)]):
        assert f"not {expected}" == getattr(Owner(), attribute)()
    assert before is vars(Owner)[attribute]


def test_a_row_is_in_force_once():
    """Applied again inside its block it changes nothing, and holds until the outer block ends."""
    one = row("plain")
    with patch_installation.applied([one]):
        with patch_installation.applied([one]):
            assert "not asv's" == Owner().plain()
        assert "not asv's" == Owner().plain()


def test_the_wrapper_of_publishing_is_put_on_once():
    """Installing twice leaves one wrapper, so the pages' data is written once."""
    plugin.install()
    before = Publish.run.__func__
    plugin.install()
    assert before is Publish.run.__func__


def test_plain_asv_leaves_out_speedups_alone(monkeypatch):
    """DEEPBENCH_PLAIN_ASV=1 keeps every row that results or pages need."""
    assert list(TABLE) == patch_installation.wanted(TABLE)
    monkeypatch.setenv(patch_installation.PLAIN_VARIABLE, "1")
    assert [one for one in TABLE if one.needed] == patch_installation.wanted(TABLE)


def test_the_table_can_be_printed():
    """A line for each row, with the replaced function and the reason."""
    command = [sys.executable, "-m", "deepbench_ops.asv_adapter"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    end = lines.index("")
    for one, line in zip(TABLE, lines[2:end], strict=True):
        assert [one.place, one.why] == [line.split("|")[1].strip(), line.split("|")[4].strip()]


def test_the_times_with_and_without_speedups_follow_the_table(capsys):
    """Those of the lab note of that day, each way in a row."""
    __main__.main()
    *rows, remark = capsys.readouterr().out.partition("\n\n")[2].splitlines()
    assert "without speed-ups: DEEPBENCH_PLAIN_ASV=1" in remark
    day = date.fromisoformat(re.search(r"\d{4}-\d\d-\d\d", remark)[0])
    text = (PACKAGE.parent / "docs/lab-notes/2026-11-23-publishing-speed.md").read_text("utf-8")
    measured = text[text.index(f"\n{day:%-d %B %Y}, ") :].partition("\n## ")[0]
    ways = [re.split(r"\s{2,}", row) for row in rows[2:]]
    assert {"plain asv", "without speed-ups", "all pages"} < {way for _, way, *_ in ways}
    for values, _, seconds, of_processors, *_, memory in ways:
        row = rf"\| {values} \| [^|]+ \| {seconds} \| {of_processors} \| [\d.]+ \| {memory} \|"
        assert re.search(row, measured), (values, seconds)


def test_nothing_but_the_table_assigns_to_asv():
    """No module sets an attribute of its imports from asv, but patch_installation.py."""
    found = {
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in PACKAGE.rglob("*.py")
        for line in assignments(ast.parse(path.read_text("utf-8")))
    }
    assert set() == found


def test_an_assignment_to_asv_is_found():
    """The search of the test above finds each way of setting an attribute."""
    text = """
from asv import results, util as u
from asv.results import Results as R
import asv.graph
R.load = 1
u.write_json: object = 2
asv.graph.Graph.save = 3
setattr(results, "load", 4)
R.known.update(a=5)
mine.load = 6
"""
    assert [5, 6, 7, 8] == sorted(assignments(ast.parse(text)))


def assignments(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that set an attribute of a name that is imported from asv."""
    names = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).partition(".")[0] == "asv"
    }
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [target for target in node.targets if isinstance(target, ast.Attribute)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target] if isinstance(node.target, ast.Attribute) else []
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr":
            targets = [node.args[0]]
        if any(root(target) in names for target in targets):
            yield node.lineno


def root(node: ast.expr) -> str:
    """Name at the beginning of an expression of attributes."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
