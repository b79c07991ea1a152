"""Copies arrays with different shards."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zarrox import _native
from zarrox.api.creation import open_array
from zarrox.storage import native_store, normalize_storage_path, normalize_store_arg

if TYPE_CHECKING:
    from zarrox.core.array import Array

__all__ = ["reshard"]


def reshard(
    source: Array,
    store: Any,
    *,
    shards: int | Sequence[int] | None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    memory: int | None = None,
) -> Array:
    """Copy an array with different shards, or without shards. Chunks with the same encoding are not decoded.

    Parameters
    ----------
    source : Array
        An array of format 3.
    store : BaseStore, MutableMapping, str or PathLike
        The store of the copy.
    shards : int or sequence of int, or None
        The shape of a shard; ``None`` stores each chunk separately.
    path : str, optional
        The path of the copy, where no node may exist; the root if not given.
    storage_options : dict, optional
        Options of the store of a URL, or of a directory.
    memory : int, optional
        The number of bytes that may be used at once; 1 GiB by default.

    Returns
    -------
    Array
        The copy.

    Raises
    ------
    TypeError
        If the source is a view with converted elements.
    ContainsNodeError
        If a node exists at the destination.

    Examples
    --------
    >>> import zarrox as zarr
    >>> z = zarr.create((4, 4), chunks=(2, 2), dtype="i4", zarr_format=3)
    >>> z[:] = 7
    >>> copy = zarr.reshard(z, {}, shards=(4, 4))
    >>> copy.shards, copy[3, 3]
    ((4, 4), np.int32(7))
    """
    if not isinstance(getattr(source, "_native", None), _native.Array):
        raise TypeError(f"{source!r} is a view with converted elements")
    lengths = [shards] * len(source.shape) if isinstance(shards, int) else shards
    numbers = None if lengths is None else [operator.index(length) for length in lengths]
    target = normalize_store_arg(store, storage_options=storage_options, mode="a")
    here = native_store(normalize_store_arg(source._store, mode="r"))
    _native.reshard(here, source.path, native_store(target), normalize_storage_path(path), numbers, memory)
    return open_array(target, mode="r+", path=path)
