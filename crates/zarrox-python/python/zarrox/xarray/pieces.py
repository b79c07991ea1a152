"""Aligns the blocks in which values are written in parallel with stored chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from zarrox.core.array import Array
from zarrox.core.grids import chunk_sizes, grid_of


def cut(array: Array, variable: xr.Variable, shape: tuple[int, ...], region: tuple[slice, ...]) -> xr.Variable:
    """Returns the values in blocks that do not share stored chunks. If this is already the case, the same variable is returned."""
    stored = stored_sizes(array, shape)
    starts = [part.start or 0 for part in region]
    pieces = tuple(map(aligned, variable.chunks or (), starts, stored))
    return variable if pieces == variable.chunks else variable.chunk(dict(zip(variable.dims, pieces, strict=True)))


def stored_sizes(array: Array, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Returns the lengths of the chunks, or shards, that an array would have with the given shape."""
    if grid_of(array._native) is None:
        return chunk_sizes(array.shards or array.chunks, shape)
    # A rectilinear grid gets one more chunk, which covers the rest.
    return tuple(
        (*sizes, length - sum(sizes)) if length > sum(sizes) else sizes
        for sizes, length in zip(array.write_chunk_sizes, shape, strict=True)
    )


def aligned(sizes: tuple[int, ...], start: int, stored: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the lengths of blocks along one dimension after their boundaries have been moved down to boundaries of stored chunks.

    Examples
    --------
    >>> aligned((3, 3, 4), 0, (5, 5))
    (5, 5)
    >>> aligned((5, 5), 2, (5, 5, 5))
    (3, 7)
    """
    ends = start + np.cumsum(sizes, dtype=np.int64)
    possible = np.concatenate([[0], np.cumsum(stored, dtype=np.int64)])
    borders = np.unique(possible[np.searchsorted(possible, ends[:-1], side="right") - 1])
    borders = borders[(borders > start) & (borders < ends[-1])]
    return tuple(int(size) for size in np.diff([start, *borders, ends[-1]]))


def shorten(sizes: tuple[tuple[int, ...], ...]) -> tuple[Any, ...]:
    """Returns the chunk lengths, with a single number for each dimension in which chunks are regular."""

    def is_regular(lengths: tuple[int, ...]) -> bool:
        return len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]

    return tuple((lengths[0] if is_regular(lengths) else lengths) if lengths else (0,) for lengths in sizes)
