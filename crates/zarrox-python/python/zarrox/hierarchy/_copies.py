"""Copies arrays, groups and stores, for all interfaces."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from zarrox import _native
from zarrox.core.base import ArrayBase
from zarrox.core.progress import progress_reporter
from zarrox.errors import CopyError, ReadOnlyError
from zarrox.hierarchy._base import GroupBase
from zarrox.hierarchy._copy import NodeCopier, check_copy_apart, check_if_exists, data_bytes, log_writer, summary, transfers
from zarrox.shown.tree import TreeViewer
from zarrox.storage import BaseStore, normalize_storage_path, normalize_store_arg

__all__ = ["copy", "copy_all", "copy_store", "rechunk", "tree"]


# The number of keys that `copy_store` logs at a time, before it copies them concurrently.
_KEYS_AT_A_TIME = 256

def tree(grp: Any, expand: bool = False, level: int | None = None) -> TreeViewer:
    """Returns a printable tree of a Zarr or h5py hierarchy.

    Parameters
    ----------
    grp : Group
        A group from Zarr or h5py.
    expand : bool, optional
        Whether the tree is expanded in notebooks.
    level : int, optional
        The number of levels that are shown; all if not given.

    Returns
    -------
    TreeViewer

    Examples
    --------
    >>> import zarrox.v2 as zarr
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
    """Copy an array or a group into a group. Either can be an object of Zarr or h5py.

    Chunks that keep their encoding are copied without being decoded.

    Parameters
    ----------
    source : group or array
        The source, from Zarr or h5py.
    dest : group
        The destination, from Zarr or h5py.
    name : str, optional
        The name of the copy; by default the name of the source.
    shallow : bool, optional
        Whether only arrays directly in the source are copied, and no groups.
    without_attrs : bool, optional
        Whether attributes are omitted.
    log : callable, file or path, optional
        The function, file or path that gets a line for each action.
    if_exists : {'raise', 'replace', 'skip', 'skip_initialized'}, optional
        The treatment of existing arrays; 'skip_initialized' skips arrays whose chunks are all stored (not in HDF5).
    dry_run : bool, optional
        Whether the actions are only listed.
    progress : callable or progress bar, optional
        Called with the number of completed bytes of elements; see :func:`zarrox.v2.util.progress_reporter`.
    **create_kws
        Arguments of ``create_dataset`` for new arrays, which otherwise resemble those in the source.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int
        The numbers of arrays and groups that were copied and skipped, and the number of bytes of their elements.

    Raises
    ------
    CopyError
        If an array already exists, and ``if_exists`` is 'raise'.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> import zarrox.v2 as zarr
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
    name = name or (source.name or "").rpartition("/")[2]
    if not name:
        raise TypeError("the source is a root, which has no name: pass the name of the copy as `name`")
    total = 0 if progress is None or dry_run else data_bytes(source)
    check_copy_apart(source, dest, name, replaces=if_exists == "replace")
    with log_writer(log) as write, progress_reporter(progress, total) as report:
        copier = NodeCopier(write, shallow, without_attrs, if_exists, dry_run, create_kws, report)
        copier.copy(source, dest, name, is_root=True)
        write(summary(copier.copied, dry_run))
        return copier.copied


def rechunk(source: ArrayBase, target: ArrayBase, *, memory: int | None = None, scratch: str | os.PathLike[str] | None = None) -> None:
    """Write all elements of an array to another one with different chunks, in bounded memory.

    Parameters
    ----------
    source, target : Array
        Two arrays of the same shape and data type.
    memory : int, optional
        The number of bytes that may be used at once; 1 GiB by default.
    scratch : path, optional
        An unused path or URL. If chunks of the source would be read more than twice on average, as when rows become columns, a
        temporary array of the size of all uncompressed elements is created there.

    Raises
    ------
    ValueError
        If the shapes differ.
    DataTypeMismatchError
        If the data types differ.
    ContainsNodeError
        If a node exists at ``scratch``.

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
            raise TypeError(f"{array!r} is a view with converted elements; copy it with `target[...] = source[...]`")
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
    """Copy the members and the attributes of a group into another group. Either can be an object of Zarr or h5py.

    Parameters
    ----------
    source, dest : group
        Groups from Zarr or h5py.
    shallow, without_attrs, log, if_exists, dry_run, progress, **create_kws
        See :func:`copy`.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int
        The numbers of arrays and groups that were copied and skipped, and the number of bytes of their elements.

    Raises
    ------
    CopyError
        If an array already exists, and ``if_exists`` is 'raise'.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> import zarrox.v2 as zarr
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
    if not isinstance(dest, GroupBase) and not hasattr(dest, "create_dataset"):
        raise ValueError(f"dest must be a group, found {dest!r}")
    check_if_exists(if_exists, ("raise", "replace", "skip", "skip_initialized"))
    if if_exists == "skip_initialized" and not isinstance(dest, GroupBase):
        raise ValueError("if_exists='skip_initialized' needs a group of Zarr; HDF5 does not report which chunks are stored")


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
    """Copy the contents of a store, key by key, without decoding anything.

    Parameters
    ----------
    source, dest : BaseStore, MutableMapping, str or PathLike
        The source and the destination.
    source_path, dest_path : str, optional
        Only keys below ``source_path`` are copied, to keys below ``dest_path``.
    excludes : str or list of str, optional
        Regular expressions; keys that match one of them are skipped.
    includes : str or list of str, optional
        Regular expressions; keys that match one of them are copied even if they match ``excludes``.
    flags : int, optional
        Flags for the regular expressions.
    if_exists : {'raise', 'replace', 'skip'}, optional
        The treatment of existing keys.
    dry_run : bool, optional
        Whether the actions are only listed.
    log : callable, file or path, optional
        The function, file or path that gets a line for each action.
    progress : callable or progress bar, optional
        Called with the number of completed keys; see :func:`zarrox.v2.util.progress_reporter`.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int
        The numbers of keys that were copied and skipped, and the number of bytes of the copied values.

    Raises
    ------
    CopyError
        If a key already exists, and ``if_exists`` is 'raise'.

    Examples
    --------
    >>> import sys
    >>> import zarrox.v2 as zarr
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
    """Returns the keys to copy, sorted, each with its new key."""
    prefix, new_prefix = (f"{path}/" if path else "" for path in map(normalize_storage_path, (source_path, dest_path)))
    keys = (key for key in sorted(store.keys()) if key.startswith(prefix) and is_wanted(key))
    return [(key, new_prefix + key[len(prefix) :]) for key in keys]
