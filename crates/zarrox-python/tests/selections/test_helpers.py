"""The helpers of zarr-python 2's ``zarr.indexing`` and ``zarr.util``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox.v2.indexing import (
    PartialChunkIterator,
    is_bool_array,
    is_contiguous_selection,
    is_integer_array,
    is_scalar,
    make_slice_selection,
    normalize_integer_selection,
    oindex,
    oindex_set,
    replace_ellipsis,
)
from zarrox.v2.util import is_total_slice


@pytest.mark.parametrize(
    ("item", "shape", "expected"),
    [
        (..., (5,), True),
        (slice(None), (5,), True),
        (slice(0, 5), (5,), True),
        (slice(0, 50), (5,), True),
        (slice(0, 4), (5,), False),
        (slice(None, None, 2), (5,), False),
        ((slice(None), slice(0, 3)), (5, 3), True),
        ((slice(None),), (5, 3), True),
        ((0, slice(None)), (1, 3), True),
        ((0, slice(None)), (2, 3), False),
        ((..., slice(0, 3)), (5, 3), True),
    ],
)
def test_total_slices(item: Any, shape: tuple[int, ...], expected: bool) -> None:
    """A selection of a whole chunk is distinguished from a smaller one."""
    assert is_total_slice(item, shape) is expected


def test_total_slices_of_other_kinds() -> None:
    """Lists are rejected."""
    with pytest.raises(TypeError, match="slice"):
        is_total_slice([0, 1], (2,))


def test_normalized_selections() -> None:
    """Negative indices and ellipses are normalized, and indices out of bounds are rejected."""
    assert [normalize_integer_selection(n, 4) for n in (0, 3, -1, -4)] == [0, 3, 3, 0]
    for n in (4, -5):
        with pytest.raises(IndexError):
            normalize_integer_selection(n, 4)
    assert replace_ellipsis((), (2, 3)) == (slice(None), slice(None))
    assert replace_ellipsis((1, ..., 2), (2, 3, 4, 5)) == (1, slice(None), slice(None), 2)
    for wrong in ((..., ...), (1, 2, 3)):
        with pytest.raises(IndexError):
            replace_ellipsis(wrong, (2, 3))
    assert is_contiguous_selection((1, slice(2), ...))
    assert not is_contiguous_selection(slice(None, None, 2))
    assert is_scalar((1, "a"), np.dtype([("x", "i4"), ("y", "U1")]))
    assert not is_scalar([1], np.dtype("i4"))
    assert is_integer_array(np.array([1]), 1)
    assert not is_integer_array(np.array([1]), 2)
    assert is_bool_array(np.array([True]))
    assert not is_bool_array([True])


def test_runs_of_elements() -> None:
    """Each run of the iterator is at its position in the chunk, and all runs together are the selection."""
    shape = (3, 4, 5)
    chunk = np.arange(60)
    choices = [slice(None), slice(1, 3), slice(0, 3, 2), 1, -1, slice(2, 2)]
    for selection in itertools.product(choices, repeat=3):
        expected = chunk.reshape(shape)[selection]
        found = np.full(shape, -1)
        for start, count, place in PartialChunkIterator(selection, shape):
            found[place] = chunk[start : start + count].reshape(found[place].shape)
        np.testing.assert_array_equal(found[selection], expected)
    assert len(list(PartialChunkIterator((slice(1, 3),), shape))) == 1
    with pytest.raises(ValueError, match="backwards"):
        PartialChunkIterator((slice(None, None, -1),), (3,))


@pytest.mark.parametrize("selection", [(0, [0, 2]), ([True, False, True], slice(1, 3)), (slice(None), -1), ([2, 0], [1, 1]), (...,), 1])
def test_orthogonal_selections_of_arrays_in_memory(selection: Any) -> None:
    """Orthogonal selections of NumPy arrays equal those of Zarr arrays."""
    a = np.arange(9).reshape(3, 3)
    z = zarr.array(a, chunks=2)
    expected = z.oindex[selection]
    np.testing.assert_array_equal(oindex(a, selection), expected)
    values = -np.arange(np.size(expected)).reshape(np.shape(expected))
    oindex_set(a, selection, values)
    z.oindex[selection] = values
    np.testing.assert_array_equal(a, z[:])
    oindex_set(a, selection, 5)
    assert (oindex(a, selection) == 5).all()


def test_slices_of_integers() -> None:
    """Arrays of one integer count as integers, and other arrays are rejected."""
    assert make_slice_selection((np.uint64(3), np.array([2]), slice(4))) == [slice(3, 4, 1), slice(2, 3, 1), slice(4)]
    with pytest.raises(IndexError, match="single"):
        make_slice_selection((np.array([1, 2]),))
