//! The parser.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::number::TOKENS;
use super::{Json, JsonNumber, Map};

/// The maximum nesting of lists and objects that the parser accepts.
pub(super) const MAX_DEPTH: usize = 127;

/// The error for text that is not JSON.
#[derive(Debug)]
pub(super) struct SyntaxError {
    what: &'static str,
    line: usize,
    column: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.what, self.line, self.column)
    }
}

impl std::error::Error for SyntaxError {}

/// The members of an object. The last of several members with the same name is the valid one.
pub(crate) type List<'a> = Vec<(Cow<'a, str>, Json)>;

/// The usual number of members in an array document.
const USUAL: usize = 12;

/// Parses the text of one value.
///
/// If `tokens` is true, Python's tokens are allowed: `NaN`, `Infinity` and `-Infinity`.
pub(super) fn value(bytes: &[u8], tokens: bool) -> Result<Json, SyntaxError> {
    Parser::whole(bytes, tokens, |parser| parser.value(MAX_DEPTH))
}

/// Parses the text of an object into the list of its members; returns `Err` with the value if it is not an object.
///
/// `left_out` names a member, and a member of that member. If the inner member is an object, it is only validated, and
/// replaced by an empty object. Returns true if the outer member exists and is an object.
pub(super) fn members<'a>(
    bytes: &'a [u8],
    tokens: bool,
    left_out: Option<[&str; 2]>,
) -> Result<Result<(List<'a>, bool), Json>, SyntaxError> {
    Parser::whole(bytes, tokens, |parser| {
        if parser.peek() != Some(b'{') {
            return parser.value(MAX_DEPTH).map(Err);
        }
        let mut list = Vec::with_capacity(USUAL);
        let mut is_left_out = false;
        parser.members(|parser, name, _| {
            let json = match left_out {
                Some([outer, inner]) if outer == name && parser.peek() == Some(b'{') => {
                    is_left_out = true;
                    parser.object_without(inner, MAX_DEPTH - 1)?
                }
                _ => parser.value(MAX_DEPTH - 1)?,
            };
            list.push((name, json));
            Ok(())
        })?;
        Ok(Ok((list, is_left_out)))
    })
}

/// The positions of a member of an object in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span<'a> {
    pub(crate) name: Cow<'a, str>,
    /// The range from the first quote of the name to the end of the value.
    pub(crate) member: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// Validates the text of one value, and returns the positions of members. The first list contains the members of the value, the
/// second list those of the first member on the path, and so on, as long as the members are objects.
pub(super) fn spans<'a>(bytes: &'a [u8], path: &[&str]) -> Result<Vec<Vec<Span<'a>>>, SyntaxError> {
    Parser::whole(bytes, true, |parser| {
        let mut lists = Vec::new();
        parser.skip_along(path, &mut lists, MAX_DEPTH)?;
        Ok(lists)
    })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    tokens: bool,
}

type Parsed<T> = Result<T, &'static str>;

const ENDS: &str = "the text ends inside of a value";
const DEEP: &str = "lists and objects are nested too deep";
const NO_NUMBER: &str = "expected a number";

impl<'a> Parser<'a> {
    fn whole<T>(
        bytes: &'a [u8],
        tokens: bool,
        parse: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Result<T, SyntaxError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| SyntaxError::new("the text is not UTF-8", bytes, error.valid_up_to()))?;
        let mut parser = Self { text, at: 0, tokens };
        parser.skip_space();
        let parsed = parse(&mut parser).and_then(|parsed| {
            parser.skip_space();
            if parser.at == bytes.len() { Ok(parsed) } else { Err("expected the end") }
        });
        parsed.map_err(|what| SyntaxError::new(what, bytes, parser.at))
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips the next byte if it equals `byte`. Returns true if it does.
    #[inline]
    fn takes(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if there { word.len() } else { 0 };
        there
    }

    /// Returns the text from `start` to the current position. Both positions are next to an ASCII character or at an end of the
    /// input.
    #[inline]
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Parses a value with at most `levels` nested lists and objects.
    fn value(&mut self, levels: usize) -> Parsed<Json> {
        match self.peek().ok_or(ENDS)? {
            b'"' => self.string().map(|text| Json::String(text.into_owned())),
            b'{' => {
                let mut map = Map::default();
                self.object(levels, |name, json| map.add_parsed(name, json))?;
                Ok(Json::Object(map))
            }
            b'[' => self.list(levels).map(Json::Array),
            b'0'..=b'9' | b'-' => self.number().map(Json::Number),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Parsed<Json> {
        if self.takes_word("null") {
            return Ok(Json::Null);
        }
        if self.takes_word("true") {
            return Ok(Json::Bool(true));
        }
        if self.takes_word("false") {
            return Ok(Json::Bool(false));
        }
        self.token().map(Json::Number).ok_or("expected a value")
    }

    fn token(&mut self) -> Option<JsonNumber> {
        let token = TOKENS.into_iter().find(|token| self.tokens && self.takes_word(token))?;
        Some(JsonNumber::of_text(token))
    }

    fn list(&mut self, levels: usize) -> Parsed<Vec<Json>> {
        let mut list = Vec::new();
        self.items(levels, |parser, below| {
            list.push(parser.value(below)?);
            Ok(())
        })?;
        Ok(list)
    }

    /// Skips a list; `item` skips each of its values, with the remaining number of levels.
    #[inline]
    fn items(&mut self, levels: usize, mut item: impl FnMut(&mut Self, usize) -> Parsed<()>) -> Parsed<()> {
        let below = levels.checked_sub(1).ok_or(DEEP)?;
        self.at += 1;
        self.skip_space();
        if self.takes(b']') {
            return Ok(());
        }
        loop {
            item(self, below)?;
            self.skip_space();
            if self.takes(b']') {
                return Ok(());
            }
            self.expect(b',', "expected ',' or ']'")?;
        }
    }

    fn object(&mut self, levels: usize, mut member: impl FnMut(Cow<'a, str>, Json)) -> Parsed<()> {
        let below = levels.checked_sub(1).ok_or(DEEP)?;
        self.members(|parser, name, _| {
            member(name, parser.value(below)?);
            Ok(())
        })
    }

    /// Skips an object; `value` skips each value, given its name and the position of the name.
    #[inline]
    fn members(&mut self, mut value: impl FnMut(&mut Self, Cow<'a, str>, usize) -> Parsed<()>) -> Parsed<()> {
        self.at += 1;
        self.skip_space();
        if self.takes(b'}') {
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.wanted("expected a name in quotes"));
            }
            let start = self.at;
            let name = self.string()?;
            self.skip_space();
            self.expect(b':', "expected ':'")?;
            value(self, name, start)?;
            self.skip_space();
            if self.takes(b'}') {
                return Ok(());
            }
            self.expect(b',', "expected ',' or '}'")?;
        }
    }

    /// Parses an object. If its member `left_out` is an object, that member is replaced by an empty object.
    fn object_without(&mut self, left_out: &str, levels: usize) -> Parsed<Json> {
        let below = levels.checked_sub(1).ok_or(DEEP)?;
        let mut map = Map::default();
        self.members(|parser, name, _| {
            let json = if name == left_out && parser.peek() == Some(b'{') {
                parser.skip(below)?;
                Map::default().into()
            } else {
                parser.value(below)?
            };
            map.add_parsed(name, json);
            Ok(())
        })?;
        Ok(map.into())
    }

    /// Validates a value, and skips it.
    fn skip(&mut self, levels: usize) -> Parsed<()> {
        match self.peek().ok_or(ENDS)? {
            b'"' => self.string().map(drop),
            b'{' => {
                let below = levels.checked_sub(1).ok_or(DEEP)?;
                self.members(|parser, _, _| parser.skip(below))
            }
            b'[' => self.items(levels, Self::skip),
            b'0'..=b'9' | b'-' => self.number().map(drop),
            _ => self.word().map(drop),
        }
    }

    /// Skips a value, and records the members of the objects along a path.
    fn skip_along(&mut self, path: &[&str], lists: &mut Vec<Vec<Span<'a>>>, levels: usize) -> Parsed<()> {
        if self.peek() != Some(b'{') {
            return self.skip(levels);
        }
        let below = levels.checked_sub(1).ok_or(DEEP)?;
        let level = lists.len();
        lists.push(Vec::new());
        self.members(|parser, name, start| {
            let value = parser.at;
            match path.split_first() {
                Some((first, path)) if *first == name => {
                    // The last of several members with the same name is the valid one.
                    lists.truncate(level + 1);
                    parser.skip_along(path, lists, below)?;
                }
                _ => parser.skip(below)?,
            }
            lists[level].push(Span { name, member: start..parser.at, value: value..parser.at });
            Ok(())
        })
    }

    /// Skips a punctuation character, and the whitespace after it.
    #[inline]
    fn expect(&mut self, sign: u8, message: &'static str) -> Parsed<()> {
        if !self.takes(sign) {
            return Err(self.wanted(message));
        }
        self.skip_space();
        Ok(())
    }

    fn wanted(&self, message: &'static str) -> &'static str {
        if self.at == self.text.len() { ENDS } else { message }
    }

    fn number(&mut self) -> Parsed<JsonNumber> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            if let Some(token) = self.token() {
                return Ok(token);
            }
            self.at += 1;
        }
        if !self.takes(b'0') {
            self.digits()?;
        }
        let mut float = self.at - start > 18;
        if self.takes(b'.') {
            self.digits()?;
            float = true;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
            float = true;
        }
        let text = self.since(start);
        if float || text.starts_with('-') {
            return Ok(JsonNumber::of_text(text));
        }
        let digits = text.bytes().map(|digit| u64::from(digit - b'0'));
        Ok(JsonNumber::unsigned(digits.fold(0, |number, digit| number * 10 + digit)))
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.wanted(NO_NUMBER)) }
    }

    /// Parses a string, which is borrowed if it has no escapes.
    fn string(&mut self) -> Parsed<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.skip_plain();
        let text = self.since(start);
        if self.takes(b'"') {
            return Ok(Cow::Borrowed(text));
        }
        let mut text = text.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escaped()?);
                }
                Some(_) => return Err("a control character must be escaped"),
                None => return Err(ENDS),
            }
            let plain = self.at;
            self.skip_plain();
            text.push_str(self.since(plain));
        }
    }

    /// Moves to the next escape or quote of a string.
    #[inline]
    fn skip_plain(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..=0x1f);
        self.at += rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
    }

    fn escaped(&mut self) -> Parsed<char> {
        let byte = self.peek().ok_or(ENDS)?;
        let character = match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.escaped_unit();
            }
            _ => return Err("unknown escape sequence"),
        };
        self.at += 1;
        Ok(character)
    }

    /// Parses one UTF-16 code unit, or a surrogate pair.
    fn escaped_unit(&mut self) -> Parsed<char> {
        let first = self.unit()?;
        let units = match first {
            0xd800..=0xdbff if self.takes_word("\\u") => [first, self.unit()?],
            _ => [first, 0],
        };
        char::decode_utf16(units).next().and_then(Result::ok).ok_or("unpaired surrogate")
    }

    fn unit(&mut self) -> Parsed<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().ok_or(ENDS)?;
            let digit = char::from(digit).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
            unit = unit << 4 | digit.ok_or("expected four hexadecimal digits")?;
            self.at += 1;
        }
        Ok(unit)
    }
}

impl SyntaxError {
    fn new(what: &'static str, bytes: &[u8], at: usize) -> Self {
        let before = bytes.get(..at).unwrap_or(bytes);
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Self { what, line, column: at - line_start + 1 }
    }
}
