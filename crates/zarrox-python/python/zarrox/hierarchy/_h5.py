"""Conversions for copies between Zarr and HDF5 (h5py): data types, storage properties, attributes.

h5py is imported only here, and only for h5py objects.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zarrox.errors import ZarrUserWarning
from zarrox.shown.tree import is_array

__all__ = [
    "Writable",
    "attributes_from_h5",
    "attributes_to_h5",
    "copies",
    "dataset_from_h5",
    "dataset_to_h5",
    "elements",
    "is_h5py",
    "same_dataset",
]


def is_h5py(value: object) -> bool:
    """Returns true if an object is an instance of a class of h5py, or of a subclass of one."""
    return any(cls.__module__.partition(".")[0] == "h5py" for cls in type(value).__mro__)


def _h5py() -> Any:
    import h5py

    return h5py


def copies(node: Any) -> bool:
    """Returns true if Zarr can represent an h5py object. It cannot represent named types, dangling links, empty datasets or
    references."""
    if is_array(node):
        return node.shape is not None and not _holds_references(node.dtype)
    return hasattr(node, "keys")


# From HDF5


def attributes_from_h5(attributes: Any) -> dict[str, Any]:
    """Returns the attributes of an HDF5 object as JSON values.

    Bytes become strings, arrays become lists, and empty attributes become ``None``. References to other objects are meaningless outside
    their file, and are skipped with a warning.
    """
    return dict(_convertible(attributes))


def _convertible(attributes: Any) -> Iterator[tuple[str, Any]]:
    for name in attributes:
        if _holds_references(attributes.get_id(name).dtype):
            message = f"attribute {name!r} is skipped: it refers to objects of the HDF5 file"
            warnings.warn(message, ZarrUserWarning, stacklevel=2)
        else:
            yield name, _json_value(attributes[name])


def _json_value(value: Any) -> Any:
    if is_h5py(value):
        return None  # h5py.Empty
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return _json_value(value)
    return value


def _holds_references(dtype: np.dtype[Any]) -> bool:
    if dtype.names:
        return any(_holds_references(dtype[name]) for name in dtype.names)
    if dtype.subdtype is not None:
        return _holds_references(dtype.base)
    below = _h5py().check_vlen_dtype(dtype)
    if below is not None:
        return _holds_references(np.dtype(below))
    return bool(_h5py().check_ref_dtype(dtype) is not None)


def dataset_from_h5(dataset: Any, zarr_format: int) -> dict[str, Any]:
    """Returns the arguments that create an array for a dataset. The compression is Zarr's default."""
    settings: dict[str, Any] = {"dtype": dataset.dtype, "chunks": dataset.chunks, "fill_value": dataset.fillvalue}
    if _h5py().check_string_dtype(dataset.dtype) is not None and dataset.dtype.hasobject:
        settings |= {"dtype": str, "fill_value": _json_value(dataset.fillvalue) or ""}
        return settings
    below = _h5py().check_vlen_dtype(dataset.dtype)
    if below is not None:
        if zarr_format == 3:
            raise TypeError(f"{dataset.name!r} holds arrays of different lengths, which v3 cannot store; copy it to v2")
        codec = {"id": "vlen-array", "dtype": np.dtype(below).str}
        settings |= {"dtype": object, "object_codec": codec, "fill_value": None}
    return settings


def elements(dataset: Any) -> Any:
    """Returns the dataset in a form that is read as NumPy arrays, with strings as ``str``."""
    if not is_h5py(dataset):
        return dataset
    is_text = _h5py().check_string_dtype(dataset.dtype) is not None and dataset.dtype.hasobject
    return dataset.asstr(errors="backslashreplace") if is_text else dataset


# To HDF5


def dataset_to_h5(array: Any) -> dict[str, Any]:
    """Returns the arguments that create a dataset for an array: chunks are kept, and the compression is light."""
    ragged = _type_of_parts(array)
    settings: dict[str, Any] = {"dtype": _h5_dtype(array.dtype) if ragged is None else _h5py().vlen_dtype(ragged)}
    if array.fill_value is not None and array.dtype.kind not in "mM" and ragged is None:
        settings["fillvalue"] = _storable(array.fill_value)[()]
    if 0 in array.shape or not array.shape:
        return settings  # HDF5 stores such arrays contiguously.
    chunks = tuple(min(chunk, length) for chunk, length in zip(array.chunks, array.shape, strict=True))
    return settings | {"chunks": chunks, "compression": "gzip", "compression_opts": 1, "shuffle": False}


def _type_of_parts(array: Any) -> np.dtype[Any] | None:
    """Returns the data type of the elements inside an array's elements, if those are arrays themselves."""
    filters = array._filters if array.dtype.hasobject else None
    codec: Any = filters[0] if filters else None
    return np.dtype(codec.dtype) if getattr(codec, "codec_id", None) == "vlen-array" else None


def same_dataset(dataset: Any) -> dict[str, Any]:
    """Returns the arguments that create a dataset like another one."""
    names = ("dtype", "chunks", "compression", "compression_opts", "shuffle", "fletcher32", "fillvalue")
    return {name: getattr(dataset, name) for name in names}


def _h5_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.hasobject or dtype.kind in "TU":
        dtype = np.dtype(_h5py().string_dtype())
    elif dtype.kind in "mM":
        dtype = np.dtype(_h5py().opaque_dtype(dtype))
    return dtype


def _storable(values: Any) -> Any:
    """Returns values in a form that h5py can write: strings as objects, and times as opaque values."""
    values = np.asarray(values)
    if values.dtype.kind in "TU":
        return values.astype(object)
    return values.astype(_h5_dtype(values.dtype)) if values.dtype.kind in "mM" else values


class Writable:
    """A dataset to which NumPy values are written."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.shape = dataset.shape
        self.chunks = dataset.chunks or tuple(max(1, length) for length in dataset.shape)
        self.dtype = dataset.dtype
        self.nbytes = int(dataset.dtype.itemsize) * math.prod(dataset.shape)

    def __setitem__(self, selection: Any, values: Any) -> None:
        below = _h5py().check_vlen_dtype(self._dataset.dtype)
        if not isinstance(below, np.dtype) or not self.shape:
            self._dataset[selection] = _storable(values)
        else:
            self._dataset.write_direct(_ragged(values, below), dest_sel=selection)


def _ragged(values: Any, dtype: np.dtype[Any]) -> Any:
    """Returns an array of arrays in a form that h5py does not mistake for an array with another dimension if all have the same length."""
    ragged = np.empty(values.shape, _h5py().vlen_dtype(dtype))
    for index in np.ndindex(values.shape):
        ragged[index] = np.asarray(() if values[index] is None else values[index], dtype)
    return ragged


def attributes_to_h5(values: Mapping[str, Any], attributes: Any) -> None:
    """Writes attributes to an HDF5 object. A value for which HDF5 has no type is written as JSON text."""
    for name, value in values.items():
        attributes[name] = _h5_value(value)


def _h5_value(value: Any) -> Any:
    if value is None:
        return _h5py().Empty("f4")
    if isinstance(value, dict) or (isinstance(value, list) and not _is_regular(value)):
        return json.dumps(value)
    return value


def _is_regular(value: list[Any]) -> bool:
    """Returns true if nested lists have the form of an array of numbers or strings."""
    try:
        return np.asarray(value).dtype.kind in "biufU"
    except ValueError:
        return False
