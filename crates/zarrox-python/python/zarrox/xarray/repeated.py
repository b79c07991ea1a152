"""Detects the repetition of an append that was killed after all its rows had been stored."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import xarray as xr

from zarrox import _native
from zarrox.xarray.plan import like, same_values
from zarrox.xarray.regions import Region, slices_of

#: For each group that is written, its path, its arrays as encoded variables, and the dataset that is written.
Groups = Sequence[tuple[str, Mapping[str, xr.Variable], xr.Dataset]]


def is_repeated(growth: _native.Growth, groups: Groups, dimension: Hashable, region: Region | None) -> bool:
    """Returns true if a killed append has stored all its rows, and if they are equal to the rows to append."""
    left = {path: (axis, slice(before, after)) for path, axis, before, after in growth.left}
    if not left:
        return False
    appended = dict(_appended(groups, dimension, region))
    if appended.keys() != left.keys():
        return False
    return all(_is_there(*appended[path], dimension, *left[path]) for path in left)


def _appended(
    groups: Groups, dimension: Hashable, region: Region | None
) -> Iterator[tuple[str, tuple[xr.Variable, xr.Variable, Mapping[Hashable, slice]]]]:
    """For each array, yields its path, the stored variable, the appended variable, and the region."""
    for path, stored, dataset in groups:
        try:
            slices = {} if region is None else slices_of(stored, dataset, region, dimension)
        except (KeyError, TypeError, ValueError):
            # This error is reported when the write is planned.
            continue
        for name, variable in dataset.variables.items():
            if dimension in variable.dims and str(name) in stored:
                yield f"{path}/{name}" if path else str(name), (stored[str(name)], variable, slices)


def _is_there(
    raw: xr.Variable,
    variable: xr.Variable,
    region: Mapping[Hashable, slice],
    dimension: Hashable,
    axis: int,
    rows: slice,
) -> bool:
    if raw.dims.index(dimension) != axis or variable.sizes[dimension] != rows.stop - rows.start:
        return False
    try:
        encoded = like(raw, "", variable)
    except ValueError:
        return False
    there = raw.isel({**{each: part for each, part in region.items() if each in raw.dims}, dimension: rows})
    return all(
        same_values(encoded.isel({dimension: part}), there.isel({dimension: part}))
        for part in _parts(encoded, dimension)
    )


def _parts(variable: xr.Variable, dimension: Hashable) -> Iterator[slice]:
    """Yields parts of a variable that fit into memory: the blocks of a chunked variable."""
    start = 0
    sizes = variable.chunksizes[dimension] if variable.chunks is not None else (variable.sizes[dimension],)
    for size in sizes:
        yield slice(start, start + size)
        start += size
