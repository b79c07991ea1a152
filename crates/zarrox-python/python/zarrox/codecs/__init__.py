"""Codecs: those of numcodecs in the form of v2, and those of zarr-python 3.

A codec of either kind can be used in arrays of either format, if the format has it.

Examples
--------
>>> from zarrox.codecs import Blosc, get_codec
>>> Blosc(cname="zstd", clevel=3)
Blosc(cname='zstd', clevel=3, shuffle=SHUFFLE, blocksize=0)
>>> get_codec({"id": "delta", "dtype": "<i4"})
Delta(dtype='<i4')
"""

from . import blosc
from . import numcodecs as numcodecs
from .abc import Codec
from .blosc import Blosc
from .checksums import CRC32, CRC32C, Adler32, Fletcher32, JenkinsLookup3
from .compressors import BZ2, LZ4, LZMA, Base64, GZip, Shuffle, Zlib, Zstd
from .convert import codec_config as codec_config
from .convert import from_v2 as from_v2
from .filters import ZFPY, AsType, BitRound, Categorize, Delta, FixedScaleOffset, PackBits, PCodec, Quantize
from .objects import JSON, LegacyJSON, LegacyMsgPack, MsgPack, Pickle, VLenArray, VLenBytes, VLenUTF8
from .registry import UnknownCodecError, codec_registry, get_codec, register_codec
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

for _cls in (
    *(Zlib, GZip, BZ2, LZMA, LZ4, Zstd, Blosc, Shuffle, Base64),
    *(AsType, Delta, Quantize, FixedScaleOffset, PackBits, Categorize, BitRound, ZFPY, PCodec),
    *(CRC32, CRC32C, Adler32, Fletcher32, JenkinsLookup3),
    *(VLenUTF8, VLenBytes, VLenArray, JSON, MsgPack, Pickle),
    *(LegacyJSON, LegacyMsgPack),
):
    register_codec(_cls)

__all__ = [
    "BZ2",
    "CRC32",
    "CRC32C",
    "JSON",
    "LZ4",
    "LZMA",
    "ZFPY",
    "Adler32",
    "AsType",
    "Base64",
    "BitRound",
    "Blosc",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesCodec",
    "CastValue",
    "Categorize",
    "Codec",
    "Crc32cCodec",
    "Delta",
    "Endian",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "GzipCodec",
    "JenkinsLookup3",
    "MsgPack",
    "PCodec",
    "PackBits",
    "Pickle",
    "Quantize",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "Shuffle",
    "SubchunkWriteOrder",
    "TransposeCodec",
    "UnknownCodecError",
    "VLenArray",
    "VLenBytes",
    "VLenBytesCodec",
    "VLenUTF8",
    "VLenUTF8Codec",
    "Zlib",
    "Zstd",
    "ZstdCodec",
    "blosc",
    "codec_registry",
    "get_codec",
    "register_codec",
]
