"""Tables fit the terminal: titles wrapped, then text, then columns left out and named."""

import pytest
from command import Terminal, deepbench
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("click", reason="the command needs the `track` extra")
pytest.importorskip("asv", reason="results are read by asv")

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.terminal_tables import Column, Layout

MACHINE = "epyc-7003-2core"
NARROW = [
    ("problems",),
    ("problems", "--family", "model"),
    ("verdict", "--machine", MACHINE),
    pytest.param(("verdict", "--all-machines"), marks=pytest.mark.slow),
    ("frameworks", "--machine", MACHINE),
    ("fastest",),
    ("fastest", "--history"),
    ("compare", f"{MACHINE}@torch", f"{MACHINE}@numpy"),
    ("table", "stcp920", "--machine", MACHINE),
    ("table", "qingcloud"),
    ("release", "list"),
    ("time", "m35_n700_k2048_NN", "--processes", "1"),
    ("allreduce", "--ranks", "2", "--elements", "1000", "--repeats", "3"),
    ("check", "--framework", "numpy", "--family", "gemm"),
    ("backends", "--framework", "numpy", "--family", "gemm"),
]


@pytest.mark.parametrize("arguments", NARROW, ids=" ".join)
@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.slow)])
def test_no_line_is_longer_than_the_terminal(arguments, columns):
    _, out, _ = deepbench(*arguments, columns=columns)
    assert out
    assert [] == [line for line in out.splitlines() if len(line) > columns]


def test_what_is_left_out_is_named_and_shown_when_asked_for():
    """--wide has all columns, and so has output that is no terminal."""
    narrow = deepbench("problems", "--family", "gemm", columns=80)[1]
    assert "(not shown: m, n, k, a_transposed, b_transposed," in narrow
    assert "--wide shows all" in narrow
    wide = deepbench("problems", "--family", "gemm", "--wide", columns=80)[1]
    assert "a_transposed" in wide.splitlines()[2]
    assert wide == deepbench("problems", "--family", "gemm")[1]


def test_titles_are_wrapped_before_columns_are_left_out(monkeypatch):
    monkeypatch.setattr(terminal_tables, "terminal_width", lambda: 18)
    columns = [Column("kernel"), Column("other / first", right=True, drop=1)]
    wanted = [
        "           other /",
        "kernel       first",
        "------  ----------",
        "a                1",
    ]
    assert wanted == terminal_tables.table(columns, [["a", 1]]).splitlines()


def test_the_highest_is_left_out_first():
    columns = [Column("a"), Column("b", drop=1), Column("c", drop=3), Column("d", drop=2)]
    assert ["c"] == Layout(columns, [10] * 4, 34).left_out
    assert ["c", "d"] == Layout(columns, [10] * 4, 30).left_out
    assert ["b", "c", "d"] == Layout(columns, [10] * 4, 10).left_out


def test_ids_are_broken_behind_their_parts(monkeypatch):
    monkeypatch.setattr(terminal_tables, "terminal_width", lambda: 12)
    shown = terminal_tables.table([Column("id", wrap=6)], [["m1760_n128_k1760_NN"]])
    assert ["m1760_n128_", "k1760_NN"] == shown.splitlines()[2:]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=6),
    st.data(),
)
def test_every_word_of_what_is_shown_is_there(drawn, data):
    """Wrapping loses nothing, and lines stay within the terminal where columns may be broken."""
    text = st.text("ab_ -", max_size=30)
    rows = data.draw(st.lists(st.tuples(*[text] * len(drawn)), max_size=4))
    columns = [Column(f"t{i}", drop=d, wrap=w) for i, (d, w) in enumerate(drawn)]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(len(columns))]
    limit = data.draw(st.integers(len(columns) * (terminal_tables.NARROWEST + 2), 100))
    layout = Layout(columns, widths, limit)
    for row in rows:
        shown = layout.line(row)
        assert max(map(len, shown.splitlines()), default=0) <= limit
        wanted = "".join(row[place] for place in layout.shown)
        assert sorted("".join(wanted.split())) == sorted("".join(shown.split()))


def test_markdown_is_whole(monkeypatch):
    monkeypatch.setattr(terminal_tables, "terminal_width", lambda: 10)
    shown = terminal_tables.table([Column("a long title", drop=1)], [["x" * 40]], markdown=True)
    assert "a long title" in shown
    assert "x" * 40 in shown


def test_the_width_is_the_terminals(monkeypatch):
    """COLUMNS comes before the terminal's own width; a pipe has no width."""
    monkeypatch.setenv("COLUMNS", "93")
    assert terminal_tables.terminal_width() is None
    monkeypatch.setattr("sys.stdout", Terminal())
    assert 93 == terminal_tables.terminal_width()
