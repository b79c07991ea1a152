//! The writer.

use std::fmt::{self, Display, Write};

use super::{Json, Map};

/// Writes a value on one line, or with each member on its own line, indented by `indent` spaces per level.
pub(super) fn value(out: &mut impl Write, json: &Json, indent: Option<usize>) -> fmt::Result {
    value_within(out, json, indent, 0)
}

/// Writes a value that is nested `level` levels deep in a text.
pub(super) fn value_within(
    out: &mut impl Write,
    json: &Json,
    indent: Option<usize>,
    levels: usize,
) -> fmt::Result {
    Writer { out, indent, levels }.value(json)
}

/// Writes an object as [`value`] does.
pub(super) fn object(out: &mut impl Write, map: &Map, indent: Option<usize>) -> fmt::Result {
    Writer { out, indent, levels: 0 }.object(map)
}

struct Writer<'a, W> {
    out: &'a mut W,
    indent: Option<usize>,
    levels: usize,
}

impl<W: Write> Writer<'_, W> {
    fn value(&mut self, json: &Json) -> fmt::Result {
        match json {
            Json::Null => self.out.write_str("null"),
            Json::Bool(value) => write!(self.out, "{value}"),
            Json::Number(number) => write!(self.out, "{number}"),
            Json::String(text) => self.string(text),
            Json::Array(list) => self.enclosed(['[', ']'], list.iter(), |writer, json| writer.value(json)),
            Json::Object(map) => self.object(map),
        }
    }

    fn object(&mut self, map: &Map) -> fmt::Result {
        self.enclosed(['{', '}'], map.iter(), |writer, (name, json)| {
            writer.string(name)?;
            writer.out.write_str(if writer.indent.is_some() { ": " } else { ":" })?;
            writer.value(json)
        })
    }

    fn enclosed<T>(
        &mut self,
        [open, close]: [char; 2],
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        self.out.write_char(open)?;
        let empty = items.len() == 0;
        self.levels += 1;
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.write_char(',')?;
            }
            self.new_line()?;
            write(self, item)?;
        }
        self.levels -= 1;
        if !empty {
            self.new_line()?;
        }
        self.out.write_char(close)
    }

    fn new_line(&mut self) -> fmt::Result {
        match self.indent {
            Some(indent) => write!(self.out, "\n{:width$}", "", width = indent * self.levels),
            None => Ok(()),
        }
    }

    fn string(&mut self, text: &str) -> fmt::Result {
        self.out.write_char('"')?;
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
            let (plain, escaped) = rest.split_at(at);
            self.out.write_str(plain)?;
            let (escaped, after) = escaped.split_at(1);
            self.escaped(escaped)?;
            rest = after;
        }
        self.out.write_str(rest)?;
        self.out.write_char('"')
    }

    fn escaped(&mut self, character: &str) -> fmt::Result {
        match character {
            "\"" => self.out.write_str("\\\""),
            "\\" => self.out.write_str("\\\\"),
            "\u{8}" => self.out.write_str("\\b"),
            "\u{c}" => self.out.write_str("\\f"),
            "\n" => self.out.write_str("\\n"),
            "\r" => self.out.write_str("\\r"),
            "\t" => self.out.write_str("\\t"),
            other => other.bytes().try_for_each(|byte| write!(self.out, "\\u{byte:04x}")),
        }
    }
}

/// Writes one line; `{:#}` indents by two spaces.
impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = f.alternate().then_some(2);
        value(f, self, indent)
    }
}
