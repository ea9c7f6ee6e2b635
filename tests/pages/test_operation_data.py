"""Data of all problems for the pages."""

from deepbench_ops.pages.operation_data import content
from deepbench_ops.problems import load


def test_each_problem_says_in_which_precision_it_multiplies():
    """A family says it for all of its problems, and a problem where it differs from these."""
    for family in content({}):
        problems = {each.id: each for each in load(family["family"])}
        for row in family["problems"]:
            found = row.get("multiplied", family["multiplied"])
            problem = problems[row["id"]]
            assert {name: problem.multiplied(name) for name in problem.precisions} == found
