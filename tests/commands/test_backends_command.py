"""`deepbench backends`: a table of the kernels of frameworks, with reasons for gaps."""

import json

import pytest
from click.testing import CliRunner
from installed_frameworks import loaded

from deepbench_ops.cli import cli
from deepbench_ops.commands import progress_line
from deepbench_ops.errors import DeepbenchError


def printed(*arguments):
    return CliRunner().invoke(cli, ["backends", *arguments], catch_exceptions=False).output


def test_a_cell_is_yes_or_the_number_of_a_reason():
    """numpy has float32 products and no bfloat16, and the reason stands below."""
    lines = printed("--framework", "numpy", "--family", "gemm").splitlines()
    assert ["framework", "family", "operation", "float32", "tf32"] == lines[0].split()[:5]
    cells = lines[2].split()
    assert (["numpy", "gemm", "forward", "yes"], 8) == (cells[:4], len(cells))
    reasons = {line.split()[0]: line for line in lines[4:]}
    assert "numpy has no bfloat16 type" in reasons[cells[5]]


def test_backward_data_counts_although_a_first_layer_has_none():
    """An operation that one kind of problem refuses counts where another kind has it."""
    lines = printed("--framework", "numpy", "--family", "conv").splitlines()
    assert "yes" == next(line.split()[3] for line in lines if "backward_data" in line)


def test_a_framework_that_cannot_send_messages_says_so():
    """All-reduce is in the table of every framework, and its reason too."""
    loaded("onnxruntime")
    found = json.loads(
        printed("--framework", "onnxruntime", "--family", "all_reduce", "--format", "json")
    )
    assert ["onnxruntime has nothing to carry messages between processes on cpu"] == [
        row["reason"] for row in found
    ]


def test_the_step_is_shown_while_it_runs(monkeypatch):
    """All families of all frameworks take minutes; the line is gone before the table."""
    seen = []
    monkeypatch.setattr(progress_line, "show", seen.append)
    monkeypatch.setattr(progress_line, "clear", lambda: seen.append("cleared"))
    printed("--framework", "numpy", "--family", "gemm", "--family", "softmax")
    assert ("checking: numpy on cpu ...", "cleared") == (seen[0], seen[-1])


def test_an_unknown_name_is_refused():
    """With the nearest that exist."""
    with pytest.raises(DeepbenchError, match=r"unknown framework 'nump'.*numpy"):
        printed("--framework", "nump")
