//! Access control: host names, the token, and the origins of other pages.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, AUTHORIZATION, CONTENT_SECURITY_POLICY, COOKIE,
    HOST, HeaderName, ORIGIN, REFERRER_POLICY, SET_COOKIE, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use crate::failure::{Answer, Failure};

/// The header for the token, in addition to `Authorization: Bearer`.
pub(crate) const TOKEN_HEADER: &str = "x-zarrox-token";

/// The request headers that pages of other origins may send.
const SENT: &str = "authorization, x-zarrox-token, range, if-range, if-match, if-none-match, content-type";

/// The response headers that pages of other origins may read.
const SEEN: &str = "accept-ranges, content-encoding, content-length, content-range, etag, x-zarrox-data-type, x-zarrox-dtype, \
                    x-zarrox-reduce, x-zarrox-select, x-zarrox-shape, x-zarrox-step";

/// The access rules for requests.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    /// The listening address.
    pub(crate) bound: IpAddr,
    /// Further host names, such as those of a proxy.
    pub(crate) hosts: Vec<String>,
    /// The token; `None` to accept all requests.
    pub(crate) token: Option<String>,
    /// The origins whose pages are allowed; `*` for all.
    pub(crate) origins: Vec<String>,
    /// The name of the cookie, which is unique to this server: other servers on this machine share the host.
    pub(crate) cookie: String,
    /// The path of the cookies.
    pub(crate) cookie_path: String,
}

impl Guard {
    /// Rejects other hosts. Otherwise a foreign page whose host name resolves to this machine would have the same
    /// origin (DNS rebinding).
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Answer<()> {
        let hosts: Vec<_> = headers.get_all(HOST).iter().collect();
        let [host] = hosts.as_slice() else {
            return Err(Failure::bad("a request needs exactly one Host header"));
        };
        let host = host.to_str().unwrap_or_default().trim().to_ascii_lowercase();
        if self.is_host(name_of(&host)) {
            return Ok(());
        }
        let message =
            format!("'{}' is not a name of this server; --allow-host adds one", host.escape_debug());
        Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, "wrong-host", message))
    }

    fn is_host(&self, name: &str) -> bool {
        let is_named = self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name) || host == "*");
        let local = self.bound.is_loopback() || self.bound.is_unspecified();
        let is_address = address_of(name).is_some_and(|address| {
            // A name can be made to resolve to any address; an IP address cannot.
            self.bound.is_unspecified() || address == self.bound || (local && address.is_loopback())
        });
        is_named || is_address || (local && name == "localhost")
    }

    /// Returns true if a request has the token or needs none. `given` is the query parameter.
    pub(crate) fn knows_token(&self, headers: &HeaderMap, given: Option<&str>) -> bool {
        if self.token.is_none() {
            return true;
        }
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let own = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookies =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let cookies = cookies.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value);
        let all = given.into_iter().chain(bearer.map(|(_, value)| value.trim())).chain(own).chain(cookies);
        // Each comparison takes constant time.
        all.fold(false, |known, given| known | self.is_token(given))
    }

    /// Returns true if this is the token, or no token is needed.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        self.token.as_deref().is_none_or(|token| is_same(given, token))
    }

    /// Returns the error for a request without the token.
    pub(crate) fn refusal() -> Failure {
        let message = "the token is missing or wrong: use the link that the server printed, or send its token as \
                       'Authorization: Bearer TOKEN'";
        Failure::new(StatusCode::UNAUTHORIZED, "token", message)
            .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    /// Returns the cookie with the token.
    pub(crate) fn set_cookie(&self) -> Option<(HeaderName, HeaderValue)> {
        let token = self.token.as_deref()?;
        // With `Strict`, a link from another web page, such as a web terminal, would be rejected.
        let cookie = format!("{}={token}; Path={}; HttpOnly; SameSite=Lax", self.cookie, self.cookie_path);
        Some((SET_COOKIE, HeaderValue::from_str(&cookie).ok()?))
    }

    /// Returns the origin of the requesting page, if it is allowed.
    fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        if self.origins.iter().any(|origin| origin == "*") {
            return Some(HeaderValue::from_static("*"));
        }
        let origin = headers.get(ORIGIN)?;
        let is_listed = self.origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes());
        is_listed.then(|| origin.clone())
    }

    /// Adds the headers of every response.
    pub(crate) fn add_headers(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        let set = |answer: &mut HeaderMap, name: HeaderName, value: &'static str| {
            answer.entry(name).or_insert(HeaderValue::from_static(value));
        };
        // Stored values are never executed as a page.
        set(answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
        set(answer, CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox");
        set(answer, REFERRER_POLICY, "no-referrer");
        if !self.origins.is_empty() {
            answer.append(VARY, HeaderValue::from_static("Origin"));
        }
        let allowed = self.allowed(request);
        let policy = if allowed.is_some() { "cross-origin" } else { "same-origin" };
        set(answer, HeaderName::from_static("cross-origin-resource-policy"), policy);
        if let Some(origin) = allowed {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SEEN));
        }
    }

    /// The headers of the response to a CORS preflight request.
    pub(crate) fn preflight(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        if self.allowed(request).is_none() {
            return;
        }
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, OPTIONS"));
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
        answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
        let private = HeaderName::from_static("access-control-request-private-network");
        if request.contains_key(private) {
            let name = HeaderName::from_static("access-control-allow-private-network");
            answer.insert(name, HeaderValue::from_static("true"));
        }
    }
}

/// Returns the host without its port.
fn name_of(host: &str) -> &str {
    match host.rfind(']') {
        Some(end) => &host[..=end],
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn address_of(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => name.parse().ok().filter(IpAddr::is_ipv4),
    }
}

/// Compares strings by their digests, in constant time.
fn is_same(given: &str, token: &str) -> bool {
    blake3::hash(given.as_bytes()) == blake3::hash(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(bound: &str) -> Guard {
        Guard {
            bound: bound.parse().unwrap(),
            hosts: vec!["hub.example.org".to_owned()],
            token: Some("secret".to_owned()),
            origins: vec!["https://viewer.example.org".to_owned()],
            cookie: "zarrox-1".to_owned(),
            cookie_path: "/".to_owned(),
        }
    }

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_names_of_this_host_are_answered() {
        let is_host = |bound: &str, host: &str| guard(bound).check_host(&headers(&[(HOST, host)])).is_ok();
        for host in
            ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:80", "hub.example.org", "LOCALHOST:9"]
        {
            assert!(is_host("127.0.0.1", host), "{host}");
        }
        for host in [
            "evil.example.org",
            "localhost.evil.org",
            "10.0.0.1",
            "",
            "[::1",
            "127.0.0.1.evil.org",
            "[fe80::1]",
        ] {
            assert!(!is_host("127.0.0.1", host), "{host}");
        }
        assert!(is_host("0.0.0.0", "192.168.1.7:8000") && !is_host("0.0.0.0", "evil.example.org"));
        assert!(
            is_host("10.0.0.1", "10.0.0.1")
                && !is_host("10.0.0.1", "10.0.0.2")
                && !is_host("10.0.0.1", "localhost")
        );
        assert!(guard("::1").check_host(&HeaderMap::new()).is_err());
    }

    #[test]
    fn a_token_comes_in_four_ways() {
        let guard = guard("127.0.0.1");
        let knows = |pairs: &[(HeaderName, &str)]| guard.knows_token(&headers(pairs), None);
        assert!(guard.knows_token(&HeaderMap::new(), Some("secret")));
        assert!(knows(&[(AUTHORIZATION, "Bearer secret")]));
        assert!(knows(&[(HeaderName::from_static(TOKEN_HEADER), "secret")]));
        assert!(knows(&[(COOKIE, "a=b; zarrox-1=secret; c=d")]));
        for wrong in
            [(AUTHORIZATION, "Bearer secre"), (AUTHORIZATION, "Basic secret"), (COOKIE, "zarrox-2=secret")]
        {
            assert!(!knows(&[wrong]));
        }
        assert!(!knows(&[]) && !guard.knows_token(&HeaderMap::new(), Some("")));
    }

    #[test]
    fn pages_of_other_origins_see_answers_only_if_they_may() {
        let guard = guard("127.0.0.1");
        let answer = |origin: &str| {
            let (request, mut answer) = (headers(&[(ORIGIN, origin)]), HeaderMap::new());
            guard.add_headers(&request, &mut answer);
            guard.preflight(&request, &mut answer);
            answer
        };
        let allowed = answer("https://viewer.example.org");
        assert_eq!(allowed[ACCESS_CONTROL_ALLOW_ORIGIN], "https://viewer.example.org");
        assert!(allowed.contains_key(ACCESS_CONTROL_ALLOW_HEADERS));
        let other = answer("https://evil.example.org");
        assert!(
            !other.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN)
                && !other.contains_key(ACCESS_CONTROL_ALLOW_METHODS)
        );
        assert_eq!(other["cross-origin-resource-policy"], "same-origin");
    }
}
