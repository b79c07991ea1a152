"""Tests that data types behave like the data types of zarr-python 3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zarrox.core import dtype as ours

theirs = pytest.importorskip("zarr.core.dtype")

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    **{name: [{}] for name in ("Bool", "Int8", "UInt8", "VariableLengthUTF8", "VariableLengthBytes")},
    **{
        name: [{}, {"endianness": "big"}]
        for name in (
            *("Int16", "Int32", "Int64", "UInt16", "UInt32", "UInt64"),
            *("Float16", "Float32", "Float64", "Complex64", "Complex128"),
        )
    },
    "FixedLengthUTF32": [{"length": 3}, {"length": 3, "endianness": "big"}],
    "NullTerminatedBytes": [{"length": 3}],
    "RawBytes": [{"length": 3}],
    "DateTime64": [{}, {"unit": "s", "scale_factor": 10}, {"unit": "μs", "endianness": "big"}],
    "TimeDelta64": [{}, {"unit": "ns"}],
}
ALL = [(name, parameters) for name, each in PARAMETERS.items() for parameters in each]


@pytest.mark.parametrize(("name", "parameters"), ALL, ids=repr)
def test_classes(name: str, parameters: dict[str, Any]) -> None:
    mine, other = (getattr(package, name)(**parameters) for package in (ours, theirs))
    assert repr(mine) == repr(other)
    assert mine.to_native_dtype() == other.to_native_dtype()
    assert getattr(mine, "item_size", None) == getattr(other, "item_size", getattr(mine, "item_size", None))
    for zarr_format in (2, 3):
        assert mine.to_json(zarr_format=zarr_format) == other.to_json(zarr_format=zarr_format)
        default = [t.to_json_scalar(t.default_scalar(), zarr_format=zarr_format) for t in (mine, other)]
        assert default[0] == default[1]
    assert type(mine.default_scalar()) is type(other.default_scalar())
    assert type(mine)._zarr_v3_name == type(other)._zarr_v3_name
    assert type(mine).__module__ == type(other).__module__.replace("zarr.", "zarrox.", 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "written",
    ["i4", ">f8", "S5", "U10", str, "string", "V5", "M8[ns]", int, float, bool, complex, np.int8, "i4, f4", None, "bool", "|b1"],
    ids=repr,
)
def test_parse(written: Any) -> None:
    for zarr_format in (2, 3):
        mine, other = (package.parse_dtype(written, zarr_format=zarr_format) for package in (ours, theirs))
        # The newest releases name the structured type ``Struct``, which is an alias of the same class here.
        assert repr(mine).replace("Structured", "Struct") == repr(other)
        assert mine.to_json(zarr_format=3) == other.to_json(zarr_format=3)


VALUES = [0, 1, -1, 1.5, "1", True, b"ab", "ab", None, 1j, [1, 2], np.float32(2.5), np.datetime64(5, "s"), 300, float("nan")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameters"), ALL, ids=repr)
def test_values(name: str, parameters: dict[str, Any]) -> None:
    mine, other = (getattr(package, name)(**parameters) for package in (ours, theirs))
    for value in VALUES:
        try:
            expected = other.cast_scalar(value)
        except Exception:
            continue
        if (name == "VariableLengthBytes" and isinstance(value, int)) or (name.startswith("Complex") and value is None):
            # zarr-python returns zeros and NaN, which are not intended.
            continue
        got = mine.cast_scalar(value)
        np.testing.assert_equal(got, expected)
        assert type(got) is type(expected)


@pytest.mark.parametrize(("name", "parameters"), ALL, ids=repr)
def test_json_of_values(name: str, parameters: dict[str, Any]) -> None:
    mine, other = (getattr(package, name)(**parameters) for package in (ours, theirs))
    for value in [0, 1, 1.0, "NaN", "Infinity", "0x7fc00000", "YWI=", [1, 2], ["NaN", 1], "NaT", True, "12"]:
        for zarr_format in (2, 3):
            try:
                expected = other.from_json_scalar(value, zarr_format=zarr_format)
            except Exception:
                continue
            if name in ("NullTerminatedBytes", "RawBytes", "VariableLengthBytes") and value != "YWI=":
                # zarr-python ignores characters that are not base64.
                continue
            if name == "FixedLengthUTF32" and len(str(value)) > mine.length:
                # zarr-python does not truncate values that are too long.
                continue
            got = mine.from_json_scalar(value, zarr_format=zarr_format)
            if name == "RawBytes":
                # zarr-python does not pad values that are too short.
                got, expected = got.tobytes().rstrip(b"\0"), expected.tobytes()
            np.testing.assert_equal(got, expected)


def test_structures() -> None:
    native = np.dtype([("a", "<f8"), ("b", [("c", ">i2")])])
    mine, other = (package.parse_dtype(native, zarr_format=2) for package in (ours, theirs))
    for zarr_format in (2, 3):
        assert mine.to_json(zarr_format=zarr_format) == other.to_json(zarr_format=zarr_format)
    value = np.array((1.5, (2,)), dtype=native)[()]
    for zarr_format in (2, 3):
        document = other.to_json_scalar(value, zarr_format=zarr_format)
        assert mine.to_json_scalar(value, zarr_format=zarr_format) == document
        assert mine.from_json_scalar(document, zarr_format=zarr_format) == value


def test_names_are_there() -> None:
    missing = {name for name in theirs.__all__ if "JSON" not in name} - set(dir(ours))
    assert missing == set()
