//! Parsing URLs: [`StoreUrl`].

use std::fmt;

use crate::{StoreError, StoreErrorKind};

/// A URL of a store, such as `s3://bucket/path?region=eu`. Its parts are not percent-decoded.
///
/// It is displayed without user, password and query, which may contain secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StoreUrl<'a> {
    text: &'a str,
    scheme: &'a str,
    user: Option<&'a str>,
    authority: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> StoreUrl<'a> {
    /// Returns true if a string is a URL rather than a path: it begins with a scheme and `://`.
    #[must_use]
    #[doc(hidden)]
    pub fn is_url(text: &str) -> bool {
        Self::split_scheme(text).is_some()
    }

    fn split_scheme(text: &str) -> Option<(&str, &str)> {
        let (scheme, rest) = text.split_once("://")?;
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_scheme =
            scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_known);
        is_scheme.then_some((scheme, rest))
    }

    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when the string is not a URL.
    #[doc(hidden)]
    pub fn parse(text: &'a str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = Self::split_scheme(text) else {
            let message = "this is not a URL, such as 's3://bucket/path'";
            return Err(StoreError::new(StoreErrorKind::InvalidKey, "opening", message));
        };
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, authority),
        };
        Ok(Self { text, scheme, user, authority, path, query })
    }

    /// Returns the URL as it was given, including secrets.
    #[must_use]
    #[doc(hidden)]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the text before `://`.
    #[must_use]
    pub fn scheme(&self) -> &'a str {
        self.scheme
    }

    /// Returns the user and password: the text before `@`.
    #[must_use]
    #[doc(hidden)]
    pub fn user_info(&self) -> Option<&'a str> {
        self.user
    }

    /// Returns the host and port, or the bucket. It may be empty.
    #[must_use]
    pub fn authority(&self) -> &'a str {
        self.authority
    }

    /// Returns the part after the host. It begins with `/` unless it is empty.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// Returns the URL with a different path. The user and password are kept, the query is not.
    #[must_use]
    #[doc(hidden)]
    pub fn with_path(&self, path: &str) -> String {
        let user = self.user.map_or_else(String::new, |user| format!("{user}@"));
        format!("{}://{user}{}{path}", self.scheme, self.authority)
    }

    /// Returns the authority and the path as one path, for schemes without hosts.
    #[must_use]
    #[doc(hidden)]
    pub fn rest(&self) -> String {
        format!("{}{}", self.authority, self.path)
    }

    /// Returns the query, without its `?`.
    #[must_use]
    #[doc(hidden)]
    pub fn query(&self) -> Option<&'a str> {
        self.query
    }

    /// Returns the value of a query parameter, as in `a=value&b=other`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        let mut pairs = self.query?.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

impl fmt::Display for StoreUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

impl fmt::Debug for StoreUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let url = StoreUrl::parse("redis://me:p@ss@host:6379/0/a?prefix=x&b=c").unwrap();
        assert_eq!((url.scheme(), url.user_info(), url.authority()), ("redis", Some("me:p@ss"), "host:6379"));
        assert_eq!((url.path(), url.parameter("prefix"), url.parameter("c")), ("/0/a", Some("x"), None));
        assert_eq!(url.to_string(), "redis://host:6379/0/a");
        assert_eq!(url.with_path("/1"), "redis://me:p@ss@host:6379/1");
        assert_eq!(StoreUrl::parse("memory://a/b").unwrap().rest(), "a/b");
        assert_eq!(StoreUrl::parse("memory://").unwrap().rest(), "");
        assert_eq!(StoreUrl::parse("file:///a b/ü").unwrap().rest(), "/a b/ü");
        for path in ["a/b", "/a://b", "C:/a", "://a", "1a://b", ""] {
            assert!(!StoreUrl::is_url(path), "{path}");
            assert!(StoreUrl::parse(path).is_err(), "{path}");
        }
    }
}
