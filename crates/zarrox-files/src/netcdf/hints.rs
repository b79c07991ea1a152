//! Attributes that control the export of a group.

use zarrox::json::{Json, Map};

use super::hierarchy::{Defined, Kind};
use super::names::{parts, plain};
use super::{ALL, DIMENSIONS, GROUPS, KIND, TYPE, VARIABLES};

/// The parsed attributes of a group. Invalid entries are ignored.
#[derive(Debug, Default, Clone)]
pub(crate) struct Hints {
    pub(crate) kind: Option<Kind>,
    pub(crate) dimensions: Vec<Defined>,
    /// The names of the variables, in order.
    pub(crate) variables: Vec<String>,
    /// The names of the groups, in order.
    pub(crate) groups: Vec<String>,
}

impl Hints {
    /// Reads the attributes of a group.
    pub(crate) fn of(attributes: &Map) -> Self {
        let text = |name: &str| attributes.get(name).and_then(Json::as_str).unwrap_or_default();
        let names = |name: &str| parts(text(name), ' ').into_iter().map(plain).collect();
        Self {
            kind: Kind::of_name(text(KIND)),
            dimensions: parts(text(DIMENSIONS), ';').into_iter().filter_map(defined).collect(),
            variables: names(VARIABLES),
            groups: names(GROUPS),
        }
    }
}

/// Returns the name of the user-defined type of a variable, if it has one.
pub(crate) fn user_type(attributes: &Map) -> Option<&str> {
    attributes.get(TYPE).and_then(Json::as_str).filter(|name| !name.is_empty())
}

/// Returns true for attributes that are only read by an export.
pub(crate) fn is_hint(name: &str) -> bool {
    ALL.contains(&name)
}

/// Parses a dimension, such as `time = UNLIMITED (24)` or `nv = 2`.
fn defined(part: &str) -> Option<Defined> {
    let [name, length] = parts(part, '=').try_into().ok()?;
    let unlimited = length.strip_prefix("UNLIMITED").map(str::trim);
    let digits = match unlimited {
        Some(rest) => rest.strip_prefix('(')?.strip_suffix(')')?,
        None => length,
    };
    let length = digits.trim().parse().ok()?;
    Some(Defined { name: plain(name), length, is_unlimited: unlimited.is_some() || length == 0 })
}
