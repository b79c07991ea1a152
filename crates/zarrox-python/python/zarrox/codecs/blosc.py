"""Blosc: a shuffle and a compressor that work on blocks.

The functions have the same interface as those in ``numcodecs.blosc``. All parts of Zarrox share the threads.
"""

from __future__ import annotations

from typing import Any

from zarrox import _native

from .abc import BytesCodec, flat
from .v3 import BloscCname, BloscCodec, BloscShuffle

__all__ = [
    "AUTOBLOCKS",
    "AUTOSHUFFLE",
    "BITSHUFFLE",
    "MAX_BUFFERSIZE",
    "MAX_OVERHEAD",
    "MAX_THREADS",
    "MAX_TYPESIZE",
    "NOSHUFFLE",
    "SHUFFLE",
    "Blosc",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "cbuffer_complib",
    "cbuffer_sizes",
    "compress",
    "decompress",
    "destroy",
    "get_nthreads",
    "init",
    "list_compressors",
    "set_nthreads",
    "use_threads",
]

NOSHUFFLE, SHUFFLE, BITSHUFFLE, AUTOSHUFFLE = 0, 1, 2, -1
AUTOBLOCKS = 0
MAX_OVERHEAD = 16
MAX_BUFFERSIZE = 2**31 - 1 - MAX_OVERHEAD
MAX_TYPESIZE = 255
MAX_THREADS = 256

use_threads: bool | None = None
"""Exists for programs that set it; it has no effect, since Zarrox's threads never conflict."""

_SHUFFLES = {AUTOSHUFFLE: "AUTOSHUFFLE", NOSHUFFLE: "NOSHUFFLE", SHUFFLE: "SHUFFLE", BITSHUFFLE: "BITSHUFFLE"}
_COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
# The compressor number in the flags of a header; LZ4HC writes the format of LZ4.
_LIBRARIES = ("BloscLZ", "LZ4", "Snappy", "Zlib", "Zstd")
_HEADER_SIZE = 16


class Blosc(BytesCodec):
    """A shuffle and a compressor that work on blocks.

    Parameters
    ----------
    cname : str
        The compressor: one of :func:`list_compressors`.
    clevel : int
        From 0 (none) to 9 (best).
    shuffle : int
        NOSHUFFLE (0), SHUFFLE (1), BITSHUFFLE (2), or AUTOSHUFFLE (-1): bits for elements of one byte, otherwise bytes.
    blocksize : int
        The size of blocks in bytes; 0 lets the compressor choose.
    typesize : int, optional
        The size of elements; by default the element size of the array.

    Examples
    --------
    >>> Blosc(cname="zstd", clevel=3, shuffle=Blosc.BITSHUFFLE)
    Blosc(cname='zstd', clevel=3, shuffle=BITSHUFFLE, blocksize=0)
    """

    codec_id = "blosc"
    NOSHUFFLE = NOSHUFFLE
    SHUFFLE = SHUFFLE
    BITSHUFFLE = BITSHUFFLE
    AUTOSHUFFLE = AUTOSHUFFLE
    max_buffer_size = 2**31 - 1

    def __init__(
        self,
        cname: str = "lz4",
        clevel: int = 5,
        shuffle: int = SHUFFLE,
        blocksize: int = AUTOBLOCKS,
        typesize: int | None = None,
    ) -> None:
        if typesize is not None and not 1 <= typesize <= MAX_TYPESIZE:
            raise ValueError(f"typesize must be from 1 to {MAX_TYPESIZE}; got {typesize}")
        self.cname = cname
        self.clevel = clevel
        self.shuffle = shuffle
        self.blocksize = blocksize
        self._typesize = typesize

    def encode(self, buf: Any) -> Any:
        if self.shuffle not in _SHUFFLES:
            raise ValueError(f"invalid shuffle argument; expected -1, 0, 1 or 2, found {self.shuffle}")
        if self.cname not in _COMPRESSORS:
            raise _bad_compressor(self.cname)
        return super().encode(self._elements(buf))

    def _elements(self, buf: Any) -> Any:
        """Returns the data as elements of the requested size, if possible. The size is not part of the configuration."""
        data = flat(buf)
        if self._typesize is None or data.nbytes % self._typesize:
            return data
        return data.view(f"V{self._typesize}")

    def __repr__(self) -> str:
        shuffle = f"{_SHUFFLES.get(self.shuffle, self.shuffle)}"
        return (
            f"{type(self).__name__}(cname={self.cname!r}, clevel={self.clevel!r}, shuffle={shuffle}, "
            f"blocksize={self.blocksize})"
        )


def list_compressors() -> list[str]:
    """Returns the names of the compressors.

    Examples
    --------
    >>> list_compressors()
    ['blosclz', 'lz4', 'lz4hc', 'snappy', 'zlib', 'zstd']
    """
    return list(_COMPRESSORS)


def get_nthreads() -> int:
    """Returns the number of threads."""
    return _native.threads()


def set_nthreads(nthreads: int) -> int:
    """Sets the number of threads for all of Zarrox.

    Parameters
    ----------
    nthreads : int
        The number, from 1 to 256.

    Returns
    -------
    int
        The previous number.

    Raises
    ------
    ValueError
        If the number is outside this range.

    Examples
    --------
    >>> before = set_nthreads(2)
    >>> set_nthreads(before)
    2
    """
    if not 1 <= nthreads <= MAX_THREADS:
        raise ValueError(f"nthreads must be a number from 1 to {MAX_THREADS}; got {nthreads}")
    return _native.set_threads(nthreads)


def compress(
    source: Any,
    cname: str | bytes,
    clevel: int,
    shuffle: int = SHUFFLE,
    blocksize: int = AUTOBLOCKS,
    typesize: int | None = None,
) -> bytes:
    """Compress a buffer.

    Parameters
    ----------
    source : buffer-like
        The data.
    cname, clevel, shuffle, blocksize, typesize
        As for :class:`Blosc`.

    Returns
    -------
    bytes
        The compressed data, after a header of 16 bytes.

    Examples
    --------
    >>> decompress(compress(b"data", "lz4", 5))
    b'data'
    """
    name = cname.decode() if isinstance(cname, bytes) else cname
    return bytes(Blosc(name, clevel, shuffle, blocksize, typesize).encode(source))


def decompress(source: Any, dest: Any = None) -> Any:
    """Decompress a buffer.

    Parameters
    ----------
    source : buffer-like
        The result of :func:`compress`.
    dest : buffer-like, optional
        Memory for the result.

    Returns
    -------
    buffer-like
        The data: ``dest``, if it was given.
    """
    return Blosc().decode(source, dest)


def cbuffer_sizes(source: Any) -> tuple[int, int, int]:
    """Returns the sizes in the header of compressed data.

    Parameters
    ----------
    source : buffer-like
        The result of :func:`compress`.

    Returns
    -------
    nbytes, cbytes, blocksize : int
        The sizes of the data, of the compressed data, and of blocks.

    Examples
    --------
    >>> cbuffer_sizes(compress(b"data", "lz4", 5))
    (4, 20, 4)
    """
    header = _header(source)
    nbytes, blocksize, cbytes = (int.from_bytes(header[at : at + 4], "little") for at in (4, 8, 12))
    return nbytes, cbytes, blocksize


def cbuffer_complib(source: Any) -> str:
    """Returns the library that decompresses the data.

    Parameters
    ----------
    source : buffer-like
        The result of :func:`compress`.

    Returns
    -------
    str
        The name of the library.

    Examples
    --------
    >>> cbuffer_complib(compress(b"data", "zstd", 5))
    'Zstd'
    """
    library = _header(source)[2] >> 5
    if library >= len(_LIBRARIES):
        raise ValueError(f"unknown Blosc compressor {library}")
    return _LIBRARIES[library]


def init() -> None:
    """Does nothing: no initialization is needed."""


def destroy() -> None:
    """Does nothing: no cleanup is needed."""


_cbuffer_sizes, _init, _destroy = cbuffer_sizes, init, destroy


def _header(source: Any) -> bytes:
    header = bytes(memoryview(source).cast("B")[:_HEADER_SIZE])
    if len(header) < _HEADER_SIZE:
        raise ValueError(f"the header of Blosc has {_HEADER_SIZE} bytes; got {len(header)}")
    return header


def _bad_compressor(name: str) -> ValueError:
    return ValueError(f"bad compressor or compressor not supported: {name!r}; expected one of {list_compressors()}")
