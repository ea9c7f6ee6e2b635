"""Digest of the installed plugins, on which computed values depend as they do on this package."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from deepbench_ops.releases import project_and_plugin_wheels
from deepbench_ops.storage import input_digest


def of_plugins() -> str:
    """Return name and version of each plugin, and a digest of its files; "" without plugins.

    The files are those that pip lists, and those of the packages of its entry points: an editable
    install lists none of these.
    """
    found = project_and_plugin_wheels.installed()
    return " ".join(f"{name} {input_digest.of_files(_files(each))}" for name, each in found.items())


def of_plugins_of_this_process() -> str:
    """Return the same, computed once for a search path: a command asks for every machine."""
    return _of_path(tuple(sys.path))


@cache
def _of_path(_: tuple[str, ...]) -> str:
    return of_plugins()


def _files(plugin: metadata.Distribution) -> set[Path]:
    listed = {Path(str(plugin.locate_file(file))) for file in plugin.files or ()}
    files = listed | {path for folder in _packages(plugin) for path in folder.rglob("*")}
    return {path for path in files if path.suffix != ".pyc" and path.is_file()}


def _packages(plugin: metadata.Distribution) -> Iterator[Path]:
    """Yield the folders of the packages that the entry points name."""
    for name in {point.value.partition(":")[0].partition(".")[0] for point in plugin.entry_points}:
        with suppress(ImportError, ValueError):  # a faulty entry point has a message of its own
            spec = find_spec(name)
            yield from map(Path, spec.submodule_search_locations or () if spec else ())
