"""The stored arrays that lazy values are read from."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from zarrox.core.array import Array
from zarrox.storage import BaseStore, DirectoryStore, KVStore, native_store
from zarrox.storage.memory import is_in_memory

#: The depth to which wrappers of lazy arrays and tasks are looked into.
_DEEPEST = 20

#: A store and the path of a node in it, told apart from all others.
Place = tuple[Hashable, str]


def places_of(data: Any) -> set[Place]:
    """The places of the stored arrays that values are read from.

    Parameters
    ----------
    data : object
        An array of Dask, or an array of xarray that reads when it is used.
    """
    graph = data.__dask_graph__() if hasattr(data, "__dask_graph__") else None
    roots = [data] if graph is None else list(_of_graph(graph))
    return {place for root in roots for array in _arrays(root, _DEEPEST) for place in _place_of_array(array)}


def place(store: BaseStore, path: str) -> Place:
    """The place of a node.

    Parameters
    ----------
    store : zarrox.storage.BaseStore
        The store.
    path : str
        The path of the node.
    """
    if isinstance(store, DirectoryStore):
        return "", os.path.realpath(os.path.join(store.path, path))
    values: Any = store
    while isinstance(values, KVStore):
        values = values._mutable_mapping
    return (id(values) if is_in_memory(store) else native_store(store).location), path


def is_at(source: Place, other: Place) -> bool:
    """Returns true for a place, and for places below it.

    Parameters
    ----------
    source, other : tuple
        The places of nodes.
    """
    return source[0] == other[0] and (not other[1] or f"{source[1]}/".startswith(f"{other[1]}/"))


def _place_of_array(array: Any) -> Iterator[Place]:
    if isinstance(array, Array):
        yield place(array.store, array.path)
        return
    # An array of zarr-python, which xarray's own engine has opened.
    store, path = getattr(array, "store", None), getattr(array, "path", "")
    root = getattr(store, "root", None)
    if root is not None:
        yield "", os.path.realpath(os.path.join(root, path))
        return
    values = getattr(store, "_store_dict", None)
    if values is not None:
        yield id(values), path


def _of_graph(graph: Any) -> Iterator[Any]:
    """What tasks are made of, without a look at each of the tasks of a layer that are alike."""
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
    if isinstance(value, Array):
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
        # Somebody else's object, whose attributes may do anything.
        return None
