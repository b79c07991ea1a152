"""Writes hierarchies as the draft of version 3 of 2022 describes them, and their expected values. README.md has the commands.

No program is known to have written exactly this format, so this script writes documents and chunks by the draft's text.
"""

import gzip
import itertools
import json
import math
import os
import struct
import sys

import numcodecs
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402

corpus = record.Corpus(__file__, "the draft of version 3 of 2022, written by hand")
CODECS = "https://purl.org/zarr/spec/codecs"
SHARDING = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"


def put(root, key, content):
    path = os.path.join(root, key)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else json.dumps(content, indent=4).encode())


def begin(name, extensions=()):
    root = corpus.hierarchy(name)
    put(
        root,
        "zarr.json",
        {
            "zarr_format": "https://purl.org/zarr/spec/core/3.0",
            "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
            "extensions": list(extensions),
        },
    )
    return root


def group(root, path, attributes=None):
    put(root, f"meta/{path}.group.json" if path else "meta/group.json", {"attributes": attributes or {}})


def codec(name, **configuration):
    return {"type": f"{CODECS}/{name}/1.0", "configuration": configuration}


def encode(chunk, layout, codecs):
    """Returns a chunk as bytes. Without the endian codec, numbers are little-endian."""
    if layout == "F":
        chunk = chunk.T
    order = "<"
    for item in codecs or []:
        if "/endian/" in item["type"] and item["configuration"]["endian"] == "big":
            order = ">"
    data = np.ascontiguousarray(chunk).astype(chunk.dtype.newbyteorder(order)).tobytes()
    for item in codecs or []:
        options = item["configuration"]
        if "/gzip/" in item["type"]:
            data = gzip.compress(data, options["level"], mtime=0)
        elif "/blosc/" in item["type"]:
            data = numcodecs.Blosc(**options).encode(np.frombuffer(data, chunk.dtype))
            data = bytes(data)
    return data


def shard(chunks, counts):
    """Returns a shard, given its chunks by their positions: the stored chunks, and then the offset and length of each."""
    content, index = b"", b""
    for position in itertools.product(*map(range, counts)):
        if position in chunks:
            index += struct.pack("<QQ", len(content), len(chunks[position]))
            content += chunks[position]
        else:
            index += struct.pack("<QQ", 2**64 - 1, 2**64 - 1)
    return content + index


def array(
    root,
    path,
    values,
    data_type,
    fill,
    chunks=None,
    layout="C",
    codecs=None,
    separator="/",
    stored=None,
    attributes=None,
    chunks_per_shard=None,
    shown=None,
    fill_element=None,
    **members,
):
    """Writes an array with the chunks in `stored`; all other chunks are missing."""
    values = np.asarray(values)
    chunks = chunks or tuple(max(1, (n + 1) // 2) for n in values.shape)
    document = {
        "shape": list(values.shape),
        "data_type": data_type,
        "chunk_grid": {"type": "regular", "chunk_shape": list(chunks), "separator": separator},
        "chunk_memory_layout": layout,
        "fill_value": fill,
        "extensions": [],
        "attributes": attributes or {},
    } | members
    if codecs is not None:
        document["codecs"] = codecs
    if chunks_per_shard:
        document["storage_transformers"] = [
            {"extension": SHARDING, "type": "indexed", "configuration": {"chunks_per_shard": list(chunks_per_shard)}}
        ]
    put(root, f"meta/{path}.array.json" if path else "meta/array.json", document)
    element = np.zeros((), values.dtype) if fill_element is None else np.asarray(fill_element, values.dtype)
    encoded = {}
    for index in itertools.product(*(range(math.ceil(n / c)) for n, c in zip(values.shape, chunks))):
        if stored is not None and index not in stored:
            continue
        chunk = np.full(chunks, element, values.dtype)
        region = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(index, chunks, values.shape))
        part = values[region]
        chunk[tuple(slice(0, n) for n in part.shape)] = part
        encoded[index] = encode(chunk, layout, codecs)
    if chunks_per_shard:
        shards = {}
        for index, data in encoded.items():
            place = tuple(i // c for i, c in zip(index, chunks_per_shard))
            shards.setdefault(place, {})[tuple(i % c for i, c in zip(index, chunks_per_shard))] = data
        encoded = {place: shard(inside, chunks_per_shard) for place, inside in shards.items()}
    for index, data in encoded.items():
        put(root, f"data/{path}/c".replace("//", "/") + separator.join(map(str, index)), data)
    corpus.raw_array(
        path,
        values.shape,
        values.dtype.itemsize,
        record.packed(values),
        shown or data_type,
        record.packed(element),
        attributes=attributes,
    )


def types():
    root = begin("types.zarr")
    group(root, "")
    array(root, "bool", record.numbers("?", 5), "bool", True, fill_element=True)
    for kind in ["i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4", "f8", "c8", "c16"]:
        values = record.numbers("<" + kind, 9)
        name = values.dtype.name
        fill = {"i": 0, "u": 0, "f": 0.0, "c": [0.0, 0.0]}[kind[0]]
        array(root, name, values, name, fill, chunks=(9,))
        big = [codec("endian", endian="big")]
        array(root, name + "_big", values, name, fill, chunks=(9,), codecs=big)
    array(root, "int64", record.numbers("<i8", 9), "int64", 0)
    array(root, "uint64", record.numbers("<u8", 9), "uint64", 0)
    array(root, "as_in_the_examples", np.array([0.5, -1, 2]), "<f8", "NaN", shown="float64", fill_element=np.nan)
    array(
        root,
        "r24",
        np.array([b"abc", b"\0\1\xff", b"\1\2\3"], "V3"),
        "r24",
        "0x010203",
        chunks=(1,),
        stored=[(0,), (1,)],
        fill_element=np.frombuffer(b"\1\2\3", "V3")[0],
    )
    corpus.groups()


def fills():
    root = begin("fills.zarr")
    inf, nan = float("inf"), float("nan")
    for name, dtype, text, value in [
        ("nan", "<f8", "NaN", nan),
        ("infinity", "<f8", "+Infinity", inf),
        ("negative_infinity", "<f4", "-Infinity", -inf),
        ("number", "<f4", 0.1, 0.1),
        ("negative", "<i2", -7, -7),
        ("true", "?", True, True),
        ("large", "<u4", 2**32 - 1, 2**32 - 1),
        ("hex_float", "<f4", "0x3fc00000", 1.5),
        ("hex_int", "<i2", "0xfffe", -2),
        ("hex_uint", "<u4", "0x00000100", 256),
        ("hex_double", "<f8", "0xbff8000000000000", -1.5),
        ("binary_uint", "|u1", "0b10000001", 129),
        ("binary_half", "<f2", "0b0011111000000000", 1.5),
        ("complex", "<c8", [1.5, "NaN"], complex(1.5, nan)),
    ]:
        dtype = np.dtype(dtype)
        values = np.array([1, value], dtype)
        array(root, name, values, dtype.name, text, chunks=(1,), stored=[(0,)], fill_element=values[1])
    payload = np.array([0x7FC00001], "<u4").view("<f4")[0]
    array(
        root,
        "nan_payload",
        np.array([1, payload], "<f4"),
        "float32",
        "0x7fc00001",
        chunks=(1,),
        stored=[(0,)],
        fill_element=payload,
    )
    corpus.groups()


def layouts():
    root = begin("layouts.zarr")
    cube = np.arange(60, dtype="<i2").reshape(3, 4, 5)
    little, big = codec("endian", endian="little"), codec("endian", endian="big")
    blosc = codec("blosc", cname="lz4", clevel=5, shuffle=1, blocksize=0)
    for layout in "CF":
        for name, codecs in [
            ("plain", None),
            ("none", []),
            ("gzip", [codec("gzip", level=1)]),
            ("blosc", [blosc]),
            ("little", [little]),
            ("big_gzip", [big, codec("gzip", level=9)]),
            ("gzip_twice", [codec("gzip", level=1)] * 2),
        ]:
            array(
                root,
                f"{layout}_{name}",
                cube,
                "int16",
                7,
                chunks=(2, 4, 3),
                layout=layout,
                codecs=codecs,
                fill_element=7,
            )
        array(root, f"{layout}_dots", cube, "int16", 7, chunks=(2, 4, 3), layout=layout, separator=".", fill_element=7)
    for cname in ["blosclz", "lz4hc", "zlib", "zstd"]:
        for shuffle in [0, 1, 2]:
            array(
                root,
                f"blosc_{cname}_{shuffle}",
                np.arange(64, dtype="<i4"),
                "int32",
                0,
                chunks=(64,),
                codecs=[codec("blosc", cname=cname, clevel=5, shuffle=shuffle, blocksize=0)],
            )
    array(root, "scalar", np.array(42, "<i4"), "int32", 0)
    array(root, "scalar_missing", np.array(42, "<i4"), "int32", 42, stored=[], fill_element=42)
    array(root, "line", np.arange(7, dtype="<u2"), "uint16", 0, chunks=(3,))
    array(root, "beyond", np.arange(6, dtype="<u2").reshape(2, 3), "uint16", 9, chunks=(5, 7), fill_element=9)
    array(root, "empty", np.zeros((0, 3), "<i4"), "int32", 0, chunks=(1, 2))
    sparse = np.full((4, 6), -1, "<i4")
    sparse[2:, 4:] = [[1, 2], [3, 4]]
    array(root, "sparse", sparse, "int32", -1, chunks=(2, 2), stored=[(1, 2)], fill_element=-1, layout="F")
    corpus.groups()


def sharded():
    root = begin("sharded.zarr")
    grid = np.arange(35, dtype="<i4").reshape(5, 7)
    for name, options in [
        ("C", {}),
        ("F", {"layout": "F"}),
        ("gzip", {"codecs": [codec("gzip", level=1)]}),
        ("dots", {"separator": "."}),
        ("big", {"codecs": [codec("endian", endian="big")]}),
    ]:
        array(root, name, grid, "int32", 0, chunks=(2, 2), chunks_per_shard=(2, 2), **options)
    array(root, "one_per_shard", grid, "int32", 0, chunks=(3, 4), chunks_per_shard=(1, 1))
    sparse = np.full((8, 8), 3, "<u2")
    sparse[2:4, 2:4] = 9
    array(root, "sparse", sparse, "uint16", 3, chunks=(2, 2), chunks_per_shard=(2, 2), stored=[(1, 1)], fill_element=3)
    array(root, "no_transformers", grid, "int32", 0, storage_transformers=[])
    corpus.groups()


def extensions():
    optional = {
        "extension": "http://example.org/zarr/extension/foo",
        "must_understand": False,
        "configuration": {"foo": "bar"},
    }
    root = begin("extensions.zarr", [optional])
    values = np.array([1, -2, 3], "<i8")
    times = "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0"
    odd = "http://example.org/zarr/extension/odd-types"
    array(root, "fallback_of_times", values, {"extension": times, "type": "<M8[ns]", "fallback": "int64"}, 0)
    corpus.current["fallback_of_times"]["data_type"] = None  # An implementation with the extension uses the type itself.
    array(root, "fallback", values, {"extension": odd, "type": "odd", "fallback": "int64"}, 0, shown="int64")
    array(
        root,
        "fallback_list",
        values,
        {"extension": odd, "type": "odd", "fallback": ["strange", "int64", "r64"]},
        0,
        shown="int64",
    )
    array(
        root,
        "fallback_raw",
        np.array([b"abc", b"\0\1\xff"], "V3"),
        {"extension": odd, "type": "odd", "fallback": "r24"},
        "0x000000",
        shown="r24",
    )
    array(root, "extension_optional", values, "int64", 0, extensions=[optional])
    array(root, "no_fallback", values, {"extension": odd, "type": "odd"}, 0)
    array(root, "unknown_fallback", values, {"extension": odd, "type": "odd", "fallback": "strange"}, 0)
    array(root, "unknown_codec", values, "int64", 0, codecs=[codec("jpeg")])
    array(root, "unknown_grid", values, "int64", 0, chunk_grid={"extension": odd, "type": "hexagonal"})
    array(root, "unknown_layout", values, "int64", 0, chunk_memory_layout={"extension": odd, "type": "spiral"})
    array(
        root, "unknown_transformer", values, "int64", 0, storage_transformers=[{"extension": odd, "type": "shuffled"}]
    )
    for name, says in [
        ("no_fallback", "odd"),
        ("unknown_fallback", "odd"),
        ("unknown_codec", "jpeg"),
        ("unknown_grid", "hexagonal"),
        ("unknown_layout", "spiral"),
        ("unknown_transformer", "shuffled"),
    ]:
        del corpus.current[name]
        corpus.refused(name, says)
    corpus.groups()

    root = begin("must_understand.zarr", [optional | {"must_understand": True}])
    group(root, "")
    corpus.refused("", "http://example.org/zarr/extension/foo")


def nodes():
    root = begin("nodes.zarr")
    attributes = {"title": "café 🧊", "nested": {"a": [None, True]}, "n": [1, 2.5]}
    group(root, "", attributes)
    group(root, "foo/bar", {"spam": "ham", "eggs": 42})
    group(root, "empty")
    array(root, "foo/baz/qux", np.arange(4, dtype="<i4"), "int32", 0, attributes={"units": "m"})
    array(root, "foo/bar/deep", np.arange(6, dtype="<f4").reshape(2, 3), "float32", 0.0)
    corpus.groups({"": attributes, "foo/bar": {"spam": "ham", "eggs": 42}}, empty=["empty"])

    # No group has a document.
    root = begin("implicit.zarr")
    array(root, "a/b/c", np.arange(4, dtype="<i4"), "int32", 0)
    corpus.groups()

    # The root is an array.
    root = begin("root_array.zarr")
    array(root, "", np.arange(6, dtype="<i4").reshape(2, 3), "int32", 0, attributes={"alone": True})


for make in [types, fills, layouts, sharded, extensions, nodes]:
    make()
corpus.save()
