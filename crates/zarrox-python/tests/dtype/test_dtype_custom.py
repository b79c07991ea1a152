"""A user-defined data type: integers of two bits, with the element type of ``ml_dtypes``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from zarrox import _native
from zarrox.core.dtype import ZDType, data_type_registry, parse_dtype
from zarrox.core.element_types import spec_dtype
from zarrox.core.dtype.common import DataTypeValidationError, check_dtype_spec_v2

ml_dtypes = pytest.importorskip("ml_dtypes")


@dataclass(frozen=True, kw_only=True)
class TwoBits(ZDType[Any, Any]):
    """Integers from -2 to 1."""

    dtype_cls = type(np.dtype(ml_dtypes.int2))
    _zarr_v3_name: ClassVar[str] = "int2"

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> TwoBits:
        if not cls._check_native_dtype(dtype):
            raise DataTypeValidationError(f"{dtype} has more than two bits")
        return cls()

    def to_native_dtype(self) -> Any:
        return self.dtype_cls()

    @classmethod
    def _from_json_v2(cls, data: Any) -> TwoBits:
        if check_dtype_spec_v2(data) and data["name"] == "int2":
            return cls()
        raise DataTypeValidationError(f"{data} is not 'int2'")

    @classmethod
    def _from_json_v3(cls, data: Any) -> TwoBits:
        if data == "int2":
            return cls()
        raise DataTypeValidationError(f"{data} is not 'int2'")

    def to_json(self, zarr_format: int) -> Any:
        return "int2" if zarr_format == 3 else {"name": "int2", "object_codec_id": None}

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (int, ml_dtypes.int2))

    def cast_scalar(self, data: object) -> Any:
        if self._check_scalar(data):
            return ml_dtypes.int2(data)
        raise TypeError(f"{data!r} is not an integer")

    def default_scalar(self) -> Any:
        return ml_dtypes.int2(0)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> int:
        return int(self.cast_scalar(data))

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        return self.cast_scalar(data)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    built_in = data_type_registry.get("int2")
    data_type_registry.register("int2", TwoBits)
    yield
    data_type_registry.register("int2", built_in)


@pytest.mark.parametrize("written", ["int2", TwoBits(), np.dtype(ml_dtypes.int2), ml_dtypes.int2], ids=str)
def test_found(written: Any) -> None:
    assert parse_dtype(written, zarr_format=3) == TwoBits()
    assert spec_dtype(written, 3) == "int2"
    assert spec_dtype(written, 2) == "int2"


def test_stored() -> None:
    fill_value = TwoBits().to_json_scalar(1, zarr_format=3)
    spec = {"format": "3", "shape": [4], "dtype": spec_dtype(TwoBits(), 3), "fill_value": fill_value}
    array = _native.create_array(_native.Store.memory(), "", json.dumps(spec))
    assert json.loads(array.document())["data_type"] == "int2"
    assert parse_dtype(json.loads(array.data_type), zarr_format=3) == TwoBits()
    values = np.array([-1, -2, 0, 1]).astype(ml_dtypes.int2)
    array.set(..., values)
    assert array.get(...).astype(int).tolist() == [-1, -2, 0, 1]
