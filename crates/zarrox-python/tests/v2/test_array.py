"""Arrays: their properties, their changes, and their stored form."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrox.v2 as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrox.errors import ArrayNotFoundError, ContainsGroupError, ReadOnlyError, UnsupportedError


def test_opening_what_is_stored() -> None:
    store = zarr.KVStore({})
    zarr.create(100, chunks=10, dtype="<f8", fill_value=None, store=store, path="foo/bar")
    z = zarr.Array(store, path="foo/bar")
    assert z.store is store
    assert z.chunk_store is store
    assert (z.path, z.name, z.basename) == ("foo/bar", "/foo/bar", "bar")
    assert (z.shape, z.chunks, z.dtype, z.ndim) == ((100,), (10,), np.dtype("<f8"), 1)
    assert z.hexdigest() == "8fecb7a17ea1493d9c1430d04437b4f5b0b34985"
    with pytest.raises(ArrayNotFoundError):
        zarr.Array(store, path="nothing")
    with pytest.raises(ContainsGroupError):
        zarr.Array(store, path="foo")


def test_at_the_root_there_is_no_name() -> None:
    z = zarr.zeros(3)
    assert (z.path, z.name, z.basename) == ("", None, None)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_sizes(zarr_format: int) -> None:
    z = zarr.zeros((10, 7), chunks=(4, 4), dtype="i2", zarr_format=zarr_format)
    assert (z.size, z.itemsize, z.nbytes) == (70, 2, 140)
    assert (z.cdata_shape, z.nchunks) == ((3, 2), 6)
    assert z.nchunks_initialized == 0
    z[:4] = 1
    assert z.nchunks_initialized == 2
    assert z.initialized == 2
    assert z.nbytes_stored == sum(len(value) for value in z.store.values())


def test_other_keys_are_not_chunks() -> None:
    z = zarr.zeros(100, chunks=10, write_empty_chunks=True)
    z.store["foo"] = b"bar"
    z[:] = 42
    assert z.nchunks_initialized == 10
    del z.chunk_store[z._chunk_key((0,))]
    assert z.nchunks_initialized == 9


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_empty_chunks_are_stored_if_asked_for(zarr_format: int) -> None:
    for write_empty_chunks, stored in ((True, 4), (False, 0)):
        z = zarr.zeros(8, chunks=2, zarr_format=zarr_format, write_empty_chunks=write_empty_chunks)
        z[:] = 0
        assert z.write_empty_chunks is write_empty_chunks
        assert z.nchunks_initialized == stored


def test_empty_chunks_are_stored_by_default(tmp_path: Path) -> None:
    path = str(tmp_path / "a.zarr")
    group = zarr.open_group(path)
    arrays = [
        group.zeros("a", shape=4, chunks=2), group["a"], zarr.open(path)["a"], zarr.open(path, path="a"), zarr.open_group(path)["a"],
        zarr.open_array(path, path="a"), zarr.Array(path, path="a"), zarr.zeros_like(group["a"]), pickle.loads(pickle.dumps(group["a"])),
        zarr.open(path, path="b", shape=4, chunks=2), zarr.open(path, path="a", meta_array=np.empty(())),
    ]  # fmt: skip
    for z in arrays:
        z[:] = 1
        z[:] = 0
        assert (z.write_empty_chunks, z.nchunks_initialized) == (True, 2)
    for z in (zarr.open(path, path="a", write_empty_chunks=False), zarr.open_array(path, path="a", write_empty_chunks=False)):
        assert not pickle.loads(pickle.dumps(z)).write_empty_chunks
        z[:] = 0
        assert z.nchunks_initialized == 0


def test_empty_chunks_are_deleted() -> None:
    z = zarr.zeros(8, chunks=2, write_empty_chunks=False)
    z[:] = 1
    z[:4] = 0
    assert z.nchunks_initialized == 2


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_resizing(zarr_format: int) -> None:
    z = zarr.array(np.arange(20).reshape(4, 5), chunks=(2, 2), zarr_format=zarr_format)
    z.resize(6, 3)
    assert z.shape == (6, 3)
    expected = np.zeros((6, 3), int)
    expected[:4] = np.arange(20).reshape(4, 5)[:, :3]
    np.testing.assert_array_equal(z[...], expected)
    z.resize((None, 2))
    assert z.shape == (6, 2)
    z.resize(1, 1)
    z.shape = (2, 2)
    np.testing.assert_array_equal(z[...], [[0, 0], [0, 0]])
    for wrong in ((3,), (1, 2, 3)):
        with pytest.raises(ValueError, match="dimensions"):
            z.resize(wrong)


def test_values_outside_do_not_come_back() -> None:
    z = zarr.array(np.arange(10), chunks=4)
    z.resize(5)
    z.resize(10)
    np.testing.assert_array_equal(z[:], [0, 1, 2, 3, 4, 0, 0, 0, 0, 0])


@given(
    shape=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    more=st.integers(0, 7),
    axis=st.integers(0, 1),
)
@settings(deadline=None, max_examples=40)
def test_appending(shape: tuple[int, int], more: int, axis: int) -> None:
    values = np.arange(shape[0] * shape[1]).reshape(shape)
    z = zarr.array(values, chunks=(2, 3))
    new = np.full(tuple(more if i == axis else n for i, n in enumerate(shape)), 7)
    expected = np.concatenate([values, new], axis=axis)
    assert z.append(new, axis=axis) == expected.shape
    np.testing.assert_array_equal(z[...], expected)


def test_appending_what_does_not_fit() -> None:
    z = zarr.zeros((4, 5))
    with pytest.raises(ValueError, match="shape|dimension"):
        z.append(np.zeros((2, 4)))
    assert z.shape == (4, 5)
    assert z.append([[1, 2, 3, 4, 5]]) == (5, 5)
    np.testing.assert_array_equal(z[4], [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("make", "digest"),
    [
        (lambda: zarr.empty(shape=(10000, 10000), chunks=(1000, 1000)), "041f90bc7a571452af4f850a8ca2c6cddfa8a1ac"),
        (lambda: zarr.zeros(shape=(10000, 10000), chunks=(1000, 1000)), "7162d416d26a68063b66ed1f30e0a866e4abed60"),
        (lambda: zarr.zeros(shape=(10000, 10000), dtype="u1", chunks=(1000, 1000)), "cb387af37410ae5a3222e893cf3373e4e4f22816"),
    ],
)
def test_digests_of_zarr_python_2(make: Callable[[], zarr.Array], digest: str) -> None:
    assert make().hexdigest() == digest
    assert make().digest().hex() == digest


def test_digests_change_with_everything() -> None:
    z = zarr.zeros(1050, chunks=100, dtype="<i4", compressor=zarr.Zlib(level=1))
    seen = {z.hexdigest()}
    z[200:400] = np.arange(200, 400)
    seen.add(z.hexdigest())
    z.attrs["foo"] = "bar"
    seen |= {z.hexdigest(), z.hexdigest("md5")}
    assert len(seen) == 4


def test_digest_with_zlib_is_that_of_zarr_python_2() -> None:
    z = zarr.create(1050, chunks=100, dtype="<i4", compressor=zarr.Zlib(level=1), fill_value=None)
    assert z.hexdigest() == "063b02ff8d9d3bab6da932ad5828b506ef0a6578"
    z.attrs["foo"] = "bar"
    assert z.hexdigest() == "2a1046dd99b914459b3e86be9dde05027a07d209"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_pickling(zarr_format: int) -> None:
    z = zarr.zeros(
        1000, chunks=100, dtype=int, cache_metadata=False, cache_attrs=False, path="a/b", zarr_format=zarr_format,
        write_empty_chunks=True, synchronizer=zarr.ThreadSynchronizer() if zarr_format == 2 else None,
    )
    z[:] = np.arange(1000)
    z2 = pickle.loads(pickle.dumps(z))
    assert (z2.shape, z2.chunks, z2.path, z2.dtype, z2.read_only) == (z.shape, z.chunks, z.path, z.dtype, z.read_only)
    assert (z2._settings.cache_metadata, z2.write_empty_chunks) == (False, True)
    np.testing.assert_array_equal(z2[:], np.arange(1000))


def test_pickles_are_small(tmp_path: Path) -> None:
    z = zarr.open_array(str(tmp_path / "a.zarr"), mode="w", shape=100_000, dtype="i8")
    z[:] = np.arange(100_000)
    assert len(pickle.dumps(z)) < 120 + len(str(tmp_path))
    assert pickle.loads(pickle.dumps(z)) == z


def test_views_are_pickled_as_views() -> None:
    z = zarr.array(np.arange(10, dtype="u2"), chunks=5)
    v = pickle.loads(pickle.dumps(z.view(dtype="u1", shape=20, chunks=10)))
    assert v.is_view
    np.testing.assert_array_equal(v[:], np.arange(10, dtype="u2").view("u1"))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(z.astype("f4")))[:], np.arange(10, dtype="f4"))


def test_equality() -> None:
    store = zarr.KVStore({})
    z = zarr.zeros(3, store=store, path="a")
    assert z == zarr.Array(store, path="a")
    assert z != zarr.Array(store, path="a", read_only=True)
    assert z != zarr.zeros(3, store=store, path="b")
    assert z != "a"


def test_iteration() -> None:
    for shape, chunks in itertools.product([(1,), (5,), (7, 3), (0, 4), (4, 0)], [1, 3, 100]):
        values = np.arange(np.prod(shape)).reshape(shape)
        z = zarr.array(values, chunks=chunks)
        np.testing.assert_array_equal(list(z), list(values))
        for start, end in ((0, 2), (1, 5), (3, None), (6, 5)):
            np.testing.assert_array_equal(list(z.islice(start, end)), list(values[start:end]))


def test_iteration_refuses() -> None:
    with pytest.raises(TypeError, match="0-d"):
        list(zarr.zeros(()))
    for start, end in ((-1, 0), (0, -1), (0.5, 1), (0, 0.5)):
        with pytest.raises(ValueError, match="nonnegative"):
            list(zarr.zeros(10).islice(start, end))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        len(zarr.zeros(()))
    assert len(zarr.zeros((4, 2))) == 4


def test_as_array_of_numpy() -> None:
    z = zarr.array(np.arange(6).reshape(2, 3), chunks=2)
    np.testing.assert_array_equal(np.asarray(z), z[...])
    assert np.array(z, dtype="f4").dtype == np.float32
    assert np.sum(z) == 15
    np.testing.assert_array_equal(np.take(z, [0, 2], axis=1), z[...][:, [0, 2]])
    with pytest.raises(ValueError, match="copy"):
        np.asarray(z, copy=False)


def test_repr() -> None:
    assert repr(zarr.zeros(10, dtype="i4")) == "<zarrox.v2.core.Array (10,) int32>"
    assert repr(zarr.zeros(10, dtype="i4", path="foo", read_only=True)) == "<zarrox.v2.core.Array '/foo' (10,) int32 read-only>"


def test_attributes_are_stored() -> None:
    z = zarr.zeros(3, path="a")
    z.attrs["foo"] = "bar"
    assert json.loads(bytes(z.store[z.attrs.key]))["foo"] == "bar"


def test_the_fill_value_can_be_changed() -> None:
    for zarr_format in (2, 3):
        z = zarr.full(4, fill_value=1, dtype="f4", chunks=2, zarr_format=zarr_format)
        z[:2] = 5
        z.fill_value = np.nan
        np.testing.assert_array_equal(z[:], np.array([5, 5, np.nan, np.nan], "f4"))
        np.testing.assert_array_equal(zarr.Array(z.store)[:], z[:])


def test_metadata_is_read_again_if_it_is_not_cached() -> None:
    fresh = zarr.zeros(100, chunks=10, dtype="i1", cache_metadata=False)
    cached = zarr.Array(fresh.store)
    cached.resize(200)
    assert (fresh.shape, fresh.size, fresh.nbytes, fresh.nchunks) == ((200,), 200, 200, 20)
    cached.append(np.ones(100, "i1"))
    assert fresh[250] == 1
    fresh.resize(400)
    assert (cached.shape, cached.nchunks) == ((300,), 30)


def test_attributes_are_read_again_if_they_are_not_cached() -> None:
    fresh = zarr.zeros(100, cache_attrs=False)
    cached = zarr.Array(fresh.store)
    cached.attrs["foo"] = "xxx"
    assert fresh.attrs["foo"] == "xxx"
    fresh.attrs["foo"] = "yyy"
    assert cached.attrs["foo"] == "xxx"


def test_views_with_another_type() -> None:
    values = np.random.default_rng(1).integers(0, 2, 1000).astype("u1")
    z = zarr.array(values, chunks=100)
    v = z.view(dtype=bool)
    assert v.is_view
    assert not z.is_view
    np.testing.assert_array_equal(v[:], values.view(bool))
    v[:] = False
    np.testing.assert_array_equal(z[:], 0)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_views_with_elements_of_another_size(zarr_format: int) -> None:
    values = np.arange(10000, dtype="u2")
    z = zarr.array(values, chunks=1000, zarr_format=zarr_format)
    v = z.view(dtype="u1", shape=20000, chunks=2000)
    np.testing.assert_array_equal(v[:], values.view("u1"))


def test_views_without_filters() -> None:
    labels = ["female", "male"]
    data = np.random.default_rng(1).choice(labels, size=1000)
    z = zarr.array(data, chunks=100, filters=[zarr.Categorize(labels=labels, dtype=data.dtype, astype="u1")])
    np.testing.assert_array_equal(z[:], data)
    v = z.view(dtype="u1", filters=[])
    np.testing.assert_array_equal(v[:], np.where(data == "female", 1, 2))
    v[:] = np.sort(v[:])
    np.testing.assert_array_equal(z[:], np.sort(data))


def test_views_with_another_fill_value() -> None:
    z = zarr.full(1000, chunks=100, fill_value=-1, dtype="i1")
    v = z.view(fill_value=42)
    assert v.fill_value == 42
    assert (v[:] == 42).all()
    assert (z[:] == -1).all()


def test_views_cannot_be_resized() -> None:
    v = zarr.empty(100).view()
    for change in (lambda: v.resize(200), lambda: v.append([1])):
        with pytest.raises(PermissionError, match="not permitted for views"):
            change()
    assert zarr.zeros(3).view(read_only=True).read_only


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_astype(zarr_format: int) -> None:
    z = zarr.array(np.arange(100, dtype="i1"), chunks=10, zarr_format=zarr_format)
    v = z.astype("f4")
    assert (v.dtype, v.is_view, v.read_only) == (np.float32, True, True)
    np.testing.assert_array_equal(v[:], np.arange(100, dtype="f4"))
    assert v[:].dtype == np.float32
    assert type(v[5]) is np.float32
    np.testing.assert_array_equal(v.oindex[[1, 5]], [1, 5])
    np.testing.assert_array_equal(v, z)
    out = np.zeros(10, "f8")
    v.get_basic_selection(slice(10), out=out)
    np.testing.assert_array_equal(out, np.arange(10))
    with pytest.raises(ReadOnlyError):
        v[0] = 1


def test_astype_shows_itself_among_the_filters() -> None:
    filters = zarr.array(np.arange(10, dtype="i1")).astype("f4").filters
    assert [codec.codec_id for codec in filters] == ["astype"]
    twice = zarr.array(np.arange(10, dtype="i1")).astype("f4").astype("i8")
    assert twice.filters == [zarr.AsType("f4", "i8"), zarr.AsType("i1", "f4")]
    assert pickle.loads(pickle.dumps(twice))[:].dtype == np.int64
    assert twice.view()[:].dtype == np.int64


def test_codecs_of_v2() -> None:
    z = zarr.zeros(10, dtype="i4", filters=[zarr.Delta(dtype="<i4")], compressor=zarr.Zlib(3))
    assert z.compressor == zarr.Zlib(3)
    assert z.filters == [zarr.Delta(dtype="<i4")]
    bare = zarr.zeros(10, compressor=None)
    assert (bare.compressor, bare.filters) == (None, None)


def test_threads_write_at_the_same_time() -> None:
    z = zarr.zeros(1000, chunks=64, dtype=int)

    def write(start: int) -> None:
        for position in range(start, 1000, 8):
            z[position] = position

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    np.testing.assert_array_equal(z[:], np.arange(1000))


def test_fields_have_their_byte_order() -> None:
    dtype = np.dtype([("a", ">i2"), ("b", "<f4", (2,)), ("c", "S2")])
    data = np.zeros(5, dtype)
    data["a"], data["b"] = np.arange(5), np.arange(10).reshape(5, 2)
    z = zarr.array(data, chunks=2)
    for found, expected in ((z["a"], data["a"]), (z["a", 1:3], data["a"][1:3]), (z["b"], data["b"])):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert z["a", "c", :].dtype == [("a", ">i2"), ("c", "S2")]


@pytest.mark.parametrize("order", ["C", "F"])
def test_one_object_is_no_array(order: str) -> None:
    z = zarr.create((2, 3), chunks=(2, 2), dtype=str, order=order)
    z[1, 2] = "a"
    assert (z[0, 0], z[1, 2]) == ("", "a")
    assert type(z[1, 2]) is str


def test_objects() -> None:
    z = zarr.empty(5, dtype=object, object_codec=zarr.JSON())
    z[0], z[1], z[2], z[3] = 42, "foo", ["bar", 3.5], {"a": 1}
    assert [z[i] for i in range(4)] == [42, "foo", ["bar", 3.5], {"a": 1}]
    assert z[:].dtype == object


@pytest.mark.parametrize("codec", ["VLenUTF8", "JSON", "MsgPack"])
def test_text_as_objects(codec: str) -> None:
    data = np.array(["¡Hola mundo!", "Hej Världen!", "", "zarr"] * 10, dtype=object)
    z = zarr.array(data, dtype=object, object_codec=getattr(zarr, codec)(), chunks=7)
    np.testing.assert_array_equal(z[:], data)
    z[3] = "other"
    assert z[3] == "other"
    assert z.append(["one", "more"]) == (42,)
    assert z[41] == "more"


def test_text_bytes_and_arrays_of_any_length() -> None:
    text = zarr.empty(3, dtype=str)
    assert isinstance(text.filters[0], zarr.VLenUTF8)
    text[:] = ["a", "bb", "ccc"]
    np.testing.assert_array_equal(text[:], np.array(["a", "bb", "ccc"], dtype=object))
    raw = zarr.empty(2, dtype=bytes)
    raw[:] = np.array([b"a", b"bb"], dtype=object)
    assert raw[1] == b"bb"
    ragged = zarr.empty(2, dtype="array:i4")
    ragged[0] = np.array([1, 2, 3])
    np.testing.assert_array_equal(ragged[0], [1, 2, 3])


@pytest.mark.parametrize(
    "dtype", ["u1", "i8", "f2", "f4", "c8", "c16", "M8[D]", "m8[ns]", "S5", "U3", "?", ">f8", ">i2", "(2, 2)f4"]
)
def test_types(dtype: str) -> None:
    kind = np.dtype(dtype)
    values = np.arange(10).astype(kind.base)
    values = values if not kind.shape else np.broadcast_to(values[:, None, None], (10, 2, 2))
    z = zarr.create(10, chunks=3, dtype=dtype)
    assert z.dtype == kind.base
    z[...] = values
    np.testing.assert_array_equal(z[...], values)


def test_times_need_a_unit() -> None:
    for dtype in ("M8", "m8"):
        with pytest.raises(ValueError, match="unit"):
            zarr.zeros(3, dtype=dtype)


def test_meta_array_is_what_was_given() -> None:
    assert isinstance(zarr.zeros(3).meta_array, np.ndarray)
    like = np.empty(())
    assert zarr.zeros(3, meta_array=like).meta_array is like


class Elsewhere:
    """An array that NumPy treats as one in the memory of another device."""

    def __init__(self, values: Any = 0) -> None:
        self.values = values

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Elsewhere:
        assert function is np.asanyarray
        return Elsewhere(args[0])


def test_reading_gives_arrays_of_the_kind_that_was_asked_for() -> None:
    z = zarr.array(np.arange(4), meta_array=Elsewhere())
    found = z[1:3]
    assert isinstance(found, Elsewhere)
    np.testing.assert_array_equal(found.values, [1, 2])
    assert isinstance(z.oindex[[0, 3]], Elsewhere)


def test_views_of_n5_have_its_metadata(tmp_path: Path) -> None:
    z = zarr.open_array(str(tmp_path / "a.n5"), mode="w", shape=4, dtype="i4")
    z[:] = 1
    assert z.astype("f4")[:].dtype == np.float32
    assert z.view()[0] == 1
    with pytest.raises(UnsupportedError, match="version 2 or 3"):
        z.view(dtype="u4")
    with pytest.raises(UnsupportedError, match="fill value"):
        z.fill_value = 5


def test_views_of_v3_keep_their_filters() -> None:
    with pytest.raises(UnsupportedError, match="filters"):
        zarr.zeros(4, dtype="i4", zarr_format=3).view(filters=[])


def test_lengths_that_no_array_has_are_refused() -> None:
    z = zarr.zeros((3, 4), chunks=2, dtype="i1")
    for shape in ((-1, 4), (2**63, 4), (3, 2**64), (3, -(2**70))):
        with pytest.raises(ValueError, match="2\\^63"):
            z.resize(shape)
    z.resize((2**63 - 1, 4))
    assert z[2**63 - 2].tolist() == z[-1].tolist() == [0] * 4


VALUES: list[Any] = [
    *(300, -129, 1.5, True, float("nan")),
    *(np.int64(300), np.int64(-5), np.uint8(200), np.float64(1e9), np.float64(1.7), np.float64("nan"), np.bool_(True)),
    *(np.array(300), np.array([300, 1]), [300, 1], [np.int64(300), 1], np.str_("7"), np.datetime64(3, "s")),
]


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i2", "f4", "?", "M8[s]"])
@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.filterwarnings("ignore:.*invalid value:RuntimeWarning")
def test_values_are_assigned_as_numpy_assigns_them(dtype: str, value: Any) -> None:
    """A scalar that does not fit is rejected, but the elements of an array are cast."""
    expected = np.zeros(2, dtype)
    z = zarr.zeros(2, chunks=1, dtype=dtype)
    try:
        expected[:] = value
    except Exception as error:
        with pytest.raises(type(error)):
            z[:] = value
    else:
        z[:] = value
        np.testing.assert_array_equal(z[:], expected)


def test_axes_of_an_append_count_from_the_end_as_well() -> None:
    """Negative axes are accepted as in NumPy, and the error names an invalid axis."""
    z = zarr.zeros((2, 2), chunks=(2, 2))
    assert z.append(np.ones((2, 3)), axis=-1) == (2, 5)
    assert z.append(np.ones((1, 5)), axis=-2) == (3, 5)
    for axis in (2, -3):
        with pytest.raises(ValueError, match=f"axis {axis}"):
            z.append(np.ones((2, 3)), axis=axis)


class Kind(np.ndarray[Any, Any]):
    """A user-defined array class."""


@pytest.mark.parametrize("create", [zarr.group, zarr.open_group])
def test_arrays_below_a_group_give_its_kind_of_array(create: Any) -> None:
    group = create({}, meta_array=np.empty(()).view(Kind))
    group.ones("a", shape=3)
    assert isinstance(group.meta_array, Kind)
    for array in (group["a"], group.zeros("b", shape=3), group.require_dataset("a", shape=3, dtype="f8")):
        assert type(array[:]) is Kind
    assert group["a"][:].tolist() == [1, 1, 1]


def test_private_names_that_programs_use() -> None:
    chunks: dict[str, Any] = {}
    z = zarr.zeros(3, store={}, path="a/b", chunk_store=chunks, dimension_separator="/", cache_metadata=False)
    group = zarr.group(z.store, path="a")
    assert (z._version, group._version, zarr.zeros(3, zarr_format=3)._version) == (2, 2, 3)
    assert (z._key_prefix, group._key_prefix, zarr.group()._key_prefix) == ("a/b/", "a/", "")
    assert (z._cache_metadata, zarr.zeros(3)._cache_metadata) == (False, True)
    assert (z._dimension_separator, zarr.zeros(3)._dimension_separator) == ("/", ".")
    assert (z._chunk_store, group._chunk_store) == (z.chunk_store, None)


def test_the_compressor_of_an_array_of_version_3() -> None:
    assert zarr.zeros(3, zarr_format=3, compressor=zarr.GZip(2)).compressor == zarr.GZip(2)
    assert zarr.zeros(3, zarr_format=3, compressor=None).compressor is None
    assert zarr.zeros(3, zarr_format=3, compressor=zarr.Blosc("zstd", 3, zarr.Blosc.BITSHUFFLE)).compressor.get_config()["shuffle"] == 2


def test_what_has_no_size_in_a_store() -> None:
    values: dict[str, Any] = {}
    z = zarr.zeros(3, store=values)
    assert z.nbytes_stored > 0
    values["other"] = [1, 2]
    assert z.nbytes_stored == -1
