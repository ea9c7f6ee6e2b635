"""Files below results/ that are damaged: named once, left out, and never a traceback or a hang."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import published_site
import pytest
from asv.util import UserError
from command import deepbench

from deepbench_ops.analysis import point_reading
from deepbench_ops.asv_adapter import benchmark_list_check, damaged_file_search, result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import (
    facts_digest,
    measurement_files,
    model_run_fields,
    model_runs,
    seconds_limits,
)

BENCHMARK = published_site.BENCHMARK
NO_TIMES = [
    *(math.inf, -math.inf, 1e308, 1e-320, 0, -1.0, 1e9, 86401, 9e-10),
    *(True, "1.0", [1.0], {"a": 1}, 10**400),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release table and results of two machines."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    return tmp_path


def result_of(folder: Path) -> Path:
    return min((folder / "results" / "lab-1").glob("*-release-*.json"))


def change(path: Path, changed: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_text())
    changed(content)
    path.write_text(json.dumps(content))


def put(path: Path, column: str, value: Any) -> None:
    """Put a value in the place of the first of a column."""

    def changed(content: dict[str, Any]) -> None:
        row = content["results"][BENCHMARK]
        row[content["result_columns"].index(column)][0] = value

    change(path, changed)


@pytest.mark.parametrize("value", NO_TIMES, ids=lambda value: str(value)[:9])
def test_a_value_that_is_no_time_is_left_out_and_named_once(
    folder: Path, caplog: pytest.LogCaptureFixture, value: Any
) -> None:
    """By publishing, which ends with status 1 and has made the pages of all else."""
    path = result_of(folder)
    put(path, "result", value)
    assert 1 == published_site.status(folder)
    named = [line for line in caplog.messages if path.name in line]
    assert 1 == len(named)
    assert f"{BENCHMARK}('m1760_n128_k1760_NN', 'float32'): " in named[0]
    assert "is no time" in named[0]
    assert (folder / "html" / "data" / "index.js").exists()
    assert "lab-1" in (folder / "html" / "index.json").read_text()


def test_a_command_names_it_on_stderr_and_ends_with_status_1(folder: Path) -> None:
    """After it has answered from all the rest."""
    path = result_of(folder)
    put(path, "result", 1e9)
    arguments = ["export", "--machine", "lab-1", "--format", "csv"]
    status, out, err = deepbench(*arguments, "--results", str(folder / "results"))
    assert 1 == status
    assert 1 == err.count("warning: ")
    assert f"{path}: left out, since they cannot be right: {BENCHMARK}(" in err
    assert "1000000000.0 is no time" in err
    assert out.startswith("machine,framework")
    assert "1000000000.0" not in out


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("samples", [0.5], "is not among its samples"),
        ("samples", [1e-3, True], "its sample True is no time"),
        ("samples", "text", "its sample 'text' is no time"),
        ("samples", [], "its sample None is no time"),
        ("stats_ci_99_a", 0.9, "is not in its interval"),
        ("stats_ci_99_b", "1e308", "its ci_99_b is '1e308'"),
        ("stats_ci_99_b", True, "its ci_99_b is True"),
        ("stats_q_25", "x", "its q_25 is 'x'"),
    ],
)
def test_what_stands_next_to_a_value_must_go_with_it(
    folder: Path, column: str, value: Any, why: str
) -> None:
    path = result_of(folder)
    put(path, column, value)
    assert why in result_files.read(path).refused
    assert math.isnan(result_files.read(path)._results[BENCHMARK][0])
    with pytest.raises(DeepbenchError, match="left out"):
        result_files.undamaged(path)


@pytest.mark.parametrize("bound", [math.inf, 1e308])
def test_bounds_that_say_nothing_are_no_damage(folder: Path, bound: float) -> None:
    """asv leaves infinite ones where there are too few samples."""
    path = result_of(folder)
    put(path, "stats_ci_99_a", -bound)
    put(path, "stats_ci_99_b", bound)
    found = result_files.read(path)
    assert "" == found.refused
    assert not {"ci_99_a", "ci_99_b"} & found._stats[BENCHMARK][0].keys()


@pytest.mark.parametrize("samples", [[None, 1.0], [1.0, None], [], ["x"], None])
def test_a_sample_that_is_no_time_is_named(samples: list[object] | None) -> None:
    """Also one that is null among times; no samples at all are no damage."""
    expected = "" if samples is None else "its sample "
    assert seconds_limits.why_not(1.0, samples=samples)[:11] == expected


def test_limits_are_those_of_submissions() -> None:
    assert seconds_limits.is_time(1e-9) and seconds_limits.is_time(86400)
    assert not seconds_limits.is_time(0.99e-9) and not seconds_limits.is_time(86400.1)


def test_a_time_of_no_kernel_is_named_and_the_rest_answered(folder: Path) -> None:
    """By commands and by publishing, both with status 1."""
    path = result_of(folder)
    change(path, lambda content: content["results"][BENCHMARK][1][0].__setitem__(0, "'odd'"))
    given = ["--machine", "lab-1", "--results", str(folder / "results")]
    status, out, err = deepbench("export", "--format", "csv", *given)
    assert (1, True) == (status, "1 times are left out: unknown gemm problem 'odd'" in err)
    assert out
    assert 1 == published_site.status(folder)


@pytest.mark.parametrize(
    "command",
    [("export", "--format", "csv", "--machine", "lab-1"), ("fastest",), ("store", "build")],
)
def test_a_time_of_an_unknown_operation_is_named_and_the_rest_answered(
    folder: Path, command: tuple[str, ...]
) -> None:
    """Also of a family whose bytes depend on the operation."""
    row = [[1.0], [["'w7_h7_c512_n1_k2048_r1_s1_pad0_0_stride1_1'"], ["'float32'"]]]
    name = "conv.InferenceDevice.kernel_backward"
    change(result_of(folder), lambda content: content["results"].__setitem__(name, row))
    status, _, err = deepbench(*command, "--results", str(folder / "results"))
    assert (1, True) == (status, "1 times are left out: unknown operation of conv" in err)


DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no parameters": lambda content: content.pop("params"),
    "unknown column": lambda content: content["result_columns"].__setitem__(0, "odd"),
    "columns of another kind": lambda content: content.update(result_columns={"a": 1}),
    "results of another kind": lambda content: content.update(results=[1]),
    "another machine": lambda content: content["params"].update(machine="other"),
    "another commit": lambda content: content.update(commit_hash="0" * 40),
    "a date that is text": lambda content: content.update(date="today"),
    "fewer values": lambda content: content["results"][BENCHMARK][0].pop(),
    "parameters that are numbers": lambda content: content["results"][BENCHMARK].__setitem__(
        1, [[1, 2], [3, 4]]
    ),
    "variables of another kind": lambda content: content.update(env_vars=[]),
    "a parameter that is markup": lambda content: content["params"].update({"<b>": "x"}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_result_that_asv_cannot_take_apart_is_named(
    folder: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    """By publishing, by commands, and by a submission, which is not made."""
    path = result_of(folder)
    change(path, DAMAGE[damage])
    assert 1 == published_site.status(folder)
    assert 1 == sum(str(path) in line for line in caplog.messages)
    assert (folder / "html" / "data" / "index.js").exists()
    given = ["--machine", "lab-1", "--results", str(folder / "results")]
    status, out, err = deepbench("export", "--format", "csv", *given)
    assert (1, 1) == (status, err.count(str(path)))
    assert out
    status, _, err = deepbench("submit", str(folder / "sent.json"), *given)
    assert 2 == status
    assert str(path) in err
    assert not (folder / "sent.json").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("machine.profile", "{"),
        ("machine.profile", "[" * 100_000),
        ("machine.json", "[1]"),
        ("machine.json", '{"version": 1, "machine": ["x"]}'),
        ("model_runs.jsonl", '{"kind": "latency"'),
        ("ensembles/numpy.jsonl.gz", "torn"),
    ],
)
def test_another_torn_file_of_a_machine_ends_publishing_with_status_1(
    folder: Path, caplog: pytest.LogCaptureFixture, name: str, content: str
) -> None:
    path = folder / "results" / "lab-1" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    assert 1 == published_site.status(folder)
    assert 1 == sum(str(path) in line for line in caplog.messages)


def test_an_export_names_a_damaged_profile(folder: Path) -> None:
    """Without its roofs an impossible time would be exported as a steady one."""
    path = folder / "results" / "lab-1" / "machine.profile"
    path.write_text("{")
    given = ["--machine", "lab-1", "--results", str(folder / "results")]
    status, out, err = deepbench("export", "--format", "csv", *given)
    assert (1, 1) == (status, err.count(str(path)))
    assert out


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        '{"version": 2, "gemm": 1}',
        '{"version": 2, "gemm": {"name": "gemm", "code": 1}}',
        '{"version": "x"}',
        "[" * 100_000,
    ],
)
def test_a_damaged_list_of_benchmarks_is_named(folder: Path, content: str) -> None:
    path = folder / "results" / "benchmarks.json"
    path.write_text(content)
    with pytest.raises(DeepbenchError, match=r"benchmarks\.json"):
        benchmark_list_check.demand_whole(path)
    with pytest.raises(UserError, match=r"benchmarks\.json"):
        published_site.status(folder)


RECORD = {
    "benchmark": BENCHMARK,
    "params": ["m1760_n128_k1760_NN", "float32"],
    "release": "numpy-2.4.6",
    "started_at": 1.0,
    "number": 1,
    "seconds": [1.0, 2.0],
    "yardstick": [1.0, 1.0],
    "nominal": 1.0,
    "fingerprint": "f1",
    "notes": {},
    "spent": {"kernel": 3.0},
}
CONDITIONS = json.dumps({"fingerprint": "f1", "facts": {}}) + "\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seconds", ["1.0", 2.0]),
        ("seconds", [True, 2.0]),
        ("seconds", [1e9, 2.0]),
        ("seconds", [1.0]),
        ("seconds", 1.0),
        ("yardstick", [0, 1.0]),
        ("yardstick", None),
        ("nominal", "x"),
        ("params", [None]),
        ("params", "x"),
        ("benchmark", 1),
        ("started_at", "x"),
        ("number", 0),
        ("spent", {"kernel": "x"}),
        ("seconds", [1.0, 3.0]),
        ("number", 10**30),
        ("yardstick", [1e-320, 1.0]),
        ("nominal", 1e-320),
        ("core_latencies", [1e-320]),
        ("spent", {"kernel": 1e9}),
    ],
)
def test_a_record_with_a_field_that_cannot_be_right_is_named(
    tmp_path: Path, field: str, value: Any
) -> None:
    path = tmp_path / f"a{measurement_files.PLAIN}"
    path.write_text(json.dumps(RECORD) + "\n" + CONDITIONS)
    assert 1 == len(measurement_files.load(path)[1])
    path.write_text(json.dumps(RECORD) + "\n" + json.dumps({**RECORD, field: value}) + "\n")
    with pytest.raises(DeepbenchError, match=f"line 2 is not a measurement.*{field}|2 seconds|1 s"):
        measurement_files.load(path)


def test_a_measurement_that_is_there_twice_is_named(tmp_path: Path) -> None:
    """It would count as two processes; skips of several rounds are alike."""
    skipped = {"benchmark": "gemm.Set.kernel_forward", "params": ["a"], "skipped": "too large"}
    path = tmp_path / f"a{measurement_files.PLAIN}"
    lines = [json.dumps(each) + "\n" for each in (skipped, skipped, RECORD)]
    path.write_text("".join([*lines, CONDITIONS]))
    assert 3 == len(measurement_files.load(path)[1])
    path.write_text("".join([*lines, lines[-1]]))
    with pytest.raises(DeepbenchError, match="it is there already"):
        measurement_files.load(path)


def test_conditions_that_do_not_match_their_digest_are_named(tmp_path: Path) -> None:
    """Settings with another letter would be those of another run."""
    facts = {"settings": "OPENBLAS_CORETYPE=Haswell"}
    line = {"fingerprint": facts_digest.digest(facts), "facts": facts}
    path = tmp_path / f"a{measurement_files.PLAIN}"
    path.write_text(json.dumps(line) + "\n")
    assert {line["fingerprint"]: facts} == measurement_files.facts(path)
    path.write_text(json.dumps(line).replace("Haswell", "Haswelk") + "\n")
    with pytest.raises(DeepbenchError, match="facts are others than its fingerprint says"):
        measurement_files.load(path)
    with pytest.raises(
        DeepbenchError, match=r"line 1 is not a line of conditions \(its facts are others"
    ):
        measurement_files.facts(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("num_cpu", each) for each in (0, 10**30, "1.0", "NaN", "Infinity", "true", "{}")),
        *(("ram", each) for each in (-1, "0 GiB", "null GiB", "1000000000.0 GiB")),
    ],
)
def test_a_machine_with_an_impossible_number_is_named(
    tmp_path: Path, field: str, value: Any
) -> None:
    described = {"machine": "m", "num_cpu": "2", "ram": "24 GiB", "version": 1}
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(described))
    assert "2" == result_files.entry(path)["num_cpu"]
    path.write_text(json.dumps({**described, field: "in words"}))
    assert "in words" == result_files.entry(path)[field]
    path.write_text(json.dumps({**described, field: value}))
    with pytest.raises(DeepbenchError, match=f"its {field} is {value}"):
        result_files.entry(path)


@pytest.mark.parametrize("content", ['{"arch', "[]", '{"machine": 3, "version": 1}', None])
def test_commands_about_all_machines_name_a_machine_that_is_not_described(
    folder: Path, content: str | None
) -> None:
    """One line with the mend; only without its machine.json the machine is left out."""
    path = folder / "results" / "lab-1" / "machine.json"
    path.unlink()
    if content is not None:
        path.write_text(content)
    options = ("--results", str(folder / "results"), "--format", "json")
    _, _, err = deepbench("verdict", "--all-machines", *options)
    lines = [line for line in err.splitlines() if line.startswith("deepbench: warning: ")]
    assert 1 == len(lines)
    assert str(path.parent) in lines[0]
    assert "restore" in lines[0]
    names = point_reading.machines(folder / "results", point_reading.no_report)
    assert (content is not None) == ("lab-1" in names)


@pytest.mark.parametrize("line", ["7", "null", '"text"', '{"fingerprint": [], "facts": {}}'])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / f"a{measurement_files.PLAIN}"
    path.write_text(line + "\n")
    with pytest.raises(DeepbenchError, match="line 1 is not a measurement"):
        measurement_files.load(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("median_seconds", True),
        ("median_seconds", None),
        ("median_seconds", 1e3),
        ("p99_seconds", 1e9),
        ("p99_seconds", 1e-9),
        ("batch", 1.5),
        ("batch", 0),
        ("batches", 10**30),
        ("p90_secondr", 0.02),
        ("model", ["x"]),
        ("off", {}),
    ],
)
def test_a_run_of_a_model_with_a_field_that_cannot_be_right_is_named(
    tmp_path: Path, field: str, value: Any
) -> None:
    model_runs.add(tmp_path, [published_site.MODEL_RUNS[0]])
    path = tmp_path / model_run_fields.FILE
    change(path, lambda run: run.update({field: value}))
    with pytest.raises(DeepbenchError, match="line 1 is not a run of a model"):
        model_runs.load(tmp_path)


def test_the_committed_results_are_whole() -> None:
    assert [] == damaged_file_search.find(Path(__file__).resolve().parents[2] / "results")
