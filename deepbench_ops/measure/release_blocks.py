"""Blocks of releases that share one, where memory does not hold all of them at once."""

from collections.abc import Iterator, Sequence
from random import Random


def blocks(
    names: Sequence[str], anchor: str | None, together: int | None, random: Random
) -> Iterator[list[str]]:
    """Yield blocks of names in random order, of `together` at most and nearly equal sizes.

    Each holds the anchor, the last name unless given.
    """
    anchor = names[-1] if anchor is None else anchor
    others = [name for name in names if name != anchor]
    random.shuffle(others)
    most = max(len(others) if together is None else together - 1, 1)
    count = max(1, -(-len(others) // most))
    for index in range(count):
        yield [anchor, *others[index::count]]
