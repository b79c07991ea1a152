"""Stores in zip archives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from zarrox import _native

from .native import FileStore

if TYPE_CHECKING:
    import zipfile

__all__ = ["ZipStore"]

#: The value of the constant in :mod:`zipfile`.
ZIP_STORED = 0

_MODES: dict[str, Literal["r", "r+", "a", "w", "x"]] = {
    "r": "r", "r+": "r+", "a": "a", "w": "w", "x": "x", "w-": "x",
}  # fmt: skip


class ZipStore(FileStore):
    """A store in a zip archive, in which each value is an entry.

    The archive must be completed with :meth:`close` or a ``with`` statement. Only one process can write to it at a time.

    Parameters
    ----------
    path : str or PathLike
        The archive.
    compression : int, optional
        The compression of entries, as in :mod:`zipfile`. Chunks are usually compressed already.
    allowZip64 : bool, optional
        No effect: archives of any size are supported.
    mode : {'a', 'r', 'r+', 'w', 'x'}, optional
        'r': read only; 'r+': read and write; 'a': created if missing; 'w': replaced by a new archive at the first write or
        :meth:`close`; 'x': created, must not exist.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    read_only : bool, optional
        Whether writing is rejected (a parameter of zarr-python 3).
    sync : bool, optional
        Whether the archive is flushed to the disk when it is completed.

    Notes
    -----
    Values can be replaced and deleted, and names in the archive are unique. The space of old values is reclaimed only by copying to
    a new archive.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> path = os.path.join(tempfile.mkdtemp(), "array.zip")
    >>> with zarr.ZipStore(path, mode="w") as store:
    ...     z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    ...     z[...] = 42
    >>> zarr.open(path, mode="r")[0, 0]
    np.float64(42.0)
    """

    compression = ZIP_STORED
    allowZip64 = True
    _sync = False
    _identity = ("path", "compression", "allowZip64")

    def __init__(
        self,
        path: str | os.PathLike[str],
        compression: int = ZIP_STORED,
        allowZip64: bool = True,
        mode: str = "a",
        dimension_separator: str | None = None,
        *,
        read_only: bool = False,
        sync: bool = False,
    ) -> None:
        if mode not in _MODES:
            raise ValueError(f"invalid mode {mode!r}; expected 'r', 'r+', 'a', 'w' or 'x'")
        self.path = os.path.abspath(path)
        self.mode = "r" if read_only and mode in ("a", "r+") else mode
        if compression != ZIP_STORED:
            self.compression = compression
        if not allowZip64:
            self.allowZip64 = False
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator
        if sync:
            self._sync = True
        self._read_only = self.mode == "r"
        # Opening checks the mode immediately, and 'w' empties the archive only once.
        self._raw  # noqa: B018

    def _connect(self) -> _native.Store:
        return _native.Store.zip(self.path, _MODES[self.mode], self.compression, self._sync)

    def __getstate__(self) -> dict[str, Any]:
        if not self._closed:
            self.flush()
        state = super().__getstate__()
        # Unpickling must not empty the archive.
        return {**state, "mode": "a" if self.mode in ("w", "w-", "x") else self.mode}

    @property
    def zf(self) -> zipfile.ZipFile:
        """The part of the archive that has been written, as an object of :mod:`zipfile`."""
        if self._closed:
            raise ValueError(f"the ZipStore '{self.path}' is closed: open it again")
        self.flush()
        # This module is slow to import, and few programs need it.
        import zipfile

        return zipfile.ZipFile(self.path)

    def keylist(self) -> list[str]:
        """Returns all keys, sorted.

        Returns
        -------
        list of str
        """
        return sorted(self)

    def __repr__(self) -> str:
        return f"ZipStore({self.path!r}, mode={self.mode!r})"
