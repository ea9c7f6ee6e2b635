"""Surveys of nodes in a project folder: found next to their jobs, oldest first."""

import surveyed_nodes

from deepbench_ops.fleet import node_surveys


def test_surveys_are_in_the_order_of_their_measurements(tmp_path):
    """Not in that of their names; another JSON file next to a plan is no plan."""
    surveyed_nodes.write(tmp_path, "a", day=40)
    surveyed_nodes.write(tmp_path, "b", day=10)
    (tmp_path / "a" / "site.json").write_text("{}")
    surveys, problems = node_surveys.find(tmp_path)
    starts = [survey["here"]["n0"].measured_at // surveyed_nodes.DAY for survey in surveys]
    assert ([10.0, 40.0], []) == (starts, list(problems))


def test_a_damaged_record_leaves_out_its_job_alone(tmp_path):
    """With a message that names it."""
    plan = surveyed_nodes.write(tmp_path, "a", day=1)
    surveyed_nodes.file_of(plan, "n2").write_bytes(b"torn")
    (survey,), (problem,) = node_surveys.find(tmp_path)
    assert ["n0", "n1", "n3", "n4"] == list(survey["here"])
    assert problem.startswith("here/numpy-2.2.6/1@n2: its times are left out: ")


def test_a_damaged_plan_is_reported(tmp_path):
    """And the others are read."""
    surveyed_nodes.write(tmp_path, "a", day=1)
    torn = surveyed_nodes.write(tmp_path, "b", day=2)
    torn.write_text(torn.read_text()[:150])
    surveys, (problem,) = node_surveys.find(tmp_path)
    assert 1 == len(surveys)
    assert f"{torn} is no JSON" in problem


def test_a_project_without_plans_has_no_surveys(tmp_path):
    """Nor messages."""
    assert ([], []) == tuple(map(list, node_surveys.find(tmp_path)))
