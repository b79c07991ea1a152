//! The names that Python uses for formats.

use zarrox::Format;

/// Returns the name of a format in Python: `3` for `v3`, and the unchanged name for formats without a number.
pub(crate) fn format_name(format: Format) -> String {
    let name = format.def().name();
    let number = name.strip_prefix('v').filter(|rest| rest.len() == 1);
    number.unwrap_or(name).to_owned()
}

/// Returns true if the documents of a format have the same members as those of v2.
pub(crate) fn has_words_of_v2(format: Format) -> bool {
    matches!(format, Format::V1 | Format::V2)
}
