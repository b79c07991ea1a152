"""Parses arguments for shapes, chunks and orders."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from zarrox.argument_types import ChunksLike, ShapeLike


def normalize_shape(shape: ShapeLike | None) -> tuple[int, ...]:
    """Returns a shape as a tuple. A single number is a shape with one dimension.

    Raises
    ------
    TypeError
        If the shape is missing, or does not consist of integers.
    """
    if shape is None:
        raise TypeError("shape is None: give the shape of the array")
    if isinstance(shape, int | np.integer):
        return (int(shape),)
    lengths = tuple(shape)
    whole = tuple(int(length) for length in lengths)
    if whole != lengths:
        raise TypeError(f"Expected an iterable of integers as the shape. Got {shape!r} instead.")
    return whole


def chunk_lengths(chunks: ChunksLike, shape: tuple[int, ...]) -> list[int | None] | bool:
    """Converts a ``chunks`` argument to the form of native code.

    Parameters
    ----------
    chunks : bool, int, sequence or None
        ``True`` and ``None``: guessed; ``False``: one chunk; a number: the same along each dimension; ``None`` and -1 in a
        sequence: the whole dimension, as for dimensions that it does not mention.
    shape : tuple of int
        The shape of the array.

    Returns
    -------
    list or bool
        For each dimension a length, or ``None`` for the whole dimension; or whether to guess.

    Raises
    ------
    TypeError
        If a length is not an integer.
    ValueError
        If a length is less than 1, or if there are more lengths than dimensions.
    """
    if chunks is None or isinstance(chunks, bool):
        return chunks is not False
    given = [chunks] * len(shape) if isinstance(chunks, int | np.integer) else chunks
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"chunks must be a length, or a length for each dimension, not {chunks!r}")
    lengths = [None if length is None or length == -1 else _length(length, chunks) for length in given]
    if len(lengths) > len(shape):
        raise ValueError(f"too many dimensions in chunks: {len(lengths)} for an array of shape {shape}")
    return lengths + [None] * (len(shape) - len(lengths))


def _length(length: Any, chunks: Any) -> int:
    try:
        whole = operator.index(length)
    except TypeError:
        raise TypeError(f"Chunk specification must be an integer or an iterable of integers, not {length!r} in {chunks!r}") from None
    if whole < 1:
        raise ValueError(f"Chunk size must be positive or -1, got {length} in {chunks!r}: -1 is a whole dimension")
    return whole


def normalize_resize_args(old_shape: tuple[int, ...], *args: Any) -> tuple[int, ...]:
    """Returns a new shape that was given as a tuple or as several numbers. ``None`` keeps a length.

    Raises
    ------
    ValueError
        If the number of dimensions differs, or a length is invalid.
    """
    new = args[0] if len(args) == 1 else args
    lengths = (new,) if isinstance(new, int | np.integer) else tuple(new)
    if len(lengths) != len(old_shape):
        raise ValueError(f"new shape must have same number of dimensions: {len(old_shape)}, not {len(lengths)}")
    shape = tuple(old if length is None else int(length) for old, length in zip(old_shape, lengths, strict=True))
    if not all(0 <= length < 2**63 for length in shape):
        raise ValueError(f"lengths must be from 0 to 2^63 - 1, found the shape {shape}")
    return shape


def normalize_order(order: object) -> Literal["C", "F"]:
    """Returns ``C`` or ``F`` for an argument in uppercase or lowercase.

    Raises
    ------
    ValueError
        If the order is invalid.
    """
    orders: dict[str, Literal["C", "F"]] = {"C": "C", "F": "F"}
    found = orders.get(str(order).upper())
    if found is None:
        raise ValueError(f"order must be either 'C' or 'F', found: {order!r}")
    return found


def normalize_dimension_separator(sep: str | None) -> str | None:
    """Checks and returns a separator for chunk keys.

    Raises
    ------
    ValueError
        If the separator is neither ``.`` nor ``/``.
    """
    if sep in (".", "/", None):
        return sep
    raise ValueError(f"dimension_separator must be either '.' or '/', found: {sep!r}")


def ceildiv(lengths: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
    """Returns the quotients of lengths and steps, rounded up."""
    return tuple(-(-length // step) if step else 0 for length, step in zip(lengths, steps, strict=True))
