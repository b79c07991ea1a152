//! Connections to servers: [`ConnectionOptions`], and the parts of URLs.

use std::time::Duration;

use url::Url;

use crate::{StoreError, StoreErrorKind};

/// Options for the connection between a client and its server.
///
/// | option | default |
/// |---|---|
/// | [`connect_timeout`](Self::connect_timeout) | 5 seconds |
/// | [`idle_timeout`](Self::idle_timeout) | 30 seconds |
/// | [`certificates`](Self::certificates) | the system's certificate authorities |
///
/// Proxies are set by the usual environment variables: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
#[derive(Clone, Debug)]
pub struct ConnectionOptions {
    pub(super) connect_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) certificates: Vec<u8>,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(30),
            certificates: Vec::new(),
        }
    }
}

impl ConnectionOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the timeout for connecting, after which an operation fails with [`StoreErrorKind::TimedOut`].
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the maximum time without any bytes from the server, before a response and between parts of it. After that, an
    /// operation fails with [`StoreErrorKind::TimedOut`]. A large value may take longer, as long as bytes keep arriving.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Adds certificates of further trusted authorities in PEM format, such as for servers with self-signed certificates.
    #[must_use]
    pub fn certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates = pem.into();
        self
    }
}

/// Parses the URL of a server. It must have a host, and the scheme `http` or `https`.
///
/// Errors do not quote the URL, since it may contain a password.
pub(super) fn server_url(text: &str) -> Result<Url, StoreError> {
    let wrong = |message: String| StoreError::new(StoreErrorKind::Other, "opening", message);
    let url = Url::parse(text).map_err(|error| wrong(format!("the URL is invalid: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("the URL begins with '{}:'; it must be http:// or https://", url.scheme());
        return Err(wrong(message));
    }
    Ok(url)
}

/// Returns the form of a URL that is used in errors and lock names: without user, password, query, fragment and trailing `/`.
pub(super) fn public_text(url: &Url) -> String {
    let mut public = url.clone();
    public.set_query(None);
    public.set_fragment(None);
    // These calls only fail for URLs that cannot have a user at all.
    let _ = public.set_username("");
    let _ = public.set_password(None);
    public.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_urls_contain_no_secrets() {
        let url = server_url("https://user:secret@host:8443/a%20b/?sig=secret#secret").unwrap();
        assert_eq!(public_text(&url), "https://host:8443/a%20b");
        for text in
            ["user:secret@host", "ftp://user:secret@host", "https://:secret@", "https://user:secret@ho st"]
        {
            let error = server_url(text).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
