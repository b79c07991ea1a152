"""Converts Zarrox arrays and groups to zarr-python arrays and groups."""

from __future__ import annotations

from typing import Any, overload

import zarr

from zarrox.core.array import Array
from zarrox.hierarchy import Group

from .settings import enable
from .store import Store

__all__ = ["as_zarr"]


@overload
def as_zarr(node: Array) -> zarr.Array[Any]: ...


@overload
def as_zarr(node: Group) -> zarr.Group: ...


def as_zarr(node: Array | Group) -> Any:
    """Returns the zarr-python array or group at the same location. Zarrox reads and writes its chunks.

    Use it for functions that accept only zarr-python's own classes, such as `dask.array.from_zarr` and
    `dask.array.to_zarr`.

    Parameters
    ----------
    node : Array or Group
        A node of Zarrox, in format 2 or 3, or N5.

    Returns
    -------
    zarr.Array or zarr.Group
        The zarr-python node, which is read-only if `node` is.

    Raises
    ------
    TypeError
        If `node` is not an array or group of Zarrox.

    Examples
    --------
    >>> import zarrox
    >>> z = zarrox.array([1, 2, 3])
    >>> zarrox.zarr3.as_zarr(z)[1:]
    array([2, 3])
    """
    if not isinstance(node, (Array, Group)):
        raise TypeError(f"an array or a group of Zarrox is wanted, not a {type(node).__name__}")
    store = Store(node.store, read_only=node.read_only)
    opened: Any = zarr.open_array if isinstance(node, Array) else zarr.open_group
    with enable():
        return opened(
            store,
            path=node.path,
            mode="r" if node.read_only else "r+",
            zarr_format=2 if store.is_n5 else node.metadata.zarr_format,
        )
