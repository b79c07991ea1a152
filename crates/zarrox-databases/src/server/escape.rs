//! Escaping names that a server does not support.
//!
//! FTP commands and the entries of FTP listings are lines, so a line break in a name would end the line and begin another one.
//! HDFS does not support colons. These characters are percent-encoded as in URLs: a line break becomes `%0A`. A `%` becomes `%25`
//! if it would otherwise look like the beginning of an escape.

/// A function that returns true for characters that must be escaped, which are ASCII characters.
pub(crate) type Special = fn(char) -> bool;

/// Escapes a path or a name for the server.
pub(crate) fn escaped(path: &str, special: Special) -> String {
    let mut text = String::with_capacity(path.len());
    for (place, character) in path.char_indices() {
        let misleading = character == '%' && escape_at(&path[place..], special).is_some();
        if special(character) || misleading {
            text.push_str(&format!("%{:02X}", u32::from(character)));
        } else {
            text.push(character);
        }
    }
    text
}

/// Returns the original name, given the name on the server.
pub(crate) fn unescaped(name: &str, special: Special) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        let (character, length) = match escape_at(rest, special) {
            Some(original) => (original, 3),
            None => (character, character.len_utf8()),
        };
        text.push(character);
        rest = &rest[length..];
    }
    text
}

/// Returns the character that is escaped as `%XX` at the beginning of the text, if there is one.
fn escape_at(text: &str, special: Special) -> Option<char> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let upper = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
    let code = u8::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(upper))?;
    Some(char::from(code)).filter(|character| special(*character) || *character == '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_and_holds_nothing_special() {
        let control: Special = |character| character.is_ascii_control();
        let colon: Special = |character| character == ':';
        assert_eq!(escaped("a%20/%2F é%", control), "a%20/%2F é%");
        assert_eq!(escaped("line\nbreak\r", control), "line%0Abreak%0D");
        assert_eq!(escaped("a:\n%3A", colon), "a%3A\n%253A");
        for name in
            ["%0A", "%250A", "%25", "%%0A", "%\n", "%2\n5", "\u{7f}%7F", "%0a", "%é", "", "%", "%3A", ":"]
        {
            for special in [control, colon] {
                let text = escaped(name, special);
                assert_eq!(unescaped(&text, special), name, "{text}");
                assert!(!text.chars().any(special), "{text:?}");
            }
        }
    }
}
