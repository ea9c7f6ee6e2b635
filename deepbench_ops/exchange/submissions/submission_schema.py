"""The JSON schema of submissions, and the reason why a submission does not fit it.

A submission that fits, as nearly all do, is accepted by jsonschema-rs, in a tenth of the time that
jsonschema takes. All others are checked by jsonschema, whose messages and places are shown; it also
decides about numbers that are not finite, which jsonschema-rs takes for null.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from deepbench_ops.errors import DeepbenchError


def check(submission: Any) -> None:
    """Raise DeepbenchError, with place and reason, where a submission does not fit the schema."""
    errors = [] if _fits(submission) else sorted(_validator().iter_errors(submission), key=str)
    if errors:
        where = "/".join(map(str, errors[0].absolute_path)) or "the file"
        raise DeepbenchError(f"{where}: {errors[0].message[:200]}")


def _fits(submission: Any) -> bool:
    try:
        return bool(_compiled().is_valid(submission))
    except (ValueError, RecursionError):  # half a character, or a thousand levels
        return False


@cache
def _compiled() -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(_schema())


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_schema())


@cache
def _schema() -> Any:
    return json.loads(files(__package__).joinpath("submission.schema.json").read_text("utf-8"))
