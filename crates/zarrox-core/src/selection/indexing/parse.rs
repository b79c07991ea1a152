//! Selections in NumPy's syntax.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use super::{DimSelection, IndexArray, Mask, Selection};
use crate::error::{Error, Result};

/// The maximum nesting of lists, which is the maximum number of dimensions in NumPy.
const DEEPEST: usize = 64;

impl FromStr for Selection {
    type Err = Error;

    /// Parses NumPy's syntax: `-1, ::90, 5:10, ..., None, [0, 2], [True, False]`, with or without enclosing brackets.
    ///
    /// Outer brackets belong to the selection, as in NumPy: `[0, 2]` is an index for each of two dimensions. A single list is
    /// written `[[0, 2]]`, or with a comma: `[0, 2],`.
    fn from_str(text: &str) -> Result<Self> {
        let inner = without_brackets(text.trim());
        if inner.trim().is_empty() {
            return Ok(Self::all());
        }
        let inner = inner.trim_end();
        let items = split_items(inner.strip_suffix(',').unwrap_or(inner));
        items.into_iter().enumerate().map(|(number, item)| parse_item(item.trim(), number)).collect()
    }
}

/// Returns the text inside the outermost brackets, if they enclose all of it.
fn without_brackets(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) else { return text };
    let mut depth: usize = 1;
    for byte in inner.bytes() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        // The first bracket is closed before the end.
        if depth == 0 {
            return text;
        }
    }
    inner
}

/// Splits at the commas outside lists.
fn split_items(text: &str) -> Vec<&str> {
    let mut depth: usize = 0;
    let separator = |character: char| {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    };
    text.split(separator).collect()
}

fn bad(part: &str, number: usize, what: &str) -> Error {
    let shown: String = part.chars().take(40).collect();
    let more = if shown.len() < part.len() { "…" } else { "" };
    Error::selection(format!(
        "'{shown}{more}' in item {number} of the selection {what}; an item is 5, 2:10, ::-1, ..., None, [0, 2] or \
         [True, False]"
    ))
}

fn integer(part: &str, number: usize) -> Result<i64> {
    let part = part.trim();
    part.parse().map_err(|error: ParseIntError| {
        let what = if farthest(&error).is_some() { "is outside of every array" } else { "is not an integer" };
        bad(part, number, what)
    })
}

/// Parses a bound of a slice. As in Python, a bound beyond the end of an array means its end.
fn bound(part: &str, number: usize) -> Result<Option<i64>> {
    let part = part.trim();
    if part.is_empty() {
        return Ok(None);
    }
    let bound = part.parse().or_else(|error| farthest(&error).ok_or(error));
    bound.map(Some).map_err(|_| bad(part, number, "is not an integer"))
}

/// Returns the bound that replaces a number that overflows `i64`.
fn farthest(error: &ParseIntError) -> Option<i64> {
    match error.kind() {
        IntErrorKind::PosOverflow => Some(i64::MAX),
        IntErrorKind::NegOverflow => Some(i64::MIN),
        _ => None,
    }
}

fn parse_item(text: &str, number: usize) -> Result<DimSelection> {
    match text {
        "..." => return Ok(DimSelection::Ellipsis),
        "None" | "newaxis" | "np.newaxis" => return Ok(DimSelection::NewAxis),
        list if list.starts_with('[') => return parse_list(list, number),
        _ => {}
    }
    let parts: Vec<&str> = text.split(':').collect();
    let bound = |part: &str| bound(part, number);
    match parts.as_slice() {
        [index] => integer(index, number).map(DimSelection::Index),
        [start, stop] => Ok(DimSelection::Slice { start: bound(start)?, stop: bound(stop)?, step: 1 }),
        [start, stop, step] => {
            let step = bound(step)?.unwrap_or(1);
            Ok(DimSelection::Slice { start: bound(start)?, stop: bound(stop)?, step })
        }
        _ => Err(bad(text, number, "has more than two colons")),
    }
}

/// The values of a list, all of the same kind.
#[derive(Default)]
struct Leaves {
    integers: Vec<i64>,
    booleans: Vec<bool>,
}

fn parse_list(text: &str, number: usize) -> Result<DimSelection> {
    let mut leaves = Leaves::default();
    let (shape, rest) = nested(text, number, 0, &mut leaves)?;
    if !rest.trim().is_empty() {
        return Err(bad(rest.trim(), number, "comes after the end of the list"));
    }
    match (leaves.integers, leaves.booleans) {
        (integers, booleans) if booleans.is_empty() => {
            IndexArray::new(shape, integers).map(DimSelection::Integers)
        }
        (integers, booleans) if integers.is_empty() => Mask::new(shape, booleans).map(DimSelection::Booleans),
        _ => Err(bad(text, number, "mixes integers and truth values")),
    }
}

/// Parses a list. Returns its shape and the text after it.
fn nested<'a>(
    text: &'a str,
    number: usize,
    depth: usize,
    leaves: &mut Leaves,
) -> Result<(Vec<usize>, &'a str)> {
    if depth == DEEPEST {
        return Err(bad(text, number, "is nested too deeply"));
    }
    let unclosed = || bad(text, number, "has no closing bracket");
    let mut rest = text.strip_prefix('[').ok_or_else(unclosed)?.trim_start();
    let (mut count, mut inner): (usize, Option<Vec<usize>>) = (0, None);
    while !rest.starts_with(']') {
        let shape;
        (shape, rest) = if rest.starts_with('[') {
            nested(rest, number, depth + 1, leaves)?
        } else {
            let end = rest.find([',', ']']).ok_or_else(unclosed)?;
            leaf(rest[..end].trim(), number, leaves)?;
            (Vec::new(), &rest[end..])
        };
        if inner.get_or_insert_with(|| shape.clone()) != &shape {
            return Err(bad(text, number, "has rows of different lengths"));
        }
        count += 1;
        rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.starts_with(']') => {}
            None if rest.is_empty() => return Err(unclosed()),
            None => return Err(bad(rest, number, "follows without a comma")),
        }
    }
    let mut shape = vec![count];
    shape.extend(inner.unwrap_or_default());
    Ok((shape, &rest[1..]))
}

fn leaf(text: &str, number: usize, leaves: &mut Leaves) -> Result<()> {
    match text {
        "True" | "true" => leaves.booleans.push(true),
        "False" | "false" => leaves.booleans.push(false),
        _ => leaves.integers.push(integer(text, number)?),
    }
    Ok(())
}
