"""Two-dimensional convolutions: images of n x c x h x w with k filters of c x r x s."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import Problem, Sheets, Table, computed

WRITTEN = {"forward": "output", "backward_data": "images", "backward_weights": "filters"}
"""The tensor that each pass writes (forward itself, backward its gradient); it reads the other
two."""

FAST_ALGORITHM = 4.0
"""Largest ratio of the products of the direct method and of a fast convolution: that of Winograd
with tiles of 4 x 4 outputs and filters of 3 x 3. The highest rate in results/ is 2.5 times the peak
(3 x 3 on the V100); 1 x 1 filters, which have no fast algorithm, stay below 1.25 times."""


@dataclass(frozen=True)
class Conv(Problem):
    """n images of c channels, h rows by w columns, convolved with k filters of r rows by s columns.

    r is the filter's height and s its width, whatever the order in which a list prints them.
    Padding and stride are given for the width (w, s) and for the height (h, r).
    """

    family: ClassVar[str] = "conv"
    heading: ClassVar[str] = "convolutions"
    title_names_operation: ClassVar[bool] = False
    position: ClassVar[int] = 20
    id_pattern: ClassVar[str] = (
        r"w(?P<w>\d+)_h(?P<h>\d+)_c(?P<c>\d+)_n(?P<n>\d+)_k(?P<k>\d+)_r(?P<r>\d+)_s(?P<s>\d+)"
        r"_pad(?P<pad_w>\d+)_(?P<pad_h>\d+)_stride(?P<stride_w>\d+)_(?P<stride_h>\d+)"
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward_data", "backward_weights")
    training_operations: ClassVar[tuple[str, ...]] = ("backward_data", "backward_weights")
    totalled: ClassVar[tuple[str, ...]] = operations
    smallest: ClassVar[Mapping[str, int]] = {"pad_w": 0, "pad_h": 0}
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "training": (
            "w700_h161_c1_n32_k32_r5_s20_pad0_0_stride2_2",
            "w54_h54_c64_n8_k64_r3_s3_pad1_1_stride1_1",
            "w224_h224_c3_n16_k64_r3_s3_pad1_1_stride1_1",
            "w7_h7_c512_n16_k512_r3_s3_pad1_1_stride1_1",
            "w28_h28_c192_n16_k32_r5_s5_pad2_2_stride1_1",
        ),
        "inference_server": (
            "w341_h79_c32_n4_k32_r5_s10_pad0_0_stride2_2",
            "w224_h224_c3_n1_k64_r7_s7_pad3_3_stride2_2",
            "w56_h56_c256_n1_k128_r1_s1_pad0_0_stride2_2",
            "w7_h7_c512_n2_k2048_r1_s1_pad0_0_stride1_1",
        ),
        "inference_device": (
            "w112_h112_c64_n1_k64_r1_s1_pad0_0_stride1_1",
            "w56_h56_c256_n1_k128_r1_s1_pad0_0_stride2_2",
            "w7_h7_c512_n1_k2048_r1_s1_pad0_0_stride1_1",
        ),
    }
    headline_reason: ClassVar[str] = "the rows of DeepBench's README"
    # The letters of the filter's sizes count: one revision swapped the words after R and S.
    sheets: ClassVar[Sheets] = Sheets(
        tables=(Table("Convolution", start="convolution"),),
        sizes={
            **{letter: letter for letter in "whcnkrs"},
            "pad_w": "pad_w",
            "pad_h": "pad_h",
            "horizontal stride": "stride_w",
            "vertical stride": "stride_h",
        },
        times={
            "forward": "forward",
            "wrt inputs": "backward_data",
            "wrt parameters": "backward_weights",
        },
    )
    layouts: ClassVar[tuple[str, ...]] = ("published", "channels_last")
    """NCHW as published, or with the channels of a pixel next to each other."""

    w: Annotated[int, "width of an image, in pixels"]
    h: Annotated[int, "height of an image, in pixels"]
    c: Annotated[int, "channels of an image"]
    n: Annotated[int, "images in the batch"]
    k: Annotated[int, "filters: the channels of the output"]
    r: Annotated[int, "height of a filter, in pixels"]
    s: Annotated[int, "width of a filter, in pixels"]
    pad_w: Annotated[int, "columns of zeros to the left and to the right of an image"] = 0
    pad_h: Annotated[int, "rows of zeros above and below an image"] = 0
    stride_w: Annotated[int, "columns from one position of a filter to the next"] = 1
    stride_h: Annotated[int, "rows from one position of a filter to the next"] = 1

    @property
    def id(self) -> str:
        """Id such as w700_h161_c1_n4_k32_r5_s20_pad0_0_stride2_2.

        r is the filter's height, s its width; pad and stride each have the number for the width
        first and that for the height second, in the order of w and h.
        """
        return (
            f"w{self.w}_h{self.h}_c{self.c}_n{self.n}_k{self.k}_r{self.r}_s{self.s}"
            f"_pad{self.pad_w}_{self.pad_h}_stride{self.stride_w}_{self.stride_h}"
        )

    def impossible(self) -> str:
        """Reason for a filter that does not fit into the padded image."""
        fits = min(self.p, self.q) >= 1
        return "" if fits else "the filter is larger than the padded image"

    @property
    def title(self) -> str:
        """Title such as "3 x 3, 64 to 64 channels, 54 x 54, batch 8": filter, channels, image."""
        strides = {self.stride_h, self.stride_w}
        stride = "" if strides == {1} else f", stride {' x '.join(map(str, sorted(strides)))}"
        filter = f"{self.r} x {self.s}, {self.c} to {self.k} channels"
        return f"{filter}, {self.h} x {self.w}{stride}, batch {self.n}"

    @property
    def p(self) -> int:
        """Rows of the output: (h - r + 2 pad_h) // stride_h + 1."""
        return (self.h - self.r + 2 * self.pad_h) // self.stride_h + 1

    @property
    def q(self) -> int:
        """Columns of the output: (w - s + 2 pad_w) // stride_w + 1."""
        return (self.w - self.s + 2 * self.pad_w) // self.stride_w + 1

    @property
    def first_layer(self) -> bool:
        """Whether the images are the input of a network: 3 channels or fewer.

        The published training sheets print N/A for the backward pass to the data of exactly these
        problems, "since they are typically the input layers of a neural network": a picture has
        three colours or one, a spectrogram one channel, and outputs of layers have more. (Some
        sheets of 2017 and 2018 nevertheless print a figure.)
        """
        return self.c <= 3

    @property
    def flops(self) -> int:
        """2·P·Q·N·K·C·R·S, as DeepBench counts each of its three passes.

        P are the rows of the output and Q its columns, as cuDNN and CUTLASS name them.

        The three passes are forward, backward to the data and backward to the weights. The count is
        that of the direct method, also for algorithms that need fewer operations.
        """
        return 2 * self.p * self.q * self.n * self.k * self.c * self.r * self.s

    @property
    def items(self) -> int:
        """n, the number of images in the batch."""
        return self.n

    @property
    def fast_factor(self) -> float:
        """FAST_ALGORITHM for filters larger than 1 x 1.

        For 1 x 1 filters it is the number of all outputs divided by that of outputs inside the
        image, since products with the zeros of the padding can be left out.
        """
        if self.r * self.s > 1:
            return FAST_ALGORITHM
        rows, columns = self._read
        return self.p * self.q / max(rows * columns, 1)

    @property
    def elements(self) -> dict[str, int]:
        """Elements of images, filters and output."""
        return {
            "images": self.n * self.c * self.h * self.w,
            "filters": self.k * self.c * self.r * self.s,
            "output": self.n * self.k * self.p * self.q,
        }

    def traffic(self) -> tuple[int, int]:
        """Images and filters read once, the output written once: the forward pass.

        Of the images only the pixels that some position of a filter covers are read: a filter
        smaller than its stride skips some, and the last rows and columns may be too few for another
        position. Each backward pass moves the same three tensors, reading two and writing one: see
        `bytes_of`.
        """
        sizes = self.elements
        return self._images_read + sizes["filters"], sizes["output"]

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of the two tensors that the pass reads and of the one that it writes.

        The gradient of the images has all pixels: zeros where no filter reads. The passes differ
        otherwise only where input and output types do (int8).
        """
        weight = precision(name)
        written = WRITTEN[computed(operation)]
        moved = self.elements
        if written != "images":
            moved["images"] = self._images_read
        result = moved.pop(written)
        return sum(moved.values()) * weight.input_bytes + result * weight.output_bytes

    @property
    def _images_read(self) -> int:
        """Elements of the images that some position of a filter covers."""
        rows, columns = self._read
        return self.n * self.c * rows * columns

    @property
    def _read(self) -> tuple[int, int]:
        """Rows and columns of an image that some position of a filter covers."""
        return (
            _pixels_read(self.h, self.pad_h, self.stride_h, self.r, self.p),
            _pixels_read(self.w, self.pad_w, self.stride_w, self.s, self.q),
        )


def _pixels_read(size: int, pad: int, stride: int, filter: int, outputs: int) -> int:
    """Return the number of pixels along one axis of an image that some position of a filter covers.

    filter: its size. outputs: the number of its positions. Pixels of the padding do not count. In
    each stride the first min(filter, stride) pixels are covered.
    """
    each = min(filter, stride)
    end = min(pad + size, (outputs - 1) * stride + filter)
    start = min(pad, end)
    covered = [place // stride * each + min(place % stride, each) for place in (start, end)]
    return covered[1] - covered[0]
