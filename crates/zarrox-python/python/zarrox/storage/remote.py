"""Stores at URLs, and in fsspec file systems."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument
from zarrox.errors import FSPathExistNotDir, ReadOnlyError

from .native import NativeStore, open_url
from .directory import DIRECTORY_OPTIONS, directory_options
from .files import Files
from .paths import DOCUMENTS, is_key, normalize_storage_path

__all__ = ["FSStore"]

MISSING = (KeyError, PermissionError, IOError)
"""The errors that zarr-python interprets as a missing value."""

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
"""The native names of the options of fsspec."""

_OWN = frozenset(
    "access_key_id secret_access_key session_token profile anonymous region endpoint virtual_hosted allow_http "
    "credentials_file token account access_key sas bearer_token connection_string user password prefix database "
    "collection cache_directory".split()
)
"""The option names of native stores."""

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
    """Converts fsspec options to options of a native store.

    Parameters
    ----------
    url : str
        A URL.
    options : Mapping
        The options of fsspec.

    Returns
    -------
    dict or None
        ``None`` if fsspec is needed: for another kind of URL, or an option that is not native.

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
    """Returns the native options for the ``token`` of gcsfs."""
    if token == "anon":
        return {"anonymous": True}
    if token in (None, "google_default", "cloud"):
        return {}
    return {"credentials_file": token} if os.path.exists(str(token)) else {"token": token}


def _blocking(fs: Any) -> Any:
    """Returns the blocking form of an fsspec file system, whose methods may be asynchronous."""
    if not getattr(fs, "asynchronous", False):
        return fs
    # A file system that only runs the calls of another one on threads is replaced by the other one.
    inner = getattr(fs, "sync_fs", None)
    return inner if inner is not None else type(fs)(*fs.storage_args, **{**fs.storage_options, "asynchronous": False})


class FSStore(NativeStore):
    """A store at a URL.

    Local directories, S3, Google Cloud Storage, Azure, HTTP, WebDAV, FTP, HDFS, Redis, MongoDB and databases in files are accessed
    natively. All other URLs, and options that only fsspec supports, need the package ``fsspec``.

    Parameters
    ----------
    url : str or fsspec.FSMap
        The location of the values: ``s3://bucket/path``, ``https://…``, ``simplecache::gs://…``, a path, or a mapper.
    normalize_keys : bool, optional
        Whether all keys are converted to lower case.
    key_separator : {'.', '/'}, optional
        An alias of `dimension_separator`, which has priority over it.
    mode : {'w', 'r'}, optional
        'r' forbids writing.
    exceptions : sequence of exceptions, optional
        Errors that mean that a value is missing. Errors that are not the usual ones require fsspec.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays and of this store.
    fs : fsspec file system, optional
        The file system; `url` is then a path in it.
    check, create : bool, optional
        Whether the path must be writable, and whether it is created, as by fsspec.
    missing_exceptions : sequence of exceptions, optional
        Further errors, in addition to `exceptions`.
    **storage_options
        Options of the fsspec file system, or of native stores.

    Raises
    ------
    FSPathExistNotDir
        If the path is a file.
    ImportError
        If ``fsspec`` is required but not installed.

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
    exceptions: tuple[type[BaseException], ...] = MISSING
    _mapper: Any = None
    _of_mapper: Mapping[str, bool] = MappingProxyType({})

    def __init__(
        self,
        url: Any,
        normalize_keys: bool = False,
        key_separator: str | None = None,
        mode: str = "w",
        exceptions: Iterable[type[BaseException]] = MISSING,
        dimension_separator: str | None = None,
        fs: Any = None,
        check: bool = False,
        create: bool = False,
        missing_exceptions: Iterable[type[BaseException]] | None = None,
        **storage_options: Any,
    ) -> None:
        exceptions = (*exceptions, *(missing_exceptions or ()))
        if hasattr(url, "fs") and hasattr(url, "root"):
            url, fs = url.root, url.fs
        elif fs is not None and storage_options:
            raise ValueError(f"{', '.join(storage_options)}: a file system that is given has its options already")
        of_mapper = {name: value for name, value in (("check", check), ("create", create)) if value}
        if fs is None:
            storage_options |= of_mapper
        else:
            self._of_mapper = of_mapper
        self.url = os.fspath(url)
        self._fs = fs
        self.storage_options = storage_options
        self.mode = mode
        self._read_only = mode == "r"
        if normalize_keys:
            self.normalize_keys = True
        if exceptions != MISSING:
            self.exceptions = exceptions
        separator = dimension_separator if key_separator is None else key_separator
        if separator is not None:
            self._dimension_separator = separator
        if self._is_local() and os.path.isfile(self.path):
            raise FSPathExistNotDir(f"'{self.path}' is a file: a store at a URL needs a directory")

    @property
    def key_separator(self) -> str:
        """The separator between chunk coordinates in version 2 keys."""
        return self._dimension_separator or "."

    @property
    def path(self) -> str:
        """The path of the store in its file system."""
        if self._is_local():
            return str(os.path.abspath(self.url.removeprefix("file://").removeprefix("local://")))
        if self._fs is not None or "::" in self.url:
            return str(self.fs._strip_protocol(self.url.rpartition("::")[2]))
        return str(self.url.partition("://")[2].rstrip("/"))

    @property
    def fs(self) -> Any:
        """The fsspec file system."""
        return self.map.fs

    @property
    def map(self) -> Any:
        """The fsspec mapper."""
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
            return fsspec.FSMap(self.url, _blocking(self._fs), **self._of_mapper)
        options = {**({"auto_mkdir": True} if self._is_local() else {}), **self.storage_options, "asynchronous": False}
        if "asynchronous" not in self.storage_options:
            del options["asynchronous"]
        return fsspec.get_mapper(self.url, **options)

    def _is_local(self) -> bool:
        return self._fs is None and "::" not in self.url and _scheme(self.url) in ("file", "local")

    def _options(self) -> dict[str, str] | None:
        """Returns the native options; ``None`` if fsspec is needed."""
        if self._fs is not None or self.exceptions != MISSING:
            return None
        options = native_options(self.url, self.storage_options)
        if options is None and not _has_fsspec():
            return self._without_fsspec()
        return options

    def _without_fsspec(self) -> dict[str, str] | None:
        simple = all(isinstance(value, str) for value in self.storage_options.values())
        return dict(self.storage_options) if simple and ("::" in self.url or _scheme(self.url) == "memory") else None

    def _connect(self) -> _native.Store:
        if self._is_local() and self.exceptions == MISSING:
            own = {name: value for name, value in self.storage_options.items() if name in DIRECTORY_OPTIONS}
            return _native.Store.directory(self.path, directory_options(**own))
        options = self._options()
        if options is not None:
            return open_url(self.url, options, create=self.mode != "r")
        missing = self.exceptions if self.exceptions != MISSING else (KeyError,)
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
        """Removes a directory at the path where a file is to be written, but not a file at the path of one of its parent directories."""
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
        self._raw  # noqa: B018 - tells which of the two it is
        if self._mapping is None:
            return super().getsize(path)
        place = self.dir_path(self._normalize_key(normalize_storage_path(path)))
        return int(self.fs.du(place, total=True, maxdepth=1)) if self.fs.exists(place) else 0

    def getitems(self, keys: Iterable[str], **kwargs: Any) -> dict[str, Any]:
        """Reads several values concurrently.

        Parameters
        ----------
        keys : iterable of str
            The keys.
        **kwargs
            Ignored.

        Returns
        -------
        dict
            The existing values.
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
        """Deletes several values, if they exist.

        Parameters
        ----------
        keys : iterable of str
            The keys.
        """
        self._check_writeable()
        for key in keys:
            self._raw.delete(self._normalize_key(key))

    def clear(self) -> None:
        self._check_writeable()
        super().clear()

    def rmdir(self, path: PathArgument = None) -> None:
        self._check_writeable()
        super().rmdir(path)

    def dir_path(self, path: PathArgument = None) -> str:
        """Returns the path of a key in the file system.

        Parameters
        ----------
        path : str, optional
            A key or path; the root if not given.

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
