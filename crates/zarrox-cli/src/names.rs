//! Lists of names in messages.

/// Formats the first few names and the number of remaining names, for a message. Returns `none` for an empty list.
pub(crate) fn listed(names: &[String], none: &str) -> String {
    const SHOWN: usize = 10;
    match names.len() {
        0 => none.to_owned(),
        count if count > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}
