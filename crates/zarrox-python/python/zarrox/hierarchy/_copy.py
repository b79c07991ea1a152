"""Copies nodes between Zarr and h5py groups, and keys between stores."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TextIO, TypeAlias

from zarrox import _native
from zarrox.core.base import ArrayBase
from zarrox.core.arguments import element_type, kept
from zarrox.core.copying import copy_values
from zarrox.core.sources import check_nodes_apart
from zarrox.errors import CopyError, ZarrUserWarning
from zarrox.hierarchy import _h5 as h5
from zarrox.hierarchy._base import GroupBase
from zarrox.hierarchy._nodes import array_spec, to_json
from zarrox.shown.tree import is_array
from zarrox.storage import native_store
from zarrox.storage.base import KVStore

Log: TypeAlias = Callable[[str], object]

# The maximum number of concurrent transfers of a store, and the number of transfers that a thread takes at once.
_THREADS = 16
_BATCH = 16

_DOCUMENTS = frozenset({".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json"})


@contextmanager
def transfers(*stores: Any) -> Iterator[Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]]:
    """Returns a function like ``map``, which runs concurrently if the stores support it."""
    if any(isinstance(store, KVStore) or getattr(store, "_custom", False) for store in stores):
        yield map  # A user-defined mapping may not be thread-safe.
        return
    from concurrent.futures import ThreadPoolExecutor  # This module is slow to import.

    with ThreadPoolExecutor(_THREADS) as pool:

        def run(function: Callable[[Any], Any], values: Sequence[Any]) -> Iterator[Any]:
            size = max(1, min(_BATCH, len(values) // _THREADS))
            batches = [values[start : start + size] for start in range(0, len(values), size)]
            for results in pool.map(lambda batch: [function(value) for value in batch], batches):
                yield from results

        yield run


@contextmanager
def log_writer(log: Any) -> Iterator[Log]:
    """Returns a function that writes log lines to a function, a file, or a file that is given by its path.

    Raises
    ------
    TypeError
        If ``log`` has another type.
    """
    if log is None:
        yield lambda _: None
    elif callable(log):
        yield log
    elif isinstance(log, str | PathLike):
        with open(log, "w") as file:
            yield _line_writer(file)
    elif hasattr(log, "write"):
        yield _line_writer(log)
    else:
        raise TypeError(f"log must be a function, a file or the path of a file, found {log!r}")


def _line_writer(file: TextIO) -> Log:
    def write(line: str) -> None:
        print(line, file=file)
        if hasattr(file, "flush"):
            file.flush()  # A reader that follows the file sees the line immediately.

    return write


def check_if_exists(if_exists: str, choices: Sequence[str]) -> None:
    """Rejects an invalid ``if_exists``."""
    if if_exists not in choices:
        raise ValueError(f"if_exists must be one of {', '.join(map(repr, choices))}; found {if_exists!r}")


def check_copy_apart(source: Any, dest: Any, name: str, replaces: bool) -> None:
    """Checks that a copy neither replaces its source nor lies inside it.

    Raises
    ------
    ValueError
        If one node contains the other.
    """
    if isinstance(source, ArrayBase | GroupBase) and isinstance(dest, GroupBase):
        check_nodes_apart(source, dest._store, "/".join(part for part in (dest.path, name) if part), replaces)


def summary(copied: tuple[int, int, int], dry_run: bool) -> str:
    """Returns the last line of a log."""
    n_copied, n_skipped, n_bytes_copied = copied
    counts = f"{n_copied:,} copied, {n_skipped:,} skipped"
    return f"dry run: {counts}" if dry_run else f"all done: {counts}, {n_bytes_copied:,} bytes copied"


def data_bytes(node: Any) -> int:
    """Returns the size in bytes of all elements of an array, or of all arrays in a group."""
    if is_array(node):
        return 0 if node.shape is None else math.prod(node.shape) * int(node.dtype.itemsize)
    return sum(data_bytes(child) for child in node.values() if child is not None)


@dataclass
class NodeCopier:
    """A copier of arrays and groups, which follows the options and counts what it copies."""

    log: Log
    shallow: bool
    without_attrs: bool
    if_exists: str
    dry_run: bool
    options: dict[str, Any]
    report: Callable[[int], object]
    n_copied: int = field(default=0, init=False)
    n_skipped: int = field(default=0, init=False)
    n_bytes_copied: int = field(default=0, init=False)

    @property
    def copied(self) -> tuple[int, int, int]:
        """The number of nodes that have been copied, the number that have been skipped, and the number of copied bytes of elements."""
        return self.n_copied, self.n_skipped, self.n_bytes_copied

    def copy(self, source: Any, dest: Any, name: str, is_root: bool) -> None:
        """Copies a node into a group. In a dry run, the group may be missing (``None``)."""
        if h5.is_h5py(source) and not h5.copies(source):
            message = f"{source.name!r} is skipped: Zarr has no equivalent of {source!r}"
            warnings.warn(message, ZarrUserWarning, stacklevel=4)
            self._skip(source)
        elif is_array(source):
            self._copy_array(source, dest, name)
        elif is_root or not self.shallow:
            self._copy_group(source, dest, name)

    def copy_children(self, source: Any, dest: Any) -> None:
        """Copies the members of a group."""
        for name in source.keys():
            child = source.get(name) if h5.is_h5py(source) else source[name]
            if child is None:
                message = f"{name!r} in {source.name!r} is skipped: it is a dangling link"
                warnings.warn(message, ZarrUserWarning, stacklevel=4)
                self.n_skipped += 1
            else:
                self.copy(child, dest, name, is_root=False)

    def copy_attributes(self, source: Any, target: Any) -> None:
        """Copies the attributes, unless they are excluded."""
        if self.without_attrs or self.dry_run:
            return
        values = h5.attributes_from_h5(source.attrs) if h5.is_h5py(source) else dict(source.attrs)
        if not values:
            return
        if h5.is_h5py(target):
            h5.attributes_to_h5(values, target.attrs)
        else:
            target.attrs.update(values)

    def _copy_array(self, source: Any, dest: Any, name: str) -> None:
        exists = dest is not None and name in dest
        if exists and not self._may_replace(dest, name, f"an object {name!r}"):
            return self._skip(source)
        self.log(f"copy {_describe(source)}")
        self.n_copied += 1
        if self.dry_run:
            return
        if exists:
            del dest[name]
        target = _create(source, dest, name, self.options)
        _copy_elements(source, target, self.report)
        self.n_bytes_copied += data_bytes(target)
        self.copy_attributes(source, target)

    def _copy_group(self, source: Any, dest: Any, name: str) -> None:
        in_the_way = dest is not None and name in dest and is_array(dest[name])
        if in_the_way and not self._may_replace(dest, name, f"an array {name!r}"):
            return self._skip(source)
        self.log(f"copy {_describe(source)}")
        self.n_copied += 1
        if self.dry_run:
            group = None if dest is None or in_the_way else dest.get(name)
        else:
            if in_the_way:
                del dest[name]
            group = dest.require_group(name)
            self.copy_attributes(source, group)
        self.copy_children(source, group)

    def _may_replace(self, dest: Any, name: str, what: str) -> bool:
        if self.if_exists == "raise":
            raise CopyError(f"{what} already exists in destination {dest.name!r}")
        if self.if_exists == "skip_initialized":
            existing = dest[name]
            return not is_array(existing) or existing._stored_chunks != existing.nchunks
        return self.if_exists == "replace"

    def _skip(self, source: Any) -> None:
        self.log(f"skip {_describe(source)}")
        self.n_skipped += 1


def _describe(node: Any) -> str:
    return f"{node.name} {node.shape} {node.dtype}" if is_array(node) else str(node.name)


def _create(source: Any, dest: Any, name: str, options: dict[str, Any]) -> Any:
    """Creates an array in ``dest`` for the elements of ``source``, which is stored in the same way if possible."""
    if not options and isinstance(dest, GroupBase) and _has_document(source) and source._native.format == dest._native.format:
        document = json.loads(source._native.document()) | {"zarr_format": dest._zarr_format, "attributes": {}}
        path = dest._item_path(name)
        with dest._writing(path):
            return dest._wrap(_native.create_array(dest._native_store(), path, to_json(array_spec(document))))
    given = {"shape": source.shape, **_settings(source, dest, options), **options}
    return dest._create_array(name, given) if isinstance(dest, GroupBase) else dest.create_dataset(name, **given)


def _has_document(array: Any) -> bool:
    """Returns true if the document of an array describes exactly its stored elements."""
    return isinstance(array, ArrayBase) and array._view is None and array._native.format in ("2", "3")


def _settings(source: Any, dest: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments that create an array like ``source``, as far as ``dest`` supports its properties."""
    if h5.is_h5py(source):
        return h5.same_dataset(source) if h5.is_h5py(dest) else h5.dataset_from_h5(source, dest._zarr_format)
    if h5.is_h5py(dest):
        return h5.dataset_to_h5(source)
    if not isinstance(source, ArrayBase):
        return {"chunks": source.chunks, "fill_value": source.fill_value} | element_type(source)
    return kept(source, dest._native.format, {**options, "attributes": None})


def _copy_elements(source: Any, target: Any, report: Callable[[int], object]) -> None:
    if isinstance(source, ArrayBase) and isinstance(target, ArrayBase) and _is_stored_alike(source, target):
        return _copy_encoded(source, target, report)
    destination: Any = h5.Writable(target) if h5.is_h5py(target) else target
    copy_values(h5.elements(source), destination, _Bar(report))


@dataclass
class _Bar:
    """A progress bar that forwards its updates."""

    update: Callable[[int], object]
    total: int | None = None


def _is_stored_alike(source: ArrayBase, target: ArrayBase) -> bool:
    if not _has_document(source) or source._native.format != target._native.format:
        return False
    documents = [json.loads(array._native.document()) for array in (source, target)]
    for document in documents:
        document.pop("attributes", None)
    return bool(documents[0] == documents[1])


def _chunk_store(array: ArrayBase) -> Any:
    return array._store if array._settings.chunk_store is None else array._settings.chunk_store


def _copy_encoded(source: ArrayBase, target: ArrayBase, report: Callable[[int], object]) -> None:
    """Copies chunks without decoding them."""
    chunks_from = native_store(source._store, source._settings.chunk_store, None)
    chunks_to = native_store(target._store, target._settings.chunk_store, target._settings.synchronizer)
    start = len(source.path) + 1 if source.path else 0
    prefix = f"{target.path}/" if target.path else ""
    suffixes = [key[start:] for key in chunks_from.keys(source.path)]
    suffixes = [suffix for suffix in suffixes if suffix.rpartition("/")[2] not in _DOCUMENTS]

    def transfer(suffix: str) -> None:
        encoded = chunks_from.get(suffix if not start else f"{source.path}/{suffix}")
        if encoded is not None:
            chunks_to.set(prefix + suffix, encoded)

    total, done = data_bytes(source), 0
    with transfers(_chunk_store(source), _chunk_store(target)) as run:
        for position, _ in enumerate(run(transfer, suffixes), start=1):
            # Missing chunks are counted together with the stored ones.
            share = total * position // len(suffixes)
            report(share - done)
            done = share
    report(total - done)
