//! Patterns for the paths of nodes.

use std::str::FromStr;

use zarrox_core::{Error, Result};

use zarrox::internals::argument;

/// The maximum length of a pattern, in characters.
const LONGEST: usize = 4096;

/// A shell-like pattern for the paths of nodes below a group.
///
/// `*` matches any number of characters of a name, `?` a single character, `[a-z]` one of these characters, `[!a-z]` any other
/// character, and `**` between slashes any number of names. A pattern without a slash is compared with the name of a node, and a
/// pattern with a slash with its whole path.
///
/// ```
/// use zarrox_tools::Glob;
///
/// let winds: Glob = "wind_[uv]".parse()?;
/// assert!(winds.matches("climate/wind_u") && !winds.matches("climate/wind_x"));
/// let deep: Glob = "climate/**/t2m".parse()?;
/// assert!(deep.matches("climate/t2m") && deep.matches("climate/2020/may/t2m"));
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    names: Vec<Vec<char>>,
    /// True if only the name of a node is compared.
    is_name: bool,
}

impl FromStr for Glob {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) if a bracket is not closed.
    fn from_str(text: &str) -> Result<Self> {
        if text.chars().count() > LONGEST {
            return Err(argument(format!("a pattern has at most {LONGEST} characters")));
        }
        let names: Vec<Vec<char>> =
            text.trim_matches('/').split('/').map(|name| name.chars().collect()).collect();
        for name in &names {
            check(name).map_err(|why| argument(format!("the pattern '{text}': {why}")))?;
        }
        let is_name = !text.contains('/') && text != "**";
        Ok(Self { text: text.to_owned(), names, is_name })
    }
}

impl AsRef<str> for Glob {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The patterns that a builder collects. The error of an invalid pattern is kept until [`check`](Self::check).
#[derive(Debug, Clone, Default)]
pub struct Globs {
    globs: Vec<Glob>,
    invalid: Option<Error>,
}

impl Globs {
    /// Adds a pattern.
    pub fn add(&mut self, pattern: &str) {
        match pattern.parse() {
            Ok(glob) => self.globs.push(glob),
            Err(error) => self.invalid = self.invalid.take().or(Some(error)),
        }
    }

    /// Returns the error of the first invalid pattern.
    ///
    /// # Errors
    /// The error of parsing this pattern.
    pub fn check(&self) -> Result<()> {
        self.invalid.clone().map_or(Ok(()), Err)
    }

    /// Returns true if the list of patterns is empty.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Returns true if the path of a node matches a pattern.
    pub fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(path))
    }

    /// Returns the patterns.
    pub fn iter(&self) -> impl Iterator<Item = &Glob> {
        self.globs.iter()
    }
}

impl Glob {
    /// Returns true if the path of a node matches the pattern.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.trim_matches('/');
        let name = |name: &str| name.chars().collect::<Vec<char>>();
        if self.is_name {
            let last = path.rsplit('/').next().unwrap_or_default();
            return fits(&self.names[0], &name(last));
        }
        let path: Vec<Vec<char>> = path.split('/').map(name).collect();
        sequence(&self.names, &path, |pattern| pattern == &['*', '*'], |pattern, name| fits(pattern, name))
    }
}

/// Compares a sequence with a pattern in which some items match any number of elements. The number of steps is at most the
/// product of the two lengths.
fn sequence<P, T>(
    pattern: &[P],
    text: &[T],
    is_any: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut place) = (0, 0);
    // The last item that matches any number of elements, and the position after its match.
    let mut back: Option<(usize, usize)> = None;
    while place < text.len() {
        if at < pattern.len() && is_any(&pattern[at]) {
            back = Some((at, place));
            at += 1;
        } else if at < pattern.len() && fits(&pattern[at], &text[place]) {
            (at, place) = (at + 1, place + 1);
        } else if let Some((any, from)) = back {
            back = Some((any, from + 1));
            (at, place) = (any + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(is_any)
}

/// An item of the pattern for a name.
enum Item {
    Any,
    One,
    Char(char),
    Set { ranges: Vec<(char, char)>, negated: bool },
}

fn fits(pattern: &[char], name: &[char]) -> bool {
    let items = items(pattern);
    let fits = |item: &Item, &c: &char| match item {
        Item::Any => false,
        Item::One => true,
        Item::Char(own) => *own == c,
        Item::Set { ranges, negated } => {
            ranges.iter().any(|&(first, last)| first <= c && c <= last) != *negated
        }
    };
    sequence(&items, name, |item| matches!(item, Item::Any), fits)
}

fn items(pattern: &[char]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut rest = pattern;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        items.push(match first {
            '*' => Item::Any,
            '?' => Item::One,
            '[' => match set(rest) {
                Some((set, after)) => {
                    rest = after;
                    set
                }
                None => Item::Char('['),
            },
            c => Item::Char(c),
        });
    }
    items
}

/// Parses the set of characters after a bracket, and returns it with the rest of the pattern.
fn set(inside: &[char]) -> Option<(Item, &[char])> {
    let negated = matches!(inside.first(), Some('!' | '^'));
    let inside = if negated { &inside[1..] } else { inside };
    // A closing bracket at the first position is a character of the set.
    let end = inside.iter().skip(1).position(|&c| c == ']')? + 1;
    let (mut chars, mut ranges) = (&inside[..end], Vec::new());
    while let [first, rest @ ..] = chars {
        if let ['-', last, rest @ ..] = rest {
            ranges.push((*first, *last));
            chars = rest;
        } else {
            ranges.push((*first, *first));
            chars = rest;
        }
    }
    Some((Item::Set { ranges, negated }, &inside[end + 1..]))
}

fn check(name: &[char]) -> Result<(), &'static str> {
    let mut rest = name;
    while let Some(at) = rest.iter().position(|&c| c == '[') {
        rest = set(&rest[at + 1..]).ok_or("a bracket is not closed")?.1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn patterns_fit_as_those_of_shells() {
        for (pattern, fitting, others) in [
            ("t2m", &["t2m", "a/t2m"][..], &["t2", "t2m/x", "at2m"][..]),
            ("t*", &["t", "t2m", "a/b/tt"], &["a", "t/x"]),
            ("?2[a-m]", &["t2m", "x2a"], &["t2z", "t2", "tt2m"]),
            ("[!t]*", &["a", "a/b"], &["t", "a/t2"]),
            ("[]]", &["]"], &["["]),
            ("a/*", &["a/b"], &["a", "a/b/c", "b/a/c"]),
            ("a/**", &["a/b", "a/b/c", "a"], &["b", "b/a"]),
            ("**/x", &["x", "a/x", "a/b/x"], &["a/b"]),
            ("a/**/x", &["a/x", "a/b/c/x"], &["x", "a/b"]),
            ("*", &["a", "a/b"], &[]),
            ("**", &["a", "a/b"], &[]),
            ("a*b*c", &["abc", "aXbYc"], &["acb"]),
        ] {
            let glob: Glob = pattern.parse().unwrap();
            fitting.iter().for_each(|path| assert!(glob.matches(path), "{pattern} {path}"));
            others.iter().for_each(|path| assert!(!glob.matches(path), "{pattern} {path}"));
        }
    }

    #[test]
    fn bad_patterns_are_errors_and_long_ones_take_no_time() {
        assert!("a[b".parse::<Glob>().unwrap_err().to_string().contains("not closed"));
        assert_error("x".repeat(5000).parse::<Glob>(), ErrorKind::InvalidArgument, "at most 4096 characters");
        let slow: Glob = "*a".repeat(1000).parse().unwrap();
        assert!(!slow.matches(&"a".repeat(4000).replace("aaaa", "aaab")));
    }
}
