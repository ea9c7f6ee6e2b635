"""Convolutions in groups: operands, and the reference, which is `conv`'s for each group."""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from deepbench_ops.backends.families import conv
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_conv import GroupedConv
from deepbench_ops.random_operands import floats

SMALL = {"groups": 24, "w": 35, "h": 17, "c": 24, "n": 2, "k": 24}
"""Largest sizes of a small twin. Groups of 1, 2, 3, 4, 6, 8 and 12 channels divide 24 channels."""

PROBE = {"groups": 48, "w": 32, "h": 32, "c": 48, "n": 4, "k": 48}

CHANNELS = {"forward": 1, "backward_data": 1, "backward_weights": 0}
"""Axis of the output that the groups divide, by pass."""

FIRST_LAYER = 3
"""Channels of a picture. No operation uses the gradient of a picture, the input of a network."""


def refuse(problem: GroupedConv, precision: str, operation: str) -> None:
    """Raise Unsupported for groups that do not divide the channels, and for the gradient of a
    network's input pictures, which no operation uses."""
    reason = problem.impossible()
    if reason:
        raise Unsupported(reason)
    if operation == "backward_data" and problem.c <= FIRST_LAYER:
        raise Unsupported("nothing consumes the gradient of a network's input pictures")


def memory_needed(problem: GroupedConv, operation: str, execution: str) -> float:
    """Return the bytes of the convolutions of all groups."""
    return problem.groups * conv.memory_needed(problem.each, operation, execution)


@dataclass(frozen=True)
class GroupedConvInputs:
    """C-contiguous operands with the axes N, C, H, W (filters K, C/groups, R, S).

    In a precision that numpy lacks they are float32 with values of that precision.
    """

    problem: GroupedConv
    precision: str
    seed: int

    @property
    def half_width(self) -> float:
        """Bound f of the filters' interval [-f, f): f = 3/sqrt(c/groups·r·s), which gives the
        output unit variance."""
        each = self.problem.each
        return float(3 / np.sqrt(each.c * each.r * each.s))

    @cached_property
    def images(self) -> np.ndarray:
        """Images, n x c x h x w."""
        p = self.problem
        return floats((p.n, p.c, p.h, p.w), self.precision, 1.0, self.seed, 0)

    @cached_property
    def filters(self) -> np.ndarray:
        """Filters, k x c/groups x r x s."""
        p = self.problem
        shape = (p.k, p.each.c, p.r, p.s)
        return floats(shape, self.precision, self.half_width, self.seed, 1)

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the output, n x k x p x q."""
        p = self.problem
        return floats((p.n, p.k, p.each.p, p.each.q), self.precision, 1.0, self.seed, 2)

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution and layout of the operands."""
        return {
            "inputs": f"images and output gradient uniform in ±1, filters in ±{self.half_width:.4g}"
            f" = 3/sqrt(c/groups·r·s); raw bits of SFC64, seed {self.seed}",
            "layout": "channels last: NHWC, filters KRSC",
            "padding": "none",
        }

    def group_operands(self, group: int) -> Any:
        """Return the images, filters and output gradient of one group."""
        p = self.problem
        inner = slice(group * p.each.c, (group + 1) * p.each.c)
        outer = slice(group * p.each.k, (group + 1) * p.each.k)
        return SimpleNamespace(
            images=self.images[:, inner],
            filters=self.filters[outer],
            gradient=self.gradient[:, outer],
        )


def inputs(problem: GroupedConv, precision: str, seed: int = 0) -> GroupedConvInputs:
    """Return the operands of `problem` in `precision`."""
    return GroupedConvInputs(problem, precision, seed)


def reference(
    problem: GroupedConv, drawn: GroupedConvInputs, precision: str, operation: str
) -> "GroupedReference":
    """Return the reference of one pass."""
    return GroupedReference(problem, drawn, precision, operation)


@dataclass(frozen=True)
class GroupedReference:
    """Reference of one pass, made of the references in `conv` of the convolution of each group."""

    problem: GroupedConv
    inputs: GroupedConvInputs
    precision: str
    operation: str

    @property
    def axis(self) -> int:
        """Axis of the output that the groups divide."""
        return CHANNELS[self.operation]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the output of the pass."""
        one = self._judge(0).shape
        return tuple(
            size * (self.problem.groups if axis == self.axis else 1)
            for axis, size in enumerate(one)
        )

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of all entries; for small problems."""
        found = [self._judge(group).everywhere() for group in range(self.problem.groups)]
        expected, allowed = (
            np.concatenate(part, axis=self.axis) for part in zip(*found, strict=True)
        )
        return expected, allowed

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries, each from its own group."""
        wide = self.shape[self.axis] // self.problem.groups
        groups, inner = np.divmod(index[self.axis], wide)
        local = tuple(inner if axis == self.axis else at for axis, at in enumerate(index))
        found = np.empty((2, groups.size))
        for group in np.unique(groups):
            own = groups == group
            found[:, own] = self._judge(int(group)).at(tuple(at[own] for at in local))
        return found[0], found[1]

    def _judge(self, group: int) -> Reference:
        drawn = self.inputs.group_operands(group)
        return conv.reference(self.problem.each, drawn, self.precision, self.operation)
