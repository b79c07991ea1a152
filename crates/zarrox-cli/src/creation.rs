//! The options for new arrays in `create` and `import`.

use clap::Args;
use zarrox::codecs::{Blosc, BloscCompressor, Bz2, Gzip, Lz4, Lzma, Shuffle, Zlib, Zstd};
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::{self, Json, Map};
use zarrox::{ArrayBuilder, ChunkShape, CodecSpec, DataType, Order, Result, Separator};

use crate::args::Chunks;
use crate::exit::usage;
use crate::filter;
use crate::suggest::{self, suggesting};

/// The options for a new array.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Creation {
    /// The shape of a chunk, such as 10,20, where -1 is a whole dimension, or lengths by dimension name, such as time=10,lat=50;
    /// auto: the shape that zarr-python 2 guesses; false: a single chunk; as JSON the lengths of rectilinear chunks, such as
    /// [[31,28,31],5] (v3) [default: about 1 MiB; in v2 auto]
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) chunks: Option<Chunks>,

    /// The shape of a shard, a stored object with several chunks, or as JSON the lengths of rectilinear shards (v3)
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) shards: Option<Chunks>,

    /// The whole codec pipeline, as a JSON list as in v3 metadata
    #[arg(long, value_name = "JSON", conflicts_with_all = ["filters", "compressor", "order", "endian"])]
    pub(crate) codecs: Option<String>,

    /// A codec before the compressor, such as shuffle:elementsize=4, delta:dtype=<i4 or crc32c, or JSON as in v3 metadata; can be
    /// repeated
    #[arg(long = "filter", value_name = "NAME[:MEMBER=VALUE,…]", hide_possible_values = true)]
    #[arg(value_parser = suggesting(filter::parse, suggest::filters))]
    pub(crate) filters: Vec<CodecSpec>,

    /// The compressor: zstd:3, gzip:5, zlib:5, bz2:9, xz:6, lz4:1, blosc:lz4:5:shuffle, or none
    #[arg(long, value_name = "NAME[:LEVEL]", hide_possible_values = true)]
    #[arg(value_parser = suggesting(compressor, suggest::compressors))]
    pub(crate) compressor: Option<Compressor>,

    /// Store a checksum with each chunk, which detects any changed byte: crc32c after the compressor; in v2 that of Zstandard, or
    /// crc32c instead of the compressor
    #[arg(long)]
    pub(crate) checksum: bool,

    /// The fill value, for elements that were never written: a number, true, NaN, or JSON as in metadata
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill_value: Option<String>,

    /// The order of the elements in a chunk: C (row-major) or F (column-major)
    #[arg(long, value_parser = ["C", "F"])]
    order: Option<String>,

    /// The separator in chunk keys
    #[arg(long, value_parser = ["/", "."])]
    pub(crate) separator: Option<String>,

    /// The byte order of stored numbers
    #[arg(long, value_parser = ["little", "big"])]
    endian: Option<String>,

    /// The attributes, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) attrs: Option<String>,

    /// A name for each dimension, such as time,lat,lon; empty for a dimension without a name (v3)
    #[arg(long, value_name = "NAMES")]
    dimension_names: Option<String>,

    /// Replace an existing node and all nodes below it
    #[arg(long)]
    pub(crate) force: bool,
}

/// A compressor, or none.
pub(crate) type Compressor = Option<CodecSpec>;

impl Creation {
    /// Applies the options to a new array of this shape.
    pub(crate) fn apply(&self, builder: ArrayBuilder, shape: &[u64]) -> Result<ArrayBuilder> {
        let mut builder = builder.shape(shape).overwrite(self.force);
        let chunks = self.with_names(self.chunks.as_ref(), "--chunks", shape)?;
        let shards = self.with_names(self.shards.as_ref(), "--shards", shape)?;
        builder = match &chunks {
            Some(Chunks::Named(_)) => builder,
            Some(Chunks::Shape(chunks)) => builder.chunks(chunks.clone()),
            Some(Chunks::Rectilinear(_)) if shards.is_some() => {
                return Err(usage("--chunks: all inner chunks of shards must have the same shape"));
            }
            Some(Chunks::Rectilinear(lengths)) => builder.rectilinear_chunks(lengths.clone()),
            None => builder,
        };
        builder = match &shards {
            Some(Chunks::Named(_)) => builder,
            Some(Chunks::Shape(ChunkShape::Guess)) => {
                return Err(usage("--shards: expected a shape, or false for a single shard"));
            }
            Some(Chunks::Shape(shards)) => builder.shards(shards.resolve(shape, 1)),
            Some(Chunks::Rectilinear(_)) if self.chunks.is_none() => {
                return Err(usage(
                    "--shards: shards of several shapes need --chunks, the shape of the inner chunks",
                ));
            }
            Some(Chunks::Rectilinear(lengths)) => builder.rectilinear_chunks(lengths.clone()),
            None => builder,
        };
        if let Some(text) = &self.codecs {
            builder = builder.codecs(codecs(text)?);
        }
        builder = self.filters.iter().cloned().fold(builder, ArrayBuilder::filter);
        builder = match &self.compressor {
            Some(Some(compressor)) => builder.compressor(compressor.clone()),
            Some(None) => builder.no_compressor(),
            None => builder,
        };
        builder = builder.checksum(self.checksum);
        if let Some(text) = &self.fill_value {
            builder = builder.fill_value_json(fill_value(text));
        }
        if let Some(separator) = &self.separator {
            builder = builder.separator(if separator == "/" { Separator::Slash } else { Separator::Dot });
        }
        if self.endian.as_deref() == Some("big") {
            builder = builder.endian(Endian::Big);
        }
        if let Some(names) = &self.dimension_names {
            let name = |name: &str| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
            builder = builder.optional_dimension_names(names.split(',').map(name));
        }
        if self.order.as_deref() == Some("F") {
            builder = builder.order(Order::ColumnMajor);
        }
        Ok(builder.attributes(self.attributes()?))
    }

    /// Resolves lengths by dimension name for an array of this shape. A dimension for which no length is given gets its whole
    /// length.
    fn with_names(&self, given: Option<&Chunks>, option: &str, shape: &[u64]) -> Result<Option<Chunks>> {
        let Some(Chunks::Named(lengths)) = given else { return Ok(given.cloned()) };
        let names: Vec<&str> =
            self.dimension_names.as_deref().unwrap_or_default().split(',').map(str::trim).collect();
        if let Some((unknown, _)) = lengths.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            let message = format!("{option}: --dimension-names does not have the dimension '{unknown}'");
            return Err(usage(message));
        }
        let length = |dim: usize| {
            let name = names.get(dim).copied()?;
            lengths.iter().find(|(known, _)| known == name).and_then(|(_, length)| *length)
        };
        let lengths: Vec<Option<u64>> = (0..shape.len()).map(length).collect();
        Ok(Some(Chunks::Shape(ChunkShape::Lengths(lengths))))
    }

    /// Returns the attributes; empty if none are given.
    pub(crate) fn attributes(&self) -> Result<Map> {
        let Some(text) = &self.attrs else { return Ok(Map::default()) };
        json::parse_object(text.as_bytes()).map_err(|error| usage(format!("--attrs: {error}")))
    }

    /// Returns the name of an option that was given but does not apply to copies of several arrays.
    pub(crate) fn single_option(&self) -> Option<&'static str> {
        let given = [
            ("--fill-value", self.fill_value.is_some()),
            ("--order", self.order.is_some()),
            ("--endian", self.endian.is_some()),
            ("--attrs", self.attrs.is_some()),
            ("--dimension-names", self.dimension_names.is_some()),
            ("--checksum", self.checksum),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Returns the name of an option that was given but applies only to arrays.
    pub(crate) fn array_option(&self) -> Option<&'static str> {
        let given = [
            ("--chunks", self.chunks.is_some()),
            ("--shards", self.shards.is_some()),
            ("--codecs", self.codecs.is_some()),
            ("--filter", !self.filters.is_empty()),
            ("--compressor", self.compressor.is_some()),
            ("--checksum", self.checksum),
            ("--fill-value", self.fill_value.is_some()),
            ("--order", self.order.is_some()),
            ("--separator", self.separator.is_some()),
            ("--endian", self.endian.is_some()),
            ("--dimension-names", self.dimension_names.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// Parses a data type, and its byte order if one is given: a v2 or v3 name, a NumPy name without a byte order (`f4`), or JSON as
/// in metadata documents.
pub(crate) fn data_type(text: &str) -> Result<(DataType, Option<ByteOrder>)> {
    let registry = zarrox::codecs::registry();
    let wrong = |error: zarrox::Error| {
        let ways = "float32, uint8, <i2, bool, and for structured types [[\"x\", \"<f4\"], [\"y\", \"<i2\"]]";
        usage(format!("--dtype: {error}; examples are {ways}"))
    };
    if text.trim_start().starts_with(['[', '{']) {
        let json = json::parse(text.as_bytes()).map_err(wrong)?;
        let of_v3 = || registry.data_type_from_v3(&json).map(|data_type| (data_type, None));
        return if json.is_array() { registry.data_type_from_v2(&json) } else { of_v3() }.map_err(wrong);
    }
    let order = match text.chars().next() {
        Some('>') => Some(Endian::Big),
        Some('<') => Some(Endian::Little),
        _ => None,
    };
    let data_type = DataType::parse(text, &registry).map_err(wrong)?;
    Ok((data_type, order.map(ByteOrder::One)))
}

pub(crate) fn codecs(text: &str) -> Result<Vec<CodecSpec>> {
    let wrong = |why: &str| {
        usage(format!("--codecs: {why}; expected [{{\"name\": \"bytes\", \"configuration\": {{…}}}}, …]"))
    };
    let json = json::parse(text.as_bytes()).map_err(|error| wrong(&error.to_string()))?;
    let list = json
        .as_array()
        .ok_or_else(|| wrong(&format!("expected a list, found {}", zarrox::internals::json::kind(&json))))?;
    let codec =
        |json: &Json| CodecSpec::from_json(json).ok_or_else(|| wrong(&format!("{json} is not a codec")));
    list.iter().map(codec).collect()
}

/// Parses the value as JSON. A value that is not JSON, such as `NaN` or `0x7fc00000`, is taken as a string.
fn fill_value(text: &str) -> Json {
    match text {
        "True" => Json::Bool(true),
        "False" => Json::Bool(false),
        _ => json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(text)),
    }
}

/// Parses a compressor in the short form: its name and its parameters, separated by colons.
pub(crate) fn compressor(text: &str) -> Result<Compressor, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    if name == "blosc" {
        return blosc(&rest).map(|blosc| Some(blosc.into()));
    }
    let level = |default: i32| match rest.as_slice() {
        [] => Ok(default),
        [level] => level.parse().map_err(|_| format!("'{level}' is not a compression level of {name}")),
        _ => Err(format!("{name} takes only a level")),
    };
    Ok(Some(match name {
        "none" if rest.is_empty() => return Ok(None),
        "zstd" => Zstd::level(level(3)?).into(),
        "gzip" => Gzip::level(level(5)?).into(),
        "zlib" => Zlib::level(level(5)?).into(),
        "bz2" => Bz2::level(level(9)?).into(),
        "xz" => {
            let preset = u32::try_from(level(6)?).map_err(|_| "xz has the levels 0 to 9".to_owned())?;
            Lzma::xz(preset).into()
        }
        "lz4" => Lz4::acceleration(level(1)?).into(),
        _ => return Err("the compressors are zstd, gzip, zlib, bz2, xz, lz4, blosc and none".to_owned()),
    }))
}

/// Parses `blosc:COMPRESSOR:LEVEL:SHUFFLE`, in which all parts but the first are optional.
fn blosc(parts: &[&str]) -> Result<Blosc, String> {
    let [compressor, level, shuffle] = match parts {
        [] => ["lz4", "5", "shuffle"],
        [c] => [*c, "5", "shuffle"],
        [c, l] => [*c, *l, "shuffle"],
        [c, l, s] => [*c, *l, *s],
        _ => return Err("blosc takes at most a compressor, a level and a shuffle".to_owned()),
    };
    let compressor = match compressor {
        "blosclz" => BloscCompressor::BloscLz,
        "lz4" => BloscCompressor::Lz4,
        "lz4hc" => BloscCompressor::Lz4Hc,
        "snappy" => {
            let why =
                "numcodecs, and thus zarr-python, cannot read snappy in blosc; use lz4, which is as fast";
            return Err(why.to_owned());
        }
        "zlib" => BloscCompressor::Zlib,
        "zstd" => BloscCompressor::Zstd,
        _ => return Err("the compressors of blosc are blosclz, lz4, lz4hc, zlib and zstd".to_owned()),
    };
    let shuffle = match shuffle {
        "noshuffle" => Shuffle::None,
        "shuffle" => Shuffle::Byte,
        "bitshuffle" => Shuffle::Bit,
        _ => return Err("the shuffles of blosc are noshuffle, shuffle and bitshuffle".to_owned()),
    };
    let level = level.parse().map_err(|_| format!("'{level}' is not a compression level of blosc"))?;
    Ok(Blosc::new(compressor).level(level).shuffle(shuffle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressors_in_short() {
        let shown = |text: &str| compressor(text).map(|c| c.map(|c| c.to_string()));
        assert_eq!(shown("none"), Ok(None));
        assert_eq!(shown("gzip:7"), Ok(Some("gzip(level=7)".to_owned())));
        assert!(shown("xz:9").unwrap().unwrap().contains("preset=9"));
        assert!(shown("blosc:zstd:9:bitshuffle").unwrap().unwrap().contains("bitshuffle"));
        for bad in ["", "zip", "gzip:x", "gzip:1:2", "blosc:lz5", "blosc:lz4:5:shuffle:1", "none:1", "xz:-1"]
        {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn data_types_are_named_as_in_either_format_or_in_numpy() {
        for name in ["float32", "<f4", ">f4", "f4"] {
            assert_eq!(data_type(name).unwrap().0, DataType::Float32, "{name}");
        }
        assert_eq!(data_type(">f4").unwrap().1, Some(ByteOrder::One(Endian::Big)));
        assert_eq!(data_type("u1").unwrap(), (DataType::UInt8, None));
        assert!(data_type("float33").unwrap_err().to_string().contains("float33"));
    }

    #[test]
    fn structures_are_json_as_either_format_has_it() {
        let v2 = data_type(r#"[["x", "<f4"], ["p", [["y", ">i2"]]]]"#).unwrap();
        assert_eq!(v2.1, Some(ByteOrder::Each(vec![Endian::Little, Endian::Big])));
        let v3 = r#" {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "float32"},
            {"name": "p", "data_type": {"name": "struct", "configuration": {"fields": [
                {"name": "y", "data_type": "int16"}]}}}]}}"#;
        assert_eq!(data_type(v3).unwrap(), (v2.0, None));
        for bad in ["[", "[1]", "{}", "[[\"x\"]]", "[[\"x\", \"<q4\"]]", &"[".repeat(100_000)] {
            assert!(data_type(bad).unwrap_err().to_string().contains("--dtype"));
        }
    }

    #[test]
    fn fill_values_are_json_or_names() {
        assert_eq!(fill_value("-1.5"), Json::from(-1.5));
        assert_eq!(fill_value("NaN"), Json::from(f64::NAN));
        assert_eq!(fill_value("0x7fc00000"), Json::from("0x7fc00000"));
        assert_eq!(fill_value("True"), Json::Bool(true));
    }
}
