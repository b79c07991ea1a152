"""Variables as they are stored: by CF's conventions, and with the encoding of Zarr."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends.common import ensure_dtype_not_object
from xarray.coding import strings

from zarrox.core import Array

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


def plain(value: Any) -> Any:
    """An attribute without NumPy's types."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def encode(name: Hashable, variable: xr.Variable) -> xr.Variable:
    """A variable by CF's conventions."""
    is_bool = variable.dtype.kind == "b" and np.dtype(variable.encoding.get("dtype", bool)).kind == "b"
    variable = conventions.encode_cf_variable(variable, name=name)
    if is_bool:
        # Zarr has Booleans, where CF makes numbers of them.
        attributes = {key: value for key, value in variable.attrs.items() if key != "dtype"}
        variable = xr.Variable(variable.dims, variable.data.astype(bool), attributes, variable.encoding)
    return strings.ensure_fixed_length_bytes(ensure_dtype_not_object(variable, name=name))


def check_encoding(variable: xr.Variable, name: Hashable, wanted: bool) -> None:
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


def check_same(name: Hashable, encoded: xr.Variable, array: Array, is_time: bool) -> None:
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
