//! The members of filters that contain a data type: v2 type strings, and NumPy's other names, which some users have written to v3
//! metadata.

use zarrox_core::codec::CodecError;
use zarrox_core::data_type::{Endian, Storage, TypeString};
use zarrox_core::json::{Json, Map};

use crate::config::{self, Config};

/// A numeric data type in a filter's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dtype {
    /// The memory layout of its elements.
    pub(crate) storage: Storage,
    /// The byte order in the type's name. In v2, it is the byte order of the stored numbers. Numbers in memory have native byte
    /// order.
    pub(crate) endian: Option<Endian>,
}

const WANTS: &str = "a type of numbers, such as \"<f4\"";

impl Dtype {
    /// Returns the type with this memory layout, if it is numeric.
    fn of_storage(storage: &Storage) -> Option<Self> {
        kind_of(storage).map(|_| Self { storage: storage.clone(), endian: None })
    }

    /// Parses the name of a type, such as `<f4`, `f4` or `float32`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if let Some(storage) = named(name) {
            return Some(Self { storage, endian: None });
        }
        let prefixed = name.starts_with(['<', '>', '|']);
        let string = format!("|{}", name.strip_prefix('=').unwrap_or(name));
        let string = TypeString::parse(if prefixed { name } else { &string })?;
        let size = string.size()?;
        let storage = match string.kind {
            'b' if size == 1 => Storage::Bool,
            'i' => Storage::Int(size),
            'u' => Storage::Uint(size),
            'f' => Storage::Float(size),
            'c' => Storage::Complex(size),
            _ => return None,
        };
        let endian = string.endian.filter(|_| storage.word() > 1);
        kind_of(&storage).map(|_| Self { storage, endian })
    }

    /// Returns the byte order of stored numbers. If the type's name has none, NumPy uses native byte order, which is nearly
    /// always little-endian.
    pub(crate) fn stored_order(&self) -> Endian {
        self.endian.unwrap_or(Endian::Little)
    }

    /// Returns the type string as numcodecs writes it.
    pub(crate) fn to_json(&self) -> Json {
        let kind = kind_of(&self.storage).unwrap_or('V');
        let endian = match self.storage.word() {
            1 => '|',
            _ => self.stored_order().character(),
        };
        format!("{endian}{kind}{}", self.storage.size()).into()
    }
}

/// Returns NumPy's kind character for a numeric type.
fn kind_of(storage: &Storage) -> Option<char> {
    Some(match storage {
        Storage::Bool => 'b',
        Storage::Int(1 | 2 | 4 | 8) => 'i',
        Storage::Uint(1 | 2 | 4 | 8) => 'u',
        Storage::Float(2 | 4 | 8) => 'f',
        Storage::Complex(8 | 16) => 'c',
        _ => return None,
    })
}

/// Returns the type for a name that is not a type string, if the name has the same meaning on every machine.
fn named(name: &str) -> Option<Storage> {
    Some(match name {
        "bool" | "bool_" | "?" => Storage::Bool,
        "int8" | "b" => Storage::Int(1),
        "int16" | "h" => Storage::Int(2),
        "int32" | "i" => Storage::Int(4),
        "int64" | "int" | "q" => Storage::Int(8),
        "uint8" | "B" => Storage::Uint(1),
        "uint16" | "H" => Storage::Uint(2),
        "uint32" | "I" => Storage::Uint(4),
        "uint64" | "uint" | "Q" => Storage::Uint(8),
        "float16" | "half" | "e" => Storage::Float(2),
        "float32" | "single" | "f" => Storage::Float(4),
        "float64" | "double" | "float" | "d" => Storage::Float(8),
        "complex64" | "F" => Storage::Complex(8),
        "complex128" | "complex" | "D" => Storage::Complex(16),
        _ => return None,
    })
}

/// Returns the types of decoded and encoded elements from the members with these names. The first type defaults to the type of
/// the chunk, as in zarr-python 3, and the second type defaults to the first one.
pub(crate) fn pair(
    config: Config<'_>,
    decoded: &str,
    encoded: &str,
    chunk: &Storage,
) -> Result<(Dtype, Dtype), CodecError> {
    let dtype = match config.get(decoded) {
        Some(json) => read(decoded, json)?,
        None if config.is_strict() => return Err(config::missing(decoded)),
        None => Dtype::of_storage(chunk).ok_or_else(|| config::missing(decoded))?,
    };
    let astype = match config.get(encoded) {
        Some(json) => read(encoded, json)?,
        None => dtype.clone(),
    };
    Ok((dtype, astype))
}

/// Parses the type in a member.
pub(crate) fn read(name: &str, json: &Json) -> Result<Dtype, CodecError> {
    json.as_str().and_then(Dtype::parse).ok_or_else(|| config::wrong(name, json, WANTS))
}

/// Returns the members as numcodecs writes them: both types are present, and both are type strings.
pub(crate) fn normalised(members: &Map, decoded: &str, encoded: &str) -> Result<Map, CodecError> {
    let mut members = members.clone();
    for name in [decoded, encoded] {
        match members.get(name).filter(|json| !json.is_null()) {
            Some(json) => {
                let dtype = read(name, json)?.to_json();
                members.insert(name.to_owned(), dtype);
            }
            None => drop(members.remove(name)),
        }
    }
    if let (Some(dtype), None) = (members.get(decoded).cloned(), members.get(encoded)) {
        members.insert(encoded.to_owned(), dtype);
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use zarrox_core::json::json;

    use super::*;
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn names() {
        for (name, written) in [
            ("<f4", "<f4"),
            (">f4", ">f4"),
            ("f4", "<f4"),
            ("=f4", "<f4"),
            ("float32", "<f4"),
            ("f", "<f4"),
            ("|u1", "|u1"),
            (">u1", "|u1"),
            ("u1", "|u1"),
            ("bool", "|b1"),
            ("?", "|b1"),
            ("int64", "<i8"),
            ("<c16", "<c16"),
            ("half", "<f2"),
        ] {
            assert_eq!(Dtype::parse(name).unwrap().to_json(), json!(written), "{name}");
        }
        for name in ["", "<", "f", "<f3", "<f16", "|O", "<U4", "<M8[s]", "i", "x", "<b2", "|b1 ", "<i+4", "é"]
        {
            let only_named = ["f", "i"].contains(&name);
            assert_eq!(Dtype::parse(name).is_some(), only_named, "{name}");
        }
    }

    #[test]
    fn normalising() {
        let of = |json: Json| normalised(&config::members(json), "dtype", "astype").map(Json::Object);
        let both = json!({"scale": 1, "dtype": "<f8", "astype": "<f8"});
        assert_eq!(of(json!({"scale": 1, "dtype": "float64", "astype": null})).unwrap(), both);
        assert_eq!(of(json!({"dtype": null})).unwrap(), json!({}));
        assert!(of(json!({"dtype": "<f3"})).unwrap_err().to_string().contains("'dtype'"));
        assert_error(of(json!({"dtype": 4})), ErrorKind::InvalidMetadata, "'dtype'");
    }
}
