//! Conversion of variable-length strings and bytes to NumPy's fixed-length types, with the length of the longest element.

use std::io::{BufWriter, Write};

use zarrox::data_type::Storage;
use zarrox::internals::data_type::{VARIABLE_BYTES, VARIABLE_TEXT};
use zarrox::json::Json;
use zarrox::{DataType, DynArray, Error, ErrorKind, Result};

use crate::exit::Failure;
use crate::interrupt;
use crate::window::Window;

/// The size of the output buffer in bytes.
const BUFFER: usize = 1 << 18;

/// Alternatives if the elements cannot be exported.
const WAYS: &str = "`zarrox dump` prints them with --json or --csv";

/// A conversion of strings to a fixed length.
pub(crate) struct Strings {
    /// The fixed-length data type.
    data_type: DataType,
    is_text: bool,
}

impl Strings {
    /// Reads all elements of a window to find the length of the longest one. Returns `None` if their length is fixed.
    pub(crate) fn measure(window: &Window<'_>, memory: u64) -> Result<Option<Self>> {
        if window.data_type().storage() != Storage::Variable {
            return Ok(None);
        }
        let is_text = is_text(window.data_type()).map_err(|error| window.with_path(error))?;
        let mut longest = 1;
        for block in window.whole_chunks(memory)? {
            interrupt::check()?;
            for element in window.read(&block)?.elements() {
                let length = length(element, is_text).map_err(|error| window.with_path(error))?;
                longest = longest.max(length);
            }
        }
        let name = if is_text { format!("<U{longest}") } else { format!("|S{longest}") };
        let found = zarrox::codecs::registry().data_type_from_v2(&Json::from(name));
        let (data_type, _) = found.map_err(|error| {
            let message =
                format!("an element of length {longest} is too long for strings of a fixed length; {WAYS}");
            window.with_path(Error::new(ErrorKind::Unsupported, message).with_source(error))
        })?;
        Ok(Some(Self { data_type, is_text }))
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Writes elements padded with NULs.
    pub(crate) fn write(&self, elements: &DynArray, out: &mut dyn Write) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        let padding = vec![0; self.data_type.size()];
        for element in elements.elements() {
            let bytes = if self.is_text { code_points(text(element)?) } else { element.to_vec() };
            let rest = padding.get(bytes.len()..).ok_or_else(|| {
                Error::new(ErrorKind::Corrupt, "the array changed during the export; export it again")
            })?;
            length(element, self.is_text)?;
            out.write_all(&bytes)?;
            out.write_all(rest)?;
        }
        Ok(out.flush()?)
    }
}

/// Returns true for strings and false for bytes. Other variable-length types are an error.
fn is_text(data_type: &DataType) -> Result<bool> {
    match data_type {
        text if text.is_named(VARIABLE_TEXT) => Ok(true),
        bytes if bytes.is_named(VARIABLE_BYTES) => Ok(false),
        other => {
            let message = format!("elements of {other} have no fixed size and are not strings; {WAYS}");
            Err(Error::new(ErrorKind::Unsupported, message))
        }
    }
}

/// Returns the length of an element in characters or bytes. An element that ends in NUL is an error, since NumPy strips the NUL.
fn length(element: &[u8], is_text: bool) -> Result<usize> {
    if element.ends_with(b"\0") {
        let message = format!(
            "an element ends in NUL, which fixed-length strings in NumPy files cannot represent; {WAYS}"
        );
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    Ok(if is_text { text(element)?.chars().count() } else { element.len() })
}

fn text(element: &[u8]) -> Result<&str> {
    let corrupt = |error| Error::new(ErrorKind::Corrupt, "an element is not UTF-8").with_source(error);
    std::str::from_utf8(element).map_err(corrupt)
}

fn code_points(text: &str) -> Vec<u8> {
    text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect()
}

/// Fails if elements without a fixed size would be written to a raw file.
pub(crate) fn refuse_raw(window: &Window<'_>) -> Result<()> {
    let data_type = window.data_type();
    if data_type.storage() != Storage::Variable {
        return Ok(());
    }
    let message = format!(
        "elements of {data_type} have no fixed size, and raw bytes do not record where each ends; strings can be exported \
        to .npy, and {WAYS}"
    );
    Err(window.with_path(Error::new(ErrorKind::Unsupported, message)))
}
