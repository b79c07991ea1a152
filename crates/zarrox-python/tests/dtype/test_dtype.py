"""Data types: their JSON, their values, and their registry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from zarrox.core import dtype as zdtype
from zarrox.core.dtype import (
    Bool,
    Complex64,
    DataTypeRegistry,
    DateTime64,
    FixedLengthUTF32,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int64,
    NullTerminatedBytes,
    PythonObject,
    RawBytes,
    Structured,
    TimeDelta64,
    UInt8,
    VariableLengthBytes,
    VariableLengthUTF8,
    ZDType,
    data_type_registry,
    parse_dtype,
)
from zarrox.core.dtype.common import DataTypeValidationError, check_dtype_spec_v2, check_dtype_spec_v3, unpack_dtype_json
from zarrox.core.dtype.registry import offered_by_packages
from zarrox.core.element_types import normalize_dtype, spec_dtype
from zarrox.errors import UnsupportedError

INSTANCES: list[ZDType[Any, Any]] = [
    Bool(),
    Int8(),
    UInt8(),
    Int16(endianness="big"),
    Int64(),
    Float16(),
    Float32(endianness="big"),
    Float64(),
    Complex64(),
    DateTime64(unit="s", scale_factor=10),
    DateTime64(unit="ns", endianness="big"),
    TimeDelta64(unit="h"),
    FixedLengthUTF32(length=3),
    NullTerminatedBytes(length=5),
    RawBytes(length=4),
    VariableLengthUTF8(),
    VariableLengthBytes(),
    Structured(fields=(("a", Int8()), ("b", Structured(fields=(("c", Float64()),))))),
]


@pytest.mark.parametrize("data_type", INSTANCES, ids=repr)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_json_round_trip(data_type: ZDType[Any, Any], zarr_format: int) -> None:
    document = json.loads(json.dumps(data_type.to_json(zarr_format=zarr_format)))
    read = type(data_type).from_json(document, zarr_format=zarr_format)
    assert parse_dtype(document, zarr_format=zarr_format) == read
    if zarr_format == 2:
        assert read == data_type
    else:
        # v3 metadata does not contain the byte order in memory.
        assert repr(read) == repr(data_type).replace("big", "little")
    default = data_type.default_scalar()
    value = data_type.to_json_scalar(default, zarr_format=zarr_format)
    again = data_type.from_json_scalar(json.loads(json.dumps(value)), zarr_format=zarr_format)
    assert again == default or (np.isnat(again) and np.isnat(default))


# The data type of objects is ambiguous.
SAY_WHAT_THEY_ARE = [data_type for data_type in INSTANCES if not isinstance(data_type, VariableLengthBytes)]


@pytest.mark.parametrize("data_type", SAY_WHAT_THEY_ARE, ids=repr)
def test_native_round_trip(data_type: ZDType[Any, Any]) -> None:
    native = data_type.to_native_dtype()
    assert type(data_type).from_native_dtype(native) == data_type
    assert data_type_registry.match_dtype(native) == data_type
    assert hash(data_type) == hash(parse_dtype(native, zarr_format=3))


def test_names() -> None:
    assert repr(Int64) == "<class 'zarrox.core.dtype.npy.int.Int64'>"
    assert repr(parse_dtype("i8", zarr_format=2)) == "Int64(endianness='little')"
    shown = "Structured(fields=(('a', Float64(endianness='little')), ('b', Int64(endianness='little'))))"
    assert repr(parse_dtype([("a", "f8"), ("b", "i8")], zarr_format=3)) == shown
    assert repr(DateTime64(unit="μs")) == "DateTime64(endianness='little', scale_factor=1, unit='us')"


@pytest.mark.parametrize(
    ("written", "zarr_format", "data_type"),
    [
        (str, 3, VariableLengthUTF8()),
        ("str", 2, VariableLengthUTF8()),
        ("string", 3, VariableLengthUTF8()),
        (np.dtypes.StringDType(), 2, VariableLengthUTF8()),
        (bytes, 2, VariableLengthBytes()),
        ("bytes", 3, VariableLengthBytes()),
        ("variable_length_bytes", 3, VariableLengthBytes()),
        ("array:<i4", 2, PythonObject(object_codec_id="vlen-array")),
        (int, 3, parse_dtype("int64", zarr_format=3)),
        (None, 3, Float64()),
        ("q", 3, Int64()),
        ("U10", 3, FixedLengthUTF32(length=10)),
        ("r24", 3, RawBytes(length=3)),
        ({"name": "r24"}, 3, RawBytes(length=3)),
        ({"name": "int8", "configuration": {}}, 3, Int8()),
        ({"name": "<i1", "object_codec_id": None}, 2, Int8()),
        ("<M8[ns]", 2, DateTime64(unit="ns")),
        ([["a", ">i2"]], 2, Structured(fields=(("a", Int16(endianness="big")),))),
        ({"name": "structured", "configuration": {"fields": [["a", "int8"]]}}, 3, Structured(fields=(("a", Int8()),))),
        ({"name": "|O", "object_codec_id": "json2"}, 2, PythonObject(object_codec_id="json2")),
        (Int8(), 3, Int8()),
    ],
    ids=repr,
)
def test_what_users_write(written: Any, zarr_format: int, data_type: ZDType[Any, Any]) -> None:
    assert parse_dtype(written, zarr_format=zarr_format) == data_type
    assert zdtype.parse_data_type(written, zarr_format=zarr_format) == data_type


@pytest.mark.parametrize(
    "written", [object, "O", "S", np.void, "U0", "unheard_of", "g", {"name": "unheard_of"}, ["f8"]], ids=repr
)
def test_what_is_no_data_type(written: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        parse_dtype(written, zarr_format=3)


@pytest.mark.parametrize(
    ("written", "v2", "v3"),
    [
        ("i4", "<i4", "int32"),
        (">f8", ">f8", "float64"),
        (str, "|O", "string"),
        (bytes, "|O", "variable_length_bytes"),
        ("M8[ns]", "<M8[ns]", {"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}),
        ("U10", "<U10", {"name": "fixed_length_utf32", "configuration": {"length_bytes": 40}}),
        ("S3", "|S3", {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}),
        (("f4", (2,)), "<f4", None),
        ([("a", "f8"), ("b", "i2", (3,))], [["a", "<f8"], ["b", "<i2", [3]]], None),
        (np.dtype([("a", "i1"), ("b", "f4")], align=True), [["a", "|i1"], ["", "|V3"], ["b", "<f4"]], ...),
        ([("a", [("b", "i1")])], [["a", [["b", "|i1"]]]], ...),
        ("bfloat16", None, "bfloat16"),
        ({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, "|V3", ...),
        ("array:i4", "|O", None),
    ],
    ids=repr,
)
def test_spec(written: Any, v2: Any, v3: Any) -> None:
    for expected, zarr_format in ((v2, 2), (v3, 3)):
        if expected is None:
            with pytest.raises((ValueError, TypeError)):
                spec_dtype(written, zarr_format)
        elif expected is ...:
            assert json.dumps(spec_dtype(written, zarr_format))
        else:
            assert spec_dtype(written, zarr_format) == expected


def test_fields_that_are_arrays() -> None:
    with pytest.raises(ValueError, match="field 'a' is an array of shape \\(2,\\).*zarr_format=2"):
        spec_dtype([("a", "i4", (2,))], 3)
    data_type = parse_dtype([("a", "i4", (2,))], zarr_format=2)
    assert data_type.to_json(zarr_format=2) == {"name": [["a", "<i4", [2]]], "object_codec_id": None}
    assert data_type_registry.match_json({"name": [["a", "<i4", 2]], "object_codec_id": None}, zarr_format=2) == data_type


def test_spec_of_objects() -> None:
    from zarrox.v2.codecs import JSON, Categorize, VLenBytes, VLenUTF8

    assert spec_dtype(object, 2, JSON()) == "|O"
    assert spec_dtype(object, 3, VLenUTF8()) == spec_dtype("O", 3, {"id": "vlen-utf8"}) == "string"
    assert spec_dtype(object, 3, Categorize(["a"], object)) == "string"
    assert spec_dtype(object, 3, VLenBytes()) == "variable_length_bytes"
    assert spec_dtype("i4", 3, VLenBytes()) == "int32"
    with pytest.raises(UnsupportedError, match="json2"):
        spec_dtype(object, 3, JSON())
    with pytest.raises(ValueError, match="object_codec"):
        spec_dtype(object, 3)


def test_normalize_dtype() -> None:
    from zarrox.v2.codecs import JSON, VLenArray, VLenBytes, VLenUTF8

    assert normalize_dtype(str) == (np.dtype(object), VLenUTF8())
    assert normalize_dtype(np.dtypes.StringDType()) == (np.dtype(object), VLenUTF8())
    assert normalize_dtype(bytes) == (np.dtype(object), VLenBytes())
    assert normalize_dtype("array:<f4") == (np.dtype(object), VLenArray("<f4"))
    assert normalize_dtype(object, JSON()) == (np.dtype(object), JSON())
    assert normalize_dtype(Int16(endianness="big")) == (np.dtype(">i2"), None)
    assert normalize_dtype(("f8", (2,)))[0].shape == (2,)
    assert normalize_dtype({"name": "|O", "object_codec_id": "json2"}) == (np.dtype(object), JSON())
    assert normalize_dtype({"name": "r16"})[0] == np.dtype("V2")
    for unit in ("M8", "m8"):
        with pytest.raises(ValueError, match="generic units"):
            normalize_dtype(unit)


@pytest.mark.parametrize(
    ("data_type", "value", "json_value"),
    [
        (Int8(), 42, 42),
        (Int8(), "3", 3),
        (Float32(), np.nan, "NaN"),
        (Float32(), -np.inf, "-Infinity"),
        (Float64(), np.float32(0.5), 0.5),
        (Complex64(), complex(1, np.inf), (1.0, "Infinity")),
        (Bool(), 1, True),
        (DateTime64(unit="s"), np.datetime64(1, "h"), 3600),
        (DateTime64(unit="s"), "1970-01-01T00:01", 60),
        (DateTime64(unit="s"), None, -(2**63)),
        (TimeDelta64(unit="s"), 5, 5),
        (FixedLengthUTF32(length=2), "abc", "ab"),
        (NullTerminatedBytes(length=3), b"ab", "YWI="),
        (NullTerminatedBytes(length=2), "abc", "YWI="),
        (RawBytes(length=3), b"a", "YQAA"),
        (VariableLengthBytes(), "ab", "YWI="),
        (VariableLengthUTF8(), 5, "5"),
    ],
    ids=repr,
)
def test_values(data_type: ZDType[Any, Any], value: Any, json_value: Any) -> None:
    for zarr_format in (2, 3):
        assert data_type.to_json_scalar(value, zarr_format=zarr_format) == json_value


@pytest.mark.parametrize(
    ("data_type", "bad"),
    [
        (Int8(), None),
        (Int8(), 1j),
        (Int8(), []),
        (Float32(), None),
        (Float32(), "a"),
        (Complex64(), None),
        (NullTerminatedBytes(length=3), None),
        (RawBytes(length=3), "abc"),
        (VariableLengthBytes(), 5),
        (DateTime64(unit="s"), []),
        (Structured(fields=(("a", Int8()),)), None),
    ],
    ids=repr,
)
def test_values_that_cannot_be_cast(data_type: ZDType[Any, Any], bad: object) -> None:
    with pytest.raises(TypeError, match="Cannot convert object"):
        data_type.cast_scalar(bad)


def test_integers_out_of_range() -> None:
    with pytest.raises(OverflowError):
        Int8().cast_scalar(300)
    with pytest.raises(OverflowError):
        UInt8().from_json_scalar(-1, zarr_format=3)


def test_json_of_values() -> None:
    assert np.isnan(Float32().from_json_scalar("0x7fc00000", zarr_format=3))
    assert Float16().from_json_scalar("0x3c00", zarr_format=3) == 1
    with pytest.raises(ValueError, match="hexadecimal"):
        Float32().from_json_scalar("0xzz", zarr_format=3)
    with pytest.raises(TypeError):
        Float32().from_json_scalar("0x7fc00000", zarr_format=2)
    assert Int8().from_json_scalar(3.0, zarr_format=3) == 3
    with pytest.raises(TypeError):
        Int8().from_json_scalar(3.5, zarr_format=3)
    assert VariableLengthBytes().from_json_scalar([0, 255], zarr_format=3) == b"\0\xff"
    with pytest.raises(TypeError):
        NullTerminatedBytes(length=3).from_json_scalar("!!", zarr_format=2)
    assert np.isnat(DateTime64(unit="s").from_json_scalar("NaT", zarr_format=3))


def test_structures_of_values() -> None:
    structure = Structured(fields=(("a", Int8()), ("b", Float64())))
    value = structure.cast_scalar((1, 2.0))
    assert structure.to_json_scalar(value, zarr_format=3) == {"a": 1, "b": 2.0}
    assert structure.cast_scalar({"b": 2.0, "a": 1}) == structure.cast_scalar([1, 2.0]) == value
    assert structure.from_json_scalar({"a": 1}, zarr_format=3) == structure.cast_scalar((1, 0.0))
    in_v2 = structure.to_json_scalar(value, zarr_format=2)
    assert structure.from_json_scalar(in_v2, zarr_format=2) == value
    assert structure.item_size == 9
    assert structure.has_multi_byte_fields() and not Structured(fields=(("a", Int8()),)).has_multi_byte_fields()


@pytest.mark.parametrize(
    "make",
    [
        lambda: FixedLengthUTF32(length=0),
        lambda: RawBytes(length=-1),
        lambda: DateTime64(unit="x"),
        lambda: DateTime64(unit="s", scale_factor=0),
        lambda: TimeDelta64(unit="s", scale_factor=2**31),
        lambda: Structured(fields=()),
        lambda: Int16(endianness="middle").to_native_dtype(),  # type: ignore[arg-type]
        lambda: Int8().to_json(zarr_format=4),
        lambda: Int8.from_json("int8", zarr_format=4),
    ],
)
def test_wrong_parameters(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize(
    "document",
    [
        "int7",
        {"name": "raw_bytes"},
        {"name": "raw_bytes", "configuration": {"length_bytes": "3"}},
        {"name": "raw_bytes", "configuration": {"length_bytes": 0}},
        {"name": "fixed_length_utf32", "configuration": {"length_bytes": 3}},
        {"name": "int8", "configuration": {"endian": "little"}},
        {"name": "numpy.datetime64", "configuration": {"unit": "s"}},
        {"name": "numpy.datetime64", "configuration": {"unit": "x", "scale_factor": 1}},
        {"name": "struct", "configuration": {"fields": []}},
        {"name": "struct", "configuration": {"fields": [3]}},
        {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int7"}]}},
        {"name": "int8", "extra": 1},
        "r7",
        3,
        None,
        [],
    ],
    ids=repr,
)
def test_malformed_json(document: Any) -> None:
    with pytest.raises(ValueError):
        data_type_registry.match_json(document, zarr_format=3)


@pytest.mark.parametrize(
    "name", ["|i4", "i4", "<x4", "|O", "", [], [["a"]], [["a", "<i4", ["2"]]], [["a", "<i4", "2"]], [["a", "<i4", [-2]]], [[1, "<i4"]], 3]
)
def test_malformed_names_of_v2(name: Any) -> None:
    with pytest.raises(ValueError):
        data_type_registry.match_json({"name": name, "object_codec_id": None}, zarr_format=2)


NAMES = st.sampled_from(["int8", "struct", "r8", "raw_bytes"])
MEMBERS = st.sampled_from(["name", "configuration", "fields", "data_type", "unit"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner),
    max_leaves=10,
)
native_data_types = (
    npst.scalar_dtypes()
    | npst.unicode_string_dtypes()
    | npst.byte_string_dtypes()
    | npst.array_dtypes(allow_subarrays=False)
)


@given(document=json_values, zarr_format=st.sampled_from([2, 3]))
def test_any_json_is_a_data_type_or_an_error(document: Any, zarr_format: int) -> None:
    try:
        found = data_type_registry.match_json(document, zarr_format=zarr_format)
    except ValueError:
        return
    assert isinstance(found, ZDType)


@given(native=native_data_types)
def test_any_native_data_type(native: np.dtype[Any]) -> None:
    try:
        found = parse_dtype(native, zarr_format=2)
    except (ValueError, TypeError):
        # No format has a name for long doubles and for text of length 0.
        return
    if "((" not in repr(native):
        # Only the names of fields with titles are kept.
        assert found.to_native_dtype() == native
    assert parse_dtype(found.to_json(zarr_format=2), zarr_format=2) == found
    assert spec_dtype(found, 2) == unpack_dtype_json(found.to_json(zarr_format=2))
    in_v3 = json.loads(json.dumps(found.to_json(zarr_format=3)))
    assert parse_dtype(in_v3, zarr_format=3).to_json(zarr_format=3) == found.to_json(zarr_format=3)
    json.dumps(found.to_json_scalar(found.default_scalar(), zarr_format=3))


@given(value=st.floats(width=32))
def test_any_float(value: float) -> None:
    document = json.loads(json.dumps(Float32().to_json_scalar(value, zarr_format=3)))
    np.testing.assert_equal(Float32().from_json_scalar(document, zarr_format=3), np.float32(value))


def test_checks_of_json() -> None:
    assert not check_dtype_spec_v2({"name": "|O"})
    assert not check_dtype_spec_v2({"name": "|O", "object_codec_id": 3})
    assert not check_dtype_spec_v3({"name": 3})
    assert unpack_dtype_json("int8") == "int8"


@dataclass(frozen=True, kw_only=True)
class Celsius(ZDType[Any, Any]):
    """Temperatures, stored as numbers of 32 bits."""

    dtype_cls = np.dtypes.Float32DType
    _zarr_v3_name = "float32"

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> Celsius:
        if cls._check_native_dtype(dtype):
            return cls()
        raise DataTypeValidationError(f"{dtype} is not a temperature")

    def to_native_dtype(self) -> Any:
        return np.dtype("float32")

    @classmethod
    def _from_json_v2(cls, data: Any) -> Celsius:
        if data == {"name": "<f4", "object_codec_id": None}:
            return cls()
        raise DataTypeValidationError(f"{data} is not a temperature")

    @classmethod
    def _from_json_v3(cls, data: Any) -> Celsius:
        if data == cls._zarr_v3_name:
            return cls()
        raise DataTypeValidationError(f"{data} is not a temperature")

    def to_json(self, zarr_format: int) -> Any:
        return {"name": "<f4", "object_codec_id": None} if zarr_format == 2 else self._zarr_v3_name

    def _check_scalar(self, data: object) -> bool:
        return isinstance(data, (int, float))

    def cast_scalar(self, data: Any) -> Any:
        return np.float32(data)

    def default_scalar(self) -> Any:
        return np.float32(20)

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        return np.float32(data)

    def to_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        return float(data)


def test_registered_types() -> None:
    try:
        data_type_registry.register("celsius", Celsius)
        with pytest.raises(ValueError, match="Multiple data type wrappers"):
            parse_dtype(np.dtype("float32"), zarr_format=3)
        assert parse_dtype(Celsius(), zarr_format=3) == Celsius()
        data_type_registry.unregister("float32")
        assert parse_dtype(np.dtype("float32"), zarr_format=3) == Celsius()
        assert parse_dtype("float32", zarr_format=3) == Celsius()
        assert spec_dtype(Celsius(), 3) == "float32"
    finally:
        data_type_registry.unregister("celsius")
        data_type_registry.register("float32", Float32)
    assert parse_dtype("float32", zarr_format=3) == Float32()
    assert data_type_registry.get("float32") is Float32
    for method in (data_type_registry.get, data_type_registry.unregister):
        with pytest.raises(KeyError):
            method("celsius")


def test_packages_are_looked_for_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = EntryPoint("celsius", f"{__name__}:Celsius", "zarr.data_type")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda: EntryPoints([offer]))
    registry = DataTypeRegistry()
    registry._sources.append(offered_by_packages)
    assert registry.contents == {}
    assert registry.match_dtype(np.dtype("float32")) == Celsius()
    with pytest.raises(ValueError, match="No Zarr data type"):
        registry.match_dtype(np.dtype("float64"))


def test_abstract() -> None:
    with pytest.raises(TypeError):
        ZDType()  # type: ignore[abstract]


def test_module_of_zarr_3() -> None:
    import zarrox.dtype

    assert zarrox.dtype.Int8 is Int8
    assert zarrox.dtype.parse_dtype is parse_dtype
