//! Queries: each call parses its parameters into its own type, which rejects unknown parameters.

use std::error::Error as _;

use axum::extract::rejection::QueryRejection;
use axum::extract::{self, FromRequestParts};
use axum::http::Uri;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use zarrox::Selection;

use crate::failure::{Answer, Failure};

/// The maximum number of numbers in a list.
const MOST_NUMBERS: usize = 1000;

/// The parameters of a request, parsed into the type of a call.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        Self::of(&parts.uri)
    }
}

impl<T: DeserializeOwned> Query<T> {
    /// Returns the parameters of a query string.
    pub(crate) fn of(uri: &Uri) -> Answer<Self> {
        let read = extract::Query::try_from_uri(uri);
        read.map(|extract::Query(query)| Self(query)).map_err(|rejection| refusal(&rejection))
    }
}

/// Returns the error for invalid parameters. Serde's message calls them fields.
fn refusal(rejection: &QueryRejection) -> Failure {
    let message = rejection.source().map_or_else(|| rejection.body_text(), ToString::to_string);
    let is_name =
        |before: &str| before.is_empty() || before.find(": ").is_some_and(|at| at + 2 == before.len());
    let about = |kind: &str| {
        let (_, rest) = message.split_once(kind).filter(|(before, _)| is_name(before))?;
        Some(rest.replace("there are no fields", "none is expected"))
    };
    let message = match (about("unknown field "), about("duplicate field ")) {
        (Some(rest), _) => format!("unknown parameter {rest}"),
        (_, Some(rest)) => format!("duplicate parameter {rest}"),
        _ => message,
    };
    Failure::bad(message)
}

/// The query of a call without parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}

/// An integer from 1 to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Count<const MOST: u64>(u64);

impl<const MOST: u64> Count<MOST> {
    /// Creates the number if it is in the range.
    pub(crate) fn new(count: u64) -> Option<Self> {
        (1..=MOST).contains(&count).then_some(Self(count))
    }

    /// Returns the number.
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl<const MOST: u64> TryFrom<String> for Count<MOST> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("'{}' is not an integer from 1 to {MOST}", text.escape_debug());
        text.parse().ok().and_then(Self::new).ok_or_else(wrong)
    }
}

/// A finite number.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Finite(pub(crate) f64);

impl TryFrom<String> for Finite {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Self).ok_or_else(|| format!("'{}' is not a finite number", text.escape_debug()))
    }
}

/// Numbers separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Numbers(pub(crate) Vec<f64>);

impl TryFrom<String> for Numbers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let numbers: Result<Vec<f64>, _> = items.take(MOST_NUMBERS + 1).map(str::parse).collect();
        let numbers = numbers
            .map_err(|_| format!("'{}' is not a list of numbers, such as 5,50,95", text.escape_debug()))?;
        if numbers.len() > MOST_NUMBERS {
            return Err(format!("the list has more than {MOST_NUMBERS} numbers"));
        }
        Ok(Self(numbers))
    }
}

/// A boolean. A parameter without a value means true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Flag(pub(crate) bool);

impl TryFrom<String> for Flag {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "false" | "0" | "no" => Ok(Self(false)),
            "" | "true" | "1" | "yes" => Ok(Self(true)),
            other => Err(format!("'{}' is neither true nor false", other.escape_debug())),
        }
    }
}

/// A selection in NumPy syntax; by default all elements.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Select(pub(crate) Selection);

impl TryFrom<String> for Select {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let selection = text.parse().map(Self);
        selection.map_err(|error| format!("'{}': {error}", text.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "lowercase")]
    struct All {
        select: Select,
        n: Option<Count<5>>,
        x: Option<Finite>,
        on: Flag,
        list: Numbers,
        kind: Kind,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        #[default]
        A,
        B,
    }

    fn read(query: &str) -> Result<All, String> {
        let uri = format!("/?{query}").parse().unwrap();
        Query::of(&uri).map(|Query(all)| all).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn parameters_are_what_they_should_be() {
        let all = read("select=0,+::90&n=5&x=-2.5e3&on&list=1,+-2.5e3,&kind=b").unwrap();
        assert_eq!(all.select.0, "0, ::90".parse().unwrap());
        assert_eq!((all.n.map(Count::get), all.x, all.on), (Some(5), Some(Finite(-2500.0)), Flag(true)));
        assert_eq!((all.list.0.as_slice(), all.kind), ([1.0, -2500.0].as_slice(), Kind::B));
        let none = read("").unwrap();
        assert_eq!((none.n, none.on, none.kind), (None, Flag(false), Kind::A));
    }

    #[test]
    fn errors_name_the_parameter_and_what_is_expected() {
        for (query, message) in [
            ("n=6", "n: '6' is not an integer from 1 to 5"),
            ("n=", "n: '' is not an integer from 1 to 5"),
            ("x=nan", "x: 'nan' is not a finite number"),
            ("on=off", "on: 'off' is neither true nor false"),
            ("list=1,x", "list: '1,x' is not a list of numbers, such as 5,50,95"),
            ("kind=c", "kind: unknown variant `c`, expected `a` or `b`"),
            (
                "field=1",
                "unknown parameter `field`, expected one of `select`, `n`, `x`, `on`, `list`, `kind`",
            ),
            ("n=1&n=2", "duplicate parameter `n`"),
        ] {
            assert_eq!(read(query).unwrap_err(), message);
        }
        assert!(read("select=x").unwrap_err().starts_with("select: 'x': "));
        assert!(read(&format!("list={}", "1,".repeat(2000))).unwrap_err().contains("more than 1000"));
        let none = Query::<NoParameters>::of(&"/?a=1".parse().unwrap()).unwrap_err();
        assert_eq!(none.message(), "unknown parameter `a`, none is expected");
    }
}
