"""A step of an optimiser over many tensors: SGD with momentum, AdamW or Muon."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.memory_bound import MemoryBound, Moved

NEWTON_SCHULZ_STEPS = 5
NEWTON_SCHULZ_PRECISION = "bfloat16"
"""Precision of Muon's products: its authors' code and torch.optim.Muon convert matrices to it."""


@dataclass(frozen=True)
class OptimizerStep(MemoryBound):
    """One step over `tensors` tensors of `height` x `width`; those of height 1 are vectors.

    sgd: m = 0.9·m + g; p = p - lr·m. adamw: Loshchilov and Hutter, 2017, with betas 0.9 and 0.999.
    muon: Jordan et al., 2024, whose momentum is made orthogonal by Newton-Schulz steps in bfloat16.

    step is the framework's default form. foreach_step does each elementary operation for all
    tensors in one call, and fused_step does the whole step in one call.
    """

    family: ClassVar[str] = "optimizer_step"
    position: ClassVar[int] = 223
    id_pattern: ClassVar[str] = (
        r"(?P<algorithm>sgd|adamw|muon)_tensors(?P<tensors>\d+)_(?P<height>\d+)x(?P<width>\d+)"
    )
    uncompared: ClassVar[tuple[str, ...]] = ()
    operations: ClassVar[tuple[str, ...]] = ("step", "foreach_step", "fused_step")
    totalled: ClassVar[tuple[str, ...]] = ("step",)
    precisions: ClassVar[tuple[str, ...]] = ("float32",)
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("adamw_tensors100_1x100000", "muon_tensors4_512x2048")
    }
    headline_reason: ClassVar[str] = (
        "the usual optimiser over many small tensors; the one that multiplies matrices "
    )
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"algorithm": ("sgd", "adamw", "muon")}

    algorithm: Annotated[str, "the optimiser"]
    tensors: Annotated[int, "tensors of parameters"]
    height: Annotated[int, "rows of a tensor, 1 for vectors"]
    width: Annotated[int, "columns of a tensor"]

    @property
    def id(self) -> str:
        """Id such as adamw_tensors100_1x100000."""
        return f"{self.algorithm}_tensors{self.tensors}_{self.height}x{self.width}"

    @property
    def title(self) -> str:
        """Title such as "AdamW step, 100 tensors of 100000"."""
        name = {"sgd": "SGD", "adamw": "AdamW", "muon": "Muon"}[self.algorithm]
        shape = f"{self.height} x {self.width}" if self.height > 1 else str(self.width)
        return f"{name} step, {self.tensors} tensors of {shape}"

    @property
    def parameters(self) -> int:
        """Count of numbers in all tensors."""
        return self.tensors * self.height * self.width

    @property
    def items(self) -> int:
        """Number of parameters."""
        return self.parameters

    def impossible(self) -> str:
        """Reason why no such problem can exist; "" where it can."""
        if self.algorithm == "muon" and min(self.height, self.width) < 2:
            return "Muon is for matrices: write two rows and columns or more"
        return ""

    def multiplied(self, name: str) -> str:
        """Return the precision of the products: bfloat16 for muon, whose parameters are float32."""
        return NEWTON_SCHULZ_PRECISION if self.algorithm == "muon" else super().multiplied(name)

    def work(self, operation: str) -> float:
        """For each parameter 4 (sgd) or 14 (adamw: decay, 3 and 4 for the moments, 6 for the
        step). muon: 5 steps of three products, 4·r²·c + 2·r³ with r the smaller size, and 9 for
        each parameter."""
        if self.algorithm != "muon":
            return (4 if self.algorithm == "sgd" else 14) * self.parameters
        r, c = sorted((self.height, self.width))
        products = NEWTON_SCHULZ_STEPS * (4 * r * r * c + 2 * r**3)
        return self.tensors * products + 9 * self.parameters

    def moved(self, operation: str) -> Moved:
        """Gradients, parameters and state read, parameters and state written; the state is one
        tensor for each parameter tensor, two for adamw."""
        changed = 3 if self.algorithm == "adamw" else 2
        return Moved((1 + changed) * self.parameters, changed * self.parameters)
