"""xarray reads and writes Zarr with Zarrox: ``xr.open_dataset(store, engine="zarrox")`` and `to_zarr`.

What stands in a store is what xarray's own Zarr engine writes and reads: variables are arrays whose dimensions are
named by the attribute ``_ARRAY_DIMENSIONS`` (format 2) or ``dimension_names`` (format 3), with CF conventions, which
xarray itself encodes and decodes.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from xarray import conventions
from xarray.backends.common import ArrayWriter, BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint

import zarrox
from zarrox import _native
from zarrox._xarray_store import ZarroxStore
from zarrox.argument_types import StoreArgument
from zarrox.core.settings import Settings
from zarrox.hierarchy import Group
from zarrox.storage import BaseStore, native_store, normalize_storage_path, normalize_store_arg

__all__ = ["ZarroxBackendEntrypoint", "ZarroxStore", "to_zarr"]

Mode = Literal["w", "w-", "a", "a-", "r+"]
StorageOptions = dict[str, Any]
Region = Mapping[Hashable, slice | Literal["auto"]] | Literal["auto"]


class ZarroxBackendEntrypoint(BackendEntrypoint):
    """The backend of xarray that ``engine="zarrox"`` chooses.

    Beside xarray's own arguments there are ``group``, the path of the group; ``storage_options`` of a URL;
    ``consolidated`` (``True`` demands the copy of all metadata, ``None`` takes it if it is there); ``zarr_format``;
    and ``use_zarr_fill_value_as_mask`` (whether the fill value stands for missing values: by default in format 2).

    Examples
    --------
    >>> import xarray as xr
    >>> from zarrox.xarray_backend import to_zarr
    >>> _ = to_zarr(xr.Dataset({"t": ("x", [1.5, 2.5])}, attrs={"title": "two"}), "two.zarr")
    >>> ds = xr.open_dataset("two.zarr", engine="zarrox")
    >>> ds.title, ds.t.values.tolist()
    ('two', [1.5, 2.5])
    """

    description = "Every Zarr format, by Zarrox"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns true if this is the path or URL of a hierarchy, going by its ending."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return os.fspath(filename_or_obj).rstrip("/").endswith((".zarr", ".zarr.zip", ".n5"))

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        storage_options: StorageOptions | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xr.Dataset:
        """One group as a dataset. `ZarroxBackendEntrypoint` says what the arguments mean."""
        opened = _open(filename_or_obj, group, storage_options, consolidated, zarr_format)
        return self._dataset(
            ZarroxStore(opened, mask=use_zarr_fill_value_as_mask, close=not _is_store(filename_or_obj)),
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        storage_options: StorageOptions | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        **decoding: Any,
    ) -> dict[str, xr.Dataset]:
        """A group and all groups below it, by their paths."""
        opened = _open(filename_or_obj, group, storage_options, consolidated, zarr_format)
        stores = {path: ZarroxStore(each, mask=use_zarr_fill_value_as_mask) for path, each in _groups(opened, "/")}
        stores["/"]._close = not _is_store(filename_or_obj)
        return {path: self._dataset(store, **decoding) for path, store in stores.items()}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """A group and all groups below it, as a tree."""
        datasets = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(datasets)
        for path, dataset in datasets.items():
            tree[path].set_close(dataset._close)
        return tree

    def _dataset(self, store: ZarroxStore, **decoding: Any) -> xr.Dataset:
        with ExitStack() as on_error:
            on_error.callback(store.close)
            dataset: xr.Dataset = StoreBackendEntrypoint().open_dataset(store, **decoding)
            on_error.pop_all()
        return dataset


def to_zarr(
    dataset: xr.Dataset,
    store: StoreArgument,
    mode: Mode | None = None,
    *,
    group: str | None = None,
    encoding: Mapping[Hashable, Mapping[str, Any]] | None = None,
    append_dim: Hashable | None = None,
    region: Region | None = None,
    compute: bool = True,
    consolidated: bool | None = None,
    storage_options: StorageOptions | None = None,
    zarr_format: Literal[2, 3] | None = None,
    align_chunks: bool = True,
    write_empty_chunks: bool | None = None,
) -> Any:
    """Writes a dataset, as ``Dataset.to_zarr`` does.

    Parameters
    ----------
    dataset : xarray.Dataset
        What is written. Variables of Dask are written in parallel, in whichever threads or processes Dask works.
    store : str, path, mapping or zarrox store
        Where.
    mode : {"w", "w-", "a", "a-", "r+"}, optional
        ``"w"`` deletes what is there, ``"w-"`` fails if there is something, ``"a"`` writes into variables that are
        there and adds others, ``"a-"`` leaves those without ``append_dim`` alone, ``"r+"`` writes only into what is
        there. By default ``"a"`` with ``append_dim``, ``"r+"`` with ``region``, ``"w-"`` otherwise.
    group : str, optional
        The path of the group.
    encoding : mapping, optional
        For each variable: ``chunks``, ``shards``, ``filters``, ``compressor`` or ``compressors``, ``serializer``,
        ``order``, ``fill_value`` (format 3), ``write_empty_chunks``, and CF's (``dtype``, ``scale_factor``,
        ``add_offset``, ``units``, ``calendar``, ``_FillValue``).
    append_dim : hashable, optional
        The dimension along which the dataset is appended.
    region : mapping or "auto", optional
        For each dimension the slice that is written. ``"auto"`` finds it by the coordinates.
    compute : bool
        ``False`` writes the metadata, and returns what writes the values when it is computed.
    consolidated : bool, optional
        Whether a copy of all metadata is written. By default in format 2, unless ``mode="r+"``: format 3 has no such
        thing in its specification. A copy that is there is brought up to date in any case.
    storage_options : mapping, optional
        Of the URL.
    zarr_format : {2, 3}, optional
        Of a group that is made; by default that of the root above it, or 2.
    align_chunks : bool
        ``True`` cuts what Dask writes at the borders of stored chunks, or shards, so that none is written twice.
        ``False`` leaves it as it is, which is safe within one process alone.
    write_empty_chunks : bool, optional
        Whether chunks of nothing but the fill value are stored.

    Returns
    -------
    ZarroxStore or dask.delayed.Delayed
        The second for ``compute=False``.

    Raises
    ------
    zarrox.errors.ContainsNodeError
        There is something, and ``mode`` is ``"w-"``.
    ValueError
        The dataset does not fit what is there, or an encoding cannot be done.

    Examples
    --------
    >>> import xarray as xr
    >>> from zarrox.xarray_backend import to_zarr
    >>> days = xr.Dataset({"rain": ("day", [0.0, 2.5])}, coords={"day": [1, 2]})
    >>> _ = to_zarr(days, "rain.zarr", zarr_format=3)
    >>> _ = to_zarr(days.assign_coords(day=[3, 4]), "rain.zarr", append_dim="day")
    >>> xr.open_dataset("rain.zarr", engine="zarrox").sel(day=4).rain.item()
    2.5
    """
    mode = _mode(mode, append_dim, region)
    encoding = {} if encoding is None else encoding
    _check_names(dataset, encoding)
    base = normalize_store_arg(store, storage_options=storage_options, mode="w" if mode == "w" else "a")
    if zarr_format is None and group:
        zarr_format = _format_of_root(base)
    opened = zarrox.open_group(base, mode="a" if mode == "a-" else mode, path=group, zarr_format=zarr_format)
    target = ZarroxStore(
        opened,
        mode,
        append_dim=append_dim,
        align_chunks=align_chunks,
        write_empty_chunks=write_empty_chunks,
        close=not _is_store(store),
    )
    with ExitStack() as finally_:
        if compute:
            finally_.callback(target.close)
        if region is not None:
            target._region = _region(target, dataset, region)
            # Indexes stay what they are.
            dataset = dataset.drop_vars(list(dataset.indexes))
            _check_region(dataset, target._region, append_dim)
        if mode != "w" and (known := sorted(set(map(str, encoding)) & set(opened.array_keys()))):
            raise ValueError(f"{known!r} are in the store already: their encoding cannot change")
        writer = ArrayWriter()
        variables, attributes = conventions.encode_dataset_coordinates(dataset)
        for name, wanted in encoding.items():
            variables[name].encoding = dict(wanted)
        target.store(variables, attributes, set(encoding), writer)
        if consolidated or (consolidated is None and target.zarr_format == 2 and mode != "r+"):
            # Of the whole store, as other readers look for it there.
            _native.consolidate(native_store(base), "")
        writes = writer.sync(compute=compute)
    return target if compute else writes


def _open(
    store: StoreArgument,
    group: str | None,
    storage_options: StorageOptions | None,
    consolidated: bool | None,
    zarr_format: int | None,
) -> Group:
    """The group, for reading."""
    base = normalize_store_arg(store, storage_options=storage_options, mode="r")
    node = _node(
        native_store(base),
        normalize_storage_path(group),
        consolidated,
        None if zarr_format is None else str(zarr_format),
    )
    if isinstance(node, _native.Array):
        raise zarrox.errors.ContainsArrayError(
            f"{node.path or '/'} is an array, and a dataset is a group: open the group above"
        )
    return Group._of(node, base, Settings(read_only=True))


def _node(
    store: _native.Store, path: str, consolidated: bool | None, zarr_format: str | None
) -> _native.Array | _native.Group:
    """Opens the node at a path, by the consolidated metadata at the root of the store unless these are not wanted."""
    if not path or consolidated is False:
        return _native.open_node(store, path, "r", zarr_format, consolidated)
    try:
        root = _native.open_node(store, "", "r", zarr_format, consolidated)
    except zarrox.errors.NodeNotFoundError:
        if consolidated:
            raise
        # Not every store has a group at its root.
        return _native.open_node(store, path, "r", zarr_format)
    return root.open(path) if isinstance(root, _native.Group) else root


def _format_of_root(store: BaseStore) -> Literal[2, 3] | None:
    """The format that a new group should have, so that those who read the root by its consolidated metadata find it."""
    try:
        format = _native.open_node(native_store(store), "", "r").format
    except zarrox.errors.NodeNotFoundError:
        return None
    return 3 if format == "3" else 2 if format == "2" else None


def _groups(group: Group, path: str) -> Iterator[tuple[str, Group]]:
    yield path, group
    for name, child in group.groups():
        yield from _groups(child, f"{path.rstrip('/')}/{name}")


def _is_store(store: StoreArgument) -> bool:
    """Returns true if somebody else has opened it, and closes it."""
    return not isinstance(store, (str, os.PathLike))


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


def _region(store: ZarroxStore, dataset: xr.Dataset, region: Region) -> dict[Hashable, slice]:
    """The slice of each dimension; ``"auto"`` by the values of its coordinate."""
    wanted = dict.fromkeys(dataset.dims, region) if isinstance(region, str) else dict(region)
    return {
        dimension: _position(store, dataset, dimension) if isinstance(part, str) else part
        for dimension, part in wanted.items()
    }


def _position(store: ZarroxStore, dataset: xr.Dataset, dimension: Hashable) -> slice:
    """Where the coordinates of a dataset stand among those that are stored."""
    if dimension not in dataset.variables:
        return slice(0, dataset.sizes[dimension])
    stored = conventions.decode_cf_variable(dimension, store.open_variable(store.group[str(dimension)]).load())
    places = pd.Index(stored.values).get_indexer(dataset[dimension].values)
    if (places < 0).any() or (np.diff(places) != 1).any():
        raise ValueError(
            f"the coordinates of {dimension!r} are no contiguous part of those in the store: give its region as a slice"
        )
    return slice(int(places[0]), int(places[-1]) + 1)


def _check_region(dataset: xr.Dataset, region: Mapping[Hashable, slice], append_dim: Hashable | None) -> None:
    for dimension, part in region.items():
        if dimension not in dataset.dims:
            raise ValueError(f"region has {dimension!r}, which is no dimension of the dataset: {list(dataset.dims)}")
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"the region of {dimension!r} is {part!r}, and must be a slice without a step")
    if append_dim in region:
        raise ValueError(f"{append_dim!r} is in region and in append_dim")
    if apart := [name for name, variable in dataset.variables.items() if not set(region) & set(variable.dims)]:
        raise ValueError(f"{apart!r} have no dimension of the region: drop them, or write them without a region")
