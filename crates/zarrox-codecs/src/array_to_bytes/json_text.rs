//! Conversion between MessagePack and Python's dialect of JSON, with `NaN` and `Infinity`, and with Python's options.
//!
//! Neither conversion builds a tree, and only writing is recursive, up to the nesting limit of values. `serde_json` is not used,
//! since it does not parse `NaN`, and a `Formatter` could only apply Python's options to a tree of values.

use std::borrow::Cow;

use zarrox_core::codec::CodecError;
use zarrox_core::internals::msgpack::{MAX_DEPTH, Token, utf8};

/// The maximum nesting depth of lists and objects in a chunk: that of a value, plus the chunk's own lists around the value, one
/// for each dimension.
const LEVELS: usize = MAX_DEPTH + 65;

/// Converts JSON text to MessagePack. `strict` rejects control characters inside strings, as Python does.
pub(crate) fn to_msgpack(text: &str, strict: bool) -> Result<Vec<u8>, CodecError> {
    // In MessagePack, counts precede the values, so the first pass determines the counts.
    let mut counts: Vec<u32> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    Reader::new(text, strict).read(|event| {
        if let (Some(&list), true) = (open.last(), !matches!(event, Event::Close)) {
            counts[list] = counts[list].saturating_add(1);
        }
        match event {
            Event::List | Event::Map => {
                open.push(counts.len());
                counts.push(0);
            }
            Event::Close => drop(open.pop()),
            Event::Value(_) => {}
        }
        Ok(())
    })?;
    let mut counts = counts.into_iter();
    let mut packed = Vec::with_capacity(text.len());
    Reader::new(text, strict).read(|event| match event {
        Event::List => Token::List(counts.next().unwrap_or(0)).write(&mut packed),
        Event::Map => Token::Map(counts.next().unwrap_or(0) / 2).write(&mut packed),
        Event::Value(token) => token.write(&mut packed),
        Event::Close => Ok(()),
    })?;
    Ok(packed)
}

/// An event of the parser.
enum Event<'a> {
    /// A list begins.
    List,
    /// An object begins: keys, each followed by its value.
    Map,
    /// A value or a key.
    Value(Token<'a>),
    /// The innermost list or object ends.
    Close,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    strict: bool,
    /// Whether each level is an object.
    levels: Vec<bool>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, strict: bool) -> Self {
        Self { text, at: 0, strict, levels: Vec::new() }
    }

    /// Calls `work` with all events of the text, which must be a single value.
    fn read(mut self, mut work: impl FnMut(Event<'_>) -> Result<(), CodecError>) -> Result<(), CodecError> {
        loop {
            match self.peek() {
                Some(open @ (b'[' | b'{')) => {
                    let map = open == b'{';
                    self.at += 1;
                    work(if map { Event::Map } else { Event::List })?;
                    if self.take(if map { b'}' } else { b']' }) {
                        work(Event::Close)?;
                    } else {
                        self.enter(map)?;
                        if map {
                            self.key(&mut work)?;
                        }
                        continue;
                    }
                }
                Some(b'"') => {
                    let text = self.string()?;
                    work(Event::Value(Token::Text(text.as_bytes())))?;
                }
                _ => work(Event::Value(self.word()?))?,
            }
            // A value is followed by the next value, or by the ends of enclosing lists and objects.
            loop {
                let Some(&map) = self.levels.last() else {
                    return if self.peek().is_none() { Ok(()) } else { Err(self.wrong("the end")) };
                };
                if self.take(b',') {
                    if map {
                        self.key(&mut work)?;
                    }
                    break;
                }
                if !self.take(if map { b'}' } else { b']' }) {
                    return Err(self.wrong("',' or the end of a list or object"));
                }
                self.levels.pop();
                work(Event::Close)?;
            }
        }
    }

    fn enter(&mut self, map: bool) -> Result<(), CodecError> {
        if self.levels.len() >= LEVELS {
            let message = format!("lists and objects are nested more than {LEVELS} deep");
            return Err(CodecError::unsupported(message));
        }
        self.levels.push(map);
        Ok(())
    }

    fn key(&mut self, work: &mut impl FnMut(Event<'_>) -> Result<(), CodecError>) -> Result<(), CodecError> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a key in quotes"));
        }
        let text = self.string()?;
        work(Event::Value(Token::Text(text.as_bytes())))?;
        if self.take(b':') { Ok(()) } else { Err(self.wrong("':'")) }
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\n\r".contains(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn wrong(&self, wanted: &str) -> CodecError {
        CodecError::corrupt(format!("the text is not JSON: expected {wanted} at byte {}", self.at))
    }

    /// Reads a value that is not a string, list or object.
    fn word(&mut self) -> Result<Token<'static>, CodecError> {
        let rest = &self.text[self.at..];
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !['-', '+', '.'].contains(&c))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        let token = match word {
            "null" => Token::Nil,
            "true" => Token::Bool(true),
            "false" => Token::Bool(false),
            "NaN" => Token::F64(f64::NAN),
            "Infinity" => Token::F64(f64::INFINITY),
            "-Infinity" => Token::F64(f64::NEG_INFINITY),
            number => self.number(number)?,
        };
        self.at += length;
        Ok(token)
    }

    fn number(&self, word: &str) -> Result<Token<'static>, CodecError> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let unsigned = word.strip_prefix('-').unwrap_or(word);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let exponent_is_right = exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if !digits(whole) || leading_zero || !fraction.is_none_or(digits) || !exponent_is_right {
            return Err(self.wrong("a value"));
        }
        if fraction.is_none() && exponent.is_none() {
            let integer = word.parse().map(Token::Uint).or_else(|_| word.parse().map(Token::Int));
            return integer.map_err(|_| {
                CodecError::unsupported(format!("the integer {word:.40} does not fit into 64 bits"))
            });
        }
        word.parse().map(Token::F64).map_err(|_| self.wrong("a number"))
    }

    /// Reads a string. Its opening quote is the next character.
    fn string(&mut self) -> Result<Cow<'t, str>, CodecError> {
        self.at += 1;
        let mut whole = Cow::Borrowed("");
        loop {
            let rest = &self.text[self.at..];
            let special = |byte: u8| byte == b'"' || byte == b'\\' || (self.strict && byte < 0x20);
            let plain = rest
                .bytes()
                .position(special)
                .ok_or_else(|| CodecError::corrupt("the text is not JSON: it ends inside of a string"))?;
            if plain > 0 {
                whole = if whole.is_empty() { rest[..plain].into() } else { whole + &rest[..plain] };
            }
            self.at += plain;
            match rest.as_bytes()[plain] {
                b'"' => {
                    self.at += 1;
                    return Ok(whole);
                }
                b'\\' => whole.to_mut().push(self.escape()?),
                _ => return Err(self.wrong("no control character")),
            }
        }
    }

    /// Reads an escape sequence. Its backslash is the next character.
    fn escape(&mut self) -> Result<char, CodecError> {
        let escaped = self.text.as_bytes().get(self.at + 1).copied();
        let character = match escaped {
            Some(same @ (b'"' | b'\\' | b'/')) => same.into(),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.wrong("an escape sequence")),
        };
        self.at += 2;
        Ok(character)
    }

    /// Reads the character that `\uXXXX`, or a surrogate pair of them, represents.
    fn code_point(&mut self) -> Result<char, CodecError> {
        let first = self.code_unit()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let second = match self.text[self.at..].starts_with("\\u") {
            true => self.code_unit()?,
            false => 0,
        };
        if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
            let message = format!(
                "the text has half of a surrogate pair, \\u{first:04x}, which UTF-8 cannot represent"
            );
            return Err(CodecError::unsupported(message));
        }
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
            .ok_or_else(|| self.wrong("a character"))
    }

    fn code_unit(&mut self) -> Result<u32, CodecError> {
        let digits = self.text.get(self.at + 2..self.at + 6);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.wrong("four hexadecimal digits after \\u"))?;
        self.at += 6;
        Ok(unit)
    }
}

/// The options of Python's JSON encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// True if keys that JSON cannot represent are omitted together with their values.
    pub(crate) skip_keys: bool,
    /// True if non-ASCII characters are written as escape sequences.
    pub(crate) ascii: bool,
    /// True if `NaN` and `Infinity` may be written.
    pub(crate) allow_nan: bool,
    /// The indentation per level; `None` for a single line.
    pub(crate) indent: Option<String>,
    /// The separator between two values.
    pub(crate) item_separator: String,
    /// The separator between a key and its value.
    pub(crate) key_separator: String,
    /// True if objects are sorted by key.
    pub(crate) sort_keys: bool,
}

impl Style {
    /// Appends a MessagePack value as JSON text. The value must be valid and within the nesting limit.
    pub(crate) fn write(&self, packed: &[u8], out: &mut String) -> Result<(), CodecError> {
        self.value(&mut { packed }, 1, out)
    }

    fn value(&self, rest: &mut &[u8], level: usize, out: &mut String) -> Result<(), CodecError> {
        match Token::take(rest)? {
            Token::List(0) => out.push_str("[]"),
            Token::List(count) => {
                out.push('[');
                for index in 0..count {
                    self.separate(index == 0, level, out);
                    self.value(rest, level + 1, out)?;
                }
                self.new_line(level - 1, out);
                out.push(']');
            }
            Token::Map(count) => return self.map(rest, count, level, out),
            Token::Text(text) => self.string(utf8(text)?, out),
            Token::Bytes(_) => return Err(cannot("bytes")),
            Token::Extension(kind, _) => return Err(cannot(&format!("the extension type {kind}"))),
            simple => out.push_str(&self.simple(simple)?),
        }
        Ok(())
    }

    fn map(&self, rest: &mut &[u8], count: u32, level: usize, out: &mut String) -> Result<(), CodecError> {
        let mut members = Vec::new();
        for _ in 0..count {
            let key = self.key(rest)?;
            let value = zarrox_core::internals::msgpack::take_value(rest)?;
            members.extend(key.map(|key| (key, value)));
        }
        if self.sort_keys {
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        let Some(last) = members.len().checked_sub(1) else {
            out.push_str("{}");
            return Ok(());
        };
        out.push('{');
        for (index, (key, mut value)) in members.into_iter().enumerate() {
            self.separate(index == 0, level, out);
            self.string(&key, out);
            out.push_str(&self.key_separator);
            self.value(&mut value, level + 1, out)?;
            if index == last {
                self.new_line(level - 1, out);
            }
        }
        out.push('}');
        Ok(())
    }

    /// Returns a key as a string. Like Python, also converts numbers, booleans and `None`. Returns `None` if the key is to be
    /// omitted.
    fn key<'a>(&self, rest: &mut &'a [u8]) -> Result<Option<Cow<'a, str>>, CodecError> {
        let mut value = zarrox_core::internals::msgpack::take_value(rest)?;
        match Token::take(&mut value)? {
            Token::Text(text) => Ok(Some(utf8(text)?.into())),
            Token::Bytes(_) | Token::Extension(..) | Token::List(_) | Token::Map(_) if self.skip_keys => {
                Ok(None)
            }
            Token::Bytes(_) | Token::Extension(..) | Token::List(_) | Token::Map(_) => {
                Err(cannot("the key is neither text nor a number"))
            }
            simple => self.simple(simple).map(|text| Some(text.into())),
        }
    }

    fn simple(&self, token: Token<'_>) -> Result<String, CodecError> {
        Ok(match token {
            Token::Bool(value) => value.to_string(),
            Token::Uint(value) => value.to_string(),
            Token::Int(value) => value.to_string(),
            Token::F32(value) => self.float(value.into())?,
            Token::F64(value) => self.float(value)?,
            _ => "null".to_owned(),
        })
    }

    fn float(&self, value: f64) -> Result<String, CodecError> {
        if value.is_finite() {
            return Ok(zarrox_core::internals::data_type::python_float(value));
        }
        if !self.allow_nan {
            return Err(cannot(&format!("{value}, and 'allow_nan' is false")));
        }
        Ok(if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned())
    }

    fn separate(&self, first: bool, level: usize, out: &mut String) {
        if !first {
            out.push_str(&self.item_separator);
        }
        self.new_line(level, out);
    }

    fn new_line(&self, level: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            (0..level).for_each(|_| out.push_str(indent));
        }
    }

    fn string(&self, text: &str, out: &mut String) {
        out.push('"');
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                ' '..='~' => out.push(character),
                '\0'..='\x1f' => escape(character, out),
                _ if self.ascii => escape(character, out),
                _ => out.push(character),
            }
        }
        out.push('"');
    }
}

fn escape(character: char, out: &mut String) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

fn cannot(what: &str) -> CodecError {
    CodecError::unsupported(format!("JSON cannot represent {what}; msgpack2 can represent more"))
}

#[cfg(test)]
mod tests {
    use zarrox_core::internals::msgpack;

    use super::*;
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn style() -> Style {
        Style {
            skip_keys: false,
            ascii: true,
            allow_nan: true,
            indent: None,
            item_separator: ",".to_owned(),
            key_separator: ":".to_owned(),
            sort_keys: true,
        }
    }

    fn written(style: &Style, packed: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        style.write(packed, &mut text).map(|()| text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_python_writes_is_read_and_written_the_same() {
        // `json.dumps(…, sort_keys=True, separators=(",", ":"))` of Python 3.11.
        for text in [
            "null",
            "[]",
            "{}",
            "[1,-1,0,18446744073709551615,-9223372036854775808]",
            "[1.5,-0.0,1e+16,1e-05,123456789.0,5e-324,1.7976931348623157e+308]",
            "[NaN,Infinity,-Infinity]",
            r#"{"":[[],{}],"a":{"b":[null,true,false]},"\u00e9":"\ud83e\uddca\u007f"}"#,
            r#""\"\\\n\r\t\b\f\u0000/""#,
        ] {
            assert_eq!(written(&style(), &to_msgpack(text, true).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn any_json_is_read() {
        for (text, same) in [
            (" [ 1 , { \"b\" : 2 ,\n\"a\" :\t3 } ]\r\n", r#"[1,{"a":3,"b":2}]"#),
            (r#""\u00E9\/é""#, r#""\u00e9/\u00e9""#),
            ("[1E2,1e-2,0.10,-0,1e400]", "[100.0,0.01,0.1,0,Infinity]"),
        ] {
            assert_eq!(written(&style(), &to_msgpack(text, true).unwrap()).unwrap(), same);
        }
        assert_error(to_msgpack("\"a\nb\"", true), ErrorKind::Corrupt, "at byte 2");
        assert!(to_msgpack("\"a\nb\"", false).is_ok());
    }

    #[test]
    fn pythons_options_are_honoured() {
        // `json.dumps({"b": [1, []], "a": {}, "é": None}, …)` of Python 3.11.
        let packed = to_msgpack(r#"{"b":[1,[]],"a":{},"é":null}"#, true).unwrap();
        let text = |style: Style| written(&style, &packed).unwrap();
        assert_eq!(
            text(Style { sort_keys: false, ascii: false, ..style() }),
            r#"{"b":[1,[]],"a":{},"é":null}"#
        );
        let spaced = Style { item_separator: ", ".to_owned(), key_separator: ": ".to_owned(), ..style() };
        assert_eq!(text(spaced.clone()), r#"{"a": {}, "b": [1, []], "\u00e9": null}"#);
        let indented = Style { indent: Some("  ".to_owned()), ..spaced };
        assert_eq!(
            text(indented),
            "{\n  \"a\": {}, \n  \"b\": [\n    1, \n    []\n  ], \n  \"\\u00e9\": null\n}"
        );
        let nan = Token::F64(f64::NAN);
        let mut packed = Vec::new();
        nan.write(&mut packed).unwrap();
        let error = written(&Style { allow_nan: false, ..style() }, &packed).unwrap_err();
        assert!(error.contains("allow_nan"), "{error}");
    }

    #[test]
    fn keys_other_than_text_are_written_as_python_does() {
        let mut packed = Vec::new();
        let keys = [Token::Uint(1), Token::F64(2.5), Token::Bool(true), Token::Nil, Token::Bytes(b"x")];
        Token::Map(5).write(&mut packed).unwrap();
        for key in keys {
            key.write(&mut packed).unwrap();
            Token::Uint(0).write(&mut packed).unwrap();
        }
        assert!(written(&style(), &packed).unwrap_err().contains("key"));
        let skipping = Style { skip_keys: true, sort_keys: false, ..style() };
        assert_eq!(written(&skipping, &packed).unwrap(), r#"{"1":0,"2.5":0,"true":0,"null":0}"#);
        assert!(written(&style(), b"\xc4\x01x").unwrap_err().contains("bytes"));
    }

    #[test]
    fn what_others_call_json_is_json() {
        let mut random = zarrox_testkit::codec::Random::new(11);
        for _ in 0..20_000 {
            let value = msgpack::to_json(&crate::testing::objects::random(&mut random)).unwrap();
            let mut text =
                if random.below(2) == 0 { value.to_string() } else { format!("{value:#}") }.into_bytes();
            let symbols = b" \n\"\\[]{},:-+.0e1uNtx";
            let at = random.below(text.len());
            match random.below(4) {
                0 => {}
                1 => drop(text.remove(at)),
                2 => text.insert(at, symbols[random.below(symbols.len())]),
                _ => text[at] = symbols[random.below(symbols.len())],
            }
            let Ok(text) = String::from_utf8(text) else { continue };
            let found = to_msgpack(&text, true).and_then(|packed| msgpack::to_json(&packed));
            match (found, serde_json::from_str::<zarrox_core::json::Json>(&text)) {
                (Ok(found), Ok(same)) => assert_eq!(found, same, "{text}"),
                (Err(_), Err(_)) => {}
                // Python reads a number that is too large for a float as infinity. Integers that need more than 64 bits are not
                // supported here.
                (found, theirs) => {
                    let said = found.map_or_else(|error| error.to_string(), |found| found.to_string());
                    assert!(
                        said.contains("64 bits") || said.contains("Infinity"),
                        "{text}: {said} {theirs:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn nonsense_is_an_error_and_takes_no_stack() {
        for bad in [
            "",
            " ",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1,}",
            "{1:2}",
            "{\"a\" 1}",
            "1 2",
            "[1]]",
            "]",
            "[1}",
            "nul",
            "nan",
            "-",
            "01",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "0x10",
            "--1",
            "\"",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\u+123\"",
            "\"\\ué9\"",
            "'a'",
            "[1 2]",
        ] {
            let error = to_msgpack(bad, true).unwrap_err().to_string();
            assert!(error.contains("not JSON"), "{bad}: {error}");
        }
        for (bad, says) in [
            ("18446744073709551616", "64 bits"),
            ("-9223372036854775809", "64 bits"),
            (r#""\ud800""#, "half of a surrogate pair"),
            (r#""\udc00\ud800""#, "half of a surrogate pair"),
            (r#""\ud800\u0041""#, "half of a surrogate pair"),
        ] {
            let error = to_msgpack(bad, true).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        for deep in ["[".repeat(1 << 20), "{\"a\":".repeat(1 << 20)] {
            assert!(to_msgpack(&deep, true).unwrap_err().to_string().contains("deep"));
        }
        let deepest = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        let packed = to_msgpack(&deepest, true).unwrap();
        assert_eq!(msgpack::element(&packed).unwrap(), packed);
        assert_eq!(written(&style(), &packed).unwrap(), deepest);
    }
}
