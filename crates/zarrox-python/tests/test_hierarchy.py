"""Groups: their content, and how they are opened and created, in both formats and several stores."""

from __future__ import annotations

import collections
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox
import zarrox.v2 as zarr
from zarrox.v2.core import Array
from zarrox.errors import (
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    MetadataError,
    ReadOnlyError,
    ZarrUserWarning,
)
from zarrox.v2.hierarchy import Group
from zarrox.hierarchy import GroupMetadata


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=["memory", "mapping", "directory", "zip", "chunks elsewhere", "synchronized"])
def root(request: pytest.FixtureRequest, zarr_format: int, tmp_path: Path) -> Any:
    settings: dict[str, Any] = {"zarr_format": zarr_format}
    match request.param:
        case "memory":
            store: Any = zarr.MemoryStore()
        case "mapping":
            store = {}
        case "directory":
            store = zarr.DirectoryStore(str(tmp_path / "root.zarr"))
        case "zip":
            store = zarr.ZipStore(str(tmp_path / "root.zip"), mode="w")
        case "chunks elsewhere":
            store = zarr.MemoryStore()
            settings["chunk_store"] = zarr.MemoryStore()
        case _:
            store = zarr.MemoryStore()
            settings["synchronizer"] = zarr.ThreadSynchronizer()
    return zarr.group(store, **settings)


def fill(root: Group) -> None:
    """Creates the arrays ``a/b/c`` and ``foo/baz``, and the group ``foo/bar`` with the array ``zab``."""
    root.create_group("foo/bar").create_dataset("zab", data=np.arange(20), chunks=5)
    root.create_dataset("foo/baz", data=np.arange(30), chunks=5)
    root.create_dataset("a/b/c", data=np.arange(10), chunks=5)


class TestGroup:
    def test_names(self, root: Group) -> None:
        bar = root.create_group("foo/bar")
        assert (root.path, root.name, root.basename) == ("", "/", "")
        assert (bar.path, bar.name, bar.basename) == ("foo/bar", "/foo/bar", "bar")
        assert bar.store is root.store
        assert bar.synchronizer is root.synchronizer
        assert bar._zarr_format == root._zarr_format
        assert not bar.read_only

    def test_creates_groups(self, root: Group) -> None:
        foo = root.create_group("foo")
        assert foo.create_group("bar").path == "foo/bar"
        assert foo.create_group("/a/b/c/").path == "a/b/c"
        assert root.create_group(b"some/bytes").path == "some/bytes"
        assert [group.name for group in root.create_groups("x", "y")] == ["/x", "/y"]
        assert list(root) == ["a", "foo", "some", "x", "y"]
        assert isinstance(root["a/b"], Group)

    @pytest.mark.parametrize("name", ["foo", "a/b", "/a", "", "/", "//"])
    def test_creates_no_group_twice(self, root: Group, name: str) -> None:
        root.create_groups("foo", "a/b")
        with pytest.raises(ContainsGroupError):
            root.create_group(name)

    @pytest.mark.parametrize("name", [".", "..", "foo/.", "foo/../bar"])
    def test_refuses_paths(self, root: Group, name: str) -> None:
        with pytest.raises(ValueError):
            root[name]
        with pytest.raises(ValueError):
            root.create_group(name)

    def test_requires_groups(self, root: Group) -> None:
        foo = root.require_group("foo")
        assert root.require_group("/foo/") == foo
        assert [group.name for group in foo.require_groups("x", "/y")] == ["/foo/x", "/y"]
        root.zeros("array", shape=3)
        with pytest.raises(ContainsArrayError):
            root.require_group("array")
        assert isinstance(root.require_group("array", overwrite=True), Group)
        assert isinstance(root["array"], Group)

    def test_arrays_are_in_the_way(self, root: Group) -> None:
        root.create_dataset("foo", shape=10, chunks=5)
        for create in (root.create_group, root.require_group):
            with pytest.raises(ContainsArrayError):
                create("foo/bar")
        for create_array in (root.create_dataset, root.require_dataset):
            with pytest.raises(ContainsArrayError):
                create_array("foo/bar", shape=10)
        root.create_group("c/d")
        with pytest.raises(ContainsGroupError):
            root.create_dataset("c", shape=10)
        with pytest.raises(ContainsGroupError):
            root.require_dataset("c/d", shape=10)

    def test_creates_datasets(self, root: Group) -> None:
        array = root.create_dataset("foo", shape=1000, chunks=100)
        assert (array.shape, array.chunks, array.dtype, array.name) == ((1000,), (100,), np.dtype("f8"), "/foo")
        assert array.store is root.store
        data = np.arange(30, dtype="u2")
        array = root.create_dataset("a/b", data=data, chunks=7)
        assert (array.shape, array.chunks, array.dtype) == ((30,), (7,), np.dtype("u2"))
        np.testing.assert_array_equal(root["a/b"][:], data)
        with pytest.raises(ContainsArrayError):
            root.create_dataset("foo", shape=10)

    def test_has_one_format(self, root: Group) -> None:
        assert root.zeros("foo", shape=3, zarr_format=root._zarr_format)._metadata.zarr_format == root._zarr_format
        for option in ("zarr_format", "zarr_version"):
            with pytest.raises(ValueError, match="format"):
                root.zeros("bar", shape=3, **{option: 5 - root._zarr_format})

    def test_requires_datasets(self, root: Group) -> None:
        first = root.require_dataset("foo", shape=100, chunks=10, dtype="f4")
        first[:] = np.arange(100)
        assert root.require_dataset("foo", shape=(100,), dtype="f4") == first
        assert root.require_dataset("foo", shape=100, dtype="i2").dtype == np.dtype("f4")
        with pytest.raises(TypeError, match="shape"):
            root.require_dataset("foo", shape=200, dtype="f4")
        with pytest.raises(TypeError, match="cast"):
            root.require_dataset("foo", shape=100, dtype="i4")
        with pytest.raises(TypeError, match="data type"):
            root.require_dataset("foo", shape=100, dtype="i2", exact=True)
        np.testing.assert_array_equal(root["foo"][:], np.arange(100))

    def test_creates_arrays_in_all_ways(self, root: Group) -> None:
        source = root.create("a", shape=100, chunks=10)
        assert (root.empty("b", shape=100).shape, root.zeros("c", shape=100)[3]) == ((100,), 0)
        assert root.ones("d", shape=100)[3] == 1
        assert root.full("e", shape=100, fill_value=42)[3] == 42
        assert root.empty_like("f", source).chunks == (10,)
        assert root.zeros_like("g", source)[3] == 0
        assert root.ones_like("h", source)[3] == 1
        assert root.full_like("i", root["e"])[3] == 42
        np.testing.assert_array_equal(root.array("j", np.arange(9), chunks=2)[:], np.arange(9))
        assert list(root.array_keys()) == list("abcdefghij")
        assert {array._metadata.zarr_format for array in root.array_values()} == {root._zarr_format}

    def test_overwrites(self, root: Group) -> None:
        root.zeros("foo", shape=100, chunks=10)[:] = 1
        assert root.zeros("foo", shape=200, chunks=20, overwrite=True)[:].sum() == 0
        assert len(root.create_group("foo", overwrite=True)) == 0
        assert root.zeros("foo", shape=300, overwrite=True).shape == (300,)
        # Overwriting concerns the node at a path, and does not delete an array above it.
        with pytest.raises(ContainsArrayError):
            root.zeros("foo/bar", shape=400, overwrite=True)
        assert root["foo"].shape == (300,)

    def test_sets_items(self, root: Group) -> None:
        root["foo"] = np.arange(100)
        np.testing.assert_array_equal(root["foo"][:], np.arange(100))
        root["deep/down"] = [[1, 2], [3, 4]]
        assert root["deep/down"].shape == (2, 2)
        root["foo"] = 42
        assert (root["foo"].shape, root["foo"][()]) == ((), 42)

    def test_deletes_items(self, root: Group) -> None:
        fill(root)
        del root["foo/baz"]
        assert "foo/baz" not in root and "foo/bar" in root
        del root["foo"]
        assert "foo" not in root and "foo/bar/zab" not in root
        del root["a/b"]["/a"]
        assert list(root) == []
        with pytest.raises(KeyError):
            del root["foo"]

    def test_is_a_mapping(self, root: Group) -> None:
        fill(root)
        foo = root["foo"]
        assert len(root) == 2 and list(root) == list(root.keys()) == ["a", "foo"]
        assert list(foo.items()) == [("bar", foo["bar"]), ("baz", foo["baz"])]
        assert list(foo.values()) == [foo["bar"], foo["baz"]]
        assert len(foo.items()) == 2
        assert root.get("foo") == foo
        assert root.get("nothing", 42) == 42
        for name in ("foo", "foo/bar/zab", "/a/b/c", "foo//baz/", ""):
            assert name in root
        for name in ("zab", "foo/zab", "foo/baz/0", "nothing/at/all"):
            assert name not in root
        assert "/a/b/c" in foo
        with pytest.raises(KeyError):
            root["nothing"]
        with pytest.raises(KeyError):
            root["foo/baz/nothing"]

    def test_finds_paths(self, root: Group) -> None:
        bar = root.create_group("foo/bar")
        for path in ("/", "//", "///"):
            assert root[path] == root == bar[path]
        for path in ("foo/bar", "/foo/bar", "foo/bar/", "//foo//bar//"):
            assert root[path] == bar
        assert bar["/foo/bar"] == bar == bar[""]
        assert bar["/foo"] == root["foo"]

    def test_has_attributes_of_members(self, root: Group) -> None:
        fill(root)
        assert root.foo.bar.zab == root["foo/bar/zab"]
        assert not hasattr(root, "nothing")
        assert not hasattr(root, "__nothing__")
        root.create_groups("with", "123", "not-a-name")
        names = dir(root)
        assert "foo" in names and "create_group" in names
        assert not {"with", "123", "not-a-name", "bar"} & set(names)
        assert root._ipython_key_completions_() == ["123", "a", "foo", "not-a-name", "with"]
        root.remark = "an attribute of Python's"
        assert root.remark == "an attribute of Python's" and "remark" not in root

    def test_lists_arrays_and_groups(self, root: Group) -> None:
        fill(root)
        foo = root["foo"]
        assert list(foo.group_keys()) == ["bar"] and list(foo.array_keys()) == ["baz"]
        assert list(foo.groups()) == [("bar", foo["bar"])] and list(foo.group_values()) == [foo["bar"]]
        assert list(foo.arrays()) == [("baz", foo["baz"])] and list(foo.array_values()) == [foo["baz"]]
        assert list(foo.array_keys(recurse=True)) == ["zab", "baz"]
        assert list(root.arrays(recurse=True)) == [("c", root["a/b/c"]), ("zab", foo["bar/zab"]), ("baz", foo["baz"])]

    def test_visits(self, root: Group) -> None:
        fill(root)
        paths = ["a", "a/b", "a/b/c", "foo", "foo/bar", "foo/bar/zab", "foo/baz"]
        seen: list[Any] = []
        assert root.visit(seen.append) is None
        assert root.visitkeys(seen.append) is None
        assert seen == paths * 2
        seen.clear()
        root.visitvalues(seen.append)
        assert [node.path for node in seen] == paths
        seen.clear()
        root["foo"].visititems(lambda path, node: seen.append((path, node.name)))
        assert seen == [("bar", "/foo/bar"), ("bar/zab", "/foo/bar/zab"), ("baz", "/foo/baz")]

    def test_stops_visiting(self, root: Group) -> None:
        fill(root)
        seen: list[str] = []

        def find(path: str, node: Any) -> Any:
            seen.append(path)
            return 0 if isinstance(node, Array) else None

        assert root.visititems(find) == 0
        assert seen == ["a", "a/b", "a/b/c"]

    def test_members(self, root: Group) -> None:
        fill(root)
        root = zarrox.open_group(root.store, mode="r")
        assert [path for path, _ in root.members()] == ["a", "foo"]
        assert [path for path, _ in root.members(max_depth=1)] == ["a", "a/b", "foo", "foo/bar", "foo/baz"]
        assert dict(root.members(max_depth=None))["foo/bar/zab"] == root["foo/bar/zab"]
        assert (root.nmembers(), root.nmembers(1), root.nmembers(None)) == (2, 5, 7)
        with pytest.raises(ValueError, match="max_depth"):
            root.members(max_depth=-1)

    def test_get_array_and_group(self, root: Group) -> None:
        fill(root)
        root = zarrox.open_group(root.store, mode="r")
        assert root.get_array("foo/baz") == root["foo/baz"]
        assert root.get_group("foo") == root["foo"]
        with pytest.raises(zarrox.errors.ContainsGroupError):
            root.get_array("foo")
        with pytest.raises(zarrox.errors.ContainsArrayError):
            root.get_group("foo/baz")

    def test_moves(self, root: Group) -> None:
        data = np.arange(100)
        root["boo"] = root["foo"] = data
        root.move("foo", "bar")
        assert "foo" not in root
        root.move("bar", "foo/bar")
        assert isinstance(root["foo"], Group) and "bar" not in root
        np.testing.assert_array_equal(root["foo/bar"][:], data)
        root.move("foo", "foo2")
        np.testing.assert_array_equal(root["foo2/bar"][:], data)
        root["foo2"].move("bar", "/bar")
        assert list(root) == ["bar", "boo", "foo2"] and len(root["foo2"]) == 0
        np.testing.assert_array_equal(root["bar"][:], data)
        with pytest.raises(ValueError, match="no node to move"):
            root["foo2"].move("bar", "bar2")
        with pytest.raises(ValueError, match="exists already"):
            root.move("bar", "boo")

    def test_attributes(self, root: Group) -> None:
        foo = zarrox.group(root.store, zarr_format=root._zarr_format).create_group("foo", attributes={"a": 1})
        foo.attrs["b"] = [1, "two", None]
        assert foo.update_attributes({"c": {"d": 1.5}}) is foo
        assert foo.metadata == GroupMetadata(attributes=foo.attrs.asdict(), zarr_format=root._zarr_format)
        assert foo.metadata.to_dict()["node_type"] == "group"
        expected = {"a": 1, "b": [1, "two", None], "c": {"d": 1.5}}
        assert root["foo"].attrs.asdict() == expected

    def test_representations(self, root: Group) -> None:
        fill(root)
        assert repr(root) == "<zarrox.v2.hierarchy.Group '/'>"
        assert repr(root["foo"]) == "<zarrox.v2.hierarchy.Group '/foo'>"
        foo = zarrox.open_group(root.store, mode="r", path="foo")
        assert repr(foo) == f"<Group {foo.store_path}>"
        assert str(foo.store_path).endswith("/foo")
        items = dict(root["foo"].info_items())
        assert items["Name"] == "/foo" and items["Type"] == "zarrox.v2.hierarchy.Group"
        assert (items["No. members"], items["Arrays"], items["Groups"]) == (2, "baz", "bar")
        assert ("Synchronizer type" in items) is (root.synchronizer is not None)
        assert "No. members" in repr(root.info)
        assert root._repr_html_() is None and "bar" in foo._repr_html_()

    def test_equality(self, root: Group) -> None:
        foo = root.create_group("foo")
        assert root["foo"] == foo != root
        assert foo != "foo"

    def test_is_read_only(self, root: Group) -> None:
        fill(root)
        group = Group(root.store, read_only=True, chunk_store=root.chunk_store)
        assert group.read_only and group["foo"].read_only
        assert repr(group["foo"]) == "<zarrox.v2.hierarchy.Group '/foo' read-only>"
        assert group["foo/baz"].read_only
        for change in (
            lambda: group.create_group("x"),
            lambda: group.require_group("x"),
            lambda: group.create_dataset("x", shape=1),
            lambda: group.require_dataset("x", shape=1),
            lambda: group.full("x", 1, shape=1),
            lambda: group.empty_like("x", np.zeros(1)),
            lambda: group.move("foo", "x"),
            lambda: group.__delitem__("foo"),
            lambda: group.__setitem__("x", 1),
            lambda: group.attrs.__setitem__("x", 1),
        ):
            with pytest.raises(PermissionError):
                change()
        assert list(root) == ["a", "foo"]

    def test_missing_groups(self, root: Group) -> None:
        root.zeros("array", shape=3)
        with pytest.raises(GroupNotFoundError):
            Group(root.store, "nothing")
        with pytest.raises(ContainsArrayError):
            Group(root.store, "array")


def test_deep_hierarchies(zarr_format: int) -> None:
    root = zarr.group(zarr_format=zarr_format)
    path = "/".join(["x"] * 200)
    root.create_group(path)
    assert zarrox.open_group(root.store).nmembers(None) == 200


def test_pickles(tmp_path: Path, zarr_format: int) -> None:
    root = zarr.open_group(tmp_path / "root.zarr", mode="w", zarr_format=zarr_format)
    fill(root)
    root.attrs["answer"] = 42
    copied = pickle.loads(pickle.dumps(root["foo"]))
    assert copied == root["foo"] and list(copied) == ["bar", "baz"]
    np.testing.assert_array_equal(copied["baz"][:], np.arange(30))
    read_only = zarr.open_group(tmp_path / "root.zarr", mode="r")
    assert pickle.loads(pickle.dumps(read_only)).read_only


def test_pickles_consolidated(tmp_path: Path, zarr_format: int) -> None:
    path = tmp_path / "root.zarr"
    fill(zarr.open_group(path, mode="w", zarr_format=zarr_format))
    group = pickle.loads(pickle.dumps(zarr.consolidate_metadata(path)))
    assert list(group["foo"]) == ["bar", "baz"]
    with pytest.raises(ReadOnlyError):
        group.create_group("x")


def test_closes_its_store(tmp_path: Path, zarr_format: int) -> None:
    path = str(tmp_path / "root.zip")
    with zarr.open_group(path, mode="w", zarr_format=zarr_format) as root:
        fill(root)
    with zarr.open_group(path, mode="r") as root:
        np.testing.assert_array_equal(root["foo/baz"][:], np.arange(30))


def test_chunks_elsewhere(zarr_format: int) -> None:
    store, chunk_store = zarr.MemoryStore(), zarr.MemoryStore()
    root = zarr.group(store, chunk_store=chunk_store, zarr_format=zarr_format)
    array = root.zeros("foo", shape=10, chunks=5)
    array[:] = 1
    assert (root.store, root.chunk_store) == (store, chunk_store)
    assert array.store is store and array.chunk_store is chunk_store
    documents = {"zarr.json", "foo/zarr.json"} if zarr_format == 3 else {".zgroup", "foo/.zarray"}
    assert set(store) == documents
    assert len(chunk_store) == 2
    assert dict(root.info_items())["Chunk store type"] == "zarrox.v2.storage.MemoryStore"


def test_broken_children_hide_nothing(zarr_format: int) -> None:
    store: dict[str, Any] = {}
    root = zarr.group(store, zarr_format=zarr_format)
    fill(root)
    store["foo/aaa/zarr.json" if zarr_format == 3 else "foo/aaa/.zarray"] = b"{ not JSON"
    foo = root["foo"]
    assert list(foo) == ["aaa", "bar", "baz"] and len(foo) == 3 and "aaa" in foo
    with pytest.raises(MetadataError):
        foo["aaa"]
    with pytest.warns(ZarrUserWarning, match="'aaa' in group '/foo' is skipped"):
        assert [name for name, _ in foo.items()] == ["bar", "baz"]
    with pytest.warns(ZarrUserWarning, match="aaa"):
        assert [path for path, _ in zarrox.open_group(store).members(None)][3:] == ["foo", "foo/bar", "foo/bar/zab", "foo/baz"]
    # In v2 the key of the document determines that it belongs to an array, as in zarr-python 2.
    assert list(foo.array_keys()) == (["baz"] if zarr_format == 3 else ["aaa", "baz"])
    assert list(foo.group_keys()) == ["bar"]
    lines = str(foo.tree()).splitlines()
    assert lines[1].startswith(" ├── aaa (broken: ")
    assert lines[-1].startswith(" └── baz (30,)")


class Counting(collections.UserDict[str, Any]):
    """A mapping that counts the requests of each key by any method."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.asked: collections.Counter[str] = collections.Counter()
        self.written: collections.Counter[str] = collections.Counter()
        super().__init__(values)

    def __getitem__(self, key: str) -> Any:
        self.asked[key] += 1
        return self.data[key]

    def __contains__(self, key: object) -> bool:
        self.asked[str(key)] += 1
        return key in self.data

    def __setitem__(self, key: str, value: Any) -> None:
        self.written[key] += 1
        self.data[key] = value

    def forget(self) -> None:
        self.asked.clear()
        self.written.clear()


def test_names_of_v2_are_known_without_reading_attributes() -> None:
    values: dict[str, Any] = {}
    root = zarr.group(values, zarr_format=2)
    for number in range(1_000):
        root.create_group(f"g{number:04}").attrs["number"] = number
        values[f"a{number:04}/.zarray"] = b"never read"
        values[f"a{number:04}/.zattrs"] = b"never read"
    store = Counting(values)
    root = zarr.open_group(store)
    arrays, groups = [f"a{number:04}" for number in range(1_000)], [f"g{number:04}" for number in range(1_000)]
    for names, found in (
        (arrays + groups, lambda: [*root.__iter__()]),
        (arrays + groups, lambda: [name for name in arrays + groups + ["none"] if name in root]),
        (arrays, lambda: [*root.array_keys()]),
        (groups, lambda: [*root.group_keys()]),
    ):
        store.forget()
        assert found() == names
        assert not [key for key in store.asked if key.endswith(".zattrs") and not key.startswith("none")]
        # If no node exists, only the documents that determine the format are requested again.
        assert max(count for key, count in store.asked.items() if key != "zarr.json") == 1
    store.forget()
    assert len(root) == 2_000 and max(store.asked.values()) == 1


def test_attributes_are_written_by_few_requests() -> None:
    store = Counting({})
    root = zarr.group(store, zarr_format=2)
    for node in (root, root.zeros("a", shape=3)):
        node.attrs["other"] = 1
        store.forget()
        node.attrs["number"] = 2
        assert store.written == {node.attrs.key: 1}
        # The kind of the node, its attributes and the consolidated metadata are each read once; two calls read the
        # kind.
        assert sum(store.asked.values()) <= 4, store.asked
        assert dict(node.attrs) == {"other": 1, "number": 2}


def test_synchronizes_creation() -> None:
    root = zarr.group(synchronizer=zarr.ThreadSynchronizer())
    outcomes: list[str] = []

    def create() -> None:
        try:
            outcomes.append(root.create_group("foo/bar").name)
        except ContainsGroupError:
            outcomes.append("exists")

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["/foo/bar"] + ["exists"] * 7


def test_creates_roots_that_are_missing_under_plain_locks() -> None:
    locks: Any = collections.defaultdict(threading.Lock)
    store = {"foo/.zgroup": b'{"zarr_format": 2}'}
    group = Group(store, "foo", synchronizer=locks)
    group.create_group("bar")
    group.zeros("baz", shape=3)[:] = 1
    assert ".zgroup" in store and list(group) == ["bar", "baz"]


class TestOpening:
    def test_group(self, zarr_format: int) -> None:
        assert zarr.group().store.__class__ is zarr.MemoryStore
        store = zarr.storage.KVStore({})
        group = zarr.group(store, path="foo/bar", zarr_format=zarr_format)
        assert group.store is store and group.path == "foo/bar"
        assert zarr.group(store, path="foo/bar") == group
        zarr.zeros(10, store=store, path="array", zarr_format=zarr_format)
        with pytest.raises(ContainsArrayError):
            zarr.group(store, path="array")
        assert zarr.group(store, path="array", overwrite=True, zarr_format=zarr_format).name == "/array"

    def test_formats(self) -> None:
        assert zarr.group()._zarr_format == zarr.open_group()._zarr_format == 2
        assert zarr.group(zarr_version=3)._zarr_format == 3
        assert zarrox.create_group({}).zarr_format == zarrox.Group.from_store({}).zarr_format == 3
        assert zarrox.create_group({}, zarr_format=2).zarr_format == 2
        with pytest.raises(ValueError, match="differ"):
            zarr.group(zarr_version=3, zarr_format=2)

    def test_modes(self, tmp_path: Path, zarr_format: int) -> None:
        path, array = tmp_path / "group.zarr", tmp_path / "array.zarr"
        zarr.open_array(str(array), shape=10, mode="w", zarr_format=zarr_format)
        for mode in ("r", "r+"):
            with pytest.raises(GroupNotFoundError):
                zarr.open_group(path, mode=mode)
        for mode in ("r", "r+", "a", "w-", "x"):
            with pytest.raises(ContainsArrayError):
                zarr.open_group(array, mode=mode)
        group = zarr.open_group(path, mode="a", zarr_format=zarr_format)
        assert type(group.store) is zarr.DirectoryStore
        group.create_group("foo")
        assert list(zarr.open_group(path, mode="a")) == ["foo"]
        assert zarr.open_group(path, mode="r+").create_group("bar").name == "/bar"
        assert zarr.open_group(path, mode="r").read_only
        assert zarrox.Group.open(path) == zarrox.open_group(path)
        for mode in ("w-", "x"):
            with pytest.raises(ContainsGroupError):
                zarr.open_group(path, mode=mode)
        assert len(zarr.open_group(path, mode="w", zarr_format=zarr_format)) == 0
        assert zarr.open_group(path, mode="w-", path="new", zarr_format=zarr_format).path == "new"
        with pytest.raises(ValueError, match="mode"):
            zarr.open_group(path, mode="rw")  # type: ignore[arg-type]

    def test_create_group(self) -> None:
        store: dict[str, Any] = {}
        assert zarrox.create_group(store, path="foo", attributes={"a": 1}).attrs["a"] == 1
        with pytest.raises(ContainsGroupError):
            zarrox.create_group(store, path="foo")
        assert len(zarrox.create_group(store, path="foo", overwrite=True).attrs) == 0

    def test_consolidated(self, zarr_format: int) -> None:
        store = zarr.MemoryStore()
        root = zarr.group(store, zarr_format=zarr_format)
        fill(root)
        with pytest.raises((KeyError, ValueError)):
            zarrox.open_group(store, mode="r", use_consolidated=True)
        zarr.consolidate_metadata(store)
        group = zarrox.open_group(store, mode="r+", use_consolidated=True)
        assert [path for path, _ in group.members(None)] == [path for path, _ in zarrox.open_group(store).members(None)]
        with pytest.raises(ReadOnlyError):
            group.create_group("x")
        with pytest.raises(PermissionError):
            group.attrs["x"] = 1
        group["foo/baz"][:] = 5
        assert root["foo/baz"][:].tolist() == [5] * 30
        if zarr_format == 3:
            assert zarrox.open_group(store, mode="r").metadata.consolidated_metadata is not None

    def test_who_writes_sees_what_is_there(self, zarr_format: int) -> None:
        store = zarr.MemoryStore()
        root = zarr.group(store, zarr_format=zarr_format)
        zarr.consolidate_metadata(store)
        root.create_group("later")
        assert list(zarr.open_group(store, mode="r+")) == ["later"]


class TestCreateHierarchy:
    def test_creates_what_lies_between(self, zarr_format: int) -> None:
        store = zarr.MemoryStore()
        nodes = {"a/b/c": GroupMetadata(attributes={"x": 1}, zarr_format=zarr_format)}
        created = dict(zarrox.create_hierarchy(store=store, nodes=nodes))
        assert list(created) == ["", "a", "a/b", "a/b/c"]
        assert created["a/b/c"].attrs["x"] == 1
        assert {node.zarr_format for node in created.values()} == {zarr_format}

    def test_takes_metadata_of_arrays(self, zarr_format: int) -> None:
        source = zarrox.group(zarr_format=zarr_format)
        array = source.create_array("foo", data=np.arange(10.0), chunks=3, fill_value=7, attributes={"unit": "m"})
        root = zarrox.group(zarr_format=zarr_format)
        (created,) = (node for path, node in root.create_hierarchy({"x/foo": array.metadata}) if path == "x/foo")
        assert (created.shape, created.chunks, created.dtype) == ((10,), (3,), np.dtype("f8"))
        assert created.attrs["unit"] == "m"
        np.testing.assert_array_equal(created[:], [7.0] * 10)

    def test_below_a_group(self) -> None:
        foo = zarrox.create_group({}, path="foo")
        foo.create_group("kept")
        created = dict(foo.create_hierarchy({"kept/new": GroupMetadata(), "/other": GroupMetadata()}))
        assert {path: node.name for path, node in created.items()} == {"kept/new": "/foo/kept/new", "other": "/foo/other"}
        with pytest.raises(ValueError, match="the group itself"):
            foo.create_hierarchy({"": GroupMetadata()})
        with pytest.raises(ValueError, match="zarr_format"):
            foo.create_hierarchy({"x": GroupMetadata(zarr_format=2)})

    def test_creates_nothing_where_nodes_contradict(self) -> None:
        store = zarr.MemoryStore()
        array = {
            "zarr_format": 2, "shape": [10], "chunks": [5], "dtype": "<i4", "compressor": None, "filters": None,
            "fill_value": 0, "order": "C",
        }  # fmt: skip
        with pytest.raises(ValueError, match="is an array"):
            zarrox.create_hierarchy(store=store, nodes={"a": array, "a/b": GroupMetadata(zarr_format=2)})
        with pytest.raises(ValueError, match="zarr_format"):
            zarrox.create_hierarchy(store=store, nodes={"a": array, "b": GroupMetadata(zarr_format=3)})
        with pytest.raises(TypeError, match="metadata"):
            zarrox.create_hierarchy(store=store, nodes={"a": 1})
        assert list(store) == []

    def test_overwrites_when_told(self) -> None:
        store = zarr.MemoryStore()
        zarrox.create_group(store, path="a/b", attributes={"old": True})
        with pytest.raises(ContainsGroupError):
            zarrox.create_hierarchy(store=store, nodes={"a/b": GroupMetadata()})
        zarrox.create_hierarchy(store=store, nodes={"a/b": GroupMetadata()}, overwrite=True)
        assert len(zarr.open_group(store, path="a/b").attrs) == 0

    def test_takes_zarr_python_3s_objects(self) -> None:
        theirs = pytest.importorskip("zarr", minversion="3")
        array = theirs.create_array({}, shape=(10,), chunks=(5,), dtype="int32", attributes={"a": 1}, fill_value=3)
        group = theirs.core.group.GroupMetadata(attributes={"b": 2})
        created = dict(zarrox.create_hierarchy(store={}, nodes={"x": group, "x/y": array.metadata}))
        assert created["x"].attrs["b"] == 2 and created["x/y"].attrs["a"] == 1
        assert created["x/y"][:].tolist() == [3] * 10


@pytest.mark.parametrize("zarr_format", ["v3-experimental", "v3-draft"])
def test_members_of_a_draft_are_of_that_draft(tmp_path: Path, zarr_format: str) -> None:
    root = zarr.group(tmp_path / "draft", zarr_format=zarr_format)
    root.create_dataset("sub/array", shape=(3, 2), chunks=(2, 2), dtype="<i2", fill_value=5)[0] = 7
    z = zarr.open_group(tmp_path / "draft", mode="r")["sub/array"]
    np.testing.assert_array_equal(z[:], [[7, 7], [5, 5], [5, 5]])
    assert not list((tmp_path / "draft").rglob("sub/**/zarr.json"))
    with pytest.raises(ValueError, match="nodes in a group have its format"):
        root.create_dataset("other", shape=3, zarr_format=2)


@pytest.mark.parametrize("zarr_format", ["v3-experimental", "v3-draft"])
def test_copies_into_a_draft_keep_to_it(zarr_format: str) -> None:
    root = zarr.group({}, zarr_format=zarr_format)
    a = root.create_dataset("a", shape=(5,), chunks=(2,), dtype="<f4")
    a[:] = range(5)
    zarr.copy(a, root, name="b", chunks=(3,))
    zarr.copy(zarr.empty_like(a, zarr_format=2), root, name="without_fill_value")
    assert root["b"].chunks == (3,)
    np.testing.assert_array_equal(root["b"][:], range(5))
    np.testing.assert_array_equal(root["without_fill_value"][:], np.zeros(5))


def test_create_array_with_the_arguments_of_zarr_3() -> None:
    root = zarrox.create_group({})
    array = root.create_array("foo", shape=(100,), chunks=(10,), shards=(50,), dtype="int16", dimension_names=["x"])
    assert (array.chunks, array.shards, array.metadata.dimension_names) == ((10,), (50,), ("x",))
    assert root.require_array("foo", shape=(100,), dtype="int16") == array
    assert root.require_array("bar", shape=(3,), dtype="int8").shape == (3,)
    with pytest.raises(TypeError, match="shape"):
        root.require_array("foo", shape=(10,), dtype="int16")
    root.create_array("data", data=np.arange(5))
    assert root["data"][:].tolist() == [0, 1, 2, 3, 4]


def test_documents_are_what_zarr_python_writes(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "v2.zarr", mode="w")
    root.create_group("foo").attrs["a"] = 1
    assert json.loads((tmp_path / "v2.zarr/foo/.zgroup").read_text()) == {"zarr_format": 2}
    assert json.loads((tmp_path / "v2.zarr/foo/.zattrs").read_text()) == {"a": 1}
    zarrox.create_group(tmp_path / "v3.zarr", attributes={"a": 1})
    document = json.loads((tmp_path / "v3.zarr/zarr.json").read_text())
    assert document == {"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}


def test_reads_what_zarr_python_3_wrote(tmp_path: Path, zarr_format: int) -> None:
    theirs = pytest.importorskip("zarr", minversion="3")
    root = theirs.open_group(str(tmp_path / "x.zarr"), mode="w", zarr_format=zarr_format)
    root.create_group("foo", attributes={"a": 1}).create_array("bar", data=np.arange(12).reshape(3, 4), chunks=(2, 2))
    ours = zarr.open_group(tmp_path / "x.zarr", mode="r+")
    np.testing.assert_array_equal(ours["foo/bar"][:], np.arange(12).reshape(3, 4))
    assert ours.foo.attrs["a"] == 1
    ours.create_dataset("baz", data=np.arange(4))
    assert sorted(theirs.open_group(str(tmp_path / "x.zarr"), mode="r").keys()) == ["baz", "foo"]


#: Functions that create a node at a path of a store, with their default format at the root.
CREATORS: dict[str, tuple[Any, int]] = {
    "create": (lambda store, path: zarr.create(3, store=store, path=path), 2),
    "zeros": (lambda store, path: zarr.zeros(3, store=store, path=path), 2),
    "array": (lambda store, path: zarr.array([1, 2], store=store, path=path), 2),
    "open": (lambda store, path: zarr.open(store, mode="w", shape=3, path=path), 2),
    "open_array": (lambda store, path: zarr.open_array(store, mode="w", shape=3, path=path), 2),
    "open_group": (lambda store, path: zarr.open_group(store, mode="w", path=path), 2),
    "group": (lambda store, path: zarr.group(store, path=path), 2),
    "save_array": (lambda store, path: zarr.save_array(store, np.ones(3), path=path), 2),
    "save_group": (lambda store, path: zarr.save_group(store, np.ones(3), path=path), 2),
    "save": (lambda store, path: zarr.save(store, np.ones(3), path=path), 2),
    "create_array": (lambda store, path: zarrox.create_array(store, name=path, shape=3, dtype="i4"), 3),
    "create_array, none": (
        lambda store, path: zarrox.create_array(store, name=path, shape=3, dtype="i4", zarr_format=None),
        3,
    ),
    "from_array": (lambda store, path: zarrox.from_array(store, name=path, data=np.ones(3)), 3),
    "create_group": (lambda store, path: zarrox.create_group(store, path=path), 3),
    "zeros_like": (lambda store, path: zarr.zeros_like(zarr.zeros(3), store=store, path=path), 2),
    "zeros_like 3": (lambda store, path: zarr.zeros_like(zarr.zeros(3, zarr_format=3), store=store, path=path), 3),
    "from_array 2": (lambda store, path: zarrox.from_array(store, name=path, data=zarr.zeros(3)), 2),
    "from_array 3": (lambda store, path: zarrox.from_array(store, name=path, data=zarr.zeros(3, zarr_format=3)), 3),
}


@pytest.mark.parametrize("kind", ["mapping", "directory", "part"])
@pytest.mark.parametrize("above", [None, 2, 3])
@pytest.mark.parametrize("name", CREATORS)
def test_a_new_node_has_the_format_of_the_group_that_it_is_in(tmp_path: Path, kind: str, above: Any, name: str) -> None:
    """This also holds if intermediate groups are missing, or if only a part of the hierarchy is opened. Elsewhere each
    function has its default format."""
    create, default = CREATORS[name]
    root: Any = {} if kind == "mapping" else tmp_path / "root.zarr"
    if above is not None:
        zarr.open_group(root, mode="w", zarr_format=above)
    store, path = (root / "node", "") if kind == "part" else (root, "between/node")
    create(store, path)
    assert zarrox.open(store, mode="r", path=path).metadata.zarr_format == (above or default)
    formats = {1 for key in zarr.storage.normalize_store_arg(root) if key.endswith("zarr.json")}
    assert bool(formats) == ((above or default) == 3)


def test_a_format_that_is_named_is_that_of_the_new_node() -> None:
    """The format of the parent group does not matter. The setting applies only to nodes without a parent group."""
    stores: list[dict[str, bytes]] = [{}, {}, {}]
    for store in stores:
        zarr.open_group(store, mode="w")
    assert zarr.open_group(stores[0], mode="a", path="g", zarr_format=3)._zarr_format == 3
    assert zarrox.create_array(stores[1], name="a", shape=3, dtype="i4", zarr_format=3).metadata.zarr_format == 3
    assert zarrox.zeros(3, store=stores[2], path="a").metadata.zarr_format == 2
    assert zarrox.zeros(3).metadata.zarr_format == 3
    with zarrox.config.set({"default_zarr_format": 2}):
        assert zarrox.zeros(3).metadata.zarr_format == 2
