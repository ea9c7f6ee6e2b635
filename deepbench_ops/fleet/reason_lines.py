"""Lines about jobs with a reason each: one line for all jobs with the same reason."""

from collections import defaultdict
from collections.abc import Iterable


def of(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each reason, with the first of its jobs and the number of the others.

    reasons: name and reason of each job.
    """
    jobs: dict[str, list[str]] = defaultdict(list)
    for name, reason in reasons:
        jobs[reason].append(name)
    return [f"{_named(names)}: {reason}" for reason, names in jobs.items()]


def _named(names: list[str]) -> str:
    first, *others = names
    if not others:
        return first
    return f"{first} and {len(others)} {'other job' if len(others) == 1 else 'other jobs'}"
