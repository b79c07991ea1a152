//! Frames: the page inside a page of another origin, such as a notebook. Such a frame has no cookies, so the token is
//! in the path of all of its requests: `/t/TOKEN/…`.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use percent_encoding::percent_decode_str;

use crate::content::put;
use crate::guard::Guard;

/// The segment before a token.
const BEFORE_TOKEN: &str = "/t/";

/// The directive of a policy that lists the pages that may embed a response in a frame.
const ANCESTORS: &str = "frame-ancestors";

/// A path with its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked<'p> {
    /// A path without a token.
    Plain(&'p str),
    /// The path after a valid token.
    Framed(&'p str),
    /// The token in the path is invalid.
    Refused,
}

impl<'p> Asked<'p> {
    /// Looks for a token at the beginning of a path.
    pub(crate) fn new(guard: &Guard, path: &'p str) -> Self {
        let Some(after) = path.strip_prefix(BEFORE_TOKEN) else { return Self::Plain(path) };
        let (token, rest) = after.split_at(after.find('/').unwrap_or(after.len()));
        let known = percent_decode_str(token).decode_utf8().is_ok_and(|token| guard.is_token(&token));
        if known { Self::Framed(rest) } else { Self::Refused }
    }
}

/// Allows any page to embed a response in a frame.
pub(crate) fn allow(answer: &mut HeaderMap) {
    let policy = answer.get(CONTENT_SECURITY_POLICY).and_then(|policy| policy.to_str().ok());
    let Some(policy) = policy else { return };
    let rest: Vec<&str> =
        policy.split(';').map(str::trim).filter(|part| !part.starts_with(ANCESTORS)).collect();
    if let Ok(policy) = HeaderValue::from_str(&rest.join("; ")) {
        answer.insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Redirects a path that ends with the token to the page: relative URLs need the trailing `/`. `path` is the path of
/// the request.
pub(crate) fn with_slash(path: &str) -> Response {
    let token = path.rsplit('/').next().unwrap_or_default();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    // The redirect is relative too, since a proxy may add a path that is unknown here.
    put(response.headers_mut(), LOCATION, &format!("./{token}/"));
    put(response.headers_mut(), CACHE_CONTROL, "no-store");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(token: Option<&str>) -> Guard {
        Guard {
            bound: "127.0.0.1".parse().unwrap(),
            hosts: Vec::new(),
            token: token.map(str::to_owned),
            origins: Vec::new(),
            cookie: "zarrox-1".to_owned(),
            cookie_path: "/".to_owned(),
        }
    }

    #[test]
    fn a_token_in_the_path_is_right_wrong_or_absent() {
        let with = guard(Some("a secret"));
        let asked = |path| Asked::new(&with, path);
        assert_eq!(asked("/t/a%20secret/api/v1/"), Asked::Framed("/api/v1/"));
        assert_eq!(
            (asked("/t/a%20secret/"), asked("/t/a%20secret")),
            (Asked::Framed("/"), Asked::Framed(""))
        );
        for path in ["/t/", "/t//", "/t/a/api", "/t/a%20secret%2f", "/t/%ff/", "/t/a%20secre/"] {
            assert_eq!(asked(path), Asked::Refused, "{path}");
        }
        for path in ["/", "/t", "/api/v1/", "/data/t/a%20secret/", "//t/a%20secret/"] {
            assert_eq!(asked(path), Asked::Plain(path));
        }
        // Without a token, any token in the path is accepted.
        assert_eq!(Asked::new(&guard(None), "/t/-/page.js"), Asked::Framed("/page.js"));
    }

    #[test]
    fn only_the_ancestors_are_left_out_of_a_policy() {
        let policy = "default-src 'none'; frame-ancestors 'self'; base-uri 'none'";
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        allow(&mut headers);
        assert_eq!(headers[CONTENT_SECURITY_POLICY], "default-src 'none'; base-uri 'none'");
    }
}
