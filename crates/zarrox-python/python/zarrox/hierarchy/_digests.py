"""Hashes by which nodes are compared, and lists of what is stored by which copies are verified."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from typing import IO, Any

from zarrox import _native
from zarrox.storage import native_store, normalize_storage_path, normalize_store_arg

__all__ = ["digest", "manifest", "verify_manifest"]


def digest(node: Any, stored: bool = False, *, memory: int | None = None) -> str:
    """Returns a hash of an array or a group and of all below it, the same in whatever format, chunks, codecs and store they are.

    Parameters
    ----------
    node : Array or Group
        What to hash.
    stored : bool, optional
        Whether the stored keys and bytes are hashed, which are not decoded.
    memory : int, optional
        How many bytes may be in use at once: 1 GiB if not given. With more, long and thin chunks are decoded less often.

    Returns
    -------
    str
        ``content:`` or ``stored:``, and 64 hexadecimal digits.

    Raises
    ------
    TypeError
        If it is no node, or an array that shows other elements than it stores.

    Examples
    --------
    >>> import zarrox as zarr
    >>> old = zarr.ones((4, 4), chunks=(2, 2), zarr_format=2)
    >>> new = zarr.ones((4, 4), chunks=(4, 1), zarr_format=3)
    >>> zarr.digest(old) == zarr.digest(new)
    True
    >>> zarr.digest(old, stored=True) == zarr.digest(new, stored=True)
    False
    """
    native = getattr(node, "_native", None)
    if not isinstance(native, _native.Array | _native.Group):
        raise TypeError(f"{node!r} is no array and no group that is stored as it is")
    return _native.digest(native, stored, memory)


def manifest(store: Any, file: str | os.PathLike[str] | IO[bytes], *, path: str | None = None) -> str:
    """Write a list of all stored keys with the sizes and hashes of their values.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        Where the values are stored.
    file : path or binary file
        What to write to: a line of JSON for each key.
    path : str, optional
        The node; the root if not given.

    Returns
    -------
    str
        The digest of all stored keys and bytes, as that of :func:`digest`.

    Raises
    ------
    NodeNotFoundError
        If nothing is stored there.

    Examples
    --------
    >>> import io
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> z = zarr.array([1, 2, 3, 4], chunks=2, store=store, zarr_format=3)
    >>> lines = io.BytesIO()
    >>> zarr.manifest(store, lines) == zarr.digest(z, stored=True)
    True
    >>> len(lines.getvalue().splitlines())
    5
    """
    native = native_store(normalize_store_arg(store, mode="r"))
    with _opened(file, "wb") as out:
        return _native.write_manifest(native, normalize_storage_path(path), out)


def verify_manifest(
    store: Any, file: str | os.PathLike[str] | IO[bytes], *, path: str | None = None
) -> list[dict[str, Any]]:
    """Compare what is stored with a manifest.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        Where the values are stored: it may be another kind of store than that of which the manifest was written.
    file : path or binary file
        The manifest.
    path : str, optional
        The node; the root if not given.

    Returns
    -------
    list of dict
        The differences, none if all is as it was. Each has a ``kind`` (``missing``, ``added``, ``changed``, ``swapped`` or ``unreadable``),
        the ``key`` or the two ``keys``, and the sizes in bytes as far as they tell something: ``size_before`` and ``size``.

    Raises
    ------
    ValueError
        If the manifest is none, or was cut off or changed.
    NodeNotFoundError
        If nothing is stored there.

    Examples
    --------
    >>> import io
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> z = zarr.array([1, 2, 3, 4], chunks=2, store=store, zarr_format=3)
    >>> lines = io.BytesIO()
    >>> digest = zarr.manifest(store, lines)
    >>> del store["c/1"]
    >>> zarr.verify_manifest(store, io.BytesIO(lines.getvalue()))[0]["kind"]
    'missing'
    """
    native = native_store(normalize_store_arg(store, mode="r"))
    with _opened(file, "rb") as lines:
        return [json.loads(line) for line in _native.verify_manifest(native, normalize_storage_path(path), lines)]


def _opened(file: Any, mode: str) -> Any:
    return open(file, mode) if isinstance(file, str | os.PathLike) else nullcontext(file)
