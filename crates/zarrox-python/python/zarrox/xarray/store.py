"""A Zarr group in the form that xarray reads: encoded variables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import xarray as xr
from xarray.backends.common import AbstractDataStore
from xarray.backends.zarr import FillValueCoder
from xarray.core import indexing

from zarrox.core.array import Array
from zarrox.core.grids import grid_of
from zarrox.hierarchy import Group
from zarrox.xarray.ahead import ReadAhead
from zarrox.xarray.lazy import DIMENSIONS, LazyArray, ReadTogether, dimensions_of, is_netcdf
from zarrox.xarray.pieces import shorten


class ZarroxStore(AbstractDataStore):
    """The variables and attributes of one group.

    Parameters
    ----------
    group : zarrox.hierarchy.Group
        The group.
    mask : bool, optional
        Whether the fill value of an array marks missing values. By default true in format 2, which has no other marker.
    close : bool
        Whether closing this closes the group's store.
    arrays : mapping, optional
        The arrays of the group by their names, if they are already open.
    together : ReadTogether, optional
        The coordinates that are read together with the coordinates of this group.
    """

    __slots__ = ("_ahead", "_arrays", "_close", "_codecs", "_mask", "_together", "group", "zarr_format")

    def __init__(
        self,
        group: Group,
        *,
        mask: bool | None = None,
        close: bool = False,
        arrays: Mapping[str, Array] | None = None,
        together: ReadTogether | None = None,
    ) -> None:
        self.group = group
        self.zarr_format = 3 if group._native.format == "3" else 2
        self._mask = self.zarr_format == 2 if mask is None else mask
        self._close = close
        self._arrays = arrays
        self._together = ReadTogether() if together is None else together
        self._ahead = ReadAhead()
        self._codecs: dict[str, dict[str, Any]] = {}

    def get_attrs(self) -> dict[str, Any]:
        """Returns the attributes of the group, without the internal attributes of NCZarr."""
        return {name: value for name, value in self.group.attrs.asdict().items() if not is_netcdf(name)}

    def get_variables(self) -> dict[str, xr.Variable]:
        """Returns the arrays of the group as they are stored."""
        arrays = dict(self.group.arrays()) if self._arrays is None else self._arrays
        return {name: self._variable(array, name) for name, array in arrays.items()}

    def get_dimensions(self) -> dict[Hashable, int]:
        """Returns the lengths of all dimensions."""
        sizes: dict[Hashable, int] = {}
        for name, array in self.group.arrays():
            for dimension, size in zip(dimensions_of(array), array.shape, strict=True):
                if sizes.setdefault(dimension, size) != size:
                    raise ValueError(f"{name!r} has {size} along {dimension!r}, where others have {sizes[dimension]}")
        return sizes

    def _variable(self, array: Array, name: str) -> xr.Variable:
        """Returns an array as a variable. Coordinates are read together, and small variables are read ahead."""
        dimensions = dimensions_of(array)
        attributes = {
            name: value
            for name, value in array.attrs.asdict().items()
            if name != DIMENSIONS and not (self.zarr_format == 2 and is_netcdf(name))
        }
        is_together = dimensions == (name,) and self._together.add(array)
        is_ahead = not is_together and self._ahead.add(array)
        data = LazyArray(array, self._together if is_together else None, self._ahead if is_ahead else None)
        chunks, shards = _chunks(array)
        encoding = {
            "chunks": chunks,
            "preferred_chunks": dict(zip(dimensions, chunks, strict=True)),
            "shards": shards,
            **self._codecs_of(array),
            "zarr_format": self.zarr_format,
        }
        if self.zarr_format == 3:
            encoding["fill_value"] = array.fill_value
        if data.dtype.kind == "T":
            # Without a data type in the encoding, xarray converts all strings to objects immediately.
            encoding["dtype"] = data.dtype
        if self._mask and (self.zarr_format == 2 or "_FillValue" not in attributes):
            if array.fill_value is not None:
                attributes["_FillValue"] = array.fill_value
        elif "_FillValue" in attributes:
            kind = "string" if data.dtype.kind == "O" else data.dtype
            attributes["_FillValue"] = FillValueCoder.decode(attributes["_FillValue"], kind)
        return xr.Variable(dimensions, indexing.LazilyIndexedArray(data), attributes, encoding)

    def _codecs_of(self, array: Array) -> dict[str, Any]:
        """Returns the codecs of an array. Arrays with equal codecs share the codec objects, since a dataset has many such arrays."""
        text = array._native.codecs
        if text not in self._codecs:
            codecs = {"filters": array.filters, "compressors": array.compressors}
            self._codecs[text] = codecs | ({"serializer": array.serializer} if self.zarr_format == 3 else {})
        return self._codecs[text]

    def close(self) -> None:
        """Closes the store, if it was opened for this object."""
        if self._close:
            self.group.store.close()


def _chunks(array: Array) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """Returns the chunks and shards of an array: a single length along each dimension, or all lengths if they differ."""
    if grid_of(array._native) is None:
        return array.chunks, array.shards
    read, written = shorten(array.read_chunk_sizes), shorten(array.write_chunk_sizes)
    return read, written if array.shards is not None else None

