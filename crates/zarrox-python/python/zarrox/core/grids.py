"""Rectilinear chunk grids: parses arguments, and computes the length of each chunk."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zarrox.argument_types import ChunksLike

if TYPE_CHECKING:
    from zarrox import _native

__all__ = ["chunk_sizes", "grid_of", "rectilinear"]

Grid = dict[str, Any]


def rectilinear(chunks: ChunksLike, shape: tuple[int, ...]) -> Grid | None:
    """Returns the grid for lists of lengths, or for an object in metadata; ``None`` if all chunks have the same shape.

    Parameters
    ----------
    chunks : object
        For each dimension a length or a list of lengths; ``None`` and -1 are the whole dimension, and so are dimensions
        that are not mentioned. Or a grid in the form of v3 metadata.
    shape : tuple of int
        The shape of the array.

    Returns
    -------
    dict or None
        The ``chunk_grid`` of v3 metadata.

    Raises
    ------
    TypeError
        If a mapping is not a grid.
    ValueError
        If there are more dimensions than in the array.

    Examples
    --------
    >>> rectilinear([[3, 4, 4], 5], (11, 10))["configuration"]["chunk_shapes"]
    [[3, [4, 2]], 5]
    """
    if chunks is not None and hasattr(chunks, "to_dict"):
        chunks = chunks.to_dict()
    if isinstance(chunks, Mapping):
        if "name" not in chunks:
            raise TypeError(f"chunks must be a length for each dimension, or a grid with a name, not {dict(chunks)!r}")
        return dict(chunks)
    if isinstance(chunks, str) or not isinstance(chunks, Iterable):
        return None
    dimensions = list(chunks)
    if not any(isinstance(lengths, Iterable) for lengths in dimensions):
        return None
    if len(dimensions) > len(shape):
        raise ValueError(f"too many dimensions in chunks: {len(dimensions)} for an array of shape {shape}")
    dimensions += [None] * (len(shape) - len(dimensions))
    lengths = [_dimension(given, whole) for given, whole in zip(dimensions, shape, strict=True)]
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": lengths}}


def _dimension(given: Any, whole: int) -> Any:
    if isinstance(given, Iterable):
        runs = ((length, len(list(run))) for length, run in itertools.groupby(map(int, given)))
        return [length if count == 1 else [length, count] for length, count in runs]
    return max(whole, 1) if given is None or given == -1 else int(given)


def grid_of(native: _native.Array) -> Grid | None:
    """Returns the grid of an array whose chunks or shards differ in length; ``None`` if all have the same shape."""
    grid: Grid = json.loads(native.chunk_grid)
    return None if grid["name"] == "regular" else grid


def chunk_sizes(lengths: Sequence[Any], shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Returns the lengths of all chunks along each dimension. Of the last chunk, only the part inside the array counts.

    Parameters
    ----------
    lengths : sequence
        For each dimension a length that is repeated, or a list of lengths and of ``[length, count]``, as in metadata.
    shape : sequence of int
        The shape of the array.

    Examples
    --------
    >>> chunk_sizes([[3, [4, 2]], 4], (9, 10))
    ((3, 4, 2), (4, 4, 2))
    """
    return tuple(tuple(_clipped(_each(dim), end)) for dim, end in zip(lengths, shape, strict=True))


def _clipped(lengths: Iterable[int], end: int) -> Iterator[int]:
    start = 0
    for length in lengths:
        if start >= end:
            return
        yield min(length, end - start)
        start += length


def _each(dimension: Any) -> Iterator[int]:
    if isinstance(dimension, int):
        yield from itertools.repeat(dimension)
    for entry in dimension:
        yield from itertools.repeat(*entry) if isinstance(entry, list) else (entry,)
