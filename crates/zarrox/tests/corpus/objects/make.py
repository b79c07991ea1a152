"""Writes the hierarchies of this directory and `expected.json`: the options of numcodecs' object codecs that the larger corpora
of zarr-python's versions do not have. See README.md for the commands."""

import os
import sys

import numcodecs
import numpy as np
import zarr

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import record  # noqa: E402


def objects(values, shape=None):
    array = np.empty(len(values), object)
    for index, value in enumerate(values):
        array[index] = value
    return array.reshape(shape or array.shape)


THINGS = [
    None, True, False, 0, -1, 127, 128, 2**32, -(2**31) - 1, 2**63 - 1, 2**64 - 1, -(2**63),
    0.0, -0.5, 1e16, 1e-5, 5e-324, 1.7976931348623157e308, 0.1,
    "", "a", "é\x7f\x00\n\t\"\\/", "日本 🧊", "x" * 300,
    [], [1, [2, [3, []]]], list(range(20)), {}, {"b": {"d": 1, "c": [None]}, "a": "é", "": 0}, {"k%02d" % i: i for i in range(20)},
]  # fmt: skip

corpus = record.Corpus(__file__, "zarr-python %s with numcodecs %s" % (zarr.__version__, numcodecs.__version__))


def put(root, name, values, kind, codec, chunks, fill=None, expected=None, **options):
    array = root.create_dataset(
        name, shape=values.shape, dtype=object, object_codec=codec, chunks=chunks, fill_value=fill, **options
    )
    array[...] = values
    corpus.objects(name, values if expected is None else expected, kind)


def json_and_msgpack(root):
    things = objects(THINGS)
    codecs = {
        "json": numcodecs.JSON(),
        "json_plain": numcodecs.JSON(ensure_ascii=False, sort_keys=False),
        "json_indented": numcodecs.JSON(indent=2, strict=False),
        "json_tabs": numcodecs.JSON(indent="\t", separators=(", ", " : ")),
        "json_ascii": numcodecs.JSON(encoding="ascii", skipkeys=True, check_circular=False),
        "msgpack": numcodecs.MsgPack(),
        "msgpack_old": numcodecs.MsgPack(use_bin_type=False),
    }
    for name, codec in codecs.items():
        put(root, name, things, "object", codec, (7,), compressor=numcodecs.Zlib())
        put(root, name + "_cube", things.reshape(3, 2, 5), "object", codec, (2, 2, 2), compressor=None)
    single = objects([0.1, [1.5, 1e30]])
    rounded = objects([float(np.float32(0.1)), [1.5, float(np.float32(1e30))]])
    put(root, "msgpack_single", single, "object", numcodecs.MsgPack(use_single_float=True), 2, expected=rounded)
    put(root, "msgpack_bytes", objects([b"", b"\0\xff", "text"]), "object", numcodecs.MsgPack(), 2)
    raw = numcodecs.MsgPack(raw=True)
    put(root, "msgpack_raw", objects([b"a", "text", 1]), "object", raw, 2, expected=objects([b"a", b"text", 1]))
    fills = {"zero": 0, "text": "-", "list": [1, "x"], "object": {"a": None}, "true": True}
    for name, fill in fills.items():
        values = objects(["written", fill, fill, fill])
        array = root.create_dataset(
            "fill_" + name, shape=4, chunks=2, dtype=object, object_codec=numcodecs.JSON(), fill_value=None
        )
        # NumPy would interpret a list as many elements: the chunk is written whole.
        array[:2] = values[:2]
        path = os.path.join(corpus.directory, "objects.zarr", "fill_" + name, ".zarray")
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace('"fill_value": null', '"fill_value": ' + record.json.dumps(fill)))
        corpus.objects("fill_" + name, values, "object")


def columns(root):
    """Writes arrays of order F, whose elements zarr-python itself reads back in another order."""
    values = objects(["a", "b", "c", "d", "e", "f"], (2, 3))
    for name, codec in [("json", numcodecs.JSON()), ("msgpack", numcodecs.MsgPack())]:
        put(root, "columns_" + name, values, "object", codec, (2, 2), order="F")
    numbers = objects([np.arange(n, dtype="i2") for n in range(6)], (2, 3))
    put(root, "columns_ragged", numbers, "numbers", numcodecs.VLenArray("<i2"), (2, 2), order="F")
    categories = numcodecs.Categorize(list("abcdef"), dtype=object, astype=">u2")
    put(root, "columns_categories", values, "utf8", categories, (2, 2), order="F", compressor=None)


def others(root):
    for dtype in ["|b1", "|i1", ">u2", "<i8", "<f2", ">f4", "<f8", "<c8", ">c16", ">M8[ms]"]:
        base = np.arange(5).astype(dtype)
        values = objects([base[:0], base[:3], base, base[1:2]])
        put(root, "ragged_" + dtype.strip("<>|"), values, "numbers", numcodecs.VLenArray(dtype), 3)
    for astype in ["|u1", "|i1", "<u2", ">i4", "<u8"]:
        codec = numcodecs.Categorize(["a", "é", "long label", ""], dtype=object, astype=astype)
        put(root, "categories_" + astype.strip("<>|"), objects(["é", "", "long label", "a"]), "utf8", codec, 3, fill="")
    for dtype in ["<U3", ">U3"]:
        codec = numcodecs.Categorize(["abc", "é"], dtype=dtype, astype="<u2")
        values = np.array(["é", "", "abc", "é", ""], dtype)
        name = "categories_" + ("little" if dtype[0] == "<" else "big")
        root.create_dataset(name, data=values, chunks=2, filters=[codec])
        corpus.array(name, values, fill="")
    root.create_dataset("json_as_compressor", shape=2, chunks=2, dtype=object, object_codec=numcodecs.JSON())
    path = os.path.join(corpus.directory, "objects.zarr", "json_as_compressor")
    with open(os.path.join(path, ".zarray")) as file:
        document = record.json.load(file)
    chunk = numcodecs.JSON().encode(objects(["x", [1]]))
    document["compressor"], document["filters"] = document["filters"][0], None
    with open(os.path.join(path, ".zarray"), "w") as file:
        record.json.dump(document, file, indent=4)
    with open(os.path.join(path, "0"), "wb") as file:
        file.write(chunk)
    corpus.objects("json_as_compressor", objects(["x", [1]]), "object")
    pickles = [("objects", {"object_codec": numcodecs.Pickle()}), ("numbers", {"filters": [numcodecs.Pickle()]})]
    for name, codecs in pickles:
        dtype = object if name == "objects" else "<i4"
        root.create_dataset("unsafe_" + name, shape=2, chunks=2, dtype=dtype, **codecs)[:] = [1, 2]
        corpus.refused("unsafe_" + name, "rewrite the array with zarr-python")


root = zarr.group(zarr.DirectoryStore(corpus.hierarchy("objects.zarr")))
json_and_msgpack(root)
columns(root)
others(root)
corpus.groups()
corpus.save()
