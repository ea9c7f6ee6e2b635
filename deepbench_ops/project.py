"""The project folder, where results, environments and pages lie: a clone of the repository, or a
folder that `deepbench init` made.

It is the nearest folder, from the current one upwards, whose asv.conf.json loads our plugin:
other projects that use asv have a file of that name too.
"""

import os
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import json5

from deepbench_ops.errors import DeepbenchError, remedy
from deepbench_ops.storage import bounded_read

CONFIGURATION = "asv.conf.json"
PLUGIN = "deepbench_ops.asv_adapter.plugin"
FORMER_PLUGIN = "deepbench_ops.releases.plugin"
"""The plugin's name in configurations of version 0.1.0."""
PARSED = "<string>:"
"""The beginning of json5's messages that name a line."""
RESTORED = "restore it from git, or from a new folder of deepbench init"
MOVED = f"plugin '.{FORMER_PLUGIN}' has moved: write '.{PLUGIN}'"


def find(start: Path) -> Path | None:
    """Return the project folder that `start` is or lies in, None for none."""
    for folder in (start, *start.parents):
        try:
            content = bounded_read.read_bytes(folder / CONFIGURATION, bounded_read.SMALL)
        except (OSError, DeepbenchError):
            continue
        text = content.decode("utf-8", errors="replace")
        if PLUGIN in text or FORMER_PLUGIN in text:
            return folder
    return None


def root() -> Path:
    """Return the project folder that the current folder is or lies in, as a relative path.

    Raises DeepbenchError where there is none, or where the nearest configuration is damaged.
    """
    here = Path.cwd()
    found = find(here)
    if found is None:
        _demand_readable_configuration(here)
        raise DeepbenchError(
            f"{here} is in no project folder, which holds our {CONFIGURATION}: change to one, or"
            " make one with deepbench init FOLDER"
        )
    read_configuration(found / CONFIGURATION)
    return Path(os.path.relpath(found, here))


def _demand_readable_configuration(start: Path) -> None:
    """Raise DeepbenchError where the nearest configuration is so damaged that it may be ours."""
    for folder in (start, *start.parents):
        path = folder / CONFIGURATION
        if path.exists():
            read_configuration(path)
            return


def read_configuration(path: Path) -> dict[str, Any]:
    """Return the keys of a configuration, which may be wrong.

    Raises DeepbenchError for a file that cannot be read or is no JSON object.
    """
    try:
        values = deepcopy(_parsed(bounded_read.read_text(path, bounded_read.SMALL)))
    except FileNotFoundError as error:
        raise DeepbenchError(
            f"{path}: {error.strerror}: name the configuration of a project folder"
        ) from None
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}{remedy(error)}") from None
    except RecursionError:
        raise DeepbenchError(f"{path} is nested too deeply: mend it, or {RESTORED}") from None
    except ValueError as error:
        at_line = str(error).startswith(PARSED)
        where = f"line {str(error).removeprefix(PARSED)}" if at_line else str(error)
        mend = "mend that line" if at_line else RESTORED
        raise DeepbenchError(f"{path} is not JSON: {where}: {mend}") from None
    if not isinstance(values, dict):
        raise DeepbenchError(f"{path} holds no JSON object: put its keys between {{ and }}")
    return values


@lru_cache(maxsize=4)
def _parsed(text: str) -> Any:
    """Return the value of a JSON5 text; a command asks for the same one several times."""
    return json5.loads(text)


def results(folder: Path | None = None) -> Path:
    """Return a project's folder of results, results_dir of asv.conf.json.

    folder: of the project, that of the current folder if None. Raises DeepbenchError outside a
    project.
    """
    return _configured(folder, "results_dir", "results")


def store(results: Path) -> Path:
    """Return the folder of the Parquet files that are made from a folder of results.

    It lies next to these; next to the link where they are given as a symbolic link.
    """
    named = results.name not in ("", "..")
    return (results if named else results.resolve()).parent / "store"


def environments(folder: Path | None = None) -> Path:
    """Return the folder of the releases' environments, env_dir of asv.conf.json.

    As for `results`.
    """
    return _configured(folder, "env_dir", "env")


def _configured(folder: Path | None, key: str, usual: str) -> Path:
    """Return the folder that a key of the configuration names; asv's own default without it."""
    folder = root() if folder is None else folder
    return folder / str(read_configuration(folder / CONFIGURATION).get(key, usual))


def histories() -> Path:
    """Return the folder of the rounds of interrupted comparisons.

    Raises DeepbenchError outside a project.
    """
    return root() / ".asv" / "history"


def wheels() -> Path:
    """Return the folder of wheels that were built here. Raises DeepbenchError outside a project."""
    return root() / ".asv" / "wheels"
