"""Stores in fsspec file systems and in obstore stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from zarrox import _native

from .awaited import AwaitedStore
from .remote import MISSING, FSStore

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FsspecStore", "ObjectStore"]


class FsspecStore(AwaitedStore, FSStore):  # type: ignore[misc]
    """A store in an fsspec file system.

    Parameters
    ----------
    fs : fsspec file system
        The file system.
    read_only : bool, optional
        Whether the store is read-only.
    path : str, optional
        The path of the values in the file system.
    allowed_exceptions : tuple of exceptions, optional
        Errors that mean that a value is missing.
    """

    def __init__(
        self,
        fs: Any,
        read_only: bool = False,
        path: str = "/",
        allowed_exceptions: tuple[type[BaseException], ...] = (),
    ) -> None:
        mode = "r" if read_only else "w"
        super().__init__(path, fs=fs, mode=mode, exceptions=(*allowed_exceptions, KeyError, FileNotFoundError))

    def __str__(self) -> str:
        return self._raw.location

    def __repr__(self) -> str:
        return f"<FsspecStore({self})>"

    @classmethod
    def from_url(
        cls,
        url: str,
        storage_options: Mapping[str, Any] | None = None,
        read_only: bool = False,
        allowed_exceptions: tuple[type[BaseException], ...] = (),
    ) -> Self:
        """Returns the store at a URL.

        Parameters
        ----------
        url : str
            The location of the values.
        storage_options : Mapping, optional
            Options of the fsspec file system.
        read_only : bool, optional
            Whether the store is read-only.
        allowed_exceptions : tuple of exceptions, optional
            Errors that mean that a value is missing.

        """
        exceptions = (*allowed_exceptions, KeyError, FileNotFoundError) if allowed_exceptions else MISSING
        store = cls.__new__(cls)
        FSStore.__init__(store, url, mode="r" if read_only else "w", exceptions=exceptions, **dict(storage_options or {}))
        return store

    @classmethod
    def from_upath(cls, upath: Any, read_only: bool = False, allowed_exceptions: tuple[type[BaseException], ...] = ()) -> Self:
        """Returns the store at a path object of the package ``universal_pathlib``."""
        return cls(upath.fs, read_only=read_only, path=upath.path.rstrip("/"), allowed_exceptions=allowed_exceptions)

    @classmethod
    def from_mapper(
        cls, fs_map: Any, read_only: bool = False, allowed_exceptions: tuple[type[BaseException], ...] = ()
    ) -> Self:
        """Returns the store for a mapper.

        Parameters
        ----------
        fs_map : fsspec.FSMap
            The mapper.
        read_only : bool, optional
            Whether the store is read-only.
        allowed_exceptions : tuple of exceptions, optional
            Errors that mean that a value is missing.

        """
        return cls(fs_map.fs, read_only=read_only, path=fs_map.root, allowed_exceptions=allowed_exceptions)


class _Objects(MutableMapping[str, bytes]):
    """A store from the package ``obstore`` as a mapping."""

    def __init__(self, store: Any) -> None:
        import obstore

        self.store = store
        self.package: Any = obstore

    def __getitem__(self, key: str) -> bytes:
        try:
            return bytes(self.package.get(self.store, key).bytes())
        except FileNotFoundError as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str, value: Any) -> None:
        self.package.put(self.store, key, bytes(value))

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.package.delete(self.store, key)

    def __contains__(self, key: object) -> bool:
        try:
            self.package.head(self.store, key)
        except FileNotFoundError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        for part in self.package.list(self.store):
            yield from (found["path"] for found in part)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def listdir(self, path: str) -> list[str]:
        found = self.package.list_with_delimiter(self.store, path or None)
        places = [*found["common_prefixes"], *(below["path"] for below in found["objects"])]
        return sorted(place.rstrip("/").rpartition("/")[2] for place in places)


class ObjectStore(AwaitedStore):
    """A store that wraps a store from the package ``obstore``.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        The store of the package.
    read_only : bool, optional
        Whether the store is read-only.
    """

    _identity = ("store",)

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        self.store = store
        self._read_only = read_only

    def _connect(self) -> _native.Store:
        self._mapping = _Objects(self.store)
        return _native.Store.mapping(self._mapping, self.store)
