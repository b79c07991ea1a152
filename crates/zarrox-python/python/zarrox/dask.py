"""Reads, writes and copies Zarrox arrays with Dask: `from_zarr`, `to_zarr`, `rechunk`, `copy` and `convert`.

Dask's own `from_zarr` and `to_zarr` need zarr-python, and support only its arrays. With this module, Dask chunks that share stored
chunks need no lock: stores synchronize writers within and between processes.

Examples
--------
>>> import dask.array as da
>>> import zarrox.dask
>>> zarrox.dask.to_zarr(da.arange(10, chunks=3), "numbers.zarr", zarr_format=3)
>>> zarrox.dask.from_zarr("numbers.zarr").sum().compute()
np.int64(45)
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from zarrox import _native
from zarrox.argument_types import StoreArgument
from zarrox.api.synchronous import open as open_node
from zarrox.core.array import Array
from zarrox.core.sources import check_nodes_apart, is_at, places_of
from zarrox.core.sources import place as place_of
from zarrox.api.creation import create_array, from_array, open_array
from zarrox.errors import DataTypeMismatchError, ReadOnlyError
from zarrox.hierarchy import Group, open_group
from zarrox.storage import native_store, normalize_store_arg
from zarrox.storage.directory import DirectoryStore
from zarrox.storage.memory import is_in_memory

if TYPE_CHECKING:
    import dask.array as da

__all__ = ["convert", "copy", "from_zarr", "rechunk", "to_zarr"]

#: The attribute for dimension names in format 2, by xarray's convention.
DIMENSIONS = "_ARRAY_DIMENSIONS"
#: The memory of one task, in bytes.
_MEMORY = 256 << 20
#: The memory below which a task costs more than it saves.
_LEAST = 16 << 20
#: The approximate number of tasks for each thread of a cluster, so that all threads are busy until the end.
_TASKS = 4


def from_zarr(
    source: Array | StoreArgument,
    component: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    chunks: Any = None,
    name: str | None = None,
    inline_array: bool = False,
    **options: Any,
) -> da.Array:
    """Returns a Dask array that reads a Zarr array.

    Parameters
    ----------
    source : Array, str, path, mapping or store
        The array, or its location.
    component : str, optional
        The path of the array in the store.
    storage_options : mapping, optional
        Options of a URL, or of a directory.
    chunks : object, optional
        The Dask chunks; by default the chunks of the array, which may differ in length.
    name : str, optional
        The name of the Dask array; by default derived from the location and the metadata of the array.
    inline_array : bool, optional
        Whether the array is embedded in each task or has a separate task.
    **options
        See `zarrox.open_array`.

    Examples
    --------
    >>> import zarrox as zarr
    >>> import zarrox.dask
    >>> z = zarr.array([[1, 2, 3], [4, 5, 6]], chunks=(1, 3))
    >>> zarrox.dask.from_zarr(z).mean(axis=0).compute()
    array([2.5, 3.5, 4.5])
    """
    import dask.array as da
    from dask.base import tokenize

    array = _opened(source, component, storage_options, **options)
    if chunks is None:
        # Along a dimension of length 0, Dask has a single chunk of length 0.
        chunks = tuple(lengths or (0,) for lengths in array.read_chunk_sizes)
    if name is None:
        place = uuid4().hex if is_in_memory(array._store) else array._store
        name = "from-zarr-" + tokenize(place, array.path, array._native.document(), chunks)
    lazy: da.Array = da.from_array(array, chunks=chunks, name=name, inline_array=inline_array, asarray=False)
    return lazy


def to_zarr(
    array: da.Array,
    target: Array | StoreArgument,
    component: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    region: slice | tuple[slice, ...] | None = None,
    compute: bool = True,
    return_stored: bool = False,
    mode: str = "a",
    *,
    overwrite: bool = False,
    **options: Any,
) -> Any:
    """Writes a Dask array into a Zarr array, which is created if a location is given.

    Dask chunks are written directly, even if several of them are in the same stored chunk or shard. Dask's own function rechunks them
    first.

    Parameters
    ----------
    array : dask.array.Array
        The data.
    target : Array, str, path, mapping or store
        An array, or the location of a new one.
    component : str, optional
        The path of the new array in the store; ``name`` is an alias.
    storage_options : mapping, optional
        Options of a URL, or of a directory.
    region : slice or tuple of slice, optional
        The part of an array that is written; one slice is along the first dimension.
    compute : bool, optional
        ``False`` returns an object that writes when it is computed.
    return_stored : bool, optional
        Whether the stored array is returned, as a Dask array.
    mode : {"a", "w", "w-"}, optional
        ``"w"`` deletes an existing node; the other modes fail if a node exists.
    overwrite : bool, optional
        ``True`` means ``mode="w"``.
    **options
        See `zarrox.create_array`. By default the shape and the data type are taken from the data, and the chunk shape
        is the shape of its largest chunks.

    Raises
    ------
    ValueError
        If the data has chunks of unknown length, if a region is given for a new array, or if the data is read from the node that
        would be deleted.
    zarrox.errors.ContainsNodeError
        If a node exists at the location, and the mode is not ``"w"``.

    Examples
    --------
    >>> import dask.array as da
    >>> import zarrox as zarr
    >>> import zarrox.dask
    >>> z = zarr.zeros(6, chunks=4, dtype="i8")
    >>> zarrox.dask.to_zarr(da.arange(4, chunks=2), z, region=(slice(1, 5),))
    >>> z[:]
    array([0, 0, 1, 2, 3, 0])
    """
    if any(math.isnan(length) for length in array.shape):
        raise ValueError("the chunks of the data have unknown lengths: call its method compute_chunk_sizes first")
    if not isinstance(target, Array):
        if region is not None:
            raise ValueError("region is a part of an existing array: pass the array, not its location")
        component = _component(component, options)
        target = _created(array, target, component, storage_options, _mode(mode, overwrite), options)
    elif component is not None or options or overwrite:
        raise ValueError(f"{target!r} exists already: component, overwrite and options are for new arrays")
    if isinstance(region, slice):
        region = (region,)
    _check_shared(target, _client(None))
    # Dask's type annotations allow only Dask arrays.
    store: Any = array.store
    return store(target, lock=False, regions=region, compute=compute, return_stored=return_stored)


def rechunk(
    source: Array | StoreArgument,
    target: Array | StoreArgument,
    *,
    client: Any = None,
    memory: int = _MEMORY,
    scratch: str | os.PathLike[str] | None = None,
) -> None:
    """Writes all elements of an array to another one with different chunks, using many processes.

    The work is divided into boxes, which each process reads and writes natively. If possible, a box consists of whole stored chunks of
    the target. It has as many chunks as fit into memory, so that chunks of the source are seldom read more than once.

    Parameters
    ----------
    source, target : Array, str, path or store
        Two arrays of the same shape and data type, or their locations. Other processes must be able to open them.
    client : distributed.Client, optional
        The cluster. By default the current client, or the scheduler in Dask's configuration.
    memory : int, optional
        The number of bytes that each task may use.
    scratch : path, optional
        An unused path or URL that all processes can access. If chunks of the source would be read more than twice on average, a
        temporary array of the size of all uncompressed elements is created there.

    Raises
    ------
    ValueError
        If the shapes differ, or if an array is in the memory of this process, which others cannot access.
    zarrox.errors.DataTypeMismatchError
        If the data types differ.

    Examples
    --------
    >>> import zarrox as zarr
    >>> import zarrox.dask
    >>> rows = zarr.open("rows.zarr", mode="w", shape=(90, 90), chunks=(1, 90), fill_value=1)
    >>> columns = zarr.open("columns.zarr", mode="w", shape=(90, 90), chunks=(90, 1))
    >>> zarrox.dask.rechunk(rows, columns)
    >>> columns[:].sum()
    np.float64(8100.0)
    """
    source, target = _opened(source), _opened(target, mode="r+")
    if target.read_only:
        raise ReadOnlyError
    for array in (source, target):
        if not isinstance(array._native, _native.Array):
            raise TypeError(f"{array!r} is a view with converted elements; copy it with `target[...] = source[...]`")
    client = _client(client)
    _check_shared(source, client)
    _check_shared(target, client)
    memory = _memory(source, memory, client)
    between, boxes = source._native.rechunk_plan(target._native, memory, scratch is not None)
    if between is None or scratch is None:
        return _run(list(_tasks(source, target, boxes, memory, client)), client)
    chunks, before = between
    middle = from_array(str(scratch), data=source, write_data=False, chunks=tuple(chunks), shards=None, compressors=None)
    try:
        _run(list(_tasks(source, middle, before, memory, client)), client)
        _run(list(_tasks(middle, target, boxes, memory, client)), client)
    finally:
        _delete(middle)


def copy(
    source: Array | Group | StoreArgument,
    target: StoreArgument,
    path: str | None = None,
    *,
    client: Any = None,
    memory: int = _MEMORY,
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Array | Group:
    """Copies an array, or a group and all nodes below it, using many processes.

    Parameters
    ----------
    source : Array, Group, str, path or store
        The node, or its location.
    target : str, path or store
        The store of the copy. Other processes must be able to open it.
    path : str, optional
        The path of the copy in the store.
    client : distributed.Client, optional
        The cluster. By default the current client, or the scheduler in Dask's configuration.
    memory : int, optional
        The number of bytes that each task may use.
    storage_options : mapping, optional
        Options of the URL of the copy.
    overwrite : bool, optional
        Whether an existing node at the destination is replaced.
    **options
        Properties in which the arrays of the copy differ: ``chunks``, ``shards``, ``compressors``, ``zarr_format`` …,
        see `zarrox.from_array`.

    Returns
    -------
    Array or Group
        The copy.

    Examples
    --------
    >>> import zarrox as zarr
    >>> import zarrox.dask
    >>> group = zarr.open_group("group.zarr", mode="w")
    >>> z = group.create_array("a/b", data=[1, 2, 3])
    >>> zarrox.dask.copy(group, "copy.zarr", chunks=2)["a/b"][:]
    array([1, 2, 3])
    """
    node = source if isinstance(source, (Array, Group)) else open_node(source, mode="r")
    store = normalize_store_arg(target, storage_options=_dict(storage_options), mode="a")
    client = _client(client)
    if overwrite:
        check_nodes_apart(node, store, path or "", replaces=True)
    nodes = [(path or "", node)]
    if isinstance(node, Group):
        prefix = f"{path}/" if path else ""
        nodes += [(prefix + below, each) for below, each in node.members(max_depth=None)]
    pairs = [(each, _counterpart(each, store, place, overwrite and each is node, options)) for place, each in nodes]
    arrays = [(each, twin) for each, twin in pairs if isinstance(each, Array) and isinstance(twin, Array)]
    for array in itertools.chain.from_iterable(arrays):
        _check_shared(array, client)
    _run([task for each, twin in arrays for task in _copying(each, twin, memory, client)], client)
    return pairs[0][1]


def convert(
    source: Array | Group | StoreArgument, target: StoreArgument, path: str | None = None, *, zarr_format: int, **options: Any
) -> Array | Group:
    """Copies a node and all nodes below it to another format, using many processes.

    Parameters
    ----------
    source, target, path
        See `copy`.
    zarr_format : {2, 3}
        The format of the copy.
    **options
        See `copy`.

    Examples
    --------
    >>> import zarrox as zarr
    >>> import zarrox.dask
    >>> z = zarr.open("old.zarr", mode="w", shape=3, chunks=2, dtype="i4", fill_value=7)
    >>> zarrox.dask.convert("old.zarr", "new.zarr", zarr_format=3)
    <Array file:///.../new.zarr shape=(3,) dtype=int32>
    """
    return copy(source, target, path, zarr_format=zarr_format, **options)


@dataclass(frozen=True)
class _Boxes:
    """Copies a range of boxes natively."""

    source: Array
    target: Array
    lengths: list[int]
    part: tuple[int, int]
    memory: int

    def __call__(self) -> None:
        self.source._native.copy_boxes(self.target._native, self.lengths, self.part, self.memory)


@dataclass(frozen=True)
class _Region:
    """Copies a region, converting its elements."""

    source: Array
    target: Array
    region: tuple[slice, ...]

    def __call__(self) -> None:
        self.target[self.region] = self.source[self.region]


_Task = _Boxes | _Region


def _memory(source: Array, most: int, client: Any) -> int:
    """Returns the memory for a task, chosen so that all threads of a cluster have tasks."""
    return min(most, max(source.nbytes // (_TASKS * _threads(client)), _LEAST))


def _tasks(source: Array, target: Array, boxes: tuple[list[int], int], memory: int, client: Any) -> Iterator[_Task]:
    """Yields ranges of boxes, one range for each task. If there are many boxes, a range has several, since scheduling a task takes
    time."""
    lengths, count = boxes
    box = math.prod(lengths) * max(target.dtype.itemsize, 1)
    many = max(1, min(memory // max(box, 1), -(-count // (_TASKS * _threads(client)))))
    for start in range(0, count, many):
        yield _Boxes(source, target, lengths, (start, min(start + many, count)), memory)


def _copying(source: Array, target: Array, memory: int, client: Any) -> Iterable[_Task]:
    try:
        memory = _memory(source, memory, client)
        boxes = source._native.rechunk_plan(target._native, memory)[1]
    except (AttributeError, TypeError, DataTypeMismatchError):
        # Elements are converted.
        ends = [[0, *itertools.accumulate(sizes)] for sizes in target.write_chunk_sizes]
        spans = [[slice(*pair) for pair in itertools.pairwise(each)] for each in ends]
        return (_Region(source, target, region) for region in itertools.product(*spans))
    return _tasks(source, target, boxes, memory, client)


def _run(tasks: list[_Task], client: Any) -> None:
    """Runs all tasks, and raises the error of the first one that fails."""
    if client is not None:
        futures = [client.submit(task, key=f"zarrox-{uuid4().hex}", pure=False) for task in tasks]
        try:
            client.gather(futures)
        finally:
            client.cancel(futures)
        return
    from dask.base import compute
    from dask.delayed import delayed

    compute(*(delayed(task, pure=False)() for task in tasks))


def _delete(array: Array) -> None:
    """Deletes an array that has its own store, and the directory of the store."""
    _native.delete_node(native_store(array._store), array.path)
    if isinstance(array._store, DirectoryStore):
        with suppress(OSError):
            os.rmdir(array._store.path)


def _counterpart(
    node: Array | Group, store: Any, path: str, overwrite: bool, options: dict[str, Any]
) -> Array | Group:
    if isinstance(node, Array):
        return from_array(store, data=node, name=path or None, write_data=False, overwrite=overwrite, **_attributes(node, options.get("zarr_format")), **options)
    zarr_format = options.get("zarr_format") or (3 if node._native.format == "3" else 2)
    return open_group(store, mode="w" if overwrite else "w-", path=path, zarr_format=zarr_format, attributes=node.attrs.asdict())


def _attributes(array: Array, zarr_format: int | None) -> dict[str, Any]:
    """Returns the attributes and the dimension names. In format 2, the dimension names are an attribute."""
    attributes, names = array.attrs.asdict(), array._native.dimension_names
    if zarr_format == 3 and names is None:
        names = attributes.pop(DIMENSIONS, None)
    if zarr_format == 2 and names is not None and None not in names:
        attributes[DIMENSIONS], names = list(names), None
    return {"attributes": attributes} | ({} if names is None else {"dimension_names": names})


def _opened(source: Any, component: str | None = None, storage_options: Any = None, mode: str = "r", **options: Any) -> Array:
    if isinstance(source, Array):
        if component is not None:
            raise ValueError(f"component is the path of an array in a store, but {source!r} is an array")
        return source
    return open_array(source, mode=options.pop("mode", mode), path=component, storage_options=_dict(storage_options), **options)


def _created(
    data: da.Array, place: StoreArgument, component: str | None, storage_options: Any, mode: str, options: dict[str, Any]
) -> Array:
    store = normalize_store_arg(place, storage_options=_dict(storage_options), mode="a")
    if mode == "w" and any(is_at(source, place_of(store, component or "")) for source in places_of(data)):
        raise ValueError("the data is read from the array that would be deleted: write it to another place")
    options = {"shape": data.shape, "dtype": data.dtype} | options
    options.setdefault("chunks", tuple(max(*lengths, 1) for lengths in data.chunks))
    return create_array(store, name=component, overwrite=mode == "w", **options)


def _component(component: str | None, options: dict[str, Any]) -> str | None:
    """Returns the path of a new array, which Dask's own function also accepts as ``name``."""
    name = options.pop("name", None)
    if component is not None and name is not None:
        raise ValueError(f"component={component!r} and name={name!r} are aliases: give one of them")
    return component if name is None else name


def _mode(mode: str, overwrite: bool) -> str:
    if mode not in ("a", "w", "w-"):
        raise ValueError(f"mode must be 'a', 'w' or 'w-' for a new array, not {mode!r}")
    if overwrite and mode == "w-":
        raise ValueError("overwrite=True contradicts mode='w-': give one of them")
    return "w" if overwrite else mode


def _client(client: Any) -> Any:
    """Returns the given client, or the current client of this thread; ``None`` if there is none."""
    if client is not None:
        return client
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


def _threads(client: Any) -> int:
    return (os.cpu_count() or 1) if client is None else max(1, sum(client.nthreads().values()))


def _check_shared(array: Array, client: Any) -> None:
    """Rejects an array in the memory of this process if other processes must access it."""
    if client is not None and is_in_memory(array._store) and not _is_in_this_process(client):
        raise ValueError(
            f"{array!r} is in the memory of this process, and each process of the cluster would have its own copy: "
            "use a store that all processes can access"
        )


def _is_in_this_process(client: Any) -> bool:
    """Returns true for a cluster whose workers are threads of this process."""
    return bool(all(address.startswith("inproc://") for address in client.nthreads()))


def _dict(options: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if options is None else dict(options)
