"""Surveys of nodes in a project folder: found next to their jobs, oldest first."""

import json
import time

import command
import pytest
import surveyed_nodes

from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.fleet import node_comparison, node_surveys
from deepbench_ops.storage import measurement_files


def test_surveys_are_in_the_order_of_their_measurements(tmp_path):
    """Not in that of their names; another JSON file next to a plan is no plan."""
    surveyed_nodes.write(tmp_path, "a", day=40)
    surveyed_nodes.write(tmp_path, "b", day=10)
    (tmp_path / "a" / "site.json").write_text("{}")
    surveys, problems = node_surveys.find(tmp_path)
    starts = [nodes["n0"].measured_at // surveyed_nodes.DAY for nodes in surveys["here"]]
    assert ([10.0, 40.0], []) == (starts, list(problems))


@pytest.mark.parametrize("place", [".", "november", "surveys/november"])
def test_surveys_are_found_up_to_two_folders_below_the_project(tmp_path, place):
    """As the commands accept them."""
    surveyed_nodes.write(tmp_path, place, day=1)
    surveys, problems = node_surveys.find(tmp_path)
    assert (1, []) == (len(surveys["here"]), list(problems))


def test_a_link_to_a_survey_is_not_another_one(tmp_path):
    """It would be counted twice."""
    surveyed_nodes.write(tmp_path, "surveys/november", day=1)
    (tmp_path / "latest").symlink_to(tmp_path / "surveys" / "november", target_is_directory=True)
    surveys, _ = node_surveys.find(tmp_path)
    assert 1 == len(surveys["here"])


def test_other_folders_of_a_project_are_not_searched(tmp_path):
    """Nor deeper ones: results, pages, the store, environments and hidden folders are large."""
    for name in ("results/a", "html/a", "store/a", "venv/a", ".asv/a", "a/.b", "a/b/c"):
        surveyed_nodes.write(tmp_path, name, day=1)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    assert ({}, []) == node_surveys.find(tmp_path)


def test_a_damaged_record_leaves_out_its_job_alone(tmp_path):
    """With a message that names it."""
    plan = surveyed_nodes.write(tmp_path, "a", day=1)
    surveyed_nodes.file_of(plan, "n2").write_bytes(b"torn")
    surveys, (problem,) = node_surveys.find(tmp_path)
    (nodes,) = surveys["here"]
    assert ["n0", "n1", "n3", "n4"] == [node for node, each in nodes.items() if each.seconds]
    assert problem.startswith("here/numpy-2.2.6/1@n2: its times are left out: ")


def test_a_kernel_on_two_devices_is_two_kernels(tmp_path):
    """A file of records has the conditions of its asv result, where there is one."""
    plan = surveyed_nodes.write(tmp_path, "a", day=1)
    for node in (f"n{place}" for place in range(5)):
        file = surveyed_nodes.file_of(plan, node)
        facts, records = measurement_files.load(file)
        if node == "n3":  # a slow accelerator, whose times the processor's hid
            records = [{**each, "seconds": [2 * each["seconds"][0]]} for each in records]
        result = file.with_name("12345678-py-DEEPBENCH_DEVICEcuda.json")
        about = "12345678", 0, "3.11", result.stem.partition("-")[2], {"DEEPBENCH_DEVICE": "cuda"}
        result_files.write(
            result, private_result_fields.new({"machine": surveyed_nodes.MACHINE}, {}, *about)
        )
        measurement_files.write(measurement_files.file_of(result), facts, records)
    surveys, problems = node_surveys.find(tmp_path)
    ((nodes,),) = surveys.values()
    levels = node_comparison.compare_kernels(nodes, beyond=0.1)
    slow = {each.kernel[1][1][1:] for each in levels if each.kind == node_comparison.SLOW}
    assert ({("float32", "cuda")}, []) == (slow, list(problems))
    assert {24} == {len(each.seconds) for each in nodes.values()}
    assert {"n3"} == {each.node for each in levels if each.kind == node_comparison.SLOW}


def test_the_command_names_a_damaged_record_and_compares_the_others(tmp_path):
    """Its node is one without kernels."""
    plan = surveyed_nodes.write(tmp_path, "a", day=1)
    surveyed_nodes.file_of(plan, "n2").write_bytes(b"torn")
    status, said, warned = command.deepbench("fleet", "nodes", str(plan))
    assert 0 == status
    assert "here: n2 measured 0 of 12 kernels" in said.splitlines()
    (line,) = warned.splitlines()
    assert line.startswith("here/numpy-2.2.6/1@n2: its times are left out: ")


def test_a_damaged_plan_is_reported(tmp_path):
    """And the others are read."""
    surveyed_nodes.write(tmp_path, "a", day=1)
    torn = surveyed_nodes.write(tmp_path, "b", day=2)
    torn.write_text(torn.read_text()[:150])
    surveys, (problem,) = node_surveys.find(tmp_path)
    assert 1 == len(surveys["here"])
    assert f"{torn} is no JSON" in problem


def test_a_project_without_plans_has_no_surveys(tmp_path):
    """Nor messages."""
    assert ({}, []) == node_surveys.find(tmp_path)


@pytest.fixture
def far_west(monkeypatch):
    """A time zone in which the day of a time is that before UTC's."""
    monkeypatch.setenv("TZ", "UTC+12")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_command_orders_surveys_by_time(tmp_path):
    """Whatever the order of its arguments, as the page does."""
    slow = {("n3", "gemm"): 1.3}
    plans = [surveyed_nodes.write(tmp_path, f"day-{day}", day, slow=slow) for day in (59, 31)]
    status, said, _ = command.deepbench("fleet", "nodes", *map(str, plans), "--format", "json")
    assert 1 == status
    (row,) = (row for row in json.loads(said) if row["kind"] == "slow")
    days = [row[name] // surveyed_nodes.DAY for name in ("slow_since", "measured_at")]
    assert [31, 59] == days


def test_the_command_has_days_of_utc(tmp_path, far_west):
    """In any time zone, as the page does."""
    plan = surveyed_nodes.write(tmp_path, "nodes", 31, slow={("n3", "gemm"): 1.3})
    _, said, _ = command.deepbench("fleet", "nodes", str(plan))
    (line,) = (line for line in said.splitlines()[2:] if " slow " in line)
    assert line.endswith(" 1970-02-01")


@pytest.fixture
def incomplete(tmp_path):
    """A plan whose node n1 has measured one family only, and n2 nothing."""
    plan = surveyed_nodes.write(tmp_path, "nodes", 31)
    surveyed_nodes.keep(plan, "n1", ("gemm",))
    surveyed_nodes.keep(plan, "n2", ())
    return plan


def test_the_command_names_incomplete_nodes(incomplete):
    """With the kernels that most nodes have, on a narrow terminal too; they end no command."""
    for columns in (None, 60):
        status, said, _ = command.deepbench("fleet", "nodes", str(incomplete), columns=columns)
        assert 0 == status
        lines = said.splitlines()
        assert "here: n1 measured 6 of 12 kernels" in lines
        assert "here: n2 measured 0 of 12 kernels" in lines
        assert 2 == said.count(" measured ")
    _, said, _ = command.deepbench("fleet", "nodes", str(incomplete))
    assert ["0", "of", "12", "-", "-", "too", "few", "kernels"] == next(
        line.split()[3:] for line in said.splitlines() if line.split()[1:3] == ["n2", "all"]
    )


def test_json_has_the_numbers_of_incomplete_nodes(incomplete):
    """In each row."""
    _, said, _ = command.deepbench("fleet", "nodes", str(incomplete), "--format", "json")
    rows = {(row["node"], row["family"]): row for row in json.loads(said)}
    assert (6, 6) == tuple(rows["n1", "all"][name] for name in ("kernels", "missing"))
    absent = rows["n2", "gemm"]
    assert (0, 6, None, None) == tuple(
        absent[name] for name in ("kernels", "missing", "ratio", "measured_at")
    )
