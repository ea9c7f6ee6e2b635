"""Matrices of image patches for BLAS (im2col), copied only where that is necessary.

A convolution is a matrix product if each patch that a filter is applied to is a column of a matrix.
The patches are copied in blocks, which limits the memory and keeps a block in the cache between the
copy and the product.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from deepbench_ops.random_operands import aligned_empty

BLOCK_BYTES = 2**21
"""Aim for the size of a block's columns, so that a part of it stays in the cache of a core."""

LEAST_COLUMNS = 1024
"""Smallest number of columns of a product, for which small images share a block: a product with
fewer columns would mostly load the filters from memory."""


@dataclass(frozen=True)
class Window:
    """Window of a pass over its images: filter size r x s, strides, padding, p x q positions."""

    r: int
    s: int
    stride_h: int
    stride_w: int
    pad_h: int
    pad_w: int
    p: int
    q: int
    flipped: bool = False
    """Whether the filters are flipped along both axes."""

    @property
    def padded(self) -> bool:
        """Whether there is padding on any side."""
        return self.pad_h > 0 or self.pad_w > 0

    @property
    def is_a_pixel(self) -> bool:
        """Whether the window is one pixel, moves by one pixel and has no padding: the images are
        then the columns."""
        return (self.r, self.s, self.stride_h, self.stride_w) == (1, 1, 1, 1) and not self.padded

    def seen(self, images: np.ndarray) -> np.ndarray:
        """Return all patches of padded images (n, c, rows, columns), a view (c, r, s, n, p, q)."""
        windows = sliding_window_view(images, (self.r, self.s), axis=(2, 3))
        seen = windows[:, :, :: self.stride_h, :: self.stride_w].transpose(1, 4, 5, 0, 2, 3)
        return seen[:, ::-1, ::-1] if self.flipped else seen

    def inside(self, padded: np.ndarray) -> np.ndarray:
        """Return the view of padded images without their padding."""
        rows, columns = padded.shape[2:]
        return padded[:, :, self.pad_h : rows - self.pad_h, self.pad_w : columns - self.pad_w]

    def blank(self, images: np.ndarray, count: int, dtype: np.dtype, layout: str) -> np.ndarray:
        """Return an array of zeros for `count` of `images` with padding."""
        _, c, rows, columns = images.shape
        shape = (count, c, rows + 2 * self.pad_h, columns + 2 * self.pad_w)
        padded = like(shape, dtype, layout)
        padded[...] = 0
        return padded


@dataclass(frozen=True)
class Block:
    """Some whole images, or some rows of the output of one image."""

    images: slice
    rows: slice
    first: bool
    """Whether this is the first block of its images."""
    last: bool
    """Whether this is the last block of its images."""

    @property
    def count(self) -> int:
        """Number of images."""
        return int(self.images.stop - self.images.start)

    @property
    def height(self) -> int:
        """Number of rows of the output."""
        return int(self.rows.stop - self.rows.start)


def blocks(images: int, window: Window, depth: int, itemsize: int) -> list[Block]:
    """Divide `images` images into blocks whose columns take about BLOCK_BYTES.

    depth, itemsize: numbers in a column, and bytes of a number.
    """
    positions = window.p * window.q
    if positions < LEAST_COLUMNS:
        together = min(images, LEAST_COLUMNS // positions)
        ranges = _ranges(images, together)
        return [Block(each, slice(0, window.p), first=True, last=True) for each in ranges]
    most = max(LEAST_COLUMNS, BLOCK_BYTES // (depth * itemsize))
    rows = list(_ranges(window.p, max(1, most // window.q)))
    return [
        Block(slice(n, n + 1), part, part is rows[0], part is rows[-1])
        for n in range(images)
        for part in rows
    ]


def _ranges(count: int, most: int) -> Iterator[slice]:
    """Divide range(count) into as few parts as possible, of similar length, each at most `most`."""
    parts = -(-count // most)
    for part in range(parts):
        yield slice(part * count // parts, (part + 1) * count // parts)


class Columns:
    """A buffer for the columns of one block at a time, in the memory order of a layout."""

    def __init__(
        self, depth: tuple[int, int, int], plan: list[Block], q: int, dtype: np.dtype, layout: str
    ) -> None:
        self._depth = depth
        self._q = q
        self._layout = layout
        most = max(block.count * block.height for block in plan) * q
        self._store = aligned_empty((int(np.prod(depth)) * most,), dtype)

    def of(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return two views of the buffer: (c, r, s, n, p, q), and a matrix c·r·s x n·p·q."""
        c, r, s = self._depth
        positions = (block.count, block.height, self._q)
        used = self._store[: c * r * s * int(np.prod(positions))]
        if self._layout == "published":
            array = used.reshape(c, r, s, *positions)
            return array, used.reshape(c * r * s, -1)
        array = used.reshape(*positions, r, s, c)
        return array.transpose(5, 3, 4, 0, 1, 2), used.reshape(-1, r * s * c).T


class Phases:
    """Padded images whose pixels are grouped by their position modulo the stride.

    The pixels under one entry of a filter are then a rectangle without gaps, to which numpy can add
    whole rows without a temporary copy.
    """

    def __init__(
        self, images: np.ndarray, window: Window, count: int, dtype: np.dtype, layout: str
    ) -> None:
        _, c, rows, columns = images.shape
        self._window = window
        across = (window.stride_h, window.stride_w)
        tall = -(-(rows + 2 * window.pad_h) // window.stride_h)
        wide = -(-(columns + 2 * window.pad_w) // window.stride_w)
        parts = across[0] * across[1]
        whole = like((parts * count, c, tall, wide), dtype, layout)
        self.store = whole
        self._phases = whole.reshape(*across, count, c, tall, wide)

    def seen(self, block: Block, r: int, s: int) -> np.ndarray:
        """Return the pixels under filter entry (r, s) at the positions of a block, a view
        (n, c, p, q)."""
        window = self._window
        phase = self._phases[r % window.stride_h, s % window.stride_w, : block.count]
        down, along = r // window.stride_h, s // window.stride_w
        rows = slice(down + block.rows.start, down + block.rows.stop)
        return phase[:, :, rows, along : along + window.q]

    def interleaved(self, images: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (target, source) views; copying each source to its target gives `images`, without
        padding."""
        window, count = self._window, len(images)
        for i, j in np.ndindex(window.stride_h, window.stride_w):
            top, left = (i - window.pad_h) % window.stride_h, (j - window.pad_w) % window.stride_w
            target = images[:, :, top :: window.stride_h, left :: window.stride_w]
            down = (top + window.pad_h) // window.stride_h
            along = (left + window.pad_w) // window.stride_w
            tall, wide = target.shape[2:]
            phase = self._phases[i, j, :count]
            yield target, phase[:, :, down : down + tall, along : along + wide]


def like(shape: tuple[int, ...], dtype: np.dtype, layout: str) -> np.ndarray:
    """Return an uninitialised tensor with axes (n, c, rows, columns) in the memory order of a
    layout."""
    if layout == "published":
        return aligned_empty(shape, dtype)
    n, c, rows, columns = shape
    return aligned_empty((n, rows, columns, c), dtype).transpose(0, 3, 1, 2)


def is_matrix(plan: list[Block], layout: str) -> bool:
    """Return whether each block of a tensor is a matrix, channels x positions, without a copy."""
    return layout == "channels_last" or all(block.count == 1 for block in plan)


def as_matrix(tensor: np.ndarray, block: Block, layout: str) -> np.ndarray:
    """Return a block as a matrix, a view channels x positions, if `is_matrix` says so."""
    part = tensor[block.images, :, block.rows]
    if layout == "channels_last":
        return part.transpose(0, 2, 3, 1).reshape(-1, part.shape[1]).T
    return part[0].reshape(part.shape[1], -1)


def filter_matrix(filters: np.ndarray, layout: str) -> np.ndarray:
    """Return filters (k, c, r, s) as a matrix k x c·r·s, with entries in the order of columns."""
    if layout == "published":
        return filters.reshape(len(filters), -1)
    return filters.transpose(0, 2, 3, 1).reshape(len(filters), -1)
