"""`deepbench problems` and `deepbench select`: their output and their errors."""

import csv
import io
import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from command import COMMAND, deepbench

from deepbench_ops import cli
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES, SETS, find, load
from deepbench_ops.problems.problem_lists import TYPES

pytest.importorskip("click", reason="the command needs the `track` extra")


def output(*arguments):
    """The output of the command, if it succeeds and prints nothing on stderr."""
    status, out, err = deepbench(*arguments)
    assert (0, "") == (status, err)
    return out


def test_json_holds_every_distinct_problem():
    """The JSON is one list with an object for each distinct problem of all families."""
    printed = json.loads(output("problems", "--format", "json"))
    families = Counter(one["family"] for one in printed)
    counts = {"gemm": 243, "conv": 191, "rnn": 124, "sparse_gemm": 24, "all_reduce": 9}
    assert counts.items() <= families.items()
    assert set(FAMILIES) == set(families)
    assert len(printed) == len({(one["family"], one["id"]) for one in printed})


def test_what_only_workbooks_time_is_listed_when_asked_for():
    """The flag lists it, an id finds it, a set has nothing of it."""
    only = json.loads(output("problems", "--published-only", "--format", "json"))
    assert {"gemm": 3, "rnn": 12} == Counter(one["family"] for one in only)
    for one in {one["family"]: one for one in only}.values():
        found = json.loads(output("problems", one["id"], "--format", "json"))
        assert [one] == found
        assert (2, "") == deepbench("problems", one["id"], "--set", "training")[:2]
    one_family = output("problems", "--published-only", "--family", "gemm", only[0]["id"])
    assert only[0]["id"] in one_family
    status, _, complaint = deepbench("problems", "--published-only", "--set", "training")
    assert (2, 1) == (status, complaint.count("\n"))


def test_json_is_what_the_problems_say():
    """Sizes, work, bytes and intensity of each printed problem are those of its dataclass."""
    for one in json.loads(output("problems", "--format", "json")):
        problem = find(one["family"], one["id"])
        assert problem.sizes() == one["sizes"]
        assert (problem.flops, problem.items) == (one["flops"], one["items"])
        precisions = problem.precisions
        assert {name: problem.bytes(name) for name in precisions} == one["bytes"]
        assert {name: problem.intensity(name) for name in precisions} == one["intensity"]
        assert (problem.application, list(problem.sets)) == (one["application"], one["sets"])
        assert sum(problem.rows) == sum(one["rows"].values())


@pytest.mark.parametrize("family", FAMILIES)
def test_csv_reads_back(family):
    """The CSV has a line for each problem of the family, with its numbers."""
    lines = list(csv.DictReader(io.StringIO(output("problems", "--family", family, "--format",
                                                   "csv"))))  # fmt: skip
    problems = load(family)
    assert [p.id for p in problems] == [line["id"] for line in lines]
    for problem, line in zip(problems, lines, strict=True):
        assert problem.flops == float(line["flops"])
        narrowest = problem.precisions[-1]
        assert problem.bytes(narrowest) == float(line[f"bytes_{narrowest}"])
        assert {n: str(s).lower() for n, s in problem.sizes().items()}.items() <= line.items()
        assert sum(problem.rows) == sum(int(line[f"rows_{name}"]) for name in SETS)


def test_table_counts_rows_and_problems():
    """Below each family's table are the numbers of its problems and of rows in its lists."""
    printed = output("problems")
    assert "gemm: 243 problems, 248 rows in its lists" in printed
    assert "conv: 191 problems, 217 rows" in printed
    assert "rnn: 124 problems, 125 rows" in printed
    assert "sparse_gemm: 24 problems, 32 rows" in printed
    assert "all_reduce: 9 problems, 9 rows" in printed


def test_one_problem_is_counted_in_the_singular():
    """A problem of a single row."""
    printed = output("problems", "m1760_n16_k1760_NN")
    assert "gemm: 1 problem, 1 row in its lists" == printed.rstrip().splitlines()[-1]


def test_table_shows_work_bytes_intensity_and_origin():
    """A line of the table has the problem's rounded figures, application and sets."""
    line = next(text for text in output("problems", "m35_n700_k2048_NN").splitlines()
                if text.startswith("m35"))  # fmt: skip
    cells = re.split(r"\s{2,}", line)
    sizes = ["m35_n700_k2048_NN", "35", "700", "2048", "false", "false"]
    figures = ["100.4 M", "6.217 M", "3.109 M", "1.701 M", "16.1", "32.3", "59"]
    assert [*sizes, *figures, "DeepSpeech, output layer", "server device"] == cells


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--set", "training"], 160 + 90 + 53 + 7),
        (["--set", "inference-device", "--family", "gemm"], 13),
        (["--selection", "headline", "--family", "gemm"], 10),
        (["--selection", "headline", "--family", "rnn", "--set", "inference_server"], 4),
        (["--selection", "headline", "--family", "gemm", "--set", "inference_server"], 4),
        (["--selection", "headline", "--family", "sparse-gemm"], 5),
        (["--selection", "inference-device", "--family", "rnn"], 3),
        (["--selection", "headline", "--family", "conv"], 11),
        (["--selection", "headline", "--family", "conv", "--set", "training"], 5),
        (["m35_n700_k2048_NN", "n16777216"], 2),
    ],
)
def test_conditions_narrow_the_list(options, count):
    """Every condition given holds for the printed problems, and nothing else is left out."""
    printed = json.loads(output("problems", *options, "--format", "json"))
    if "--set" in options:
        wanted = options[options.index("--set") + 1].replace("-", "_")
        assert all(wanted in one["sets"] for one in printed)
    assert count == len(printed)


def test_nothing_found_is_said():
    """In every form it is a line on stderr, and a status of 2."""
    nothing = ["problems", "--set", "inference_device", "--family", "all_reduce"]
    said = "deepbench: error: no problem meets all of these conditions\n"
    for form in ("table", "csv", "json"):
        assert (2, "", said) == deepbench(*nothing, "--format", form)


def test_a_selection_of_nothing_picks_nothing_and_says_so():
    """The pattern keeps asv from running everything; the status is that of no answer."""
    for precision in ("int8", "bfloat16"):
        status, out, err = deepbench(
            "select", "headline", "--family", "all_reduce", "--precision", precision
        )
        assert (2, "(?!)\n", 1) == (status, out, err.count("\n"))
    asked = ("select", "headline", "--precision", "int8")
    assert "all_reduce" not in output(*asked)
    assert "gemm" in output(*asked)


def test_a_closed_pipe_is_no_error():
    """A reader that stops early, like head, gets no traceback."""
    running = subprocess.Popen(
        [*COMMAND, "problems"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    running.stdout.readline()
    running.stdout.close()
    assert "" == running.stderr.read()
    running.stderr.close()
    running.wait(timeout=60)


@pytest.mark.parametrize(
    "arguments",
    [
        ["problems", "--family", "gemms"],
        ["problems", "--set", "train"],
        ["problems", "--selection", "head"],
        ["problems", "m1760_n128_k1760"],
        ["problems", "--family", "gemm", "m1760_n128_k1760"],
        ["select", "all"],
        ["select", "headline", "--precision", "fp16"],
        ["select", "headline", "--family", "gemms"],
    ],
)
def test_bad_names_end_in_one_line(arguments):
    """An unknown name exits 2 with one line on stderr that begins with the command's name."""
    status, out, err = deepbench(*arguments)
    assert (2, "") == (status, out)
    assert err.startswith("deepbench: error: unknown ")
    assert 1 == len(err.splitlines())


def test_several_families_are_selected_together():
    """One pattern has the places of both families."""
    both = output("select", "headline", "--family", "gemm", "--family", "rnn")
    apart = [output("select", "headline", "--family", name) for name in ("gemm", "rnn")]
    inner = [each.strip().removeprefix("^(?:").removesuffix(")") for each in apart]
    assert f"^(?:{inner[0]}|{inner[1]})" == both.strip()


def test_select_prints_one_usable_expression():
    """The expression is one line that compiles and finds a headline benchmark at float32 only."""
    printed = output("select", "headline", "--precision", "float32")
    assert 1 == len(printed.splitlines())
    pattern = re.compile(printed.strip())
    found = "gemm.Training.kernel_forward('m1760_n128_k1760_NN', '{}')"
    assert pattern.search(found.format("float32"))
    assert not pattern.search(found.format("int8"))


def test_help_names_the_choices():
    """A stranger reads in the help every family, set, selection and precision to give."""
    help_text = " ".join(output("problems", "--help").split())
    assert ", ".join(TYPES) in help_text
    assert ", ".join(SETS) in help_text
    assert ", ".join(ALL_PRECISIONS) in " ".join(output("select", "--help").split())
    assert {"machine", "problems", "select"} <= set(output("--help").split())


def test_the_headline_is_the_published_passes():
    """Frameworks' own recurrent layers are in the headline on request, in the sets unless not."""
    fused = "rnn.Training.kernel_fused_forward('lstm_h1024_n128_t25', 'float32')"
    plain = fused.replace("fused_", "")
    for arguments, found in (
        (["headline"], False),
        (["headline", "--fused"], True),
        (["training"], True),
        (["training", "--no-fused"], False),
    ):
        pattern = output("select", *arguments).strip()
        assert re.search(pattern, plain)
        assert found == bool(re.search(pattern, fused))


def test_every_command_is_found_by_its_name():
    """The help lists it in a section, and it has a help of its own; another name is none."""
    listed = output("--help").partition("Before measuring:")[2]
    for name in cli.COMMANDS:
        assert f"\n  {name} " in listed
        assert output(name, "--help").startswith(f"Usage: deepbench {name} ")
    status, _, complaint = deepbench("selct")
    assert 2 == status
    assert "unknown command 'selct'; nearest of" in complaint


def test_a_selection_needs_no_more_than_the_lists():
    """It stands in the commands that people type, so neither asv nor numpy is waited for."""
    asked = "import sys; from deepbench_ops import cli; cli.main(); "
    code = f"import atexit, sys; atexit.register(lambda: print(*sys.modules)); {asked}"
    done = subprocess.run(
        [sys.executable, "-c", code, "select", "headline"], capture_output=True, text=True
    )
    assert 0 == done.returncode
    assert not {"asv", "numpy", "scipy"} & set(done.stdout.split())
