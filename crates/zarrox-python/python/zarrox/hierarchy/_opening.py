"""Opens and saves nodes, for any node classes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeGuard

import numpy as np

from zarrox import _native
from zarrox.argument_types import PathArgument, StoreArgument
from zarrox.core.formats import format_of_existing
from zarrox.core.progress import progress_reporter
from zarrox.core.settings import Settings
from zarrox.core.sources import check_apart, check_file_apart
from zarrox.errors import ContainsGroupError, NodeNotFoundError, PathNotFoundError
from zarrox.hierarchy._base import GroupBase
from zarrox.hierarchy._modes import check_mode
from zarrox.storage import BaseStore, MemoryStore, native_store, normalize_storage_path
from zarrox.storage.store_path import place_of

__all__ = ["LazyLoader", "load", "open_node", "save_array", "save_group", "save_options"]

#: The arguments that apply to both existing and new arrays.
_ARRAY_SETTINGS = ("chunk_store", "synchronizer", "cache_metadata", "cache_attrs", "write_empty_chunks", "meta_array")


def open_node(
    group: type[GroupBase],
    store: StoreArgument,
    mode: str,
    *,
    creates_array: bool,
    create: Any,
    storage_options: dict[str, Any] | None = None,
    sync: bool | None = None,
    use_consolidated: bool | None = None,
    array_settings: Mapping[str, Any] = MappingProxyType({}),
    **kwargs: Any,
) -> Any:
    """Open an array or a group.

    Parameters
    ----------
    group : type
        The class of groups.
    store : StoreArgument
        The location of the node.
    mode : str
        The mode.
    creates_array : bool
        Whether an array, and not a group, is created if no node exists.
    create : callable
        Opens or creates the node of the requested kind, with the store, the mode and all arguments.
    array_settings : Mapping, optional
        Settings of an existing array.
    storage_options, sync, use_consolidated, **kwargs
        See `open_array` and `open_group`.
    """
    check_mode(mode)
    options: dict[str, Any] = {"storage_options": storage_options, "sync": sync}
    store, kwargs["path"] = place_of(store, kwargs.get("path"), kwargs.get("chunk_store"))
    opened = group._array._open_store(store, mode=mode, **options)
    if kwargs.get("chunk_store") is not None:
        kwargs["chunk_store"] = group._array._open_store(kwargs["chunk_store"], mode=mode, **options)
    native = None if mode in ("w", "w-", "x") else _find(opened, mode, use_consolidated=use_consolidated, **kwargs)
    if native is None:
        return create(opened, mode, **kwargs)
    if isinstance(native, _native.Group):
        if creates_array and mode == "a":
            raise ContainsGroupError(f"{'/' + native.path!r} is a group; open it without a shape")
        names = ("chunk_store", "synchronizer", "cache_attrs")
        consolidated = use_consolidated is True
        return group._of(native, opened, Settings(read_only=mode == "r", consolidated=consolidated, **_only(kwargs, names)))
    return group._array._of(native, opened, Settings(read_only=mode == "r", **_only(kwargs, _ARRAY_SETTINGS) | dict(array_settings)))


def _find(
    store: BaseStore,
    mode: str,
    *,
    path: PathArgument = None,
    chunk_store: BaseStore | None = None,
    synchronizer: Any = None,
    zarr_format: Any = None,
    use_consolidated: bool | None = None,
    **_: Any,
) -> _native.Array | _native.Group | None:
    """Opens an existing node. Returns ``None`` if it does not exist and may be created. Arguments for new arrays are ignored."""
    native_mode: Literal["r", "r+"] = "r" if mode == "r" else "r+"
    if use_consolidated is None and mode != "r":
        use_consolidated = False
    try:
        return _native.open_node(
            native_store(store, chunk_store, synchronizer),
            normalize_storage_path(path),
            native_mode,
            format_of_existing(store, zarr_format),
            use_consolidated,
        )
    except NodeNotFoundError as error:
        if mode == "a":
            return None
        raise PathNotFoundError(str(error)) from None


def _only(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options[name] for name in names if options.get(name) is not None}


def _is_path(store: StoreArgument) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(store, str | os.PathLike)


def _writable_store(
    group: type[GroupBase], store: StoreArgument, storage_options: dict[str, Any] | None, arrays: Iterable[Any]
) -> BaseStore:
    if _is_path(store):
        # The first write replaces an archive that was opened with mode "w".
        for array in arrays:
            check_file_apart(array, os.fspath(store))
    return group._array._open_store(store, storage_options=storage_options, mode="w")


def save_array(
    group: type[GroupBase],
    store: StoreArgument,
    arr: Any,
    create: Any,
    *,
    storage_options: dict[str, Any] | None = None,
    progress: Any = None,
    **kwargs: Any,
) -> None:
    """Save an array. Existing data is replaced.

    Parameters
    ----------
    group : type
        The class of groups.
    store : StoreArgument
        The destination.
    arr : array_like
        The values.
    create : callable
        Creates an array with given values.
    storage_options, progress, **kwargs
        As for the functions of the interfaces.
    """
    arr = _as_array(arr)
    # Creating an array in memory checks the arguments before existing data is deleted.
    create(_sample(arr), store=MemoryStore(), **kwargs | {"chunk_store": None})
    target = _writable_store(group, store, storage_options, [arr])
    try:
        with progress_reporter(progress, arr.nbytes) as report:
            create(arr, store=target, overwrite=True, **kwargs)
            report(arr.nbytes)
    finally:
        if _is_path(store):
            target.close()  # Files such as zip archives are complete only once they have been closed.


def _as_array(values: Any) -> Any:
    return values if hasattr(values, "shape") and hasattr(values, "nbytes") else np.asarray(values)


#: Options of `save`, unless their value is an array.
_SAVE_OPTIONS = ("path", "zarr_format", "storage_options", "progress")


def save_options(kwargs: dict[str, Any], *further: str) -> dict[str, Any]:
    """Separates options from arrays in the arguments of `save`. A value that has a shape is an array with the name of the argument.

    Parameters
    ----------
    kwargs : dict
        The arguments. The options are removed.
    *further : str
        The names of more options.
    """
    names = [name for name in (*_SAVE_OPTIONS, *further) if name in kwargs and not hasattr(kwargs[name], "shape")]
    return {name: kwargs.pop(name) for name in names if not isinstance(kwargs[name], list)}


def save_group(
    group: type[GroupBase],
    store: StoreArgument,
    unnamed: tuple[Any, ...],
    named: Mapping[str, Any],
    *,
    path: str | None = None,
    zarr_format: Any = None,
    storage_options: dict[str, Any] | None = None,
    progress: Any = None,
) -> None:
    """Save several arrays in a group. Existing data is replaced.

    Parameters
    ----------
    group : type
        The class of groups.
    store : StoreArgument
        The destination.
    unnamed : tuple
        Arrays, which get the names ``arr_0``, ``arr_1`` …
    named : dict
        Arrays by their names.
    path, zarr_format, storage_options, progress
        As for the functions of the interfaces.

    Raises
    ------
    TypeError
        If an argument is not an array.
    ValueError
        If no array is given, or an array cannot be stored. In these cases, existing nodes are unchanged.
    """
    named = {f"arr_{position}": arr for position, arr in enumerate(unnamed)} | dict(named)
    arrays = {name: _as_array(arr) for name, arr in named.items()}
    if not arrays:
        raise ValueError("at least one array must be provided")
    for name, arr in named.items():
        if isinstance(arr, str | bool | None):
            options = ", ".join(_SAVE_OPTIONS)
            raise TypeError(f"Keyword argument {name!r} must be a numpy or other NDArrayLike array, except {options}. Got {arr!r}.")
    _rehearse(group, arrays, zarr_format)
    target = _writable_store(group, store, storage_options, arrays.values())
    for arr in arrays.values():
        check_apart(arr, target, path, overwrite=True)
    try:
        parent = group._open(target, "w", path=path, format=zarr_format)
        with progress_reporter(progress, sum(arr.nbytes for arr in arrays.values())) as report:
            for name, arr in arrays.items():
                parent._new_array(parent._creation.array, name, {"overwrite": True}, arr)
                report(arr.nbytes)
    finally:
        if _is_path(store):
            target.close()


def _rehearse(group: type[GroupBase], arrays: Mapping[str, Any], zarr_format: Any) -> None:
    """Creates the arrays in memory, to check the arguments."""
    parent = group._open(MemoryStore(), "w", format=zarr_format)
    for name, arr in arrays.items():
        parent._new_array(parent._creation.array, name, {}, _sample(arr))


def _sample(arr: Any) -> Any:
    """Returns values with which the creation of an array fails if it would fail with the whole data. Numbers are not needed, since all
    of them fit."""
    is_objects = getattr(arr.dtype, "kind", "O") == "O"
    return arr if is_objects else arr[:0] if len(arr.shape) else arr


class LazyLoader(Mapping[str, Any]):
    """The arrays of a group, each of which is read on first access. Groups inside are such mappings as well.

    Parameters
    ----------
    grp : Group
        The group.
    """

    def __init__(self, grp: GroupBase) -> None:
        self.grp = grp
        self.cache: dict[str, Any] = {}

    def __getitem__(self, item: str) -> Any:
        if item not in self.cache:
            node = self.grp[item]
            self.cache[item] = LazyLoader(node) if isinstance(node, GroupBase) else node[...]
        return self.cache[item]

    def __len__(self) -> int:
        return len(self.grp)

    def __iter__(self) -> Iterator[str]:
        return iter(self.grp)

    def __contains__(self, item: object) -> bool:
        return item in self.grp

    def __repr__(self) -> str:
        return f"<LazyLoader: {', '.join(sorted(self.grp.array_keys()))}>"


def load(group: type[GroupBase], store: StoreArgument, path: str | None, zarr_format: Any) -> Any:
    """Load the elements of an array or, for a group, a mapping from names to elements that are read on access.

    Parameters
    ----------
    group : type
        The class of groups.
    store : StoreArgument
        The location of the data.
    path, zarr_format
        As for the functions of the interfaces.
    """
    opened = group._array._open_store(store, mode="r")
    # Nothing is created in mode "r".
    node = open_node(group, opened, "r", creates_array=False, create=None, path=path, zarr_format=zarr_format)
    if isinstance(node, GroupBase):
        return LazyLoader(node)
    try:
        return node[...]
    finally:
        if _is_path(store):
            opened.close()
