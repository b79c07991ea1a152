"""The numcodecs codecs for v3 arrays, with the names ``numcodecs.…`` that zarr-python 3 uses.

Examples
--------
>>> from zarrox.codecs.numcodecs import Delta
>>> Delta(dtype="<i4").to_dict()
{'name': 'numcodecs.delta', 'configuration': {'dtype': '<i4'}}
"""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

from . import of_numcodecs as _of
from .abc import Codec
from .named import CODECS, ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, V3Codec

__all__ = [
    "BZ2",
    "CRC32",
    "CRC32C",
    "LZ4",
    "LZMA",
    "ZFPY",
    "Adler32",
    "AsType",
    "BitRound",
    "Blosc",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JenkinsLookup3",
    "PCodec",
    "PackBits",
    "Quantize",
    "Shuffle",
    "Zlib",
    "Zstd",
]


class _NumcodecsCodec(V3Codec):
    """A numcodecs codec. Its parameters are keyword arguments.

    Attributes
    ----------
    codec_name : str
        The name in v3.
    codec_config : dict
        The configuration in the form of numcodecs, with ``id``.
    """

    codec_name: str = ""
    codec_config: dict[str, Any]

    def __init_subclass__(cls, of: type[Codec] | None = None) -> None:
        super().__init_subclass__()
        if of is not None:
            cls.codec_name = cls.name = f"numcodecs.{of.codec_id}"
            cls.__doc__ = cleandoc(of.__doc__ or "").partition("\nExamples\n")[0]
            CODECS[cls.name] = cls

    def __init__(self, **codec_config: Any) -> None:
        codec_id = self.codec_name.removeprefix("numcodecs.")
        if codec_config.get("id", codec_id) != codec_id:
            raise ValueError(f"Codec id does not match {codec_id}. Got: {codec_config['id']}.")
        self._set(codec_config={"id": codec_id, **codec_config})

    def _configuration(self) -> dict[str, Any]:
        return {name: value for name, value in self.codec_config.items() if name != "id"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(codec_name={self.codec_name!r}, codec_config={self._configuration()!r})"


class _ArrayArray(_NumcodecsCodec, ArrayArrayCodec): ...


class _ArrayBytes(_NumcodecsCodec, ArrayBytesCodec): ...


class _BytesBytes(_NumcodecsCodec, BytesBytesCodec): ...


class Blosc(_BytesBytes, of=_of.Blosc): ...
class LZ4(_BytesBytes, of=_of.LZ4): ...
class Zstd(_BytesBytes, of=_of.Zstd): ...
class Zlib(_BytesBytes, of=_of.Zlib): ...
class GZip(_BytesBytes, of=_of.GZip): ...
class BZ2(_BytesBytes, of=_of.BZ2): ...
class LZMA(_BytesBytes, of=_of.LZMA): ...
class Shuffle(_BytesBytes, of=_of.Shuffle): ...
class CRC32(_BytesBytes, of=_of.CRC32): ...
class CRC32C(_BytesBytes, of=_of.CRC32C): ...
class Adler32(_BytesBytes, of=_of.Adler32): ...
class Fletcher32(_BytesBytes, of=_of.Fletcher32): ...
class JenkinsLookup3(_BytesBytes, of=_of.JenkinsLookup3): ...
class Delta(_ArrayArray, of=_of.Delta): ...
class BitRound(_ArrayArray, of=_of.BitRound): ...
class FixedScaleOffset(_ArrayArray, of=_of.FixedScaleOffset): ...
class Quantize(_ArrayArray, of=_of.Quantize): ...
class PackBits(_ArrayArray, of=_of.PackBits): ...
class AsType(_ArrayArray, of=_of.AsType): ...
class PCodec(_ArrayBytes, of=_of.PCodec): ...
class ZFPY(_ArrayBytes, of=_of.ZFPY): ...
