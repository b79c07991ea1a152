"""Lazy views, compared with NumPy."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numpy as np
import pytest

import zarrox as zarr

VALUES = np.arange(7 * 8 * 9).reshape(7, 8, 9)


class Counted(dict[str, bytes]):
    """A store that counts reads of chunks."""

    reads = 0

    def __getitem__(self, key: str) -> bytes:
        self.reads += 1
        return super().__getitem__(key)


@pytest.fixture
def z() -> zarr.Array:
    """Returns an array of three dimensions."""
    return zarr.array(VALUES, chunks=(3, 3, 3))


def test_nothing_is_read_before_it_is_used() -> None:
    """Only the final selection is read, and only the chunks that it needs."""
    store = Counted()
    zarr.array(VALUES, chunks=(1, 8, 9), store=store)
    array = zarr.open_array(store, mode="r")
    array[0]  # The first read of old metadata detects the separator of chunk keys.
    before = store.reads
    view = array.lazy[2:5, ::2][1]
    assert (view.shape, view.ndim, view.size, view.dtype) == ((4, 9), 2, 36, VALUES.dtype)
    assert store.reads == before
    np.testing.assert_array_equal(view, VALUES[2:5, ::2][1])
    assert store.reads == before + 1


def orthogonal(values: Any, selection: Any) -> Any:
    """Returns NumPy's elements of a selection with independent lists."""
    parts = list(selection) if isinstance(selection, tuple) else [selection]
    at = next((index for index, part in enumerate(parts) if part is Ellipsis), len(parts))
    parts[at : at + 1] = [slice(None)] * (values.ndim - len([part for part in parts if part is not Ellipsis]))
    for axis in reversed(range(values.ndim)):
        values = values[(slice(None),) * axis + (parts[axis],)]
    return values


def test_selections_compose(z: zarr.Array) -> None:
    """Random selections of random selections have the elements of NumPy."""
    random = np.random.default_rng(3)

    def part(length: int) -> Any:
        kind = random.integers(5)
        if kind == 0 and length:
            return int(random.integers(-length, length))
        if kind == 1 and length:
            return random.integers(-length, length, random.integers(0, 4)).tolist()
        if kind == 2:
            return random.random(length) < 0.5
        start, stop = random.integers(-length - 1, length + 2, 2).tolist()
        return slice(start, stop, int(random.choice([-3, -1, 1, 2])))

    for _ in range(300):
        view, expected = z.lazy, VALUES
        for _ in range(random.integers(1, 4)):
            selection = tuple(part(length) for length in expected.shape[: random.integers(0, expected.ndim + 1)])
            selection += (...,) if random.random() < 0.3 else ()
            view, expected = view[selection], orthogonal(expected, selection)
        assert view.shape == np.shape(expected)
        np.testing.assert_array_equal(view.read(), expected)


def test_assignments_reach_the_array(z: zarr.Array) -> None:
    """Assignments through slices, steps and lists change the array."""
    expected = VALUES.copy()
    z.lazy[1:, ::-2][0, 1] = 5
    expected[1:, ::-2][0, 1] = 5
    z.lazy[:, [1, 3]][2:4, :, 0] = [[1, 2], [3, 4]]
    expected[np.ix_([2, 3], [1, 3], [0])] = np.array([[1, 2], [3, 4]])[..., None]
    np.testing.assert_array_equal(z[:], expected)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ((0, 0, 0, 0), "3 dimensions"),
        (7, "out of bounds"),
        ([7], "out of bounds"),
        ("x", "cannot be selected lazily"),
        (1.5, "cannot be selected lazily"),
        ([0.5], "use integers or booleans"),
        ([[1]], "2 dimensions"),
        ([True], "does not fit"),
        ((..., ...), "one ellipsis"),
        (None, "cannot be selected lazily"),
    ],
    ids=str,
)
def test_bad_selections(z: zarr.Array, selection: Any, message: str) -> None:
    """Invalid selections are rejected when they are created, not when they are read."""
    with pytest.raises(IndexError, match=message):
        z.lazy[selection]


def test_numpy_pickle_and_await(z: zarr.Array) -> None:
    """NumPy accepts views as arrays, and views can be pickled and awaited."""
    view = z.lazy[1, 2:4]
    assert np.sum(view) == VALUES[1, 2:4].sum()
    assert np.asarray(view, dtype="f4").dtype == np.float32
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view)).read(), VALUES[1, 2:4])
    np.testing.assert_array_equal(asyncio.run(view.aread()), VALUES[1, 2:4])
    with pytest.raises(ValueError, match="copy"):
        np.asarray(view, copy=False)
    assert len(view) == 2
    with pytest.raises(TypeError):
        len(view[0, 0])
