"""Attributes of arrays and groups, and attributes under a key of a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox.v2.attrs import Attributes
from zarrox.v2.storage import KVStore


class CountingDict(dict[str, Any]):
    reads = 0
    writes = 0

    def __getitem__(self, key: str) -> Any:
        self.reads += 1
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.writes += 1
        super().__setitem__(key, value)


def _array(zarr_format: int) -> Callable[..., Attributes]:
    def make(**kwargs: Any) -> Attributes:
        return Attributes(zarr.create(shape=3, zarr_format=zarr_format)._native, **kwargs)

    return make


def _group(zarr_format: int) -> Callable[..., Attributes]:
    def make(**kwargs: Any) -> Attributes:
        return Attributes(zarr.open_group(mode="w", zarr_format=zarr_format)._native, **kwargs)

    return make


def _n5(**kwargs: Any) -> Attributes:
    import tempfile

    return Attributes(zarr.zeros(3, store=zarr.N5Store(tempfile.mkdtemp()))._native, **kwargs)


MAKERS: dict[str, Callable[..., Attributes]] = {
    "key": lambda **kwargs: Attributes({}, key="attrs", **kwargs),
    "array 2": _array(2),
    "array 3": _array(3),
    "group 2": _group(2),
    "group 3": _group(3),
    "n5": _n5,
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[..., Attributes]:
    return MAKERS[request.param]


@pytest.fixture(params=[True, False])
def attrs(make: Callable[..., Attributes], request: pytest.FixtureRequest) -> Attributes:
    return make(cache=request.param)


def test_setting_and_deleting(attrs: Attributes) -> None:
    assert "foo" not in attrs
    attrs["foo"] = "bar"
    attrs["baz"] = 42
    assert "foo" in attrs
    assert (attrs["foo"], attrs["baz"]) == ("bar", 42)
    del attrs["foo"]
    assert "foo" not in attrs
    with pytest.raises(KeyError):
        attrs["foo"]
    with pytest.raises(KeyError):
        del attrs["foo"]
    assert attrs.pop("baz") == 42
    assert attrs.get("baz") is None


def test_many_at_once(attrs: Attributes) -> None:
    attrs.update(foo="spam", bar=42, baz=4.2)
    assert attrs.asdict() == {"foo": "spam", "bar": 42, "baz": 4.2}
    attrs.update({"bar": None}, new=[1, {"a": True}])
    assert attrs.asdict() == {"foo": "spam", "bar": None, "baz": 4.2, "new": [1, {"a": True}]}
    attrs.put({"foo": "eggs"})
    assert attrs.asdict() == {"foo": "eggs"}
    attrs.clear()
    assert attrs.asdict() == {}


def test_iteration(attrs: Attributes) -> None:
    assert (len(attrs), set(attrs), list(attrs.items())) == (0, set(), [])
    attrs["foo"] = "bar"
    attrs["baz"] = 42
    assert len(attrs) == 2
    assert set(attrs) == set(attrs.keys()) == {"foo", "baz"}
    assert set(attrs.values()) == {"bar", 42}
    assert attrs._ipython_key_completions_() == ["baz", "foo"]
    assert attrs == {"foo": "bar", "baz": 42}
    assert repr(attrs).startswith("<zarrox.attrs.Attributes {")


def test_read_only(make: Callable[..., Attributes]) -> None:
    attrs = make(read_only=True)
    changes: list[Callable[[], Any]] = [
        lambda: attrs.__setitem__("a", 1),
        lambda: attrs.__delitem__("a"),
        lambda: attrs.update(a=1),
        lambda: attrs.put({}),
    ]
    for change in changes:
        with pytest.raises(PermissionError, match="read-only"):
            change()
    assert attrs.asdict() == {}


def test_text_of_all_languages(attrs: Attributes) -> None:
    attrs["größe"] = "名前 \u0000 \U0001f600"
    attrs.refresh()
    assert attrs.asdict() == {"größe": "名前 \u0000 \U0001f600"}


def test_numbers_of_numpy_are_numbers(attrs: Attributes) -> None:
    attrs.update(i=np.int16(3), f=np.float32(0.5), b=np.bool_(True), deep=[{"x": np.uint8(1)}])
    attrs.refresh()
    assert attrs.asdict() == {"i": 3, "f": 0.5, "b": True, "deep": [{"x": 1}]}
    assert type(attrs["i"]) is int
    assert attrs["b"] is True


@pytest.mark.parametrize("value", [np.arange(3), object(), {1, 2}, b"bytes", 1j])
def test_what_json_has_not_is_refused(attrs: Attributes, value: Any) -> None:
    attrs["good"] = 1
    with pytest.raises(TypeError, match="attribute"):
        attrs["bad"] = value
    assert attrs.asdict() == {"good": 1}


def test_keys_that_are_no_text_are_made_text(attrs: Attributes) -> None:
    with pytest.warns(DeprecationWarning, match="only attribute keys of type 'string' will be allowed in the future"):
        attrs[1] = "foo"  # type: ignore[index]
    with pytest.warns(DeprecationWarning, match="only attribute keys of type 'string' will be allowed in the future"):
        attrs.update({2: "bar", "a": 3})
    assert attrs.asdict() == {"1": "foo", "2": "bar", "a": 3}
    with pytest.warns(DeprecationWarning, match="only attribute keys of type 'string' will be allowed in the future"):
        attrs.put({None: 1})  # type: ignore[dict-item]
    assert attrs.asdict() == {"None": 1}


def test_what_is_returned_is_a_copy(attrs: Attributes) -> None:
    attrs["a"] = 1
    attrs.asdict()["a"] = 2
    assert attrs["a"] == 1


def test_the_key_of_the_document(tmp_path: Path) -> None:
    assert Attributes({}).key == ".zattrs"
    assert Attributes({}, key="attrs").key == "attrs"
    for zarr_format, name in ((2, ".zattrs"), (3, "zarr.json")):
        root = zarr.open_group({}, mode="w", zarr_format=zarr_format)
        assert root.attrs.key == name
        assert root.zeros("a/b", shape=3).attrs.key == f"a/b/{name}"


def test_a_key_of_a_store() -> None:
    store = CountingDict()
    attrs = Attributes(store, key="attrs")
    assert isinstance(attrs.store, KVStore)
    attrs["foo"] = "bar"
    attrs["baz"] = 42
    assert store["attrs"] == b'{\n    "baz": 42,\n    "foo": "bar"\n}'


def test_a_cache_saves_reading() -> None:
    store = CountingDict(attrs=json.dumps({"foo": "xxx", "bar": 42}).encode())
    attrs = Attributes(store, key="attrs")
    assert (attrs["foo"], attrs["bar"], "spam" in attrs) == ("xxx", 42, False)
    assert store.reads == 1
    attrs["foo"] = "yyy"
    assert (store.reads, store.writes, attrs["foo"]) == (2, 1, "yyy")
    attrs.update(foo="zzz", bar=84)
    assert (store.reads, store.writes, attrs["bar"]) == (3, 2, 84)
    store["attrs"] = b'{"foo": "new"}'
    assert attrs["foo"] == "zzz"
    attrs.refresh()
    assert attrs["foo"] == "new"
    uncached = Attributes(store, key="attrs", cache=False)
    store["attrs"] = b'{"foo": "newer"}'
    assert uncached["foo"] == "newer"


def test_others_change_attributes(tmp_path: Path) -> None:
    path = str(tmp_path / "a.zarr")
    first, second = zarr.open_array(path, mode="w", shape=3), zarr.open_array(path, mode="r+")
    cached, uncached = Attributes(first._native), Attributes(first._native, False, False)
    assert (cached.asdict(), uncached.asdict()) == ({}, {})
    second.attrs["a"] = 1
    assert uncached["a"] == 1
    assert "a" not in cached
    cached["b"] = 2
    assert cached.asdict() == {"a": 1, "b": 2}
    second.attrs.refresh()
    assert second.attrs.asdict() == {"a": 1, "b": 2}
