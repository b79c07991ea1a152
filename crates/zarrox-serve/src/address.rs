//! The path and the query of a request: segments and parameters without their escapes.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::failure::{Answer, Failure};

/// The characters of a segment that are escaped in links.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The most segments of a path.
const MOST_SEGMENTS: usize = 300;

/// A segment as links have it.
pub(crate) fn escaped(segment: &str) -> String {
    utf8_percent_encode(segment, ESCAPED).to_string()
}

/// A path as links have it.
pub(crate) fn escaped_path(path: &str) -> String {
    path.split('/').map(escaped).collect::<Vec<_>>().join("/")
}

/// The segments of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segments {
    names: Vec<String>,
    /// True if the path ends with `/`.
    pub(crate) is_directory: bool,
}

impl Segments {
    /// Divides a path. Empty segments count for nothing.
    pub(crate) fn new(path: &str) -> Answer<Self> {
        let raw: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        if raw.len() > MOST_SEGMENTS {
            return Err(Failure::bad(format!("the path has more than {MOST_SEGMENTS} segments")));
        }
        let names = raw.into_iter().map(decoded).collect::<Answer<Vec<_>>>()?;
        // A segment that holds a separator would become several.
        if let Some(bad) = names.iter().find(|name| name.contains(['/', '\\', '\0']) || is_dots(name)) {
            return Err(Failure::bad(format!("'{}' is no segment of a path", bad.escape_debug())));
        }
        Ok(Self { names, is_directory: path.ends_with('/') })
    }

    /// The segments after the first ones.
    pub(crate) fn after(&self, count: usize) -> &[String] {
        self.names.get(count..).unwrap_or_default()
    }

    /// The segment with this number.
    pub(crate) fn get(&self, number: usize) -> Option<&str> {
        self.names.get(number).map(String::as_str)
    }
}

fn is_dots(name: &str) -> bool {
    matches!(name, "." | "..")
}

fn decoded(text: &str) -> Answer<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| Failure::bad("the address is not UTF-8"))
}

/// The most numbers in a list.
const MOST_NUMBERS: usize = 1000;

/// The parameters of a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    pub(crate) fn new(query: Option<&str>) -> Answer<Self> {
        let mut parameters = BTreeMap::new();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = |text: &str| decoded(&text.replace('+', " "));
            parameters.insert(decoded(name)?, decoded(value)?);
        }
        Ok(Self(parameters))
    }

    /// Refuses parameters that a call does not have.
    pub(crate) fn only(&self, known: &[&str]) -> Answer<()> {
        let is_unknown = |name: &&String| !known.contains(&name.as_str()) && *name != "token";
        match self.0.keys().find(is_unknown) {
            None => Ok(()),
            Some(name) => {
                let name = name.escape_debug();
                Err(Failure::bad(format!("'{name}' is no parameter here; there are: {}", known.join(", "))))
            }
        }
    }

    /// A parameter as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter of a type that has a text form.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Answer<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|error| Failure::bad(format!("{name}={}: {error}", text.escape_debug())))
    }

    /// A number from 1 to the most.
    pub(crate) fn count(&self, name: &str, most: u64) -> Answer<Option<u64>> {
        let Some(count) = self.parsed::<u64>(name)? else { return Ok(None) };
        if !(1..=most).contains(&count) {
            return Err(Failure::bad(format!("{name}={count} is not from 1 to {most}")));
        }
        Ok(Some(count))
    }

    /// A finite number.
    pub(crate) fn number(&self, name: &str) -> Answer<Option<f64>> {
        let number = self.parsed::<f64>(name)?;
        match number {
            Some(other) if !other.is_finite() => Err(Failure::bad(format!("{name}={other} is not finite"))),
            number => Ok(number),
        }
    }

    /// Numbers apart by commas; none if the parameter is not there.
    pub(crate) fn numbers(&self, name: &str) -> Answer<Vec<f64>> {
        let items = self.text(name).unwrap_or_default().split(',').map(str::trim);
        let numbers: Result<Vec<f64>, _> =
            items.filter(|item| !item.is_empty()).take(MOST_NUMBERS + 1).map(str::parse).collect();
        let numbers =
            numbers.map_err(|_| Failure::bad(format!("{name} is a list of numbers, such as 5,50,95")))?;
        if numbers.len() > MOST_NUMBERS {
            return Err(Failure::bad(format!("{name} has more than {MOST_NUMBERS} numbers")));
        }
        Ok(numbers)
    }

    /// True or false; false if it is not there.
    pub(crate) fn flag(&self, name: &str) -> Answer<bool> {
        match self.text(name) {
            None | Some("false" | "0" | "no") => Ok(false),
            Some("" | "true" | "1" | "yes") => Ok(true),
            Some(other) => {
                Err(Failure::bad(format!("{name}={} is neither true nor false", other.escape_debug())))
            }
        }
    }

    /// One of several words; the first if it is not there.
    pub(crate) fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Answer<T> {
        let first = words.first().map(|(_, value)| *value);
        let chosen = match self.text(name) {
            None => first,
            Some(text) => words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value),
        };
        chosen.ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Failure::bad(format!("{name} is one of {}", words.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_lead_nowhere_else() {
        let segments = Segments::new("/data//a%20b/c/").unwrap();
        assert_eq!(
            (segments.after(1), segments.is_directory),
            (["a b".to_owned(), "c".to_owned()].as_slice(), true)
        );
        for bad in ["/..", "/a/%2e%2e/b", "/a%2fb", "/a%5cb", "/%00", "/%ff", "/."] {
            assert!(Segments::new(bad).is_err(), "{bad}");
        }
        assert!(Segments::new(&"/a".repeat(1000)).is_err());
        assert_eq!(escaped_path("a b/ü"), "a%20b/%C3%BC");
    }

    #[test]
    fn parameters_are_what_they_should_be() {
        let query = Query::new(Some("select=0,+::90&n=5&x=nan&on")).unwrap();
        assert_eq!(query.text("select"), Some("0, ::90"));
        assert_eq!(query.count("n", 5).unwrap(), Some(5));
        assert!(query.count("n", 4).is_err() && query.number("x").is_err() && query.only(&["n"]).is_err());
        assert!(query.flag("on").unwrap() && !query.flag("off").unwrap());
        assert_eq!(query.choice("kind", &[("a", 1), ("b", 2)]).unwrap(), 1);
        assert!(query.choice("select", &[("a", 1)]).is_err());
        assert!(Query::new(Some("%ff=1")).is_err());
        let query = Query::new(Some("a=1,+-2.5e3,&b=1,x")).unwrap();
        assert_eq!(query.numbers("a").unwrap(), [1.0, -2500.0]);
        assert!(query.numbers("none").unwrap().is_empty() && query.numbers("b").is_err());
    }
}
