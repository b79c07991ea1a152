"""The data type for Python objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import UnsupportedError
from ..common import DataTypeValidationError, check_dtype_spec_v2
from ..wrapper import ZDType, check_format

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["PythonObject"]

_CODECS = ("json", "json2", "msgpack", "msgpack2", "pickle", "vlen-array")


@dataclass(frozen=True, kw_only=True)
class PythonObject(ZDType[Any, Any]):
    """Any object that the codec of a v2 array can store. v3 has no such data type.

    Parameters
    ----------
    object_codec_id : str
        The id of the codec.

    Examples
    --------
    >>> PythonObject(object_codec_id="json2").to_json(zarr_format=2)
    {'name': '|O', 'object_codec_id': 'json2'}
    """

    dtype_cls = np.dtypes.ObjectDType
    _zarr_v3_name = "object"
    object_codec_id: str

    @classmethod
    def from_native_dtype(cls, dtype: np.dtype[Any]) -> Self:
        raise DataTypeValidationError("An object array does not determine its codec: give an object_codec.")

    def to_native_dtype(self) -> np.dtype[Any]:
        return np.dtype(object)

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        if not check_dtype_spec_v2(data) or data["name"] != "|O" or data["object_codec_id"] not in _CODECS:
            raise DataTypeValidationError(f"Invalid JSON representation of {cls.__name__}: {data!r}.")
        return cls(object_codec_id=data["object_codec_id"])

    @classmethod
    def _from_json_v3(cls, data: Any) -> Self:
        raise DataTypeValidationError("v3 has no data type for Python objects.")

    def to_json(self, zarr_format: int) -> dict[str, Any]:
        check_format(zarr_format)
        if zarr_format == 3:
            raise UnsupportedError(
                f"Zarr v3 has no data type for objects that the codec '{self.object_codec_id}' stores; "
                "create the array with zarr_format=2, or use dtype='string' or dtype='bytes'"
            )
        return {"name": "|O", "object_codec_id": self.object_codec_id}

    def _check_scalar(self, data: object) -> bool:
        return True

    def cast_scalar(self, data: object) -> Any:
        return data

    def default_scalar(self) -> Any:
        return None

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        return data

    def to_json_scalar(self, data: object, *, zarr_format: int) -> Any:
        return data
