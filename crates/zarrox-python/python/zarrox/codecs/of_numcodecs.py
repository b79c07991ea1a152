"""The codec classes for version 2 arrays, registered by their numcodecs ids."""

from . import blosc as blosc
from .abc import Codec
from .blosc import Blosc
from .checksums import CRC32, CRC32C, Adler32, Fletcher32, JenkinsLookup3
from .compressors import BZ2, LZ4, LZMA, Base64, GZip, Shuffle, Zlib, Zstd
from .filters import ZFPY, AsType, BitRound, Categorize, Delta, FixedScaleOffset, PackBits, PCodec, Quantize
from .objects import JSON, LegacyJSON, LegacyMsgPack, MsgPack, Pickle, VLenArray, VLenBytes, VLenUTF8
from .registry import UnknownCodecError, codec_registry, get_codec, register_codec

for _cls in (
    *(Zlib, GZip, BZ2, LZMA, LZ4, Zstd, Blosc, Shuffle, Base64),
    *(AsType, Delta, Quantize, FixedScaleOffset, PackBits, Categorize, BitRound, ZFPY, PCodec),
    *(CRC32, CRC32C, Adler32, Fletcher32, JenkinsLookup3),
    *(VLenUTF8, VLenBytes, VLenArray, JSON, MsgPack, Pickle),
    *(LegacyJSON, LegacyMsgPack),
):
    register_codec(_cls)
del _cls

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
    "Categorize",
    "Codec",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JenkinsLookup3",
    "MsgPack",
    "PCodec",
    "PackBits",
    "Pickle",
    "Quantize",
    "Shuffle",
    "UnknownCodecError",
    "VLenArray",
    "VLenBytes",
    "VLenUTF8",
    "Zlib",
    "Zstd",
    "blosc",
    "codec_registry",
    "get_codec",
    "register_codec",
]
