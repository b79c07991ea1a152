"""Data types: their elements in memory, and their names and values in metadata.

Examples
--------
>>> from zarrox.core.dtype import parse_dtype
>>> parse_dtype("<i8", zarr_format=3)
Int64(endianness='little')
>>> parse_dtype({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}, zarr_format=3)
DateTime64(endianness='little', scale_factor=10, unit='s')
"""

from __future__ import annotations

from typing import Any

from .common import DataTypeValidationError
from .ml import SMALL_NUMBERS
from .npy.bool import Bool
from .npy.bytes import NullTerminatedBytes, RawBytes, VariableLengthBytes
from .npy.complex import Complex64, Complex128
from .npy.float import Float16, Float32, Float64
from .npy.int import Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64
from .npy.object import PythonObject
from .npy.string import FixedLengthUTF32, VariableLengthUTF8
from .npy.structured import Struct, Structured
from .npy.time import DateTime64, TimeDelta64
from .registry import DataTypeRegistry, data_type_registry, offered_by_packages
from .resolve import (
    get_data_type_from_json,
    get_data_type_from_native_dtype,
    parse_data_type,
    parse_dtype,
)
from .wrapper import TBaseDType, TBaseScalar, ZDType

__all__ = [
    "Bool",
    "Complex64",
    "Complex128",
    "DataTypeRegistry",
    "DataTypeValidationError",
    "DateTime64",
    "FixedLengthUTF32",
    "Float16",
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "NullTerminatedBytes",
    "PythonObject",
    "RawBytes",
    "Struct",
    "Structured",
    "TBaseDType",
    "TBaseScalar",
    "TimeDelta64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "VariableLengthBytes",
    "VariableLengthUTF8",
    "ZDType",
    "data_type_registry",
    "get_data_type_from_json",
    "get_data_type_from_native_dtype",
    "parse_data_type",
    "parse_dtype",
]

_builtin: tuple[type[ZDType[Any, Any]], ...] = (
    *(Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64),
    *(Float16, Float32, Float64, Complex64, Complex128),
    *(FixedLengthUTF32, VariableLengthUTF8, RawBytes, NullTerminatedBytes, VariableLengthBytes),
    *(Structured, DateTime64, TimeDelta64, PythonObject),
    *SMALL_NUMBERS,
)
for _cls in _builtin:
    data_type_registry.register(_cls._zarr_v3_name, _cls)
# Searching for packages takes time, so it is done at the first lookup.
data_type_registry._sources.append(offered_by_packages)
