"""Opening, saving, loading, consolidating and copying, in both formats."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox
import zarrox.v2 as zarr
from zarrox.v2.core import Array
from zarrox.errors import CopyError, PathNotFoundError, ReadOnlyError
from zarrox.v2.hierarchy import Group


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request: pytest.FixtureRequest) -> int:
    return int(request.param)


class TestOpen:
    def test_arrays(self, tmp_path: Path, zarr_format: int) -> None:
        path = tmp_path / "array.zarr"
        assert zarr.open(path, mode="a", shape=100, zarr_format=zarr_format).shape == (100,)
        assert zarr.open(path, mode="a", shape=200).shape == (100,)
        array = zarr.open(str(path), mode="w", shape=200, dtype="i2", zarr_format=zarr_format)
        assert (array.shape, array.dtype, array.read_only) == ((200,), np.dtype("i2"), False)
        assert isinstance(zarr.open(path), Array)
        assert zarr.open(path, mode="r").read_only
        zarr.open(path, mode="r+")[:5] = 7
        assert zarr.open(path, mode="r")[4] == 7
        with pytest.raises(ValueError):
            zarr.open(path, mode="w-", shape=100, zarr_format=zarr_format)

    def test_groups(self, tmp_path: Path, zarr_format: int) -> None:
        path = tmp_path / "group.zarr"
        group = zarr.open(path, mode="a", zarr_format=zarr_format)
        group.create_group("foo").zeros("bar", shape=3)
        assert "foo" in zarr.open(path)
        assert zarr.open(path, mode="r").read_only
        assert isinstance(zarr.open(path, mode="r", path="foo"), Group)
        assert isinstance(zarr.open(path, mode="r", path="foo/bar"), Array)
        assert len(zarr.open(path, mode="w", zarr_format=zarr_format)) == 0

    def test_nothing(self, tmp_path: Path) -> None:
        for mode in ("r", "r+"):
            with pytest.raises(PathNotFoundError):
                zarr.open(tmp_path / "nothing", mode=mode)
            with pytest.raises(PathNotFoundError, match="foo"):
                zarr.open({}, mode=mode, path="foo")
        with pytest.raises(ValueError, match="mode"):
            zarr.open({}, mode="rw")
        assert not (tmp_path / "nothing").exists()

    def test_without_mode(self, tmp_path: Path) -> None:
        assert isinstance(zarr.open({}, mode=None), Group)
        path = str(tmp_path / "x.zip")
        zarr.save(path, np.arange(3))
        with zarr.ZipStore(path, mode="r") as store:
            assert zarr.open(store, mode=None)[:].tolist() == [0, 1, 2]

    def test_default_format(self) -> None:
        for interface, zarr_format in ((zarr, 2), (zarrox, 3)):
            assert interface.open(mode="w")._zarr_format == zarr_format
            assert interface.open(mode="w", shape=3)._metadata.zarr_format == zarr_format


class TestSaveAndLoad:
    @pytest.mark.parametrize("name", ["data.zarr", "data.zip"])
    def test_array(self, tmp_path: Path, name: str, zarr_format: int) -> None:
        data = np.arange(100).reshape(10, 10)
        zarr.save_array(str(tmp_path / name), data, chunks=(3, 4), zarr_format=zarr_format)
        loaded = zarr.load(str(tmp_path / name))
        assert type(loaded) is np.ndarray
        np.testing.assert_array_equal(loaded, data)
        array = zarr.open(str(tmp_path / name), mode="r")
        assert array.chunks == (3, 4) and array._metadata.zarr_format == zarr_format

    @pytest.mark.parametrize("name", ["data.zarr", "data.zip"])
    def test_group(self, tmp_path: Path, name: str, zarr_format: int) -> None:
        zarr.save(str(tmp_path / name), np.arange(3), foo=[1.5, 2.5], zarr_format=zarr_format)
        loaded = zarr.load(str(tmp_path / name))
        assert repr(loaded) == "<LazyLoader: arr_0, foo>"
        assert list(loaded) == ["arr_0", "foo"] and len(loaded) == 2 and "foo" in loaded and "bar" not in loaded
        assert loaded["arr_0"].tolist() == [0, 1, 2] and loaded["foo"].tolist() == [1.5, 2.5]
        assert loaded["foo"] is loaded["foo"]
        assert zarrox.open(str(tmp_path / name), mode="r").metadata.zarr_format == zarr_format

    def test_replaces_what_was_there(self, tmp_path: Path) -> None:
        path = tmp_path / "data.zarr"
        zarr.save(path, a=np.arange(3), b=np.arange(3))
        zarr.save(path, c=np.arange(3))
        assert list(zarr.load(path)) == ["c"]
        zarr.save(path, np.arange(5))
        assert zarr.load(path).tolist() == [0, 1, 2, 3, 4]

    def test_below_a_path(self, tmp_path: Path, zarr_format: int) -> None:
        store = zarr.DirectoryStore(str(tmp_path / "data.zarr"))
        zarr.save(store, np.arange(3), path="foo/bar", zarr_format=zarr_format)
        zarr.save(store, np.arange(3), np.arange(4), path="foo/baz", zarr_format=zarr_format)
        assert zarr.load(store, path="foo/bar").tolist() == [0, 1, 2]
        assert zarr.load(store, path="foo/baz")["arr_1"].tolist() == [0, 1, 2, 3]
        assert zarr.load(store, path="foo")["baz"]["arr_0"].tolist() == [0, 1, 2]

    def test_arrays_with_the_names_of_options(self) -> None:
        store: dict[str, Any] = {}
        zarr.save(store, path=np.arange(3), progress=[1, 2])
        assert sorted(zarr.load(store)) == ["path", "progress"]
        zarr.save(store, path=zarr.array(np.arange(3)))
        assert zarr.load(store)["path"].tolist() == [0, 1, 2]

    def test_nothing(self, tmp_path: Path) -> None:
        for save in (zarr.save, zarr.save_group):
            with pytest.raises(ValueError, match="at least one array"):
                save(tmp_path / "data.zarr")
        with pytest.raises(PathNotFoundError):
            zarr.load(tmp_path / "data.zarr")

    def test_progress(self) -> None:
        calls: list[tuple[int, int]] = []
        zarr.save({}, np.zeros(10), np.zeros(20), progress=lambda done, total: calls.append((done, total)))
        assert calls == [(80, 240), (240, 240)]


class TestConsolidated:
    @pytest.mark.parametrize("has_chunk_store", [False, True])
    def test_version_2(self, has_chunk_store: bool) -> None:
        store = zarr.MemoryStore()
        chunk_store = zarr.MemoryStore() if has_chunk_store else None
        root = zarr.group(store, chunk_store=chunk_store)
        root.create_group("g1")
        g2 = root.create_group("g2")
        g2.attrs["hello"] = "world"
        array = g2.create_dataset("arr", shape=(20, 20), chunks=(5, 5), dtype="f8")
        array.attrs["data"] = 1
        array[:] = 1.0
        assert isinstance(zarr.consolidate_metadata(store), Group)
        for key in (".zgroup", "g1/.zgroup", "g2/.zgroup", "g2/.zattrs", "g2/arr/.zarray", "g2/arr/.zattrs"):
            del store[key]

        group = zarr.open_consolidated(store, chunk_store=chunk_store, cache_attrs=True, synchronizer=None)
        assert list(group) == ["g1", "g2"]
        assert group.g2.attrs["hello"] == "world" and group.g2.arr.attrs["data"] == 1
        assert (group.g2.arr[:] == 1).all()
        group.g2.arr[:] = 2
        assert (group.g2.arr[:] == 2).all()
        for change in (
            lambda: group.create_group("g3"),
            lambda: group.create_dataset("spam", shape=42, chunks=7, dtype="i4"),
            lambda: group.__delitem__("g2"),
            lambda: group.g2.attrs.__setitem__("hello", "universe"),
            lambda: group.g2.arr.attrs.__setitem__("foo", "bar"),
        ):
            with pytest.raises(PermissionError):
                change()

    def test_version_3(self) -> None:
        store = zarrox.storage.MemoryStore()
        root = zarrox.create_group(store)
        root.create_group("g").create_array("arr", data=np.arange(10), chunks=(5,))
        root.create_group("g2", attributes={"a": 1})
        group = zarrox.consolidate_metadata(store)
        assert list(group) == ["g", "g2"] and group["g2"].attrs["a"] == 1
        group["g/arr"][:] = 3
        assert root["g/arr"][:].tolist() == [3] * 10
        with pytest.raises(ReadOnlyError):
            group["g"].create_group("x")
        assert sorted(group.metadata.consolidated_metadata.flattened_metadata) == ["g", "g/arr", "g2"]

    def test_another_key(self) -> None:
        store = zarr.MemoryStore()
        zarr.group(store).create_group("foo")
        zarr.consolidate_metadata(store, "elsewhere")
        assert "elsewhere" in store and ".zmetadata" not in store
        assert list(zarr.open_consolidated(store, "elsewhere")) == ["foo"]
        assert list(zarrox.open_group(store, mode="r", use_consolidated="elsewhere")) == ["foo"]

    def test_below_a_path(self, zarr_format: int) -> None:
        store = zarr.MemoryStore()
        zarr.group(store, zarr_format=zarr_format).create_group("foo").zeros("bar", shape=3)
        group = zarr.consolidate_metadata(store, path="foo")
        assert group.path == "foo" and list(group) == ["bar"]

    def test_not_there(self, zarr_format: int) -> None:
        store = zarr.MemoryStore()
        zarr.group(store, zarr_format=zarr_format)
        with pytest.raises((KeyError, ValueError)):
            zarr.open_consolidated(store)
        for mode in ("a", "w"):
            with pytest.raises(ValueError, match="mode"):
                zarr.open_consolidated(store, mode=mode)


class TestRechunk:
    @pytest.fixture
    def rows(self) -> zarr.Array:
        rows = zarr.zeros((300, 200), chunks=(1, 200), dtype="i4")
        rows[:] = np.arange(60_000).reshape(300, 200)
        return rows

    @pytest.mark.parametrize("memory", [None, 100_000])
    @pytest.mark.parametrize("has_scratch", [False, True])
    def test_elements_are_the_same(self, rows: zarr.Array, tmp_path: Path, memory: int | None, has_scratch: bool) -> None:
        columns = zarr.create((300, 200), chunks=(300, 1), dtype="i4", store={}, zarr_format=3)
        zarrox.rechunk(rows, columns, memory=memory, scratch=tmp_path / "between" if has_scratch else None)
        np.testing.assert_array_equal(columns[:], rows[:])
        assert list(tmp_path.iterdir()) == []

    def test_what_is_refused(self, rows: zarr.Array, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"shape \[300, 201\] cannot hold elements of shape \[300, 200\]"):
            zarrox.rechunk(rows, zarr.zeros((300, 201), dtype="i4"))
        with pytest.raises(zarrox.errors.DataTypeMismatchError):
            zarrox.rechunk(rows, zarr.zeros((300, 200), dtype="f4"))
        zarr.save_array(tmp_path / "a.zarr", rows[:])
        with pytest.raises(zarrox.errors.ReadOnlyError):
            zarrox.rechunk(rows, zarr.open_array(tmp_path / "a.zarr", mode="r"))
        with pytest.raises(zarrox.errors.ContainsNodeError):
            columns = zarr.zeros((300, 200), chunks=(300, 1), dtype="i4")
            zarrox.rechunk(rows, columns, memory=100_000, scratch=tmp_path / "a.zarr")
        with pytest.raises(TypeError, match="is a view with converted elements"):
            zarrox.rechunk(rows.astype("i8"), zarr.zeros((300, 200), dtype="i8"))


class TestCopyStore:
    @pytest.fixture
    def source(self) -> dict[str, bytes]:
        return {"foo": b"xxx", "bar/baz": b"yyy", "bar/qux": b"zzz"}

    def test_all(self, source: dict[str, bytes]) -> None:
        dest: dict[str, Any] = {}
        assert zarr.copy_store(source, dest) == (3, 0, 9)
        assert dest == source

    @pytest.mark.parametrize("path", ["bar", "bar/", "/bar", "/bar/"])
    def test_source_path(self, source: dict[str, bytes], path: str) -> None:
        dest: dict[str, Any] = {}
        assert zarr.copy_store(source, dest, source_path=path) == (2, 0, 6)
        assert dest == {"baz": b"yyy", "qux": b"zzz"}

    @pytest.mark.parametrize("path", ["new", "new/", "/new", "/new/"])
    def test_dest_path(self, source: dict[str, bytes], path: str) -> None:
        dest: dict[str, Any] = {}
        zarr.copy_store(source, dest, source_path="bar", dest_path=path)
        assert dest == {"new/baz": b"yyy", "new/qux": b"zzz"}

    @pytest.mark.parametrize(
        "excludes, includes, keys",
        [
            ("f.*", None, {"bar/baz", "bar/qux"}),
            (["b.z", ".*x"], None, {"foo"}),
            ("b.*", ".*x", {"foo", "bar/qux"}),
            ("b.*", [".*x", "baz"], {"foo", "bar/baz", "bar/qux"}),
        ],
    )
    def test_choices(self, excludes: Any, includes: Any, keys: set[str]) -> None:
        source = {"foo": b"x", "bar/baz": b"y", "bar/qux": b"z"}
        dest: dict[str, Any] = {}
        zarr.copy_store(source, dest, excludes=excludes, includes=includes)
        assert set(dest) == keys

    def test_flags(self, source: dict[str, bytes]) -> None:
        dest: dict[str, Any] = {}
        zarr.copy_store(source, dest, excludes="BAR", flags=re.IGNORECASE)
        assert set(dest) == {"foo"}

    def test_dry_run(self, source: dict[str, bytes]) -> None:
        dest: dict[str, Any] = {}
        assert zarr.copy_store(source, dest, dry_run=True) == (3, 0, 0)
        assert dest == {}

    def test_if_exists(self, source: dict[str, bytes]) -> None:
        with pytest.raises(CopyError, match="bar/baz"):
            zarr.copy_store(source, {"bar/baz": b"mine"})
        dest = {"bar/baz": b"mine"}
        assert zarr.copy_store(source, dest, if_exists="skip") == (2, 1, 6)
        assert dest == source | {"bar/baz": b"mine"}
        assert zarr.copy_store(source, dest, if_exists="replace") == (3, 0, 9)
        assert dest == source
        for if_exists in ("skip_initialized", "nonsense"):
            with pytest.raises(ValueError, match="if_exists"):
                zarr.copy_store(source, dest, if_exists=if_exists)

    def test_log_and_progress(self, source: dict[str, bytes]) -> None:
        log, done = io.StringIO(), []
        zarr.copy_store(
            source, {"new/qux": b""}, "bar", "new", log=log, if_exists="skip", progress=lambda n, total: done.append((n, total))
        )
        assert log.getvalue().splitlines() == [
            "copy bar/baz -> new/baz",
            "skip bar/qux -> new/qux",
            "all done: 1 copied, 1 skipped, 3 bytes copied",
        ]
        assert done == [(2, 2)]

    def test_hierarchies(self, tmp_path: Path, zarr_format: int) -> None:
        store = zarr.DirectoryStore(str(tmp_path / "a.zarr"))
        root = zarr.group(store, overwrite=True, zarr_format=zarr_format)
        root.create_dataset("foo/bar/baz", data=np.arange(100), chunks=(50,))
        with zarr.ZipStore(str(tmp_path / "a.zip"), mode="w") as dest:
            n_copied, n_skipped, n_bytes = zarr.copy_store(store, dest)
            assert (n_copied, n_skipped) == (6, 0)
            assert n_bytes == sum(len(store[key]) for key in store)
        with zarr.ZipStore(str(tmp_path / "a.zip"), mode="r") as dest:
            assert str(zarr.group(dest).tree()) == str(root.tree())
            np.testing.assert_array_equal(zarr.group(dest)["foo/bar/baz"][:], np.arange(100))


def make_source(zarr_format: int) -> Group:
    source = zarr.group(zarr_format=zarr_format)
    foo = source.create_group("foo")
    foo.attrs["experiment"] = "weird science"
    baz = foo.create_dataset("bar/baz", data=np.arange(100), chunks=(50,))
    baz.attrs["units"] = "metres"
    source.create_dataset("spam", data=np.arange(100, 200).reshape(20, 5), chunks=(10, 2), dtype="i2", fill_value=42)
    return source


def equal_nodes(a: Any, b: Any) -> None:
    assert dict(a.attrs) == dict(b.attrs)
    if isinstance(a, Array):
        assert (a.shape, a.dtype, a.chunks, a.fill_value) == (b.shape, b.dtype, b.chunks, b.fill_value)
        np.testing.assert_array_equal(a[...], b[...])
        return
    assert list(a) == list(b)
    for name in a:
        equal_nodes(a[name], b[name])


class TestCopy:
    @pytest.fixture
    def source(self, zarr_format: int) -> Group:
        return make_source(zarr_format)

    @pytest.fixture(params=[2, 3], ids=["to v2", "to v3"])
    def dest(self, request: pytest.FixtureRequest) -> Group:
        return zarr.group(zarr_format=request.param)

    def test_group(self, source: Group, dest: Group) -> None:
        assert zarr.copy(source["foo"], dest) == (3, 0, 800)
        equal_nodes(source["foo"], dest["foo"])
        assert list(dest) == ["foo"]

    def test_array(self, source: Group, dest: Group) -> None:
        assert zarr.copy(source["spam"], dest, name="eggs/spam") == (1, 0, 200)
        equal_nodes(source["spam"], dest["eggs/spam"])

    def test_all(self, source: Group, dest: Group) -> None:
        source.attrs["top"] = True
        assert zarr.copy_all(source, dest) == (4, 0, 1000)
        equal_nodes(source, dest)

    def test_without_attributes(self, source: Group, dest: Group) -> None:
        source.attrs["top"] = True
        zarr.copy_all(source, dest, without_attrs=True)
        assert not dest.attrs and not dest["foo"].attrs and not dest["foo/bar/baz"].attrs

    def test_shallow(self, source: Group, dest: Group) -> None:
        assert zarr.copy(source, dest, name="eggs", shallow=True) == (2, 0, 200)
        assert list(dest["eggs"]) == ["spam"]
        assert zarr.copy_all(source, dest, shallow=True) == (1, 0, 200)

    def test_options(self, source: Group, dest: Group) -> None:
        zarr.copy(source["spam"], dest, dtype="f8", chunks=(20, 1), compressor=None, order="F")
        assert (dest["spam"].dtype, dest["spam"].chunks) == (np.dtype("f8"), (20, 1))
        np.testing.assert_array_equal(dest["spam"][:], source["spam"][:])

    def test_roots_need_names(self, source: Group, dest: Group) -> None:
        with pytest.raises(TypeError, match="name"):
            zarr.copy(source, dest)
        zarr.copy(source, dest, name="root")
        equal_nodes(source, dest["root"])

    def test_needs_a_group(self, source: Group) -> None:
        with pytest.raises(ValueError, match="group"):
            zarr.copy(source["spam"], source["spam"])
        with pytest.raises(ValueError, match="group"):
            zarr.copy_all(source, {})

    def test_arrays_that_exist(self, source: Group, dest: Group) -> None:
        dest["baz"] = np.arange(5)
        baz = source["foo/bar/baz"]
        for if_exists in ({}, {"if_exists": "raise"}):
            with pytest.raises(CopyError, match="an object 'baz' already exists in destination '/'"):
                zarr.copy(baz, dest, **if_exists)
        assert zarr.copy(baz, dest, if_exists="skip") == (0, 1, 0)
        assert dest["baz"].shape == (5,)
        assert zarr.copy(baz, dest, if_exists="replace") == (1, 0, 800)
        equal_nodes(baz, dest["baz"])
        with pytest.raises(ValueError, match="if_exists"):
            zarr.copy(baz, dest, if_exists="nonsense")

    def test_groups_that_exist(self, source: Group, dest: Group) -> None:
        dest.create_group("baz")
        with pytest.raises(CopyError):
            zarr.copy(source["foo/bar/baz"], dest)
        zarr.copy(source["foo/bar/baz"], dest, if_exists="replace")
        equal_nodes(source["foo/bar/baz"], dest["baz"])
        dest.create_group("foo/bar").attrs["mine"] = 1
        zarr.copy(source["foo"], dest)
        assert dest["foo/bar"].attrs["mine"] == 1

    def test_arrays_in_the_way(self, source: Group, dest: Group) -> None:
        dest.create_dataset("foo/bar", shape=(10,))
        with pytest.raises(CopyError, match="an array 'bar' already exists in destination '/foo'"):
            zarr.copy(source["foo"], dest)
        assert zarr.copy(source["foo"], dest, if_exists="skip") == (1, 1, 0)
        assert dest["foo/bar"].shape == (10,)
        zarr.copy(source["foo"], dest, if_exists="replace")
        equal_nodes(source["foo"], dest["foo"])

    def test_skips_what_is_initialized(self, source: Group, dest: Group) -> None:
        dest.create_dataset("baz", shape=(100,), chunks=(10,), dtype="i8")
        zarr.copy(source["foo/bar/baz"], dest, if_exists="skip_initialized")
        np.testing.assert_array_equal(dest["baz"][:], np.arange(100))
        dest["baz"][:] = np.arange(100, 200)
        assert zarr.copy(source["foo/bar/baz"], dest, if_exists="skip_initialized") == (0, 1, 0)
        np.testing.assert_array_equal(dest["baz"][:], np.arange(100, 200))

    def test_dry_run(self, source: Group, dest: Group) -> None:
        assert zarr.copy(source["foo"], dest, dry_run=True) == (3, 0, 0)
        assert zarr.copy_all(source, dest, dry_run=True) == (4, 0, 0)
        assert len(dest) == 0 and len(dest.attrs) == 0
        dest["foo/bar/baz"] = np.arange(3)
        with pytest.raises(CopyError):
            zarr.copy(source["foo"], dest, dry_run=True)
        assert zarr.copy(source["foo"], dest, dry_run=True, if_exists="skip") == (2, 1, 0)
        assert zarr.copy(source["foo"], dest, dry_run=True, if_exists="replace") == (3, 0, 0)
        assert dest["foo/bar/baz"].shape == (3,)

    def test_logs(self, source: Group, dest: Group, tmp_path: Path) -> None:
        dest["spam"] = 1
        lines: list[str] = []
        zarr.copy_all(source, dest, if_exists="skip", log=lines.append)
        assert lines == [
            "copy /foo",
            "copy /foo/bar",
            "copy /foo/bar/baz (100,) int64",
            "skip /spam (20, 5) int16",
            "all done: 3 copied, 1 skipped, 800 bytes copied",
        ]
        for log in (tmp_path / "log", str(tmp_path / "log")):
            zarr.copy(source["spam"], dest, "new", log=log, dry_run=True)
            assert (tmp_path / "log").read_text() == "copy /spam (20, 5) int16\ndry run: 1 copied, 0 skipped\n"
        with pytest.raises(TypeError, match="log"):
            zarr.copy(source["foo"], dest, dry_run=True, log=True)

    def test_progress(self, source: Group, dest: Group) -> None:
        calls: list[tuple[int, int]] = []
        zarr.copy_all(source, dest, progress=lambda done, total: calls.append((done, total)))
        assert calls[-1] == (1000, 1000)
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)

        class Bar:
            n = 0
            total = None

            def update(self, amount: int) -> None:
                self.n += amount

        bar = Bar()
        zarr.copy(source["foo"], dest, name="again", progress=bar)
        assert (bar.n, bar.total) == (800, 800)

    def test_broken_children(self, dest: Group) -> None:
        store: dict[str, Any] = {}
        source = zarr.group(store)
        source["foo"] = np.arange(3)
        store["bad/.zarray"] = b"{"
        with pytest.raises(ValueError):
            zarr.copy_all(source, dest)


class TestEncodedCopies:
    """Chunks whose encoding does not change are copied without decoding."""

    def test_bytes_stay_the_same(self, zarr_format: int, tmp_path: Path) -> None:
        store, dest_store = zarr.MemoryStore(), zarr.DirectoryStore(str(tmp_path / "dest.zarr"))
        source, dest = zarr.group(store, zarr_format=zarr_format), zarr.group(dest_store, zarr_format=zarr_format)
        array = source.create_dataset("a", shape=(9, 9), chunks=(2, 3), dtype="f4", fill_value=5)
        array[2:5, 1:] = np.random.default_rng(0).random((3, 8))
        # Chunks that cannot be decoded are copied as well.
        key = next(key for key in store if key.startswith("a/") and not key.endswith((".zarray", ".json")))
        store[key] = b"no chunk"
        zarr.copy(source["a"], dest, name="deep/b")
        copied = {key.removeprefix("deep/b/"): bytes(dest_store[key]) for key in dest_store if key.startswith("deep/b/")}
        assert copied == {key.removeprefix("a/"): bytes(store[key]) for key in store if key.startswith("a/")}

    def test_shards(self) -> None:
        source, dest = zarrox.create_group({}), zarrox.create_group({})
        array = source.create_array(
            "a", shape=(40, 40), chunks=(5, 5), shards=(20, 20), dtype="u1", dimension_names=["y", "x"]
        )
        array[:] = np.arange(1600).reshape(40, 40) % 251
        zarr.copy(array, dest)
        assert (dest["a"].shards, dest["a"].chunks) == ((20, 20), (5, 5))
        assert dest["a"].metadata.dimension_names == ("y", "x")
        np.testing.assert_array_equal(dest["a"][:], array[:])
        zarr.copy(array, dest, name="b", fill_value=7)
        assert (dest["b"].shards, dest["b"].fill_value) == ((20, 20), 7)
        np.testing.assert_array_equal(dest["b"][:], array[:])

    def test_chunk_stores(self, zarr_format: int) -> None:
        stores = [zarr.MemoryStore() for _ in range(4)]
        source = zarr.group(stores[0], chunk_store=stores[1], zarr_format=zarr_format)
        dest = zarr.group(stores[2], chunk_store=stores[3], zarr_format=zarr_format)
        source["a"] = np.arange(10)
        zarr.copy_all(source, dest)
        assert dest["a"][:].tolist() == list(range(10))
        assert sorted(stores[3]) == sorted(stores[1])

    def test_views_are_decoded(self) -> None:
        source, dest = zarr.group(), zarr.group()
        source.create_dataset("a", data=np.arange(10, dtype="i4"))
        zarr.copy(source["a"].astype("f8"), dest, name="b")
        assert dest["b"].dtype == np.dtype("f8")
        assert dest["b"][:].tolist() == list(range(10))

    @pytest.mark.parametrize("dtype", ["<U3", "S3", "M8[s]", "?", "c8", [("a", "i4"), ("b", "f8")]])
    def test_data_types(self, dtype: Any) -> None:
        source, dest = zarr.group(), zarr.group()
        source.create_dataset("a", data=np.zeros(5, dtype=dtype), chunks=2)
        zarr.copy_all(source, dest)
        assert dest["a"].dtype == np.dtype(dtype)
        np.testing.assert_array_equal(dest["a"][:], source["a"][:])

    def test_text(self, zarr_format: int) -> None:
        source, dest = zarr.group(zarr_format=zarr_format), zarr.group(zarr_format=5 - zarr_format)
        source.create_dataset("a", data=np.array(["one", "", "drei"], dtype=object), dtype=str)
        zarr.copy(source["a"], source, name="b")
        assert list(source["b"][:]) == ["one", "", "drei"]
        zarr.copy(source["a"], dest)
        assert list(dest["a"][:]) == ["one", "", "drei"]

    def test_compressors_are_kept(self) -> None:
        source, dest = zarr.group(), zarr.group()
        source.create_dataset(
            "a", data=np.arange(12).reshape(3, 4), compressor=zarr.codecs.Zlib(3), order="F", filters=[zarr.codecs.Delta("i8")]
        )
        zarr.copy(source["a"], dest)
        zarr.copy(source["a"], dest, name="b", chunks=(2, 2))
        for name in ("a", "b"):
            copied = dest[name]
            assert copied.compressor == source["a"].compressor
            assert copied.filters == source["a"].filters
            assert copied.order == "F"
            np.testing.assert_array_equal(copied[:], source["a"][:])

    def test_copies_from_zarr_python(self) -> None:
        theirs = pytest.importorskip("zarr", minversion="3")
        source = theirs.create_group({}, zarr_format=3)
        source.create_array("foo", data=np.arange(12).reshape(3, 4), chunks=(2, 2)).attrs["unit"] = "m"
        dest = zarrox.create_group({})
        zarr.copy(source["foo"], dest)
        np.testing.assert_array_equal(dest["foo"][:], np.arange(12).reshape(3, 4))
        assert dest["foo"].attrs["unit"] == "m"


def test_copies_to_and_from_n5(tmp_path: Path) -> None:
    source = zarr.group()
    source.create_dataset("foo/bar", data=np.arange(20).reshape(4, 5), chunks=(2, 2)).attrs["unit"] = "m"
    n5 = zarr.open_group(tmp_path / "x.n5", mode="w")
    assert zarr.copy_all(source, n5) == (2, 0, 160)
    back = zarr.group()
    assert zarr.copy_all(n5, back) == (2, 0, 160)
    np.testing.assert_array_equal(back["foo/bar"][:], source["foo/bar"][:])
    assert back["foo/bar"].attrs["unit"] == "m"


def test_members_with_the_names_of_attributes() -> None:
    source, dest = zarr.group(), zarr.group()
    source.create_dataset("group/shape", data=[1, 2])
    zarr.copy_all(source, dest)
    assert dest["group/shape"][:].tolist() == [1, 2]
    assert str(dest.tree()) == "/\n └── group\n     └── shape (2,) int64"


@pytest.mark.parametrize("place", ["s", "s.zip"])
def test_what_cannot_be_saved_leaves_what_is_there(tmp_path: Path, place: str) -> None:
    """All arrays are checked before anything is deleted."""
    zarr.save(tmp_path / place, np.arange(3))
    bad = {"y": np.zeros(2, dtype="g"), "mode": "w"}
    for name, value in bad.items():
        with pytest.raises((TypeError, ValueError)):
            zarr.save(tmp_path / place, x=np.arange(2), **{name: value})
        assert zarr.load(tmp_path / place).tolist() == [0, 1, 2]


def test_what_is_no_group_is_not_searched(tmp_path: Path) -> None:
    """The error message names the remedy."""
    with pytest.raises(TypeError, match="open_group"):
        zarrox.find(str(tmp_path))
