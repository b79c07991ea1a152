"""Checks a plan without the store, and checks the sources of its values."""

from __future__ import annotations

import itertools
import json
from collections.abc import Hashable, Mapping

import xarray as xr

from zarrox.core.array import Array
from zarrox.core.sources import Place, is_at, place, places_of
from zarrox.api.creation import create_array
from zarrox.hierarchy import Group
from zarrox.storage import BaseStore, MemoryStore
from zarrox.xarray.execution import Plans
from zarrox.xarray.faults import Faults
from zarrox.xarray.pieces import cut, shorten, stored_sizes
from zarrox.xarray.plan import Write, like, same_values


def rehearse(
    root: Group | None, plans: Plans, format: str, checks_pieces: bool, checks_borders: bool, faults: Faults
) -> None:
    """Creates the new arrays in memory, to check whether they can be created."""
    for path, plan in plans:
        with faults.caught():
            json.dumps(plan.attributes)
        for write in plan.writes:
            with faults.caught():
                if write.creation is not None:
                    array = create_array(MemoryStore(), zarr_format=format, **write.creation)
                elif checks_pieces and root is not None:
                    array = root[f"{path}/{write.name}" if path else write.name]
                else:
                    continue
                if checks_pieces:
                    _check_pieces(array, write)
                    if checks_borders:
                        _check_borders(array, write)


def _check_pieces(array: Array, write: Write) -> None:
    variable = write.variable
    if variable.chunks is not None and cut(array, variable, write.shape, write.region) is not variable:
        raise ValueError(
            f"the pieces {variable.chunks} of {write.name!r} share stored chunks, whose lengths are "
            f"{shorten(stored_sizes(array, write.shape))}: cut them with align_chunks=True, rechunk them, or write them "
            "as they are with safe_chunks=False"
        )


def _check_borders(array: Array, write: Write) -> None:
    """Checks that the region begins and ends at boundaries of stored chunks."""
    if write.variable.chunks is None:
        return
    for dimension, part, sizes in zip(
        write.variable.dims, write.region, stored_sizes(array, write.shape), strict=True
    ):
        borders = {0, *itertools.accumulate(sizes)}
        for border in (part.start or 0, part.stop):
            # The last chunk may extend beyond the array.
            if border is not None and border not in borders:
                raise ValueError(
                    f"the region of {write.name!r} along {dimension!r} has a border at {border}, within a stored chunk: who "
                    "writes the part beside it at the same time would write the same chunk. Let regions begin and end "
                    f"where chunks do ({shorten((sizes,))[0]} long), or use mode='a', align_chunks=True or safe_chunks=False"
                )


def check_labels_of_region(
    stored: Mapping[str, xr.Variable], dataset: xr.Dataset, region: Mapping[Hashable, slice], faults: Faults
) -> None:
    """Checks that the coordinates of a region are equal to the stored coordinates, since only the other variables are written."""
    for name in dataset.indexes:
        there = stored.get(str(name))
        if there is None or there.dims != (name,):
            continue
        with faults.caught():
            part = there.isel({name: region.get(name, slice(None))})
            if not same_values(like(there, str(name), dataset.variables[name]), part):
                faults.add(
                    f"the coordinates {name!r} are others than those of the region in the store, and would be ignored: "
                    "give the region that they have, or drop them"
                )


def check_sources(store: BaseStore, path: str, plans: Plans, is_replaced: bool, faults: Faults) -> None:
    """Checks that no source of the values is changed before it is read.

    Lazy values are read immediately; chunked arrays are rejected.
    """
    root = place(store, path)
    changed: list[Place] = [root] if is_replaced else []
    for below, plan in plans:
        prefix = "/".join(part for part in (path, below) if part)
        changed += [
            place(store, f"{prefix}/{write.name}" if prefix else write.name)
            for write in plan.writes
            if write.creation is None
        ]
    for _, plan in plans:
        for write in plan.writes:
            if not any(is_at(source, each) for source in places_of(write.variable._data) for each in changed):
                continue
            if write.variable.chunks is None:
                write.variable.load()
            else:
                faults.add(
                    f"variable {write.name!r} is read from what would be changed: parts would be overwritten before they are "
                    "read. Load it before, or write it to another place"
                )
