"""Datasets, arrays of data and trees of xarray are written."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Literal

import xarray as xr
from xarray import conventions
from xarray.backends.common import ArrayWriter

import zarrox
from zarrox import _native
from zarrox.argument_types import StoreArgument
from zarrox.storage import BaseStore, native_store, normalize_store_arg
from zarrox.xarray.opening import is_store
from zarrox.xarray.regions import Region, check_region, slices_of
from zarrox.xarray.store import ZarroxStore

Mode = Literal["w", "w-", "a", "a-", "r+"]
#: The encoding of each variable.
Encoding = Mapping[Hashable, Mapping[str, Any]]
#: The name of the variable of a `xarray.DataArray` that has no name, which ``xarray.open_dataarray`` forgets again.
_UNNAMED = "__xarray_dataarray_variable__"


def to_zarr(
    data: xr.Dataset | xr.DataArray | xr.DataTree,
    store: StoreArgument = None,
    mode: Mode | None = None,
    group: str | None = None,
    encoding: Encoding | Mapping[str, Encoding] | None = None,
    *,
    compute: bool = True,
    consolidated: bool | None = None,
    append_dim: Hashable | None = None,
    region: Region | None = None,
    safe_chunks: bool = True,
    align_chunks: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: Literal[2, 3] | None = None,
    write_empty_chunks: bool | None = None,
    chunkmanager_store_kwargs: Mapping[str, Any] | None = None,
    write_inherited_coords: bool = False,
) -> Any:
    """Writes a dataset, an array of data or a tree, with the arguments of xarray's methods ``to_zarr``.

    Parameters
    ----------
    data : xarray.Dataset, xarray.DataArray or xarray.DataTree
        The data. Variables of Dask are written in parallel, in whichever threads or processes Dask works.
    store : str, path, mapping or zarrox store, optional
        The target; a store in memory if it is not given.
    mode : {"w", "w-", "a", "a-", "r+"}, optional
        ``"w"`` deletes what is there, ``"w-"`` fails if there is something, ``"a"`` writes into variables that are
        there and adds others, ``"a-"`` leaves those without ``append_dim`` alone, ``"r+"`` writes only into what is
        there. By default ``"a"`` with ``append_dim``, ``"r+"`` with ``region``, ``"w-"`` otherwise.
    group : str, optional
        The path of the group.
    encoding : mapping, optional
        For each variable: ``chunks``, ``shards``, ``filters``, ``compressor`` or ``compressors``, ``serializer``,
        ``order``, ``fill_value`` (format 3), ``write_empty_chunks``, and CF's (``dtype``, ``scale_factor``,
        ``add_offset``, ``units``, ``calendar``, ``_FillValue``). For a tree, such a mapping for each path of a group.
    compute : bool
        ``False`` writes the metadata, and returns an object that writes the values when it is computed.
    consolidated : bool, optional
        Whether a copy of all metadata is written. By default in format 2, unless ``mode="r+"``: format 3 has no such
        thing in its specification. A copy that is there is brought up to date in any case.
    append_dim : hashable, optional
        The dimension along which the dataset is appended.
    region : mapping or "auto", optional
        For each dimension the slice that is written. ``"auto"`` finds it by the coordinates.
    safe_chunks : bool
        ``False`` with ``align_chunks=False`` writes pieces of Dask as they are, also where several are in one stored chunk,
        or shard. Such chunks are written more than once. Nothing is lost where the store keeps writers apart, as
        directories and databases do.
    align_chunks : bool
        ``True`` cuts the pieces of Dask at the borders of stored chunks, or shards, so that none is written twice.
        ``False`` refuses pieces that share stored chunks, unless ``safe_chunks=False``.
    storage_options : mapping, optional
        Options of a URL, or of a directory.
    zarr_format : {2, 3}, optional
        The format of a group that is made; by default that of the root above it, or 2.
    write_empty_chunks : bool, optional
        Whether chunks of nothing but the fill value are stored.
    chunkmanager_store_kwargs : mapping, optional
        Arguments for the function that stores chunked arrays: ``dask.array.store``.
    write_inherited_coords : bool
        ``True`` writes coordinates that groups of a tree inherit into each of these groups.

    Returns
    -------
    ZarroxStore or dask.delayed.Delayed
        The second for ``compute=False``.

    Raises
    ------
    zarrox.errors.ContainsNodeError
        There is something, and ``mode`` is ``"w-"``.
    ValueError
        The dataset does not fit into the arrays that are there, or an encoding cannot be done.

    Examples
    --------
    >>> import xarray as xr
    >>> from zarrox.xarray import to_zarr
    >>> days = xr.Dataset({"rain": ("day", [0.0, 2.5])}, coords={"day": [1, 2]})
    >>> _ = to_zarr(days, "rain.zarr", zarr_format=3)
    >>> _ = to_zarr(days.assign_coords(day=[3, 4]), "rain.zarr", append_dim="day")
    >>> xr.open_dataset("rain.zarr", engine="zarrox").sel(day=4).rain.item()
    2.5
    """
    mode = _mode(mode, append_dim, region)
    base = normalize_store_arg(store, storage_options=_plain_dict(storage_options), mode="w" if mode == "w" else "a")
    if zarr_format is None and group:
        zarr_format = _format_of_root(base)
    parts = list(_parts(data, encoding or {}, write_inherited_coords))
    for (_, dataset), wanted in parts:
        _check_names(dataset, wanted)
    opened = zarrox.open_group(base, mode="a" if mode == "a-" else mode, path=group, zarr_format=zarr_format)
    target = ZarroxStore(
        opened,
        mode,
        append_dim=append_dim,
        align_chunks=align_chunks,
        safe_chunks=safe_chunks,
        write_empty_chunks=write_empty_chunks,
        close=not is_store(store),
    )
    with ExitStack() as finally_:
        if compute:
            finally_.callback(target.close)
        writer = ArrayWriter()
        for (path, dataset), wanted in parts:
            place = target.child(path) if path else target
            _add(dataset, place, wanted, region, append_dim, writer)
        if consolidated or (consolidated is None and target.zarr_format == 2 and mode != "r+"):
            # Of the whole store, as other readers look for it there.
            _native.consolidate(native_store(base), "")
        writes = writer.sync(compute=compute, chunkmanager_store_kwargs=_plain_dict(chunkmanager_store_kwargs))
    return target if compute else writes


def _parts(
    data: xr.Dataset | xr.DataArray | xr.DataTree, encoding: Mapping[Any, Any], inherited: bool
) -> Iterator[tuple[tuple[str, xr.Dataset], Encoding]]:
    """The datasets of data with their paths below the group, and the encoding of each."""
    if isinstance(data, xr.DataTree):
        if unknown := sorted(set(encoding) - set(data.groups)):
            raise ValueError(f"encoding is given for the groups {unknown!r}, which the tree does not have")
        for path, node in data.subtree_with_keys:
            dataset = node.to_dataset(inherit=inherited or node is data)
            yield ("" if node is data else path, dataset), encoding.get(node.path, {})
    elif isinstance(data, xr.DataArray):
        is_apart = data.name is not None and (data.name not in data.coords and data.name not in data.dims)
        yield ("", data.to_dataset(name=data.name if is_apart else _UNNAMED)), encoding
    else:
        yield ("", data), encoding


def _add(
    dataset: xr.Dataset,
    target: ZarroxStore,
    encoding: Encoding,
    region: Region | None,
    append_dim: Hashable | None,
    writer: ArrayWriter,
) -> None:
    """Writes the metadata of one group, and hands its values to the writer."""
    if region is not None:
        target._region = slices_of(target, dataset, region)
        # Indexes stay as they are.
        dataset = dataset.drop_vars(list(dataset.indexes))
        check_region(dataset, target._region, append_dim)
    if target._mode != "w" and (known := sorted(set(map(str, encoding)) & set(target.group.array_keys()))):
        raise ValueError(f"{known!r} are in the store already: their encoding cannot change")
    variables, attributes = conventions.encode_dataset_coordinates(dataset)
    for name, wanted in encoding.items():
        variables[name].encoding = dict(wanted)
    target.store(variables, attributes, set(encoding), writer)


def _plain_dict(options: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if options is None else dict(options)


def _mode(mode: Mode | None, append_dim: Hashable | None, region: Region | None) -> Mode:
    if mode is None:
        mode = "a" if append_dim is not None else "r+" if region is not None else "w-"
    if mode not in ("w", "w-", "a", "a-", "r+"):
        raise ValueError(f"mode is {mode!r}, and can be 'w', 'w-', 'a', 'a-' and 'r+'")
    if append_dim is not None and mode not in ("a", "a-"):
        raise ValueError(f"append_dim needs mode='a', not {mode!r}")
    if region is not None and mode not in ("a", "a-", "r+"):
        raise ValueError(f"region needs mode='a' or 'r+', not {mode!r}")
    return mode


def _check_names(dataset: xr.Dataset, encoding: Mapping[Hashable, Any]) -> None:
    for name in dataset.variables:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name {name!r} of a variable is not text: Zarr has no other names")
    if unknown := [name for name in encoding if name not in dataset.variables]:
        raise ValueError(f"encoding is given for {unknown!r}, which the dataset does not have")


def _format_of_root(store: BaseStore) -> Literal[2, 3] | None:
    """The format that a new group should have, so that those who read the root by its consolidated metadata find it."""
    try:
        format = _native.open_node(native_store(store), "", "r").format
    except zarrox.errors.NodeNotFoundError:
        return None
    return 3 if format == "3" else 2 if format == "2" else None
