//! Parses the Python literals that occur in headers: dictionaries, tuples, lists, strings, numbers and booleans.

use zarrox::json::Json;

/// The maximum supported nesting depth. Structures are rarely nested more than two or three levels deep.
const DEEPEST: usize = 32;

/// A value in the dictionary of a header.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Bool(bool),
    Number(u64),
    Tuple(Vec<Value>),
    List(Vec<Value>),
}

impl Value {
    /// Converts the value to JSON. Tuples and lists both become JSON arrays.
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Bool(value) => (*value).into(),
            Self::Number(number) => (*number).into(),
            Self::Tuple(items) | Self::List(items) => items.iter().map(Self::to_json).collect(),
        }
    }
}

/// A member of a dictionary: its key, its value, and the source text of the value.
pub(super) type Member<'a> = (String, Value, &'a str);

/// Parses a dictionary and returns its members; `None` if the text is not a dictionary.
pub(super) fn dictionary(text: &str) -> Option<Vec<Member<'_>>> {
    let mut parser = Parser { text, at: 0 };
    let mut members = Vec::new();
    parser.token("{")?;
    while parser.token("}").is_none() {
        let key = parser.string()?;
        parser.token(":")?;
        let begin = parser.at;
        let value = parser.value(DEEPEST)?;
        members.push((key, value, text[begin..parser.at].trim()));
        if parser.token(",").is_none() {
            parser.token("}")?;
            break;
        }
    }
    parser.rest().trim().is_empty().then_some(members)
}

/// A parser for literals. Each method returns `None` if the text at the current position is something else.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// Parses a value with a nesting depth of at most `depth`.
    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match self.rest().trim_start().chars().next()? {
            '\'' | '"' => self.string().map(Value::Text),
            '(' => self.items("(", ")", depth).map(Value::Tuple),
            '[' => self.items("[", "]", depth).map(Value::List),
            '0'..='9' => self.number().map(Value::Number),
            _ => {
                let value = self.token("True").is_some();
                let known = value || self.token("False").is_some();
                known.then_some(Value::Bool(value))
            }
        }
    }

    fn items(&mut self, open: &str, close: &str, depth: usize) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        self.token(open)?;
        while self.token(close).is_none() {
            items.push(self.value(depth)?);
            if self.token(",").is_none() {
                self.token(close)?;
                break;
            }
        }
        Some(items)
    }

    /// Parses a nonnegative integer. Python 2 wrote an `L` after long integers.
    fn number(&mut self) -> Option<u64> {
        let rest = self.rest().trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..digits].parse().ok()?;
        self.token(&rest[..digits])?;
        let _ = self.token("L");
        Some(number)
    }

    fn string(&mut self) -> Option<String> {
        let quote = ["'", "\""].into_iter().find(|quote| self.token(quote).is_some())?;
        let rest = self.rest();
        let (mut text, mut characters) = (String::new(), rest.char_indices());
        while let Some((at, character)) = characters.next() {
            if quote.starts_with(character) {
                self.at += at + 1;
                return Some(text);
            }
            text.push(if character == '\\' { escape(&mut characters)? } else { character });
        }
        None
    }

    /// Skips whitespace and the given token. Returns `None` if the token does not come next.
    fn token(&mut self, token: &str) -> Option<()> {
        let rest = self.rest().trim_start().strip_prefix(token)?;
        self.at = self.text.len() - rest.len();
        Some(())
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

/// Parses an escape sequence after its backslash, and returns the escaped character.
fn escape(characters: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    let digits = match characters.next()?.1 {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        c @ ('\\' | '\'' | '"') => return Some(c),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut digit = || characters.next()?.1.to_digit(16);
    let point = (0..digits).try_fold(0_u32, |point, _| Some(point.checked_mul(16)? | digit()?));
    char::from_u32(point?)
}

#[cfg(test)]
mod tests {
    use crate::npy::quoted;

    use super::*;

    #[test]
    fn strings_survive() {
        for (text, written) in [
            ("a b", "'a b'"),
            ("it's", "\"it's\""),
            ("it's \"", "'it\\'s \"'"),
            ("a\\b\n\r\t\u{7f}", "'a\\\\b\\n\\r\\t\\x7f'"),
            ("né🧊", "'né🧊'"),
        ] {
            assert_eq!(quoted(text), written);
            let dictionary = format!("{{{written}: {written}}}");
            let members = super::dictionary(&dictionary).unwrap();
            assert_eq!(members, [(text.to_owned(), Value::Text(text.to_owned()), written)]);
        }
        let members = dictionary(r"{'\x41\u00e9\U0001f9ca': 1L}").unwrap();
        assert_eq!((members[0].0.as_str(), &members[0].1), ("Aé🧊", &Value::Number(1)));
        for broken in [r"'\x4'", r"'\ud800'", r"'\U00110000'", r"'\q'", r"'\", "'a"] {
            assert!(dictionary(&format!("{{{broken}: 1}}")).is_none(), "{broken}");
        }
    }

    #[test]
    fn values_are_nested_but_not_without_end() {
        let members = dictionary("{'a': [('x', (1,), []), True,], }").unwrap();
        assert_eq!(members[0].1.to_json(), zarrox::json::json!([["x", [1], []], true]));
        assert_eq!(members[0].2, "[('x', (1,), []), True,]");
        let nested = |depth: usize| format!("{{'a': {}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(dictionary(&nested(DEEPEST)).is_some());
        assert!(dictionary(&nested(DEEPEST + 1)).is_none());
        assert!(dictionary(&nested(1 << 20)).is_none());
        for broken in
            ["{'a': [1 2]}", "{'a': (1]}", "{'a': [,]}", "{'a': -1}", "{'a': None}", "{'a'}", "{'a': 1}}"]
        {
            assert!(dictionary(broken).is_none(), "{broken}");
        }
    }
}
