//! Cases that cannot be opened yet, and cases that strict reading refuses.

/// The names of codecs that are not supported yet. An array with one of them may be refused; the line is removed once the codec
/// is supported.
pub(crate) const CODECS: &[&str] = &["zarrs.gdeflate"];

/// A case, or a path above several cases, or a common prefix of cases and `*`; and the reason why it cannot be opened yet. The
/// test fails if a case of this list opens, so that its entry is removed. Wrong values are never pending.
pub(crate) const PENDING: &[(&str, &str)] = &[];

const FILL_CLAMPED: &str = "the fill value is clamped to another one, which zarr-python takes";
pub(crate) const THREE_DIMENSIONS: &str = "zarrs computes the rate of zfp as if there were three dimensions";
const NOT_JSON: &str = "the attributes have NaN and Infinity, which JSON has not";
const NUMCODECS: &str = "the codec has a name of its own in version 3";
const NULL_MEMBER: &str = "zarr-python 3.0 and 3.1 wrote \"consolidated_metadata\": null";
const NAMES_IN_V2: &str = "version 2 has no such data type";

/// Cases that only lenient reading accepts, and the reason, in the form of [`PENDING`]: strict reading must refuse these cases,
/// and no others.
pub(crate) const LENIENT: &[(&str, &str)] = &[
    ("zarr-python/1.1/columns_bz2.zarr", "zarr-python 1 wrote rows, and \"order\": \"F\""),
    ("zarr-python/1.1/columns_none.zarr", "zarr-python 1 wrote rows, and \"order\": \"F\""),
    ("zarr-python/1.1/columns_zlib.zarr", "zarr-python 1 wrote rows, and \"order\": \"F\""),
    ("zarr-python/1.1/fill_infinity.zarr", "the fill value is a number that JSON has not"),
    ("zarr-python/1.1/fill_nan.zarr", "the fill value is a number that JSON has not"),
    ("zarr-python/1.1/fill_one.zarr", "the fill value of booleans is 1"),
    ("zarr-python/2.11/nodes.zarr/odd", NOT_JSON),
    ("zarr-python/3.0/v3.zarr", NULL_MEMBER),
    ("zarr-python/3.1/structured.zarr", NULL_MEMBER),
    ("zarr-python/3.4/numcodecs.zarr/blosc", NUMCODECS),
    ("zarr-python/3.4/numcodecs.zarr/crc32c", NUMCODECS),
    ("zarr-python/3.4/numcodecs.zarr/gzip", NUMCODECS),
    ("zarr-python/3.4/numcodecs.zarr/zstd", NUMCODECS),
    ("zarr-python/3.4/odd.zarr", NOT_JSON),
    ("tensorstore/raw.zarr/r*", "the fill value of raw bits is base64, not a list"),
    ("tensorstore/v2.zarr/bfloat16", NAMES_IN_V2),
    ("tensorstore/v2.zarr/float*", NAMES_IN_V2),
    ("tensorstore/v2.zarr/int2", NAMES_IN_V2),
    ("tensorstore/v2.zarr/int4", NAMES_IN_V2),
    ("casts/scale_offset.zarr/then_cast", FILL_CLAMPED),
    ("casts/scale_offset.zarr/in_shards", FILL_CLAMPED),
    ("zarrs/numeric.zarr/zfp_rate_f4_1d", THREE_DIMENSIONS),
    ("zarrs/numeric.zarr/zfp_rate_f4_2d", THREE_DIMENSIONS),
    ("zarrs/numeric.zarr/zfp_rate_f4_4d", THREE_DIMENSIONS),
    ("zarrs/numeric.zarr/zfp_rate_f8_1d", THREE_DIMENSIONS),
    ("zarrs/numeric.zarr/zfp_rate_f8_2d", THREE_DIMENSIONS),
    ("zarrs/numeric.zarr/zfp_rate_f8_4d", THREE_DIMENSIONS),
    ("numcodecs/0.15-v3/*", NULL_MEMBER),
    ("numcodecs/0.16-v3/*", NULL_MEMBER),
    ("zarr-python/3.4/numcodecs.zarr/lzma", "the configuration lacks what is numcodecs' default"),
];

/// A writer, and the text of the error with which strict reading refuses some of its arrays: a case that is refused with this
/// error, and only by strict reading, is correct. Every entry must have such a case.
pub(crate) const STRICTLY: &[(&str, &str)] = &[
    ("numcodecs/0.17-v3", "is an alias of the codec"),
    // Defaults of numcodecs may be left out.
    ("numcodecs/0.17-v3", "the configuration lacks"),
];
