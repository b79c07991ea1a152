"""Memory stores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, MutableMapping
from typing import Any

from zarrox import _native

from .base import KVStore
from .native import NativeStore
from .paths import is_key

__all__ = ["DictStore", "MemoryStore", "holder_of", "is_in_memory", "new_memory"]


def _flat(values: MutableMapping[str, Any], cls: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the values in a tree of mappings, with their keys."""
    for name, value in values.items():
        if isinstance(value, cls):
            yield from _flat(value, cls, f"{prefix}{name}/")
        else:
            yield prefix + name, value


class MemoryStore(NativeStore):
    """A hierarchical store in memory: as in a file system, a key either has a value or is a prefix of other keys.

    Parameters
    ----------
    root : MutableMapping, optional
        Values by key, or a tree of mappings. A flat mapping is used directly; the values of a tree are copied.
    cls : type, optional
        The class of mappings in a tree.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.

    Examples
    --------
    Groups are in such a store by default:

    >>> import zarrox.v2 as zarr
    >>> g = zarr.group()
    >>> type(g.store)
    <class 'zarrox.v2.storage.MemoryStore'>
    """

    _values: MutableMapping[str, Any] | None = None
    _transient = (*NativeStore._transient, "write_mutex")
    cls: type = dict

    def __init__(
        self,
        root: MutableMapping[str, Any] | None = None,
        cls: type = dict,
        dimension_separator: str | None = None,
    ) -> None:
        if cls is not dict:
            self.cls = cls
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator
        if root is not None and not any(isinstance(value, cls) for value in root.values()):
            self._values = root
        elif root is not None:
            self.update(_flat(root, cls))

    def _connect(self) -> _native.Store:
        return _native.Store.memory() if self._values is None else KVStore(self._values).native

    @property
    def _holder(self) -> Any:
        """The object that holds the values. Stores that share values have the same object."""
        return self if self._values is None else self._values

    @property
    def root(self) -> Any:
        """The values as a tree of mappings."""
        root = self.cls()
        for key, value in self.items():
            *above, name = key.split("/")
            level = root
            for part in above:
                level = level.setdefault(part, self.cls())
            level[name] = value
        return root

    def __setitem__(self, key: str, value: Any) -> None:
        raw = self._raw
        at = key.find("/")
        while at >= 0:
            if raw.contains(key[:at]):
                raise KeyError(f"{key}: {key[:at]} is a value")
            at = key.find("/", at + 1)
        super().__setitem__(key, value)
        raw.delete_prefix(key)

    def __delitem__(self, key: str) -> None:
        if is_key(key) and self._raw.delete(key):
            return
        if not is_key(key) or not self._raw.list_dir(key):
            raise KeyError(key)
        self._raw.delete_prefix(key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore):
            return NotImplemented
        return self is other or (self.cls is other.cls and dict(self) == dict(other))

    __hash__ = None

    def __getstate__(self) -> dict[str, Any]:
        # A pickled memory store contains its values.
        return {**super().__getstate__(), "_values": dict(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = state.pop("_values")
        read_only = state.pop("_read_only", False)
        vars(self).update(state)
        self.update(values)
        if read_only:
            self._read_only, self._handle = True, self._raw.read_only()

    def __repr__(self) -> str:
        return object.__repr__(self)


class DictStore(MemoryStore):
    """The old name of :class:`MemoryStore`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn("DictStore is called MemoryStore since zarr-python 2.4", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # This issues a warning, as creating a store does.
        vars(self).update(vars(type(self)()))
        super().__setstate__(state)


class _Values(NativeStore):
    """The values of an array that was created without a store. In zarr-python, they are a ``dict``."""

    _identity = ()

    def _connect(self) -> _native.Store:
        return _native.Store.memory()

    def __getstate__(self) -> dict[str, Any]:
        return {"values": dict(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.update(state["values"])

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, MutableMapping) and dict(self) == dict(other))

    __hash__ = None

    def __repr__(self) -> str:
        return repr(dict(self))


def new_memory() -> KVStore:
    """Returns a new memory store whose values are held by Rust."""
    return KVStore(_Values())


def _mapping_of(store: Any) -> Any:
    """Returns the mapping that underlies stores which only forward values."""
    while isinstance(store, KVStore):
        store = store._mutable_mapping
    return store


def is_in_memory(store: Any) -> bool:
    """Returns true if the values of a store are in the memory of this process, so that no other process can change
    them."""
    return isinstance(_mapping_of(store), (dict, MemoryStore, _Values))


def holder_of(store: Any) -> Any:
    """Returns the object that holds the values of a memory store. Stores over the same dictionary have the same object."""
    inner = _mapping_of(store)
    return holder_of(inner._holder) if isinstance(inner, MemoryStore) and inner._holder is not inner else inner
