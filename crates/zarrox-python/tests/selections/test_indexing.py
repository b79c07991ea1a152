"""Reading and writing selections of every kind, compared with NumPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zarrox as zarr
from zarrox import v2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarrox.core.indexing import split_fields
from zarrox.errors import BoundsCheckError, ReadOnlyError, VindexInvalidSelectionError

SETTINGS = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
LAYOUTS = ["v2", "v2-F", "v3", "v3-shards"]

Layout = dict[str, Any]


def layout_options(name: str, chunks: tuple[int, ...]) -> Layout:
    """Returns arguments for an array with the same chunks in one of the layouts."""
    if name.startswith("v2"):
        return {"zarr_format": 2, "chunks": chunks, "order": name[-1] if "-" in name else "C"}
    if name == "v3":
        return {"zarr_format": 3, "chunks": chunks}
    return {"zarr_format": 3, "chunks": chunks, "shards": tuple(2 * chunk for chunk in chunks)}


@st.composite
def arrays(draw: st.DrawFn) -> tuple[npt.NDArray[Any], zarr.Array]:
    """Returns an array in memory, and the same array stored in some layout."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=9))
    chunks = tuple(draw(st.integers(1, length + 2)) for length in shape)
    dtype = draw(st.sampled_from(["i4", ">i2", "f8", "u1"]))
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    layout = layout_options(draw(st.sampled_from(LAYOUTS)), chunks)
    return values, zarr.array(values, dtype=dtype, **layout)


@st.composite
def axis_selection(draw: st.DrawFn, length: int) -> Any:
    """Returns an orthogonal selection for one dimension."""
    kind = draw(st.sampled_from(["int", "slice", "list", "mask"]))
    if kind == "int":
        return draw(st.integers(-length, length - 1))
    if kind == "slice":
        selected = draw(st.slices(length))
        return slice(selected.start, selected.stop, abs(selected.step) if selected.step else None)
    if kind == "list":
        return np.array(draw(st.lists(st.integers(-length, length - 1), min_size=1, max_size=6)))
    return draw(hnp.arrays(bool, length))


def positions(selected: Any, length: int) -> npt.NDArray[np.intp]:
    return np.atleast_1d(np.arange(length)[selected])


def outer(values: npt.NDArray[Any], selection: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Selects orthogonally with NumPy."""
    picked = values[np.ix_(*map(positions, selection, values.shape))]
    dropped = tuple(axis for axis, selected in enumerate(selection) if isinstance(selected, int))
    return picked.squeeze(dropped)


@given(data=st.data(), both=arrays())
@SETTINGS
def test_basic_selections_read_as_numpy(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array]) -> None:
    values, z = both
    selection = data.draw(hnp.basic_indices(values.shape, allow_newaxis=False))
    np.testing.assert_array_equal(z[selection], values[selection])
    np.testing.assert_array_equal(z.get_basic_selection(selection), values[selection])
    expected = np.asarray(values[selection])
    out = np.zeros(expected.shape, expected.dtype)
    z.get_basic_selection(selection, out=out)
    np.testing.assert_array_equal(out, expected)


@given(data=st.data(), both=arrays(), scalar=st.booleans())
@SETTINGS
def test_basic_selections_write_as_numpy(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array], scalar: bool) -> None:
    values, z = both
    selection = data.draw(hnp.basic_indices(values.shape, allow_newaxis=False))
    new = 7 if scalar else np.arange(np.size(values[selection])).reshape(np.shape(values[selection])) % 50
    values = values.copy()
    values[selection] = new
    z[selection] = new
    np.testing.assert_array_equal(z[...], values)


@given(data=st.data(), both=arrays())
@SETTINGS
def test_orthogonal_selections(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array]) -> None:
    values, z = both
    selection = tuple(data.draw(axis_selection(length)) for length in values.shape)
    expected = outer(values, selection)
    np.testing.assert_array_equal(z.oindex[selection], expected)
    out = np.zeros_like(expected)
    z.get_orthogonal_selection(selection, out=out)
    np.testing.assert_array_equal(out, expected)
    new = values.copy()
    new[np.ix_(*map(positions, selection, values.shape))] = 3
    z.oindex[selection] = 3
    np.testing.assert_array_equal(z[...], new)


@given(data=st.data(), both=arrays())
@SETTINGS
def test_orthogonal_selections_take_arrays(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array]) -> None:
    values, z = both
    # Writing to repeated positions has no defined result.
    selection = tuple(
        np.array(data.draw(st.lists(st.integers(0, length - 1), min_size=1, unique=True))) for length in values.shape
    )
    new = np.arange(np.prod([len(item) for item in selection])).reshape([len(item) for item in selection])
    expected = values.copy()
    expected[np.ix_(*selection)] = new
    z.set_orthogonal_selection(selection, new)
    np.testing.assert_array_equal(z[...], expected)


@given(data=st.data(), both=arrays())
@SETTINGS
def test_coordinate_selections(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array]) -> None:
    values, z = both
    count = data.draw(st.integers(1, 8))
    selection = tuple(data.draw(hnp.arrays(int, count, elements=st.integers(-n, n - 1))) for n in values.shape)
    np.testing.assert_array_equal(z.vindex[selection], values[selection])
    np.testing.assert_array_equal(z[selection], values[selection])
    out = np.zeros(count, values.dtype)
    z.get_coordinate_selection(selection, out=out)
    np.testing.assert_array_equal(out, values[selection])
    expected = values.copy()
    expected[selection] = 5
    z.vindex[selection] = 5
    np.testing.assert_array_equal(z[...], expected)


@given(data=st.data(), both=arrays())
@SETTINGS
def test_masks(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array]) -> None:
    values, z = both
    mask = data.draw(hnp.arrays(bool, values.shape))
    np.testing.assert_array_equal(z.vindex[mask], values[mask])
    np.testing.assert_array_equal(z.get_mask_selection(mask), values[mask])
    np.testing.assert_array_equal(z[mask], values[mask])
    new = np.arange(np.count_nonzero(mask))
    expected = values.copy()
    expected[mask] = new
    z.set_mask_selection(mask, new)
    np.testing.assert_array_equal(z[...], expected)


@given(data=st.data(), both=arrays())
@SETTINGS
def test_blocks(data: st.DataObject, both: tuple[npt.NDArray[Any], zarr.Array]) -> None:
    values, z = both
    stored = z.shards or z.chunks
    blocks = tuple(data.draw(st.integers(0, -(-n // step) - 1)) for n, step in zip(z.shape, stored, strict=True))
    region = tuple(slice(b * step, (b + 1) * step) for b, step in zip(blocks, stored, strict=True))
    np.testing.assert_array_equal(z.blocks[blocks], values[region])
    expected = values.copy()
    expected[region] = 9
    z.blocks[blocks] = 9
    np.testing.assert_array_equal(z[...], expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lists_in_brackets_are_coordinates(layout: str) -> None:
    values = np.arange(100).reshape(10, 10)
    z = zarr.array(values, **layout_options(layout, (3, 4)))
    np.testing.assert_array_equal(z[[1, 4], [1, 4]], [11, 44])
    np.testing.assert_array_equal(z[1, [1, 2]], [11, 12])
    np.testing.assert_array_equal(z[[1, 2]], values[[1, 2]])
    np.testing.assert_array_equal(z[[1, 2], :], values[[1, 2]])
    np.testing.assert_array_equal(z[..., [1, 2]], values[..., [1, 2]])
    np.testing.assert_array_equal(z.vindex[[1, 2], [[1], [2]]], values[[1, 2], [[1], [2]]])
    z[[0, 9], [0, 9]] = [-1, -2]
    assert z[0, 0] == -1
    assert z[9, 9] == -2


def test_two_lists_beside_a_slice_are_refused() -> None:
    z = zarr.zeros((3, 4, 5))
    with pytest.raises(IndexError, match=r"oindex|vindex"):
        z[[0, 1], :, [0, 1]]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_no_dimensions(zarr_format: int) -> None:
    z = zarr.zeros((), dtype="i4", zarr_format=zarr_format)
    assert isinstance(z[...], np.ndarray)
    assert z[...].shape == ()
    assert isinstance(z[()], np.int32)
    z[...] = 42
    assert z[()] == 42
    z[()] = 43
    assert z.get_basic_selection(()) == 43
    out = np.zeros((), "i4")
    z.get_basic_selection(Ellipsis, out=out)
    assert out == 43
    for selection in (0, slice(None), (slice(None), 0)):
        with pytest.raises(IndexError):
            z[selection]
        with pytest.raises(IndexError):
            z[selection] = 1
    with pytest.raises(ValueError, match="shape|broadcast"):
        z[...] = np.array([1, 2, 3])


@pytest.mark.parametrize("shape", [(0,), (10, 0), (0, 3)])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_nothing_in_a_dimension(shape: tuple[int, ...], zarr_format: int) -> None:
    z = zarr.zeros(shape, zarr_format=zarr_format)
    values = np.zeros(shape)
    np.testing.assert_array_equal(z[...], values)
    np.testing.assert_array_equal(z[:, ...], values)
    z[...] = 42
    z[:] = 42
    assert z.nchunks == 0
    with pytest.raises(IndexError):
        z[tuple(0 if length == 0 else slice(None) for length in shape)]


@pytest.mark.parametrize(
    "selection", [2.3, "foo", b"xxx", (0, 0), (slice(None), slice(None)), 100, -101]
)
def test_wrong_selections(selection: Any) -> None:
    z = zarr.array(np.arange(100), chunks=10)
    with pytest.raises(IndexError):
        z.get_basic_selection(selection)
    with pytest.raises(IndexError):
        z.set_basic_selection(selection, 42)
    np.testing.assert_array_equal(z[:], np.arange(100))


def test_the_classes_of_errors() -> None:
    z = zarr.array(np.arange(100), chunks=10)
    with pytest.raises(BoundsCheckError):
        z[100]
    with pytest.raises(BoundsCheckError):
        z.oindex[[100]]
    for selection in (slice(0, 3), ..., None, (slice(0, 3),)):
        with pytest.raises(VindexInvalidSelectionError):
            z.vindex[selection]
        with pytest.raises(VindexInvalidSelectionError):
            z.vindex[selection] = 1
    with pytest.raises(IndexError):
        z.get_mask_selection(np.ones(99, dtype=bool))
    with pytest.raises(IndexError):
        z.oindex[[[1, 2]]]


def test_values_must_fit() -> None:
    z = zarr.zeros((10, 10), dtype=int)
    with pytest.raises(ValueError, match="shape|broadcast"):
        z[:2, :2] = np.zeros((3, 3))
    with pytest.raises(ValueError, match="shape|broadcast"):
        z.oindex[[0, 1], :] = np.zeros((3, 10))
    with pytest.raises(ValueError, match="out|shape"):
        z.get_basic_selection(slice(2), out=np.zeros((3, 10), int))
    z[1:3] = np.arange(10)
    np.testing.assert_array_equal(z[2], np.arange(10))


def test_out_can_be_another_array_of_zarr() -> None:
    z = zarr.array(np.arange(10))
    out = zarr.zeros(4, dtype="f4")
    assert z.get_basic_selection(slice(2, 6), out=out) is out
    np.testing.assert_array_equal(out[:], [2, 3, 4, 5])


def test_values_of_many_kinds() -> None:
    z = zarr.zeros((2, 3), dtype="f4")
    z[...] = [[1, 2, 3], [4, 5, 6]]
    z[0] = zarr.array(np.array([7.5, 8, 9]))
    z[1, 0] = np.float64(1.25)
    z[1, 1] = True
    np.testing.assert_array_equal(z[...], np.array([[7.5, 8, 9], [1.25, 1, 6]], "f4"))


def test_data_is_not_shared() -> None:
    values = np.arange(10)
    z = zarr.array(values, chunks=10, compressor=None)
    values[...] = 99
    np.testing.assert_array_equal(z[:], np.arange(10))
    read = z[:]
    read[...] = 5
    np.testing.assert_array_equal(z[:], np.arange(10))


def test_read_only() -> None:
    z = v2.array(np.arange(10), read_only=True)
    writes = [
        lambda: z.__setitem__(0, 1),
        lambda: z.set_basic_selection(0, 1),
        lambda: z.set_orthogonal_selection([0], 1),
        lambda: z.set_coordinate_selection([0], 1),
        lambda: z.set_mask_selection(np.ones(10, bool), 1),
        lambda: z.set_block_selection(0, 1),
        lambda: z.resize(5),
        lambda: z.append([1]),
    ]
    for write in writes:
        with pytest.raises(ReadOnlyError):
            write()
    z.read_only = False
    z[0] = 5
    assert z[0] == 5


STRUCTURE = np.dtype([("foo", "S3"), ("bar", "i4"), ("baz", "f8")])


@pytest.fixture
def records() -> npt.NDArray[Any]:
    return np.array([(b"aaa", 1, 4.2), (b"bbb", 2, 8.4), (b"ccc", 3, 12.6)], dtype=STRUCTURE)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_fields_are_read(records: npt.NDArray[Any], zarr_format: int) -> None:
    z = zarr.array(records, chunks=2, zarr_format=zarr_format)
    np.testing.assert_array_equal(z["foo"], records["foo"])
    np.testing.assert_array_equal(z["foo", 1:], records["foo"][1:])
    assert z["bar", 1] == 2
    np.testing.assert_array_equal(z["foo", "baz", :2], records[["foo", "baz"]][:2])
    np.testing.assert_array_equal(z[["foo", "baz"]], records[["foo", "baz"]])
    np.testing.assert_array_equal(z.get_basic_selection(slice(2), fields="bar"), records["bar"][:2])
    np.testing.assert_array_equal(z.oindex["bar", [0, 2]], records["bar"][[0, 2]])
    np.testing.assert_array_equal(z.vindex["bar", [0, 2]], records["bar"][[0, 2]])
    np.testing.assert_array_equal(z.vindex["bar", np.array([True, False, True])], records["bar"][[0, 2]])
    np.testing.assert_array_equal(z.blocks["bar", 1], records["bar"][2:])
    out = np.zeros(3, "i4")
    z.get_basic_selection(..., out=out, fields="bar")
    np.testing.assert_array_equal(out, [1, 2, 3])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_fields_are_written(records: npt.NDArray[Any], zarr_format: int) -> None:
    z = zarr.array(records, chunks=2, zarr_format=zarr_format)
    z["foo"] = b"zzz"
    z["bar", 1:] = [20, 30]
    z.oindex["baz", [0, 2]] = 1.5
    z.vindex["bar", [0]] = 10
    expected = np.array([(b"zzz", 10, 1.5), (b"zzz", 20, 8.4), (b"zzz", 30, 1.5)], dtype=STRUCTURE)
    np.testing.assert_array_equal(z[...], expected)
    z.set_basic_selection(0, (b"abc", 5, 0.5))
    assert z[0] == np.array((b"abc", 5, 0.5), dtype=STRUCTURE)


def test_wrong_fields(records: npt.NDArray[Any]) -> None:
    z = zarr.array(records)
    for fields in ("nothing", ["foo", "nothing"], 7):
        with pytest.raises(IndexError):
            z.get_basic_selection(..., fields=fields)  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        zarr.zeros(3).get_basic_selection(..., fields="foo")
    with pytest.raises(IndexError):
        zarr.zeros(3)["foo"]


def test_fields_are_split_off() -> None:
    assert split_fields(("foo", "bar", 1)) == (["foo", "bar"], (1,))
    assert split_fields([1, 2]) == (None, [1, 2])


FARTHEST = [2**62, sys.maxsize - 1, sys.maxsize, 2**63, 2**64, 2**70]


@pytest.mark.parametrize("bound", [*FARTHEST, *(-bound for bound in FARTHEST), -(2**63) - 1])
def test_bounds_and_steps_beyond_every_array(bound: int) -> None:
    """Such bounds and steps select the same elements as in NumPy, also for writing."""
    values = np.arange(10)
    selections = [
        slice(bound, None),
        slice(None, bound),
        slice(bound, None, -1),
        slice(None, bound, -1),
        slice(bound, -bound),
        slice(-bound, bound, -1),
        slice(3, None, bound),
        slice(None, None, bound),
    ]
    for selection in selections:
        z = zarr.array(values, chunks=3)
        for read in (z.__getitem__, z.get_basic_selection, z.oindex.__getitem__):
            np.testing.assert_array_equal(read(selection), values[selection], err_msg=str(selection))
        expected = values.copy()
        z[selection] = expected[selection] = 99
        np.testing.assert_array_equal(z[:], expected, err_msg=str(selection))
        if selection.step is None:
            np.testing.assert_array_equal(z.blocks[selection], z[:][selection])
    for read in (z.__getitem__, z.oindex.__getitem__, z.vindex.__getitem__):
        with pytest.raises(IndexError):
            read(bound)
