//! Strings and floats in Python's notation: `'text'`, `b'bytes'`, `1e+16`.

/// Formats a string, given as its code points; invalid code points are escaped.
pub(in crate::data_type) fn text(points: &(impl Iterator<Item = u32> + Clone)) -> String {
    quoted(points, |point| match char::from_u32(point) {
        Some(c) if c.is_control() => format!("\\x{point:02x}"),
        Some(c) => c.to_string(),
        None if point < 0x1_0000 => format!("\\u{point:04x}"),
        None => format!("\\U{point:08x}"),
    })
}

/// Formats bytes; all except printable ASCII are escaped.
pub(in crate::data_type) fn bytes(bytes: &[u8]) -> String {
    let quoted = quoted(&bytes.iter().map(|&byte| u32::from(byte)), |byte| match char::from_u32(byte) {
        Some(c @ ' '..='~') => c.to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("b{quoted}")
}

/// Formats a float: `1.5`, `1e+16`, `nan`.
pub fn float(value: f64) -> String {
    super::float::format(&value.to_ne_bytes())
}

/// Formats characters in quotes; `other` formats the characters that have no short escape sequence.
fn quoted(points: &(impl Iterator<Item = u32> + Clone), other: impl Fn(u32) -> String) -> String {
    let has = |c: char| points.clone().any(|point| point == u32::from(c));
    let quote = if has('\'') && !has('"') { '"' } else { '\'' };
    let escaped = points.clone().map(|point| match char::from_u32(point) {
        Some('\\') => "\\\\".to_owned(),
        Some('\n') => "\\n".to_owned(),
        Some('\r') => "\\r".to_owned(),
        Some('\t') => "\\t".to_owned(),
        Some('\'') if quote == '\'' => "\\'".to_owned(),
        _ => other(point),
    });
    format!("{quote}{}{quote}", escaped.collect::<String>())
}
