"""Every family on every framework, found by discovery: a new one of either is tested at once."""

import pytest
from installed_frameworks import loaded, skip_without

from deepbench_ops import backends
from deepbench_ops.backends import backend_check_table, framework_list
from deepbench_ops.problems.precision import ALL_PRECISIONS
from deepbench_ops.problems.problem_lists import FAMILIES, TYPES


@pytest.mark.slow
@pytest.mark.parametrize("family", [name for name in FAMILIES if not TYPES[name].ranks])
@pytest.mark.parametrize("name", backends.NAMES)
def test_no_kernel_of_a_family_is_wrong(name, family):
    """One problem of each, in the first precision: right, or refused with a reason."""
    skip_without(loaded(name), family)
    rows = list(
        backend_check_table.rows([name], ["cpu"], [family], TYPES[family].precisions[:1], kinds=1)
    )
    assert rows
    assert [] == [row for row in rows if row.verdict == backend_check_table.WRONG]


@pytest.mark.parametrize("name", backends.NAMES)
def test_a_framework_has_no_other_precisions_and_devices_than_it_declares(name):
    """All others are refused for a problem of each family, and the devices are those of its
    class."""
    backend, declared = loaded(name), framework_list.found()[0][name]
    assert (declared.runs_on or backend.devices) == backend.devices
    own = declared.precisions or ALL_PRECISIONS
    others = [each for each in ALL_PRECISIONS if each not in own]
    families = [family for family in FAMILIES if not TYPES[family].ranks]
    rows = backend_check_table.rows([name], ["cpu"], families, others, kinds=1) if others else ()
    assert [] == [row for row in rows if row.verdict == backend_check_table.OK]
