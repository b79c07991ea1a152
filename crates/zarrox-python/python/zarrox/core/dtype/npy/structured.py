"""The data type for elements with named fields."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common import DataTypeValidationError, HasItemSize, check_dtype_spec_no_object_codec_v2, split_v3
from ..registry import data_type_registry
from ..wrapper import ZDType, check_format
from .bytes import bytes_from_json
from .common import NumPyType

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Struct", "Structured"]


@dataclass(frozen=True, kw_only=True)
class Structured(NumPyType[Any, np.void]):
    """Elements with named fields, each with its own data type, without gaps between them.

    v3 has two names for this data type: ``struct``, which is written, and ``structured``, from earlier releases of zarr-python, which
    is only read.

    Parameters
    ----------
    fields : tuple of (str, ZDType)
        The names and types of the fields.

    Examples
    --------
    >>> import numpy as np
    >>> data_type = Structured.from_native_dtype(np.dtype([("a", "f8"), ("b", "i8")]))
    >>> data_type
    Structured(fields=(('a', Float64(endianness='little')), ('b', Int64(endianness='little'))))
    >>> data_type.to_json(zarr_format=2)
    {'name': [['a', '<f8'], ['b', '<i8']], 'object_codec_id': None}
    """

    dtype_cls = np.dtypes.VoidDType
    _zarr_v3_name = "struct"
    fields: tuple[tuple[str, ZDType[Any, Any]], ...]

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError(f"must have at least one field. Got {self.fields!r}")
        object.__setattr__(self, "fields", tuple((name, field) for name, field in self.fields))

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:  # type: ignore[override]
        return isinstance(dtype, np.dtype) and dtype.fields is not None

    @classmethod
    def _parameters(cls, dtype: np.dtype[Any]) -> dict[str, Any]:
        for name in dtype.names or ():
            if dtype.fields is not None and len(dtype.fields[name]) > 2:
                raise ValueError(f"field {name!r} has a title, which Zarr has no place for: leave it out")
        return {"fields": tuple((name, _native_field(dtype[name])) for name in dtype.names or ())}

    def to_native_dtype(self) -> Any:
        return np.dtype([(name, field.to_native_dtype()) for name, field in self.fields])

    @classmethod
    def _check_json_v2(cls, data: object) -> bool:
        return check_dtype_spec_no_object_codec_v2(data) and not isinstance(data["name"], str) and bool(data["name"])

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        if not cls._check_json_v2(data):
            raise cls._invalid_json(data)
        return cls(fields=tuple(_field_of_v2(*field) for field in data["name"]))

    @classmethod
    def _check_json_v3(cls, data: object) -> bool:
        named = split_v3(data)
        return named is not None and named[0] in (cls._zarr_v3_name, "structured")

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        fields = configuration.get("fields")
        if configuration.keys() != {"fields"} or not isinstance(fields, (list, tuple)) or not fields:
            raise DataTypeValidationError(f"'{cls._zarr_v3_name}' needs a configuration with only fields; got {configuration}.")
        return cls(fields=tuple(_field(*_name_and_type(field), 3) for field in fields))

    def to_json(self, zarr_format: int) -> Any:
        check_format(zarr_format)
        if zarr_format == 2:
            return {"name": [[name, *_in_v2(field)] for name, field in self.fields], "object_codec_id": None}
        for name, field in self.fields:
            if isinstance(field, SubArray):
                raise ValueError(
                    f"field {name!r} is an array of shape {field.shape}, which v3 does not support. zarr_format=2 stores such fields."
                )
        named = [{"name": name, "data_type": field.to_json(zarr_format=3)} for name, field in self.fields]
        return {"name": self._zarr_v3_name, "configuration": {"fields": named}}

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (bytes, list, tuple, int, np.void, Mapping))

    def _cast_scalar_unchecked(self, data: Any) -> np.void:
        native = self.to_native_dtype()
        if isinstance(data, bytes):
            return np.frombuffer(data, dtype=native, count=1)[0]  # type: ignore[no-any-return]
        if isinstance(data, Mapping):
            data = [data[name] for name, _ in self.fields]
        element: Any = np.array(tuple(data) if isinstance(data, list) else data, dtype=native)
        scalar: np.void = element[()]
        return scalar

    def default_scalar(self) -> np.void:
        return self._cast_scalar_unchecked(tuple(field.default_scalar() for _, field in self.fields))

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> np.void:
        if isinstance(data, str):
            return self._cast_scalar_unchecked(bytes_from_json(data))
        if not isinstance(data, Mapping):
            raise TypeError(f"Invalid type: {data}. Expected a dict or base64-encoded string.")
        values = [self._field_value(name, field, data, zarr_format) for name, field in self.fields]
        return self._cast_scalar_unchecked(tuple(values))

    @staticmethod
    def _field_value(name: str, field: ZDType[Any, Any], data: Mapping[str, Any], zarr_format: int) -> Any:
        return field.from_json_scalar(data[name], zarr_format=zarr_format) if name in data else field.default_scalar()

    def to_json_scalar(self, data: object, *, zarr_format: int) -> str | dict[str, Any]:
        value: Any = self.cast_scalar(data)
        if zarr_format == 2:
            return base64.b64encode(value.tobytes()).decode()
        return {name: field.to_json_scalar(value[name], zarr_format=zarr_format) for name, field in self.fields}

    def has_multi_byte_fields(self) -> bool:
        """Returns true if a field has a byte order."""
        return any(isinstance(field, HasItemSize) and field.item_size > 1 for _, field in self.fields)


Struct = Structured


@dataclass(frozen=True, kw_only=True)
class SubArray(NumPyType[Any, Any]):
    """A subarray field of a structure, in the form of v2. It is not a data type by itself.

    Parameters
    ----------
    base : ZDType
        The type of its elements.
    shape : tuple of int
        The length along each dimension.

    Examples
    --------
    >>> import numpy as np
    >>> Structured.from_native_dtype(np.dtype([("a", "i2", (3,))])).fields[0][1]
    SubArray(base=Int16(endianness='little'), shape=(3,))
    """

    dtype_cls = np.dtypes.VoidDType
    _zarr_v3_name = "sub_array"
    base: ZDType[Any, Any]
    shape: tuple[int, ...]

    def to_native_dtype(self) -> Any:
        return np.dtype((self.base.to_native_dtype(), self.shape))

    def to_json(self, zarr_format: int) -> Any:
        raise ValueError(f"an array of shape {self.shape} can only be the type of a field")

    def _check_scalar(self, data: object) -> bool:
        return np.asarray(data).shape == self.shape

    def _cast_scalar_unchecked(self, data: Any) -> Any:
        return np.asarray(data, dtype=self.base.to_native_dtype())

    def default_scalar(self) -> Any:
        return np.full(self.shape, self.base.default_scalar(), dtype=self.base.to_native_dtype())

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        raise TypeError(f"v3 does not support array fields, such as {data!r}")

    def to_json_scalar(self, data: object, *, zarr_format: int) -> Any:
        raise TypeError(f"v3 does not support array fields, such as {data!r}")


def _native_field(dtype: np.dtype[Any]) -> ZDType[Any, Any]:
    base = data_type_registry.match_dtype(dtype.base)
    return SubArray(base=base, shape=dtype.shape) if dtype.shape else base


def _field_of_v2(name: str, dtype: Any, *shape: Any) -> tuple[str, ZDType[Any, Any]]:
    name, base = _field(name, {"name": dtype, "object_codec_id": None}, 2)
    if not shape:
        return name, base
    lengths = shape[0] if isinstance(shape[0], (list, tuple)) else [shape[0]]
    if not all(isinstance(length, int) and length >= 0 for length in lengths):
        raise DataTypeValidationError(f"field {name!r} has the invalid shape {shape[0]!r}.")
    return name, SubArray(base=base, shape=tuple(lengths))


def _in_v2(field: ZDType[Any, Any]) -> list[Any]:
    if isinstance(field, SubArray):
        return [*_in_v2(field.base), list(field.shape)]
    return [field.to_json(zarr_format=2)["name"]]


def _name_and_type(field: Any) -> tuple[str, Any]:
    """Returns the name and the data type of a field in v3. The field is an object or, in ``structured``, a pair."""
    pair = [field.get("name"), field.get("data_type")] if isinstance(field, Mapping) else field
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[0], str):
        raise DataTypeValidationError(f"The field {field!r} of a structure must be an object with a name and a data_type.")
    return pair[0], pair[1]


def _field(name: str, data: Any, zarr_format: int) -> tuple[str, ZDType[Any, Any]]:
    try:
        return name, data_type_registry.match_json(data, zarr_format=zarr_format)
    except ValueError as error:
        raise DataTypeValidationError(f"field {name!r}: {error}") from error
