"""Functions that open, save, load and copy hierarchies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeGuard

import numpy as np

from zarrox import _native, creation
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.core import Array
from zarrox.core.progress import progress_reporter
from zarrox.core.settings import Settings
from zarrox.core.sources import check_apart, check_file_apart
from zarrox.errors import ContainsGroupError, CopyError, NodeNotFoundError, PathNotFoundError, ReadOnlyError
from zarrox.hierarchy import Group, open_group
from zarrox.hierarchy import group as create_or_open_group
from zarrox.hierarchy._copy import NodeCopier, check_copy_apart, check_if_exists, data_bytes, log_writer, summary, transfers
from zarrox.hierarchy._nodes import format_name
from zarrox.hierarchy._open import check_mode
from zarrox.shown.tree import TreeViewer
from zarrox.storage import (
    BaseStore,
    MemoryStore,
    native_store,
    normalize_storage_path,
    normalize_store_arg,
)
from zarrox.storage.documents import json_dumps, json_loads
from zarrox.storage.functions import consolidated_store

__all__ = [
    "CopyError",
    "LazyLoader",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "load",
    "open",
    "open_consolidated",
    "rechunk",
    "save",
    "save_array",
    "save_group",
    "tree",
]

# How many keys `copy_store` logs before it copies them, several at the same time.
_KEYS_AT_A_TIME = 256

# Arguments of `open` that arrays keep, whether they were there or not.
_ARRAY_SETTINGS = ("chunk_store", "synchronizer", "cache_metadata", "cache_attrs", "write_empty_chunks", "meta_array")

# Arguments of `save` that are not arrays, unless an array is what they are given.
_SAVE_OPTIONS = ("path", "zarr_version", "zarr_format", "storage_options", "progress")


def open(store: StoreArgument = None, mode: str | None = "a", **kwargs: Any) -> Any:
    """Open an array or a group.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike, optional
        The place of the node; a new store in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r' reads only and 'r+' writes, too, what is there; 'a' creates what is not there; 'w' deletes what is there and creates
        anew; 'w-' (or 'x') creates and fails if something is there. An array is created if ``shape`` is given, otherwise a
        group. ``None`` is 'r' for stores that can only be read, and 'a' for others.
    **kwargs
        As for :func:`zarrox.open_array` or :func:`zarrox.open_group`: path, synchronizer, zarr_format, storage_options, sync …

    Returns
    -------
    zarrox.core.Array or zarrox.hierarchy.Group

    Raises
    ------
    PathNotFoundError
        If the node must exist, and does not.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.open('data/example.zarr', mode='w', shape=100, dtype='i4')
    <zarrox.core.Array (100,) int32>
    >>> zarr.open('data/example.zarr', mode='r')
    <zarrox.core.Array (100,) int32 read-only>
    >>> zarr.open('data/example.zarr', mode='w')
    <zarrox.hierarchy.Group '/'>
    """
    if mode is None:
        mode = "a" if not isinstance(store, BaseStore) or store.is_writeable() else "r"
    check_mode(mode)
    creates_array = "shape" in kwargs or kwargs.get("data") is not None
    if mode in ("w", "w-", "x"):
        return (creation.open_array if creates_array else open_group)(store, mode, **kwargs)

    options = {"storage_options": kwargs.pop("storage_options", None), "sync": kwargs.pop("sync", None)}
    store = normalize_store_arg(store, mode=mode, **options)
    if kwargs.get("chunk_store") is not None:
        kwargs["chunk_store"] = normalize_store_arg(kwargs["chunk_store"], mode=mode, **options)
    native = _find(store, mode, **kwargs)
    if native is None:
        return (creation.open_array if creates_array else open_group)(store, mode, **kwargs)
    if isinstance(native, _native.Group):
        if creates_array and mode == "a":
            raise ContainsGroupError(f"{'/' + native.path!r} is a group; open it without a shape")
        names = ("chunk_store", "synchronizer", "cache_attrs")
        consolidated = kwargs.get("use_consolidated") is True
        return Group._of(
            native, store, Settings(read_only=mode == "r", consolidated=bool(consolidated), **_only(kwargs, names))
        )
    return Array._of(native, store, Settings(read_only=mode == "r", **_only(kwargs, _ARRAY_SETTINGS)))


def _find(
    store: BaseStore,
    mode: str,
    *,
    path: PathArgument = None,
    chunk_store: BaseStore | None = None,
    synchronizer: Any = None,
    zarr_format: Any = None,
    zarr_version: Any = None,
    use_consolidated: bool | None = None,
    **_: Any,
) -> _native.Array | _native.Group | None:
    """Opens an existing node; ``None`` if there is none and it may be created. Arguments for new arrays are ignored."""
    native_mode: Literal["r", "r+"] = "r" if mode == "r" else "r+"
    if use_consolidated is None and mode != "r":
        use_consolidated = False
    try:
        return _native.open_node(
            native_store(store, chunk_store, synchronizer),
            normalize_storage_path(path),
            native_mode,
            format_name(zarr_format, zarr_version),
            use_consolidated,
        )
    except NodeNotFoundError as error:
        if mode == "a":
            return None
        raise PathNotFoundError(str(error)) from None


def _only(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def _is_path(store: StoreArgument) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(store, str | os.PathLike)


def _writable_store(store: StoreArgument, options: Mapping[str, Any], arrays: Iterable[Any]) -> BaseStore:
    if _is_path(store):
        # An archive that is opened for writing is empty.
        for array in arrays:
            check_file_apart(array, os.fspath(store))
    return normalize_store_arg(store, storage_options=options.get("storage_options"), mode="w")


def save_array(store: StoreArgument, arr: Any, *, progress: Any = None, **kwargs: Any) -> None:
    """Save an array, as :func:`numpy.save` does. Existing data are replaced.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The destination: a directory, a file that ends with ``.zip``, a URL, a store.
    arr : array_like
        What to save.
    progress : callable or progress bar, optional
        Called with the number of completed bytes; see :func:`zarrox.util.progress_reporter`.
    **kwargs
        As for :func:`zarrox.create`: path, chunks, compressor, zarr_format …

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.save_array('data/example.zip', np.arange(10000))
    >>> zarr.load('data/example.zip')
    array([   0,    1,    2, ..., 9997, 9998, 9999], shape=(10000,))
    """
    arr = _as_array(arr)
    target = _writable_store(store, kwargs, [arr])
    kwargs.pop("storage_options", None)
    try:
        with progress_reporter(progress, arr.nbytes) as report:
            creation.array(arr, store=target, overwrite=True, **kwargs)
            report(arr.nbytes)
    finally:
        if _is_path(store):
            target.close()  # Files such as ZIP archives are complete only then.


def _as_array(values: Any) -> Any:
    return values if hasattr(values, "shape") and hasattr(values, "nbytes") else np.asarray(values)


def save_group(store: StoreArgument, *args: Any, **kwargs: Any) -> None:
    """Save several arrays in a group, as :func:`numpy.savez` does. Existing data are replaced.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The destination: a directory, a file that ends with ``.zip``, a URL, a store.
    *args : array_like
        Arrays, which get the names ``arr_0``, ``arr_1`` …
    **kwargs : array_like
        Arrays by their names. ``path``, ``zarr_format``, ``storage_options`` and ``progress`` are options, unless they are
        arrays.

    Raises
    ------
    TypeError
        If an argument is no array.
    ValueError
        If there is no array, or one cannot be stored. What is there is left as it is then.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.save_group('data/example.zarr', np.arange(3), squares=np.arange(3) ** 2)
    >>> loaded = zarr.load('data/example.zarr')
    >>> loaded
    <LazyLoader: arr_0, squares>
    >>> loaded['squares']
    array([0, 1, 4])
    """
    options = _take_options(kwargs)
    named = {f"arr_{position}": arr for position, arr in enumerate(args)} | kwargs
    arrays = {name: _as_array(arr) for name, arr in named.items()}
    if not arrays:
        raise ValueError("there is nothing to save: give at least one array")
    for name, arr in named.items():
        if isinstance(arr, str | bool | None):
            raise TypeError(f"{name}={arr!r} is no array: all arguments are arrays, but for {', '.join(_SAVE_OPTIONS)}")
    _rehearse(arrays, options)
    target = _writable_store(store, options, arrays.values())
    for arr in arrays.values():
        check_apart(arr, target, options.get("path"), overwrite=True)
    try:
        formats: dict[str, Any] = _only(options, ("path", "zarr_version", "zarr_format"))
        group = create_or_open_group(target, overwrite=True, **formats)
        with progress_reporter(options.get("progress"), sum(arr.nbytes for arr in arrays.values())) as report:
            for name, arr in arrays.items():
                group.create_dataset(name, data=arr, overwrite=True)
                report(arr.nbytes)
    finally:
        if _is_path(store):
            target.close()


def _rehearse(arrays: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Makes the arrays in memory, to see whether they can be made: numbers without their values, since any fits."""
    group = open_group(MemoryStore(), "w", **_only(options, ("zarr_version", "zarr_format")))
    for name, arr in arrays.items():
        is_objects = getattr(arr.dtype, "kind", "O") == "O"
        group.create_dataset(name, data=arr if is_objects else arr[:0] if len(arr.shape) else arr)


def _take_options(kwargs: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in _SAVE_OPTIONS if name in kwargs and not isinstance(kwargs[name], np.ndarray | list)]
    return {name: kwargs.pop(name) for name in names}


def save(store: StoreArgument, *args: Any, **kwargs: Any) -> None:
    """Save an array, or several arrays in a group. Existing data are replaced.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The destination: a directory, a file that ends with ``.zip``, a URL, a store.
    *args, **kwargs
        One array for :func:`save_array`, or several for :func:`save_group`, and their options.

    Raises
    ------
    ValueError
        If there is no array.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.save('data/example.zarr', np.arange(3))
    >>> zarr.load('data/example.zarr')
    array([0, 1, 2])
    """
    options = _take_options(kwargs)
    if len(args) == 1 and not kwargs:
        return save_array(store, args[0], **options)
    return save_group(store, *args, **kwargs, **options)


class LazyLoader(Mapping[str, Any]):
    """The arrays of a group, each of which is read on first access; groups inside are mappings as well.

    Parameters
    ----------
    grp : Group
        The group.
    """

    def __init__(self, grp: Group) -> None:
        self.grp = grp
        self.cache: dict[str, Any] = {}

    def __getitem__(self, item: str) -> Any:
        if item not in self.cache:
            node = self.grp[item]
            self.cache[item] = LazyLoader(node) if isinstance(node, Group) else node[...]
        return self.cache[item]

    def __len__(self) -> int:
        return len(self.grp)

    def __iter__(self) -> Iterator[str]:
        return iter(self.grp)

    def __contains__(self, item: object) -> bool:
        return item in self.grp

    def __repr__(self) -> str:
        return f"<LazyLoader: {', '.join(sorted(self.grp.array_keys()))}>"


def load(
    store: StoreArgument, path: str | None = None, *, zarr_version: int | None = None, zarr_format: int | None = None
) -> Any:
    """Load data that was saved.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The place of the data.
    path : str, optional
        The path in the store.
    zarr_version, zarr_format : {2, 3}, optional
        The format; detected if not given.

    Returns
    -------
    numpy.ndarray or LazyLoader
        The elements of an array; for a group a mapping from names to elements, which are read on access.

    Raises
    ------
    PathNotFoundError
        If there is no node.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.save('data/example.zarr', np.arange(3), np.arange(4))
    >>> zarr.load('data/example.zarr')['arr_1']
    array([0, 1, 2, 3])
    """
    opened = normalize_store_arg(store, mode="r")
    node = open(opened, mode="r", path=path, zarr_version=zarr_version, zarr_format=zarr_format)
    if isinstance(node, Group):
        return LazyLoader(node)
    try:
        return node[...]
    finally:
        if _is_path(store):
            opened.close()


def tree(grp: Any, expand: bool = False, level: int | None = None) -> TreeViewer:
    """A printable tree of a hierarchy of Zarr or h5py.

    Parameters
    ----------
    grp : Group
        A group of Zarr or h5py.
    expand : bool, optional
        Whether the tree is expanded in notebooks.
    level : int, optional
        The number of levels that are shown; all if not given.

    Returns
    -------
    TreeViewer

    Examples
    --------
    >>> import zarrox as zarr
    >>> root = zarr.group()
    >>> array = root.zeros('foo/bar', shape=100, chunks=10)
    >>> zarr.tree(root)
    /
     └── foo
         └── bar (100,) float64
    """
    return TreeViewer(grp, expand=expand, level=level)


def copy(
    source: Any,
    dest: Any,
    name: str | None = None,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: str = "raise",
    dry_run: bool = False,
    *,
    progress: Any = None,
    **create_kws: Any,
) -> tuple[int, int, int]:
    """Copy an array or a group into a group; both may be of Zarr or h5py.

    Chunks of arrays that will be stored in the same form are copied without being decoded.

    Parameters
    ----------
    source : group or array
        The source, of Zarr or h5py.
    dest : group
        The destination, of Zarr or h5py.
    name : str, optional
        The name of the copy; by default that of the source.
    shallow : bool, optional
        Whether only arrays directly in the source are copied, and no groups.
    without_attrs : bool, optional
        Whether attributes are left out.
    log : callable, file or path, optional
        The destination of a line for each action.
    if_exists : {'raise', 'replace', 'skip', 'skip_initialized'}, optional
        The treatment of existing arrays; 'skip_initialized' skips those whose chunks are all stored (not in HDF5).
    dry_run : bool, optional
        Whether the actions are only listed.
    progress : callable or progress bar, optional
        Called with the number of completed bytes of elements; see :func:`zarrox.util.progress_reporter`.
    **create_kws
        Arguments of ``create_dataset`` for new arrays, which otherwise resemble those in the source.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int
        The numbers of arrays and groups that were copied and skipped, and of bytes of their elements.

    Raises
    ------
    CopyError
        If an array already exists, and ``if_exists`` is 'raise'.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> source, dest = zarr.group(), zarr.group()
    >>> array = source.array('foo/bar/baz', np.arange(100), chunks=50)
    >>> zarr.copy(source['foo'], dest, log=sys.stdout)
    copy /foo
    copy /foo/bar
    copy /foo/bar/baz (100,) int64
    all done: 3 copied, 0 skipped, 800 bytes copied
    (3, 0, 800)
    >>> zarr.copy(source['foo'], dest, log=sys.stdout, if_exists='skip', dry_run=True)
    copy /foo
    copy /foo/bar
    skip /foo/bar/baz (100,) int64
    dry run: 2 copied, 1 skipped
    (2, 1, 0)
    """
    _check_copy(dest, if_exists)
    name = name or source.name.rpartition("/")[2]
    if not name:
        raise TypeError("the source is a root, which has no name: say with `name` what the copy is called")
    total = 0 if progress is None or dry_run else data_bytes(source)
    check_copy_apart(source, dest, name, replaces=if_exists == "replace")
    with log_writer(log) as write, progress_reporter(progress, total) as report:
        copier = NodeCopier(write, shallow, without_attrs, if_exists, dry_run, create_kws, report)
        copier.copy(source, dest, name, is_root=True)
        write(summary(copier.copied, dry_run))
        return copier.copied


def rechunk(source: Array, target: Array, *, memory: int | None = None, scratch: str | os.PathLike[str] | None = None) -> None:
    """Write all elements of an array to another with different chunks, in bounded memory.

    Parameters
    ----------
    source, target : Array
        Two arrays of the same shape and data type.
    memory : int, optional
        The number of bytes that may be used at a time; 1 GiB if not given.
    scratch : path, optional
        A path or URL at which nothing is. If chunks of the source would be read more than twice on average, as when rows become
        columns, an array is created there that takes as much room as all elements uncompressed, and deleted in the end.

    Raises
    ------
    ValueError
        If the shapes differ.
    DataTypeMismatchError
        If the data types differ.
    ContainsNodeError
        If there is something at ``scratch``.

    Examples
    --------
    >>> import tempfile
    >>> import zarrox as zarr
    >>> rows = zarr.ones((100, 100), chunks=(1, 100))
    >>> columns = zarr.zeros((100, 100), chunks=(100, 1))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     zarr.rechunk(rows, columns, memory=2**26, scratch=f"{directory}/between.zarr")
    >>> columns[:].sum()
    np.float64(10000.0)
    """
    if target.read_only:
        raise ReadOnlyError
    for array in (source, target):
        if not isinstance(array._native, _native.Array):
            raise TypeError(f"{array!r} shows other elements than it stores; copy it with `target[...] = source[...]`")
    source._native.rechunk(target._native, memory, None if scratch is None else os.fspath(scratch))


def copy_all(
    source: Any,
    dest: Any,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: str = "raise",
    dry_run: bool = False,
    *,
    progress: Any = None,
    **create_kws: Any,
) -> tuple[int, int, int]:
    """Copy the content and the attributes of a group into another group; both may be of Zarr or h5py.

    Parameters
    ----------
    source, dest : group
        Groups of Zarr or h5py.
    shallow, without_attrs, log, if_exists, dry_run, progress, **create_kws
        As for :func:`copy`.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int
        The numbers of arrays and groups that were copied and skipped, and of bytes of their elements.

    Raises
    ------
    CopyError
        If an array already exists, and ``if_exists`` is 'raise'.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> source, dest = zarr.group(), zarr.group()
    >>> array = source.array('foo/bar', np.arange(100), chunks=50)
    >>> zarr.copy_all(source, dest, log=sys.stdout)
    copy /foo
    copy /foo/bar (100,) int64
    all done: 2 copied, 0 skipped, 800 bytes copied
    (2, 0, 800)
    """
    _check_copy(dest, if_exists)
    total = 0 if progress is None or dry_run else data_bytes(source)
    check_copy_apart(source, dest, "", replaces=if_exists == "replace")
    with log_writer(log) as write, progress_reporter(progress, total) as report:
        copier = NodeCopier(write, shallow, without_attrs, if_exists, dry_run, create_kws, report)
        copier.copy_children(source, dest)
        copier.copy_attributes(source, dest)
        write(summary(copier.copied, dry_run))
        return copier.copied


def _check_copy(dest: Any, if_exists: str) -> None:
    if not hasattr(dest, "create_dataset"):
        raise ValueError(f"dest must be a group, found {dest!r}")
    check_if_exists(if_exists, ("raise", "replace", "skip", "skip_initialized"))
    if if_exists == "skip_initialized" and not isinstance(dest, Group):
        raise ValueError("if_exists='skip_initialized' needs a group of Zarr; HDF5 does not tell which chunks are stored")


def copy_store(
    source: Any,
    dest: Any,
    source_path: str = "",
    dest_path: str = "",
    excludes: str | Iterable[str] | None = None,
    includes: str | Iterable[str] | None = None,
    flags: int = 0,
    if_exists: str = "raise",
    dry_run: bool = False,
    log: Any = None,
    *,
    progress: Any = None,
) -> tuple[int, int, int]:
    """Copy the content of a store, key by key, without decoding anything.

    Parameters
    ----------
    source, dest : BaseStore, MutableMapping, str or PathLike
        The source and the destination.
    source_path, dest_path : str, optional
        Only keys below ``source_path`` are copied, to keys below ``dest_path``.
    excludes : str or list of str, optional
        Regular expressions; keys that match one of them are left out.
    includes : str or list of str, optional
        Regular expressions; keys that match one of them are copied although they are excluded.
    flags : int, optional
        Flags for the regular expressions.
    if_exists : {'raise', 'replace', 'skip'}, optional
        The treatment of existing keys.
    dry_run : bool, optional
        Whether the actions are only listed.
    log : callable, file or path, optional
        The destination of a line for each action.
    progress : callable or progress bar, optional
        Called with the number of completed keys; see :func:`zarrox.util.progress_reporter`.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int
        The numbers of keys that were copied and skipped, and of bytes of their values.

    Raises
    ------
    CopyError
        If a key already exists, and ``if_exists`` is 'raise'.

    Examples
    --------
    >>> import sys
    >>> import zarrox as zarr
    >>> store = zarr.MemoryStore()
    >>> array = zarr.group(store).zeros('foo', shape=100, chunks=50, compressor=None)
    >>> zarr.copy_store(store, {}, source_path='foo', dest_path='bar', log=sys.stdout, dry_run=True)
    copy foo/.zarray -> bar/.zarray
    dry run: 1 copied, 0 skipped
    (1, 0, 0)
    """
    check_if_exists(if_exists, ("raise", "replace", "skip"))
    from_store, to_store = normalize_store_arg(source, mode="r"), normalize_store_arg(dest, mode="a")
    keys = _pairs_of_keys(from_store, source_path, dest_path, _is_wanted(excludes, includes, flags))
    with (
        log_writer(log) as write,
        progress_reporter(progress, len(keys), "keys") as report,
        transfers(from_store, to_store) as run,
    ):
        exists = [False] * len(keys) if if_exists == "replace" else list(run(lambda pair: pair[1] in to_store, keys))
        if if_exists == "raise" and any(exists):
            raise CopyError(f"key {keys[exists.index(True)][1]!r} exists in destination")

        def transfer(pair: tuple[str, str]) -> int:
            value = from_store[pair[0]]
            to_store[pair[1]] = value
            return memoryview(value).nbytes

        n_copied = n_bytes_copied = 0
        for start in range(0, len(keys), _KEYS_AT_A_TIME):
            part = range(start, min(start + _KEYS_AT_A_TIME, len(keys)))
            for position in part:
                key, target = keys[position]
                verb = "skip" if exists[position] else "copy"
                write(f"{verb} {key}" if key == target else f"{verb} {key} -> {target}")
            copied = [keys[position] for position in part if not exists[position]]
            n_copied += len(copied)
            if not dry_run:
                n_bytes_copied += sum(run(transfer, copied))
            report(len(part))
        counts = n_copied, len(keys) - n_copied, n_bytes_copied
        write(summary(counts, dry_run))
    return counts


def _is_wanted(excludes: str | Iterable[str] | None, includes: str | Iterable[str] | None, flags: int) -> Any:
    left_out, taken = (
        [re.compile(pattern, flags) for pattern in ([patterns] if isinstance(patterns, str) else patterns or ())]
        for patterns in (excludes, includes)
    )

    def is_wanted(key: str) -> bool:
        return not any(pattern.search(key) for pattern in left_out) or any(pattern.search(key) for pattern in taken)

    return is_wanted


def _pairs_of_keys(store: BaseStore, source_path: str, dest_path: str, is_wanted: Any) -> list[tuple[str, str]]:
    """The keys to copy, sorted, each with its new key."""
    prefix, new_prefix = (f"{path}/" if path else "" for path in map(normalize_storage_path, (source_path, dest_path)))
    keys = (key for key in sorted(store.keys()) if key.startswith(prefix) and is_wanted(key))
    return [(key, new_prefix + key[len(prefix) :]) for key in keys]


def consolidate_metadata(
    store: StoreArgument, metadata_key: str = ".zmetadata", path: str | None = None, *, zarr_format: int | None = None
) -> Group:
    """Write consolidated metadata: one document with copies of all documents of a hierarchy, so that one read opens it.

    Changes by Zarrox keep it up to date, unless it has a key of its own; after those of other programs it has to be
    consolidated again.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The place of the hierarchy.
    metadata_key : str, optional
        The key of the document (format 2; format 3 has a fixed place).
    path : str, optional
        The group at the top of the hierarchy; the root if not given.
    zarr_format : {2, 3}, optional
        The format; detected if not given.

    Returns
    -------
    Group
        The group, opened by the consolidated metadata.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.MemoryStore()
    >>> group = zarr.group(store).create_group('foo')
    >>> list(zarr.consolidate_metadata(store))
    ['foo']
    >>> '.zmetadata' in store
    True
    """
    store = normalize_store_arg(store, mode="r+")
    group = open_group(store, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    if metadata_key == ".zmetadata" or group.zarr_format == 3:
        _native.consolidate(native_store(store), group.path)
    else:
        store[metadata_key] = json_dumps({"zarr_consolidated_format": 1, "metadata": _documents(store)})
    consolidated: Group = open_consolidated(store, metadata_key, path=path, zarr_format=zarr_format)
    return consolidated


def _documents(store: BaseStore) -> dict[str, Any]:
    names = (".zarray", ".zgroup", ".zattrs")
    return {key: json_loads(store[key]) for key in sorted(store.keys()) if key.endswith(names)}


def open_consolidated(
    store: StoreArgument, metadata_key: str = ".zmetadata", mode: str = "r+", *, path: str | None = None, **kwargs: Any
) -> Any:
    """Open a hierarchy by consolidated metadata.

    Elements of arrays can be written, but metadata cannot be changed.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The place of the hierarchy.
    metadata_key : str, optional
        The key of the consolidated metadata (format 2).
    mode : {'r+', 'r'}, optional
        Whether elements may be written.
    path : str, optional
        The group to open.
    **kwargs
        As for :func:`open`: chunk_store, synchronizer, cache_attrs, storage_options …

    Returns
    -------
    Group

    Raises
    ------
    KeyError
        If there is no consolidated metadata.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.MemoryStore()
    >>> group = zarr.group(store).create_group('foo')
    >>> root = zarr.consolidate_metadata(store)
    >>> zarr.open_consolidated(store, mode='r')
    <zarrox.hierarchy.Group '/' read-only>
    """
    kwargs.pop("use_consolidated", None)
    store, elements = consolidated_store(store, metadata_key, mode, kwargs.pop("storage_options", None))
    if elements is None:
        return open_group(store, mode, path=path, use_consolidated=True, **kwargs)
    chunk_store = kwargs.pop("chunk_store", None) or elements
    return open(store, mode, path=path, chunk_store=chunk_store, **kwargs)
