//! At least one example of each codec: the basis of fuzzing, the suite of bad input and generated tables.
//!
//! A new codec is one line in [`EXAMPLES`]; a test of the codecs' crate requires it.

use zarrox_core::codec::{ChunkSpec, CodecContext, CodecKind};
use zarrox_core::json::{Json, parse};
use zarrox_core::{CodecChain, CodecSpec, DataType, Error, ErrorKind, Registry, Result, Strictness};

/// A codec, and a kind of chunk for it.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The codec's name in v3.
    pub codec: &'static str,
    /// The type of the chunk's elements: its name in v3, or JSON if it has a configuration; for types without a name in v3, this
    /// implementation's name.
    pub data_type: &'static str,
    /// The shape of the chunk.
    pub shape: &'static [u64],
    /// The codec's configuration, as JSON.
    pub configuration: &'static str,
    /// The codecs that precede the codec, as a JSON list; by default, those that a codec of this kind needs.
    pub before: Option<&'static str>,
    /// The codecs that follow the codec, in the same form.
    pub behind: Option<&'static str>,
}

const fn example(
    codec: &'static str,
    data_type: &'static str,
    shape: &'static [u64],
    configuration: &'static str,
) -> Example {
    Example { codec, data_type, shape, configuration, before: None, behind: None }
}

/// All examples: at least one of each codec, except `pickle`, which is never decoded.
#[rustfmt::skip]
pub static EXAMPLES: &[Example] = &[
    // Arrays to arrays.
    example("transpose", "int16", &[3, 4, 5], r#"{"order": [2, 0, 1]}"#),
    example("numcodecs.categorize", "string", &[24], r#"{"labels": ["a", "bc", "def"], "dtype": "|O", "astype": "|u1"}"#),
    example("numcodecs.categorize", r#"{"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}"#, &[4, 6], r#"{"labels": ["a", "bc"], "dtype": "<U3", "astype": "<u2"}"#),
    example("reshape", "int16", &[4, 3, 5], r#"{"shape": [[0, 1], -1]}"#),
    example("reshape", "string", &[24], r#"{"shape": [4, 6]}"#).behind(r#"["vlen-utf8"]"#),
    example("zarrs.squeeze", "int16", &[1, 6, 1, 4], "{}"),
    example("numcodecs.bitround", "float32", &[40], r#"{"keepbits": 5}"#),
    example("numcodecs.bitround", "uint8", &[40], r#"{"keepbits": 3}"#),
    example("bitround", "float32", &[40], r#"{"keepbits": 5}"#),
    example("numcodecs.delta", "int32", &[4, 10], r#"{"dtype": "<i4", "astype": "<i4"}"#),
    example("numcodecs.delta", "float64", &[40], r#"{"dtype": "<f8", "astype": "<f8"}"#),
    example("numcodecs.astype", "float64", &[40], r#"{"encode_dtype": "<f4", "decode_dtype": "<f8"}"#),
    example("numcodecs.fixedscaleoffset", "float32", &[40], r#"{"scale": 10, "offset": 5, "dtype": "<f4", "astype": "<i2"}"#),
    example("numcodecs.quantize", "float64", &[40], r#"{"digits": 2, "dtype": "<f8", "astype": "<f4"}"#),
    example("numcodecs.packbits", "bool", &[5, 9], "{}").behind(r#"["bytes"]"#),
    example("cast_value", "float64", &[40], r#"{"data_type": "int16", "rounding": "towards-zero", "out_of_range": "clamp", "scalar_map": {"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}}"#),
    example("cast_value", "uint8", &[5, 8], r#"{"data_type": "float16"}"#),
    example("scale_offset", "float32", &[40], r#"{"offset": 5, "scale": 0.1}"#),
    // Arrays to bytes.
    example("bytes", "uint32", &[5, 7], r#"{"endian": "big"}"#),
    example("bytes", "complex128", &[9], r#"{"endian": "little"}"#),
    example("bytes", r#"{"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "uint8"}, {"name": "b", "data_type": "float64"}]}}"#, &[11], r#"{"endian": "big"}"#),
    example("sharding_indexed", "uint16", &[4, 6], r#"{"chunk_shape": [2, 3], "codecs": ["bytes"], "index_codecs": ["bytes"], "index_location": "end"}"#),
    example("sharding_indexed", "uint16", &[4, 6], r#"{"chunk_shape": [2, 3], "codecs": ["bytes", "crc32c"], "index_codecs": ["bytes", "crc32c"], "index_location": "start"}"#),
    example("sharding_indexed", "uint8", &[8, 8], r#"{"chunk_shape": [4, 4], "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 1], "codecs": ["bytes", "numcodecs.zlib"], "index_codecs": ["bytes"]}}], "index_codecs": ["bytes"]}"#),
    example("sharding_indexed", "string", &[12], r#"{"chunk_shape": [3], "codecs": ["vlen-utf8", "zstd"], "index_codecs": ["bytes"]}"#),
    example("vlen-utf8", "string", &[3, 5], "{}"),
    example("vlen-bytes", "bytes", &[15], "{}"),
    example("numcodecs.vlen-array", "vlen_array", &[7], r#"{"dtype": ">i4"}"#),
    example("numcodecs.json2", "object", &[2, 5], "{}"),
    example("numcodecs.json", "object", &[10], "{}"),
    example("numcodecs.msgpack2", "object", &[2, 5], "{}"),
    example("numcodecs.msgpack", "object", &[10], "{}"),
    example("n5_default", "int32", &[4, 6], r#"{"codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]}"#),
    example("n5_default", "uint8", &[4, 6], r#"{"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes", "gzip"]}"#),
    example("packbits", "bool", &[5, 9], r#"{"padding_encoding": "first_byte"}"#),
    example("packbits", "int4", &[40], r#"{"padding_encoding": "last_byte"}"#),
    example("packbits", "uint16", &[4, 9], r#"{"padding_encoding": "none", "first_bit": 2, "last_bit": 12}"#),
    example("zarrs.vlen", "string", &[3, 5], r#"{"data_codecs": ["bytes"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"], "index_data_type": "uint32", "index_location": "end"}"#),
    example("zarrs.vlen", "bytes", &[15], r#"{"data_codecs": ["bytes", "zstd"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_data_type": "uint64", "index_location": "start"}"#),
    example("zarrs.vlen_v2", "string", &[15], "{}"),
    example("zarrs.optional", r#"{"name": "zarrs.optional", "configuration": {"name": "int16", "configuration": {}}}"#, &[4, 9], r#"{"mask_codecs": ["packbits"], "data_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}"#),
    example("zarrs.optional", r#"{"name": "zarrs.optional", "configuration": {"name": "string", "configuration": {}}}"#, &[4, 9], r#"{"mask_codecs": ["bytes"], "data_codecs": ["vlen-utf8", "crc32c"]}"#),
    example("numcodecs.pcodec", "int32", &[10, 30], r#"{"level": 4}"#),
    example("numcodecs.pcodec", "float64", &[300], r#"{"level": 8, "equal_pages_up_to": 100}"#),
    example("numcodecs.zfpy", "float32", &[8, 9], r#"{"mode": 4, "tolerance": 0.001, "rate": -1, "precision": -1}"#),
    example("numcodecs.zfpy", "int64", &[70], r#"{"mode": 4, "tolerance": -1, "rate": -1, "precision": -1}"#),
    example("zfp", "float64", &[5, 6, 7], r#"{"mode": "reversible"}"#),
    example("zfp", "float32", &[8, 9], r#"{"mode": "fixed_rate", "rate": 10}"#),
    // Bytes to bytes.
    example("numcodecs.shuffle", "uint32", &[30], r#"{"elementsize": 4}"#),
    example("numcodecs.shuffle", "complex128", &[300], r#"{"elementsize": 16}"#),
    example("numcodecs.base64", "int32", &[10], "{}"),
    example("numcodecs.base64", "string", &[10], "{}").before(r#"["vlen-utf8"]"#),
    example("numcodecs.crc32", "int32", &[10], "{}"),
    example("numcodecs.crc32", "string", &[10], r#"{"location": "end"}"#).before(r#"["vlen-utf8"]"#),
    example("numcodecs.crc32c", "int32", &[10], r#"{"location": "start"}"#),
    example("numcodecs.adler32", "int32", &[10], r#"{"location": "start"}"#),
    example("numcodecs.fletcher32", "uint8", &[11], "{}"),
    example("numcodecs.jenkins_lookup3", "int32", &[10], r#"{"initval": 3, "prefix": null}"#),
    example("numcodecs.jenkins_lookup3", "uint8", &[21], r#"{"initval": 0, "prefix": [1, 2, 255]}"#),
    example("blosc", "uint32", &[300], r#"{"cname": "blosclz", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}"#),
    example("blosc", "uint32", &[300], r#"{"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 256}"#),
    example("blosc", "uint16", &[300], r#"{"cname": "snappy", "clevel": 5, "shuffle": "noshuffle", "typesize": 2, "blocksize": 0}"#),
    example("blosc", "uint16", &[300], r#"{"cname": "zlib", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}"#),
    example("blosc", "uint16", &[300], r#"{"cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}"#),
    example("blosc", "string", &[40], r#"{"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0}"#).before(r#"["vlen-utf8"]"#),
    example("gzip", "int32", &[100], r#"{"level": 5}"#),
    example("gzip", "string", &[40], r#"{"level": 5}"#).before(r#"["vlen-utf8"]"#),
    example("numcodecs.zlib", "int32", &[100], r#"{"level": 1}"#),
    example("numcodecs.zlib", "bytes", &[40], r#"{"level": 1}"#).before(r#"["vlen-bytes"]"#),
    example("zstd", "int32", &[100], r#"{"level": 3, "checksum": false}"#),
    example("zstd", "int32", &[100], r#"{"level": 3, "checksum": true}"#),
    example("zstd", "string", &[40], r#"{"level": 3, "checksum": false}"#).before(r#"["vlen-utf8"]"#),
    example("numcodecs.lz4", "int32", &[100], r#"{"acceleration": 1}"#),
    example("numcodecs.lz4", "object", &[10], r#"{"acceleration": 1}"#).before(r#"["numcodecs.msgpack2"]"#),
    example("numcodecs.bz2", "int32", &[100], r#"{"level": 1}"#),
    example("numcodecs.bz2", "string", &[40], r#"{"level": 1}"#).before(r#"["vlen-utf8"]"#),
    example("numcodecs.lzma", "int32", &[100], r#"{"format": 1, "check": -1, "preset": 0, "filters": null}"#),
    example("numcodecs.lzma", "int32", &[100], r#"{"format": 2, "check": -1, "preset": 0, "filters": null}"#),
    example("numcodecs.lzma", "int32", &[100], r#"{"format": 3, "check": 0, "preset": null, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}"#),
    example("v2_filter", "int32", &[4, 6], r#"{"filter": {"name": "numcodecs.delta", "configuration": {"dtype": ">i4", "astype": "<i4"}}}"#),
    example("v2_filter", "bool", &[20], r#"{"filter": {"name": "numcodecs.packbits"}}"#),
    example("v2_filter", "string", &[40], r#"{"filter": {"name": "numcodecs.delta", "configuration": {"dtype": "|u1", "astype": "|u1"}}}"#).before(r#"["vlen-utf8"]"#),
    example("n5_lz4", "int32", &[100], r#"{"blockSize": 128}"#),
    example("n5_lz4", "string", &[40], r#"{"blockSize": 128}"#).before(r#"["vlen-utf8"]"#),
    example("conditional", "int32", &[100], r#"{"codecs": ["crc32c", {"name": "gzip", "configuration": {"level": 1}}], "header_bits": 16}"#),
    example("conditional", "string", &[40], r#"{"codecs": ["zstd"], "header_bits": 8}"#).before(r#"["vlen-utf8"]"#),
    example("crc32c", "int32", &[10], "{}"),
    example("crc32c", "string", &[10], "{}").before(r#"["vlen-utf8"]"#),
];

const LITTLE: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;

impl Example {
    /// Sets the codecs that precede the codec, instead of the defaults.
    const fn before(mut self, codecs: &'static str) -> Self {
        self.before = Some(codecs);
        self
    }

    /// Sets the codecs that follow the codec, instead of the defaults.
    const fn behind(mut self, codecs: &'static str) -> Self {
        self.behind = Some(codecs);
        self
    }

    /// Returns the type of the elements.
    pub fn data_type(&self, registry: &Registry) -> Result<DataType> {
        let json = json(self.data_type).unwrap_or_else(|_| Json::from(self.data_type));
        registry.data_type_from_v3(&json).or_else(|error| {
            let own = |data_type: &DataType| data_type.to_string().starts_with(self.data_type);
            registry.examples().into_iter().find(own).ok_or(error)
        })
    }

    /// Returns the codec alone.
    pub fn spec(&self) -> Result<CodecSpec> {
        Ok(CodecSpec::new(self.codec, json(self.configuration)?))
    }

    /// Returns the whole chain.
    pub fn specs(&self, registry: &Registry) -> Result<Vec<CodecSpec>> {
        let kind = registry.codec(self.codec)?.kind;
        let around = |wanted: CodecKind| if kind == wanted { LITTLE } else { "[]" };
        let mut specs = codecs(self.before.unwrap_or(around(CodecKind::BytesToBytes)))?;
        specs.push(self.spec()?);
        specs.extend(codecs(self.behind.unwrap_or(around(CodecKind::ArrayToArray)))?);
        Ok(specs)
    }

    /// Returns the codec chain, which decodes into buffers of at most `limit` bytes.
    pub fn chain(&self, registry: &Registry, limit: usize) -> Result<CodecChain> {
        let data_type = self.data_type(registry)?;
        let fill = registry.family(&data_type)?.default_fill(&data_type);
        let chunk = ChunkSpec::new(self.shape, data_type.storage(), fill)?.of_type(&data_type);
        let context = CodecContext { chunk: &chunk, registry, strictness: Strictness::Lenient, limit };
        Ok(CodecChain::new(&self.specs(registry)?, &context)?)
    }
}

fn json(text: &str) -> Result<Json> {
    parse(text.as_bytes()).map_err(|error| error.at(text))
}

fn codecs(text: &str) -> Result<Vec<CodecSpec>> {
    let list = json(text)?;
    let items = list.as_array().into_iter().flatten();
    let codecs = items.map(|item| CodecSpec::from_json(item).ok_or(item));
    codecs
        .collect::<Result<_, _>>()
        .map_err(|item| Error::new(ErrorKind::InvalidArgument, format!("{item} is not a codec")))
}
