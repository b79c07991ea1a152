//! Lists of names in a single string.

/// Decodes bytes as UTF-8 if they are valid, and otherwise as Latin-1, which old programs wrote.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect())
}

/// Decodes the name of an object, dimension or attribute. The name ends at the first NUL, as in C.
pub(crate) fn name_of(mut bytes: Vec<u8>) -> String {
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    text_of(bytes)
}

/// Escapes a name for a list: as in CDL, a backslash precedes each separator.
pub(super) fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        if matches!(letter, '\\' | ' ' | ';' | ':' | '=') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

/// Splits a string at unescaped separators. Returns the nonempty parts, trimmed but still escaped.
pub(super) fn parts(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut is_escaped) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        if letter == separator && !is_escaped {
            parts.push(&text[start..at]);
            start = at + letter.len_utf8();
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    parts.push(&text[start..]);
    parts.into_iter().map(trimmed).filter(|part| !part.is_empty()).collect()
}

/// Trims a string, except for an escaped space at its end.
fn trimmed(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.trim_end();
    let backslashes = end.len() - end.trim_end_matches('\\').len();
    let length = if backslashes % 2 == 1 && end.len() < text.len() { end.len() + 1 } else { end.len() };
    text.get(..length).unwrap_or(end)
}

/// Unescapes a part of a list.
pub(super) fn plain(part: &str) -> String {
    let (mut name, mut is_escaped) = (String::with_capacity(part.len()), false);
    for letter in part.chars() {
        if letter == '\\' && !is_escaped {
            is_escaped = true;
            continue;
        }
        is_escaped = false;
        name.push(letter);
    }
    name
}

/// Joins names into a space-separated list.
pub(super) fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(escaped).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_list() {
        let names = ["time", "a b", "x;y", "p:q=r", r"back\slash", "ends ", r"ends\", "ümlaut"];
        let text = list(names);
        let again: Vec<String> = parts(&text, ' ').into_iter().map(plain).collect();
        assert_eq!(again, names);
        let text = names.map(escaped).join("; ");
        let again: Vec<String> = parts(&text, ';').into_iter().map(plain).collect();
        assert_eq!(again, names);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_latin_1() {
        assert_eq!(text_of(b"T (\xb0C)".to_vec()), "T (°C)");
        assert_eq!(text_of("T (°C)".as_bytes().to_vec()), "T (°C)");
        assert_eq!(name_of(b"plugh\0\0".to_vec()), "plugh");
    }
}
