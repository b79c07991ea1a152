//! Formats, by the names that Python uses.

use pyo3::prelude::*;
use zarrox::Format;

/// Returns the name of a format: `3` for `v3`, and the unchanged name for formats without a number.
pub(crate) fn format_name(format: Format) -> String {
    let name = format.def().name();
    let number = name.strip_prefix('v').filter(|rest| rest.len() == 1);
    number.unwrap_or(name).to_owned()
}

/// Returns true if the documents of a format have the members of version 2.
pub(crate) fn has_words_of_v2(format: Format) -> bool {
    matches!(format, Format::V1 | Format::V2)
}

/// Returns the format with a name.
pub(crate) fn format_of(name: &str) -> PyResult<Format> {
    let known = Format::all().find(|format| format_name(*format) == name || format.def().name() == name);
    known.ok_or_else(|| {
        let names: Vec<String> = Format::all().map(format_name).collect();
        let message = format!("unknown Zarr format '{name}'; expected one of {}", names.join(", "));
        pyo3::exceptions::PyValueError::new_err(message)
    })
}
