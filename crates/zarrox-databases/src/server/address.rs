//! The URLs of file servers: FTP, HDFS and WebDAV.

use percent_encoding::percent_decode_str;
use url::Url;

use zarrox_stores::{StoreError, StoreErrorKind};

/// The URL of a directory on a server.
pub(crate) struct Address(pub(crate) Url);

impl Address {
    /// Parses a URL that must have one of these schemes and a host. `form` describes a valid URL, for the error.
    pub(crate) fn parse(text: &str, schemes: &[&str], form: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).ok().filter(|url| schemes.contains(&url.scheme()));
        let url = url.filter(|url| url.host_str().is_some_and(|host| !host.is_empty()));
        url.map(Self).ok_or_else(|| Self::error(form))
    }

    /// Returns the error for a URL that does not have this form.
    pub(crate) fn error(form: &str) -> StoreError {
        let message = format!("the URL of the server must have the form '{form}'");
        StoreError::new(StoreErrorKind::Other, "connecting", message)
    }

    /// Returns the user and the password, if the URL contains a user.
    pub(crate) fn login(&self) -> Option<(String, String)> {
        let password = decoded(self.0.password().unwrap_or_default());
        (!self.0.username().is_empty()).then(|| (decoded(self.0.username()), password))
    }

    /// Returns the percent-decoded path.
    pub(crate) fn path(&self) -> Result<String, StoreError> {
        let path = percent_decode_str(self.0.path()).decode_utf8();
        path.map(std::borrow::Cow::into_owned).map_err(|error| {
            let message = "the percent-decoded path of the URL is not UTF-8";
            StoreError::new(StoreErrorKind::InvalidKey, "connecting", message).with_source(error)
        })
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
