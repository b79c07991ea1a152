"""Writes xarray's datasets, data arrays and trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

import xarray as xr
from xarray import conventions

import zarrox
from zarrox import _native, errors
from zarrox.argument_types import StoreArgument
from zarrox.core.array import Array
from zarrox.core.formats import format_of_new
from zarrox.hierarchy import Group
from zarrox.storage import BaseStore, native_store, normalize_storage_path, normalize_store_arg
from zarrox.xarray.execution import (
    Plans,
    growing,
    longer,
    prepare,
    reopened,
    set_attributes,
    write_pieces,
    write_values,
)
from zarrox.xarray.faults import Faults
from zarrox.xarray.opening import is_store
from zarrox.xarray.plan import Plan, Wanted, Write, plan, stored_name
from zarrox.xarray.regions import Region, slices_of
from zarrox.xarray.rehearsal import check_labels_of_region, check_sources, rehearse
from zarrox.xarray.repeated import is_repeated
from zarrox.xarray.replacing import Beside, beside
from zarrox.xarray.store import ZarroxStore
from zarrox.xarray.undo import Undo

Mode = Literal["w", "w-", "a", "a-", "r+"]
#: The encoding of each variable.
Encoding = Mapping[Hashable, Mapping[str, Any]]
#: For each group, its path below the group that is written, its dataset, and the encoding.
Parts = Sequence[tuple[tuple[str, xr.Dataset], Encoding]]
#: The name that the variable of an unnamed `xarray.DataArray` gets; ``xarray.open_dataarray`` removes it again.
_UNNAMED = "__xarray_dataarray_variable__"
#: The attribute that stores the name of an `xarray.DataArray` whose variable must have another name.
_NAME = "__xarray_dataarray_name__"


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
    """Writes a dataset, a data array or a tree, with the arguments of xarray's methods ``to_zarr``.

    Parameters
    ----------
    data : xarray.Dataset, xarray.DataArray or xarray.DataTree
        The data. Dask arrays are written in parallel, in the threads or processes of Dask.
    store : str, path, mapping, store of zarrox or of zarr-python, optional
        The destination; by default a new store in memory.
    mode : {"w", "w-", "a", "a-", "r+"}, optional
        ``"w"`` replaces an existing group; ``"w-"`` fails if a group exists; ``"a"`` writes into existing variables and
        adds others; ``"a-"`` is like ``"a"``, but does not change existing variables without ``append_dim``; ``"r+"``
        writes only into existing variables. The default is ``"a"`` with ``append_dim``, ``"r+"`` with ``region``, and
        otherwise ``"w-"``.
    group : str, optional
        The path of the group.
    encoding : mapping, optional
        For each variable: ``chunks``, ``shards``, ``filters``, ``compressor`` or ``compressors``, ``serializer``,
        ``order``, ``fill_value`` (format 3), ``write_empty_chunks``, and CF's (``dtype``, ``scale_factor``,
        ``add_offset``, ``units``, ``calendar``, ``_FillValue``). For a tree, such a mapping for each path of a group.
    compute : bool
        ``False`` writes the metadata, and returns an object that writes the values when it is computed.
    consolidated : bool, optional
        Whether consolidated metadata is written. By default true in format 2, unless ``mode="r+"``, and false in format
        3, whose specification does not define it. Existing consolidated metadata is always updated.
    append_dim : hashable, optional
        The dimension along which the dataset is appended.
    region : mapping or "auto", optional
        For each dimension the slice that is written. ``"auto"`` finds the slice by the coordinates.
    safe_chunks : bool
        ``True`` with ``align_chunks=False`` and ``mode="r+"`` also refuses blocks that share stored chunks with
        elements outside of the region, since other writers may change these elements. ``False`` with
        ``align_chunks=False`` writes blocks of a Dask array unchanged, even if several blocks are in one stored chunk
        or shard. Such chunks are written more than once. No update is lost if the store excludes concurrent writers, as
        directories and databases do.
    align_chunks : bool
        ``True`` splits the blocks of a Dask array at the borders of stored chunks or shards, so that none is written
        twice. ``False`` refuses blocks that share stored chunks, unless ``safe_chunks=False``.
    storage_options : mapping, optional
        Options of a URL, or of a directory.
    zarr_format : {2, 3}, optional
        The format of a new group; by default the format of its parent group, or 2.
    write_empty_chunks : bool, optional
        Whether chunks with only the fill value are stored.
    chunkmanager_store_kwargs : mapping, optional
        Arguments for the function that stores chunked arrays: ``dask.array.store``.
    write_inherited_coords : bool
        ``True`` writes coordinates that groups of a tree inherit into each of these groups.

    Returns
    -------
    ZarroxStore or dask.delayed.Delayed
        The store, or, with ``compute=False``, the delayed write.

    Raises
    ------
    zarrox.errors.ContainsNodeError
        If a node exists, and ``mode`` is ``"w-"``.
    ValueError
        If the dataset does not fit into the existing arrays, or an encoding is not supported.

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
    parts = list(_parts(data, encoding or {}, write_inherited_coords))
    for (_, dataset), wanted in parts:
        _check_names(dataset, wanted)
    with ExitStack() as on_error:
        target = _Target(store, _plain_dict(storage_options), mode, group, zarr_format)
        if not is_store(store):
            on_error.callback(target.store.close)
        consolidates = bool(consolidated) or (consolidated is None and target.format == "2" and mode != "r+")
        how = _How(
            align_chunks, safe_chunks, compute, consolidates, write_empty_chunks, _plain_dict(chunkmanager_store_kwargs)
        )
        opened, writes = _write(target, parts, how, region, append_dim)
        on_error.pop_all()
    written = ZarroxStore(opened, close=not is_store(store))
    if not compute:
        return _delayed(writes, written)
    written.close()
    return written


def _write(
    target: _Target, parts: Parts, how: _How, region: Region | None, append_dim: Hashable | None
) -> tuple[Group, Any]:
    """Plans and writes. Writers that append to the same dataset wait for one another."""
    if append_dim is None or target.group is None:
        return _planned_and_written(target, parts, how, region, append_dim)

    def append(growth: _native.Growth) -> tuple[Group, Any]:
        target.reopen()
        groups = [(path, target.arrays_at(path), dataset) for (path, dataset), _ in parts]
        again = is_repeated(growth, groups, append_dim, region)
        return _planned_and_written(target, parts, replace(how, growth=growth, is_repeated=again), region, append_dim)

    return _native.grow_with(target.group._native, append)


def _planned_and_written(
    target: _Target, parts: Parts, how: _How, region: Region | None, append_dim: Hashable | None
) -> tuple[Group, Any]:
    """Plans all changes, rejects an invalid plan before anything is changed, and writes."""
    faults = Faults()
    if how.consolidates and target.format not in ("2", "3"):
        faults.add(f"consolidated=True: Zarr {target.format} does not define consolidated metadata")
    plans = [
        (path, _plan(target, path, dataset, wanted, how, region, append_dim, faults)) for (path, dataset), wanted in parts
    ]
    faults.raise_all()
    place = beside(target.store, target.path) if target.group is None else None
    checks_pieces = how.is_safe and not how.aligns
    rehearse(target.group, plans, target.format, checks_pieces, checks_pieces and target.mode == "r+", faults)
    if place is None or not how.compute:
        check_sources(target.store, target.path, plans, target.group is None, faults)
    faults.raise_all()

    is_copied_above = place is not None and bool(target.path)
    renews = how.consolidates or ((is_copied_above or how.is_repeated) and target.is_consolidated)
    written = _write_there(target, plans, how) if place is None else _write_beside(target, place, plans, how)
    if renews or (target.mode != "r+" and not region and target.misses_in_copy(plans)):
        # The whole store is consolidated, since other readers look for consolidated metadata at its root.
        _native.consolidate(native_store(target.store), "")
    return written


def _delayed(writes: Any, written: ZarroxStore) -> Any:
    """Returns an object that writes, and then closes the store, when it is computed."""
    from dask.delayed import delayed

    return delayed(_closed)(writes, written)


def _closed(writes: Any, written: ZarroxStore) -> None:
    written.close()


def _parts(
    data: xr.Dataset | xr.DataArray | xr.DataTree, encoding: Mapping[Any, Any], inherited: bool
) -> Iterator[tuple[tuple[str, xr.Dataset], Encoding]]:
    """Yields each dataset in the data with its path below the group and its encoding."""
    if isinstance(data, xr.DataTree):
        if unknown := sorted(set(encoding) - set(data.groups)):
            raise ValueError(f"encoding is given for the groups {unknown!r}, which the tree does not have")
        for path, node in data.subtree_with_keys:
            dataset = node.to_dataset(inherit=inherited or node is data)
            yield ("" if node is data else path, dataset), encoding.get(node.path, {})
    elif isinstance(data, xr.DataArray):
        yield ("", _dataset_of(data)), encoding
    else:
        yield ("", data), encoding


def _dataset_of(data: xr.DataArray) -> xr.Dataset:
    """Returns a data array as the dataset that ``xarray.open_dataarray`` expects."""
    if data.name is None:
        return data.to_dataset(name=_UNNAMED)
    if data.name not in data.coords and data.name not in data.dims:
        return data.to_dataset()
    # The name is that of the coordinates of a dimension.
    return data.to_dataset(name=_UNNAMED).assign_attrs({_NAME: data.name})


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
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name {name!r} of a variable is not text: Zarr has no other names")
        if name == "":
            raise ValueError("a variable has an empty name: give it another one")
    if unknown := [name for name in encoding if name not in dataset.variables]:
        raise errors.NameNotFoundError(f"encoding is given for {unknown!r}, which the dataset does not have")


@dataclass(frozen=True)
class _How:
    """The method of writing values, the reservation of an append, and whether all rows of the append already exist."""

    aligns: bool
    is_safe: bool
    compute: bool
    consolidates: bool
    write_empty_chunks: bool | None
    options: Mapping[str, Any] | None
    growth: _native.Growth | None = None
    is_repeated: bool = False


class _Target:
    """The group that is written, in its state before the write.

    Attributes
    ----------
    store : BaseStore
        The store.
    path : str
        The path of the group in it.
    mode : str
        The mode.
    group : Group or None
        The group, if it exists and stays.
    format : str
        The format that the group has, or will have.
    """

    def __init__(
        self,
        store: StoreArgument,
        storage_options: dict[str, Any] | None,
        mode: str,
        path: str | None,
        zarr_format: int | None,
    ) -> None:
        # Opening an archive with mode "w" empties it immediately.
        self.store = normalize_store_arg(store, storage_options=storage_options, mode="a")
        self.path = normalize_storage_path(path)
        self.mode = mode
        self.group: Group | None = None
        kind = _native.node_kind(native_store(self.store), self.path)
        if mode == "w-" and kind is not None:
            found = errors.ContainsArrayError if kind == "array" else errors.ContainsGroupError
            raise found(f"there is a node already at path {self.path!r}: use mode='w', or 'a' to add to it")
        if mode in ("a", "a-", "r+") and (kind is not None or mode == "r+"):
            self.group = zarrox.open_group(self.store, mode="r+", path=self.path, zarr_format=zarr_format)
            self.format: Any = self.group._native.format
            return
        self.format = format_of_new(self.store, self.path, zarr_format, default=Array._default_format())

    def reopen(self) -> None:
        """Opens the group again, since another writer may have changed it."""
        self.group = self.opened(self.store, self.path, "r+")

    @property
    def zarr_format(self) -> Literal[2, 3]:
        return 3 if self.format == "3" else 2

    @property
    def is_consolidated(self) -> bool:
        """True if consolidated metadata exists."""
        return self._copy() is not None

    def misses_in_copy(self, plans: Plans) -> bool:
        """Returns true if an array in these plans is missing from the consolidated metadata, as after an interrupted write."""
        copy = self._copy()
        if copy is None:
            return False
        places = ((*filter(None, (self.path, path, write.name)),) for path, plan in plans for write in plan.writes)
        return not all("/".join(place) in copy for place in places)

    def _copy(self) -> Group | None:
        try:
            return zarrox.open_group(self.store, mode="r", use_consolidated=True)
        except (errors.NodeNotFoundError, ValueError, OSError):
            return None

    def arrays_at(self, path: str) -> dict[str, xr.Variable]:
        """Returns the arrays of the group, or of a group below it, as encoded variables."""
        if self.group is None:
            return {}
        try:
            group = self.group[path] if path else self.group
        except KeyError:
            return {}
        return ZarroxStore(group).get_variables()

    def opened(self, store: BaseStore, path: str, mode: str) -> Group:
        return zarrox.open_group(store, mode=mode, path=path, zarr_format=None if mode == "r+" else self.format)


def _plan(
    target: _Target,
    path: str,
    dataset: xr.Dataset,
    encoding: Encoding,
    how: _How,
    region: Region | None,
    append_dim: Hashable | None,
    faults: Faults,
) -> Plan:
    """Returns the changes of a group."""
    stored = target.arrays_at(path)
    slices = {}
    if region is not None:
        slices = slices_of(stored, dataset, region, append_dim)
        check_labels_of_region(stored, dataset, slices, faults)
        # Indexes are unchanged.
        dataset = dataset.drop_vars(list(dataset.indexes))
    if known := sorted(set(map(stored_name, encoding)) & set(stored)):
        faults.add(f"{known!r} are in the store already: their encoding cannot change")
    variables, attributes = conventions.encode_dataset_coordinates(dataset)
    for name, wanted in encoding.items():
        variables[name].encoding = dict(wanted)
    return plan(
        stored,
        variables,
        attributes,
        Wanted(target.mode, target.zarr_format, append_dim, slices, how.write_empty_chunks, how.is_repeated),
        set(encoding),
        faults,
    )


def _write_there(target: _Target, plans: Plans, how: _How) -> tuple[Group, Any]:
    """Writes a group in place, and undoes a failed write."""
    undo = Undo()
    try:
        group = target.group
        if group is None:
            undo.will_create_above(target.store, target.path)
            group = target.opened(target.store, target.path, "w" if target.mode == "w" else "a")
            undo.created(group)
        prepared = _fill(group, plans, how, undo)
        writes = None if how.compute else write_pieces(prepared, how.aligns, False, how.options)
    except BaseException:
        undo.all()
        raise
    return group, writes


def _write_beside(target: _Target, place: Beside, plans: Plans, how: _How) -> tuple[Group, Any]:
    """Writes the new group beside the old one, which is kept until the new one is complete."""
    with ExitStack() as finally_:
        finally_.callback(place.discard)
        group = target.opened(place.store, "", "w")
        _fill(group, plans, how, Undo())
        if how.consolidates and not target.path:
            _native.consolidate(native_store(place.store), "")
        place.put_in_place(overwrite=target.mode == "w")
    group = target.opened(target.store, target.path, "r+")
    if how.compute:
        return group, None
    return group, write_pieces(reopened(group, plans), how.aligns, False, how.options)


def _fill(group: Group, plans: Plans, how: _How, undo: Undo) -> list[tuple[Array, Write]]:
    """Creates missing groups and arrays, and writes all values that are not delayed."""
    prepared = prepare(group, plans, undo)
    if how.growth is not None and not how.is_repeated:
        how.growth.note(list(longer(group, prepared)), how.compute)

    def work(arrays: Sequence[tuple[Array, Write]]) -> None:
        if how.compute:
            write_pieces(arrays, how.aligns, True, how.options)
        write_values(arrays)

    growing(prepared, work)
    set_attributes(group, plans)
    return prepared
