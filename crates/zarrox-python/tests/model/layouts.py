"""Random stores, grids and codecs of new arrays, as arguments."""

from __future__ import annotations

import math
from random import Random

from .values import DRAFT, EXPERIMENTAL, KINDS, N5, V1, V2, V3, Kind

Arguments = dict[str, str]

#: Stores, and the formats of hierarchies in them; ``%s`` is the name of a store. Stores in files keep their content
#: when they are closed.
IN_MEMORY = {
    "dict()": (V2, V3, EXPERIMENTAL, DRAFT),
    "zarr.MemoryStore()": (V2, V3),
    "zarr.KVStore(dict())": (V2, V3),
    "zarr.LRUStoreCache(zarr.MemoryStore(), max_size=2000)": (V2, V3),
    "zarr.TempStore()": (V2, V3),
}
IN_FILES = {
    'f"{directory}/%s"': (V2, V3, EXPERIMENTAL, DRAFT),
    'zarr.DirectoryStore(f"{directory}/%s")': (V2, V3),
    'zarr.NestedDirectoryStore(f"{directory}/%s")': (V2,),
    'zarr.storage.LocalStore(f"{directory}/%s")': (V2, V3),
    'zarr.FSStore(f"{directory}/%s")': (V2, V3),
    'zarr.ZipStore(f"{directory}/%s.zip", mode="a")': (V2, V3),
    'zarr.SQLiteStore(f"{directory}/%s.sqlite")': (V2, V3),
    'zarr.LMDBStore(f"{directory}/%s.lmdb")': (V2, V3),
    'zarr.DBMStore(f"{directory}/%s.dbm")': (V2, V3),
    'zarr.N5Store(f"{directory}/%s.n5")': (N5,),
    'zarr.N5FSStore(f"{directory}/%s.n5")': (N5,),
}

#: The maximum number of chunks of an array: more chunks take time, and do not test more.
_MOST_CHUNKS = 40

_V2_COMPRESSORS = (
    *("None", "zarr.Zlib(1)", "zarr.GZip(1)", "zarr.BZ2(1)", "zarr.Zstd(1)", "zarr.LZ4()", "zarr.LZMA()"),
    *('zarr.Blosc("lz4", 5, 1)', 'zarr.Blosc("zstd", 1, 2)'),
)
_N5_COMPRESSORS = ("None", "zarr.GZip(1)", "zarr.BZ2(1)", 'zarr.Blosc("lz4", 5, 1)')
_V3_COMPRESSORS = (
    *("None", "zarr.codecs.ZstdCodec(level=1)", "zarr.codecs.GzipCodec(level=1)", "zarr.codecs.BloscCodec()"),
    "[zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]",
)


def shape(rng: Random, least: int = 0) -> tuple[int, ...]:
    """Returns the shape of an array with at least ``least`` dimensions."""
    ndim = rng.choice((least, 1, 1, 2, 2, 3))
    longest = (0, 24, 9, 5)[ndim]
    return tuple(0 if rng.random() < 0.03 else rng.randint(1, longest) for _ in range(ndim))


def lengths(rng: Random, of: tuple[int, ...]) -> tuple[int, ...]:
    """Returns a chunk shape, which may exceed the array."""
    chunks = [rng.randint(1, max(1, length) + 2) for length in of]
    while math.prod(-(-length // chunk) for length, chunk in zip(of, chunks, strict=True)) > _MOST_CHUNKS:
        chunks = [chunk + 1 for chunk in chunks]
    return tuple(chunks)


def grid(rng: Random, of: tuple[int, ...], zarr_format: str) -> Arguments:
    """Returns arguments for chunks, which may be in shards and differ in length."""
    chunks = lengths(rng, of)
    choice = rng.random() if zarr_format == V3 and of else 1
    if choice < 0.15 and all(of):
        return {"chunks": str([_pieces(rng, length) for length in of])}
    if choice < 0.5:
        shards = tuple(chunk * rng.randint(1, 4) for chunk in chunks)
        return {"chunks": str(chunks), "shards": str(shards)}
    return {"chunks": str(chunks)}


def _pieces(rng: Random, length: int) -> list[int]:
    """Returns random chunk lengths with a given sum."""
    borders = sorted(rng.sample(range(1, length), min(length - 1, rng.randint(0, 3))))
    return [stop - start for start, stop in zip([0, *borders], [*borders, length], strict=True)]


def codecs(rng: Random, kind: Kind, ndim: int, zarr_format: str) -> Arguments:
    """Returns the arguments for the codecs of chunks; codecs without an argument are the format's defaults."""
    if rng.random() < 0.4 or zarr_format in (V1, EXPERIMENTAL, DRAFT):
        return {}
    if zarr_format == V3:
        return _v3_codecs(rng, kind, ndim)
    if zarr_format == N5:
        return {"compressor": rng.choice(_N5_COMPRESSORS)}
    # zarr-python reads objects in JSON in another order than it writes them, so only one element is written.
    orders = ('"C"', '"F"') if kind.name not in ("json", "msgpack") else ('"C"',)
    chosen = {"compressor": rng.choice(_V2_COMPRESSORS), "order": rng.choice(orders)}
    filters = _v2_filters(kind)
    if filters and rng.random() < 0.3:
        chosen["filters"] = f"[{rng.choice(filters)}]"
    return chosen | {"write_empty_chunks": str(rng.random() < 0.3)}


def _v2_filters(kind: Kind) -> list[str]:
    """Returns lossless filters."""
    dtype = kind.pool.dtype
    if dtype.hasobject:
        return []
    filters = [f"zarr.codecs.Shuffle({dtype.itemsize})", "zarr.codecs.CRC32()", "zarr.codecs.Adler32()"]
    if dtype.kind in "iu":
        filters.append(f'zarr.Delta("{dtype.str}")')
    return filters if dtype.kind != "b" else [*filters, "zarr.PackBits()"]


def _v3_codecs(rng: Random, kind: Kind, ndim: int) -> Arguments:
    chosen = {"compressors": rng.choice(_V3_COMPRESSORS)}
    if ndim and rng.random() < 0.3:
        order = rng.sample(range(ndim), ndim)
        chosen["filters"] = f"[zarr.codecs.TransposeCodec(order={tuple(order)})]"
    if kind.is_plain() and rng.random() < 0.3:
        chosen["serializer"] = f'zarr.codecs.BytesCodec(endian="{rng.choice(("big", "little"))}")'
    if rng.random() < 0.2:
        chosen["config"] = '{"write_empty_chunks": True}'
    if rng.random() < 0.2:
        chosen["attributes"] = '{"unit": "m"}'
    if rng.random() < 0.2:
        chosen["chunk_key_encoding"] = '{"name": "v2", "separator": "."}'
    return chosen


def kind(rng: Random, zarr_format: str) -> Kind:
    """Returns a random type that a format supports."""
    return rng.choice([kind for kind in KINDS.values() if zarr_format in kind.formats])
