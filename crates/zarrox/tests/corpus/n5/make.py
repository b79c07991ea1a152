"""Writes a small N5 hierarchy with another implementation, and beside it every element that it read back.

    python make.py zarr2|tensorstore|z5py|java

writes NAME/data.tar.xz with data.n5 and expected.json. This script writes `java` itself, byte by byte like Java's N5.
README.md has the versions.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import pack  # noqa: E402

TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"]


def values(dtype, shape, seed=0):
    """Returns elements that differ in every byte; floats include infinities and NaN."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    words = np.arange(1 + seed, count + 1 + seed, dtype="u8") * np.uint64(0x9E3779B97F4A7C15)
    if dtype.kind == "f":
        result = (words.view("i8") / 2.0**60).astype(dtype)
        result[:4] = [np.nan, -np.inf, -0.0, np.inf]
    else:
        result = (words >> np.uint64(3)).astype(f"u{dtype.itemsize}").view(dtype)
    return result.reshape(shape)


def expected(array, chunks, attributes):
    """Returns the expected result of reading, with the elements as little-endian bytes in row-major order."""
    array = np.asarray(array)
    little = array.astype(array.dtype.newbyteorder("<"))
    return {
        "shape": list(array.shape),
        "chunks": list(chunks),
        "data_type": array.dtype.name,
        "attributes": attributes,
        "elements": little.tobytes().hex(),
    }


def zarr2(path):
    import numcodecs
    import zarr

    root = zarr.group(zarr.N5Store(str(path)), overwrite=True)
    root.attrs["title"] = "élan"
    for dtype in TYPES:
        array = root.create_dataset(f"types/{dtype}", data=values(dtype, (5, 7)), chunks=(3, 4), compressor=numcodecs.GZip(1))
        array.attrs["of"] = dtype
    codecs = {
        "raw": None,
        "zlib": numcodecs.Zlib(1),
        "bz2": numcodecs.BZ2(2),
        "xz": numcodecs.LZMA(preset=1),
        "lzma-alone": numcodecs.LZMA(format=2),
        "blosc": numcodecs.Blosc("zstd", 3, 1),
        "blosc-bits": numcodecs.Blosc("lz4", 5, 2),
        "lz4": numcodecs.LZ4(),
        "zstd": numcodecs.Zstd(3),
    }
    for name, codec in codecs.items():
        root.create_dataset(f"codecs/{name}", data=values("uint16", (3, 2, 9)), chunks=(2, 2, 4), compressor=codec)
    root.create_dataset("scalar", data=values("int32", ()), compressor=None)
    root.create_dataset("line", data=values("float64", (10,)), chunks=(4,), compressor=None)
    sparse = root.create("a/b/sparse", shape=(4, 6), chunks=(2, 2), dtype="i4", compressor=None, fill_value=0)
    sparse[1:3, 5] = 7
    sparse.attrs["n"] = {"nested": [1, {"deep": None}]}
    root["a"].attrs["pixelResolution"] = {"unit": "nm", "dimensions": [4.0, 4.0, 40.0]}

    found = {}
    root.visititems(lambda name, node: found.update({name: node}))
    for name, node in found.items():
        if isinstance(node, zarr.Array):
            yield name, expected(node[...], node.chunks, node.attrs.asdict())
        else:
            yield name, {"attributes": node.attrs.asdict()}
    yield "", {"attributes": root.attrs.asdict()}


def tensorstore(path):
    import tensorstore as ts

    compressions = {
        "raw": {"type": "raw"},
        "gzip": {"type": "gzip", "level": 3},
        "zlib": {"type": "gzip", "useZlib": True},
        "bzip2": {"type": "bzip2", "blockSize": 3},
        "xz": {"type": "xz", "preset": 1},
        "blosc": {"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
        "zstd": {"type": "zstd", "level": 3},
    }
    arrays = {name: ("uint16", compression) for name, compression in compressions.items()}
    arrays |= {dtype: (dtype, {"type": "raw"}) for dtype in TYPES}
    for name, (dtype, compression) in arrays.items():
        extra = {"units": ["nm", "", "s"], "resolution": [4.0, 1.0, 0.5], "axes": ["x", "y", "t"]} if name == "gzip" else {}
        data = values(dtype, (3, 2, 9))
        # TensorStore has the order of axes of N5.
        metadata = {"dimensions": [9, 2, 3], "blockSize": [4, 2, 2], "dataType": dtype, "compression": compression, **extra}
        spec = {"driver": "n5", "kvstore": {"driver": "file", "path": str(path / "volumes" / name)}}
        array = ts.open(spec | {"metadata": metadata}, create=True).result()
        array[...].write(data.T).result()
        again = ts.open(spec, open=True).result()
        yield f"volumes/{name}", expected(again.read().result().T, (2, 2, 4), extra)


def z5py(path):
    import z5py

    file = z5py.File(str(path), mode="w", use_zarr_format=False)
    for dtype in TYPES:
        array = file.create_dataset(f"types/{dtype}", data=values(dtype, (5, 7)), chunks=(3, 4), compression="raw")
        array.attrs["of"] = dtype
    for name in ["raw", "gzip", "bzip2", "xz", "lz4", "blosc", "zstd"]:
        file.create_dataset(f"codecs/{name}", data=values("uint16", (3, 2, 9)), chunks=(2, 2, 4), compression=name)
    file["types"].attrs["downsamplingFactors"] = [2, 2, 1]
    for group in ["types", "codecs"]:
        for name in sorted(file[group]):
            array = file[group][name]
            yield f"{group}/{name}", expected(array[...], array.chunks, {k: array.attrs[k] for k in array.attrs if k == "of"})
    yield "types", {"attributes": {"downsamplingFactors": [2, 2, 1]}}


def java(path):
    import lz4.block
    import xxhash

    def document(name, content):
        (path / name).mkdir(parents=True, exist_ok=True)
        (path / name / "attributes.json").write_text(json.dumps(content))

    def lz4_java(data, block_size):
        """Returns bytes like those that lz4-java's LZ4BlockOutputStream writes."""
        level = max(0, (block_size - 1).bit_length() - 10)
        out = b""
        for start in range(0, len(data), block_size):
            block = data[start : start + block_size]
            compressed = lz4.block.compress(block, store_size=False)
            method, body = (0x20, compressed) if len(compressed) < len(block) else (0x10, block)
            checksum = xxhash.xxh32(block, seed=0x9747B28C).intdigest() & 0x0FFFFFFF
            out += b"LZ4Block" + struct.pack("<BIII", method | level, len(body), len(block), checksum) + body
        return out + b"LZ4Block" + struct.pack("<BIII", 0x10 | level, 0, 0, 0)

    def write(name, array, block_size, compression, compress=lambda data: data, **more):
        """Writes blocks like Java's N5, which truncates blocks at the edge to the array."""
        blocks = [range(0, length, size) for length, size in zip(array.shape, block_size)]
        for corner in np.ndindex(*map(len, blocks)):
            box = tuple(slice(b[i], b[i] + size) for b, i, size in zip(blocks, corner, block_size))
            block = array[box]
            header = struct.pack(">HH", 0, block.ndim) + b"".join(struct.pack(">I", n) for n in block.shape[::-1])
            file = path / name / "/".join(str(i) for i in corner[::-1])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(header + compress(block.astype(block.dtype.newbyteorder(">")).tobytes()))
        dimensions = {"dimensions": list(array.shape[::-1]), "blockSize": list(block_size[::-1])}
        document(name, dimensions | {"dataType": array.dtype.name} | compression | more)
        return name, expected(array, block_size, more)

    document("", {"n5": "4.0.0"})
    lz4_compression = {"compression": {"type": "lz4", "blockSize": 64}}
    ramp = (np.arange(600) // 40).astype("int32").reshape(20, 30)
    attributes = {"downsamplingFactors": [1, 1, 1], "units": ["nm", "nm"], "axes": ["x", "y"]}
    yield write("images/lz4", ramp, (8, 12), lz4_compression, lambda data: lz4_java(data, 64), **attributes)
    yield write("images/noise", values("uint64", (5, 7)), (3, 4), {"compression": {"type": "lz4"}}, lambda d: lz4_java(d, 65536))
    # In version 0, compressions are only given by their names.
    yield write("old/raw", values("float32", (5, 7)), (3, 4), {"compressionType": "raw"})
    # A group without attributes of its own.
    yield "images", {"attributes": {}}
    # A label multiset: the blocks have lists of elements, not boxes.
    (path / "labels" / "0").mkdir(parents=True)
    document("labels", {"dimensions": [2, 4], "blockSize": [2, 2], "dataType": "uint8", "compression": {"type": "raw"}})
    block = struct.pack(">HHIII", 1, 2, 2, 2, 7) + bytes(range(10, 17))
    (path / "labels" / "0" / "0").write_bytes(block)
    block = struct.pack(">HHIII", 1, 2, 2, 2, 4) + bytes(range(20, 24))
    (path / "labels" / "0" / "1").write_bytes(block)


def main():
    name = sys.argv[1]
    target = Path(pack.begin(HERE / name))
    (target / "data.n5").mkdir()
    nodes = dict({"zarr2": zarr2, "tensorstore": tensorstore, "z5py": z5py, "java": java}[name](target / "data.n5"))
    lines = [f"{json.dumps(path)}: {json.dumps(node, ensure_ascii=False)}" for path, node in sorted(nodes.items())]
    (target / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    pack.pack(HERE / name)


if __name__ == "__main__":
    main()
