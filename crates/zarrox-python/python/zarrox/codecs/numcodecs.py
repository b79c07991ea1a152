"""The codecs of numcodecs for arrays of v3, like those of zarr-python 3: with names ``numcodecs.…``.

Examples
--------
>>> from zarrox.codecs.numcodecs import Delta
>>> Delta(dtype="<i4").to_dict()
{'name': 'numcodecs.delta', 'configuration': {'dtype': '<i4'}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .v3 import CODECS, ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, V3Codec

if TYPE_CHECKING:
    from typing_extensions import Self

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
    """A codec of numcodecs; its parameters are keyword arguments.

    Attributes
    ----------
    codec_name : str
        The name in v3.
    codec_config : dict
        The configuration in the form of numcodecs, with ``id``.
    """

    codec_name: str = ""
    codec_config: dict[str, Any]

    def __init_subclass__(cls, codec_name: str = "") -> None:
        super().__init_subclass__()
        if codec_name:
            cls.codec_name = cls.name = codec_name
            CODECS[codec_name] = cls

    def __init__(self, **codec_config: Any) -> None:
        codec_id = self.codec_name.removeprefix("numcodecs.")
        if codec_config.get("id", codec_id) != codec_id:
            raise ValueError(f"Codec id does not match {codec_id}. Got: {codec_config['id']}.")
        self._set(codec_config={"id": codec_id, **codec_config})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | str) -> Self:
        return super().from_dict(data)

    def _configuration(self) -> dict[str, Any]:
        return {name: value for name, value in self.codec_config.items() if name != "id"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(codec_name={self.codec_name!r}, codec_config={self._configuration()!r})"


class _NumcodecsArrayArrayCodec(_NumcodecsCodec, ArrayArrayCodec):
    pass


class _NumcodecsArrayBytesCodec(_NumcodecsCodec, ArrayBytesCodec):
    pass


class _NumcodecsBytesBytesCodec(_NumcodecsCodec, BytesBytesCodec):
    pass


class Blosc(_NumcodecsBytesBytesCodec, codec_name="numcodecs.blosc"):
    """See :class:`zarrox.v2.codecs.Blosc`."""


class LZ4(_NumcodecsBytesBytesCodec, codec_name="numcodecs.lz4"):
    """See :class:`zarrox.v2.codecs.LZ4`."""


class Zstd(_NumcodecsBytesBytesCodec, codec_name="numcodecs.zstd"):
    """See :class:`zarrox.v2.codecs.Zstd`."""


class Zlib(_NumcodecsBytesBytesCodec, codec_name="numcodecs.zlib"):
    """See :class:`zarrox.v2.codecs.Zlib`."""


class GZip(_NumcodecsBytesBytesCodec, codec_name="numcodecs.gzip"):
    """See :class:`zarrox.v2.codecs.GZip`."""


class BZ2(_NumcodecsBytesBytesCodec, codec_name="numcodecs.bz2"):
    """See :class:`zarrox.v2.codecs.BZ2`."""


class LZMA(_NumcodecsBytesBytesCodec, codec_name="numcodecs.lzma"):
    """See :class:`zarrox.v2.codecs.LZMA`."""


class Shuffle(_NumcodecsBytesBytesCodec, codec_name="numcodecs.shuffle"):
    """See :class:`zarrox.v2.codecs.Shuffle`."""


class CRC32(_NumcodecsBytesBytesCodec, codec_name="numcodecs.crc32"):
    """See :class:`zarrox.v2.codecs.CRC32`."""


class CRC32C(_NumcodecsBytesBytesCodec, codec_name="numcodecs.crc32c"):
    """See :class:`zarrox.v2.codecs.CRC32C`."""


class Adler32(_NumcodecsBytesBytesCodec, codec_name="numcodecs.adler32"):
    """See :class:`zarrox.v2.codecs.Adler32`."""


class Fletcher32(_NumcodecsBytesBytesCodec, codec_name="numcodecs.fletcher32"):
    """See :class:`zarrox.v2.codecs.Fletcher32`."""


class JenkinsLookup3(_NumcodecsBytesBytesCodec, codec_name="numcodecs.jenkins_lookup3"):
    """See :class:`zarrox.v2.codecs.JenkinsLookup3`."""


class Delta(_NumcodecsArrayArrayCodec, codec_name="numcodecs.delta"):
    """See :class:`zarrox.v2.codecs.Delta`."""


class BitRound(_NumcodecsArrayArrayCodec, codec_name="numcodecs.bitround"):
    """See :class:`zarrox.v2.codecs.BitRound`."""


class FixedScaleOffset(_NumcodecsArrayArrayCodec, codec_name="numcodecs.fixedscaleoffset"):
    """See :class:`zarrox.v2.codecs.FixedScaleOffset`."""


class Quantize(_NumcodecsArrayArrayCodec, codec_name="numcodecs.quantize"):
    """See :class:`zarrox.v2.codecs.Quantize`."""


class PackBits(_NumcodecsArrayArrayCodec, codec_name="numcodecs.packbits"):
    """See :class:`zarrox.v2.codecs.PackBits`."""


class AsType(_NumcodecsArrayArrayCodec, codec_name="numcodecs.astype"):
    """See :class:`zarrox.v2.codecs.AsType`."""


class PCodec(_NumcodecsArrayBytesCodec, codec_name="numcodecs.pcodec"):
    """See :class:`zarrox.v2.codecs.PCodec`."""


class ZFPY(_NumcodecsArrayBytesCodec, codec_name="numcodecs.zfpy"):
    """See :class:`zarrox.v2.codecs.ZFPY`."""
