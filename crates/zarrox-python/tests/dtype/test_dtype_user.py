"""A data type that is defined only in Python, from the user's class to the values of an array that is opened again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import zarrox as zarr
from zarrox.core.dtype import ZDType, data_type_registry
from zarrox.core.dtype.common import DataTypeValidationError

NAME = "example.celsius"


@dataclass(frozen=True, kw_only=True)
class Celsius(ZDType[Any, Any]):
    """Temperatures in hundredths of a degree, which are text in metadata, such as ``"21.50 C"``."""

    dtype_cls = np.dtypes.Int16DType
    _zarr_v3_name: ClassVar[str] = NAME

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> Celsius:
        # NumPy integers remain integers: this data type must be requested.
        raise DataTypeValidationError(f"{dtype} is not said to be degrees")

    def to_native_dtype(self) -> Any:
        return self.dtype_cls()

    @classmethod
    def _from_json_v2(cls, data: Any) -> Celsius:
        raise DataTypeValidationError("v2 has no degrees")

    @classmethod
    def _from_json_v3(cls, data: Any) -> Celsius:
        if data == NAME:
            return cls()
        raise DataTypeValidationError(f"{data} is not {NAME!r}")

    def to_json(self, zarr_format: int) -> Any:
        return NAME

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (int, np.integer))

    def cast_scalar(self, data: object) -> Any:
        return np.int16(data)

    def default_scalar(self) -> Any:
        return np.int16(-27315)

    def to_json_scalar(self, data: object, *, zarr_format: int) -> str:
        return f"{int(np.int16(data)) / 100:.2f} C"

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        return np.int16(round(float(data.removesuffix(" C")) * 100))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    data_type_registry.register(NAME, Celsius)
    yield
    data_type_registry.unregister(NAME)


def test_elements_and_fill_values() -> None:
    store: dict[str, Any] = {}
    array = zarr.create_array(store, shape=(4,), chunks=(2,), dtype=Celsius(), fill_value=2150)
    document = json.loads(store["zarr.json"])
    assert (document["data_type"], document["fill_value"]) == (NAME, "21.50 C")
    array[0] = -500
    again = zarr.open_array(store, mode="r")
    assert again.dtype == np.int16
    assert isinstance(again.metadata.data_type, Celsius)
    np.testing.assert_array_equal(again[:], [-500, 2150, 2150, 2150])


def test_default_fill_value() -> None:
    array = zarr.create_array({}, shape=(2,), dtype=Celsius())
    np.testing.assert_array_equal(array[:], [-27315, -27315])


def test_bytes_are_little_endian_and_shards_work() -> None:
    store: dict[str, Any] = {}
    array = zarr.create_array(store, shape=(4,), chunks=(2,), shards=(4,), dtype=Celsius(), compressors=None)
    array[:] = [1, 2, 3, 256]
    assert bytes(store["c/0"][:8]) == bytes([1, 0, 2, 0, 3, 0, 0, 1])
    np.testing.assert_array_equal(zarr.open_array(store)[:], [1, 2, 3, 256])


def test_a_type_that_is_not_registered_is_an_error_with_its_name() -> None:
    store: dict[str, Any] = {}
    zarr.create_array(store, shape=(2,), dtype=Celsius())
    store["zarr.json"] = store["zarr.json"].replace(b"celsius", b"kelvins")
    with pytest.raises(NotImplementedError, match="example.kelvins"):
        zarr.open_array(store)
