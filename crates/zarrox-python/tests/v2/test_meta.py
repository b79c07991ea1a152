"""Documents of version 2."""

from __future__ import annotations

import base64
import json
import pickle
from typing import Any

import numpy as np
import pytest

import zarrox.v2 as zarr
from zarrox.errors import MetadataError
from zarrox.v2.meta import (
    ZARR_FORMAT,
    Metadata2,
    decode_array_metadata,
    decode_dtype,
    decode_fill_value,
    decode_group_metadata,
    encode_array_metadata,
    encode_dtype,
    encode_fill_value,
    encode_group_metadata,
    parse_metadata,
)


class Pickling:
    """A codec of objects."""

    def encode(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def decode(self, text: bytes) -> Any:
        return pickle.loads(text)


def meta(**members: Any) -> dict[str, Any]:
    return {
        "shape": (100,), "chunks": (10,), "dtype": np.dtype("<f8"), "compressor": {"id": "zlib", "level": 1},
        "fill_value": None, "filters": None, "order": "C", **members,
    }  # fmt: skip


def test_an_array_s_document_is_zarr_python_s_byte_for_byte() -> None:
    assert encode_array_metadata(meta()).decode() == """{
    "chunks": [
        10
    ],
    "compressor": {
        "id": "zlib",
        "level": 1
    },
    "dtype": "<f8",
    "fill_value": null,
    "filters": null,
    "order": "C",
    "shape": [
        100
    ],
    "zarr_format": 2
}"""


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"fill_value": 1.5, "order": "F", "shape": (3, 4), "chunks": (2, 2)},
        {"dimension_separator": "/"},
        {"dtype": np.dtype("<i4"), "fill_value": np.int32(-1), "filters": [{"id": "delta", "dtype": "<i4"}]},
        {"dtype": np.dtype("bool"), "fill_value": np.True_},
        {"dtype": np.dtype("<U3"), "fill_value": "abc"},
        {"dtype": np.dtype("S10"), "fill_value": np.bytes_(b"foo")},
        {"dtype": np.dtype("M8[s]"), "fill_value": np.datetime64("2020-01-01", "s")},
        {"dtype": np.dtype([("a", "<i4"), ("b", "S10")]), "fill_value": np.zeros((), [("a", "<i4"), ("b", "S10")])[()]},
    ],
)
def test_documents_of_arrays_come_back(members: dict[str, Any]) -> None:
    given = meta(**members)
    text = encode_array_metadata(given)
    assert decode_array_metadata(text) == {**given, "zarr_format": ZARR_FORMAT}
    assert decode_array_metadata(json.loads(text)) == decode_array_metadata(text.decode())


@pytest.mark.parametrize("kind", ["m8[s]", "M8[s]"])
def test_missing_dates(kind: str) -> None:
    dtype = np.dtype(kind)
    text = encode_array_metadata(meta(dtype=dtype, fill_value=np.array("NaT", dtype)[()]))
    assert json.loads(text)["fill_value"] == -(2**63)
    assert np.isnat(decode_array_metadata(text)["fill_value"])


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_complex_numbers(kind: str) -> None:
    dtype = np.dtype(kind)
    value = dtype.type(complex(np.nan, -1))
    text = encode_array_metadata(meta(dtype=dtype, fill_value=value))
    assert json.loads(text)["fill_value"] == ["NaN", -1.0]
    assert decode_array_metadata(text)["fill_value"].tobytes() == value.tobytes()


def test_a_data_type_with_a_shape_is_unpacked() -> None:
    found = decode_array_metadata(encode_array_metadata(meta(dtype=np.dtype("(10, 20)<f8"))))
    assert (found["shape"], found["dtype"]) == ((100, 10, 20), np.dtype("<f8"))
    structured = np.dtype("<i8, (10, 10)<f8, (5, 10, 15)u1")
    text = encode_array_metadata(meta(dtype=structured))
    assert json.loads(text)["dtype"] == [["f0", "<i8"], ["f1", "<f8", [10, 10]], ["f2", "|u1", [5, 10, 15]]]
    assert decode_array_metadata(text)["dtype"] == structured


@pytest.mark.parametrize(
    "document",
    [
        {"zarr_format": 1, "shape": [1], "chunks": [1], "dtype": "<f8", "compressor": None, "fill_value": None},
        {"zarr_format": 2},
        {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<q9", "compressor": None, "fill_value": None,
         "order": "C", "filters": None},
    ],
)  # fmt: skip
def test_documents_that_cannot_be_understood(document: dict[str, Any]) -> None:
    with pytest.raises(MetadataError):
        decode_array_metadata(json.dumps(document))


def test_documents_of_groups() -> None:
    assert encode_group_metadata() == b'{\n    "zarr_format": 2\n}'
    assert decode_group_metadata(encode_group_metadata({})) == {"zarr_format": 2}
    with pytest.raises(MetadataError, match="1"):
        decode_group_metadata('{"zarr_format": 1}')


@pytest.mark.parametrize("dtype", ["f8", "<i2", ">i2", "S3", "U3", "V4", "M8[ns]", [("a", "f8"), ("b", [("c", "i1")])]])
def test_data_types(dtype: Any) -> None:
    native = np.dtype(dtype)
    assert decode_dtype(json.loads(json.dumps(encode_dtype(native)))) == native


@pytest.mark.parametrize(
    ("value", "dtype", "stored"),
    [
        (None, "f8", None),
        (np.nan, "f4", "NaN"),
        (np.inf, "f8", "Infinity"),
        (-np.inf, "f2", "-Infinity"),
        (0.5, "f8", 0.5),
        (3, "u1", 3),
        (True, "?", True),
        ("abc", "U3", "abc"),
        (b"abc", "S3", "YWJj"),
        (1 + 2j, "c8", (1.0, 2.0)),
        (np.void(b"\1\2"), "V2", "AQI="),
    ],
)
def test_fill_values(value: Any, dtype: str, stored: Any) -> None:
    assert encode_fill_value(value, np.dtype(dtype)) == stored
    found = decode_fill_value(stored, np.dtype(dtype))
    assert found == value or (value != value and found != found)


def test_fill_values_of_early_versions() -> None:
    assert decode_fill_value(0, np.dtype("S3")) == b""
    assert decode_fill_value(base64.b64encode(b"ab").decode(), np.dtype("S3")) == b"ab"


def test_fill_values_with_objects() -> None:
    dtype = np.dtype([("x", float), ("y", object)])
    value = np.array((0.0, None), dtype)[()]
    codec = Pickling()
    assert decode_fill_value(encode_fill_value(value, dtype, codec), dtype, codec) == value
    for function in (encode_fill_value, decode_fill_value):
        with pytest.raises(ValueError, match="object_codec"):
            function(value if function is encode_fill_value else "AAAA", dtype)


def test_documents_of_objects() -> None:
    given = meta(dtype=np.dtype(object), filters=[{"id": "vlen-utf8"}], fill_value="")
    assert decode_array_metadata(encode_array_metadata(given))["fill_value"] == ""


def test_what_is_stored_is_understood() -> None:
    store: dict[str, Any] = {}
    zarr.full((3, 4), 7, chunks=2, dtype="i2", store=store, order="F")
    found = decode_array_metadata(store[".zarray"])
    assert (found["shape"], found["fill_value"], found["order"]) == ((3, 4), 7, "F")
    assert parse_metadata({"a": 1}) == {"a": 1}
    assert Metadata2.decode_array_metadata(store[".zarray"]) == found
