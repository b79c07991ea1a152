//! What cannot be opened: yet, and strictly.

const DRAFT: &str = "the draft of version 3 of 2022 is not among the formats yet";
const EXPERIMENTAL: &str = "zarr-python's experimental version 3 is not among the formats yet";
const STRUCTURES: &str = "structures are not among the data types yet";
const TEXT: &str = "text of any length is not among the data types yet";
const BYTES: &str = "bytes of any length are not among the data types yet";
const RAGGED: &str = "ragged arrays are not among the data types yet";
const OBJECTS: &str = "objects are not among the data types yet";
const PICKLE: &str = "it is refused, but not yet because of the pickles in it";
const CATEGORIES: &str = "'categorize' is not among the codecs yet";
const LZMA: &str = "'lzma' is not among the codecs yet";
const CASTS: &str = "'scale_offset' and 'cast_value' are not among the codecs yet";
const RECTILINEAR: &str = "'rectilinear' is not among the chunk grids yet";
const SMALL: &str = "this type is not among the small numbers yet";

/// A case, or something above many cases, or the beginning of many and `*`; and why it cannot be opened yet. A case of
/// this list that opens is a failure of the test, so that its entry is removed; that something is read wrongly is never
/// pending.
pub(crate) const PENDING: &[(&str, &str)] = &[
    ("zarr-1.1/lzma_*", LZMA),
    ("zarr-1.1/type_struct.zarr", STRUCTURES),
    ("zarr-1.1/type_struct_nested.zarr", STRUCTURES),
    ("zarr-2.2/objects.zarr", OBJECTS),
    ("zarr-2.11/bytes.zarr", BYTES),
    ("zarr-2.11/categories.zarr", CATEGORIES),
    ("zarr-2.11/compressors.zarr/lzma*", LZMA),
    ("zarr-2.11/objects.zarr", OBJECTS),
    ("zarr-2.11/unsafe.zarr/among_filters", PICKLE),
    ("zarr-2.11/unsafe.zarr/compressor_of_objects", PICKLE),
    ("zarr-2.11/unsafe.zarr/object_codec", PICKLE),
    ("zarr-2.11/ragged.zarr", RAGGED),
    ("zarr-2.11/structured.zarr", STRUCTURES),
    ("zarr-2.11/text.zarr", TEXT),
    ("zarr-2.18/codecs.zarr/lzma", LZMA),
    ("zarr-2.18/objects.zarr/bytes*", BYTES),
    ("zarr-2.18/objects.zarr/categories", CATEGORIES),
    ("zarr-2.18/objects.zarr/json2*", OBJECTS),
    ("zarr-2.18/objects.zarr/msgpack2*", OBJECTS),
    ("zarr-2.18/objects.zarr/unsafe", PICKLE),
    ("zarr-2.18/objects.zarr/ragged*", RAGGED),
    ("zarr-2.18/objects.zarr/utf8*", TEXT),
    ("zarr-2.18/types.zarr/struct*", STRUCTURES),
    ("zarr-2.18-experimental", EXPERIMENTAL),
    ("zarr-3.0/v3.zarr/bytes*", BYTES),
    ("zarr-3.0/v3.zarr/string*", TEXT),
    ("zarr-3.1/structured.zarr", STRUCTURES),
    ("zarr-3.4/casts.zarr", CASTS),
    ("zarr-3.4/grids.zarr/rectilinear*", RECTILINEAR),
    ("zarr-3.4/numcodecs.zarr/lzma", LZMA),
    ("zarr-3.4/structured.zarr", STRUCTURES),
    ("zarr-3.4/v2_codecs.zarr/lzma", LZMA),
    ("zarr-3.4/v2_types.zarr/struct*", STRUCTURES),
    ("zarr-3.4/v2_variable.zarr/bytes*", BYTES),
    ("zarr-3.4/v2_variable.zarr/utf8*", TEXT),
    ("zarr-3.4/variable.zarr/bytes*", BYTES),
    ("zarr-3.4/variable.zarr/utf8*", TEXT),
    ("tensorstore/raw.zarr/struct*", STRUCTURES),
    ("tensorstore/types.zarr/float8_e8m0fnu", SMALL),
    ("tensorstore/types.zarr/int2*", SMALL),
    ("tensorstore/types.zarr/int4*", SMALL),
    ("tensorstore/v2.zarr/float8_e8m0fnu", SMALL),
    ("tensorstore/v2.zarr/int2", SMALL),
    ("tensorstore/v2.zarr/int4", SMALL),
    ("tensorstore/v2.zarr/struct*", STRUCTURES),
    ("draft", DRAFT),
];

const NOT_JSON: &str = "the attributes have NaN and Infinity, which JSON has not";
const NUMCODECS: &str = "the codec has a name of its own in version 3";
const NULL_MEMBER: &str = "zarr-python 3.0 and 3.1 wrote \"consolidated_metadata\": null";
const NAMES_IN_V2: &str = "version 2 has no such data type";

/// As [`PENDING`], but what only lenient reading takes, and why: strict reading must refuse it, and nothing else.
pub(crate) const LENIENT: &[(&str, &str)] = &[
    ("zarr-1.1/columns_bz2.zarr", "zarr-python 1 wrote rows, and \"order\": \"F\""),
    ("zarr-1.1/columns_none.zarr", "zarr-python 1 wrote rows, and \"order\": \"F\""),
    ("zarr-1.1/columns_zlib.zarr", "zarr-python 1 wrote rows, and \"order\": \"F\""),
    ("zarr-1.1/fill_one.zarr", "the fill value of booleans is 1"),
    ("zarr-2.11/nodes.zarr/odd", NOT_JSON),
    ("zarr-3.0/v3.zarr", NULL_MEMBER),
    ("zarr-3.1/structured.zarr", NULL_MEMBER),
    ("zarr-3.4/numcodecs.zarr/blosc", NUMCODECS),
    ("zarr-3.4/numcodecs.zarr/crc32c", NUMCODECS),
    ("zarr-3.4/numcodecs.zarr/gzip", NUMCODECS),
    ("zarr-3.4/numcodecs.zarr/zstd", NUMCODECS),
    ("zarr-3.4/odd.zarr", NOT_JSON),
    ("tensorstore/v2.zarr/bfloat16", NAMES_IN_V2),
    ("tensorstore/v2.zarr/float*", NAMES_IN_V2),
];
