"""A group of Zarr as xarray reads and writes it: the variables, as they are encoded."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends.common import AbstractWritableDataStore, ArrayWriter, BackendArray, ensure_dtype_not_object
from xarray.backends.zarr import FillValueCoder
from xarray.coding import strings
from xarray.core import indexing

from zarrox.core import Array
from zarrox.core.settings import Settings
from zarrox.hierarchy import Group

#: The attribute that names the dimensions of an array of format 2.
DIMENSIONS = "_ARRAY_DIMENSIONS"

#: What ``encoding=`` of a variable may say, beside CF's own, which xarray takes out before.
ENCODINGS = {
    "chunks",
    "shards",
    "filters",
    "compressor",
    "compressors",
    "serializer",
    "order",
    "fill_value",
    "write_empty_chunks",
    "chunk_key_encoding",
    "dimension_separator",
}
#: Those of them that another format cannot take over.
CODECS = {"filters", "compressor", "compressors", "serializer", "chunk_key_encoding", "dimension_separator"}


class _LazyArray(BackendArray):
    """An array as xarray wants it: nothing is read before it is needed, and then no more than that."""

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = _dtype(array)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # Steps may be negative, which only xarray's own decomposition into slices makes possible.
        support, read = indexing.IndexingSupport.OUTER, self._outer
        if isinstance(key, indexing.VectorizedIndexer):
            support, read = indexing.IndexingSupport.VECTORIZED, self._points
        value = indexing.explicit_indexing_adapter(key, self.shape, support, read)
        # One element of text would be a plain `str`, and its array an array of text of a fixed length.
        return np.asarray(value, dtype=self.dtype) if self.dtype.kind == "T" else value

    def _outer(self, key: tuple[Any, ...]) -> Any:
        return self._array.oindex[key] if any(isinstance(part, np.ndarray) for part in key) else self._array[key]

    def _points(self, key: tuple[Any, ...]) -> Any:
        return self._array.vindex[key]


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
    write_empty_chunks : bool, optional
        Whether chunks of nothing but the fill value are stored.
    mask : bool, optional
        Whether the fill value of an array stands for missing values. By default in format 2, where nothing else does.
    close : bool
        Whether closing this closes the group's store.
    """

    __slots__ = (
        "_align",
        "_append_dim",
        "_close",
        "_mask",
        "_mode",
        "_region",
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
        write_empty_chunks: bool | None = None,
        mask: bool | None = None,
        close: bool = False,
    ) -> None:
        self.group = group
        self.zarr_format = 3 if group._native.format == "3" else 2
        self._mode = mode
        self._append_dim = append_dim
        self._region = region or {}
        self._align = align_chunks
        self._write_empty_chunks = write_empty_chunks
        self._mask = self.zarr_format == 2 if mask is None else mask
        self._close = close

    # Reading.

    def get_attrs(self) -> dict[str, Any]:
        """The attributes of the group, without those that NCZarr keeps for itself."""
        return {name: value for name, value in self.group.attrs.asdict().items() if not _is_netcdf(name)}

    def get_variables(self) -> dict[str, xr.Variable]:
        """The arrays of the group, as they are stored."""
        return {name: self.open_variable(array) for name, array in self.group.arrays()}

    def get_dimensions(self) -> dict[Hashable, int]:
        """The lengths of all dimensions."""
        sizes: dict[Hashable, int] = {}
        for name, array in self.group.arrays():
            for dimension, size in zip(_dimensions(array), array.shape, strict=True):
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
        dimensions = _dimensions(array)
        attributes = {
            name: value
            for name, value in array.attrs.asdict().items()
            if name != DIMENSIONS and not (self.zarr_format == 2 and _is_netcdf(name))
        }
        data = _LazyArray(array)
        encoding = {
            "chunks": array.chunks,
            "preferred_chunks": dict(zip(dimensions, array.chunks, strict=True)),
            "shards": array.shards,
            "filters": array.filters,
            "compressors": array.compressors,
            "zarr_format": self.zarr_format,
        }
        if self.zarr_format == 3:
            encoding |= {"serializer": array.serializer, "fill_value": array.fill_value}
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
                encoded = _encode(name, variable)
                planned.append((name, encoded))
                _check_encoding(encoded, name, name in set(check_encoding_set))

        if self._mode != "r+":
            self.group.attrs.update({name: _plain(value) for name, value in attributes.items()})
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
        encoded = _encode(name, variable)
        _check_same(name, encoded, array, is_time=stored.dtype.kind in "mM")
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
        attributes = {key: _plain(value) for key, value in variable.attrs.items()}
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
        if not self._align or variable.chunks is None:
            return variable.data
        starts = [part.start or 0 for part in region] or [0] * array.ndim
        grid = array.shards or array.chunks
        pieces = tuple(map(_aligned, variable.chunks, starts, grid))
        return variable.data if pieces == variable.chunks else variable.chunk(dict(zip(variable.dims, pieces, strict=True))).data

    def sync(self) -> None:
        """Nothing waits in memory."""

    def close(self) -> None:
        """Closes the store, if it was opened for this."""
        if self._close:
            self.group.store.close()


def _is_netcdf(name: str) -> bool:
    return name.lower().startswith("_nc")


def _dimensions(array: Array) -> tuple[str, ...]:
    """The names of an array's dimensions."""
    names: Sequence[str | None] | None = array._native.dimension_names
    if names is None:
        names = array.attrs.get(DIMENSIONS)
    if names is None:
        names = _netcdf_dimensions(array)
    if names is None and array.ndim == 0:
        names = ()
    known = [name for name in names or () if name is not None]
    if names is None or len(known) != array.ndim or len(names) != array.ndim:
        raise ValueError(
            f"{array.name or '/'}: xarray needs a name for each of {array.ndim} dimensions, and found {names!r}: "
            f"set dimension_names when a v3 array is created, or the attribute {DIMENSIONS!r} of a v2 array"
        )
    return tuple(known)


def _netcdf_dimensions(array: Array) -> list[str] | None:
    """The names that netCDF's own Zarr has: paths of dimensions."""
    document = json.loads(array._native.document())
    extra = array.attrs.get("_nczarr_array") or document.get("_nczarr_array") or document.get("_NCZARR_ARRAY")
    return extra and [
        reference.rpartition("/")[2] for reference in extra.get("dimrefs", extra.get("dimension_references", []))
    ]


def _dtype(array: Array) -> np.dtype[Any]:
    """The type of an array, where text says that it is text."""
    dtype = array.dtype
    is_text = dtype.kind in "OT" and json.loads(array._native.data_type) == "string"
    return strings.create_vlen_dtype(str) if is_text and dtype.kind == "O" else dtype


def _plain(value: Any) -> Any:
    """An attribute without NumPy's types."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _encode(name: Hashable, variable: xr.Variable) -> xr.Variable:
    """A variable by CF's conventions."""
    is_bool = variable.dtype.kind == "b" and np.dtype(variable.encoding.get("dtype", bool)).kind == "b"
    variable = conventions.encode_cf_variable(variable, name=name)
    if is_bool:
        # Zarr has Booleans, where CF makes numbers of them.
        attributes = {key: value for key, value in variable.attrs.items() if key != "dtype"}
        variable = xr.Variable(variable.dims, variable.data.astype(bool), attributes, variable.encoding)
    return strings.ensure_fixed_length_bytes(ensure_dtype_not_object(variable, name=name))


def _check_encoding(variable: xr.Variable, name: Hashable, wanted: bool) -> None:
    """That what somebody asked for can be done."""
    unknown = sorted(
        set(variable.encoding) - ENCODINGS - {"preferred_chunks", "zarr_format", "source", "original_shape"}
    )
    if wanted and unknown:
        raise ValueError(f"the encoding of {name!r} has {unknown!r}, which is none of {sorted(ENCODINGS)}")
    chunks = variable.encoding.get("chunks")
    if chunks is not None and np.size(chunks) not in (1, variable.ndim):
        if wanted:
            raise ValueError(f"the chunks {chunks!r} of {name!r} are not of {variable.ndim} dimensions")
        # Those of the array that the variable was read from, before its dimensions changed.
        del variable.encoding["chunks"]


def _check_same(name: Hashable, encoded: xr.Variable, array: Array, is_time: bool) -> None:
    """That encoded values mean the same in the array that is there.

    xarray takes other units where those of the store are too coarse.
    """
    if is_time and not np.array_equal(
        *(_first_moments(name, attributes) for attributes in (encoded.attrs, array.attrs))
    ):
        units, wanted = encoded.attrs.get("units"), array.attrs.get("units")
        raise ValueError(
            f"the times of {name!r} cannot be written in {wanted!r}, which are the units in the store, but in {units!r}"
        )
    is_number = encoded.dtype.kind in "biufc"
    if is_number and not np.can_cast(encoded.dtype, array.dtype, "same_kind"):
        raise ValueError(
            f"the values of {name!r} are {encoded.dtype} when they are encoded, and the store has {array.dtype}"
        )


def _first_moments(name: Hashable, attributes: Mapping[str, Any]) -> Any:
    """The moments of 0 and 1 in the units of an attribute: there are many ways to write the same units."""
    units = {key: attributes[key] for key in ("units", "calendar", "dtype") if key in attributes}
    return conventions.decode_cf_variable(name, xr.Variable("x", np.arange(2), units)).values


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


def _aligned(sizes: tuple[int, ...], start: int, step: int) -> tuple[int, ...]:
    """Pieces along one dimension, with borders between them moved down to multiples of ``step``.

    Examples
    --------
    >>> _aligned((3, 3, 4), 0, 5)
    (5, 5)
    >>> _aligned((5, 5), 2, 5)
    (3, 7)
    """
    ends = start + np.cumsum(sizes, dtype=np.int64)
    borders = np.unique(ends[:-1] // max(step, 1) * step)
    borders = borders[(borders > start) & (borders < ends[-1])]
    return tuple(int(size) for size in np.diff([start, *borders, ends[-1]]))
