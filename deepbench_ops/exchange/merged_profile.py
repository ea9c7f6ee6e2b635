"""One profile of a machine from two: the later one, with the yardsticks of both."""

import json
from dataclasses import asdict, replace
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.profile import Profile


def merged(known: Profile | None, sent: Profile) -> Profile:
    """Return one profile for `known`, the profile stored here, and `sent`, that of a submission.

    Raises DeepbenchError for yardsticks that differ in a nominal reading or in their version.
    """
    if known is None:
        return sent
    measured = [one for one in (known, sent) if one.yardsticks]
    both: dict[tuple[str, str], tuple[str, Any]] = {}
    for one in measured:
        for count, figures in one.yardsticks.items():
            for kind, figure in figures.items():
                version = one.yardstick_version
                if both.setdefault((count, kind), (version, figure)) != (version, figure):
                    raise DeepbenchError(
                        f"its yardsticks have other nominal readings than those of {known.machine}"
                        " here: times that were divided by them do not compare"
                    )
    if len({one.yardstick_version for one in measured}) > 1:
        raise DeepbenchError(f"its yardsticks are of another version than {known.machine}'s here")
    yardsticks: dict[str, Any] = {}
    for (count, kind), (_, figure) in sorted(both.items()):
        yardsticks.setdefault(count, {})[kind] = figure
    return replace(
        max(known, sent, key=_rank),
        yardstick_version=max(one.yardstick_version for one in measured or (known, sent)),
        yardsticks=yardsticks,
    )


def _rank(one: Profile) -> tuple[str, str]:
    plain = replace(one, yardstick_version="", yardsticks={})
    return one.date, json.dumps(asdict(plain), sort_keys=True)
