"""Benchmarks and parameters of published results that the suite does not measure.

`asv run` lists the benchmarks of the suite, and asv's pages show those alone. A published pass or
size that the suite lacks is therefore added when asv reads the list.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv.benchmarks import Benchmarks
from asv.util import UserError

from deepbench_ops.asv_adapter import benchmark_list_check, published_results, result_files
from deepbench_ops.asv_adapter.patch_installation import Patch
from deepbench_ops.errors import DeepbenchError

_AXES = ("problem", "precision", "ranks")


def _extending(load: Callable[..., Benchmarks]) -> Callable[..., Benchmarks]:
    """Wrap asv's reading of the list: a damaged one is an error of one line."""

    def wrapped(cls: type[Benchmarks], conf: Any, regex: Any = None) -> Benchmarks:
        path = Path(cls.get_benchmark_file_path(conf.results_dir))
        if path.exists():  # without one asv names the command that makes it
            try:
                benchmark_list_check.demand_whole(path)
            except DeepbenchError as wrong:
                raise UserError(str(wrong)) from None
        return extended(load(cls, conf), conf, regex)

    return wrapped


def extended(benchmarks: Benchmarks, conf: Any, regex: Any = None) -> Benchmarks:
    """Return the benchmarks with those of published results, as far as `regex` matches them."""
    found = {name: benchmark_list_check.without_markup(each) for name, each in benchmarks.items()}
    folders = sorted(path for path in Path(conf.results_dir).glob("*") if path.is_dir())
    for path in [path for folder in folders for path in published_results.paths(folder)]:
        try:
            published = result_files.read(path)
        except DeepbenchError:
            continue  # publishing names it
        for name in published.get_all_result_keys():
            _add(found, name, published.get_result_params(name) or [])
    return Benchmarks(conf, found.values(), regex)


def _add(found: dict[str, Any], name: str, params: list[list[str]]) -> None:
    if not benchmark_list_check.NAME.fullmatch(name):
        return
    known = found.get(name) or _published_only(name, len(params))
    if len(known["params"]) != len(params):
        return  # no kernel of this suite: the pages tell of it
    axes = [
        [*old, *(value for value in new if value not in old)]
        for old, new in zip(known["params"], params, strict=True)
    ]
    if axes != known["params"]:
        found[name] = {**known, "params": axes}


def _published_only(name: str, axes: int) -> dict[str, Any]:
    return {
        "name": name,
        "code": f"{name}: published figures, which nothing here measures",
        "param_names": list(_AXES[:axes]),
        "params": [[] for _ in range(axes)],
        "type": "time",
        "unit": "seconds",
        "timeout": 0,
        "version": "published",
    }


PATCHES = (
    Patch(
        Benchmarks,
        "load",
        _extending,
        "published benchmarks and sizes are in no list of the suite, and asv trusts its list",
    ),
)
