"""Detects the stored arrays from which lazy values are read."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from zarrox.argument_types import PathArgument
from zarrox.core.base import ArrayBase
from zarrox.storage import BaseStore, native_store, normalize_storage_path
from zarrox.storage.directory import DirectoryStore
from zarrox.storage.memory import holder_of, is_in_memory

#: The maximum depth to which wrappers of lazy arrays and tasks are searched.
_DEEPEST = 20

#: A unique identifier of a node: its store and its path.
Place = tuple[Hashable, str]


def places_of(data: Any) -> set[Place]:
    """Returns the identifiers of the stored arrays from which values are read.

    Parameters
    ----------
    data : object
        A Dask array, or a lazy array of xarray.
    """
    graph = data.__dask_graph__() if hasattr(data, "__dask_graph__") else None
    roots = [data] if graph is None else list(_of_graph(graph))
    return {place for root in roots for array in _arrays(root, _DEEPEST) for place in _place_of_array(array)}


def place(store: BaseStore, path: str) -> Place:
    """Returns the identifier of a node.

    Parameters
    ----------
    store : zarrox.storage.BaseStore
        The store.
    path : str
        The path of the node.
    """
    if isinstance(store, DirectoryStore):
        return "", os.path.realpath(os.path.join(store.path, path))
    if is_in_memory(store):
        return id(holder_of(store)), path
    location = native_store(store).location
    if os.path.isdir(location):
        return "", os.path.realpath(os.path.join(location, path))
    return _identity(location) or location, path


def _identity(file: str) -> tuple[int, int] | None:
    """Returns the unique identifier of a file; ``None`` if it does not exist."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def is_at(source: Place, other: Place) -> bool:
    """Returns true if a node is the same as another one, or below it.

    Parameters
    ----------
    source, other : tuple
        The identifiers of nodes.
    """
    if source[0] == other[0] == "":
        return _is_at_on_disk(source[1], other[1])
    return source[0] == other[0] and (not other[1] or f"{source[1]}/".startswith(f"{other[1]}/"))


def _is_at_on_disk(path: str, other: str) -> bool:
    """Returns true if a path is the same as another one, or below it, even through another mount of the same directory."""
    wanted = _identity(other)
    if wanted is None:
        return f"{path}/".startswith(f"{other.rstrip('/')}/")
    return wanted in map(_identity, _with_parents(path))


def _with_parents(path: str) -> Iterator[str]:
    """Yields a path and all its parents."""
    yield path
    while (parent := os.path.dirname(path)) != path:
        path = parent
        yield path


def check_apart(data: Any, store: BaseStore, path: PathArgument, overwrite: bool) -> None:
    """Checks that values are not read from a node that is replaced.

    Parameters
    ----------
    data : object
        The values: a Zarr array, or a lazy array of Dask or xarray; ``None`` without values.
    store : zarrox.storage.BaseStore
        The store of the node that is replaced.
    path : str, optional
        The path of the node that is replaced.
    overwrite : bool
        Whether an existing node is replaced.

    Raises
    ------
    ValueError
        If the values are read from this node, or from a node below it.
    """
    if data is None or not overwrite:
        return
    path = normalize_storage_path(path)
    target = place(store, path)
    if any(is_at(source, target) for source in places_of(data)):
        raise ValueError(
            f"the paths overlap: the data is read from '/{path}', which would be replaced first; write to another path, or pass "
            "the values, as in array[...]"
        )


def check_file_apart(data: Any, path: str) -> None:
    """Checks that values are not read from a file that is replaced.

    Raises
    ------
    ValueError
        If the values are read from a store in this file.
    """
    identity = _identity(path) if os.path.isfile(path) else None
    if identity is not None and any(source[0] == identity for source in places_of(data)):
        raise ValueError(f"the data is read from {path!r}, which would be replaced first: write to another path")


def check_nodes_apart(source: Any, store: BaseStore, path: str, replaces: bool) -> None:
    """Checks that a copy neither replaces its source nor lies inside it.

    Parameters
    ----------
    source : Array or Group
        The node that is copied.
    store : zarrox.storage.BaseStore
        The store of the copy.
    path : str
        The path of the copy.
    replaces : bool
        Whether an existing node is replaced.

    Raises
    ------
    ValueError
        If one node contains the other.
    """
    here, there = place(source._store, source.path), place(store, path)
    if replaces if is_at(here, there) else is_at(there, here):
        raise ValueError(f"{source.name!r} cannot be copied to '/{path}': one contains the other")


def _place_of_array(array: Any) -> Iterator[Place]:
    if isinstance(array, ArrayBase):
        yield place(array._store, array.path)
        return
    # A zarr-python array, which xarray's own engine has opened.
    store, path = getattr(array, "store", None), getattr(array, "path", "")
    root = getattr(store, "root", None)
    if root is not None:
        yield "", os.path.realpath(os.path.join(root, path))
        return
    values = getattr(store, "_store_dict", None)
    if values is not None:
        yield id(values), path


def _of_graph(graph: Any) -> Iterator[Any]:
    """Yields the components of tasks. Of similar tasks in a layer, only one is searched."""
    for layer in getattr(graph, "layers", {"": graph}).values():
        indices = getattr(layer, "indices", None)
        if indices is None:
            yield from layer.values()
        else:
            yield [value for value, _ in indices]
            yield layer.task if hasattr(layer, "task") else getattr(layer, "dsk", None)


def _arrays(value: Any, depth: int) -> Iterator[Any]:
    if depth == 0 or isinstance(value, (str, bytes, int, float)):
        return
    if isinstance(value, ArrayBase):
        yield value
        return
    below: list[Any] = []
    if isinstance(value, Mapping):
        below = list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        below = list(value)
    else:
        names = ("array", "_array", "_data", "value", "args", "kwargs", "func")
        below = [part for name in names if (part := _attribute(value, name)) is not None]
        if hasattr(value, "store") and hasattr(value, "chunks") and hasattr(value, "path"):
            yield value
            return
    for each in below:
        yield from _arrays(each, depth - 1)


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:
        # Reading an attribute of an unknown object may run any code, and may raise any exception.
        return None
