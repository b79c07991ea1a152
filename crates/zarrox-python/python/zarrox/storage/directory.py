"""Stores in directories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument
from zarrox.errors import FSPathExistNotDir

from .native import NativeStore
from .paths import normalize_storage_path

__all__ = [
    "DirectoryStore",
    "NestedDirectoryStore",
]


DIRECTORY_OPTIONS = ("exclusive", "follow_links", "lock_timeout", "sync")
"""The names of a directory's options in the native store."""


def directory_options(**options: Any) -> dict[str, str]:
    """Returns the options of a directory in the form that the native store requires.

    Parameters
    ----------
    **options
        ``exclusive``, ``follow_links``, ``lock_timeout`` and ``sync``. Options that are not set are omitted.

    Raises
    ------
    ValueError
        If there is no such option.

    Examples
    --------
    >>> from zarrox.storage.directory import directory_options
    >>> directory_options(follow_links=True, sync=False, lock_timeout=2)
    {'follow_links': 'true', 'lock_timeout': '2'}
    """
    unknown = sorted(options.keys() - set(DIRECTORY_OPTIONS))
    if unknown:
        raise ValueError(
            f"storage_options of a directory are {', '.join(DIRECTORY_OPTIONS)}, and not {', '.join(map(repr, unknown))}"
        )
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    return {name: "true" if value is True else str(value) for name, value in given.items()}


def _remove_tree(path: str) -> None:
    import shutil  # The import is slow, since it imports all archive compressors.

    shutil.rmtree(path)


class DirectoryStore(NativeStore):
    """A store in a directory, in which each value is a file.

    A file appears only once it is complete. Any number of threads and processes may write different chunks.

    Parameters
    ----------
    path : str or PathLike
        The directory. It is created with the first value.
    normalize_keys : bool, optional
        Whether all keys are converted to lower case, so that they are equal on case-insensitive file systems as well.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    sync : bool, optional
        Whether every value is flushed to the disk before it counts as written, so that it survives a power failure.
    follow_links : bool, optional
        Whether symbolic links that lead out of the directory are followed, such as the links of git-annex, DataLad and
        DVC. Set this only for directories whose writers are trusted: a link can lead to any file.
    storage_options : dict, optional
        Further options, as for a URL ``file://…``: ``follow_links``, ``sync``, ``exclusive`` and ``lock_timeout``.

    Raises
    ------
    ValueError
        If there is no such option.
    FSPathExistNotDir
        If the path is a file.

    Notes
    -----
    A subclass may have its own static methods ``_fromfile(path)`` and ``_tofile(value, path)``, which read and write files.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> path = tempfile.mkdtemp()
    >>> store = zarr.DirectoryStore(path)
    >>> z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    >>> z[...] = 42
    >>> sorted(os.listdir(path))
    ['.zarray', '0.0', '0.1', '1.0', '1.1']
    """

    normalize_keys = False
    _options: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        path: str | os.PathLike[str],
        normalize_keys: bool = False,
        dimension_separator: str | None = None,
        *,
        sync: bool = False,
        follow_links: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        options = directory_options(**{"sync": sync, "follow_links": follow_links} | dict(storage_options or {}))
        path = os.path.abspath(path)
        if os.path.isfile(path):
            raise FSPathExistNotDir(f"'{path}' is a file: a store in a directory needs a directory")
        self.path = path
        # Only options that differ from their defaults are kept and pickled.
        if normalize_keys:
            self.normalize_keys = True
        if dimension_separator != self._dimension_separator:
            self._dimension_separator = dimension_separator
        if options:
            self._options = options

    def _connect(self) -> _native.Store:
        return _native.Store.directory(self.path, dict(self._options))

    def _translates(self) -> bool:
        return self.normalize_keys

    def _normalize_key(self, key: str) -> str:
        return key.lower() if self.normalize_keys else key

    @staticmethod
    def _fromfile(fn: str) -> Any:
        with open(fn, "rb") as file:
            return file.read()

    @staticmethod
    def _tofile(a: Any, fn: str) -> None:
        with open(fn, "wb") as file:
            file.write(a)

    @staticmethod
    def _keys_fast(
        path: str, walker: Callable[[str], Iterable[tuple[str, list[str], list[str]]]] = os.walk
    ) -> Iterator[str]:
        for directory, _, names in walker(path):
            below = os.path.relpath(directory, path).replace(os.sep, "/")
            yield from names if below == os.curdir else (f"{below}/{name}" for name in names)

    def __getitem__(self, key: str) -> Any:
        if type(self)._fromfile is DirectoryStore._fromfile:
            return super().__getitem__(key)
        file = self.dir_path(self._normalize_key(key))
        if not os.path.isfile(file):
            raise KeyError(key)
        return self._fromfile(file)

    def __setitem__(self, key: str, value: Any) -> None:
        write = super().__setitem__ if type(self)._tofile is DirectoryStore._tofile else self._replace
        try:
            write(key, value)
        except OSError:
            if self.read_only:
                raise
            self._make_room(key)
            write(key, value)

    def _make_room(self, key: str) -> None:
        """Removes a directory at the path where a file is to be written, but not a file at the path of one of its parent directories."""
        file = self.dir_path(self._normalize_key(key))
        if os.path.isdir(file):
            _remove_tree(file)
            return
        above = os.path.dirname(file)
        while len(above) > len(self.path):
            if os.path.isfile(above):
                raise KeyError(f"{key}: '{above}' is a file")
            above = os.path.dirname(above)

    def _replace(self, key: str, value: Any) -> None:
        """Writes a file with the method that a subclass defines."""
        file = self.dir_path(self._normalize_key(key))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        partial = f"{file}.{os.urandom(8).hex()}.partial"
        try:
            self._tofile(value, partial)
            os.replace(partial, file)
        finally:
            if os.path.exists(partial):
                os.remove(partial)

    def __delitem__(self, key: str) -> None:
        path = self.dir_path(self._normalize_key(key))
        if os.path.isdir(path) and not self.read_only:
            _remove_tree(path)
        else:
            super().__delitem__(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DirectoryStore) and self.path == other.path

    __hash__ = None

    def dir_path(self, path: PathArgument = None) -> str:
        """Returns the file or directory of a key or path.

        Parameters
        ----------
        path : str, optional
            A key or path; the root if not given.

        Returns
        -------
        str
            An absolute path.
        """
        below = normalize_storage_path(path)
        return os.path.join(self.path, below) if below else self.path


class NestedDirectoryStore(DirectoryStore):
    """A store in a directory, in which the chunks of new arrays have one level of directories for each dimension.

    Parameters
    ----------
    path : str or PathLike
        The directory. It is created with the first value.
    normalize_keys : bool, optional
        Whether all keys are converted to lower case.
    dimension_separator : {'/'}, optional
        The separator in chunk keys, which is always ``/``.
    sync : bool, optional
        Whether every value is flushed to the disk before it counts as written, so that it survives a power failure.
    follow_links : bool, optional
        Whether symbolic links that lead out of the directory are followed.
    storage_options : dict, optional
        As for :class:`DirectoryStore`.

    Raises
    ------
    ValueError
        If another separator is given, or there is no such option.

    Examples
    --------
    >>> import os, tempfile
    >>> import zarrox.v2 as zarr
    >>> path = tempfile.mkdtemp()
    >>> store = zarr.NestedDirectoryStore(path)
    >>> z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
    >>> z[...] = 42
    >>> sorted(os.listdir(path))
    ['.zarray', '0', '1']
    """

    _dimension_separator: str | None = "/"

    def __init__(
        self,
        path: str | os.PathLike[str],
        normalize_keys: bool = False,
        dimension_separator: str | None = "/",
        *,
        sync: bool = False,
        follow_links: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if dimension_separator not in (None, "/"):
            raise ValueError(f"{type(self).__name__} only supports '/' as dimension_separator")
        super().__init__(
            path,
            normalize_keys=normalize_keys,
            dimension_separator=self._dimension_separator,
            sync=sync,
            follow_links=follow_links,
            storage_options=storage_options,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestedDirectoryStore) and self.path == other.path

    __hash__ = None
