"""Writes arrays of zarr-python 3.4 with `cast_value` and `scale_offset`, and their expected values. README.md has the commands."""

import os
import shutil
import sys
import tempfile

import numpy as np
import zarr
from zarr.codecs import BytesCodec, CastValue, GzipCodec, ScaleOffset, ShardingCodec, TransposeCodec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402

corpus = record.Corpus(__file__, f"zarr-python {zarr.__version__}, NumPy {np.__version__}")


def array(root, name, values, filters, fill=0, lossy=True, **options):
    """Writes an array with these filters, and records the values that are read back."""
    values = np.asarray(values)
    options = {"chunks": tuple(max(1, (n + 1) // 2) for n in values.shape), "compressors": None} | options
    made = root.create_array(name, shape=values.shape, dtype=values.dtype, filters=filters, fill_value=fill, **options)
    made[...] = values
    read = zarr.open_group(root.store, mode="r")[name][...]
    assert lossy or record.same(read, values), (name, read)
    if lossy and is_stable(root, name, read):
        lossy = "stable"
    corpus.array(name, read, fill=fill, lossy=lossy)


def is_stable(root, name, read):
    """Returns true if writing the elements that were read gives the same bytes."""
    with tempfile.TemporaryDirectory() as again:
        shutil.copy(os.path.join(root.store.root, name, "zarr.json"), again)
        array = zarr.open_array(again, mode="r+")
        try:
            array[...] = read
        except ValueError:  # The elements that were read may be out of range.
            return False
        return record.same_chunks(os.path.join(root.store.root, name), again, array.shape, array.chunks)


def casts():
    root = zarr.open_group(corpus.hierarchy("cast_value.zarr"), mode="w")
    halves = np.array([-3.5, -2.5, -1.75, -1.5, -1.25, -0.5, -0.0, 0.5, 1.25, 1.5, 1.75, 2.5, 3.5])
    for rounding in ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"]:
        array(root, f"f8_i2_{rounding}", halves, CastValue(data_type="int16", rounding=rounding))
        array(root, f"f4_i8_{rounding}", halves.astype("f4"), CastValue(data_type="int64", rounding=rounding))
        thirds = np.array([1 / 3, -1 / 3, 0.1, -0.1, 1e-42, 1e300 if rounding == "towards-zero" else 1e30, 16777217.0])
        array(root, f"f8_f4_{rounding}", thirds, CastValue(data_type="float32", rounding=rounding, out_of_range="clamp"))
        large = np.array([16777217, -16777217, 16777219, 2**31 - 1, -(2**31), 3])
        array(root, f"i8_f4_{rounding}", large, CastValue(data_type="float32", rounding=rounding))
    wide = np.array([-70000, -32769, -129, -128, -1, 0, 127, 128, 255, 256, 70000], "i4")
    for target in ["int8", "uint8", "int16", "uint16", "int64", "uint64", "float64", "float32"]:
        for out_of_range in ["clamp", "wrap"] if "int" in target else ["clamp"]:
            array(root, f"i4_{target}_{out_of_range}", wide, CastValue(data_type=target, out_of_range=out_of_range))
    edges = np.array([np.inf, -np.inf, 1e300, -1e300, 65504.0, 65520.0, 65519.9, -0.0])
    # Infinity is not clamped to an integer.
    for target in ["float32", "float16", "int32", "uint8"]:
        array(root, f"f8_{target}_clamp", edges if "float" in target else edges[2:], CastValue(data_type=target, out_of_range="clamp"))
    array(root, "f8_u1_wrap", np.array([0.0, 255.0, 256.0, -1.0, 1000.5]), CastValue(data_type="uint8", out_of_range="wrap"))
    array(root, "f4_f8", record.numbers("f4", 9), CastValue(data_type="float64"))
    array(root, "f2_f4", record.numbers("f2", 9), CastValue(data_type="float32"))
    array(root, "f8_f2", np.array([np.nan, np.inf, 0.1, -2.5, 6e-8]), CastValue(data_type="float16"))
    array(root, "i2_i4", record.numbers("i2", 9), CastValue(data_type="int32"), lossy=False)
    array(root, "u1_u8", record.numbers("u1", 9), CastValue(data_type="uint64"), serializer=BytesCodec(endian="little"), lossy=False)
    array(root, "u8_i8", np.array([0, 1, 2**63 - 1], "u8"), CastValue(data_type="int64"), lossy=False)
    array(root, "i2_f4", record.numbers("i2", 9), CastValue(data_type="float32"), lossy=False)
    missing = np.array([1.0, np.nan, -2.0, np.inf, -np.inf, 3.0])
    scalars = {"encode": [["NaN", -99], ["Infinity", 99], ["-Infinity", 98]], "decode": [[-99, "NaN"], [99, "Infinity"], [98, "-Infinity"]]}
    array(root, "nan_mapped", missing, CastValue(data_type="int8", scalar_map=scalars))
    one_way = {"encode": [["NaN", 0]]}
    array(root, "nan_mapped_one_way", missing[:3], CastValue(data_type="int16", scalar_map=one_way))
    numbers = {"encode": [[5, 7], [5, 8]], "decode": [[7, 5]]}
    array(root, "numbers_mapped", np.arange(7, dtype="i4"), CastValue(data_type="uint8", scalar_map=numbers))
    array(root, "fill_value", missing[:3], CastValue(data_type="int16", scalar_map=scalars), fill=np.nan)
    array(root, "fill_number", np.array([1, 2, 3, -5], "i4"), CastValue(data_type="int8"), fill=-5, chunks=(2,))
    grid = np.arange(35, dtype="i4").reshape(5, 7)
    array(root, "big", grid, CastValue(data_type="int16"), serializer=BytesCodec(endian="big"), lossy=False)
    array(root, "transposed", grid, [TransposeCodec(order=(1, 0)), CastValue(data_type="int8")], lossy=False)
    array(root, "then_transposed", grid, [CastValue(data_type="int8"), TransposeCodec(order=(1, 0))], lossy=False)
    array(root, "gzip", grid, CastValue(data_type="int16"), compressors=GzipCodec(level=1), lossy=False)
    array(root, "twice", grid, [CastValue(data_type="int64"), CastValue(data_type="int8")], lossy=False)
    little = BytesCodec(endian="little")
    shards = ShardingCodec(chunk_shape=(2, 2), codecs=[CastValue(data_type="int16"), little])
    array(root, "in_shards", grid, None, serializer=shards, chunks=(4, 4), lossy=False)
    outside = ShardingCodec(chunk_shape=(2, 2), codecs=[little])
    array(root, "around_shards", grid, CastValue(data_type="int16"), serializer=outside, chunks=(4, 4), lossy=False)
    corpus.groups()


def scales():
    root = zarr.open_group(corpus.hierarchy("scale_offset.zarr"), mode="w")
    floats = np.array([0, 1.5, -2.25, 100.75, 0.1, 1e10])
    for kind in ["f2", "f4", "f8"]:
        values = floats[:5].astype(kind)
        for word, codec in [
            ("", ScaleOffset(offset=1, scale=4)),
            ("_offset", ScaleOffset(offset=-0.1)),
            ("_scale", ScaleOffset(scale=0.1)),
            ("_third", ScaleOffset(offset=0.3, scale=3)),
            ("_negative", ScaleOffset(offset=2, scale=-0.7)),
            ("_none", ScaleOffset()),
        ]:
            array(root, kind + word, values, codec)
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        values = np.arange(10, 22).astype(kind)
        for word, codec in [
            ("", ScaleOffset(offset=5, scale=3)),
            ("_offset", ScaleOffset(offset=10)),
            ("_scale", ScaleOffset(scale=2)),
        ]:
            # For unsigned types, zeros minus the offset are out of range.
            array(root, kind + word, values, codec, fill=10, lossy=kind[0] == "u")
    array(root, "special", np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]), ScaleOffset(offset=0, scale=2))
    array(root, "fill_value", floats, ScaleOffset(offset=1, scale=4), fill=2.5)
    grid = np.arange(35, dtype="f8").reshape(5, 7) / 4
    both = [ScaleOffset(offset=1, scale=4), CastValue(data_type="uint8", out_of_range="clamp")]
    array(root, "then_cast", grid, both)
    array(root, "then_cast_with_fill", grid, both, fill=np.float64(1.0))
    packed = [ScaleOffset(offset=1, scale=4), CastValue(data_type="int16", scalar_map={"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]})]
    missing = grid.copy()
    missing[1, 1:3] = np.nan
    array(root, "packed_with_nan", missing, packed, fill=np.nan)
    array(root, "twice", grid, [ScaleOffset(offset=1, scale=4), ScaleOffset(offset=-2, scale=0.5)])
    array(root, "transposed", grid, [TransposeCodec(order=(1, 0)), ScaleOffset(offset=1, scale=4)])
    shards = ShardingCodec(chunk_shape=(2, 2), codecs=[*both, BytesCodec(endian="little")])
    array(root, "in_shards", grid, None, serializer=shards, chunks=(4, 4))
    corpus.groups()


casts()
scales()
corpus.save()
