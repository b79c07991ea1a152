"""The data types of machine learning."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zarrox.core.dtype import ml, parse_dtype
from zarrox.core.element_types import spec_dtype
from zarrox.errors import UnsupportedError

NAMES = [cls._zarr_v3_name for cls in ml.SMALL_NUMBERS]


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    data_type = parse_dtype(name, zarr_format=3)
    assert data_type.to_json(zarr_format=3) == spec_dtype(name, 3) == name
    assert type(data_type).__module__ == "zarrox.core.dtype.ml"
    assert getattr(ml, type(data_type).__name__) is type(data_type)
    for written in (name, data_type):
        with pytest.raises(UnsupportedError, match=name):
            spec_dtype(written, 2)
    assert data_type.default_scalar().itemsize == data_type.to_native_dtype().itemsize


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ml, "_ml_dtypes", lambda: None)
    for name in NAMES:
        data_type = parse_dtype(name, zarr_format=3)
        assert data_type.to_native_dtype().type is np.void
        with pytest.raises(UnsupportedError, match="ml_dtypes"):
            data_type.cast_scalar(1)
        assert not any(data_type.default_scalar().tobytes())


@pytest.mark.parametrize("name", NAMES)
def test_values(name: str) -> None:
    pytest.importorskip("ml_dtypes")
    data_type = parse_dtype(name, zarr_format=3)
    native = data_type.to_native_dtype()
    if native.type is np.void:
        return
    assert parse_dtype(native, zarr_format=3) == data_type
    assert spec_dtype(native, 3) == name
    with pytest.raises(UnsupportedError):
        spec_dtype(native, 2)
    value = data_type.cast_scalar(1)
    assert value.dtype == native
    document = json.loads(json.dumps(data_type.to_json_scalar(value, zarr_format=3)))
    assert data_type.from_json_scalar(document, zarr_format=3) == value
    with pytest.raises(TypeError):
        data_type.cast_scalar(None)
    with pytest.raises(TypeError):
        data_type.from_json_scalar([], zarr_format=3)


def test_patterns() -> None:
    pytest.importorskip("ml_dtypes")
    bfloat16 = parse_dtype("bfloat16", zarr_format=3)
    assert bfloat16.from_json_scalar("0x3f80", zarr_format=3) == 1
    assert bfloat16.to_json_scalar(bfloat16.from_json_scalar("NaN", zarr_format=3), zarr_format=3) == "NaN"
    assert bfloat16.to_json_scalar(float("inf"), zarr_format=3) == "Infinity"
    with pytest.raises(OverflowError):
        parse_dtype("int2", zarr_format=3).from_json_scalar(2, zarr_format=3)
