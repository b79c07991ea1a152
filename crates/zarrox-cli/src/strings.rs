//! Text and bytes of variable length as NumPy's files have them: of one length, the longest of any.

use std::io::{BufWriter, Write};

use zarrox::data_type::{Storage, VARIABLE_BYTES, VARIABLE_TEXT};
use zarrox::json::Json;
use zarrox::{DataType, DynArray, Error, ErrorKind, Result};

use crate::exit::Failure;
use crate::interrupt;
use crate::window::Window;

/// So much is written at once, in bytes.
const BUFFER: usize = 1 << 18;

/// The other ways, where there is no such file.
const WAYS: &str = "the command dump writes them with --json or --csv";

/// Strings that are written with one length.
pub(crate) struct Strings {
    /// The type of fixed length.
    data_type: DataType,
    is_text: bool,
}

impl Strings {
    /// Finds out which length the elements of a window need, for which it reads them all; `None` where their length is fixed.
    pub(crate) fn measure(window: &Window<'_>, memory: u64) -> Result<Option<Self>> {
        if window.data_type().storage() != Storage::Variable {
            return Ok(None);
        }
        let is_text = is_text(window.data_type()).map_err(|error| window.place(error))?;
        let mut longest = 1;
        for block in window.whole_chunks(memory)? {
            interrupt::check()?;
            for element in window.read(&block)?.elements() {
                let length = length(element, is_text).map_err(|error| window.place(error))?;
                longest = longest.max(length);
            }
        }
        let name = if is_text { format!("<U{longest}") } else { format!("|S{longest}") };
        let found = zarrox::codecs::registry().data_type_from_v2(&Json::from(name));
        let (data_type, _) = found.map_err(|error| {
            let message =
                format!("an element of the length {longest} is too long for one of a fixed length; {WAYS}");
            window.place(Error::new(ErrorKind::Unsupported, message).with_source(error))
        })?;
        Ok(Some(Self { data_type, is_text }))
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Writes elements with NULs behind them.
    pub(crate) fn write(&self, elements: &DynArray, out: &mut dyn Write) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        let padding = vec![0; self.data_type.size()];
        for element in elements.elements() {
            let bytes = if self.is_text { code_points(text(element)?) } else { element.to_vec() };
            let rest = padding.get(bytes.len()..).ok_or_else(|| {
                Error::new(ErrorKind::Corrupt, "the array was changed while it was exported; export it again")
            })?;
            length(element, self.is_text)?;
            out.write_all(&bytes)?;
            out.write_all(rest)?;
        }
        Ok(out.flush()?)
    }
}

/// True if elements are text, false if they are bytes; an error for anything else of variable length.
fn is_text(data_type: &DataType) -> Result<bool> {
    match data_type {
        text if text.is_named(VARIABLE_TEXT) => Ok(true),
        bytes if bytes.is_named(VARIABLE_BYTES) => Ok(false),
        other => {
            let message = format!("elements of {other} have no fixed length, and are no strings; {WAYS}");
            Err(Error::new(ErrorKind::Unsupported, message))
        }
    }
}

/// The length of an element, in characters or bytes. What ends in a NUL could not be told from a shorter one.
fn length(element: &[u8], is_text: bool) -> Result<usize> {
    if element.ends_with(b"\0") {
        let message = format!("an element ends in a NUL, which the strings of NumPy's files cannot; {WAYS}");
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

/// The error for files of nothing but elements, when these have no fixed length.
pub(crate) fn refuse_raw(window: &Window<'_>) -> Result<()> {
    let data_type = window.data_type();
    if data_type.storage() != Storage::Variable {
        return Ok(());
    }
    let message = format!(
        "elements of {data_type} have no fixed length, and raw bytes do not say where each ends; strings can be exported \
         to .npy, and {WAYS}"
    );
    Err(window.place(Error::new(ErrorKind::Unsupported, message)))
}
