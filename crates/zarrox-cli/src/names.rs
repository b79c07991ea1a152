//! Lists of names in messages.

/// Returns names for a message, shortened to the first few and the number of the others; `none` if there are no names.
pub(crate) fn listed(names: &[String], none: &str) -> String {
    const SHOWN: usize = 10;
    match names.len() {
        0 => none.to_owned(),
        count if count > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}
