"""The counts on the page of frameworks, as they are written into it."""

import re
from datetime import date

from example_points import point

from deepbench_ops.analysis.frameworks_by_kernel import contests
from deepbench_ops.backends import framework_list
from deepbench_ops.pages import framework_page
from deepbench_ops.releases.release_table import Release

FRAMEWORKS = sorted(framework_list.found()[0])[:2]
RELEASES = [Release(name, "1", date(2024, 1, 1)) for name in FRAMEWORKS]


def test_precisions_are_counted_apart_and_the_heading_says_that_all_are_there():
    """One framework is the fastest in float32, the other in int8."""
    seconds = {"float32": (1.0, 2.0), "int8": (2.0, 1.0)}
    found = contests(
        point(precision=precision, release=release, seconds=level, rounds=(level,) * 5)
        for precision, levels in seconds.items()
        for release, level in zip(RELEASES, levels, strict=True)
    )
    page = framework_page.page("", {"lab-1": found})
    assert "<h2>All kernels, of every machine and precision</h2>" in page
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", page, re.DOTALL)
    cells = [re.findall(r">([^<>]*)</t[hd]>", row) for row in rows]
    assert [
        ["matrix products", "float32", "1", "0", "0"],
        ["matrix products", "int8", "0", "1", "0"],
    ] == cells
