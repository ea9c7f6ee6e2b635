"""The families of this project pass the checks of those of other distributions."""

import pytest

from deepbench_ops.problems import family_list, plugin_family_checks


@pytest.mark.parametrize("family", family_list.found()[0].values(), ids=lambda each: each.name)
def test_a_family_of_this_project_is_accepted(family):
    plugin_family_checks.check_declarations(family.kind)
    plugin_family_checks.check_problems(family.kind, family.problems)
    assert family.problems
