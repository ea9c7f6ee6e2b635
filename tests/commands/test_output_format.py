"""The answer of a command as text, CSV or JSON."""

import json
import math

import pytest

from deepbench_ops.commands.output_format import as_csv, as_json, show

LINES = [{"kernel": "=SUM(A1)", "seconds": 0.5}, {"kernel": "gemm", "ranks": 2}]


@pytest.mark.parametrize(
    ("form", "expected"),
    [("csv", as_csv(LINES)), ("json", as_json(LINES) + "\n"), ("markdown", "| text |\n")],
)
def test_an_answer_is_printed_in_the_form_asked_for(capsys, form, expected):
    """Forms other than CSV and JSON are the text for a reader."""
    show(form, lambda: "| text |", lambda: LINES, lambda: LINES)
    assert expected == capsys.readouterr().out


def test_only_the_form_asked_for_is_made(capsys):
    """A table of all problems takes longer than its JSON."""
    show("json", lambda: pytest.fail("text"), lambda: [], lambda: pytest.fail("lines"))
    assert [] == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("names", "line"), [(["a-1", "b-2"], "a-1 b-2\n"), ([], "")])
def test_names_are_one_line_for_a_shell(capsys, names, line):
    """No names are no line."""
    show("names", lambda: pytest.fail("text"), list, names=lambda: names)
    assert line == capsys.readouterr().out


def test_csv_has_a_column_for_every_name_and_no_formula():
    """Lines may lack names; a spreadsheet program computes no text."""
    assert "kernel,seconds,ranks\n'=SUM(A1),0.5,\ngemm,,2\n" == as_csv(LINES)


def test_json_is_strict():
    """Numbers that JSON lacks are null, at any depth."""
    value = {"ratio": math.nan, "bounds": (math.inf, 1.5), "more": [{"low": -math.inf}]}
    expected = {"ratio": None, "bounds": [None, 1.5], "more": [{"low": None}]}
    assert expected == json.loads(as_json(value))
