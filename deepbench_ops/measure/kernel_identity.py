"""The kernel that live workers of several releases time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class KernelIdentity:
    """A kernel, by its family, the problem's id, the precision and the operation."""

    family: str
    problem: str
    precision: str
    operation: str = "forward"
