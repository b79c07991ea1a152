"""Compressors of bytes."""

from __future__ import annotations

from typing import Any

from .abc import BytesCodec, shown_as

__all__ = ["BZ2", "LZ4", "LZMA", "Base64", "GZip", "Shuffle", "Zlib", "Zstd"]


class _Leveled(BytesCodec):
    def __init__(self, level: int = 1) -> None:
        self.level = level


class Zlib(_Leveled):
    """Compression in the zlib format.

    Parameters
    ----------
    level : int
        From 0 (none) to 9 (best); -1 is zlib's default.

    Examples
    --------
    >>> codec = Zlib(level=9)
    >>> codec, codec.decode(codec.encode(b"data"))
    (Zlib(level=9), b'data')
    """

    codec_id = "zlib"


class GZip(_Leveled):
    """Compression in the gzip format.

    Parameters
    ----------
    level : int
        From 0 (none) to 9 (best).

    Examples
    --------
    >>> GZip().get_config()
    {'id': 'gzip', 'level': 1}
    """

    codec_id = "gzip"


class BZ2(_Leveled):
    """Compression in the bzip2 format.

    Parameters
    ----------
    level : int
        From 1 (fast) to 9 (best).

    Examples
    --------
    >>> BZ2(level=9).get_config()
    {'id': 'bz2', 'level': 9}
    """

    codec_id = "bz2"


class LZMA(BytesCodec):
    """Compression in the xz format.

    Parameters
    ----------
    format : int
        1 is XZ, 2 is the older LZMA, 3 is raw (which needs filters).
    check : int
        The checksum in XZ: -1 is the default, CRC64; 0 none, 1 CRC32, 4 CRC64, 10 SHA-256.
    preset : int, optional
        From 0 (fast) to 9 (best).
    filters : list of dict, optional
        A chain of filters, as in Python's ``lzma``, instead of a preset.

    Examples
    --------
    >>> LZMA(preset=9)
    LZMA(format=1, check=-1, preset=9, filters=None)
    """

    codec_id = "lzma"

    def __init__(
        self, format: int = 1, check: int = -1, preset: int | None = None, filters: list[dict[str, Any]] | None = None
    ) -> None:
        self.format = format
        self.check = check
        self.preset = preset
        self.filters = filters

    def __repr__(self) -> str:
        return shown_as(self, vars(self).items())


class LZ4(BytesCodec):
    """Compression with LZ4. The uncompressed size precedes the compressed data.

    Parameters
    ----------
    acceleration : int
        Larger values are faster and compress less.

    Examples
    --------
    >>> LZ4(acceleration=10)
    LZ4(acceleration=10)
    """

    codec_id = "lz4"
    max_buffer_size = 0x7E000000

    def __init__(self, acceleration: int = 1) -> None:
        self.acceleration = acceleration


class Zstd(BytesCodec):
    """Compression with Zstandard.

    Parameters
    ----------
    level : int
        From -131072 (fast) to 22 (best); 0 is the default, 3.
    checksum : bool
        Whether to store a checksum.

    Examples
    --------
    >>> Zstd(level=3).get_config()
    {'id': 'zstd', 'level': 3, 'checksum': False}
    """

    codec_id = "zstd"

    def __init__(self, level: int = 0, checksum: bool = False) -> None:
        self.level = level
        self.checksum = checksum

    @classmethod
    def default_level(cls) -> int:
        """Returns the level for which 0 stands."""
        return 3

    @classmethod
    def min_level(cls) -> int:
        """Returns the lowest level."""
        return -(1 << 17)

    @classmethod
    def max_level(cls) -> int:
        """Returns the highest level."""
        return 22

    def __repr__(self) -> str:
        return shown_as(self, [("level", self.level)])


class Shuffle(BytesCodec):
    """Groups the first bytes of all elements, then the second bytes, and so on.

    Parameters
    ----------
    elementsize : int
        The size of an element in bytes.

    Examples
    --------
    >>> bytes(Shuffle(elementsize=2).encode(b"aAbBcC"))
    b'abcABC'
    """

    codec_id = "shuffle"
    _gives_arrays = True

    def __init__(self, elementsize: int = 4) -> None:
        self.elementsize = elementsize


class Base64(BytesCodec):
    """Bytes as text: four characters for every three bytes.

    Examples
    --------
    >>> bytes(Base64().encode(b"data"))
    b'ZGF0YQ=='
    """

    codec_id = "base64"
