"""Codecs with the names of zarr-python 3, as in ``codecs`` of v3 metadata.

The classes hold parameters; the codecs themselves are native.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .. import registry
from ..config import config
from ..core.dtype import ZDType, parse_dtype
from .named import CODECS, ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, NamedCodec, V3Codec, parse_codec, spec
from .parameters import DeprecatedNames, choice, integer, split
from .parameters import chunk_shape as parse_chunk_shape

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ArrayArrayCodec",
    "ArrayBytesCodec",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesBytesCodec",
    "BytesCodec",
    "CastValue",
    "Crc32cCodec",
    "Endian",
    "GzipCodec",
    "NamedCodec",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "SubchunkWriteOrder",
    "TransposeCodec",
    "V3Codec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "ZstdCodec",
    "parse_codec",
]

SubchunkWriteOrder = Literal["morton", "unordered", "lexicographic", "colexicographic"]


class BloscShuffle(metaclass=DeprecatedNames):
    """The shuffles of Blosc. Each attribute is a string, which codecs accept."""

    names = ("noshuffle", "shuffle", "bitshuffle")

    @classmethod
    def from_int(cls, num: int) -> str:
        """Returns the name for a shuffle number in v2.

        Raises
        ------
        ValueError
            For other numbers.

        Examples
        --------
        >>> BloscShuffle.from_int(2)
        'bitshuffle'
        """
        if num not in range(len(cls.names)):
            raise ValueError(f"Value must be between 0 and 2. Got {num}.")
        return cls.names[num]


class BloscCname(metaclass=DeprecatedNames):
    """The compressors of Blosc. Each attribute is a string, which codecs accept."""

    names = ("lz4", "lz4hc", "blosclz", "snappy", "zstd", "zlib")


class Endian(metaclass=DeprecatedNames):
    """Byte orders. Each attribute is a string, which codecs accept."""

    names = ("little", "big")


class ShardingCodecIndexLocation(metaclass=DeprecatedNames):
    """The locations of a shard index. Each attribute is a string, which codecs accept."""

    names = ("start", "end")


class BytesCodec(ArrayBytesCodec):
    """Stores the elements in row-major order.

    Parameters
    ----------
    endian : {"little", "big"}, optional
        The byte order of the elements; ``None`` for elements without a byte order.

    Examples
    --------
    >>> BytesCodec(endian="big").to_dict()
    {'name': 'bytes', 'configuration': {'endian': 'big'}}
    """

    name = "bytes"
    endian: Literal["little", "big"] | None

    def __init__(self, *, endian: str | None = sys.byteorder) -> None:
        self._set(endian=None if endian is None else choice("endian", endian, Endian.names, self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | str) -> Self:
        # The name of an early draft.
        name, configuration = split(data)
        return super().from_dict({"name": "bytes" if name == "endian" else name, "configuration": configuration})

    @classmethod
    def _from_configuration(cls, configuration: dict[str, Any]) -> Self:
        return cls(**{"endian": None, **configuration})

    def _configuration(self) -> dict[str, Any] | None:
        return None if self.endian is None else {"endian": self.endian}


class TransposeCodec(ArrayArrayCodec):
    """A permutation of the dimensions.

    Parameters
    ----------
    order : tuple of int
        For each stored dimension, the dimension of the array.

    Examples
    --------
    >>> TransposeCodec(order=(1, 0))
    TransposeCodec(order=(1, 0))
    """

    name = "transpose"
    order: tuple[int, ...]

    def __init__(self, *, order: Iterable[int]) -> None:
        order = tuple(int(axis) for axis in order)
        if sorted(order) != list(range(len(order))):
            raise ValueError(f"order must name each dimension once, from 0 to {len(order) - 1}. Got {order}.")
        self._set(order=order)


class GzipCodec(BytesBytesCodec):
    """Compression in the gzip format.

    Parameters
    ----------
    level : int
        From 0 (none) to 9 (best).

    Examples
    --------
    >>> GzipCodec()
    GzipCodec(level=5)
    """

    name = "gzip"
    is_fixed_size = False
    level: int

    def __init__(self, *, level: int = 5) -> None:
        self._set(level=integer("level", level, 0, 9))


class ZstdCodec(BytesBytesCodec):
    """Compression with Zstandard.

    Parameters
    ----------
    level : int
        From -131072 (fast) to 22 (best); 0 is the default, 3.
    checksum : bool
        Whether to store a checksum.

    Examples
    --------
    >>> ZstdCodec(level=9)
    ZstdCodec(level=9, checksum=False)
    """

    name = "zstd"
    is_fixed_size = False
    level: int
    checksum: bool

    def __init__(self, *, level: int = 0, checksum: bool = False) -> None:
        if not isinstance(checksum, bool):
            raise TypeError(f"Failed to parse input for 'checksum': expected bool, got {checksum!r}.")
        self._set(level=integer("level", level, -(1 << 17), 22), checksum=checksum)


class BloscCodec(BytesBytesCodec):
    """A shuffle and a compressor that work on blocks.

    Parameters
    ----------
    typesize : int, optional
        The size of elements; by default the element size of the array.
    cname : str
        The compressor.
    clevel : int
        From 0 (none) to 9 (best).
    shuffle : {"noshuffle", "shuffle", "bitshuffle"}, optional
        By default bits for elements of one byte, otherwise bytes.
    blocksize : int
        The size of blocks in bytes; 0 lets the compressor choose.

    Examples
    --------
    >>> BloscCodec(cname="lz4", clevel=9, shuffle="shuffle", typesize=4).to_dict()["configuration"]
    {'typesize': 4, 'cname': 'lz4', 'clevel': 9, 'shuffle': 'shuffle', 'blocksize': 0}
    """

    name = "blosc"
    is_fixed_size = False
    _tunable_attrs: set[str]
    typesize: int
    cname: str
    clevel: int
    shuffle: str
    blocksize: int

    def __init__(
        self,
        *,
        typesize: int | None = None,
        cname: str = "zstd",
        clevel: int = 5,
        shuffle: str | None = None,
        blocksize: int = 0,
    ) -> None:
        given = {"typesize": typesize, "shuffle": shuffle}
        self._set(
            _tunable_attrs={name for name, value in given.items() if value is None},
            typesize=integer("typesize", 1 if typesize is None else typesize, 1, None),
            cname=choice("cname", cname, BloscCname.names, self),
            clevel=integer("clevel", clevel, 0, 9),
            shuffle=choice("shuffle", shuffle or "bitshuffle", BloscShuffle.names, self),
            blocksize=integer("blocksize", blocksize, 0, None),
        )

    def _members(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tunable_attrs"}

    def _configuration(self) -> dict[str, Any]:
        return self._members()

    def _spec(self) -> dict[str, Any]:
        members = self._members()
        if self._tunable_attrs:
            # The array sets defaults that depend on the elements.
            members.update(dict.fromkeys(self._tunable_attrs))
        return {"name": self.name, "configuration": {k: v for k, v in members.items() if v is not None}}


class Crc32cCodec(BytesBytesCodec):
    """Appends a checksum to the bytes.

    Examples
    --------
    >>> Crc32cCodec().to_dict()
    {'name': 'crc32c'}
    """

    name = "crc32c"

    def _configuration(self) -> None:
        return None


class VLenUTF8Codec(ArrayBytesCodec):
    """Variable-length strings.

    Examples
    --------
    >>> VLenUTF8Codec().to_dict()
    {'name': 'vlen-utf8', 'configuration': {}}
    """

    name = "vlen-utf8"
    is_fixed_size = False


class VLenBytesCodec(ArrayBytesCodec):
    """Variable-length bytes.

    Examples
    --------
    >>> VLenBytesCodec().to_dict()
    {'name': 'vlen-bytes', 'configuration': {}}
    """

    name = "vlen-bytes"
    is_fixed_size = False


class ScaleOffset(ArrayArrayCodec):
    """Stores elements minus an offset, times a scale.

    Parameters
    ----------
    offset : int, float or str
        The number that is subtracted.
    scale : int, float or str
        The factor of the difference.

    Examples
    --------
    >>> ScaleOffset(offset=1).to_dict()
    {'name': 'scale_offset', 'configuration': {'offset': 1}}
    """

    name = "scale_offset"
    offset: int | float | str
    scale: int | float | str

    def __init__(self, *, offset: object = 0, scale: object = 1) -> None:
        for member, value in (("offset", offset), ("scale", scale)):
            if not isinstance(value, (int, float, str)):
                raise TypeError(f"{member} must be a number or string, got {type(value).__name__}")
        self._set(offset=offset, scale=scale)

    def _configuration(self) -> dict[str, Any] | None:
        defaults = {"offset": 0, "scale": 1}
        return {name: value for name, value in vars(self).items() if value != defaults[name]} or None


class CastValue(ArrayArrayCodec):
    """Stores elements as numbers of another data type.

    Parameters
    ----------
    data_type : str or ZDType
        The data type of the stored elements.
    rounding : {"nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"}
        The rounding of numbers that the other type cannot represent.
    out_of_range : {"clamp", "wrap"}, optional
        The treatment of numbers outside the range; by default an error.
    scalar_map : dict, optional
        ``encode`` and ``decode``: values that are mapped to other values first, as a mapping or a list of pairs.

    Examples
    --------
    >>> CastValue(data_type="uint8", out_of_range="clamp").to_dict()
    {'name': 'cast_value', 'configuration': {'data_type': 'uint8', 'out_of_range': 'clamp'}}
    """

    name = "cast_value"
    dtype: ZDType[Any, Any]
    rounding: str
    out_of_range: str | None
    scalar_map: dict[str, dict[Any, Any]] | None

    def __init__(
        self,
        *,
        data_type: str | ZDType[Any, Any],
        rounding: str = "nearest-even",
        out_of_range: str | None = None,
        scalar_map: Mapping[str, Any] | None = None,
    ) -> None:
        self._set(
            dtype=parse_dtype(data_type, zarr_format=3),
            rounding=rounding,
            out_of_range=out_of_range,
            scalar_map=None if scalar_map is None else {k: dict(v) for k, v in scalar_map.items()},
        )

    def _configuration(self) -> dict[str, Any]:
        configuration: dict[str, Any] = {"data_type": self.dtype.to_json(zarr_format=3)}
        if self.rounding != "nearest-even":
            configuration["rounding"] = self.rounding
        if self.out_of_range is not None:
            configuration["out_of_range"] = self.out_of_range
        if self.scalar_map is not None:
            configuration["scalar_map"] = {k: [list(pair) for pair in v.items()] for k, v in self.scalar_map.items()}
        return configuration


class ShardingCodec(ArrayBytesCodec):
    """Stores many chunks in one object, the shard.

    Parameters
    ----------
    chunk_shape : tuple of int
        The shape of the inner chunks.
    codecs : iterable of codec or dict
        The codecs of the inner chunks.
    index_codecs : iterable of codec or dict
        The codecs of the shard's index.
    index_location : {"start", "end"}
        The location of the index.
    subchunk_write_order : {"morton", "unordered", "lexicographic", "colexicographic"}
        Accepted for compatibility: the order of chunks in a shard does not matter to readers.

    Examples
    --------
    >>> ShardingCodec(chunk_shape=(2, 2)).index_location
    'end'
    """

    name = "sharding_indexed"
    chunk_shape: tuple[int, ...]
    codecs: tuple[Any, ...]
    index_codecs: tuple[Any, ...]
    index_location: str
    subchunk_write_order: SubchunkWriteOrder

    def __init__(
        self,
        *,
        chunk_shape: Iterable[int] | int,
        codecs: Iterable[Any] = (BytesCodec(endian="little"),),
        index_codecs: Iterable[Any] = (BytesCodec(endian="little"), Crc32cCodec()),
        index_location: str = "end",
        subchunk_write_order: SubchunkWriteOrder = "morton",
    ) -> None:
        if subchunk_write_order not in ("morton", "unordered", "lexicographic", "colexicographic"):
            raise ValueError(f"Unrecognized subchunk write order: {subchunk_write_order}.")
        of_index = tuple(parse_codec(codec) for codec in index_codecs)
        if any(isinstance(codec, V3Codec) and not codec.is_fixed_size for codec in of_index):
            raise ValueError(f"the codecs of the index must produce a fixed-size encoding, so that readers find it. Got {of_index}.")
        self._set(
            chunk_shape=parse_chunk_shape(chunk_shape),
            codecs=tuple(parse_codec(codec) for codec in codecs),
            index_codecs=of_index,
            index_location=choice("index_location", index_location, ShardingCodecIndexLocation.names, self),
            subchunk_write_order=subchunk_write_order,
        )

    def _configuration(self) -> dict[str, Any]:
        return self._with([codec.to_dict() for codec in self.codecs])

    def _spec(self) -> dict[str, Any]:
        return {"name": self.name, "configuration": self._with([spec(codec) for codec in self.codecs])}

    def _with(self, codecs: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "chunk_shape": self.chunk_shape,
            "codecs": tuple(codecs),
            "index_codecs": tuple(codec.to_dict() for codec in self.index_codecs),
            "index_location": self.index_location,
        }


#: The name of an early draft.
CODECS["endian"] = BytesCodec
for _name, _class in CODECS.items():
    registry.register_codec(_name, _class, qualname=config["codecs"].get(_name))
