"""Digests for comparing nodes, and manifests for verifying copies."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from typing import IO, Any

from zarrox import _native
from zarrox.storage import native_store, normalize_storage_path, normalize_store_arg

__all__ = ["digest", "manifest", "verify_manifest"]


def digest(node: Any, stored: bool = False, *, memory: int | None = None) -> str:
    """Returns a hash of an array or a group and of all nodes below it. It does not depend on the format, the chunks,
    the codecs or the store.

    Parameters
    ----------
    node : Array or Group
        The node.
    stored : bool, optional
        Whether to hash the stored keys and bytes, without decoding.
    memory : int, optional
        The number of bytes that may be used at once; 1 GiB by default. With more memory, long and thin chunks are
        decoded less often.

    Returns
    -------
    str
        ``content:`` or ``stored:``, and 64 hexadecimal digits.

    Raises
    ------
    TypeError
        If ``node`` is not a node, or is a view with converted elements.

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
        raise TypeError(f"{node!r} is not a stored array or group")
    return _native.digest(native, stored, memory)


def manifest(store: Any, file: str | os.PathLike[str] | IO[bytes], *, path: str | None = None) -> str:
    """Write a manifest: a list of all stored keys with the sizes and hashes of their values.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The store.
    file : path or binary file
        The file that gets a line of JSON for each key.
    path : str, optional
        The node; the root if not given.

    Returns
    -------
    str
        The digest of all stored keys and bytes, as :func:`digest` returns it.

    Raises
    ------
    NodeNotFoundError
        If the node does not exist.

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
    """Compare a store with a manifest.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The store. Its kind may differ from the kind of the store that the manifest was made from.
    file : path or binary file
        The manifest.
    path : str, optional
        The node; the root if not given.

    Returns
    -------
    list of dict
        The differences; empty if nothing changed. Each has a ``kind`` (``missing``, ``added``, ``changed``, ``swapped`` or
        ``unreadable``), the ``key`` or the two ``keys``, and the sizes in bytes where they are relevant: ``size_before`` and
        ``size``.

    Raises
    ------
    ValueError
        If the manifest is invalid, truncated or changed.
    NodeNotFoundError
        If the node does not exist.

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
