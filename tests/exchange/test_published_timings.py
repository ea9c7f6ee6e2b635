"""Workbooks are read by their headers: every time arrives with its problem, pass and precision."""

import re
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
import workbooks
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.published import problem_matching
from deepbench_ops.exchange.workbooks import workbook_timings, xlsx_reader
from deepbench_ops.problems import load
from deepbench_ops.problems.rnn import Rnn

A_GEMM = (1760, 16, 1760, "N", "N")
A_CONV = (700, 161, 1, 4, 32, 5, 20, 0, 0, 2, 2)
A_LAYER = (512, 16, 25)
SAID = {
    "Float": ("float32",) * 4,
    "16 bit inputs, 16 bit multiplication, 32 bit addition": ("float16",) * 4,
    "16 bit inputs, 32 bit multiplication, 32 bit addition": ("float16",) * 4,
    "32 bit inputs, 16 bit multiplication, 32 bit addition": ("float32_mixed",) * 4,
    "GEMM, Conv: Int8 multiplication, 32 bit accumulation": ("int8", "int8", "float32", "float32"),
    "Int8 inputs 32 bit math": ("int8",) * 4,
    "Int8 inputs 32 bit math Convolution results are still in float, since int8 isn't supported": (
        *("int8", "float32", "int8", "int8"),
    ),
    "Int8 multiplication, 32 bit accumulation": ("int8",) * 4,
}


def read(path):
    return workbook_timings.read(xlsx_reader.read(path))


def facts(found):
    return {(t.problem.id, t.operation, t.precision, t.ranks): t.seconds for t in found}


def test_every_family_and_pass_is_read(tmp_path):
    """Times of five families, in seconds to the last digit that was published."""
    path = workbooks.write(
        tmp_path / "a.xlsx",
        workbooks.gemm((*A_GEMM, 0.057)),
        workbooks.conv((*A_CONV, 1.07, "N/A*", 0.996)),
        workbooks.rnn((*A_LAYER, 1.2, 1.4)),
        workbooks.sparse((7680, 1, 2560, "N", "N", 0.95, 0.034, 0.223)),
        workbooks.all_reduce((100000, 2, 0.09)),
    )
    found, unread = read(path)
    conv, layer = "w700_h161_c1_n4_k32_r5_s20_pad0_0_stride2_2", "lstm_h512_n16_t25"
    product = "m7680_n1_k2560_NN_sparsity0.95"
    assert facts(found) == {
        ("m1760_n16_k1760_NN", "forward", "float32", None): 5.7e-05,
        (conv, "forward", "float32", None): 0.00107,
        (conv, "backward_weights", "float32", None): 0.000996,
        (layer, "forward", "float32", None): 0.0012,
        (layer, "backward_data", "float32", None): 0.0014,
        (product, "forward", "float32", None): 3.4e-05,
        (product, "dense_forward", "float32", None): 0.000223,
        ("n100000", "sum", "float32", 2): 9e-05,
    }
    assert [(str(cell.place), cell.text) for cell in unread] == [
        ("sheet 'Results FP32', cell O8", "N/A*")
    ]


def test_split_backward_passes_have_their_own_names(tmp_path):
    """Sheets from 2018 on time the weights' gradients apart; the older column has none of them."""
    headers = (
        "Time Forward (msec)",
        "Time Backward wrt Inputs (msec)",
        "Time Backward wrt Weights (msec)",
    )
    path = workbooks.write(tmp_path / "a.xlsx", workbooks.rnn((*A_LAYER, 3, 2, 1), headers=headers))
    assert {t.operation: t.seconds for t in read(path)[0]} == {
        "forward": 0.003,
        "backward_data": 0.002,
        "backward_weights": 0.001,
    }


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_order_of_columns_does_not_matter(tmp_path_factory, data):
    """Whatever order a revision gives its columns, the same problem has the same times."""
    problem = data.draw(st.sampled_from(load("conv", "training")))
    sizes = {
        "W": problem.w,
        "H": problem.h,
        "C": problem.c,
        "N": problem.n,
        "K": problem.k,
        data.draw(st.sampled_from(["R", "R (Filter height)", "R (filter width)"])): problem.r,
        data.draw(st.sampled_from(["S", "S (Fitler width)"])): problem.s,
        "pad_w": problem.pad_w,
        "pad_h": problem.pad_h,
        data.draw(st.sampled_from(["Vertical stride", "Vertical Stride"])): problem.stride_h,
        "Horizontal Stride": problem.stride_w,
        "Forward (msec)": 1.5,
        "wrt Inputs (msec)": 2.5,
        "wrt Parameters (msec)": 3.5,
    }
    columns = data.draw(st.permutations(list(sizes)))
    section = [["Convolution"], [None, *columns], [None, *(sizes[name] for name in columns)]]
    path = tmp_path_factory.mktemp("order") / "a.xlsx"
    found, unread = read(workbooks.write(path, section))
    assert not unread
    assert {(t.problem, t.operation): t.seconds for t in found} == {
        (found[0].problem, "forward"): 0.0015,
        (found[0].problem, "backward_data"): 0.0025,
        (found[0].problem, "backward_weights"): 0.0035,
    }
    assert problem_matching.listed_problem(found[0].problem) is problem


@pytest.mark.parametrize(("words", "expected"), SAID.items(), ids=str)
def test_the_precision_is_what_the_sheet_says(tmp_path, words, expected):
    """One line above the first table says it for each family."""
    path = workbooks.write(
        tmp_path / "a.xlsx",
        workbooks.gemm((*A_GEMM, 1)),
        workbooks.conv((*A_CONV, 1)),
        workbooks.rnn((*A_LAYER, 1)),
        workbooks.sparse((7680, 1, 2560, "N", "N", 0.95, 1)),
        precision=words,
    )
    assert expected == tuple(t.precision for t in read(path)[0])


def test_a_sheet_called_fp16_holds_float16(tmp_path):
    """One was made from the float32 sheet's template, whose words it kept."""
    path = workbooks.write(tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, 1)), sheet="FP16")
    assert ["float16"] == [t.precision for t in read(path)[0]]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [(None, "is empty"), ("N/A*", "says that"), ("Not Supported", "says"), ("#VALUE!", "says")],
)
def test_a_cell_without_a_time_is_listed(tmp_path, cell, reason):
    """It is counted with its place and its text, next to the times of the same table."""
    path = workbooks.write(
        tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, cell, 0.1), (*A_GEMM[:1], 32, *A_GEMM[2:], 2))
    )
    found, unread = read(path)
    assert [0.002] == [t.seconds for t in found]
    assert [("I", 4)] == [(u.place.column, u.place.row) for u in unread]
    assert reason in unread[0].reason


def test_a_time_without_its_sizes_is_listed(tmp_path):
    """A number in a column of times whose row names no kernel is no time of anything."""
    row = [None] * 8 + [19.566]
    path = workbooks.write(tmp_path / "a.xlsx", [*workbooks.gemm((*A_GEMM, 1)), row])
    found, unread = read(path)
    assert 1 == len(found)
    assert ["its row lacks all sizes"] == [u.reason for u in unread]


def reasons(found):
    return [(str(cell.place), cell.reason) for cell in found]


def test_a_column_of_times_of_no_known_pass_is_listed(tmp_path):
    """Its header once, and a second column of one pass as well; totals are no times of a kernel."""
    headers = ("Time (msec)", "Warm Time (usec)", "Time (msec)", "Total Time (msec)")
    found, unread = read(
        workbooks.write(tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, 1, 2, 3, 4), headers=headers))
    )
    assert [0.001] == [t.seconds for t in found]
    assert [("J3", "names no known pass"), ("K3", "names no known pass")] == [
        (place.split()[-1], reason) for place, reason in reasons(unread)
    ]


def test_what_stands_outside_of_tables_is_listed(tmp_path):
    """Each row of numbers above the first title, and a sheet without a table next to a good one."""
    untitled = [["Fully Connected", "M", "Time (msec)"], [None, 5, 1], [None, 6, 2]]
    path = workbooks.write(
        tmp_path / "a.xlsx",
        untitled,
        workbooks.gemm((*A_GEMM, 1)),
        more=[("More", None, [[[None, "Clock", "MHz"], [None, None, 1410], ["by", "us"]]])],
    )
    found, unread = read(path)
    assert 1 == len(found)
    assert [
        ("sheet 'Results FP32', cell C3", "stands above all tables"),
        ("sheet 'Results FP32', cell B4", "stands above all tables"),
        ("sheet 'Results FP32', cell B5", "stands above all tables"),
        ("sheet 'More', cell B1", "begins a sheet without a table"),
        ("sheet 'More', cell C2", "stands in a sheet without a table"),
    ] == reasons(unread)


def test_rows_of_numbers_without_a_table_are_refused(tmp_path):
    """A sheet that lost its titles and headers, next to a good one: its first number is named."""
    path = workbooks.write(
        tmp_path / "a.xlsx",
        workbooks.gemm((*A_GEMM, 1)),
        more=[("More", None, [[["ours"], [None, None, 1760, 16, 1760, "N", "N", None, 0.05]]])],
    )
    with pytest.raises(DeepbenchError, match="sheet 'More', cell C2: a row of numbers in a sheet"):
        read(path)


def gemms(*times):
    """A table of products, one for each time, "" for a row without any product or time."""
    rows = [(1760, 16 * 2**i, 1760, "N", "N", time) for i, time in enumerate(times)]
    return workbooks.gemm(*((None,) * 5 + row[5:] if row[5] in ("", 9) else row for row in rows))


@pytest.mark.parametrize(
    ("times", "in_step"),
    [
        ((1, 2, 9, 4, 5, None), [True, True, False, False]),
        ((1, 9, 2, 9, 3, None, None), [True, False, False]),
        ((1, 2, "", 4, 5, None), [True] * 4),
        ((1, 2, 9, 4, 5, 6), [True] * 5),
        ((1, 2, 9, 4, 5, "N/A*"), [True] * 4),
        ((1, 2, 9, 4, None, None), [True] * 3),
        ((1, 2, 3, None, 9), [True] * 3),
    ],
    ids=str,
)
def test_a_column_pasted_out_of_step_is_found(tmp_path, times, in_step):
    """Its times stand in rows without sizes (9), and as many kernels at the end have none."""
    path = workbooks.write(tmp_path / "a.xlsx", gemms(*times))
    assert in_step == [t.in_step for t in read(path)[0]]


def test_stale_flops_are_found(tmp_path):
    """FLOPS that do not fit the time next to them are reported; the time counts."""
    right = 2 * 1760 * 16 * 1760 / 5.7e-05 / 1e12
    path = workbooks.write(
        tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, 0.057, right), (*A_GEMM, 0.057, 2 * right))
    )
    assert [True, False] == [t.agrees for t in read(path)[0]]


@pytest.mark.parametrize(
    ("unit", "seconds"), [("sec", 1.5), ("msec", 0.0015), ("usec", 1.5e-06)], ids=str
)
def test_the_unit_is_the_headers(tmp_path, unit, seconds):
    """Times may be in seconds, milliseconds or microseconds."""
    path = workbooks.write(
        tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, 1.5), headers=(f"Time ({unit})",))
    )
    assert [seconds] == [t.seconds for t in read(path)[0]]


CONV = workbooks.conv((*A_CONV, 1.07))
ELSEWHERE = "I4 refers to something outside of the workbook"
BAD = {
    "a negative time": (workbooks.gemm((*A_GEMM, -1)), "I4: a time is '-1'"),
    "no time at all": (workbooks.gemm((*A_GEMM, 0)), "I4: a time is '0'"),
    "a time in words": (workbooks.gemm((*A_GEMM, "fast")), "I4: a time is 'fast'"),
    "a time as programmers write it": (workbooks.gemm((*A_GEMM, "1_000")), "I4: a time is '1_000'"),
    "a time in other digits": (workbooks.gemm((*A_GEMM, "\u0661\u0662")), "I4: a time is"),
    "a size as programmers write it": (
        workbooks.gemm(("1_760", *A_GEMM[1:], 1)),
        "C4: m is '1_760'",
    ),
    "half a size": (workbooks.gemm((1760.5, *A_GEMM[1:], 1)), "C4: m is '1760.5'"),
    "a size in words": (workbooks.gemm(("big", *A_GEMM[1:], 1)), "C4: m is 'big'"),
    "no size": (workbooks.gemm((0, *A_GEMM[1:], 1)), "C4: m is '0'"),
    "no stride": (workbooks.conv((*A_CONV[:9], 0, 2, 1)), "L5: stride_h is '0'"),
    "no image": (workbooks.conv((1, 1, *A_CONV[2:], 1)), "larger than the padded image"),
    "no rank": (workbooks.all_reduce((100000, 0, 0.09)), "D4: ranks is '0'"),
    "a column": ([CONV[0], CONV[1][:7] + CONV[1][8:], CONV[2]], "A3: Convolution has no column r"),
    "ranks": (
        [["All-Reduce", "Size # floats", "Mean All Reduce Time (msec)"], [None, 100000, 0.09]],
        "A3: All-Reduce has no column # chips / accelerator cards",
    ),
    "a known pass": (
        workbooks.gemm((*A_GEMM, 1), headers=("Runtime (msec)",)),
        "A3: Dense Matrix Multiplication has no column time",
    ),
    "a transpose": (workbooks.gemm((*A_GEMM[:3], "X", "N", 1)), "F4: a transpose is 'X'"),
    "sparsity": (workbooks.sparse((8, 8, 8, "N", "N", 1.5, 1, 1)), "H4: sparsity is '1.5'"),
    "a sparsity of seven digits": (
        workbooks.sparse((80, 8, 80, "N", "N", 0.1234567, 1, 1)),
        "C4: m80_n8_k80_NN_sparsity0.123457: sparsity 0.1234567 has more digits than its id",
    ),
    "a unit": (workbooks.gemm((*A_GEMM, 1), headers=("Time",)), "I4: its header names no unit"),
    "another file": (workbooks.gemm((*A_GEMM, "=[1]Sheet1!A1")), ELSEWHERE),
    "a folder": (workbooks.gemm((*A_GEMM, r"='C:\a\[b.xlsx]S 1'!A1")), ELSEWHERE),
    "an array of another file": (
        workbooks.gemm((*A_GEMM, ArrayFormula("I4", "=SUM([1]S!A1:A2)"))),
        ELSEWHERE,
    ),
    **{
        formula: (workbooks.gemm((*A_GEMM, formula)), f"{ELSEWHERE} ({formula})")
        for formula in (
            '=WEBSERVICE("http://x/")',
            "=1+_xlfn.webservice (A1)",
            "=cmd|'/c calc'!A1",
            "='cmd'|'/c calc'!A1",
            '=RTD("a",,"b")',
            "='file:///etc/passwd'#$Sheet1.A1",
            "=file:///etc/passwd#$Sheet1.A1",
            '=DDE("soffice","a.ods","A1")',
        )
    },
    **{
        formula: (workbooks.gemm((*A_GEMM, formula)), f"I4 is a formula ({formula}) without")
        for formula in (
            "='a|b'!A1",
            "=Table1[a|b]",
            '=IF(A1="a|b",1,2)',
            '=HYPERLINK("http://x/",1)',
            "='Results FP32'!A1#",
            "=SUM(RTDS(A1),Sheet1!A1:A3)",
        )
    },
    "a table of values": (
        workbooks.gemm((*A_GEMM, DataTableFormula("I4", r1="A1"))),
        "I4 is a formula (=) without its value",
    ),
    "a column of a table": (
        workbooks.gemm((*A_GEMM, "=Table1[Time]")),
        "I4 is a formula (=Table1[Time]) without its value",
    ),
    "a value": (workbooks.gemm((*A_GEMM, "=56/2")), "I4 is a formula (=56/2) without its value"),
}


@pytest.mark.parametrize(("section", "expected"), BAD.values(), ids=BAD)
def test_a_mistake_is_named_with_its_cell(tmp_path, section, expected):
    """Sheet, cell, its content and the mend, in one line."""
    path = workbooks.write(tmp_path / "a.xlsx", section)
    with pytest.raises(DeepbenchError) as caught:
        read(path)
    assert expected in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


def not_a_workbook(path: Path, monkeypatch) -> str:
    path.write_text("m,n,k\n1,2,3\n")
    return "is not an xlsx workbook"


def truncated(path: Path, monkeypatch) -> str:
    whole = workbooks.write(path, workbooks.gemm((*A_GEMM, 1))).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return "is not an xlsx workbook, or only a part of one"


def with_a_password(path: Path, monkeypatch) -> str:
    path.write_bytes(xlsx_reader.ENCRYPTED + bytes(1000))
    return "has a password"


def another_zip(path: Path, monkeypatch) -> str:
    with ZipFile(path, "w") as parts:
        parts.writestr("readme.txt", "hello")
    return "is a zip file, but no xlsx workbook"


def too_large(path: Path, monkeypatch) -> str:
    workbooks.write(path, workbooks.gemm((*A_GEMM, 1)))
    monkeypatch.setattr(xlsx_reader, "LARGEST_BYTES", 1000)
    return "unpacks to"


def damaged(path: Path, monkeypatch) -> str:
    workbooks.write(path, workbooks.gemm((*A_GEMM, 1)))
    with ZipFile(path) as parts:
        start = parts.getinfo("xl/worksheets/sheet1.xml").header_offset
    content = bytearray(path.read_bytes())
    content[start + 80 : start + 120] = bytes(40)
    path.write_bytes(content)
    return "is damaged: "


def locked(path: Path, monkeypatch) -> str:
    workbooks.write(path, workbooks.gemm((*A_GEMM, 1)))
    content = bytearray(path.read_bytes())
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(sign)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(sign, at + 1)
    path.write_bytes(content)
    return "is a zip file with a password"


def missing(path: Path, monkeypatch) -> str:
    return "No such file"


@pytest.mark.parametrize(
    "make",
    [
        *(not_a_workbook, truncated, with_a_password, another_zip, too_large, damaged, locked),
        missing,
    ],
)
def test_what_is_no_workbook_is_refused(tmp_path, monkeypatch, make):
    """One line that names the file and says what it is instead."""
    path = tmp_path / "a.xlsx"
    expected = make(path, monkeypatch)
    with pytest.raises(DeepbenchError) as caught:
        xlsx_reader.read(path)
    assert str(path) in str(caught.value)
    assert expected in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


def test_a_workbook_is_known_by_its_content(tmp_path):
    """Whatever its name ends in."""
    path = workbooks.write(tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, 1)))
    assert 1 == len(read(path.rename(tmp_path / "a.bin"))[0])


def test_cells_need_not_say_where_they_are(tmp_path):
    """Some programs leave it to their order; a formula there is refused like any other."""
    good = workbooks.write(tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, "=[1]S!A1")))
    path = tmp_path / "b.xlsx"
    with ZipFile(good) as old, ZipFile(path, "w") as new:
        for part in old.namelist():
            content = old.read(part)
            if part.endswith("sheet1.xml"):
                content = re.sub(rb'<c r="[A-Z]+[0-9]+"', b"<c", content)
                content = re.sub(rb"<c />|<c></c>", b"", content)
            new.writestr(part, content)
    with pytest.raises(DeepbenchError, match=r"outside of the workbook \(=\[1\]S!A1\)"):
        xlsx_reader.read(path)


@pytest.mark.parametrize(
    ("names", "formula", "elsewhere"),
    [
        ({"rate": "[1]S!$A$1"}, "=2*RATE", True),
        ({"rate": "[1]S!$A$1", "more": "rate+1"}, "=S!more", True),
        ({"rate": 'WEBSERVICE("http://x/")'}, "=rate", True),
        ({"rate": "[1]S!$A$1", "own": "Specs!$A$1"}, "=own+rates", False),
        ({"rate": "[1]S!$A$1"}, '="rate"', False),
    ],
)
@pytest.mark.parametrize("local", [False, True])
def test_a_name_may_stand_for_another_file(tmp_path, names, formula, elsewhere, local):
    """By itself or by another name, of the workbook or of one sheet; names of its own places may
    be used, and others may be there."""
    path = workbooks.write(tmp_path / "a.xlsx", workbooks.gemm((*A_GEMM, formula)))
    book = load_workbook(path)
    where = book.worksheets[0] if local else book
    for name, text in names.items():
        where.defined_names[name] = DefinedName(name, attr_text=text)
    book.save(path)
    with pytest.raises(DeepbenchError) as caught:
        xlsx_reader.read(path)
    expected = ELSEWHERE if elsewhere else "I4 is a formula"
    assert f"{path}: sheet 'Results FP32', cell {expected}" in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


MISPRINTS = {"gemm": {"k": (1536, 1530)}, "sparse_gemm": {"m": (7860, 7680)}}


@pytest.mark.parametrize("family", MISPRINTS)
def test_slips_join_what_was_run(family):
    """The workbooks print k=1530 where the programs ran 1536, and m=7680 where they ran 7860."""
    [(size, (ran, printed))] = MISPRINTS[family].items()
    misprinted = [p for p in load(family) if p.aliases and getattr(p, size) == ran]
    assert misprinted
    for problem in misprinted:
        assert problem_matching.listed_problem(replace(problem, **{size: printed})) is problem


@pytest.mark.parametrize("operation", ["forward", "backward"])
def test_the_set_of_a_modern_problem_has_to_be_named(operation):
    """One line says so, with the cell: no published list has it, so none can be inferred."""
    problem = load("softmax", "modern")[0]
    place = xlsx_reader.CellAddress("Table", "A", 2)
    timing = workbook_timings.Timing(place, problem, operation, "float32", 1.0)
    with pytest.raises(DeepbenchError) as refused:
        problem_matching.set_of([timing])
    said = str(refused.value)
    assert said.startswith(f"{place}: {problem.id} is of the set modern, ")
    assert said.endswith("write Set and its name in a line of the sheet Specs")


def test_a_size_of_no_list_keeps_its_own_id():
    """Layers of 25 steps, which two early workbooks timed, are no misprint; nor is a new size."""
    for layer in (Rnn("vanilla", 1760, 16, 25), Rnn("vanilla", 1760, 16, 26)):
        assert layer.id == problem_matching.listed_problem(layer).id
        assert not problem_matching.is_listed(layer)


@given(data=st.data())
def test_the_set_is_the_one_with_most_of_the_problems(data):
    """A workbook of one set's problems is of that set, whatever its file is called."""
    name = data.draw(st.sampled_from(problem_matching.DEEPBENCH_SETS))
    listed = [p for p in load("gemm", name) if p.sets == (name,)]
    some = data.draw(st.lists(st.sampled_from(listed), min_size=1, unique=True))
    place = xlsx_reader.CellAddress("s", "A", 1)
    found = [workbook_timings.Timing(place, p, "forward", "float32", 1.0) for p in some]
    assert problem_matching.set_of(found) == name
