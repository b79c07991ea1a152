//! Formats, by the names that Python uses.

use pyo3::prelude::*;
use zarrox::Format;

/// Returns the name of a format without the letter that the numbers have.
pub(crate) fn format_name(format: Format) -> String {
    let name = format.def().name();
    let number = name.strip_prefix('v').filter(|rest| rest.len() == 1);
    number.unwrap_or(name).to_owned()
}

/// Returns true if a format's documents have the words of version 2, which Python's users of zarr-python 2 know.
pub(crate) fn has_words_of_v2(format: Format) -> bool {
    matches!(format, Format::V1 | Format::V2)
}

/// Returns the format of a name.
pub(crate) fn format_of(name: &str) -> PyResult<Format> {
    let known = Format::all().find(|format| format_name(*format) == name || format.def().name() == name);
    known.ok_or_else(|| {
        let names: Vec<String> = Format::all().map(format_name).collect();
        let message = format!("'{name}' is not a format of Zarr; there are {}", names.join(", "));
        pyo3::exceptions::PyValueError::new_err(message)
    })
}
