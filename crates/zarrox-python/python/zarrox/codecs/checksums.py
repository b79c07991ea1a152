"""Codecs that store a checksum with the data, and raise an error if the data does not match it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .abc import BytesCodec, config_json

__all__ = ["CRC32", "CRC32C", "Adler32", "Fletcher32", "JenkinsLookup3"]


class _Located(BytesCodec):
    """A checksum whose location can be configured."""

    location = "start"
    _gives_arrays = True

    def __init__(self, location: str | None = None) -> None:
        if location not in (None, "start", "end"):
            raise ValueError(f"Invalid checksum location: {location}")
        # The default is not in the configuration, so that earlier releases of numcodecs can read it.
        if location is not None:
            self.location = location


class CRC32(_Located):
    """The 32-bit checksum of gzip and PNG.

    Parameters
    ----------
    location : {"start", "end"}, optional
        The location of the checksum; by default the start.

    Examples
    --------
    >>> CRC32(location="end")
    CRC32(location='end')
    """

    codec_id = "crc32"


class Adler32(_Located):
    """The 32-bit checksum of zlib.

    Parameters
    ----------
    location : {"start", "end"}, optional
        The location of the checksum; by default the start.

    Examples
    --------
    >>> Adler32().get_config()
    {'id': 'adler32'}
    """

    codec_id = "adler32"


class CRC32C(_Located):
    """The 32-bit Castagnoli checksum.

    Parameters
    ----------
    location : {"start", "end"}, optional
        The location of the checksum; by default the end.

    Examples
    --------
    >>> codec = CRC32C()
    >>> bytes(codec.decode(codec.encode(b"data")))
    b'data'
    """

    codec_id = "crc32c"
    location = "end"


class Fletcher32(BytesCodec):
    """The 32-bit checksum of HDF5's filter, stored at the end of the bytes.

    Examples
    --------
    >>> Fletcher32()
    Fletcher32()
    """

    codec_id = "fletcher32"


class JenkinsLookup3(BytesCodec):
    """The 32-bit checksum of HDF5's metadata, stored at the end of the bytes.

    Parameters
    ----------
    initval : int
        The initial value of the function.
    prefix : bytes, optional
        Bytes that the checksum includes, but that are not stored.

    Examples
    --------
    >>> JenkinsLookup3(initval=3)
    JenkinsLookup3(initval=3, prefix=None)
    """

    codec_id = "jenkins_lookup3"

    def __init__(self, initval: int = 0, prefix: Any = None) -> None:
        self.initval = initval
        # In metadata, the prefix is a list of numbers, which is not a buffer.
        if isinstance(prefix, list):
            prefix = bytes(prefix)
        self.prefix = None if prefix is None else np.frombuffer(prefix, dtype="uint8")

    def __eq__(self, other: object) -> bool:
        # NumPy compares arrays element by element, but a single result is needed.
        try:
            return config_json(self.get_config()) == config_json(other.get_config())  # type: ignore[attr-defined]
        except AttributeError:
            return False

    __hash__ = BytesCodec.__hash__
