"""Prints the golden bytes of the codecs' tests: name, length, hexadecimal digits. See README.md."""

import os
import shutil
import tempfile

import numpy as np
import zarr
from numcodecs import BZ2, LZ4, Blosc, GZip, Zlib, Zstd
from numcodecs.checksum32 import CRC32C
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, TransposeCodec

STEPS = (np.arange(1000) // 100).astype("<u2")
NUMBERS = np.arange(16).astype("<u2")


def show(name, encoded):
    print(name, len(encoded), bytes(encoded).hex())


for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
    for shuffle in [0, 1, 2]:
        show(f"blosc {cname} {shuffle}", Blosc(cname=cname, clevel=5, shuffle=shuffle).encode(STEPS))
show("blosc stored", Blosc(cname="lz4", clevel=5, shuffle=1).encode(NUMBERS))
show("gzip", GZip(5).encode(STEPS))
show("zlib", Zlib(1).encode(STEPS))
show("bz2", BZ2(1).encode(STEPS))
show("zstd", Zstd(3).encode(STEPS))
show("zstd with checksum", Zstd(3, checksum=True).encode(STEPS))
show("lz4", LZ4().encode(STEPS))
show("crc32c", CRC32C().encode(NUMBERS))
show("crc32c at the start", CRC32C(location="start").encode(NUMBERS))

try:  # numcodecs no longer has Snappy; its destination must have room for Snappy's worst case.
    import imagecodecs

    encoded = imagecodecs.blosc_encode(
        STEPS.tobytes(), typesize=2, level=5, shuffle=0, compressor="snappy", out=5000
    )
    show("blosc snappy 0", encoded)
except ImportError:
    pass


def show_chunk(name, data, **codecs):
    path = tempfile.mkdtemp()
    array = zarr.create_array(
        path, shape=data.shape, dtype=data.dtype, chunks=data.shape, fill_value=0, compressors=None,
        overwrite=True, **codecs
    )
    array[...] = data
    for root, _, files in os.walk(path):
        for file in files:
            if file != "zarr.json":
                with open(os.path.join(root, file), "rb") as chunk:
                    show(name, chunk.read())
    shutil.rmtree(path)


LITTLE, BIG = BytesCodec(endian="little"), BytesCodec(endian="big")
SHARD = np.arange(16, dtype="u2").reshape(4, 4)
SHARD[2:, :2] = 0
INNER = ShardingCodec(chunk_shape=(2, 2), codecs=[LITTLE])
show_chunk("shard", SHARD, serializer=INNER)
show_chunk(
    "shard with index at the start", SHARD,
    serializer=ShardingCodec(
        chunk_shape=(2, 2), codecs=[BIG, Crc32cCodec()], index_location="start", index_codecs=[BIG]
    ),
)
show_chunk(
    "nested shards", SHARD,
    serializer=ShardingCodec(chunk_shape=(4, 2), codecs=[TransposeCodec(order=(1, 0)), INNER]),
)
show_chunk(
    "transpose", np.arange(6, dtype="i4").reshape(1, 2, 3),
    filters=[TransposeCodec(order=(2, 0, 1))], serializer=BIG,
)
