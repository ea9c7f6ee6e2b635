"""Check of asv's configuration, by a JSON schema.

asv ignores unknown keys, so a misspelt ``launch_method`` measures under other conditions. It takes
a plugin entry without its leading dot for the name of one of its own, and ignores it where there is
none. Both are errors of one line here.
"""

import difflib
import json
import pkgutil
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepbench_ops import project
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.project import read_configuration

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

SCHEMA = "asv.conf.schema.json"


def load(path: Path) -> dict[str, Any]:
    """Read and check a configuration file.

    Raises
    ------
    DeepbenchError
        It cannot be read or parsed, or ``check`` found a mistake.
    """
    values = read_configuration(path)
    check(values, str(path))
    return values


def check(values: dict[str, Any], where: str = "asv.conf.json") -> None:
    """Check a configuration against the schema, and that asv imports its plugins.

    Raises
    ------
    DeepbenchError
        A key is unknown, has a wrong value, or names a plugin that asv would ignore.
    """
    error = min(_validator().iter_errors(values), key=_order, default=None)
    if error is not None:
        raise DeepbenchError(f"{where}: {_mistake(error)}")
    for entry in values.get("plugins", ()):
        _check_plugin(where, entry)


def _order(error: "ValidationError") -> tuple[bool, str]:
    """Return the place of an error: unknown keys first, which often explain missing ones."""
    return error.validator != "additionalProperties", str(list(error.path))


def _mistake(error: "ValidationError") -> str:
    """Return the mistake and its mend, which the schema's descriptions word."""
    schema: Any = error.schema
    value: Any = error.instance
    where = error.json_path.removeprefix("$").removeprefix(".")
    if error.validator == "additionalProperties":
        known = sorted(schema["properties"])
        key = min(set(value).difference(known))
        if where:
            return f"{where} has {key!r}: write {schema['description']}"
        near = difflib.get_close_matches(key, known, n=1)
        mend = f"write {near[0]!r}" if near else "remove it"
        return f"unknown key {key!r}, which asv would ignore: {mend}"
    if error.validator == "required":
        key = next(key for key in schema["required"] if key not in value)
        return f"{key} is missing: write {schema['properties'][key]['description']}"
    return f"{where} is {value!r}: write {schema['description']}"


@cache
def _validator() -> "Draft202012Validator":
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(files(__package__).joinpath(SCHEMA).read_text("utf-8")))


def _check_plugin(where: str, entry: str) -> None:
    import asv.plugins

    if entry.removeprefix(".") == project.FORMER_PLUGIN:
        raise DeepbenchError(f"{where}: {project.MOVED}")
    own = [module.name for module in pkgutil.iter_modules(asv.plugins.__path__)]
    if not entry.startswith(".") and not any(entry in name for name in own):
        raise DeepbenchError(
            f"{where}: plugin {entry!r} is none of asv's own and would be ignored: "
            f"write {'.' + entry!r}"
        )
