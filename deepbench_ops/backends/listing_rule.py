"""The rule by which releases of a framework are listed, and what their environments hold.

A framework's package may hold a module `listed_releases` with one, called `RULE`. Without it the
rows are written by hand.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

ALWAYS = datetime.date.max
"""The day of a ceiling that still holds."""


@dataclass(frozen=True)
class Rule:
    """Which releases of a framework are listed, and with which companions.

    oldest: the first version that is listed.
    on_request: whether it is a large install, made only on request.
    same: a companion of the same minor version, not above the framework's and hardly below.
    nightly: the index on which the project publishes nightly builds under its own name.
    ceilings: by companion, days and versions: releases before a day took only what is below that
        version. Frameworks whose metadata bound their companions from both sides need none.
    """

    oldest: str
    companions: tuple[str, ...] = ()
    on_request: bool = True
    same: str = ""
    nightly: str = ""
    ceilings: Mapping[str, tuple[tuple[datetime.date, str], ...]] = field(default_factory=dict)
