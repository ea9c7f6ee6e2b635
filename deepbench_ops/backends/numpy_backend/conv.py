"""Convolutions in numpy: image patches gathered into columns (im2col), times the filters.

numpy has no convolution over more than one axis. The kernel copies a `sliding_window_view` into a
buffer with a column for each position, and computes one product for a block of images or of rows.
For a 1 x 1 filter that skips no pixel the images already are the columns. The gradient of the
images is computed in the same way with flipped filters where the stride is 1. For other strides the
products are computed first, and their rows added to the pixels to which they belong.

Padding, gathering and flipping happen in every call. Buffers and views into them are made before,
as users do who call a convolution in a loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import conv
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.numpy_backend.im2col import (
    Block,
    Columns,
    Phases,
    Window,
    as_matrix,
    blocks,
    filter_matrix,
    is_matrix,
    like,
)
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.backends.numpy_backend.widening import ROUTES, parts
from deepbench_ops.problems.conv import Conv
from deepbench_ops.random_operands import aligned_empty

WORK = np.dtype(np.float32)
"""Type of the factors of products, in every precision."""

TYPES: dict[str, tuple[np.dtype, np.dtype]] = {
    "float32": (WORK, WORK),
    "float16": (WORK, np.dtype(np.float16)),
    "int8": (np.dtype(np.int32), np.dtype(np.int32)),
}
"""Type of sums, and type of the output, by precision."""

SHORT_ROW = 32
"""Length of a row, in numbers, below which copying row by row is slow."""

REARRANGING = 4
"""Number of columns for each filter from which on the time to rearrange the filters is small
next to that of the products."""

WAYS = {
    "gathered": "columns gathered from a sliding_window_view",
    "as they lie": "1 x 1: the images are the columns, no copy",
    "added back": "products first, then added to the pixels they are for",
}


def build(backend: Backend, problem: Conv, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare one pass, in float32 or by way of float32 in float16 and int8 (see `widening`)."""
    refuse_lacking(precision)
    inputs = conv.inputs(problem, precision, seed)
    reference = conv.reference(problem, inputs, precision, operation)
    sums, stored = TYPES[precision]
    calls = Calls(backend.layout, sums)
    output = like(reference.shape, stored, backend.layout)
    operands = [conv.in_layout(x, backend.layout) for x in reference.operands()]
    PASSES[operation](calls, problem, operands[0], operands[1], output)
    reset = partial(output.fill, 0)
    reset()
    prepared = Prepared(
        run=calls.bound(),
        reset=reset,
        output=lambda: output,
        notes={
            "layout": conv.LAYOUT_NOTES[backend.layout],
            "route": f"{WAYS[calls.way]}{calls.rearranged}; {ROUTES[precision]}",
        },
        implementation=backend.implementation,
    )
    return assemble(backend, problem, precision, operation, inputs, prepared)


@dataclass
class Calls:
    """The numpy calls of one pass, with all their operands bound."""

    layout: str
    """Memory layout of operands and output."""
    sums: np.dtype
    """Type of the sums of products."""
    order: str = ""
    """Memory layout of columns and temporary arrays: `layout` unless another one is faster."""
    way: str = "gathered"
    """Key of WAYS: the method of the pass, for the record."""
    steps: list[Callable[[], object]] = field(default_factory=list)
    _room: dict[tuple[int, ...], np.ndarray] = field(default_factory=dict)

    @property
    def rearranged(self) -> str:
        """Note on columns with another memory layout than the operands, "" otherwise."""
        return f", {self.order.replace('_', ' ')}" if self.order != self.layout else ""

    def bound(self) -> Callable[[], object]:
        """Return the pass as one function."""
        steps = tuple(self.steps)

        def run() -> None:
            for step in steps:
                step()

        return run

    def copy(self, target: np.ndarray, source: np.ndarray) -> None:
        """Add a step that copies `source` into `target`."""
        self.steps.append(partial(np.copyto, target, source))

    def multiply(self, left: np.ndarray, right: np.ndarray, product: np.ndarray) -> None:
        """Add steps that write left·right into `product`; products of integers are exact."""
        if product.dtype == WORK:
            self.steps.append(partial(np.matmul, left, right, product))
            return
        partial_product = self._scratch(product)
        first, *others = parts(left, right, exact=True)
        self.steps.append(partial(np.matmul, *first, partial_product))
        self.steps.append(partial(np.copyto, product, partial_product, casting="unsafe"))
        added = partial(np.add, dtype=product.dtype, casting="unsafe")
        for part in others:
            self.steps.append(partial(np.matmul, *part, partial_product))
            self.steps.append(partial(added, product, partial_product, product))

    def _scratch(self, product: np.ndarray) -> np.ndarray:
        """Return a float32 buffer for one part of a product; all products of a shape share it."""
        columns_first = product.flags.f_contiguous and not product.flags.c_contiguous
        shape = product.shape[::-1] if columns_first else product.shape
        if shape not in self._room:
            self._room[shape] = aligned_empty(shape, WORK)
        return self._room[shape].T if columns_first else self._room[shape]

    def add(self, target: np.ndarray, more: np.ndarray) -> None:
        """Add a step that adds `more` to `target`."""
        self.steps.append(partial(np.add, target, more, target))

    def clear(self, target: np.ndarray) -> None:
        """Add a step that sets `target` to 0."""
        self.steps.append(partial(target.fill, 0))

    def filter_matrix(self, filters: np.ndarray) -> np.ndarray:
        """Return filters (k, c, r, s) as a matrix k x c·r·s.

        Where the type or the memory order is another one, add a step that copies them.
        """
        if filters.dtype != WORK or self.order != self.layout:
            arranged = like(filters.shape, WORK, self.order)
            self.copy(arranged, filters)
            filters = arranged
        return filter_matrix(filters, self.order)

    def columns(
        self,
        depth: tuple[int, int, int],
        plan: list[Block],
        window: Window,
        dtype: np.dtype = WORK,
    ) -> Columns:
        """Return a buffer for the columns of any block of `plan`, in the memory layout `order`."""
        return Columns(depth, plan, window.q, dtype, self.order)

    def plan(self, images: int, window: Window, channels: int) -> list[Block]:
        """Return the blocks of a pass, which are small enough for the cache."""
        depth = channels * window.r * window.s
        return blocks(images, window, depth, WORK.itemsize)


class Gatherer:
    """Matrices of the patches of images under a window, block by block."""

    def __init__(self, calls: Calls, images: np.ndarray, window: Window, plan: list[Block]) -> None:
        self._calls = calls
        self._images = images
        self._window = window
        same = images.dtype == WORK and calls.order == calls.layout
        ready = same and not window.padded
        most = max(block.count for block in plan)
        self._padded = None if ready else window.blank(images, most, WORK, calls.order)
        channels = images.shape[1]
        self._columns: Columns | None = None
        if ready and window.is_a_pixel and is_matrix(plan, calls.layout):
            calls.way = "as they lie"
        else:
            self._columns = calls.columns((channels, window.r, window.s), plan, window)

    def matrix(self, block: Block) -> np.ndarray:
        """Return the matrix of a block, and add the calls that fill it."""
        images = self._images[block.images]
        if self._columns is None:
            return as_matrix(self._images, block, self._calls.layout)
        if self._padded is not None:
            padded = self._padded[: block.count]
            if block.first:
                self._calls.copy(self._window.inside(padded), images)
            images = padded
        array, matrix = self._columns.of(block)
        self._calls.copy(array, self._window.seen(images)[..., block.rows, :])
        return matrix


class Pixels:
    """Matrices channels x positions of a tensor of outputs or their gradients, block by block."""

    def __init__(self, calls: Calls, tensor: np.ndarray, window: Window, plan: list[Block]) -> None:
        self._calls = calls
        self._tensor = tensor
        self._buffer: Columns | None = None
        if tensor.dtype != calls.sums or not is_matrix(plan, calls.layout):
            self._buffer = calls.columns((tensor.shape[1], 1, 1), plan, window, calls.sums)

    def matrix(self, block: Block) -> np.ndarray:
        """Return the matrix of a block: the tensor itself, or the buffer for it."""
        if self._buffer is not None:
            return self._buffer.of(block)[1]
        return as_matrix(self._tensor, block, self._calls.layout)

    def read(self, block: Block) -> np.ndarray:
        """Return the matrix of a block, and add the call that fills it if it is a buffer."""
        if self._buffer is not None:
            self._calls.copy(self._buffered(block), self._part(block))
        return self.matrix(block)

    def write(self, block: Block) -> None:
        """Add the call that copies the matrix of a block to the tensor if it is a buffer."""
        if self._buffer is not None:
            self._calls.copy(self._part(block), self._buffered(block))

    def _buffered(self, block: Block) -> np.ndarray:
        assert self._buffer is not None
        return self._buffer.of(block)[0][:, 0, 0]

    def _part(self, block: Block) -> np.ndarray:
        return self._tensor[block.images, :, block.rows].transpose(1, 0, 2, 3)


def _window(p: Conv) -> Window:
    return Window(p.r, p.s, p.stride_h, p.stride_w, p.pad_h, p.pad_w, p.p, p.q)


def _order(layout: str, window: Window, channels: int, filters: int, images: int) -> str:
    """Return the memory layout of columns: channels_last where this makes copies faster.

    In the published layout a copy moves a row of the output at a time, in channels_last a row of
    the filter with all its channels. channels_last is faster where rows of the output are short,
    and where rearranging the filters takes little time compared with the products.
    """
    short = window.q < SHORT_ROW or window.stride_w > 1
    many = window.r * window.s > 1 and window.s * channels >= SHORT_ROW
    cheap = REARRANGING * filters <= images * window.p * window.q
    return "channels_last" if short and many and cheap else layout


def _slide(
    calls: Calls, images: np.ndarray, left: np.ndarray, output: np.ndarray, window: Window
) -> None:
    """Add the calls that gather columns of `images` and multiply `left`, the filters, by them."""
    plan = calls.plan(len(images), window, images.shape[1])
    seen = Gatherer(calls, images, window, plan)
    pixels = Pixels(calls, output, window, plan)
    for block in plan:
        calls.multiply(left, seen.matrix(block), pixels.matrix(block))
        pixels.write(block)


def _forward(
    calls: Calls, problem: Conv, images: np.ndarray, filters: np.ndarray, output: np.ndarray
) -> None:
    p, window = problem, _window(problem)
    calls.order = _order(calls.layout, window, p.c, p.k, p.n)
    _slide(calls, images, calls.filter_matrix(filters), output, window)


def _backward_data(
    calls: Calls, problem: Conv, gradient: np.ndarray, filters: np.ndarray, output: np.ndarray
) -> None:
    """Add the calls of a convolution of the padded gradient with the flipped filters.

    Where the stride or the padding does not allow this, add those of `_add_back`.
    """
    p = problem
    pad_h, pad_w = p.r - 1 - p.pad_h, p.s - 1 - p.pad_w
    if (p.stride_h, p.stride_w) != (1, 1) or min(pad_h, pad_w) < 0:
        _add_back(calls, problem, gradient, filters, output)
        return
    window = Window(p.r, p.s, 1, 1, pad_h, pad_w, p.h, p.w, flipped=True)
    calls.order = _order(calls.layout, window, p.k, p.c, p.n)
    if (p.r, p.s) == (1, 1):
        left = calls.filter_matrix(filters).T
    else:
        swapped = like((p.c, p.k, p.r, p.s), WORK, calls.order)
        calls.copy(swapped, filters.transpose(1, 0, 2, 3))
        left = filter_matrix(swapped, calls.order)
    _slide(calls, gradient, left, output, window)


def _add_back(
    calls: Calls, problem: Conv, gradient: np.ndarray, filters: np.ndarray, output: np.ndarray
) -> None:
    """Add the calls that compute the columns of the images' gradient and add each to its pixels.

    The pixels are grouped by position modulo the stride (see `Phases`) until all are added up.
    """
    p, window = problem, _window(problem)
    calls.way = "added back"
    calls.order = _order(calls.layout, window, p.c, p.k, p.n)
    plan = calls.plan(p.n, window, p.c)
    left = calls.filter_matrix(filters).T
    pixels = Pixels(calls, gradient, window, plan)
    columns = calls.columns((p.c, p.r, p.s), plan, window)
    most = max(block.count for block in plan)
    phases = Phases(output, window, most, calls.sums, calls.order)
    for block in plan:
        if block.first:
            calls.clear(phases.store)
        array, matrix = columns.of(block)
        calls.multiply(left, pixels.read(block), matrix)
        for r, s in np.ndindex(p.r, p.s):
            calls.add(phases.seen(block, r, s), array[:, r, s].transpose(1, 0, 2, 3))
        if block.last:
            for target, source in phases.interleaved(output[block.images]):
                calls.copy(target, source)


def _backward_weights(
    calls: Calls, problem: Conv, gradient: np.ndarray, images: np.ndarray, output: np.ndarray
) -> None:
    """Add the calls that multiply the gradient by the columns and sum over the blocks."""
    p, window = problem, _window(problem)
    calls.order = _order(calls.layout, window, p.c, p.k, p.n)
    plan = calls.plan(p.n, window, p.c)
    total = output
    if output.dtype != calls.sums or calls.order != calls.layout:
        total = like(output.shape, calls.sums, calls.order)
    summed = filter_matrix(total, calls.order)
    block_product = aligned_empty(summed.shape, calls.sums)
    seen = Gatherer(calls, images, window, plan)
    pixels = Pixels(calls, gradient, window, plan)
    for block in plan:
        product = summed if block is plan[0] else block_product
        calls.multiply(pixels.read(block), seen.matrix(block).T, product)
        if product is block_product:
            calls.add(summed, block_product)
    if total is not output:
        calls.copy(output, total)


PASSES: dict[str, Callable[[Calls, Conv, np.ndarray, np.ndarray, np.ndarray], None]] = {
    "forward": _forward,
    "backward_data": _backward_data,
    "backward_weights": _backward_weights,
}
