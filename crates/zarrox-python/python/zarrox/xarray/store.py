"""A group of Zarr as xarray reads and writes it: the variables, as they are encoded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends.common import AbstractWritableDataStore, ArrayWriter
from xarray.backends.zarr import FillValueCoder
from xarray.coding import strings
from xarray.core import indexing

from zarrox.core import Array
from zarrox.core.grids import grid_of
from zarrox.core.settings import Settings
from zarrox.hierarchy import Group
from zarrox.xarray.encoding import CODECS, ENCODINGS, check_encoding, check_same, encode, plain
from zarrox.xarray.lazy import DIMENSIONS, LazyArray, ReadTogether, dimensions_of, is_netcdf


class ZarroxStore(AbstractWritableDataStore):
    """The variables and attributes of one group.

    Parameters
    ----------
    group : zarrox.hierarchy.Group
        The group.
    mode : str
        What happens to variables that are there: ``"w"`` replaces them, ``"a"`` writes into them, ``"a-"`` only into
        those with ``append_dim``; ``"r+"`` creates none; ``"r"`` writes nothing.
    append_dim : hashable, optional
        The dimension along which variables that are there become longer.
    region : mapping, optional
        The part of each dimension that is written, as slices.
    align_chunks : bool
        Whether what is written in parallel is cut at the borders of stored chunks.
    safe_chunks : bool
        Whether pieces that are not cut, and share stored chunks, are refused.
    write_empty_chunks : bool, optional
        Whether chunks of nothing but the fill value are stored.
    mask : bool, optional
        Whether the fill value of an array stands for missing values. By default in format 2, where nothing else does.
    close : bool
        Whether closing this closes the group's store.
    arrays : mapping, optional
        The arrays of the group by their names, where they are known already.
    together : ReadTogether, optional
        The coordinates that are read at the same time as those of this group.
    """

    __slots__ = (
        "_align",
        "_append_dim",
        "_arrays",
        "_close",
        "_codecs",
        "_mask",
        "_mode",
        "_region",
        "_safe",
        "_together",
        "_write_empty_chunks",
        "group",
        "zarr_format",
    )

    def __init__(
        self,
        group: Group,
        mode: str = "r",
        *,
        append_dim: Hashable | None = None,
        region: Mapping[Hashable, slice] | None = None,
        align_chunks: bool = True,
        safe_chunks: bool = True,
        write_empty_chunks: bool | None = None,
        mask: bool | None = None,
        close: bool = False,
        arrays: Mapping[str, Array] | None = None,
        together: ReadTogether | None = None,
    ) -> None:
        self.group = group
        self.zarr_format = 3 if group._native.format == "3" else 2
        self._mode = mode
        self._append_dim = append_dim
        self._region = region or {}
        self._align = align_chunks
        self._safe = safe_chunks
        self._write_empty_chunks = write_empty_chunks
        self._mask = self.zarr_format == 2 if mask is None else mask
        self._close = close
        self._arrays = arrays
        self._together = ReadTogether() if together is None else together
        self._codecs: dict[str, dict[str, Any]] = {}

    def child(self, path: str) -> ZarroxStore:
        """A group below, which is made if it is missing, with the same options.

        Parameters
        ----------
        path : str
            The path below this group.
        """
        return ZarroxStore(
            self.group.require_group(path),
            self._mode,
            append_dim=self._append_dim,
            align_chunks=self._align,
            safe_chunks=self._safe,
            write_empty_chunks=self._write_empty_chunks,
            mask=self._mask,
        )

    # Reading.

    def get_attrs(self) -> dict[str, Any]:
        """The attributes of the group, without those that NCZarr keeps for itself."""
        return {name: value for name, value in self.group.attrs.asdict().items() if not is_netcdf(name)}

    def get_variables(self) -> dict[str, xr.Variable]:
        """The arrays of the group, as they are stored."""
        arrays = dict(self.group.arrays()) if self._arrays is None else self._arrays
        return {name: self._variable(array, name) for name, array in arrays.items()}

    def get_dimensions(self) -> dict[Hashable, int]:
        """The lengths of all dimensions."""
        sizes: dict[Hashable, int] = {}
        for name, array in self.group.arrays():
            for dimension, size in zip(dimensions_of(array), array.shape, strict=True):
                if sizes.setdefault(dimension, size) != size:
                    raise ValueError(f"{name!r} has {size} along {dimension!r}, where others have {sizes[dimension]}")
        return sizes

    def open_variable(self, array: Array) -> xr.Variable:
        """An array as a variable that is not decoded yet.

        Parameters
        ----------
        array : zarrox.core.Array
            The array.

        Returns
        -------
        xarray.Variable
            Reads when it is used.
        """
        return self._variable(array)

    def _variable(self, array: Array, name: str | None = None) -> xr.Variable:
        """An array as a variable; the one of a coordinate is read together with others."""
        dimensions = dimensions_of(array)
        attributes = {
            name: value
            for name, value in array.attrs.asdict().items()
            if name != DIMENSIONS and not (self.zarr_format == 2 and is_netcdf(name))
        }
        is_together = dimensions == (name,) and self._together.add(array)
        data = LazyArray(array, self._together if is_together else None)
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
            # Without it xarray makes objects of text, at once and in one piece.
            encoding["dtype"] = data.dtype
        if self._mask:
            if array.fill_value is not None:
                attributes["_FillValue"] = array.fill_value
        elif "_FillValue" in attributes:
            kind = "string" if data.dtype.kind == "O" else data.dtype
            attributes["_FillValue"] = FillValueCoder.decode(attributes["_FillValue"], kind)
        return xr.Variable(dimensions, indexing.LazilyIndexedArray(data), attributes, encoding)

    def _codecs_of(self, array: Array) -> dict[str, Any]:
        """The codecs of an array. Objects are made once for all arrays whose codecs are equal, of which a dataset has many."""
        text = array._native.codecs
        if text not in self._codecs:
            codecs = {"filters": array.filters, "compressors": array.compressors}
            self._codecs[text] = codecs | ({"serializer": array.serializer} if self.zarr_format == 3 else {})
        return self._codecs[text]

    # Writing.

    def store(
        self,
        variables: Mapping[Hashable, xr.Variable],
        attributes: Mapping[str, Any],
        check_encoding_set: Iterable[Hashable] = frozenset(),
        writer: ArrayWriter | None = None,
        unlimited_dims: Any = None,
    ) -> None:
        """Creates what is missing, and hands values to the writer.

        Parameters
        ----------
        variables, attributes : mapping
            What the group is to hold.
        check_encoding_set : iterable
            The variables whose encoding somebody asked for: what cannot be done of it is an error.
        writer : xarray.backends.common.ArrayWriter, optional
            Takes the values; by default they are written at once.
        unlimited_dims : None
            Every dimension of Zarr can grow.
        """
        writer = ArrayWriter() if writer is None else writer
        present = {} if self._mode == "w" else dict(self.group.arrays())
        missing = [name for name in variables if name not in present]
        if self._mode == "r+" and missing:
            raise ValueError(f"{missing!r} are not in the store, and mode='r+' creates nothing: use mode='a'")
        if self._append_dim is not None and present and self._append_dim not in self.get_dimensions():
            raise ValueError(f"append_dim={self._append_dim!r} is not a dimension of {list(self.get_dimensions())}")

        # All of what is wrong is found before anything is changed.
        planned: list[tuple[Hashable, xr.Variable]] = []
        for name, variable in variables.items():
            if name in present:
                if self._mode == "a-" and self._append_dim is not None and self._append_dim not in variable.dims:
                    continue
                planned.append((name, self._like(present[name], name, variable)))
            else:
                encoded = encode(name, variable)
                planned.append((name, encoded))
                check_encoding(encoded, name, name in set(check_encoding_set))

        if self._mode != "r+":
            self.group.attrs.update({name: plain(value) for name, value in attributes.items()})
        for name, variable in planned:
            array = present.get(str(name))
            array, region = (self._create(str(name), variable), ()) if array is None else self._place(array, variable)
            writer.add(self._cut(variable, array, region), array, region)

    def _like(self, array: Array, name: Hashable, variable: xr.Variable) -> xr.Variable:
        """The variable, encoded as the array is that it goes into."""
        stored = conventions.decode_cf_variable(name, self.open_variable(array))
        if set(stored.dims) != set(variable.dims):
            raise ValueError(
                f"variable {name!r} has the dimensions {stored.dims} in the store, and {variable.dims} here"
            )
        variable = variable.transpose(*stored.dims)
        for dimension, size in stored.sizes.items():
            if dimension in self._region:
                start, stop, _ = self._region[dimension].indices(size)
                size = stop - start
            if dimension != self._append_dim and variable.sizes[dimension] != size:
                raise ValueError(
                    f"variable {name!r} has {variable.sizes[dimension]} along {dimension!r}, where there is room for "
                    f"{size}: append_dim= makes a dimension longer, region= writes a part"
                )
        strings_or_bytes = variable.dtype.kind in "SU" and stored.dtype.kind in "SU"
        if strings_or_bytes and variable.dtype.itemsize > stored.dtype.itemsize:
            raise ValueError(f"variable {name!r} is {stored.dtype} in the store, which would cut {variable.dtype} off")
        variable = variable.copy(deep=False)
        variable.encoding = {key: value for key, value in stored.encoding.items() if key not in ENCODINGS}
        encoded = encode(name, variable)
        check_same(name, encoded, array, is_time=stored.dtype.kind in "mM")
        return encoded

    def _place(self, array: Array, variable: xr.Variable) -> tuple[Array, tuple[slice, ...]]:
        """The array that is there, long enough, and the part of it that is written."""
        region = {dimension: self._region.get(dimension, slice(None)) for dimension in variable.dims}
        if self._append_dim is not None and self._append_dim in variable.dims:
            axis = variable.dims.index(self._append_dim)
            length = array.shape[axis]
            shape = list(array.shape)
            shape[axis] += variable.shape[axis]
            array.resize(*shape)
            region[self._append_dim] = slice(length, shape[axis])
        if self._write_empty_chunks is not None:
            native = array._native.with_options(write_empty_chunks=self._write_empty_chunks)
            array = Array._of(native, array.store, Settings(write_empty_chunks=self._write_empty_chunks))
        return array, tuple(region.values())

    def _create(self, name: str, variable: xr.Variable) -> Array:
        attributes = {key: plain(value) for key, value in variable.attrs.items()}
        options = {key: value for key, value in variable.encoding.items() if key in ENCODINGS and value is not None}
        if variable.encoding.get("zarr_format", self.zarr_format) != self.zarr_format:
            options = {key: value for key, value in options.items() if key not in CODECS}
        fill_value = options.pop("fill_value", None)
        missing = attributes.pop("_FillValue", None)
        if self._mask:
            fill_value = missing
        else:
            # A float that nobody wrote is missing, for xarray.
            fill_value = np.nan if fill_value is None and variable.dtype.kind == "f" else fill_value
            if missing is not None:
                attributes["_FillValue"] = FillValueCoder.encode(variable.attrs["_FillValue"], variable.dtype)
        if self.zarr_format == 2:
            attributes[DIMENSIONS] = list(variable.dims)
        else:
            options["dimension_names"] = [str(dimension) for dimension in variable.dims]
        if "chunks" not in options and variable.chunks is not None:
            options["chunks"] = tuple(max(sizes) for sizes in variable.chunks)
        if self._write_empty_chunks is not None:
            options["write_empty_chunks"] = self._write_empty_chunks
        return _create(self.group, name, variable, fill_value, attributes, options, overwrite=self._mode == "w")

    def _cut(self, variable: xr.Variable, array: Array, region: tuple[slice, ...]) -> Any:
        """The values; where they come in pieces that are written in parallel, no two of these are of one stored chunk."""
        if variable.chunks is None or not (self._align or self._safe):
            return variable.data
        starts = [part.start or 0 for part in region] or [0] * array.ndim
        pieces = tuple(map(aligned, variable.chunks, starts, array.write_chunk_sizes))
        if pieces == variable.chunks:
            return variable.data
        if not self._align:
            raise ValueError(
                f"the pieces {variable.chunks} of {array.name!r} share stored chunks, whose lengths are "
                f"{_shortened(array.write_chunk_sizes)}: cut them with align_chunks=True, rechunk them, or write them "
                "as they are with safe_chunks=False"
            )
        return variable.chunk(dict(zip(variable.dims, pieces, strict=True))).data

    def sync(self) -> None:
        """Nothing waits in memory."""

    def close(self) -> None:
        """Closes the store, if it was opened for this."""
        if self._close:
            self.group.store.close()


def _create(
    group: Group,
    name: str,
    variable: xr.Variable,
    fill_value: Any,
    attributes: dict[str, Any],
    options: dict[str, Any],
    overwrite: bool,
) -> Array:
    """An array for a variable."""
    is_text = strings.check_vlen_dtype(variable.dtype) is str
    array: Array = group.create_array(
        name,
        shape=variable.shape,
        dtype=str if is_text else variable.dtype,
        fill_value=fill_value,
        attributes=attributes,
        overwrite=overwrite,
        **options,
    )
    return array


def aligned(sizes: tuple[int, ...], start: int, stored: tuple[int, ...]) -> tuple[int, ...]:
    """Pieces along one dimension, with borders between them moved down to those of stored chunks.

    Parameters
    ----------
    sizes : tuple of int
        The lengths of the pieces.
    start : int
        The place of the first piece.
    stored : tuple of int
        The lengths of stored chunks.

    Examples
    --------
    >>> aligned((3, 3, 4), 0, (5, 5))
    (5, 5)
    >>> aligned((5, 5), 2, (5, 5, 5))
    (3, 7)
    """
    ends = start + np.cumsum(sizes, dtype=np.int64)
    possible = np.concatenate([[0], np.cumsum(stored, dtype=np.int64)])
    borders = np.unique(possible[np.searchsorted(possible, ends[:-1], side="right") - 1])
    borders = borders[(borders > start) & (borders < ends[-1])]
    return tuple(int(size) for size in np.diff([start, *borders, ends[-1]]))


def _chunks(array: Array) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """The chunks and shards of an array: a length along each dimension, or all lengths where they differ."""
    if grid_of(array._native) is None:
        return array.chunks, array.shards
    read, written = _shortened(array.read_chunk_sizes), _shortened(array.write_chunk_sizes)
    return read, written if array.shards is not None else None


def _shortened(sizes: tuple[tuple[int, ...], ...]) -> tuple[Any, ...]:
    """The lengths of chunks, as one number along dimensions where they are regular."""

    def is_regular(lengths: tuple[int, ...]) -> bool:
        return len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]

    return tuple((lengths[0] if is_regular(lengths) else lengths) if lengths else (0,) for lengths in sizes)
