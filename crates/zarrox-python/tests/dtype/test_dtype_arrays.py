"""Data types in arrays: native code accepts the metadata that the Python classes produce."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from zarrox import _native
from zarrox.core.dtype import FixedLengthUTF32, Int8, NullTerminatedBytes, RawBytes, Structured, data_type_registry, ml, parse_dtype
from zarrox.core.element_types import spec_dtype
from zarrox.errors import MetadataError

PARAMETERS: dict[str, dict[str, Any]] = {
    "fixed_length_utf32": {"length": 3},
    "null_terminated_bytes": {"length": 3},
    "raw_bytes": {"length": 3},
    "numpy.datetime64": {"unit": "s", "scale_factor": 10},
    "numpy.timedelta64": {"unit": "ns"},
    "struct": {"fields": (("a", Int8()), ("b", NullTerminatedBytes(length=2)))},
}
ALL = [cls(**PARAMETERS.get(name, {})) for name, cls in data_type_registry.contents.items() if name not in ("object", "celsius")]


def create(zarr_format: int, dtype: Any, **members: Any) -> _native.Array:
    spec = {"format": str(zarr_format), "shape": [3], "dtype": spec_dtype(dtype, zarr_format), **members}
    return _native.create_array(_native.Store.memory(), "", json.dumps(spec))


@pytest.mark.parametrize("data_type", ALL, ids=repr)
def test_all_of_v3(data_type: Any) -> None:
    array = create(3, data_type)
    read = parse_dtype(json.loads(array.data_type), zarr_format=3)
    assert read == data_type
    if isinstance(data_type, ml.SmallNumber) and data_type.to_native_dtype().type is np.void:
        return
    fill = json.loads(array.document())["fill_value"]
    default = data_type.default_scalar()
    assert np.asarray(data_type.from_json_scalar(fill, zarr_format=3)).tobytes() == np.asarray(default).tobytes()
    if isinstance(data_type, ml.SmallNumber):
        return
    written = create(3, data_type, fill_value=data_type.to_json_scalar(default, zarr_format=3))
    assert json.loads(written.document())["fill_value"] == fill


@pytest.mark.parametrize(
    "written",
    [
        *("?", "i1", ">i2", "<u4", ">f2", "f8", "c8", ">c16", "U3", ">U3", "S3", "V3", "M8[ns]", ">m8[10s]"),
        [("a", ">f8"), ("b", "i2", (3,))],
        [("a", [("b", "S2"), ("c", "M8[s]")])],
        np.dtype([("a", "i1"), ("b", "f4")], align=True),
    ],
    ids=repr,
)
def test_all_of_numpy_in_v2(written: Any) -> None:
    native = np.dtype(written)
    array = create(2, written)
    assert array.dtype == native
    assert json.loads(array.document())["dtype"] == spec_dtype(native, 2)


@pytest.mark.parametrize(
    "data_type",
    [FixedLengthUTF32(length=2), NullTerminatedBytes(length=3), RawBytes(length=2), Structured(fields=(("a", Int8()),))],
    ids=repr,
)
def test_fill_values_in_v2(data_type: Any) -> None:
    value = data_type.to_json_scalar(data_type.default_scalar(), zarr_format=2)
    array = create(2, data_type, fill_value=value)
    read = data_type.from_json_scalar(json.loads(array.document())["fill_value"], zarr_format=2)
    assert read == data_type.default_scalar()


@given(
    native=npst.scalar_dtypes() | npst.unicode_string_dtypes(max_len=4) | npst.byte_string_dtypes(max_len=4),
    data=st.data(),
    zarr_format=st.sampled_from([2, 3]),
)
@settings(deadline=None)
def test_any_values(native: np.dtype[Any], data: st.DataObject, zarr_format: int) -> None:
    try:
        data_type = parse_dtype(native, zarr_format=zarr_format)
        spec_dtype(native, zarr_format)
    except ValueError:
        return
    values = data.draw(npst.arrays(native, 3))
    if native.kind in "SU":
        # Trailing zeros are padding, and cannot be distinguished from missing bytes.
        values = np.char.rstrip(values, "\0" if native.kind == "U" else b"\0").astype(native)
    fill = {"fill_value": data_type.to_json_scalar(values[0], zarr_format=zarr_format)}
    if native.kind == "U" and any("\ud800" <= letter <= "\udfff" for letter in values[0]):
        with pytest.raises(MetadataError, match="unpaired surrogate"):
            create(zarr_format, native, **fill)
        array = create(zarr_format, native)
    else:
        array = create(zarr_format, native, **fill)
        np.testing.assert_array_equal(array.get(...), np.full(3, values[0], native))
    array.set(..., values)
    np.testing.assert_array_equal(array.get(...), values)
