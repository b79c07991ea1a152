"""Writes arrays of tensorstore in both formats, and their expected values. README.md has the commands."""

import json
import os
import sys
from importlib.metadata import version

import ml_dtypes
import numpy as np
import tensorstore as ts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402

corpus = record.Corpus(
    __file__, f"tensorstore {version('tensorstore')}, ml_dtypes {ml_dtypes.__version__}, NumPy {np.__version__}"
)
SMALL = [
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
CRC = {"name": "crc32c"}


def zstd(level=1):
    return {"name": "zstd", "configuration": {"level": level}}


def begin(name, zarr_format):
    """Begins a hierarchy. tensorstore does not support groups, so this function writes their documents."""
    path = corpus.hierarchy(name)
    os.makedirs(path)
    document, content = {
        3: ("zarr.json", {"zarr_format": 3, "node_type": "group"}),
        2: (".zgroup", {"zarr_format": 2}),
    }[zarr_format]
    with open(os.path.join(path, document), "w") as file:
        json.dump(content, file)
    return path


def open_array(driver, path, metadata, create=True, **spec):
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": path + "/"}, "metadata": metadata} | spec
    return ts.open(spec, create=create, open=True).result()


def v3_metadata(shape, data_type, fill, codecs=(BYTES,), chunks=None, keys="default", separator="/", **members):
    chunks = chunks or [max(1, (n + 1) // 2) for n in shape]
    return {
        "shape": list(shape),
        "data_type": data_type,
        "fill_value": fill,
        "codecs": list(codecs),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        "chunk_key_encoding": {"name": keys, "configuration": {"separator": separator}},
    } | members


def v2_metadata(shape, dtype, fill=None, compressor=None, chunks=None, order="C", separator="."):
    chunks = chunks or [max(1, (n + 1) // 2) for n in shape]
    return {
        "shape": list(shape),
        "dtype": dtype,
        "fill_value": fill,
        "compressor": compressor,
        "filters": None,
        "order": order,
        "chunks": list(chunks),
        "dimension_separator": separator,
    }


def elements(values):
    """Returns the bytes of each element: one byte for smaller types, and signed integers with their sign."""
    if values.dtype.name in ["int2", "int4"]:
        return values.astype("i1").tobytes()
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def write(root, name, values, metadata, driver="zarr3", fill=None, data_type=None, region=Ellipsis):
    array = open_array(driver, os.path.join(root, name), metadata)
    array[region].write(values[region]).result()
    again = open_array(driver, os.path.join(root, name), metadata, create=False).read().result()
    assert elements(again) == elements(values), (name, again, values)
    shape, item = values.shape, len(elements(values[:1].reshape(-1)[:1])) if values.size else values.dtype.itemsize
    data_type = data_type or values.dtype.name
    fill = None if fill is None else elements(np.array([fill], values.dtype))
    corpus.raw_array(
        name,
        shape,
        item,
        elements(values),
        data_type,
        fill,
        attributes=metadata.get("attributes"),
        dimension_names=metadata.get("dimension_names"),
    )


def small_values(name):
    """Returns every bit pattern of a type of at most eight bits, or many bit patterns of bfloat16."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    if name in ["int2", "int4"]:
        bits = int(name[3:])
        return np.arange(-(2 ** (bits - 1)), 2 ** (bits - 1)).astype(dtype)
    if name == "bfloat16":
        return (np.arange(64, dtype="<u2") * 1021).view(dtype)
    return np.arange(16 if name == "float4_e2m1fn" else 256, dtype="u1").view(dtype)


def types():
    root = begin("types.zarr", 3)
    write(root, "bool", record.numbers("?", 5), v3_metadata([5], "bool", False), fill=False)
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        values = record.numbers(kind, 9)
        name = values.dtype.name
        zero = [0.0, 0.0] if kind[0] == "c" else 0
        for word, codec in [("", BYTES), ("_big", BIG)]:
            write(root, name + word, values, v3_metadata([9], name, zero, [codec], chunks=[9]), fill=0)
    for name in ["int2", "int4", "bfloat16"] + SMALL:
        values = small_values(name)
        fill = 1 if name.startswith("int") else 1.0
        write(root, name, values, v3_metadata(values.shape, name, fill, chunks=values.shape), fill=fill)
        if name == "float8_e8m0fnu":
            continue  # tensorstore takes the fill value 1.0 for 2^-64.
        filled = values[:2].copy()
        filled[1] = fill
        write(root, name + "_filled", filled, v3_metadata([2], name, fill, chunks=[1]), fill=fill, region=slice(0, 1))
    write(
        root, "bfloat16_big", small_values("bfloat16"), v3_metadata([64], "bfloat16", "NaN", [BIG]), fill=float("nan")
    )
    for name, fill in [
        ("float8_e4m3fn", "NaN"),
        ("float8_e5m2", "-Infinity"),
        ("float16", "Infinity"),
        ("bfloat16", "0x7fc1"),
    ]:
        stored = {"float16": np.float16}.get(name) or getattr(ml_dtypes, name)
        bits = (
            np.array([0x7FC1], "<u2").view(ml_dtypes.bfloat16)[0]
            if fill == "0x7fc1"
            else stored(float(fill.replace("Infinity", "inf")))
        )
        values = np.array([1, bits], stored)
        write(
            root,
            f"{name}_{fill.lower().strip('-')}",
            values,
            v3_metadata([2], name, fill, chunks=[1]),
            fill=bits,
            region=slice(0, 1),
        )
    corpus.groups()


def raw():
    """Writes raw bits, whose bytes are another dimension of the array, and structures, which are written field by field."""
    root = begin("raw.zarr", 3)
    for size in [1, 2, 3, 8]:
        data = (np.arange(5 * size) * 37 % 256).astype("u1").reshape(5, size)
        fill = bytes(range(1, size + 1))
        metadata = v3_metadata([5], f"r{8 * size}", record.text64(fill), [{"name": "bytes"}], chunks=[3])
        # tensorstore opens such an array, but cannot create it: this script writes the document.
        path = os.path.join(root, f"r{8 * size}")
        os.makedirs(path)
        with open(os.path.join(path, "zarr.json"), "w") as file:
            json.dump({"zarr_format": 3, "node_type": "array"} | metadata, file)
        array = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"}}).result()
        array[:3].write(data[:3].view("V1")).result()
        with open(os.path.join(path, "c", "0"), "rb") as file:
            assert file.read() == data[:3].tobytes()
        data[3:] = list(fill)
        corpus.raw_array(f"r{8 * size}", [5], size, data.tobytes(), f"r{8 * size}", fill)
    struct = [("a", "<i4"), ("b", "<f8"), ("c", "<u2"), ("d", "<c8")]
    fields = [{"name": name, "data_type": np.dtype(kind).name} for name, kind in struct]
    data_type = {"name": "struct", "configuration": {"fields": fields}}
    values = np.array([(1, 0.5, 3, 1 - 2j), (-2, 1.5, 65535, 3j), (7, -8, 9, 0.25)], struct)
    for name, codec in [("struct", BYTES), ("struct_big", BIG)]:
        metadata = v3_metadata([3], data_type, {"a": 1, "b": 2.5, "c": 3, "d": [4, 5]}, [codec])
        for field, _ in struct:
            open_array("zarr3", os.path.join(root, name), metadata, field=field).write(values[field]).result()
        corpus.array(name, values, fill=np.array((1, 2.5, 3, 4 + 5j), struct), data_type=data_type)
    corpus.groups()


def codecs():
    root = begin("codecs.zarr", 3)
    grid = np.arange(35, dtype="<i4").reshape(5, 7)
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    for name, chain in [
        ("gzip", [BYTES, GZIP]),
        ("zstd", [BIG, zstd()]),
        ("crc32c", [BYTES, CRC]),
        ("transposed", [transpose, BYTES]),
        ("transposed_zstd_crc32c", [transpose, BIG, zstd(5), CRC]),
    ]:
        write(root, name, grid, v3_metadata(grid.shape, "int32", -1, chain, chunks=[3, 4]), fill=-1)
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]:
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"]:
            blosc = {
                "name": "blosc",
                "configuration": {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0},
            }
            write(
                root,
                f"blosc_{cname}_{shuffle}",
                np.arange(96, dtype="<i4"),
                v3_metadata([96], "int32", 0, [BYTES, blosc], chunks=[96]),
                fill=0,
            )
    for keys, separator, word in [("default", ".", "dot"), ("v2", "/", "slash"), ("v2", ".", "dot")]:
        write(
            root,
            f"keys_{keys}_{word}",
            grid,
            v3_metadata(grid.shape, "int32", 0, chunks=[3, 3], keys=keys, separator=separator),
            fill=0,
        )
    named = {"dimension_names": ["y", None], "attributes": {"units": "m", "n": [1, 2.5, None]}}
    write(root, "named", grid, v3_metadata(grid.shape, "int32", 0, **named), fill=0)
    sparse = np.full((4, 6), 9, "<u2")
    sparse[1:3, 2:4] = 1
    write(
        root,
        "sparse",
        sparse,
        v3_metadata(sparse.shape, "uint16", 9, chunks=[2, 2]),
        fill=9,
        region=(slice(1, 3), slice(2, 4)),
    )
    write(root, "empty", np.zeros((0, 3), "<i4"), v3_metadata([0, 3], "int32", 0, chunks=[1, 2]), fill=0)
    corpus.groups()


def sharded():
    root = begin("sharded.zarr", 3)
    grid = np.arange(35, dtype="<i4").reshape(5, 7)

    def shard(chunks, inner=(BYTES,), index=(BYTES, CRC), location="end"):
        return {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": list(chunks),
                "codecs": list(inner),
                "index_codecs": list(index),
                "index_location": location,
            },
        }

    for location in ["start", "end"]:
        for word, index in [("", [BYTES, CRC]), ("_no_checksum", [BYTES]), ("_big", [BIG, CRC])]:
            codec = shard([2, 2], index=index, location=location)
            write(
                root,
                f"index_{location}{word}",
                grid,
                v3_metadata(grid.shape, "int32", 0, [codec], chunks=[4, 4]),
                fill=0,
            )
        nested = shard([4, 4], [shard([2, 2], [BYTES, GZIP], location=location)], location=location)
        values = np.arange(144, dtype="<u2").reshape(12, 12)
        write(
            root, f"nested_{location}", values, v3_metadata(values.shape, "uint16", 0, [nested], chunks=[8, 8]), fill=0
        )
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    inner = shard([2, 4], [transpose, BIG, zstd(), CRC])
    write(root, "inner_transposed", grid, v3_metadata(grid.shape, "int32", 0, [inner], chunks=[4, 4]), fill=0)
    outer = shard([3, 2])
    write(
        root, "outer_transposed", grid, v3_metadata(grid.shape, "int32", 0, [transpose, outer], chunks=[4, 6]), fill=0
    )
    sparse = np.full((8, 8), 3, "<u2")
    sparse[2:4, 2:4] = 9
    write(
        root,
        "sparse",
        sparse,
        v3_metadata([8, 8], "uint16", 3, [shard([2, 2])], chunks=[4, 4]),
        fill=3,
        region=(slice(2, 4), slice(2, 4)),
    )
    corpus.groups()


def version_2():
    root = begin("v2.zarr", 2)
    for kind in ["|b1", "|i1", "|u1", "<i2", ">i4", "<i8", ">u2", "<u4", ">u8", "<f2", ">f4", "<f8", ">c8", "<c16"]:
        values = record.numbers(kind.replace("|", "").replace(">", "<"), 8)
        write(root, kind[1:], values, v2_metadata([8], kind, chunks=[8]), "zarr")
    for name in ["int2", "int4", "bfloat16"] + SMALL:
        values = small_values(name)
        write(root, name, values, v2_metadata(values.shape, name, chunks=values.shape), "zarr")
    cube = np.arange(60, dtype="<i2").reshape(3, 4, 5)
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
    for order in "CF":
        for word, compressor in [
            ("raw", None),
            ("zlib", {"id": "zlib", "level": 1}),
            ("gzip", {"id": "gzip", "level": 1}),
            ("bz2", {"id": "bz2", "level": 1}),
            ("zstd", {"id": "zstd", "level": 1}),
            ("blosc", blosc),
        ]:
            write(
                root,
                f"cube_{order}_{word}",
                cube,
                v2_metadata(cube.shape, ">i2", 7, compressor, [2, 4, 3], order),
                "zarr",
                fill=7,
            )
    write(root, "slashes", cube, v2_metadata(cube.shape, "<i2", 7, None, [2, 4, 3], separator="/"), "zarr", fill=7)
    for name, dtype, size in [("S5", "|S5", 5), ("V3", "|V3", 3)]:
        data = (np.arange(4 * size) * 37 % 120 + 1).astype("u1").reshape(4, size)
        array = open_array("zarr", os.path.join(root, name), v2_metadata([4], dtype))
        array.write(data.view("S1") if name[0] == "S" else data.view("V1")).result()
        corpus.raw_array(name, [4], size, data.tobytes(), record.v3_type(dtype), None)
    struct = [("a", ">i4"), ("b", "<f8"), ("c", "<u2", (2, 2))]
    values = np.array([(1, 0.5, [[1, 2], [3, 4]]), (-2, 1.5, [[5, 6], [7, 8]]), (3, 4, [[9, 9], [9, 9]])], struct)
    for name, order in [("struct", "C"), ("struct_blosc", "C")]:
        metadata = v2_metadata(
            [3], [list(field) for field in struct], compressor=blosc if name == "struct_blosc" else None
        )
        for field, *_ in struct:
            plain = values[field].astype(values[field].dtype.newbyteorder("="))
            open_array("zarr", os.path.join(root, name), metadata, field=field).write(plain).result()
        corpus.array(name, values)
    corpus.groups()


def compressors():
    """Writes compressors with several levels and sizes of elements and blocks, chunks of many blocks, and incompressible chunks."""
    noise = np.random.RandomState(42).randint(0, 256, 800).astype("u1")
    many = (np.arange(17001) // 9 % 251).astype("<f4")

    def blosc(cname="lz4", clevel=5, shuffle="shuffle", typesize=4, blocksize=0):
        configuration = {"cname": cname, "clevel": clevel, "shuffle": shuffle, "blocksize": blocksize}
        return {"name": "blosc", "configuration": configuration | ({"typesize": typesize} if typesize else {})}

    root = begin("compressors.zarr", 3)
    for kind in ["u1", "<f2", "<f8", "<c16"]:
        values = (np.arange(150) * 7 % 100).astype(kind)
        fill = [0.0, 0.0] if values.dtype.kind == "c" else 0
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"]:
            chain = [BYTES, blosc("zstd", shuffle=shuffle, typesize=values.itemsize)]
            metadata = v3_metadata([150], values.dtype.name, fill, chain, chunks=[150])
            write(root, f"blosc_{values.dtype.name}_{shuffle}", values, metadata, fill=0)
    words = np.arange(1001, dtype="<i4") // 3
    chains = [("blosc_level_%d" % level, words, blosc(clevel=level)) for level in [0, 1, 9]]
    chains += [("blosc_blocks_of_%d" % size, words, blosc(blocksize=size)) for size in [128, 500, 2048]]
    chains += [("blosc_other_typesize_%d" % size, words, blosc(typesize=size)) for size in [1, 3, 8]]
    chains += [("blosc_noise", noise.view("<i4"), blosc("zstd", 9))]
    chains += [("blosc_many_blocks", many, blosc(clevel=1)), ("blosc_many_bits", many, blosc("zstd", 1, "bitshuffle"))]
    chains += [("gzip_%d" % level, words, {"name": "gzip", "configuration": {"level": level}}) for level in [0, 6, 9]]
    chains += [("zstd_%d" % level, words, zstd(level)) for level in [-5, 0, 3, 22]]
    chains += [("zstd_noise", noise.view("<i4"), zstd(1)), ("zstd_many", many, zstd(1)), ("crc32c_noise", noise.view("<i4"), CRC)]
    for name, values, codec in chains:
        metadata = v3_metadata(values.shape, values.dtype.name, 0, [BYTES, codec], chunks=values.shape)
        write(root, name, values, metadata, fill=0)
    write(root, "all", words, v3_metadata([1001], "int32", 0, [BIG, blosc(), zstd(), CRC], chunks=[600]), fill=0)
    corpus.groups()

    root = begin("v2_compressors.zarr", 2)
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]:
        for shuffle in [-1, 0, 1, 2]:
            compressor = {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0}
            name = f"blosc_{cname}_{['plain', 'bytes', 'bits', 'auto'][shuffle]}"
            write(root, name, words[:200], v2_metadata([200], "<i4", compressor=compressor, chunks=[200]), "zarr")
    blosc_1 = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}
    write(root, "blosc_auto_u1", noise % 9, v2_metadata([800], "|u1", compressor=blosc_1, chunks=[800]), "zarr")
    for name, compressor in [
        ("bz2_9", {"id": "bz2", "level": 9}),
        ("zlib_0", {"id": "zlib", "level": 0}),
        ("zlib_9", {"id": "zlib", "level": 9}),
        ("gzip_6", {"id": "gzip", "level": 6}),
        ("zstd_22", {"id": "zstd", "level": 22}),
        ("zstd_negative", {"id": "zstd", "level": -3}),
    ]:
        write(root, name, words, v2_metadata([1001], "<i4", compressor=compressor, chunks=[600]), "zarr")
    corpus.groups()


for make in [types, raw, codecs, compressors, sharded, version_2]:
    make()
corpus.save()
