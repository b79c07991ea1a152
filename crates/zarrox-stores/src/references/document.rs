//! A JSON document whose values can be read as originally written.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// The numbers that only Python's JSON module supports, each with a substitute of the same length.
const TOKENS: [(&[u8], &[u8]); 3] =
    [(b"NaN", b"0.0"), (b"Infinity", b"0.000000"), (b"-Infinity", b"-0.000000")];

/// The characters that can precede or follow a number.
const SEPARATORS: &[u8] = b" \t\r\n,:[]{}";

/// A document that Python may have written.
///
/// `serde_json` does not accept the numbers `NaN` and `Infinity`. It parses a copy in which other numbers replace them. The
/// values are then taken from the original document.
pub(super) struct Document<'a> {
    written: &'a [u8],
    readable: Cow<'a, [u8]>,
}

impl<'a> Document<'a> {
    pub(super) fn new(written: &'a [u8]) -> Self {
        Self { written, readable: without_tokens(written) }
    }

    /// Returns the text for `serde_json`.
    pub(super) fn readable(&self) -> &[u8] {
        &self.readable
    }

    /// Returns the original text of a value in the readable copy.
    pub(super) fn written<'b>(&'b self, value: &'b RawValue) -> &'b [u8] {
        let read = value.get().as_bytes();
        let start = read.as_ptr().addr().wrapping_sub(self.readable.as_ptr().addr());
        let end = start.saturating_add(read.len());
        self.written.get(start..end).unwrap_or(read)
    }
}

/// Replaces [`TOKENS`] with other numbers. The text is only copied if it contains such tokens.
fn without_tokens(written: &[u8]) -> Cow<'_, [u8]> {
    let mut readable = Cow::Borrowed(written);
    let mut at = 0;
    while let Some(&byte) = written.get(at) {
        if byte == b'"' {
            at = end_of_string(written, at + 1);
            continue;
        }
        if let Some((token, number)) = TOKENS.iter().find(|(token, _)| stands_at(written, at, token)) {
            readable.to_mut()[at..at + token.len()].copy_from_slice(number);
            at += token.len();
            continue;
        }
        at += 1;
    }
    readable
}

/// Returns true if there is a complete token at this offset.
fn stands_at(text: &[u8], at: usize, token: &[u8]) -> bool {
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| SEPARATORS.contains(byte));
    text[at..].starts_with(token)
        && ends(at.checked_sub(1).and_then(|before| text.get(before)))
        && ends(text.get(at + token.len()))
}

/// Returns the offset after the closing quotation mark of a string.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_numbers_to_the_reader_and_stay_in_the_document() {
        for (value, readable) in [
            ("NaN", "0.0"),
            ("[-Infinity,Infinity, NaN]", "[-0.000000,0.000000, 0.0]"),
            (r#"{"NaN": "\"Infinity", "b": NaN}"#, r#"{"NaN": "\"Infinity", "b": 0.0}"#),
            (r#"["\\", NaN]"#, r#"["\\", 0.0]"#),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            let text = format!(" {value} ");
            let document = Document::new(text.as_bytes());
            assert_eq!(document.readable(), format!(" {readable} ").as_bytes());
            let raw: &RawValue = serde_json::from_slice(document.readable()).unwrap();
            assert_eq!(document.written(raw), value.as_bytes());
        }
    }

    #[test]
    fn texts_that_are_not_json_stay_so() {
        for text in ["N", "nan", "Na", "\"", "\"\\", "\"NaN", "NaNNaN", "Infinity1", "1NaN", "-NaN"] {
            let document = Document::new(text.as_bytes());
            assert!(serde_json::from_slice::<&RawValue>(document.readable()).is_err(), "{text}");
        }
    }
}
