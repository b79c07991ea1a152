"""The data types for timestamps and durations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..common import DataTypeValidationError, HasEndianness
from .common import NumPyType

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DateTime64", "TimeDelta64"]

DATETIME_UNIT = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic")
_SCALE_FACTORS_END = 2**31
_NOT_A_TIME = -(2**63)

Scalar = TypeVar("Scalar", bound=Any)


@dataclass(frozen=True, kw_only=True)
class TimeDTypeBase(NumPyType[Any, Scalar], HasEndianness):
    """A number of time units, as a signed 64-bit integer. The smallest number stands for "not a time" (NaT).

    Examples
    --------
    >>> DateTime64(unit="s", scale_factor=10).to_json(zarr_format=2)
    {'name': '<M8[10s]', 'object_codec_id': None}
    >>> DateTime64(unit="s").from_json_scalar(5, zarr_format=3)
    np.datetime64('1970-01-01T00:00:05')
    """

    _numpy_type: ClassVar[str]
    scale_factor: int = 1
    unit: str = "generic"

    def __post_init__(self) -> None:
        if self.scale_factor < 1:
            raise ValueError(f"scale_factor must be > 0, got {self.scale_factor}.")
        if self.scale_factor >= _SCALE_FACTORS_END:
            raise ValueError(f"scale_factor must be < {_SCALE_FACTORS_END}, got {self.scale_factor}.")
        if self.unit not in DATETIME_UNIT:
            raise ValueError(f"unit must be one of {DATETIME_UNIT}, got {self.unit!r}.")
        if self.unit == "μs":
            object.__setattr__(self, "unit", "us")

    @classmethod
    def _parameters(cls, dtype: np.dtype[Any]) -> dict[str, Any]:
        unit, scale_factor = np.datetime_data(dtype)
        return {**super()._parameters(dtype), "unit": unit, "scale_factor": scale_factor}

    def _numpy_name(self) -> str:
        return f"{self._numpy_type}[{self.scale_factor}{self.unit}]"

    def _configuration(self) -> dict[str, Any]:
        return {"unit": self.unit, "scale_factor": self.scale_factor}

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        if configuration.keys() != {"unit", "scale_factor"}:
            raise DataTypeValidationError(f"'{cls._zarr_v3_name}' needs a unit and a scale_factor; got {configuration}.")
        return cls(**configuration)

    def _check_scalar(self, data: object) -> bool:
        times = (str, int, bytes, np.integer, np.datetime64, np.timedelta64, datetime, timedelta)
        return data is None or isinstance(data, times)

    def _cast_scalar_unchecked(self, data: Any) -> Scalar:
        if isinstance(data, bytes):
            data = data.decode()
        name: Any = self._numpy_name()
        if data is None or data == "NaT":
            data = _NOT_A_TIME
        if isinstance(data, (int, np.integer)):
            scalar: Scalar = np.int64(data).view(name)
            return scalar
        time: Any = np.array(data).astype(name)
        scalar = time[()]
        return scalar

    def default_scalar(self) -> Scalar:
        return self._cast_scalar_unchecked(None)

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Scalar:
        if data != "NaT" and not isinstance(data, int):
            raise TypeError(f"Invalid type: {data}. Expected an integer.")
        return self._cast_scalar_unchecked(data)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> int:
        return int(np.int64(self.cast_scalar(data).view("i8")))


class DateTime64(TimeDTypeBase[np.datetime64]):
    """A timestamp: a number of units since the beginning of 1970."""

    dtype_cls = np.dtypes.DateTime64DType
    _zarr_v3_name = "numpy.datetime64"
    _numpy_type = "datetime64"


class TimeDelta64(TimeDTypeBase[np.timedelta64]):
    """A duration: a number of units."""

    dtype_cls = np.dtypes.TimeDelta64DType
    _zarr_v3_name = "numpy.timedelta64"
    _numpy_type = "timedelta64"
