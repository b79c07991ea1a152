//! [`Conversion`]: other data types for the same elements, which NumPy files cannot represent.

use zarrox::data_type::{Endian, Storage};
use zarrox::internals::data_type::{VARIABLE_BYTES, VARIABLE_TEXT};
use zarrox::{DataType, DynArray, Error, ErrorKind, Result};

/// A conversion of elements to another data type that preserves their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Conversion {
    /// The types are the same, except possibly for their names.
    Renamed,
    /// Raw bytes are reinterpreted as elements of a data type.
    Named,
    /// Fixed-length strings and bytes become variable-length strings and bytes.
    Trimmed,
    /// Structures lose the padding between their fields.
    Packed,
}

impl Conversion {
    /// Returns the conversion from one type to another, if there is an unambiguous one.
    pub(super) fn between(from: &DataType, to: &DataType) -> Option<Self> {
        let (from_storage, to_storage) = (from.storage(), to.storage());
        if from == to {
            return Some(Self::Renamed);
        }
        if from.fields().is_some() {
            return (from.packed() == *to).then_some(Self::Packed);
        }
        match (&from_storage, &to_storage) {
            (Storage::Utf32(_), Storage::Variable) if to.is_named(VARIABLE_TEXT) => Some(Self::Trimmed),
            (Storage::Raw(_), Storage::Variable) if to.is_named(VARIABLE_BYTES) && !is_raw(from) => {
                Some(Self::Trimmed)
            }
            (from, to) if from == to => Some(Self::Renamed),
            (Storage::Raw(size), _) if is_raw(from) && *size == to.size() && is_unknown_to_numpy(to) => {
                Some(Self::Named)
            }
            _ => None,
        }
    }

    /// Returns the type with which the elements are read: that of the file, or that of the array.
    pub(super) fn read_as<'t>(&self, from: &'t DataType, to: &'t DataType) -> &'t DataType {
        if *self == Self::Named { to } else { from }
    }

    /// Converts elements to the other type.
    pub(super) fn apply(&self, elements: DynArray, to: &DataType) -> Result<DynArray> {
        let shape = elements.shape().to_vec();
        match self {
            Self::Renamed | Self::Named => Ok(elements),
            Self::Trimmed => {
                let is_text = matches!(elements.data_type().storage(), Storage::Utf32(_));
                let trimmed =
                    |element| if is_text { utf8(element) } else { Ok(without_padding(element).to_vec()) };
                let strings = elements.elements().map(trimmed).collect::<Result<Vec<_>>>()?;
                DynArray::from_elements(to.clone(), shape, strings)
            }
            Self::Packed => elements.packed(),
        }
    }
}

/// Returns true for raw bytes, whose trailing NULs are not padding.
fn is_raw(data_type: &DataType) -> bool {
    matches!(data_type, DataType::RawBits(_))
}

/// Returns true if NumPy writes elements of a type as raw bytes because the type, such as `bfloat16`, is defined by
/// another package.
fn is_unknown_to_numpy(data_type: &DataType) -> bool {
    let registry = zarrox::codecs::registry();
    let named =
        registry.family(data_type).is_ok_and(|family| family.to_v2(data_type, Endian::NATIVE).is_ok());
    !named && data_type.storage() != Storage::Variable
}

fn without_padding(element: &[u8]) -> &[u8] {
    let length = element.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &element[..length]
}

/// Converts an element from UTF-32 to UTF-8.
fn utf8(element: &[u8]) -> Result<Vec<u8>> {
    let points =
        element.chunks_exact(4).map(|point| u32::from_ne_bytes(point.try_into().unwrap_or_default()));
    let points: Vec<u32> = points.collect();
    let length = points.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
    let character = |&point: &u32| {
        char::from_u32(point).ok_or_else(|| {
            let message = format!("an element has the code point U+{point:04X}, which is not a character");
            Error::new(ErrorKind::Corrupt, message)
        })
    };
    Ok(points[..length].iter().map(character).collect::<Result<String>>()?.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> DataType {
        let registry = zarrox::codecs::registry();
        match zarrox::json::parse(name.as_bytes()) {
            Ok(json) => registry.data_type_from_v2(&json).unwrap().0,
            Err(_) => DataType::parse(name, &registry).unwrap(),
        }
    }

    #[test]
    fn types_become_only_those_that_say_the_same() {
        let between = |from: &str, to: &str| Conversion::between(&named(from), &named(to));
        assert_eq!(between("<U3", "string"), Some(Conversion::Trimmed));
        assert_eq!(between("|S3", "variable_length_bytes"), Some(Conversion::Trimmed));
        assert_eq!(between("|V2", "bfloat16"), Some(Conversion::Named));
        assert_eq!(between("<i8", "<M8[s]"), Some(Conversion::Renamed));
        for (from, to) in [
            ("<U3", "variable_length_bytes"),
            ("|S3", "string"),
            ("|V3", "variable_length_bytes"),
            ("|V3", "bfloat16"),
            ("|V8", "<f8"),
            ("|S2", "bfloat16"),
            ("<i4", "<f4"),
            ("<i4", "string"),
            ("string", "<U3"),
            (r#"[["a", "<i4"]]"#, "<i4"),
            (r#"[["a", "<i4"], ["b", "<i4"]]"#, r#"[["b", "<i4"], ["a", "<i4"]]"#),
        ] {
            assert_eq!(between(from, to), None, "{from} {to}");
        }
    }

    #[test]
    fn structures_lose_their_padding() {
        let padded = named(
            r#"[["a", "|u1"], ["", "|V3"], ["b", [["x", "|u1"], ["", "|V1"]], [2]], ["c", "|u1", [2]]]"#,
        );
        let packed = named(r#"[["a", "|u1"], ["b", [["x", "|u1"]], [2]], ["c", "|u1", [2]]]"#);
        let conversion = Conversion::between(&padded, &packed).unwrap();
        let elements = DynArray::new(padded, vec![1], vec![1, 9, 9, 9, 2, 9, 3, 9, 4, 5]).unwrap();
        assert_eq!(conversion.apply(elements, &packed).unwrap().as_bytes(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_is_no_character_is_an_error() {
        let element = [0x61_u32, 0, 0xd800].map(u32::to_ne_bytes).concat();
        assert!(utf8(&element).unwrap_err().to_string().contains("U+D800"));
        assert_eq!(utf8(&element[..8]).unwrap(), b"a");
    }
}
