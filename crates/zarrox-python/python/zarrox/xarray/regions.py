"""The region of stored arrays to which a dataset is written."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from xarray import conventions

#: The slice for each dimension, or ``"auto"`` for the slice that has the coordinates of the dataset.
Region = Mapping[Hashable, slice | Literal["auto"]] | Literal["auto"]


def slices_of(
    stored: Mapping[str, xr.Variable], dataset: xr.Dataset, region: Region, append_dim: Hashable | None
) -> dict[Hashable, slice]:
    """Returns the slice for each dimension. ``"auto"`` is resolved using the values of the coordinate.

    Raises
    ------
    TypeError
        If the region is not a mapping.
    KeyError
        If coordinates of the dataset are not in the store.
    ValueError
        If the region does not belong to this dataset.
    """
    if not isinstance(region, (str, Mapping)):
        raise TypeError(f"region is a mapping of dimensions to slices or 'auto', and not {region!r}")
    wanted = dict.fromkeys(dataset.dims, region) if isinstance(region, str) else dict(region)
    slices = {
        dimension: _position(stored, dataset, dimension) if isinstance(part, str) else part
        for dimension, part in wanted.items()
    }
    _check(dataset, slices, append_dim)
    return slices


def _position(stored: Mapping[str, xr.Variable], dataset: xr.Dataset, dimension: Hashable) -> slice:
    """Returns the slice of the stored coordinates at which a dataset's coordinates are found."""
    if dimension not in dataset.variables:
        return slice(0, dataset.sizes[dimension])
    if str(dimension) not in stored:
        raise KeyError(f"{dimension!r} is not in the store: give its region as a slice")
    there = conventions.decode_cf_variable(dimension, stored[str(dimension)].load())
    places = pd.Index(there.values).get_indexer(dataset[dimension].values)
    if (places < 0).any():
        raise KeyError(f"Not all values of coordinate {dimension!r} are in the store: give its region as a slice")
    if (np.diff(places) != 1).any():
        raise ValueError(
            f"the coordinates of {dimension!r} are non-contiguous in the store: give its region as a slice"
        )
    return slice(int(places[0]), int(places[-1]) + 1) if places.size else slice(0, 0)


def _check(dataset: xr.Dataset, region: Mapping[Hashable, slice], append_dim: Hashable | None) -> None:
    for dimension, part in region.items():
        if dimension not in dataset.dims:
            raise ValueError(f"region has {dimension!r}, which is not a dimension of the dataset: {list(dataset.dims)}")
        if not isinstance(part, slice):
            raise TypeError(f"the region of {dimension!r} is {part!r}, and must be a slice")
        if part.step not in (None, 1):
            raise ValueError(f"the region of {dimension!r} is {part!r}, and must be a slice without a step")
    if append_dim is not None and append_dim in region:
        raise ValueError(f"{append_dim!r} is in region and in append_dim")
    labels = set(dataset.indexes)
    apart = [
        name
        for name, variable in dataset.variables.items()
        if name not in labels and not set(region) & set(variable.dims)
    ]
    if region and apart:
        raise ValueError(f"{apart!r} have no dimension of the region: drop them, or write them without a region")
