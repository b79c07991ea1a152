//! The path and the query of a request, normalized for routes.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::failure::{Answer, Failure};

/// The characters of a segment that are escaped in links.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The maximum number of segments in a path.
const MOST_SEGMENTS: usize = 300;

/// Returns a segment, percent-encoded for links.
pub(crate) fn escaped(segment: &str) -> String {
    utf8_percent_encode(segment, ESCAPED).to_string()
}

/// Returns a path, percent-encoded for links.
pub(crate) fn escaped_path(path: &str) -> String {
    path.split('/').map(escaped).collect::<Vec<_>>().join("/")
}

/// Returns a path for routes: without empty segments, and without a trailing `/`.
pub(crate) fn canonical(path: &str) -> Answer<String> {
    let raw: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    if raw.len() > MOST_SEGMENTS {
        return Err(Failure::bad(format!("the path has more than {MOST_SEGMENTS} segments")));
    }
    let names = raw.into_iter().map(decoded).collect::<Answer<Vec<_>>>()?;
    // A segment with an encoded separator would become several segments.
    if let Some(bad) = names.iter().find(|name| name.contains(['/', '\\', '\0']) || is_dots(name)) {
        return Err(Failure::bad(format!("'{}' cannot be a segment of a path", bad.escape_debug())));
    }
    Ok(format!("/{}", names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join("/")))
}

fn is_dots(name: &str) -> bool {
    matches!(name, "." | "..")
}

fn decoded(text: &str) -> Answer<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().map_err(|_| Failure::bad("the address is not UTF-8"))
}

/// Splits a query into the parameters of the call and the token.
pub(crate) fn without_token(query: &str) -> Answer<(String, Option<String>)> {
    let (mut others, mut token) = (Vec::new(), None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let plain = pair.replace('+', " ");
        let (name, value) = plain.split_once('=').unwrap_or((&plain, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        match &*name {
            "token" => token = Some(value.into_owned()),
            _ => others.push(pair),
        }
    }
    Ok((others.join("&"), token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_nowhere_else() {
        assert_eq!(canonical("/data//a%20b/%63/").unwrap(), "/data/a%20b/c");
        assert_eq!(canonical("//").unwrap(), "/");
        for bad in ["/..", "/a/%2e%2e/b", "/a%2fb", "/a%5cb", "/%00", "/%ff", "/."] {
            assert!(canonical(bad).is_err(), "{bad}");
        }
        assert!(canonical(&"/a".repeat(1000)).is_err());
        assert_eq!(escaped_path("a b/ü"), "a%20b/%C3%BC");
    }

    #[test]
    fn the_token_is_no_parameter_of_a_call() {
        let divided = without_token("&a=1+2&token=x&b&%74oken=y+%C3%BC").unwrap();
        assert_eq!(divided, ("a=1+2&b".to_owned(), Some("y ü".to_owned())));
        assert_eq!(without_token("").unwrap(), (String::new(), None));
        assert!(without_token("%ff=1").is_err() && without_token("a=%ff").is_err());
    }
}
