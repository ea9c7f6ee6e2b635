"""Files are read in formats that cannot run code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import deepbench_ops

PACKAGE = Path(deepbench_ops.__file__).parent
SOURCES = sorted(
    path
    for folder in (PACKAGE, PACKAGE.parent / "asv_bench_deepbench", PACKAGE.parent / "scripts")
    for path in folder.rglob("*.py")
)
UNSAFE = {
    "pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib",
    "jsonpickle", "diskcache", "pandas",
}  # fmt: skip
"""Modules that run code from a file when they read it, or read such files without being asked."""


def unsafe(source: str) -> Iterator[str]:
    """Yield each import of an unsafe module and each loading of pickles by numpy or torch."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (n.name for n in names if n.name.partition(".")[0] in UNSAFE)
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in UNSAFE:
                yield module
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="load")):
                yield "torch.load"
            case ast.keyword(arg="allow_pickle", value=ast.Constant(value=True)):
                yield "allow_pickle"


def test_nothing_is_read_by_pickle_or_marshal():
    """A file of results, a cache or a submission could hold any program."""
    assert len(SOURCES) > 200
    found = {path.name: list(unsafe(path.read_text("utf-8"))) for path in SOURCES}
    assert {} == {name: uses for name, uses in found.items() if uses}


def test_each_way_of_reading_pickles_is_noticed():
    """The search itself is no empty one."""
    source = """
import marshal, pickle
from joblib import load
import torch, numpy
torch.load("weights")
numpy.load("array", allow_pickle=True)
"""
    expected = ["marshal", "pickle", "joblib", "torch.load", "allow_pickle"]
    assert sorted(expected) == sorted(unsafe(source))
