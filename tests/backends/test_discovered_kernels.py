"""Every family on every framework, found by discovery: a new one of either is tested at once."""

import pytest
from installed_frameworks import loaded, skip_without

from deepbench_ops import backends
from deepbench_ops.backends import backend_check_table
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
