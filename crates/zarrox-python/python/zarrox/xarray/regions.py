"""The part of stored arrays that a dataset is written to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from xarray import conventions

from zarrox.xarray.store import ZarroxStore

#: For each dimension the slice, or ``"auto"`` for where the coordinates of the dataset are.
Region = Mapping[Hashable, slice | Literal["auto"]] | Literal["auto"]


def slices_of(store: ZarroxStore, dataset: xr.Dataset, region: Region) -> dict[Hashable, slice]:
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


def check_region(dataset: xr.Dataset, region: Mapping[Hashable, slice], append_dim: Hashable | None) -> None:
    for dimension, part in region.items():
        if dimension not in dataset.dims:
            raise ValueError(f"region has {dimension!r}, which is no dimension of the dataset: {list(dataset.dims)}")
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"the region of {dimension!r} is {part!r}, and must be a slice without a step")
    if append_dim in region:
        raise ValueError(f"{append_dim!r} is in region and in append_dim")
    if apart := [name for name, variable in dataset.variables.items() if not set(region) & set(variable.dims)]:
        raise ValueError(f"{apart!r} have no dimension of the region: drop them, or write them without a region")
