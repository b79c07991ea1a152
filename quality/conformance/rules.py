"""The actions that an implementation does not support, and the reasons.

The rules are fixed before anything runs. All cells without a rule must work: an implementation that raises an error in a cell fails
that cell.

A rule contains the implementations, the actions (`write`, `read` and `update`) that it excludes, and the cells from which it excludes
them. A rule about `attributes` keeps the cell and excludes only attributes that the implementation would have had to write.
"""

ALL = ("write", "read", "update")


def codecs(cell):
    """Yields all codecs of a v3 cell, including those inside shards, as pairs (codec, depth)."""

    def walk(chain, depth):
        for codec in chain:
            yield codec, depth
            yield from walk(codec.get("configuration", {}).get("codecs", []), depth + 1)

    return list(walk(cell.get("codecs", []), 0))


def names(cell):
    return {codec["name"] for codec, _ in codecs(cell)}


def is_array(cell):
    return not cell.get("group")


def is_blosc(cell, cname):
    v2 = (cell.get("compressor") or {}).get("cname") == cname
    return v2 or any(codec.get("configuration", {}).get("cname") == cname for codec, _ in codecs(cell))


def inner_does_not_divide(cell):
    """Returns true if the inner chunk of a transposed shard would not divide the shard before the transposition."""
    chain = cell.get("codecs", [])
    return [codec["name"] for codec in chain[:2]] == ["transpose", "sharding_indexed"] and any(
        outer % inner for outer, inner in zip(cell["chunks"], chain[1]["configuration"]["chunk_shape"])
    )


def numpy(cell):
    """Returns NumPy's name of the data type."""
    return cell.get("numpy", "")


def is_n5(cell):
    return cell["id"].startswith("n5")


def is_raw_n5(cell):
    return cell.get("compression", {}).get("type") == "raw"


def is_small(cell):
    return numpy(cell) in ("bfloat16", "int2", "int4") or numpy(cell).startswith(("float8", "float4"))


def elements(cell):
    """Returns the kind of elements of variable length; None for all others."""
    return cell.get("elements")


def is_structure(cell):
    return "dtype" in cell


def structure(cell):
    """Returns the name of the structured type."""
    return cell["axes"]["type"].split()[0] if is_structure(cell) else ""


def type_of(cell):
    """Returns the name of the data type in the matrix."""
    return cell["axes"]["type"].split()[0] if is_array(cell) else ""


def in_columns_with(id):
    """Creates a test for cells about codecs of v2, in order F, with this codec."""
    return lambda cell: cell.get("order") == "F" and id in cell.get("needs", ())


def is_transposed(cell):
    return any(codec["name"] == "transpose" for codec, _ in codecs(cell))


def is_experimental(cell):
    return cell.get("experimental", False)


def updates(kind):
    return lambda cell: any(step["op"] == kind for step in cell["update"])


def is_one_string_of_bytes(cell):
    return elements(cell) == "bytes" and not cell["shape"]


def is_compressed_flat_structure(cell):
    compressor = cell.get("compressor") or {}
    return structure(cell) == "flat" and cell["format"] == 2 and compressor.get("id") == "blosc"


def writes(steps):
    return any(step["op"] in ("write", "fill") for step in steps)


def nests_turned_lists(cell):
    """Returns true if the array has order F, and its elements are objects in nested lists."""
    return elements(cell) == "json" and cell["order"] == "F" and len(cell["shape"]) > 1


RULES = [
    (
        "zarrox",
        ("write",),
        nests_turned_lists,
        "stores order C for objects, since their nested lists have the order of the axes in any case",
    ),
    (
        "zarr-python 2",
        ALL,
        lambda cell: elements(cell) == "bytes" and cell["fill_value"] is not None,
        "does not support fill values of bytes",
    ),
    (
        "zarr-python 2",
        ("read", "update"),
        nests_turned_lists,
        "reads the objects of an array in order F in the wrong order",
    ),
    (
        "zarr-python 2",
        ("write",),
        lambda cell: nests_turned_lists(cell) and len(cell["steps"]) > 1,
        "reads the objects of an array in order F in the wrong order",
    ),
    (
        "zarr-python 2",
        ("write",),
        lambda cell: structure(cell) == "padded" and any(step["op"] == "resize" for step in cell["steps"]),
        "treats padding as fields when it resizes an array",
    ),
    (
        "zarr-python 2",
        ("update",),
        lambda cell: structure(cell) == "padded" and updates("resize")(cell),
        "treats padding as fields when it resizes an array",
    ),
    ("zarr-python 3", ALL, lambda cell: cell["format"] == 1, "does not support v1"),
    ("tensorstore", ALL, lambda cell: cell["format"] == 1, "does not support v1"),
    ("zarr-python 2", ("write", "update"), lambda cell: cell["format"] == 1, "migrates v1 to v2, and does not write v1"),
    (
        "zarr-python 2",
        ("read",),
        lambda cell: cell["format"] == 1 and isinstance(cell["fill_value"], (str, list)),
        "does not migrate fill values that are not numbers in JSON",
    ),
    ("zarr-python 3", ALL, is_experimental, "does not support the experimental v3"),
    ("tensorstore", ALL, is_experimental, "does not support the experimental v3"),
    (
        "zarr-python 2",
        ("write",),
        lambda cell: is_experimental(cell) and cell.get("data_type") == "r40",
        "writes raw bytes as a structured data type in its experimental v3",
    ),
    (
        "zarr-python 2",
        ("write",),
        lambda cell: cell.get("inner_chunks") and any(step["op"] == "resize" for step in cell["steps"]),
        "drops the shards of its experimental v3 when it resizes an array",
    ),
    ("zarr-python 3", ALL, is_n5, "does not support N5"),
    (
        "zarr-python 2",
        ("write",),
        lambda cell: is_raw_n5(cell) and any(step["op"] == "resize" for step in cell["steps"]),
        "cannot resize an uncompressed array of N5",
    ),
    (
        "zarr-python 2",
        ("update",),
        lambda cell: cell.get("inner_chunks") and updates("resize")(cell),
        "drops the shards of its experimental v3 when it resizes an array",
    ),
    (
        "zarr-python 2",
        ("update",),
        lambda cell: is_raw_n5(cell) and updates("resize")(cell),
        "cannot resize an uncompressed array of N5",
    ),
    (
        "zarr-python 3",
        ALL,
        is_small,
        "does not support numbers that NumPy does not have: integers below 8 bits, floats below 16 bits, bfloat16",
    ),
    ("zarr-python 2", ALL, lambda cell: cell["format"] == 3, "does not support the final v3"),
    (
        "zarr-python 2",
        ALL,
        lambda cell: is_blosc(cell, "snappy"),
        "has no Snappy, since the wheels of numcodecs are built without it",
    ),
    (
        "zarr-python 2",
        ("write",),
        lambda cell: is_array(cell) and not cell["shape"] and cell.get("compressor"),
        "never compresses an array without dimensions",
    ),
    (
        "zarr-python 3",
        ALL,
        lambda cell: is_blosc(cell, "snappy"),
        "has no Snappy, since the wheels of numcodecs are built without it",
    ),
    (
        "zarr-python 3",
        ALL,
        lambda cell: cell["format"] == 3 and cell.get("data_type") == "r40",
        "has a data type of its own instead of raw bits in v3",
    ),
    (
        "zarr-python 3",
        ALL,
        inner_does_not_divide,
        "compares the inner chunk of a transposed shard with the shape before the transposition",
    ),
    (
        "zarr-python 3",
        ALL,
        lambda cell: elements(cell) in ("json", "array", "labels"),
        "supports only text and bytes as objects, and text only with the codec vlen-utf8",
    ),
    (
        "zarr-python 3",
        ALL,
        lambda cell: structure(cell) == "arrays",
        "does not support fields that are arrays",
    ),
    (
        "zarr-python 3",
        ALL,
        lambda cell: elements(cell) == "bytes" and cell["fill_value"] == "AA==",
        "drops the zeros at the end of a fill value of bytes",
    ),
    (
        "zarr-python 3",
        ("write",),
        lambda cell: is_one_string_of_bytes(cell) and writes(cell["steps"]),
        "cannot write bytes to an array without dimensions a second time",
    ),
    (
        "zarr-python 3",
        ("update",),
        lambda cell: is_one_string_of_bytes(cell) and writes(cell["update"]),
        "cannot write bytes to an array without dimensions a second time",
    ),
    (
        "zarr-python 3",
        ("write",),
        lambda cell: is_compressed_flat_structure(cell) and writes(cell["steps"]),
        "cannot compress structured data types with times by Blosc in v2",
    ),
    (
        "zarr-python 3",
        ("update",),
        lambda cell: is_compressed_flat_structure(cell) and writes(cell["update"]),
        "cannot compress structured data types with times by Blosc in v2",
    ),
    (
        "zarr-python 3",
        ("write",),
        lambda cell: structure(cell) == "padded",
        "stores structured data types without their padding",
    ),
    ("tensorstore", ALL, lambda cell: "grid" in cell, "does not support rectilinear chunk grids"),
    ("tensorstore", ALL, elements, "does not support elements of variable length"),
    (
        "tensorstore",
        ALL,
        lambda cell: is_structure(cell) and structure(cell) != "numbers",
        "supports only structured data types of numbers, without padding",
    ),
    (
        "tensorstore",
        ALL,
        lambda cell: numpy(cell) == "float8_e8m0fnu" and cell["fill_value"] != "NaN",
        "reads a numeric fill value of float8_e8m0fnu as the bits of another number",
    ),
    ("tensorstore", ALL, lambda cell: cell.get("group"), "does not support groups"),
    (
        "tensorstore",
        ("attributes",),
        lambda cell: cell["format"] == 2 and is_array(cell) and cell["attributes"],
        "does not support attributes in v2",
    ),
    ("tensorstore", ALL, lambda cell: cell.get("filters"), "does not support filters in v2"),
    (
        "tensorstore",
        ALL,
        lambda cell: not is_n5(cell)
        and (
            (cell.get("compressor") or {}).get("id") in ("lz4", "lzma")
            or any(name.startswith("numcodecs.") for name in names(cell))
        ),
        "does not support the other codecs of numcodecs",
    ),
    (
        "tensorstore",
        ALL,
        lambda cell: [codec["name"] for codec in cell.get("codecs", [])] == ["sharding_indexed", "gzip"],
        "rejects a compressor after sharding_indexed",
    ),
    (
        "tensorstore",
        ALL,
        lambda cell: cell["format"] == 3 and cell.get("data_type") == "r40",
        "rejects the fill value of raw bits in the form of the specification, and aborts when it creates arrays of raw bits",
    ),
    (
        "tensorstore",
        ALL,
        lambda cell: numpy(cell)[:1] in ("U", "M", "m") or (cell["format"] == 3 and numpy(cell) in ("S5", "V5")),
        "does not support text, times, and byte strings of v3",
    ),
    (
        "tensorstore",
        ("read",),
        lambda cell: cell["format"] == 2 and numpy(cell) in ("S5", "V5"),
        "returns raw bytes in Python as elements of size 0",
    ),
    ("tensorstore", ("update",), updates("attributes"), "does not change attributes"),
    ("zarrs", ALL, lambda cell: cell["format"] != 3, "is tested only with the final v3"),
    *[
        (implementation, ("write", "update"), in_columns_with(id), reason)
        for implementation in ("zarr-python 2", "zarr-python 3")
        for id, reason in [
            ("zfpy", "supports zfpy only in order C"),
            ("bitround", "changes the order of the numbers of an array in order F when it rounds them"),
        ]
    ],
    ("zarrs", ALL, is_structure, "does not support structured data types"),
    (
        "zarrs",
        ("update",),
        lambda cell: type_of(cell) == "fixed_length_utf32" and not cell["shape"] and cell["fill_value"] == "ß",
        "does not pad the text fill value of an array without dimensions",
    ),
    (
        "zarrs",
        ALL,
        lambda cell: type_of(cell) in ("raw_bytes", "null_terminated_bytes", "float8_e4m3fn"),
        "does not support the data type",
    ),
    ("zarrs", ALL, lambda cell: names(cell) & {"numcodecs.lz4", "numcodecs.lzma"}, "does not support lz4 and lzma"),
    ("zarrs", ALL, lambda cell: is_transposed(cell) and not cell["shape"], "cannot transpose an array without dimensions"),
    (
        "zarrs",
        ALL,
        lambda cell: is_transposed(cell) and elements(cell),
        "confuses the shapes of transposed arrays with elements of variable length",
    ),
    (
        "zarrs",
        ALL,
        lambda cell: elements(cell) == "bytes" and cell["fill_value"] == "AA==",
        "treats a chunk of empty elements and fill values as a chunk with only fill values",
    ),
]


# For each implementation, the codecs of v3 that it supports among those that cells need.
COMMON = {"blosc", "bytes", "crc32c", "gzip", "sharding_indexed", "transpose", "vlen-bytes", "vlen-utf8", "zstd"}
V3_CODECS = {
    "zarr-python 3": COMMON
    | {"cast_value", "scale_offset"}
    | {
        "numcodecs." + id
        for id in (
            "adler32", "astype", "bitround", "crc32", "delta", "fixedscaleoffset", "fletcher32", "jenkins_lookup3",
            "packbits", "pcodec", "quantize", "shuffle", "zfpy", "zlib",
        )
    },
    "zarrs": COMMON
    | {"bitround", "packbits", "reshape", "zarrs.gdeflate", "zarrs.squeeze", "zarrs.vlen", "zarrs.vlen_v2", "zfp"}
    | {"numcodecs." + id for id in ("adler32", "fixedscaleoffset", "fletcher32", "pcodec", "shuffle", "zfpy", "zlib")},
}


def lacking(implementation):
    """Creates a test for cells that need a codec that an implementation does not support."""

    def lacks(cell):
        if cell["format"] == 2:
            return "needs" in cell and implementation in ("tensorstore", "zarrs")
        return bool(set(cell.get("needs", ())) - V3_CODECS.get(implementation, COMMON))

    return lacks


RULES += [
    (implementation, ALL, lacking(implementation), "does not support one of the codecs")
    for implementation in ("zarr-python 3", "tensorstore", "zarrs")
]


def unknown_codecs(cell, known):
    """Returns the reasons for all implementations, by action, if the cell needs a codec that Zarrox does not support."""
    needs = set(cell.get("needs", ()))
    unknown = sorted(needs - set(known["v2" if cell["format"] == 2 else "v3"]))
    implementations = {implementation for implementation, *_ in RULES} | {"zarrox"}
    if not unknown:
        return {}
    return {each: dict.fromkeys(ALL, f"Zarrox does not support the codec {unknown[0]} yet") for each in implementations}


def not_applicable(cell):
    """Returns the reasons by implementation and action; empty for a cell that all implementations support."""
    reasons = {}
    for implementation, actions, applies, reason in RULES:
        if applies(cell):
            for action in actions:
                reasons.setdefault(implementation, {}).setdefault(action, reason)
    return reasons
