"""What asv does not check about its configuration.

asv takes unknown keys in silence, so a misspelt ``launch_method`` measures something else, and
it takes a plugin entry without its leading dot for the name of one of its own, finds none and
says nothing. Both are one line here.
"""

import difflib
import pkgutil
from pathlib import Path
from typing import Any

import asv.plugins
import json5
from asv.config import Config

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import limited

NUMBER = (int, float)
TEXTS = "a list of texts"
TEXT_OR_TEXTS = "a text or a list of texts"

# Keys that asv reads without having them among its defaults.
EXTRA = {"build_cache_size": int, "version": int}
TYPES: dict[str, Any] = {
    "branches": TEXTS,
    "build_command": TEXT_OR_TEXTS,
    "conda_channels": TEXTS,
    "exclude": list,
    "hash_length": int,
    "include": list,
    "install_command": TEXT_OR_TEXTS,
    "install_timeout": NUMBER,
    "default_benchmark_timeout": NUMBER,
    "matrix": dict,
    "plugins": TEXTS,
    "pythons": TEXTS,
    "regressions_first_commits": dict,
    "regressions_thresholds": dict,
    "uninstall_command": TEXT_OR_TEXTS,
    **EXTRA,
}
LAUNCH_METHODS = ("auto", "spawn", "forkserver")


def load(path: Path) -> dict[str, Any]:
    """Read and check a configuration file.

    Raises
    ------
    DeepbenchError
        It cannot be read or parsed, or ``check`` found a mistake.
    """
    try:
        values = json5.loads(limited.read_text(path, limited.SMALL))
    except OSError as error:
        raise DeepbenchError(
            f"{path}: {error.strerror}: name the configuration of a project folder"
        ) from None
    except (ValueError, RecursionError) as error:
        where = str(error).removeprefix("<string>:")
        raise DeepbenchError(f"{path} is not JSON: line {where}: mend that line") from None
    if not isinstance(values, dict):
        raise DeepbenchError(f"{path} holds no JSON object: put its keys between {{ and }}")
    check(values, str(path))
    return values


def check(values: dict[str, Any], where: str = "asv.conf.json") -> None:
    """Check the keys of a configuration.

    Raises
    ------
    DeepbenchError
        A key is unknown, has a value of a wrong type, or names a plugin that asv would ignore.
    """
    known = sorted({*vars(Config()), *EXTRA})
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            mend = f"write {near[0]!r}" if near else "remove it"
            raise DeepbenchError(f"{where}: unknown key {key!r}, which asv would ignore: {mend}")
        if value != getattr(Config(), key, None):
            _check_type(where, key, value)
    for entry in values.get("plugins") or []:
        _check_plugin(where, entry)
    if values.get("environment_type") == "release":
        _check_release(where, values)


def _check_type(where: str, key: str, value: object) -> None:
    kind = TYPES.get(key, str)
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind is TEXTS:
        right, wanted = texts, TEXTS
    elif kind is TEXT_OR_TEXTS:
        right, wanted = texts or isinstance(value, str), TEXT_OR_TEXTS
    else:
        right = isinstance(value, kind) and not isinstance(value, bool)
        wanted = {str: "a text", int: "a whole number", NUMBER: "a number", list: "a list"}.get(
            kind, "an object"
        )
    if not right:
        raise DeepbenchError(f"{where}: {key} is {value!r}: write {wanted}")


def _check_plugin(where: str, entry: str) -> None:
    own = [module.name for module in pkgutil.iter_modules(asv.plugins.__path__)]
    if not entry.startswith(".") and not any(entry in name for name in own):
        raise DeepbenchError(
            f"{where}: plugin {entry!r} is none of asv's own and would be ignored: "
            f"write {'.' + entry!r}"
        )


def _check_release(where: str, values: dict[str, Any]) -> None:
    """What environments of releases need beyond what asv needs."""
    if values.get("launch_method") not in (None, *LAUNCH_METHODS):
        raise DeepbenchError(
            f"{where}: launch_method is {values['launch_method']!r}: "
            f"write one of {', '.join(LAUNCH_METHODS)}"
        )
    if values.get("pythons") != ["3"]:
        raise DeepbenchError(
            f'{where}: pythons is {values.get("pythons")!r}: write ["3"], because the version '
            "would become part of every graph's name"
        )
    extra = sorted(set(values.get("matrix") or {}) - {"env", "env_nobuild"})
    if extra:
        raise DeepbenchError(
            f"{where}: matrix has {extra[0]!r}: packages belong in the pins of the release "
            "table; write env_nobuild for run conditions"
        )
