//! Conditional requests and range requests (RFC 9110).

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};

/// The maximum number of ranges. The response to more ranges is the whole value, as the standard recommends.
const MOST_RANGES: usize = 1024;

/// The part of a value that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The whole value.
    Whole,
    /// One range: the offset and the length in bytes.
    Range(u64, u64),
    /// Several ranges.
    Ranges(Vec<(u64, u64)>),
    /// Nothing: the client has the value (304).
    NotModified,
    /// Nothing: a precondition failed (412).
    Changed,
    /// Nothing: no range is inside the value (416).
    Unsatisfiable,
}

/// Determines which part of a value of this size and tag is sent.
pub(crate) fn sent(headers: &HeaderMap, size: u64, tag: Option<&str>) -> Sent {
    if text(headers, &IF_MATCH).is_some_and(|list| !lists(&list, tag, false)) {
        return Sent::Changed;
    }
    if text(headers, &IF_NONE_MATCH).is_some_and(|list| lists(&list, tag, true)) {
        return Sent::NotModified;
    }
    let Some(range) = text(headers, &RANGE) else { return Sent::Whole };
    // Values have no modification date, so only a tag can match.
    if text(headers, &IF_RANGE).is_some_and(|expected| !is_same(expected.trim(), tag, false)) {
        return Sent::Whole;
    }
    match ranges(&range) {
        None => Sent::Whole,
        Some(ranges) => chosen(&ranges, size),
    }
}

/// A requested range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// From an offset to the offset of the last byte, or to the end.
    From(u64, Option<u64>),
    /// The last bytes.
    Last(u64),
}

/// Returns the ranges of a header; `None` for an invalid header, which is ignored.
pub(crate) fn ranges(header: &str) -> Option<Vec<Asked>> {
    let (unit, list) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that overflows is after the end of any value.
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    let one = |text: &str| {
        let (first, last) = text.trim().split_once('-')?;
        match (first.trim(), last.trim()) {
            ("", last) => number(last).map(Asked::Last),
            (first, "") => Some(Asked::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Asked::From(first, Some(last)))
            }
        }
    };
    let items = list.split(',').filter(|item| !item.trim().is_empty());
    let ranges = items.map(one).collect::<Option<Vec<_>>>()?;
    (!ranges.is_empty() && ranges.len() <= MOST_RANGES).then_some(ranges)
}

/// Returns the ranges inside a value.
fn chosen(asked: &[Asked], size: u64) -> Sent {
    let inside = asked.iter().filter_map(|range| match *range {
        Asked::From(first, _) if first >= size => None,
        Asked::From(first, last) => {
            let end = last.map_or(size, |last| last.saturating_add(1).min(size));
            Some((first, end - first))
        }
        Asked::Last(0) => None,
        Asked::Last(_) if size == 0 => None,
        Asked::Last(length) => Some((size.saturating_sub(length), length.min(size))),
    });
    let inside: Vec<(u64, u64)> = inside.collect();
    let total = inside.iter().fold(0_u64, |total, (_, length)| total.saturating_add(*length));
    match inside.as_slice() {
        [] => Sent::Unsatisfiable,
        [(offset, length)] => Sent::Range(*offset, *length),
        // Overlapping ranges would send more bytes than the value has.
        _ if total > size => Sent::Whole,
        _ => Sent::Ranges(inside),
    }
}

/// Returns true if a list of tags contains this tag, or is `*`.
fn lists(list: &str, tag: Option<&str>, weak: bool) -> bool {
    list.trim() == "*" || list.split(',').any(|listed| is_same(listed.trim(), tag, weak))
}

fn is_same(listed: &str, tag: Option<&str>, weak: bool) -> bool {
    let plain = if weak { listed.strip_prefix("W/").unwrap_or(listed) } else { listed };
    tag.is_some_and(|tag| tag == plain)
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Option<&str> = Some("\"abc\"");

    fn answer(pairs: &[(HeaderName, &str)], size: u64) -> Sent {
        let headers = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        sent(&headers, size, TAG)
    }

    #[test]
    fn ranges_are_those_of_the_standard() {
        let range = |text: &str, size: u64| answer(&[(RANGE, text)], size);
        assert_eq!(range("bytes=0-499", 1000), Sent::Range(0, 500));
        assert_eq!(range("bytes=500-", 1000), Sent::Range(500, 500));
        assert_eq!(range("bytes=-300", 1000), Sent::Range(700, 300));
        assert_eq!(range("bytes=-3000", 1000), Sent::Range(0, 1000));
        assert_eq!(range("bytes=0-99999999999999999999", 1000), Sent::Range(0, 1000));
        assert_eq!(range("bytes=0-0,-1", 1000), Sent::Ranges(vec![(0, 1), (999, 1)]));
        assert_eq!(range("Bytes = 1 - 2 , 4-5", 10), Sent::Ranges(vec![(1, 2), (4, 2)]));
        assert_eq!(range("bytes=1-2,2000-", 1000), Sent::Range(1, 2));
        for outside in ["bytes=1000-", "bytes=-0", "bytes=2000-3000,5000-"] {
            assert_eq!(range(outside, 1000), Sent::Unsatisfiable, "{outside}");
        }
        assert_eq!(range("bytes=0-", 0), Sent::Unsatisfiable);
        for nonsense in [
            "bytes",
            "bytes=",
            "bytes=a-b",
            "bytes=5-1",
            "items=0-1",
            "bytes=1",
            "bytes=--1",
            "bytes=+1-2",
            ",",
        ] {
            assert_eq!(range(nonsense, 1000), Sent::Whole, "{nonsense}");
        }
        assert_eq!(range("bytes=0-,0-", 1000), Sent::Whole);
        assert_eq!(range(&format!("bytes={}", "0-0,".repeat(5000)), 100_000), Sent::Whole);
    }

    #[test]
    fn conditions_come_before_ranges() {
        let range = (RANGE, "bytes=0-9");
        assert_eq!(answer(&[(IF_NONE_MATCH, "\"x\", \"abc\""), range.clone()], 100), Sent::NotModified);
        assert_eq!(answer(&[(IF_NONE_MATCH, "W/\"abc\"")], 100), Sent::NotModified);
        assert_eq!(answer(&[(IF_NONE_MATCH, "*")], 100), Sent::NotModified);
        assert_eq!(answer(&[(IF_NONE_MATCH, "\"x\""), range.clone()], 100), Sent::Range(0, 10));
        assert_eq!(answer(&[(IF_MATCH, "\"x\"")], 100), Sent::Changed);
        assert_eq!(answer(&[(IF_MATCH, "W/\"abc\"")], 100), Sent::Changed);
        assert_eq!(answer(&[(IF_MATCH, "\"abc\"")], 100), Sent::Whole);
        assert_eq!(answer(&[(IF_RANGE, "\"abc\""), range.clone()], 100), Sent::Range(0, 10));
        assert_eq!(answer(&[(IF_RANGE, "\"x\""), range.clone()], 100), Sent::Whole);
        assert_eq!(answer(&[(IF_RANGE, "Sat, 29 Oct 1994 19:43:31 GMT"), range], 100), Sent::Whole);
    }
}
