"""Codecs of version 3, with the names of zarr-python 3; the codecs of version 2 are in `zarrox.v2.codecs`.

A codec of either kind can be used in arrays of either version, if the version supports it.

Examples
--------
>>> from zarrox.codecs import BloscCodec
>>> BloscCodec(cname="zstd", clevel=3, shuffle="shuffle").to_dict()["name"]
'blosc'
"""

from typing import Any

from zarrox.elsewhere import OF_2

from . import numcodecs as numcodecs
from . import of_numcodecs as _of_numcodecs  # noqa: F401 (registers these)
from .registry import python_codec as python_codec
from .v3 import (
    BloscCname,
    BloscCodec,
    BloscShuffle,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    Endian,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    ShardingCodecIndexLocation,
    SubchunkWriteOrder,
    TransposeCodec,
    VLenBytesCodec,
    VLenUTF8Codec,
    ZstdCodec,
)

__all__ = [
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesCodec",
    "CastValue",
    "Crc32cCodec",
    "Endian",
    "GzipCodec",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "SubchunkWriteOrder",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "ZstdCodec",
]


def __getattr__(name: str) -> Any:
    OF_2.refuse("zarr.codecs", name)
