"""The encoding of variables: the CF conventions, and the options of Zarr arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends.common import ensure_dtype_not_object
from xarray.backends.zarr import FillValueCoder
from xarray.coding import strings
from xarray.core.common import contains_cftime_datetimes

from zarrox.xarray.fitting import fitted
from zarrox.xarray.lazy import DIMENSIONS

#: The members that ``encoding=`` of a variable may have, except those of the CF conventions, which xarray removes first.
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
    "cache_metadata",
}
#: Those of the allowed members that do not apply to another format.
CODECS = {"filters", "compressor", "compressors", "serializer", "chunk_key_encoding", "dimension_separator"}
#: The members for which ``None`` is a value rather than the default.
_NONE_IS_NONE = {"filters", "compressor", "compressors"}
#: Members that the encoding of a variable has after reading. They do not apply to new arrays.
_OF_READING = {"preferred_chunks", "zarr_format", "source", "original_shape", "_FillValue"}
_NUMBERS = "iufc"


def plain(value: Any) -> Any:
    """Returns an attribute with Python types in place of NumPy types."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def encode(name: Hashable, variable: xr.Variable) -> xr.Variable:
    """Returns a variable, encoded according to the CF conventions."""
    is_bool = variable.dtype.kind == "b" and np.dtype(variable.encoding.get("dtype", bool)).kind == "b"
    variable = conventions.encode_cf_variable(variable, name=name)
    if is_bool:
        # Zarr supports booleans, which CF would convert to numbers.
        attributes = {key: value for key, value in variable.attrs.items() if key != "dtype"}
        variable = xr.Variable(variable.dims, variable.data.astype(bool), attributes, variable.encoding)
    variable = ensure_dtype_not_object(variable, name=name)
    if variable.dtype.kind == "T":
        return variable
    # Strings are encoded only if the encoding requests characters, since Zarr supports strings.
    variable = strings.EncodedStringCoder(allows_unicode=True).encode(variable, name=name)
    return strings.ensure_fixed_length_bytes(variable)


def encode_to(name: Hashable, variable: xr.Variable, dtype: np.dtype[Any] | None, rounds: bool) -> xr.Variable:
    """Returns a variable, encoded according to the CF conventions, whose numbers are stored as another data type without changing their
    values.

    Raises
    ------
    ValueError
        If the type cannot represent a value.
    """
    if dtype is None or not _is_cast(variable, dtype):
        return encode(name, variable)
    place = f"variable {name!r}"
    if variable.dtype.kind in "iu" and not is_packed(variable):
        # No integer is a missing value, but the encoding would compare the integers with the fill value in their own data type.
        return encode(name, _with_data(variable, fitted(variable, dtype, rounds, place)))
    are_times = _is_time(variable)
    exact = variable.copy(deep=False)
    exact.encoding = {key: value for key, value in variable.encoding.items() if key != "dtype"}
    if are_times:
        # The kind of the data type determines whether units that are too coarse are changed.
        exact.encoding["dtype"] = np.dtype("f8" if dtype.kind == "f" else "i8")
    data = fitted(encode(name, exact), dtype, rounds, place, are_times)
    with np.errstate(invalid="ignore"):
        encoded = encode(name, variable)
    return _with_data(encoded, data)


def _with_data(variable: xr.Variable, data: Any) -> xr.Variable:
    return xr.Variable(variable.dims, data, variable.attrs, variable.encoding)


def is_packed(variable: xr.Variable) -> bool:
    """Returns true if numbers are scaled when they are encoded."""
    return "scale_factor" in variable.encoding or "add_offset" in variable.encoding


def _is_cast(variable: xr.Variable, dtype: np.dtype[Any]) -> bool:
    """Returns true if the CF encoding would cast values to a data type even if that changes them."""
    if dtype.kind in "US":
        # Encoding converts strings to characters with an additional dimension.
        return variable.encoding.get("dtype") != "S1"
    if dtype.kind not in _NUMBERS or "_Unsigned" in variable.encoding:
        return False
    if _is_time(variable):
        return dtype not in ("i8", "f8")
    if variable.dtype.kind not in _NUMBERS:
        return False
    return is_packed(variable) or not np.can_cast(variable.dtype, dtype, "safe")


def _is_time(variable: xr.Variable) -> bool:
    return variable.dtype.kind in "mM" or contains_cftime_datetimes(variable)


def wanted_type(variable: xr.Variable) -> np.dtype[Any] | None:
    """Returns the numeric type that the encoding of a variable requests."""
    wanted = variable.encoding.get("dtype")
    try:
        dtype = None if wanted is None or wanted is str else np.dtype(wanted)
    except TypeError:
        return None
    return dtype if dtype is not None and dtype.kind in _NUMBERS else None


def settled(encoding: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
    """Returns the encoding of a variable in which chunks are a tuple or a single length. Chunks that are not specified are removed."""
    # Values are read more than once, so iterators become lists.
    encoding = {key: list(value) if isinstance(value, Iterator) else value for key, value in encoding.items()}
    chunks = encoding.get("chunks")
    if isinstance(chunks, (list, range)) or (isinstance(chunks, np.ndarray) and chunks.ndim == 1):
        encoding["chunks"] = chunks = tuple(chunks)
    if chunks is False or (isinstance(chunks, (str, tuple)) and chunks in ("auto", ())):
        del encoding["chunks"]
    return encoding


def check_encoding(name: Hashable, variable: xr.Variable, wanted: bool, zarr_format: int) -> None:
    """Checks that the requested encoding can be written.

    Raises
    ------
    ValueError
        If the encoding cannot be written.
    """
    unknown = sorted(set(variable.encoding) - ENCODINGS - _OF_READING)
    if wanted and unknown:
        raise ValueError(f"the encoding of {name!r} has the unknown member {unknown!r}; expected one of {sorted(ENCODINGS)}")
    if variable.encoding.get("_FillValue") is not None:
        raise ValueError(f"the encoding of {name!r} has _FillValue, which its values cannot have")
    if wanted and zarr_format == 2 and variable.encoding.get("fill_value") is not None:
        raise ValueError(f"the encoding of {name!r} has fill_value: in format 2 give _FillValue, which is stored as such")
    chunks = variable.encoding.get("chunks")
    if wanted and isinstance(chunks, tuple) and len(chunks) != variable.ndim:
        raise ValueError(f"the chunks {chunks!r} of {name!r} are not of {variable.ndim} dimensions")
    if isinstance(chunks, (str, bytes, bool, Mapping)):
        raise TypeError(
            f"the chunks of {name!r} are a length, a length for each dimension, or 'auto', and not {chunks!r}"
        )


def creation(
    name: Hashable,
    variable: xr.Variable,
    zarr_format: int,
    write_empty_chunks: bool | None,
    is_asked: bool,
) -> dict[str, Any]:
    """Returns the arguments of `zarrox.create_array` for an encoded variable, without its name.

    Raises
    ------
    ValueError
        If the encoding and the argument differ in ``write_empty_chunks``.
    """
    options = {
        key: value
        for key, value in variable.encoding.items()
        if key in ENCODINGS and key != "cache_metadata" and (value is not None or key in _NONE_IS_NONE)
    }
    is_of_3 = options.get("serializer") is not None and not is_asked
    if variable.encoding.get("zarr_format", 3 if is_of_3 else zarr_format) != zarr_format:
        options = {key: value for key, value in options.items() if key not in CODECS}
    chunks = options.get("chunks")
    if isinstance(chunks, tuple) and len(chunks) != variable.ndim:
        # The chunks belong to the array from which the variable was read, before its dimensions changed.
        del options["chunks"]
    if variable.chunks is not None and "chunks" not in options:
        options["chunks"] = tuple(max(*sizes, 1) for sizes in variable.chunks)
    if isinstance(options.get("chunks"), tuple):
        # Along a dimension of length 0, blocks have length 0, which is not allowed for chunks.
        options["chunks"] = tuple(
            1 if length == chunk == 0 else chunk for chunk, length in zip(options["chunks"], variable.shape, strict=True)
        )
    options["config"] = _config(name, options.pop("write_empty_chunks", None), write_empty_chunks)
    attributes = {key: plain(value) for key, value in variable.attrs.items()}
    options["fill_value"] = _fill_value(variable, options.pop("fill_value", None), attributes, zarr_format == 2)
    if zarr_format == 2:
        attributes[DIMENSIONS] = list(variable.dims)
    else:
        options["dimension_names"] = [None if dimension is None else str(dimension) for dimension in variable.dims]
    is_text = strings.check_vlen_dtype(variable.dtype) is str
    return options | {
        "shape": variable.shape,
        "dtype": str if is_text else variable.dtype,
        "attributes": attributes,
    }


def _config(name: Hashable, own: bool | None, of_all: bool | None) -> dict[str, bool]:
    if own is not None and of_all is not None and own != of_all:
        raise ValueError(f"the encoding of {name!r} has write_empty_chunks={own}, and the argument is {of_all}")
    wanted = own if of_all is None else of_all
    return {} if wanted is None else {"write_empty_chunks": bool(wanted)}


def _fill_value(variable: xr.Variable, fill_value: Any, attributes: dict[str, Any], mask: bool) -> Any:
    """Returns the fill value of an array. Either the fill value or an attribute marks missing values."""
    missing = attributes.pop("_FillValue", None)
    if mask:
        return missing
    if missing is not None:
        attributes["_FillValue"] = FillValueCoder.encode(variable.attrs["_FillValue"], variable.dtype)
    # xarray treats floats that were never written as missing.
    return np.nan if fill_value is None and variable.dtype.kind == "f" else fill_value


Kind = Literal["number", "complex number", "Boolean", "time", "duration", "text", "bytes", "object"]


def kind_of(variable: xr.Variable) -> Kind:
    """Returns the kind of the values in a decoded variable. An array has values of a single kind."""
    kinds: dict[str, Kind] = {
        "b": "Boolean",
        "c": "complex number",
        "M": "time",
        "m": "duration",
        "U": "text",
        "T": "text",
        "S": "bytes",
        "O": "object",
    }
    kind = kinds.get(variable.dtype.kind, "number")
    if kind != "object":
        return kind
    if strings.check_vlen_dtype(variable.dtype) is not None:
        return "text" if strings.check_vlen_dtype(variable.dtype) is str else "bytes"
    if variable.size == 0 or variable.chunks is not None:
        return kind
    first = variable[(0,) * variable.ndim].values.item()
    if hasattr(first, "calendar"):
        return "time"
    return "text" if isinstance(first, str) else "bytes" if isinstance(first, bytes) else kind
