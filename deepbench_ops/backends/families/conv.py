"""Convolutions without bias: operands for all frameworks, and references of the three passes.

Tensors are compared by their logical axes (image, channel, row, column), in any memory layout.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import allowed
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv
from deepbench_ops.random_operands import aligned_empty, floats, int8

SMALL = {"w": 41, "h": 17, "c": 19, "n": 3, "k": 21}
"""Wide enough for the widest filter, 20; odd sizes, multiples of no vector or tile of a library."""

PROBE = {"w": 64, "h": 32, "c": 32, "n": 2, "k": 32}


def refuse(problem: Conv, precision: str, operation: str) -> None:
    """Raise Unsupported for a pass that the published method does not time."""
    if operation == "backward_data" and problem.first_layer:
        raise Unsupported(
            "the first layer's backward data is not part of the published method: nothing"
            " consumes the gradient of the input images"
        )
    if operation != "forward" and precision == "int8":
        raise Unsupported(
            "int8 is a precision of inference, which has no backward passes: training multiplies"
            " in at least 16 bits"
        )


def memory_needed(problem: Conv, operation: str, execution: str) -> float:
    """Return the bytes of images, filters and output in float32, drawn and converted.

    Pixels that no position of a filter covers count as well.
    """
    return 2 * 4 * sum(problem.elements.values())


@dataclass(frozen=True)
class ConvInputs:
    """The operands of a convolution, each drawn at its first use.

    Arrays are C-contiguous in the published order (NCHW) and 64-byte aligned. In a precision that
    numpy lacks (tf32, bfloat16) they are float32 with values of that precision.
    """

    problem: Conv
    precision: str
    seed: int = 0

    @cached_property
    def images(self) -> np.ndarray:
        """Images, n x c x h x w."""
        p = self.problem
        return self._draw((p.n, p.c, p.h, p.w), 1.0, 0)

    @cached_property
    def filters(self) -> np.ndarray:
        """Filters, k x c x r x s."""
        p = self.problem
        return self._draw((p.k, p.c, p.r, p.s), self._filter_half_width, 1)

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the output, n x k x p x q."""
        p = self.problem
        return self._draw((p.n, p.k, p.p, p.q), 1.0, 2)

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution of the operands."""
        if self.precision == "int8":
            drawn = "all uniform in -128..127"
        else:
            drawn = (
                "images and output gradient uniform in +-1, filters in"
                f" +-{self._filter_half_width:.4g} = 3/sqrt(crs)"
            )
        return {"inputs": f"{drawn}; raw bits of SFC64, seed {self.seed}", "padding": "none"}

    @property
    def _filter_half_width(self) -> float:
        """Bound f of the filters' interval [-f, f), which gives the output unit variance."""
        p = self.problem
        return float(3 / np.sqrt(p.c * p.r * p.s))

    def _draw(self, shape: tuple[int, ...], half_width: float, stream: int) -> np.ndarray:
        if self.precision == "int8":
            return int8(shape, self.seed, stream)
        return floats(shape, self.precision, half_width, self.seed, stream)


def inputs(problem: Conv, precision: str, seed: int = 0) -> ConvInputs:
    """Draw the operands of `problem` in `precision`.

    Floating-point images and gradients are uniform in [-1, 1), filters in [-f, f) with
    f = 3/sqrt(c·r·s). int8 operands are uniform over the full range -128..127.
    """
    return ConvInputs(problem, precision, seed)


def in_layout(values: np.ndarray, layout: str) -> np.ndarray:
    """Return `values` (four axes, NCHW) with the same axes in the memory order of `layout`.

    For channels_last it is a view of a copy whose second axis varies fastest, otherwise `values`
    themselves. The strides are those of the layout even along axes of length 1, where a framework
    would otherwise have to guess.
    """
    return values if layout == "published" else channels_last_copy(values).transpose(0, 3, 1, 2)


def channels_last_copy(values: np.ndarray) -> np.ndarray:
    """Return a C-contiguous NHWC copy of `values` (NCHW), or a KRSC copy of filters (KCRS)."""
    swapped = values.transpose(0, 2, 3, 1)
    stored = aligned_empty(swapped.shape, values.dtype)
    stored[...] = swapped
    return stored


LAYOUT_NOTES = {
    "published": "NCHW, filters KCRS",
    "channels_last": "channels last: NHWC, filters KRSC",
}
"""Notes for the record, by layout."""


def reference(problem: Conv, drawn: ConvInputs, precision: str, operation: str) -> "ConvReference":
    """Return the reference of one pass."""
    if operation == "forward":
        return ForwardReference(problem, drawn, precision)
    if operation == "backward_data":
        return BackwardDataReference(problem, drawn, precision)
    return BackwardWeightsReference(problem, drawn, precision)


@dataclass(frozen=True)
class ConvReference(ABC):
    """Reference of one pass, computed in float64 (int64 for int8) from the kernel's operands.

    The tolerance is that of `tolerance.allowed` for the number of products in an entry's sum; only
    the entry itself is stored, once.
    """

    problem: Conv
    inputs: ConvInputs
    precision: str

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the output of the pass."""

    @property
    @abstractmethod
    def terms(self) -> int:
        """Largest number of products in the sum of an entry."""

    @abstractmethod
    def operands(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the two tensors that the pass reads: images (N, C, H, W), filters (K, C, R, S) or
        the gradient of the output (N, K, P, Q)."""

    @abstractmethod
    def _whole(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the whole output of the pass for two operands, in float64 or int64."""

    @abstractmethod
    def _products(self, index: Index) -> list[np.ndarray]:
        """Return, for each entry of `index`, the products in its sum, in float64 or int64."""

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both of `shape`; for small problems."""
        left, right = map(widened, self.operands())
        return self._judge(self._whole(left, right), self._whole(left**2, right**2))

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries, computed from the products of these alone."""
        products = self._products(index)
        sums = np.array([each.sum() for each in products])
        return self._judge(sums, np.array([(each**2).sum() for each in products]))

    def _judge(self, expected: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return expected, allowed(self.precision, self.terms, np.sqrt(squares), np.abs(expected))


class ForwardReference(ConvReference):
    """output[n, k, p, q] = sum over c, r, s of images[n, c, p·stride + r - pad, ...]·filters."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the output, (n, k, p, q)."""
        p = self.problem
        return p.n, p.k, p.p, p.q

    @property
    def terms(self) -> int:
        """Number of products in the sum of an entry, c·r·s."""
        p = self.problem
        return p.c * p.r * p.s

    def operands(self) -> tuple[np.ndarray, np.ndarray]:
        return self.inputs.images, self.inputs.filters

    def _whole(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        p = self.problem
        padded = _padded(p, left)
        output = np.zeros((p.n, p.k, p.p * p.q), dtype=left.dtype)
        for r, s in np.ndindex(p.r, p.s):
            output += right[:, :, r, s] @ _seen(p, padded, r, s).reshape(p.n, p.c, -1)
        return output.reshape(self.shape)

    def _products(self, index: Index) -> list[np.ndarray]:
        p = self.problem
        found = []
        for n, k, row, column in zip(*index, strict=True):
            down, r = _inside(row * p.stride_h - p.pad_h, p.r, p.h)
            along, s = _inside(column * p.stride_w - p.pad_w, p.s, p.w)
            seen = widened(self.inputs.images[n, :, down, along])
            found.append(seen * widened(self.inputs.filters[k, :, r, s]))
        return found


class BackwardDataReference(ConvReference):
    """Gradient of the images: each entry of the output's gradient, times the filter, added to the
    pixels that the filter covered."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the output, (n, c, h, w)."""
        p = self.problem
        return p.n, p.c, p.h, p.w

    @property
    def terms(self) -> int:
        """Largest number of products in the sum of an entry, k·ceil(r/stride)·ceil(s/stride)."""
        p = self.problem
        return p.k * -(-p.r // p.stride_h) * -(-p.s // p.stride_w)

    def operands(self) -> tuple[np.ndarray, np.ndarray]:
        return self.inputs.gradient, self.inputs.filters

    def _whole(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        p = self.problem
        padded = _padded(p, np.zeros(self.shape, dtype=left.dtype))
        flat = left.reshape(p.n, p.k, -1)
        for r, s in np.ndindex(p.r, p.s):
            spread = right[:, :, r, s].T @ flat
            _seen(p, padded, r, s)[...] += spread.reshape(p.n, p.c, p.p, p.q)
        return padded[:, :, p.pad_h : p.pad_h + p.h, p.pad_w : p.pad_w + p.w]

    def _products(self, index: Index) -> list[np.ndarray]:
        p = self.problem
        found = []
        for n, c, row, column in zip(*index, strict=True):
            down, r = _reaching(row + p.pad_h, p.r, p.stride_h, p.p)
            along, s = _reaching(column + p.pad_w, p.s, p.stride_w, p.q)
            gradient = widened(self.inputs.gradient[n][:, down[:, None], along])
            found.append(gradient * widened(self.inputs.filters[:, c][:, r[:, None], s]))
        return found


class BackwardWeightsReference(ConvReference):
    """Gradient of the filters: the output's gradient times the pixel that a filter entry covered,
    summed over all images and positions."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the output, (k, c, r, s)."""
        p = self.problem
        return p.k, p.c, p.r, p.s

    @property
    def terms(self) -> int:
        """Largest number of products in the sum of an entry, n·p·q."""
        p = self.problem
        return p.n * p.p * p.q

    def operands(self) -> tuple[np.ndarray, np.ndarray]:
        return self.inputs.gradient, self.inputs.images

    def _whole(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        p = self.problem
        padded = _padded(p, right)
        filters = np.zeros(self.shape, dtype=left.dtype)
        for r, s in np.ndindex(p.r, p.s):
            axes = ([0, 2, 3], [0, 2, 3])
            filters[:, :, r, s] = np.tensordot(left, _seen(p, padded, r, s), axes)
        return filters

    def _products(self, index: Index) -> list[np.ndarray]:
        p = self.problem
        found = []
        for k, c, r, s in zip(*index, strict=True):
            row, down = _positions(r - p.pad_h, p.stride_h, p.p, p.h)
            column, along = _positions(s - p.pad_w, p.stride_w, p.q, p.w)
            gradient = widened(self.inputs.gradient[:, k, row, column])
            found.append(gradient * widened(self.inputs.images[:, c, down, along]))
        return found


def _padded(p: Conv, images: np.ndarray) -> np.ndarray:
    return np.pad(images, ((0, 0), (0, 0), (p.pad_h, p.pad_h), (p.pad_w, p.pad_w)))


def _seen(p: Conv, padded: np.ndarray, r: int, s: int) -> np.ndarray:
    """Return the pixels of padded images that filter entry (r, s) covers, a view n x c x p x q."""
    down = slice(r, r + p.stride_h * (p.p - 1) + 1, p.stride_h)
    along = slice(s, s + p.stride_w * (p.q - 1) + 1, p.stride_w)
    return padded[:, :, down, along]


def _inside(start: int, length: int, limit: int) -> tuple[slice, slice]:
    """Return the part of [start, start + length) inside [0, limit), by positions in the latter and
    by positions in the former."""
    first, last = max(start, 0), max(min(start + length, limit), 0)
    return slice(first, last), slice(first - start, max(last - start, first - start))


def _reaching(at: int, length: int, stride: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs whose window covers padded position `at`, and the filter entry that each
    of them has there."""
    entries = np.arange(length)
    outputs, rest = np.divmod(at - entries, stride)
    covered = (rest == 0) & (outputs >= 0) & (outputs < limit)
    return outputs[covered], entries[covered]


def _positions(offset: int, stride: int, count: int, limit: int) -> tuple[slice, slice]:
    """Return the outputs whose pixel stride·output + offset lies inside the image, and the
    pixels."""
    first = max(0, -(offset // stride))
    last = max(first, min(count, (limit - 1 - offset) // stride + 1))
    start = first * stride + offset
    stop = max(start, start + (last - first - 1) * stride + 1)
    return slice(first, last), slice(start, stop, stride)
