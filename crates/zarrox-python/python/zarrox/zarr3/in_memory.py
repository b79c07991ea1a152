"""Mappings over memory stores of other libraries, whose operations take less time than an event loop would."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

__all__ = ["FilesOfFsspec", "ObjectsOfObstore"]


class FilesOfFsspec(MutableMapping[str, Any]):
    """The files in fsspec's memory file system.

    Parameters
    ----------
    fs : fsspec.implementations.memory.MemoryFileSystem
        The file system.
    path : str
        The directory above the keys.
    """

    def __init__(self, fs: Any, path: str) -> None:
        self._fs = fs
        self._root = fs._strip_protocol(path).rstrip("/")

    def _path(self, key: object) -> str:
        return f"{self._root}/{key}"

    def __getitem__(self, key: str) -> Any:
        try:
            return self._fs.cat_file(self._path(key))
        except OSError:
            raise KeyError(key) from None

    def __setitem__(self, key: str, value: Any) -> None:
        self._fs.pipe_file(self._path(key), bytes(value))

    def __delitem__(self, key: str) -> None:
        try:
            self._fs.rm_file(self._path(key))
        except OSError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        return bool(self._fs.isfile(self._path(key)))

    def __iter__(self) -> Iterator[str]:
        return iter([path.removeprefix(f"{self._root}/") for path in self._fs.find(self._root)])

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ObjectsOfObstore(MutableMapping[str, Any]):
    """The objects in a memory store of obstore.

    Parameters
    ----------
    store : obstore.store.MemoryStore
        The store.
    """

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getitem__(self, key: str) -> Any:
        try:
            return bytes(self._store.get(key).bytes())
        except FileNotFoundError:
            raise KeyError(key) from None

    def __setitem__(self, key: str, value: Any) -> None:
        self._store.put(key, bytes(value))

    def __delitem__(self, key: str) -> None:
        # obstore does not raise an error if the object is missing.
        if key not in self:
            raise KeyError(key)
        self._store.delete(key)

    def __contains__(self, key: object) -> bool:
        try:
            self._store.head(str(key))
        except FileNotFoundError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter([found["path"] for group in self._store.list() for found in group])

    def __len__(self) -> int:
        return sum(1 for _ in self)
