//! Comparison of values, including the text of their numbers.

use super::value::{Json, Map};

/// Returns true if two objects have the same members in the same order with identical values, including the signs of zeros.
pub(crate) fn are_identical(a: &Map, b: &Map) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((name, x), (other, y))| name == other && is_identical(x, y))
}

/// Returns true if two values are identical, including the order of members and the signs of zeros.
pub(crate) fn is_identical(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => x.is_identical(y),
        (Json::Array(x), Json::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_identical(x, y))
        }
        (Json::Object(x), Json::Object(y)) => are_identical(x, y),
        _ => a == b,
    }
}

/// Returns the changed object, in which unchanged members keep their text from `before`: otherwise, a program that reads numbers
/// as floats and writes them back would lose digits.
pub fn with_texts_of(changed: Map, before: &Map) -> Map {
    let kept = |name: &str, json: &Json| before.get(name).filter(|old| is_identical(old, json)).cloned();
    let member = |(name, json): (String, Json)| {
        let json = kept(&name, &json).unwrap_or(json);
        (name, json)
    };
    changed.into_iter().map(member).collect()
}
