//! Text.

use std::borrow::Cow;

use super::{Decode, Encode, FromElement, ToElement, mismatch};
use crate::data_type::{DataType, Storage, utf32_text};
use crate::error::{Error, ErrorKind, Result};

/// The encoding of strings in a data type.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// UTF-8 of variable length.
    Variable,
    /// UTF-8 padded with NULs to this size in bytes.
    Bytes(usize),
    /// Code points of four bytes each, padded with NULs to this size in bytes.
    CodePoints(usize),
}

fn form(data_type: &DataType) -> Result<Form> {
    match data_type.storage() {
        Storage::Utf32(size) => Ok(Form::CodePoints(size)),
        Storage::Raw(size) => Ok(Form::Bytes(size)),
        Storage::Variable if data_type.is_text_or_bytes() => Ok(Form::Variable),
        _ => Err(mismatch(data_type, "text")),
    }
}

fn utf8(element: &[u8]) -> Result<&str> {
    std::str::from_utf8(element).map_err(|error| {
        Error::new(ErrorKind::Corrupt, "an element is not UTF-8; read it as bytes").with_source(error)
    })
}

/// Padding is removed.
impl FromElement for String {
    fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
        Ok(match form(data_type)? {
            Form::Variable => Box::new(|element| Ok(utf8(element)?.to_owned())),
            Form::Bytes(_) => Box::new(|element| Ok(utf8(element)?.trim_end_matches('\0').to_owned())),
            Form::CodePoints(_) => Box::new(|element| Ok(utf32_text(element))),
        })
    }
}

/// Appends a string in the encoding of a data type.
fn encode(text: &str, form: Form, data_type: &DataType, bytes: &mut Vec<u8>) -> Result<()> {
    let start = bytes.len();
    let size = match form {
        Form::CodePoints(size) => {
            bytes.extend(text.chars().flat_map(|c| u32::from(c).to_ne_bytes()));
            size
        }
        Form::Bytes(size) => {
            bytes.extend_from_slice(text.as_bytes());
            size
        }
        Form::Variable => {
            bytes.extend_from_slice(text.as_bytes());
            return Ok(());
        }
    };
    if bytes.len() - start > size {
        return Err(Error::argument(format!("{text:?} is longer than the {size} bytes of a {data_type}")));
    }
    bytes.resize(start + size, 0);
    Ok(())
}

macro_rules! text {
    ($($T:ty),+) => {$(
        impl ToElement for $T {
            fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
                let (form, data_type) = (form(data_type)?, data_type.clone());
                Ok(Box::new(move |text, bytes| encode(text.as_ref(), form, &data_type, bytes)))
            }
        }
    )+};
}

text!(String, &str, Cow<'_, str>);
