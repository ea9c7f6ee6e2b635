"""Errors that code of another distribution raises in the middle of a command."""

from pathlib import Path
from traceback import walk_tb

from deepbench_ops.backends import framework_list
from deepbench_ops.backends.framework_list import OWN
from deepbench_ops.errors import one_line
from deepbench_ops.problems import family_list


def line_about(fault: BaseException) -> str | None:
    """Return a line with the distribution and the place in its files; None for an error that code
    of no other distribution raises."""
    origins = {each.package: each.distribution for each in family_list.found()[0].values()}
    origins |= {each.package: each.distribution for each in framework_list.found()[0].values()}
    for frame, number in reversed(list(walk_tb(fault.__traceback__))):
        name = frame.f_globals.get("__name__", "")
        origin = origins.get(name) or origins.get(name.rpartition(".")[0])
        if origin not in (None, OWN):
            where = f"{Path(frame.f_code.co_filename).name}, line {number}"
            return f"{origin}: {where} raises {type(fault).__name__}: {one_line(fault)}"
    return None
