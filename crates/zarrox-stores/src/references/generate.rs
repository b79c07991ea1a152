//! References that are written as rules: the member `gen` of version 1.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::reference::{Budget, Problem};
use super::template::{Scope, Value, render};

/// A reference that a rule has made: its key, its URL, and the range of bytes.
pub(super) type Generated = (String, String, Option<(u64, u64)>);

/// Makes all references of a rule.
pub(super) fn generate(
    rule: &Json,
    templates: &BTreeMap<String, String>,
    budget: &mut Budget,
    made: &mut dyn FnMut(Generated, &mut Budget) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let rule = Rule::new(rule).map_err(wrong)?;
    let lengths = rule.dimensions.iter().map(|(_, dimension)| dimension.len());
    budget.check_count(lengths.fold(1, u128::saturating_mul))?;
    let mut positions = vec![0_i64; rule.dimensions.len()];
    if rule.dimensions.iter().any(|(_, dimension)| dimension.len() == 0) {
        return Ok(());
    }
    loop {
        let places = rule.dimensions.iter().zip(&positions);
        let variables = places.map(|((name, dimension), &at)| ((*name).clone(), dimension.value(at)));
        let scope = Scope { templates, variables: &variables.collect() };
        made(rule.reference(scope).map_err(wrong)?, budget)?;
        if !advance(&rule.dimensions, &mut positions) {
            return Ok(());
        }
    }
}

fn wrong(message: impl std::fmt::Display) -> Problem {
    Problem::corrupt(format!("a rule in 'gen' is invalid: {message}"))
}

/// The next of all combinations, the last dimension first; whether there is one.
fn advance(dimensions: &[(&String, Dimension<'_>)], positions: &mut [i64]) -> bool {
    for ((_, dimension), at) in dimensions.iter().zip(positions).rev() {
        *at += 1;
        if u128::from(at.unsigned_abs()) < dimension.len() {
            return true;
        }
        *at = 0;
    }
    false
}

struct Rule<'a> {
    key: &'a str,
    url: &'a str,
    range: Option<(String, String)>,
    dimensions: Vec<(&'a String, Dimension<'a>)>,
}

impl<'a> Rule<'a> {
    fn new(rule: &'a Json) -> Result<Self, String> {
        let rule = rule.as_object().ok_or("it is not a JSON object")?;
        let text = |name: &str| {
            rule.get(name).and_then(Json::as_str).ok_or_else(|| format!("'{name}' must be a text"))
        };
        let number = |name: &str| match rule.get(name) {
            Some(Json::String(text)) => Ok(text.clone()),
            Some(Json::Number(number)) => Ok(number.to_string()),
            _ => Err(format!("'{name}' must be a template or an integer")),
        };
        let range = match (rule.contains_key("offset"), rule.contains_key("length")) {
            (true, true) => Some((number("offset")?, number("length")?)),
            (false, false) => None,
            _ => return Err("'offset' and 'length' must both be given".into()),
        };
        let dimensions =
            rule.get("dimensions").and_then(Json::as_object).ok_or("'dimensions' must be an object")?;
        let dimensions =
            dimensions.iter().map(|(name, dimension)| Ok((name, Dimension::new(name, dimension)?)));
        Ok(Self {
            key: text("key")?,
            url: text("url")?,
            range,
            dimensions: dimensions.collect::<Result<_, String>>()?,
        })
    }

    fn reference(&self, scope: Scope<'_>) -> Result<Generated, String> {
        let integer = |template: &str, name: &str| {
            let text = render(template, scope)?;
            text.trim()
                .parse::<u64>()
                .map_err(|_| format!("'{name}' must evaluate to a non-negative integer"))
        };
        let range = match &self.range {
            Some((offset, length)) => Some((integer(offset, "offset")?, integer(length, "length")?)),
            None => None,
        };
        Ok((render(self.key, scope)?, render(self.url, scope)?, range))
    }
}

/// The values that a name takes one after the other.
enum Dimension<'a> {
    List(&'a [Json]),
    Range { start: i64, step: i64, count: u128 },
}

impl<'a> Dimension<'a> {
    fn new(name: &str, dimension: &'a Json) -> Result<Self, String> {
        let wrong = || {
            format!(
                "the dimension '{name}' must be a list of integers and texts, or an object with an integer 'stop' and optional 'start' and 'step'"
            )
        };
        match dimension {
            Json::Array(values) if values.iter().all(|value| value.is_i64() || value.is_string()) => {
                Ok(Self::List(values))
            }
            Json::Object(range) => {
                let (start, stop, step) = range_of(range).ok_or_else(wrong)?;
                let span = if step > 0 {
                    i128::from(stop) - i128::from(start)
                } else {
                    i128::from(start) - i128::from(stop)
                };
                let count = u128::try_from(span).unwrap_or(0).div_ceil(u128::from(step.unsigned_abs()));
                Ok(Self::Range { start, step, count })
            }
            _ => Err(wrong()),
        }
    }

    fn len(&self) -> u128 {
        match self {
            Self::List(values) => values.len() as u128,
            Self::Range { count, .. } => *count,
        }
    }

    /// The value at a place that lies in the dimension.
    fn value(&self, at: i64) -> Value {
        match self {
            Self::Range { start, step, .. } => Value::Integer(start.saturating_add(step.saturating_mul(at))),
            Self::List(values) => match usize::try_from(at).ok().and_then(|at| values.get(at)) {
                Some(Json::String(text)) => Value::Text(text.clone()),
                value => Value::Integer(value.and_then(Json::as_i64).unwrap_or_default()),
            },
        }
    }
}

/// Start, stop and step, as Python's `range` has them.
fn range_of(range: &Map<String, Json>) -> Option<(i64, i64, i64)> {
    let integer = |name: &str, default: i64| range.get(name).map_or(Some(default), Json::as_i64);
    let stop = range.get("stop")?.as_i64()?;
    let step = integer("step", 1).filter(|step| *step != 0)?;
    Some((integer("start", 0)?, stop, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreErrorKind;
    use serde_json::json;

    fn generated(rule: &Json) -> Result<Vec<Generated>, Problem> {
        let templates = BTreeMap::from([("u".to_owned(), "server/path".to_owned())]);
        let mut all = Vec::new();
        generate(rule, &templates, &mut Budget::new(1 << 20), &mut |reference, _| {
            all.push(reference);
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn rules_become_references() {
        let rule = json!({"key": "a/{{i}}.{{d}}", "url": "http://{{u}}_{{d}}", "offset": "{{(i + 1) * 1000}}",
            "length": 10, "dimensions": {"i": {"start": 4, "stop": 0, "step": -3}, "d": [7, "x"]}});
        let found = generated(&rule).unwrap();
        let keys: Vec<_> = found.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys, ["a/4.7", "a/4.x", "a/1.7", "a/1.x"]);
        assert_eq!(found[3], ("a/1.x".into(), "http://server/path_x".into(), Some((2000, 10))));
        let empty = json!({"key": "a", "url": "b", "dimensions": {"i": {"stop": 0}}});
        assert!(generated(&empty).unwrap().is_empty());
        let whole = json!({"key": "a", "url": "b", "dimensions": {}});
        assert_eq!(generated(&whole).unwrap(), [("a".into(), "b".into(), None)]);
    }

    #[test]
    fn rules_that_make_too_much_or_nothing_are_refused() {
        let huge = json!({"key": "{{i}}", "url": "b", "dimensions": {"i": {"stop": 1_000_000}, "j": {"stop": 1_000_000}}});
        assert_eq!(generated(&huge).unwrap_err().kind, StoreErrorKind::TooLarge);
        for (rule, word) in [
            (json!([]), "object"),
            (json!({"url": "b", "dimensions": {}}), "'key'"),
            (json!({"key": "a", "url": "b"}), "'dimensions'"),
            (json!({"key": "a", "url": "b", "offset": "1", "dimensions": {}}), "must both be given"),
            (json!({"key": "a", "url": "b", "offset": "-1", "length": 1, "dimensions": {}}), "'offset'"),
            (json!({"key": "a", "url": "b", "dimensions": {"i": {"stop": 1, "step": 0}}}), "'i'"),
            (json!({"key": "a", "url": "b", "dimensions": {"i": [1.5]}}), "'i'"),
        ] {
            let problem = generated(&rule).unwrap_err();
            assert_eq!(problem.kind, StoreErrorKind::Corrupt, "{rule}");
            assert!(problem.message.contains(word), "{rule}: {}", problem.message);
        }
    }
}
