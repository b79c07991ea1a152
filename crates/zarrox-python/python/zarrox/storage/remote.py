"""Stores at URLs, and in the file systems and object stores of other packages."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument
from zarrox.errors import FSPathExistNotDir, ReadOnlyError

from .base import BaseStore, KVStore, NativeStore
from .directory import DIRECTORY_OPTIONS, directory_options
from .files import Files
from .paths import DOCUMENTS, is_key, normalize_storage_path
from .servers import open_url

__all__ = ["FSStore", "FsspecStore", "ObjectStore", "StorePath"]

_MISSING = (KeyError, PermissionError, IOError)
"""The errors that zarr-python takes for a missing value."""

_NAMES: dict[str, dict[str, str]] = {
    "s3": {
        "key": "access_key_id",
        "secret": "secret_access_key",
        "token": "session_token",
        "anon": "anonymous",
        "profile": "profile",
        "endpoint_url": "endpoint",
        "region_name": "region",
        "aws_access_key_id": "access_key_id",
        "aws_secret_access_key": "secret_access_key",
        "aws_session_token": "session_token",
    },
    "gs": {"endpoint_url": "endpoint"},
    "az": {
        "account_name": "account",
        "account_key": "access_key",
        "sas_token": "sas",
        "connection_string": "connection_string",
        "anon": "anonymous",
    },
    "http": {},
}
"""The names that fsspec has for the options of the native stores."""

_OWN = frozenset(
    "access_key_id secret_access_key session_token profile anonymous region endpoint virtual_hosted allow_http "
    "credentials_file token account access_key sas bearer_token connection_string user password prefix database "
    "collection cache_directory".split()
)
"""The options as native stores call them."""

_FAMILIES = {
    "s3a": "s3",
    "gcs": "gs",
    "azure": "az",
    "abfs": "az",
    "abfss": "az",
    "https": "http",
}
_SCHEMES = frozenset(
    "s3 gs az http webdav webdavs ftp hdfs sqlite lmdb redb gdbm bdb redis rediss mongodb mongodb+srv".split()
)

_IGNORED = frozenset({"auto_mkdir", "asynchronous", "use_listings_cache", "skip_instance_cache", "project"})
"""Options of fsspec that have no meaning for a native store."""


@functools.cache
def _has_fsspec() -> bool:
    return importlib.util.find_spec("fsspec") is not None


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float, os.PathLike)) else None


def _scheme(url: str) -> str:
    scheme = url.partition("://")[0] if "://" in url else "file"
    return _FAMILIES.get(scheme, scheme)


def native_options(url: str, options: Mapping[str, Any]) -> dict[str, str] | None:
    """The options of fsspec as a native store takes them.

    Parameters
    ----------
    url : str
        A URL.
    options : Mapping
        What fsspec would be given.

    Returns
    -------
    dict or None
        ``None`` where fsspec has to do it: it is another kind of URL, or an option that is not known natively.

    Examples
    --------
    >>> from zarrox.storage.remote import native_options
    >>> native_options("s3://bucket/a", {"anon": True, "client_kwargs": {"region_name": "eu-west-2"}})
    {'anonymous': 'true', 'region': 'eu-west-2'}
    """
    scheme = _scheme(url)
    if "::" in url or scheme not in _SCHEMES:
        return None
    nested = options.get("client_kwargs") or {}
    flat = {name: value for name, value in options.items() if name != "client_kwargs"} | dict(nested)
    if scheme == "gs" and "token" in flat:
        token = flat.pop("token")
        flat |= _google(token)
    names = _NAMES.get(scheme, {})
    found: dict[str, str] = {}
    for name, value in flat.items():
        if value is None or name in _IGNORED:
            continue
        own = names.get(name, name if name in _OWN else None)
        text = _text(value)
        if own is None or text is None:
            return None
        found[own] = text
    if found.get("endpoint", "").startswith("http://"):
        found.setdefault("allow_http", "true")
    return found


def _google(token: Any) -> dict[str, Any]:
    """The native options for gcsfs' ``token``."""
    if token == "anon":
        return {"anonymous": True}
    if token in (None, "google_default", "cloud"):
        return {}
    return {"credentials_file": token} if os.path.exists(str(token)) else {"token": token}


class FSStore(NativeStore):
    """A store at a URL.

    Directories of this machine, S3, Google Cloud Storage, Azure, HTTP, WebDAV, FTP, HDFS, Redis, MongoDB and databases in
    files are reached natively. Everything else, and options that only fsspec knows, needs the package ``fsspec``.

    Parameters
    ----------
    url : str or fsspec.FSMap
        Where the values are: ``s3://bucket/path``, ``https://…``, ``simplecache::gs://…``, a path, or a mapper.
    normalize_keys : bool, optional
        Whether all keys are made lower case.
    key_separator : {'.', '/'}, optional
        The same as `dimension_separator`, and preferred to it.
    mode : {'w', 'r'}, optional
        'r' forbids writing.
    exceptions : sequence of exceptions, optional
        Errors that mean that a value is missing. Where they are not the usual ones, fsspec is used.
    dimension_separator : {'.', '/'}, optional
        What stands between the coordinates of chunks in the keys of new arrays, and in those of this store.
    fs : fsspec file system, optional
        Is used with `url` as a path in it.
    **storage_options
        What the file system of fsspec takes, or the options that native stores have.

    Raises
    ------
    FSPathExistNotDir
        The path is a file.
    ImportError
        ``fsspec`` is needed and missing.

    Examples
    --------
    >>> import tempfile
    >>> import zarrox.v2 as zarr
    >>> store = zarr.storage.FSStore("file://" + tempfile.mkdtemp(), dimension_separator="/")
    >>> z = zarr.ones((10, 10), chunks=(5, 5), store=store)
    >>> z.chunks
    (5, 5)
    """

    _array_meta_key: str = ".zarray"
    _group_meta_key: str = ".zgroup"
    _attrs_key: str = ".zattrs"
    _identity = ("url", "mode", "storage_options")
    _transient = (*NativeStore._transient, "_mapper")
    normalize_keys = False
    exceptions: tuple[type[BaseException], ...] = _MISSING
    _mapper: Any = None

    def __init__(
        self,
        url: Any,
        normalize_keys: bool = False,
        key_separator: str | None = None,
        mode: str = "w",
        exceptions: Iterable[type[BaseException]] = _MISSING,
        dimension_separator: str | None = None,
        fs: Any = None,
        **storage_options: Any,
    ) -> None:
        if hasattr(url, "fs") and hasattr(url, "root"):
            url, fs = url.root, url.fs
        elif fs is not None and storage_options:
            raise ValueError(f"{', '.join(storage_options)}: a file system that is given has its options already")
        self.url = os.fspath(url)
        self._fs = fs
        self.storage_options = storage_options
        self.mode = mode
        self._read_only = mode == "r"
        if normalize_keys:
            self.normalize_keys = True
        if tuple(exceptions) != _MISSING:
            self.exceptions = tuple(exceptions)
        separator = dimension_separator if key_separator is None else key_separator
        if separator is not None:
            self._dimension_separator = separator
        if self._is_local() and os.path.isfile(self.path):
            raise FSPathExistNotDir(f"'{self.path}' is a file: a store at a URL needs a directory")

    @property
    def key_separator(self) -> str:
        """The separator between the coordinates of chunks in keys of version 2."""
        return self._dimension_separator or "."

    @property
    def path(self) -> str:
        """Where the store is in its file system."""
        if self._is_local():
            return str(os.path.abspath(self.url.removeprefix("file://").removeprefix("local://")))
        if self._fs is not None or "::" in self.url:
            return str(self.fs._strip_protocol(self.url.rpartition("::")[2]))
        return str(self.url.partition("://")[2].rstrip("/"))

    @property
    def fs(self) -> Any:
        """The file system of fsspec."""
        return self.map.fs

    @property
    def map(self) -> Any:
        """The mapper of fsspec."""
        if self._mapper is None:
            self._mapper = self._open_mapper()
        return self._mapper

    def _open_mapper(self) -> Any:
        try:
            import fsspec
        except ImportError as error:
            raise ImportError(
                f"'{self.url}' with these options needs the package fsspec: pip install fsspec"
            ) from error
        if self._fs is not None:
            return fsspec.FSMap(self.url, self._fs)
        options = {"auto_mkdir": True, **self.storage_options} if self._is_local() else self.storage_options
        return fsspec.get_mapper(self.url, **options)

    def _is_local(self) -> bool:
        return self._fs is None and "::" not in self.url and _scheme(self.url) in ("file", "local")

    def _options(self) -> dict[str, str] | None:
        """The native options; ``None`` where fsspec has to do it."""
        if self._fs is not None or self.exceptions != _MISSING:
            return None
        options = native_options(self.url, self.storage_options)
        if options is None and not _has_fsspec():
            return self._without_fsspec()
        return options

    def _without_fsspec(self) -> dict[str, str] | None:
        simple = all(isinstance(value, str) for value in self.storage_options.values())
        return dict(self.storage_options) if simple and ("::" in self.url or _scheme(self.url) == "memory") else None

    def _open(self) -> _native.Store:
        if self._is_local() and self.exceptions == _MISSING:
            own = {name: value for name, value in self.storage_options.items() if name in DIRECTORY_OPTIONS}
            return _native.Store.directory(self.path, directory_options(**own))
        options = self._options()
        if options is not None:
            return open_url(self.url, options, create=self.mode != "r")
        missing = self.exceptions if self.exceptions != _MISSING else (KeyError,)
        self._mapping = files = Files(self.map, missing)
        return _native.Store.mapping(files, files.place)

    def _translates(self) -> bool:
        return self.normalize_keys

    def _normalize_key(self, key: str) -> str:
        key = key.strip("/")
        if self.key_separator != ".":
            above, slash, name = key.rpartition("/")
            if name not in DOCUMENTS:
                key = above + slash + name.replace(".", self.key_separator)
        return key.lower() if self.normalize_keys else key

    def __getitem__(self, key: str) -> Any:
        try:
            return super().__getitem__(key)
        except self.exceptions as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str, value: Any) -> None:
        self._check_writeable()
        try:
            super().__setitem__(key, value)
        except OSError:
            self._make_room(self._normalize_key(key))
            super().__setitem__(key, value)

    def _make_room(self, key: str) -> None:
        """Removes the directory that is in the way of a file; a file in the way of a directory stays."""
        parts = key.split("/")
        for count in range(1, len(parts)):
            above = "/".join(parts[:count])
            if self._raw.contains(above):
                raise KeyError(f"{key}: {above} is a value")
        self._raw.delete_prefix(key)

    def __delitem__(self, key: str) -> None:
        self._check_writeable()
        inner = self._normalize_key(key)
        if is_key(inner) and not self._raw.delete(inner):
            if not self._raw.list_dir(inner):
                raise KeyError(key)
            self._raw.delete_prefix(inner)

    def getsize(self, path: PathArgument = None) -> int:
        """The bytes of a value, or of the values directly below a path.

        Parameters
        ----------
        path : str, optional
            A key or a path; the root when not given.

        Returns
        -------
        int
            0 where nothing is.
        """
        self._raw  # noqa: B018 - tells which of the two it is
        if self._mapping is None:
            return super().getsize(path)
        place = self.dir_path(self._normalize_key(normalize_storage_path(path)))
        return int(self.fs.du(place, total=True, maxdepth=1)) if self.fs.exists(place) else 0

    def getitems(self, keys: Iterable[str], **kwargs: Any) -> dict[str, Any]:
        """Several values, read at the same time.

        Parameters
        ----------
        keys : iterable of str
            Which ones.
        **kwargs
            Ignored.

        Returns
        -------
        dict
            Those that are there.
        """
        inner = {self._normalize_key(key): key for key in keys}
        return {inner[key]: value for key, value in self._raw.get_many(list(inner)).items()}

    def setitems(self, values: Mapping[str, Any]) -> None:
        """Writes several values.

        Parameters
        ----------
        values : Mapping
            Values by their keys.
        """
        self._check_writeable()
        self.update(values)

    def delitems(self, keys: Iterable[str]) -> None:
        """Deletes several values, as far as they are there.

        Parameters
        ----------
        keys : iterable of str
            Which ones.
        """
        self._check_writeable()
        for key in keys:
            self._raw.delete(self._normalize_key(key))

    def clear(self) -> None:
        """Deletes everything."""
        self._check_writeable()
        super().clear()

    def rmdir(self, path: PathArgument = None) -> None:
        """Deletes all that is below a path.

        Parameters
        ----------
        path : str, optional
            A path; the root when not given.
        """
        self._check_writeable()
        super().rmdir(path)

    def dir_path(self, path: PathArgument = None) -> str:
        """Where a key or path is in the file system.

        Parameters
        ----------
        path : str, optional
            A key or path; the root when not given.

        Returns
        -------
        str
        """
        below = normalize_storage_path(path)
        return f"{self.path}/{below}" if below else self.path

    def _check_writeable(self) -> None:
        if self._read_only:
            raise ReadOnlyError(f"the store '{self.url}' was opened for reading: mode='w' would allow writing")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, mode={self.mode!r})"


class FsspecStore(FSStore):
    """A store in a file system of fsspec (zarr-python 3's name).

    Parameters
    ----------
    fs : fsspec file system
        The file system.
    read_only : bool, optional
        Whether nothing can be written.
    path : str, optional
        Where the values are in it.
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

    @classmethod
    def from_url(
        cls,
        url: str,
        storage_options: Mapping[str, Any] | None = None,
        read_only: bool = False,
        allowed_exceptions: tuple[type[BaseException], ...] = (),
    ) -> FSStore:
        """The store at a URL.

        Parameters
        ----------
        url : str
            Where the values are.
        storage_options : Mapping, optional
            What the file system of fsspec takes.
        read_only : bool, optional
            Whether nothing can be written.
        allowed_exceptions : tuple of exceptions, optional
            Errors that mean that a value is missing.

        Returns
        -------
        FSStore
        """
        mode = "r" if read_only else "w"
        exceptions = (*allowed_exceptions, KeyError, FileNotFoundError) if allowed_exceptions else _MISSING
        return FSStore(url, mode=mode, exceptions=exceptions, **dict(storage_options or {}))

    @classmethod
    def from_mapper(cls, fs_map: Any, read_only: bool = False) -> FsspecStore:
        """The store of a mapper.

        Parameters
        ----------
        fs_map : fsspec.FSMap
            The mapper.
        read_only : bool, optional
            Whether nothing can be written.

        Returns
        -------
        FsspecStore
        """
        return cls(fs_map.fs, read_only=read_only, path=fs_map.root)


class _Objects(MutableMapping[str, bytes]):
    """A store of the package ``obstore`` as a mapping."""

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


class ObjectStore(NativeStore):
    """A store in one of the package ``obstore`` (zarr-python 3's name).

    Parameters
    ----------
    store : obstore.store.ObjectStore
        What the package calls a store.
    read_only : bool, optional
        Whether nothing can be written.
    """

    _identity = ("store",)

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        self.store = store
        self._read_only = read_only

    def _open(self) -> _native.Store:
        self._mapping = _Objects(self.store)
        return _native.Store.mapping(self._mapping, self.store)


class StorePath(NativeStore):
    """The keys below a path of another store, as a store (zarr-python 3's name); as text, the location.

    Parameters
    ----------
    store : BaseStore
        The other store.
    path : str, optional
        A path in it.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> place = zarr.storage.StorePath(store) / "a" / "b"
    >>> place["c"] = b"1"
    >>> list(store)
    ['a/b/c']
    >>> zarr.open(zarr.zeros(3, store=store, path="d").store_path).shape
    (3,)
    """

    _identity = ("store", "path")

    def __init__(self, store: Any, path: PathArgument = "") -> None:
        below = isinstance(store, StorePath)
        self.store: Any = store.store if below else BaseStore._ensure_store(store)
        self.path = normalize_storage_path(f"{store.path}/{normalize_storage_path(path)}" if below else path)
        self._dimension_separator = self.store._dimension_separator
        self._format = self.store._format

    def __truediv__(self, other: str) -> StorePath:
        return StorePath(self.store, f"{self.path}/{other}")

    def __str__(self) -> str:
        scheme, found, location = self.store.native.location.rpartition("://")
        if isinstance(self.store, KVStore):
            scheme = "memory"
        url = f"{scheme if found else 'file'}://{location}"
        return f"{url.rstrip('/')}/{self.path}" if self.path else url

    def __repr__(self) -> str:
        return f"StorePath({type(self.store).__name__}, {str(self)!r})"

    def is_writeable(self) -> bool:
        """Returns true if values can be written."""
        return bool(self.store.is_writeable())

    def is_erasable(self) -> bool:
        """Returns true if values can be deleted."""
        return bool(self.store.is_erasable())

    def _open(self) -> _native.Store:
        native: _native.Store = self.store.native
        return native.prefixed(self.path) if self.path else native
