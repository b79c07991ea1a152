"""The common parts of all stores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, MutableMapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from zarrox import _native
from zarrox.argument_types import PathArgument
from zarrox.meta import Metadata2

from .files import Files
from .paths import normalize_storage_path, prefix_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BaseStore", "KVStore", "StoreLike", "StoredBytes"]

_HOOKS = frozenset(
    "__getitem__ __setitem__ __delitem__ __contains__ __iter__ keys get getitems setitems delitems "
    "_normalize_key _fromfile _tofile".split()
)
"""The methods that a subclass overrides to change values or their keys."""


def is_foreign(cls: type) -> bool:
    """Returns true for classes that are defined outside this package."""
    return cls.__module__.partition(".")[0] not in {"zarrox", "collections", "typing", "builtins", "abc"}


adapters: list[Callable[[object], BaseStore | None]] = []
"""Functions that convert a store of another package, or return ``None`` for an unknown object. The modules for these packages
register them."""


def adapted(store: object) -> BaseStore | None:
    """Converts a store of another package; returns ``None`` for any other object."""
    found = (adapt(store) for adapt in adapters)
    return next((each for each in found if each is not None), None)


class BaseStore(MutableMapping[str, Any]):
    """A mapping from keys to bytes, with additional methods for arrays and groups.

    To define a store, subclass it: the five methods of a :class:`~collections.abc.MutableMapping` are enough.
    """

    _readable = True
    _writeable = True
    _erasable = True
    _listable = True
    _store_version = 2
    _metadata_class = Metadata2
    _dimension_separator: str | None = None
    """The separator between the coordinates of chunks in the keys of new arrays; ``None`` leaves it to the format."""
    _format: str | None = None
    """The only format of nodes in this store, if it supports only one."""
    _attributes_member: str | None = None
    """The member of documents that has the attributes, if the attributes of nodes have no document of their own."""
    _custom: ClassVar[bool] = False
    """True if a class from outside this package has its own way of reading or writing."""
    _open_count = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._custom = any(is_foreign(base) and not _HOOKS.isdisjoint(vars(base)) for base in cls.__mro__)

    @property
    def native(self) -> _native.Store:
        """The native store, through which Rust accesses this store."""
        # The handle is not cached: since it refers to its store, it would keep the store alive forever.
        return _native.Store.mapping(self)

    def is_readable(self) -> bool:
        """Returns true if values can be read."""
        return self._readable

    def is_writeable(self) -> bool:
        """Returns true if values can be written."""
        return self._writeable

    def is_listable(self) -> bool:
        """Returns true if keys can be listed."""
        return self._listable

    def is_erasable(self) -> bool:
        """Returns true if values can be deleted."""
        return self._erasable

    @property
    def read_only(self) -> bool:
        """True if values can only be read."""
        return not self.is_writeable()

    @property
    def supports_writes(self) -> bool:
        """True if values can be written (zarr-python 3's name)."""
        return self.is_writeable()

    @property
    def supports_deletes(self) -> bool:
        """True if values can be deleted (zarr-python 3's name)."""
        return self.is_erasable()

    @property
    def supports_listing(self) -> bool:
        """True if keys can be listed (zarr-python 3's name)."""
        return self.is_listable()

    def __enter__(self) -> Self:
        self._open_count += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open_count -= 1
        if self._open_count == 0:
            self.close()

    def close(self) -> None:
        """Completes all writes, and releases files and connections."""

    def listdir(self, path: PathArgument = None) -> list[str]:
        """Returns the names directly below a path.

        Parameters
        ----------
        path : str, optional
            The path; the root if not given.

        Returns
        -------
        list of str
            Sorted; empty if nothing exists there.
        """
        prefix = prefix_of(normalize_storage_path(path))
        return sorted({key[len(prefix) :].split("/", 1)[0] for key in self.keys() if key.startswith(prefix)})

    def getsize(self, path: PathArgument = None) -> int:
        """Returns the size of a value, or of the values directly below a path, in bytes.

        Parameters
        ----------
        path : str, optional
            A key or path; the root if not given.

        Returns
        -------
        int
            0 if nothing exists there, -1 if the size of a value is unknown.
        """
        path = normalize_storage_path(path)
        keys = [path] if path in self else [prefix_of(path) + name for name in self.listdir(path)]
        try:
            return sum(memoryview(self[key]).nbytes for key in keys if key in self)
        except TypeError:
            return -1

    def rename(self, src_path: PathArgument, dst_path: PathArgument) -> None:
        """Moves a value, or all values below a path.

        Parameters
        ----------
        src_path : str
            The current key or path.
        dst_path : str
            The new key or path.
        """
        source, target = normalize_storage_path(src_path), normalize_storage_path(dst_path)
        prefix = prefix_of(source)
        for key in list(self.keys()):
            if key == source:
                self[target] = self.pop(key)
            elif key.startswith(prefix):
                self[prefix_of(target) + key[len(prefix) :]] = self.pop(key)

    def rmdir(self, path: PathArgument = None) -> None:
        """Deletes all values below a path.

        Parameters
        ----------
        path : str, optional
            A path; the root if not given.
        """
        prefix = prefix_of(normalize_storage_path(path))
        for key in [key for key in self.keys() if key.startswith(prefix)]:
            del self[key]

    @staticmethod
    def _ensure_store(store: Any) -> Any:
        """Returns the store for an argument, which is a store of this package or of zarr-python, or another mapping; ``None`` for
        ``None``."""
        if store is None or issubclass(type(store), BaseStore):
            return store
        foreign = adapted(store)
        if foreign is not None:
            return foreign
        wanted = ("keys", "values", "get", "__getitem__", "__setitem__", "__delitem__", "__contains__")
        if all(hasattr(store, name) for name in wanted):
            return KVStore(store)
        raise ValueError(
            f"{store!r} is not a store: pass a path, a URL, a mapping from keys to bytes, a subclass of BaseStore "
            "or a store of zarr-python 3"
        )


StoreLike = BaseStore | MutableMapping[str, Any]
"""A store, or any other mapping that can be used as one."""


class StoredBytes(bytes):
    """A value in a user's ``dict``: bytes, with the method ``to_bytes`` of zarr-python 3's buffers.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> store = {}
    >>> z = zarr.zeros(3, store=store)
    >>> store[".zarray"].to_bytes()[:1]
    b'{'
    """

    __slots__ = ()

    def to_bytes(self) -> bytes:
        """Returns the value as ``bytes``."""
        return bytes(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return bytes, (bytes(self),)


class _Given(MutableMapping[str, Any]):
    """A user's subclass of ``dict``, in the form in which Rust writes to it."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._values[key] = StoredBytes(value)

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        # Other threads may write in the meantime.
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)


class KVStore(BaseStore):
    """A store in any mapping from keys to bytes.

    Parameters
    ----------
    mutablemapping : MutableMapping
        The location of the values.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> values = {}
    >>> store = zarr.storage.KVStore(values)
    >>> store["foo"] = b"bar"
    >>> values
    {'foo': b'bar'}
    """

    _handle: _native.Store | None = None

    def __init__(self, mutablemapping: MutableMapping[str, Any]) -> None:
        self._mutable_mapping = mutablemapping

    @property
    def native(self) -> _native.Store:
        """The native store, through which Rust accesses this store."""
        if self._custom:
            inner = self._mutable_mapping
            return _native.Store.mapping(self, inner.native if isinstance(inner, BaseStore) else inner)
        if self._handle is None:
            self._handle = self._connect()
        return self._handle

    def _connect(self) -> _native.Store:
        inner = self._mutable_mapping
        if isinstance(inner, BaseStore):
            return inner.native
        if type(inner) is dict:
            return _native.Store.mapping(inner)
        if isinstance(inner, dict):
            return _native.Store.mapping(_Given(inner), inner)
        if hasattr(inner, "fs") and hasattr(inner, "root"):
            # Mappings from s3fs, gcsfs and other packages.
            files = Files(inner)
            return _native.Store.mapping(files, files.place)
        return _native.Store.mapping(inner)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_handle"}

    def __getitem__(self, key: str) -> Any:
        return self._mutable_mapping[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._mutable_mapping[key] = value

    def __delitem__(self, key: str) -> None:
        del self._mutable_mapping[key]

    def __contains__(self, key: object) -> bool:
        return key in self._mutable_mapping

    def __iter__(self) -> Iterator[str]:
        return iter(self._mutable_mapping)

    def __len__(self) -> int:
        return len(self._mutable_mapping)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KVStore):
            return NotImplemented
        return self is other or bool(self._mutable_mapping == other._mutable_mapping)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: \n{self._mutable_mapping!r}\n at {hex(id(self))}>"

    def close(self) -> None:
        """Closes the mapping, if it can be closed."""
        close = getattr(self._mutable_mapping, "close", None)
        if close is not None:
            close()


def warn_without_listdir(store: object) -> None:
    """Warns that listing a mapping without ``listdir`` is slow."""
    warnings.warn(
        f"{store!r} has no `listdir` method, so that all keys are read; wrap it in KVStore or subclass BaseStore",
        UserWarning,
        stacklevel=3,
    )
