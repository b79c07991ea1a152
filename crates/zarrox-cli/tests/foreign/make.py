"""Writes a small hierarchy with one of the other implementations, and that implementation's
description of the hierarchy.

    python make.py zarr2|zarr3|tensorstore

writes NAME/data.tar.xz, which contains data.zarr and expected.json. README.md lists the versions that were used.
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "zarrox" / "tests" / "corpus"))
import pack  # noqa: E402


def plain(value):
    """Returns a value as JSON: values that JSON cannot represent have the form that Zarr's metadata has."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def arrays():
    """Yields the name, elements, chunk shape, fill value and unwritten regions of each array."""
    yield "float32", np.array([[0.1, -0.0, 1e30], [np.nan, np.inf, 2.5]], "f4"), (1, 2), np.float32("nan")
    yield "big/int16", (np.arange(35, dtype=">i2") - 7).reshape(5, 7), (2, 3), -1
    yield "big/complex128", np.array([1 + 2j, -0.5j, 3], ">c16"), (2,), 0
    yield "bool", np.array([True, False, True, True]), (3,), False
    yield "uint64", np.array([[2**64 - 1]], "u8"), (1, 1), 5
    yield "scalar", np.array(1.5, "f8"), (), 0
    yield "empty", np.zeros((0, 3), "i4"), (2, 2), 0


def zarr2(path):
    import numcodecs
    import zarr

    compressors = [numcodecs.Blosc("zstd", 3, 2), numcodecs.Zlib(1), numcodecs.GZip(5), None, numcodecs.LZ4(), numcodecs.BZ2(9), numcodecs.Zstd(3)]
    root = zarr.open_group(str(path), mode="w")
    root.attrs["title"] = "élan"
    for (name, values, chunks, fill), compressor in zip(arrays(), compressors):
        order = "F" if name.startswith("big") else "C"
        separator = "/" if name == "uint64" else "."
        array = root.create_dataset(
            name, data=values, chunks=chunks, fill_value=fill, compressor=compressor, order=order, dimension_separator=separator
        )
        array.attrs["units"] = name
    partial = root.create("partial", shape=(4, 4), chunks=(2, 2), dtype="i4", fill_value=9)
    partial[1:3, 0] = 1
    for name, array in sorted(all_arrays(root)):
        yield name, {
            "shape": list(array.shape),
            "dtype": array.dtype.newbyteorder("=").name,
            "fill_value": plain(array.fill_value),
            "chunks": list(array.chunks),
            "order": array.order,
            "compressor": array.compressor.get_config() if array.compressor else None,
            "initialised": array.nchunks_initialized,
            "attributes": array.attrs.asdict(),
            "values": plain(array[...].tolist()),
        }


def all_arrays(group):
    found = []
    group.visititems(lambda name, node: found.append((name, node)) if hasattr(node, "shape") else None)
    return found


def zarr3(path):
    import zarr
    from zarr import codecs

    compressors = [codecs.BloscCodec(cname="lz4", shuffle="bitshuffle"), codecs.GzipCodec(level=5), codecs.ZstdCodec(level=3), None, codecs.ZstdCodec(level=1, checksum=True), None, codecs.GzipCodec(level=1)]
    root = zarr.create_group(str(path), overwrite=True, attributes={"title": "élan"})
    for (name, values, chunks, fill), compressor in zip(arrays(), compressors):
        endian = "big" if name.startswith("big") else "little"
        names = [f"dim{i}" for i in range(values.ndim)]
        values = values.astype(values.dtype.newbyteorder("="))
        array = root.create_array(
            name, shape=values.shape, dtype=values.dtype, chunks=chunks, fill_value=fill, compressors=compressor,
            serializer=codecs.BytesCodec(endian=endian), dimension_names=names, attributes={"units": name},
        )
        array[...] = values
    sharded = root.create_array("sharded", shape=(9, 10), dtype="u2", chunks=(2, 3), shards=(4, 6), fill_value=3)
    sharded[1:8, ::2] = np.arange(35).reshape(7, 5)
    for name, array in sorted(((name, node) for name, node in root.members(max_depth=None) if hasattr(node, "shape"))):
        yield name, {
            "shape": list(array.shape),
            "dtype": array.dtype.name,
            "fill_value": plain(array.fill_value),
            "chunks": list(array.chunks),
            "shards": list(array.shards) if array.shards else None,
            "codecs": [codec.to_dict() for codec in array.metadata.codecs],
            "dimension_names": list(array.metadata.dimension_names) if array.metadata.dimension_names else None,
            "initialised": array.nchunks_initialized if not array.shards else None,
            "attributes": dict(array.attrs),
            "values": plain(array[...].tolist()),
        }


def tensorstore(path):
    import tensorstore as ts

    for name, values, chunks, fill in arrays():
        codecs = [{"name": "bytes", "configuration": {"endian": "big" if name.startswith("big") else "little"}}]
        codecs = [{"name": "bytes"}] if values.dtype.itemsize == 1 else codecs
        codecs.append({"name": "zstd", "configuration": {"level": 2}})
        if values.ndim == 2 and name != "empty":
            codecs.insert(0, {"name": "transpose", "configuration": {"order": [1, 0]}})
        metadata = {
            "shape": list(values.shape),
            "data_type": values.dtype.newbyteorder("=").name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
            "fill_value": [plain(fill), 0] if values.dtype.kind == "c" else plain(fill),
            "codecs": codecs,
            "attributes": {"units": name},
        }
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path / name)}, "metadata": metadata}
        array = ts.open(spec, create=True, delete_existing=True).result()
        array.write(values.astype(values.dtype.newbyteorder("="))).result()
        stored = array.spec().to_json()["metadata"]
        yield name, {
            "shape": list(array.shape),
            "dtype": array.dtype.name,
            "fill_value": plain(array.fill_value.item()),
            "chunks": stored["chunk_grid"]["configuration"]["chunk_shape"],
            "codecs": stored["codecs"],
            "dimension_names": None,
            "attributes": stored["attributes"],
            "values": plain(array.read().result().tolist()),
        }


def main(name):
    data = Path(pack.begin(HERE / name))
    path = data / "data.zarr"
    said = dict({"zarr2": zarr2, "zarr3": zarr3, "tensorstore": tensorstore}[name](path))
    text = json.dumps(said, indent=1, ensure_ascii=False, sort_keys=True)
    (data / "expected.json").write_text(text + "\n", encoding="utf-8")
    pack.pack(HERE / name)


main(*sys.argv[1:])
