"""Readers of published sizes of modern operations, one module for each family.

A module here is named after a family of `deepbench_ops/problems/` and has

- ``KINDS``: the kinds of published lines that it reads, such as ``("gemm_llm",)``;
- ``entries(fact)``: the problems of one line, nearly always one. Raises `LeftOut`, with the reason,
  for a line that names no problem of this family;
- ``OURS``: entries with sizes of this project, () if the published ones are enough.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from deepbench_ops.problems.problem import Problem

CORE = "core; "
"""Start of the note of a size that two processor cores can run."""

FLOAT32_ADDED = "float32 added by this project"
OWN = "size of this project, for processors"

NOT_MEASURED = {
    "attention_index": "no measured framework has these scores as an operation on a processor",
}
"""Reasons, by the name or the kind of published lines, why no module reads them."""

TYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


class LeftOut(Exception):
    """A published line from which no problem can be made, with the reason."""


@dataclass(frozen=True)
class Fact:
    """One published size.

    kind: the list's own name of the operation. dims: sizes by name, as text. dtypes, operations:
    the types and operations that its source names, as the list spells them. core: whether two
    processor cores can run it.
    """

    kind: str
    name: str
    dims: Mapping[str, str]
    dtypes: tuple[str, ...]
    operations: tuple[str, ...]
    source: str
    core: bool
    note: str

    @classmethod
    def of(cls, line: Mapping[str, str]) -> "Fact":
        """Return the size of one line of the list."""
        return cls(
            kind=line["family"],
            name=line["name"],
            dims=dict(size.split("=", 1) for size in line["dims"].split(";")),
            dtypes=tuple(line["dtype"].split("|")),
            operations=tuple(line["operation"].split("|")),
            source=f"{line['source_repo']} {line['source_path']}",
            core=line["note"].startswith(CORE.strip()),
            note=_without_work(line["note"].removeprefix(CORE)),
        )

    def size(self, name: str, default: int | None = None) -> int:
        """Return a size. If the line does not name it: `default`, or LeftOut is raised."""
        if name not in self.dims and default is not None:
            return default
        try:
            return int(self.dims[name])
        except (KeyError, ValueError):
            raise LeftOut(f"{name} is {self.dims.get(name, 'missing')}") from None

    @property
    def type_notes(self) -> list[str]:
        """Notes on the types: the published types, and whether this project added float32."""
        published = [TYPES.get(each, each) for each in self.dtypes]
        added = [] if "float32" in published else [FLOAT32_ADDED]
        return [f"published in {', '.join(published)}", *added]


@dataclass(frozen=True)
class Entry:
    """One problem of a family, made from one published line.

    modern: whether it is in the smaller of the two sets. application: the model, or the test, from
    which the size comes. timed: its timed operations, () for all operations of its family.
    """

    problem: Problem
    modern: bool
    application: str
    source: str
    notes: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()


def _without_work(note: str) -> str:
    """Return a note without the FLOPs at its beginning, which follow from the sizes."""
    first, _, rest = note.partition("; ")
    return rest if first.endswith("GFLOP") else note
