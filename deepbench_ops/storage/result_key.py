"""The key of a result: the benchmark and its parameters."""

from collections.abc import Iterable

ResultKey = tuple[str, tuple[str, ...]]
"""Name of a benchmark, and the texts of its parameters: with quotes in asv's files, which hold them
as Python writes texts, and without in records of measurements."""


def unquoted(benchmark: str, parameters: Iterable[object]) -> ResultKey:
    """Return the key whose parameters are without asv's quotes."""
    return benchmark, tuple(str(parameter).strip("'") for parameter in parameters)
