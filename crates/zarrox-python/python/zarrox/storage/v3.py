"""The stores of zarr-python 3 that differ from those of zarr-python 2."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from . import archive, memory
from .directory import DirectoryStore

__all__ = ["LocalStore", "MemoryStore", "ZipStore"]


class LocalStore(DirectoryStore):
    """A store in a directory (zarr-python 3's name).

    Parameters
    ----------
    root : str or PathLike
        The directory. The first value makes it.
    read_only : bool, optional
        Whether nothing can be written.
    sync : bool, optional
        Whether every value is flushed to the disk before it counts as written, so that it outlives a power failure.
    follow_links : bool, optional
        Whether symbolic links that lead out of the directory are followed.
    storage_options : dict, optional
        As for :class:`DirectoryStore`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        sync: bool = False,
        follow_links: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(root, sync=sync, follow_links=follow_links, storage_options=storage_options)
        if read_only:
            self._read_only = True

    @property
    def root(self) -> Path:
        """The directory."""
        return Path(self.path)


class MemoryStore(memory.MemoryStore):
    """A store in memory.

    Parameters
    ----------
    store_dict : MutableMapping, optional
        Values by their keys, which are used directly.
    read_only : bool, optional
        Whether nothing can be written.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> group = zarr.group(store)
    >>> list(store)
    ['zarr.json']
    """

    def __init__(self, store_dict: MutableMapping[str, Any] | None = None, *, read_only: bool = False) -> None:
        if store_dict is not None:
            self._values = store_dict
        if read_only:
            self._read_only = True


class ZipStore(archive.ZipStore):
    """A store in a zip archive: each value is an entry.

    The archive has to be finished by :meth:`close`, or by a ``with`` statement. Only one process can write to it at a time.

    Parameters
    ----------
    path : str or PathLike
        The archive.
    mode : {'r', 'r+', 'a', 'w', 'x'}, optional
        'r' reads an archive; 'r+' writes, too; 'a' makes it if it does not exist; 'w' begins a new one in its place; 'x' begins
        one where nothing may exist.
    read_only : bool, optional
        Whether nothing can be written; by default with mode 'r'.
    compression : int, optional
        How entries are compressed, as :mod:`zipfile` has it. Chunks are mostly compressed already.
    allowZip64 : bool, optional
        Archives of any size are written in any case.
    sync : bool, optional
        Whether the archive is flushed to the disk when it is finished.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox as zarr
    >>> path = os.path.join(tempfile.mkdtemp(), "array.zip")
    >>> with zarr.storage.ZipStore(path, mode="w") as store:
    ...     z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    ...     z[...] = 42
    >>> zarr.open(path, mode="r")[0, 0]
    np.float64(42.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: str = "r",
        read_only: bool | None = None,
        compression: int = zipfile.ZIP_STORED,
        allowZip64: bool = True,
        sync: bool = False,
    ) -> None:
        super().__init__(path, compression, allowZip64, mode, read_only=bool(read_only), sync=sync)
