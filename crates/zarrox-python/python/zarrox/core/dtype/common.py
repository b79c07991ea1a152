"""The common parts of data types: their parameters, and their forms in JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict, Union

from zarrox.errors import DataTypeValidationError

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

__all__ = [
    "JSON",
    "DTypeConfig_V2",
    "DTypeJSON",
    "DTypeSpec_V2",
    "DTypeSpec_V3",
    "DataTypeValidationError",
    "EndiannessStr",
    "HasEndianness",
    "HasItemSize",
    "HasLength",
    "HasObjectCodec",
    "ScalarTypeValidationError",
    "ZarrFormat",
    "check_dtype_name_v2",
    "check_dtype_spec_no_object_codec_v2",
    "check_dtype_spec_v2",
    "check_dtype_spec_v3",
    "unpack_dtype_json",
]

EndiannessStr = Literal["little", "big"]
ZarrFormat = Literal[2, 3]
JSON = Union[str, int, float, bool, None, Mapping[str, "JSON"], Sequence["JSON"]]
DTypeJSON = Any
DTypeSpec_V3 = Union[str, Mapping[str, Any]]

OBJECT_CODEC_IDS = ("vlen-utf8", "vlen-bytes", "vlen-array", "pickle", "json2", "msgpack2")


class DTypeConfig_V2(TypedDict):
    """A data type in v2: ``|O`` is ambiguous without its object codec."""

    name: Any
    object_codec_id: str | None


DTypeSpec_V2 = DTypeConfig_V2


class ScalarTypeValidationError(ValueError):
    """The value is not valid for the data type."""


@dataclass(frozen=True, kw_only=True)
class HasLength:
    """A base of data types with a fixed number of characters or bytes."""

    length: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"length must be >= 1, got {self.length}.")


@dataclass(frozen=True, kw_only=True)
class HasEndianness:
    """A base of data types whose elements in memory have a byte order; codecs determine the stored byte order."""

    endianness: EndiannessStr = sys.byteorder


class HasItemSize:
    """A base of data types whose elements have a fixed size."""

    @property
    def item_size(self) -> int:
        """The size of an element in bytes."""
        raise NotImplementedError


class HasObjectCodec:
    """A base of data types that are Python objects in memory, and need an object codec."""

    object_codec_id: ClassVar[str]


def check_dtype_name_v2(data: object) -> bool:
    """Returns true if this may be the ``dtype`` in v2 metadata: a string, or a list of fields.

    Examples
    --------
    >>> check_dtype_name_v2("<i4"), check_dtype_name_v2([["a", "<i4"], ["b", "|u1", [3]]]), check_dtype_name_v2(3)
    (True, True, False)
    """
    if isinstance(data, str):
        return True
    return isinstance(data, Sequence) and all(_is_field_v2(field) for field in data)


def _is_field_v2(data: object) -> bool:
    if isinstance(data, (str, Mapping)) or not isinstance(data, Sequence):
        return False
    return len(data) in (2, 3) and isinstance(data[0], str) and check_dtype_name_v2(data[1])


def check_dtype_spec_v2(data: object) -> TypeGuard[DTypeConfig_V2]:
    """Returns true if this is a v2 data type together with its object codec, if any.

    Examples
    --------
    >>> check_dtype_spec_v2({"name": "|O", "object_codec_id": "vlen-utf8"})
    True
    """
    return (
        isinstance(data, Mapping)
        and data.keys() == {"name", "object_codec_id"}
        and check_dtype_name_v2(data["name"])
        and isinstance(data["object_codec_id"], (str, type(None)))
    )


def check_dtype_spec_no_object_codec_v2(data: object) -> TypeGuard[DTypeConfig_V2]:
    """Returns true if this is a v2 data type that needs no object codec.

    Examples
    --------
    >>> check_dtype_spec_no_object_codec_v2({"name": "<i4", "object_codec_id": None})
    True
    """
    return check_dtype_spec_v2(data) and data["object_codec_id"] is None


def check_dtype_spec_v3(data: object) -> TypeGuard[DTypeSpec_V3]:
    """Returns true if this may be the ``data_type`` in v3 metadata: a name, or a name and a configuration.

    Examples
    --------
    >>> check_dtype_spec_v3({"name": "raw_bytes", "configuration": {"length_bytes": 3}})
    True
    """
    return split_v3(data) is not None


def split_v3(data: object) -> tuple[str, dict[str, Any]] | None:
    """Returns the name and the configuration of a v3 data type; ``None`` for anything else."""
    if isinstance(data, str):
        return data, {}
    if not isinstance(data, Mapping) or "name" not in data or not data.keys() <= {"name", "configuration"}:
        return None
    name, configuration = data["name"], data.get("configuration", {})
    if not isinstance(name, str) or not isinstance(configuration, Mapping):
        return None
    return name, dict(configuration)


def unpack_dtype_json(data: DTypeJSON) -> DTypeJSON:
    """Returns the JSON for the metadata of an array. In v2, this is only the name.

    Examples
    --------
    >>> unpack_dtype_json({"name": "<i4", "object_codec_id": None})
    '<i4'
    """
    return data["name"] if check_dtype_spec_v2(data) else data
