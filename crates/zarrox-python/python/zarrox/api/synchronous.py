"""The blocking functions of the package: open, save, copy, consolidate and others."""

from __future__ import annotations

from functools import partial
from typing import Any

from zarrox import _native
from zarrox.api import creation
from zarrox.api.creation import *  # noqa: F403
from zarrox.api.creation import array, create, default_mode, open_array
from zarrox.argument_types import StoreArgument
from zarrox.core.arguments import configured
from zarrox.hierarchy import Group, create_group, create_hierarchy, group, open_group
from zarrox.hierarchy._copies import copy, copy_all, copy_store, tree
from zarrox.hierarchy._opening import load as _load
from zarrox.hierarchy._opening import open_node
from zarrox.hierarchy._opening import save_array as _save_array
from zarrox.hierarchy._opening import save_group as _save_group
from zarrox.hierarchy._opening import save_options
from zarrox.storage import native_store, normalize_store_arg
from zarrox.storage.store_path import place_of

__all__ = [
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create_group",
    "create_hierarchy",
    "group",
    "load",
    "open",
    "open_consolidated",
    "open_group",
    "save",
    "save_array",
    "save_group",
    "tree",
]
__all__ += creation.__all__


def open(
    store: StoreArgument = None,
    mode: str | None = None,
    *,
    zarr_format: Any = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
    sync: bool | None = None,
    use_consolidated: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Open an array or a group.

    Parameters
    ----------
    store : MutableMapping, str or PathLike, optional
        The location of the node; a new store in memory if not given.
    mode : {'r', 'r+', 'a', 'w', 'w-'}, optional
        'r': read only, must exist; 'r+': read and write, must exist; 'a': created if missing; 'w': created, replaces an existing
        node; 'w-' (or 'x'): created, must not exist. An array is created if ``shape`` is given, otherwise a group. The default is
        'r' for read-only stores, and otherwise 'a'.
    zarr_format : {2, 3}, optional
        The format that is opened or created.
    path : str, optional
        The path in the store.
    storage_options : dict, optional
        Options for stores that are opened by URL, and for directories.
    config : dict, optional
        The settings of an array: ``{"order": …, "write_empty_chunks": …}``.
    sync : bool, optional
        Whether writes to a path are flushed to the disk before a call returns, so that they survive a power failure.
    use_consolidated : bool, optional
        Whether consolidated metadata is used. ``True`` requires it; by default it is used if it exists and the mode is 'r'.
    **kwargs
        See :func:`zarrox.open_array` or :func:`zarrox.open_group`.

    Returns
    -------
    zarrox.Array or zarrox.Group

    Raises
    ------
    PathNotFoundError
        If the node must exist but does not.

    Examples
    --------
    >>> import zarrox as zarr
    >>> zarr.open('data/example.zarr', mode='w', shape=100, dtype='i4').shape
    (100,)
    >>> zarr.open('data/example.zarr', mode='r').read_only
    True
    >>> list(zarr.open('data/example.zarr', mode='w'))
    []
    """
    creates_array = "shape" in kwargs or kwargs.get("data") is not None
    given = kwargs if config is None or not creates_array else {**kwargs, "config": config}
    if config is not None and not creates_array:
        store, path = place_of(store, path)
        store = normalize_store_arg(store, mode=mode, storage_options=storage_options, sync=sync)
        if _native.node_kind(native_store(store), path) != "array":
            raise TypeError("config is for arrays, and this resolves to a group: give a shape to create an array")
    settings = configured(config, write_empty_chunks=kwargs.get("write_empty_chunks"))
    settings.pop("order", None)
    return open_node(
        Group,
        store,
        default_mode(store) if mode is None else mode,
        creates_array=creates_array,
        create=open_array if creates_array else partial(open_group, use_consolidated=use_consolidated),
        use_consolidated=use_consolidated,
        zarr_format=zarr_format,
        path=path,
        storage_options=storage_options,
        sync=sync,
        array_settings=settings,
        **given,
    )


def save_array(store: StoreArgument, arr: Any, *, progress: Any = None, **kwargs: Any) -> None:
    """Save an array, as :func:`numpy.save` does. Existing data is replaced.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The destination: a directory, a file that ends with ``.zip``, a URL, a store.
    arr : array_like
        The array to save.
    progress : callable or progress bar, optional
        Called with the number of completed bytes; see :func:`zarrox.core.progress.progress_reporter`.
    **kwargs
        See :func:`zarrox.create`: path, chunks, compressor, zarr_format …

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> zarr.save_array('data/example.zip', np.arange(10000))
    >>> zarr.load('data/example.zip')
    array([   0,    1,    2, ..., 9997, 9998, 9999], shape=(10000,))
    """
    _save_array(Group, store, arr, array, progress=progress, **kwargs)


def save_group(store: StoreArgument, *args: Any, **kwargs: Any) -> None:
    """Save several arrays in a group, as :func:`numpy.savez` does. Existing data is replaced.

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
        If an argument is not an array.
    ValueError
        If no array is given, or an array cannot be stored. In these cases, existing nodes are unchanged.

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
    options = save_options(kwargs)
    _save_group(Group, store, args, kwargs, **options)


def save(store: StoreArgument, *args: Any, **kwargs: Any) -> None:
    """Save an array, or several arrays in a group. Existing data is replaced.

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
    options = save_options(kwargs)
    if len(args) == 1 and not kwargs:
        return save_array(store, args[0], **options)
    return save_group(store, *args, **kwargs, **options)


def load(store: StoreArgument, path: str | None = None, zarr_format: Any = None) -> Any:
    """Load data that was saved.

    Parameters
    ----------
    store : BaseStore, MutableMapping, str or PathLike
        The location of the data.
    path : str, optional
        The path in the store.
    zarr_format : {2, 3}, optional
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
    return _load(Group, store, path, zarr_format)


def consolidate_metadata(store: StoreArgument, path: str | None = None, zarr_format: Any = None) -> Group:
    """Write consolidated metadata: a single document with the metadata of all nodes of a hierarchy, so that one read is enough to open
    it.

    Zarrox keeps this document up to date. After another program has changed the hierarchy, consolidate again.

    Parameters
    ----------
    store : MutableMapping, str or PathLike
        The location of the hierarchy.
    path : str, optional
        The group at the top of the hierarchy; the root if not given.
    zarr_format : {2, 3}, optional
        The format; detected if not given.

    Returns
    -------
    Group
        The group, opened with the consolidated metadata.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> group = zarr.group(store).create_group('foo')
    >>> list(zarr.consolidate_metadata(store))
    ['foo']
    """
    store, path = place_of(store, path)
    opened = normalize_store_arg(store, mode="r+")
    if not getattr(opened, "supports_consolidated_metadata", True):
        raise TypeError(f"{type(opened).__name__} doesn't support consolidated metadata")
    found = open_group(opened, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    _native.consolidate(native_store(opened), found.path)
    return open_group(opened, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=True)


def open_consolidated(store: StoreArgument, mode: str = "a", *, use_consolidated: bool | str = True, **kwargs: Any) -> Group:
    """Open a group with its consolidated metadata.

    Elements of arrays can be written, but metadata cannot be changed.

    Parameters
    ----------
    store : MutableMapping, str or PathLike
        The location of the hierarchy.
    mode : {'a', 'r+', 'r'}, optional
        Whether elements may be written.
    use_consolidated : bool or str, optional
        ``True``, or the key of the consolidated metadata (format 2).
    **kwargs
        See :func:`zarrox.open_group`.

    Raises
    ------
    GroupNotFoundError
        If there is no consolidated metadata.

    Examples
    --------
    >>> import zarrox as zarr
    >>> store = zarr.storage.MemoryStore()
    >>> group = zarr.group(store).create_group('foo')
    >>> root = zarr.consolidate_metadata(store)
    >>> list(zarr.open_consolidated(store, mode='r'))
    ['foo']
    """
    if not use_consolidated:
        raise TypeError("open_consolidated() does not take use_consolidated=False: call open_group() to leave consolidated metadata out")
    return open_group(store, "r+" if mode == "a" else mode, use_consolidated=use_consolidated, **kwargs)
