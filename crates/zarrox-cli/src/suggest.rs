//! Option values that shells complete, although they are not the only valid ones.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use zarrox::codec::CodecKind;
use zarrox::{DataType, Format};
use zarrox_tools::copy::Property;

/// Parses a value.
type Read<T> = fn(&str) -> Result<T, String>;

/// A parser for a value, with some or all of the possible values.
pub(crate) struct Suggesting<T> {
    read: Read<T>,
    values: fn() -> Vec<String>,
    value: PhantomData<T>,
}

impl<T> Clone for Suggesting<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

/// Returns a value parser with suggestions.
pub(crate) fn suggesting<T>(read: Read<T>, values: fn() -> Vec<String>) -> Suggesting<T> {
    Suggesting { read, values, value: PhantomData }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Suggesting<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let text = value.to_str().ok_or_else(|| Error::new(ErrorKind::InvalidUtf8).with_cmd(command))?;
        (self.read)(text).map_err(|why| {
            let option = option.map_or_else(|| "...".to_owned(), ToString::to_string);
            let message = format!("invalid value '{text}' for '{option}': {why}");
            Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.values)().into_iter().map(PossibleValue::new)))
    }
}

/// Accepts any text.
pub(crate) fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Parses a value with the library's parser.
pub(crate) fn parsed<T: FromStr<Err = zarrox::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: zarrox::Error| error.to_string())
}

/// Returns the formats, with the common ones first.
pub(crate) fn formats() -> Vec<String> {
    Format::all().map(|format| format.to_string()).collect()
}

/// Returns the short names of the compressors.
pub(crate) fn compressors() -> Vec<String> {
    ["none", "zstd", "gzip", "zlib", "bz2", "xz", "lz4", "blosc"].map(str::to_owned).into()
}

/// Returns the data types whose names have no parameters.
pub(crate) fn data_types() -> Vec<String> {
    let examples = zarrox::codecs::registry().examples();
    let names = examples.iter().map(DataType::to_string);
    names.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).collect()
}

/// Returns the codecs that can precede a compressor.
pub(crate) fn filters() -> Vec<String> {
    let registry = zarrox::codecs::registry();
    let filters = registry.codecs().iter().filter(|codec| codec.kind != CodecKind::ArrayToBytes);
    filters.map(|codec| codec.name.strip_prefix("numcodecs.").unwrap_or(codec.name).to_owned()).collect()
}

/// Returns the properties that a conversion can lose.
pub(crate) fn losses() -> Vec<String> {
    Property::all().map(|what| what.to_string()).collect()
}
