"""Convolutions of modern image networks: depthwise, in groups, and of patches."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.problem import MODERN_SETS, Problem


@dataclass(frozen=True)
class GroupedConv(Problem):
    """n images of c channels, h x w, with k filters of c/groups channels, r x s; channels last.

    groups = c is a depthwise convolution; a stride as large as the filter makes patches. Padding
    and stride are the same in both directions. No bias.
    """

    family: ClassVar[str] = "grouped_conv"
    position: ClassVar[int] = 170
    heading: ClassVar[str] = "grouped convolutions"
    id_pattern: ClassVar[str] = (
        r"groups(?P<groups>\d+)_w(?P<w>\d+)_h(?P<h>\d+)_c(?P<c>\d+)_n(?P<n>\d+)_k(?P<k>\d+)"
        r"_r(?P<r>\d+)_s(?P<s>\d+)_pad(?P<pad>\d+)_stride(?P<stride>\d+)"
    )
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16", "float16")
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward_data", "backward_weights")
    totalled: ClassVar[tuple[str, ...]] = operations
    smallest: ClassVar[Mapping[str, int]] = {"pad": 0}
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": (
            "groups512_w14_h14_c512_n32_k512_r7_s7_pad3_stride1",
            "groups1_w224_h224_c3_n32_k128_r4_s4_pad0_stride4",
        ),
    }
    headline_reason: ClassVar[str] = (
        "the layer that ConvNeXt calls most; the patches of its first layer "
    )

    groups: Annotated[int, "groups of channels"]
    w: Annotated[int, "width of an image, in pixels"]
    h: Annotated[int, "height of an image, in pixels"]
    c: Annotated[int, "channels of an image"]
    n: Annotated[int, "images in the batch"]
    k: Annotated[int, "filters: the channels of the output"]
    r: Annotated[int, "height of a filter, in pixels"]
    s: Annotated[int, "width of a filter, in pixels"]
    pad: Annotated[int, "rows and columns of zeros on each side of an image"] = 0
    stride: Annotated[int, "pixels from one position of a filter to the next"] = 1

    @property
    def id(self) -> str:
        """Id such as groups512_w14_h14_c512_n32_k512_r7_s7_pad3_stride1."""
        return (
            f"groups{self.groups}_w{self.w}_h{self.h}_c{self.c}_n{self.n}_k{self.k}_r{self.r}"
            f"_s{self.s}_pad{self.pad}_stride{self.stride}"
        )

    @property
    def title(self) -> str:
        """Title such as "depthwise convolution 7 x 7, 32 images of 14 x 14, 512 channels"."""
        images = "1 image" if self.n == 1 else f"{self.n} images"
        seen = f"{self.r} x {self.s}, {images} of {self.h} x {self.w}"
        if self.groups == self.c == self.k:
            return f"depthwise convolution {seen}, {self.c} channels"
        kind = "convolution" if self.groups == 1 else f"convolution in {self.groups} groups"
        return f"{kind} {seen}, {self.c} to {self.k} channels, stride {self.stride}"

    def impossible(self) -> str:
        """Reason for groups that do not divide the channels, or a filter larger than the image."""
        if self.c % self.groups or self.k % self.groups:
            return f"{self.groups} groups do not divide {self.c} and {self.k} channels"
        return self.each.impossible()

    @cached_property
    def each(self) -> Conv:
        """Convolution of one group."""
        return Conv(
            self.w,
            self.h,
            max(self.c // self.groups, 1),
            self.n,
            max(self.k // self.groups, 1),
            self.r,
            self.s,
            self.pad,
            self.pad,
            self.stride,
            self.stride,
        )

    @property
    def flops(self) -> int:
        """2·P·Q·N·K·(C/groups)·R·S, in each of the three passes."""
        return self.groups * self.each.flops

    @property
    def items(self) -> int:
        """n, the number of images."""
        return self.n

    @property
    def fast_factor(self) -> float:
        """Factor of the convolution of one group."""
        return self.each.fast_factor

    def traffic(self) -> tuple[float, float]:
        """Pixels that a filter covers and filters read once, the output written once: forward."""
        read, written = self.each.traffic()
        return self.groups * read, self.groups * written

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of the two tensors that a pass reads and of the one that it writes: see `Conv`."""
        return self.groups * self.each.bytes_of(name, operation)
