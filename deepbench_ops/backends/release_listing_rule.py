"""Rule for the rows of a framework in the release table: which releases, with which companions.

A framework's package may have a module `listed_releases` with such a rule, called `RULE`. Without
one the rows are written by hand.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

ALWAYS = datetime.date.max
"""Day of a ceiling that holds for all releases up to today."""


@dataclass(frozen=True)
class Rule:
    """Rule for the listed releases of a framework and their companions.

    oldest: first version that is listed.
    companions: names of the packages that are installed with the framework.
    on_request: whether environments are made only on request, because the install is large.
    same: companion that shares its version numbers with the framework: its newest version with the
        framework's minor version that is not above the framework's and only slightly below.
    nightly: package index with the nightly builds of the project, under the project's own name.
    ceilings: days and versions by companion. Releases from before the day accept only companions
        below the version. Not needed where the framework's metadata has an upper bound.
    """

    oldest: str
    companions: tuple[str, ...] = ()
    on_request: bool = True
    same: str = ""
    nightly: str = ""
    ceilings: Mapping[str, tuple[tuple[datetime.date, str], ...]] = field(default_factory=dict)
