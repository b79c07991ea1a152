"""Attributes of arrays and groups."""

from __future__ import annotations

import json
import numbers
import warnings
from collections.abc import Callable, Iterator, KeysView, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from threading import RLock
from typing import Any

import numpy as np

from zarrox import _native
from zarrox.storage.base import BaseStore
from zarrox.storage.paths import experimental_key
from zarrox.documents import json_dumps

__all__ = ["Attributes"]

_KEYS = {"1": "attrs", "2": ".zattrs", "3": "zarr.json", "n5": "attributes.json"}
"""The last part of the key of attributes, in formats in which attributes have a separate document."""

_changing = RLock()
"""Held while attributes are read and rewritten, so that threads do not undo each other's changes."""


def _encode(value: Any) -> Any:
    """Encodes values that JSON does not support: NumPy scalars become numbers, and arrays are rejected."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, np.ndarray):
        raise TypeError("an attribute cannot be an array: use its tolist(), or make an array of it in the hierarchy")
    raise TypeError(f"an attribute cannot be a {type(value).__name__}: it must be a JSON value")


# Created once: with non-default options, `json.dumps` creates an encoder for each call.
_ENCODER = json.JSONEncoder(default=_encode)


def _checked(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns a mapping whose keys are strings, as in JSON."""
    others = [key for key in attributes if not isinstance(key, str)]
    if not others:
        return dict(attributes)
    warnings.warn(
        # Programs filter this warning by the words of zarr-python 2.
        f"only attribute keys of type 'string' will be allowed in the future; {others[0]!r} is converted to a string",
        DeprecationWarning,
        stacklevel=4,
    )
    return {str(key): value for key, value in attributes.items()}


def to_json(attributes: Mapping[Any, Any] | None) -> str:
    """Returns attributes as the JSON text to store.

    Raises
    ------
    TypeError
        If a value cannot be expressed in JSON.
    """
    return _ENCODER.encode(_checked(attributes or {}))


class Attributes(MutableMapping[str, Any]):
    """The attributes of an array or a group: a mapping from names to JSON values.

    Arrays and groups have this mapping as ``attrs``. Every assignment is written immediately; :meth:`update` and
    :meth:`put` write many attributes at once.

    Parameters
    ----------
    store : native Array or Group, or BaseStore or MutableMapping
        The node with the attributes, or their store.
    key : str, optional
        The key in the store.
    read_only : bool, optional
        Whether the attributes are read-only. If a node is given, this is the second argument, and `cache` the third.
    cache : bool, optional
        Whether the attributes are read once, instead of before each access.
    synchronizer : optional
        Locks for concurrent changes, see :mod:`zarrox.sync`.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.zeros(3)
    >>> z.attrs["unit"] = "K"
    >>> z.attrs.asdict()
    {'unit': 'K'}
    """

    __slots__ = ("_cached", "_key", "_node", "cache", "read_only", "store", "synchronizer")

    def __init__(
        self,
        store: Any,
        key: str | bool = ".zattrs",
        read_only: bool | None = None,
        cache: bool = True,
        synchronizer: Any = None,
    ) -> None:
        if isinstance(key, bool):
            # A node knows its key: `Attributes(node, read_only, cache)`.
            cache = cache if read_only is None else read_only
            read_only, key = key, ".zattrs"
        if isinstance(store, (_native.Array, _native.Group)):
            self._node: _native.Array | _native.Group | None = store
            self.store: BaseStore | None = None
        else:
            self._node = None
            self.store = BaseStore._ensure_store(store)
        self._key = key
        self.read_only = bool(read_only)
        self.cache = cache
        self.synchronizer = synchronizer
        self._cached: dict[str, Any] | None = None

    @property
    def key(self) -> str:
        """The key of the document with the attributes."""
        if self._node is None:
            return self._key
        if self._node.format == "v3-experimental":
            return experimental_key(self._node.path, "array" if isinstance(self._node, _native.Array) else "group")
        name = _KEYS.get(self._node.format, "zarr.json")
        return f"{self._node.path}/{name}" if self._node.path else name

    @property
    def _member(self) -> str | None:
        """The member of the document under the key that has the attributes; ``None`` if they are the whole document."""
        assert self.store is not None
        return self.store._attributes_member

    def _read(self) -> dict[str, Any]:
        if self._node is not None:
            found: dict[str, Any] = json.loads(self._node.attributes(True))
            return found
        document = self._read_document()
        return document if self._member is None else document.get(self._member, {})

    def _read_document(self) -> dict[str, Any]:
        """Returns the document under the key of the store."""
        assert self.store is not None
        try:
            document = self.store[self._key]
        except KeyError:
            return {}
        return self.store._metadata_class.parse_metadata(document)

    def _write(self, attributes: dict[str, Any], among: bool = False) -> None:
        """Replaces all attributes with the given ones. With ``among``, a node keeps its other attributes."""
        document = _ENCODER.encode(attributes)
        if self._node is not None:
            self._node.set_attributes(document, among)
            # The node holds the attributes, and the next read gets them from it.
            self._cached = None
            return
        # The value that a later reader gets, decoupled from the caller's object.
        stored: dict[str, Any] = json.loads(document)
        assert self.store is not None
        self.store[self._key] = json_dumps(stored if self._member is None else self._with_attributes(self._member, stored))
        if self.cache:
            self._cached = stored

    def _with_attributes(self, member: str, attributes: dict[str, Any]) -> dict[str, Any]:
        """Returns the document under the key with other attributes."""
        document = self._read_document()
        # The filters of an array, without which its chunks cannot be decoded, are among its attributes.
        kept = {name: value for name, value in document.get(member, {}).items() if name == "filters"}
        return {**document, member: {**attributes, **kept}}

    def _current(self) -> dict[str, Any]:
        if self._cached is not None:
            return self._cached
        if self._node is not None and self.cache:
            attributes: dict[str, Any] = json.loads(self._node.attributes())
        else:
            attributes = self._read()
        if self.cache:
            self._cached = attributes
        return attributes

    def _change(self, change: Callable[[], None]) -> None:
        """Calls a function that reads, changes and writes the attributes, while no other thread or process changes them."""
        if self.read_only:
            raise PermissionError("attributes are read-only: open the array or group with mode 'r+'")
        with self._lock(), _changing:
            change()

    def _add(self, new: dict[str, Any]) -> None:
        def add() -> None:
            if self._node is not None:
                # Native code reads the other attributes itself.
                self._write(new, among=True)
            else:
                self._write(self._read() | new)

        self._change(add)

    def _lock(self) -> AbstractContextManager[Any]:
        if self.synchronizer is None:
            return nullcontext()
        # A native node locks its document while it writes, so a different lock is used here.
        lock: AbstractContextManager[Any] = self.synchronizer[
            self.key if self._node is None else f"{self.key}.change"
        ]
        return lock

    def asdict(self) -> dict[str, Any]:
        """Returns all attributes, as a new dict."""
        return dict(self._current())

    def refresh(self) -> None:
        """Reads the attributes again."""
        if self.cache:
            self._cached = self._read()

    def put(self, d: Mapping[str, Any]) -> None:
        """Replaces all attributes.

        Parameters
        ----------
        d : Mapping
            The new attributes.
        """
        new = _checked(d)
        self._change(lambda: self._write(new))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Sets several attributes with one write.

        Parameters
        ----------
        *args, **kwargs
            The arguments of ``dict.update``.
        """
        self._add(_checked(dict(*args, **kwargs)))

    def __getitem__(self, item: str) -> Any:
        return self._current()[item]

    def __setitem__(self, item: str, value: Any) -> None:
        self._add(_checked({item: value}))

    def __delitem__(self, item: str) -> None:
        def delete() -> None:
            attributes = self._read()
            del attributes[item]
            self._write(attributes)

        self._change(delete)

    def __contains__(self, x: object) -> bool:
        return x in self._current()

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    def keys(self) -> KeysView[str]:
        """Returns the names of all attributes.

        Returns
        -------
        KeysView
        """
        return self._current().keys()

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self._current()!r}>"
