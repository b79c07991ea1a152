//! Errors as responses: a status, and a JSON object with the error, its location and advice.

use std::fmt;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use zarrox::stores::StoreError;
use zarrox::{Error, ErrorKind};

/// An error response.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    status: StatusCode,
    kind: &'static str,
    message: String,
    /// A request that would succeed.
    advice: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of an error response.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ErrorAnswer {
    error: ErrorInfo,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ErrorInfo {
    status: u16,
    /// The kind of the error.
    kind: &'static str,
    message: String,
    /// A request that would succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    advice: Option<String>,
}

/// The result of a part of a response.
pub(crate) type Answer<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), advice: None, headers: Vec::new() }
    }

    /// Creates the error of an invalid request.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    /// Creates the error of a missing resource.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    /// Creates the error of a request that exceeds the limit of a response.
    pub(crate) fn too_much(message: impl Into<String>, advice: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-much", message);
        Self { advice: Some(advice.into()), ..failure }
    }

    /// Creates the error of a request that the stored data cannot satisfy.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unsupported", message)
    }

    /// Creates the error of a store that did not respond in time.
    pub(crate) fn late(place: &str) -> Self {
        let message = format!("{place} did not answer in time");
        Self::new(StatusCode::GATEWAY_TIMEOUT, "timed-out", message)
    }

    /// Adds a header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns the message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns true for a request without the token.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    /// Returns true if the stored data cannot satisfy the request, for example because elements have no order.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.kind == "unsupported"
    }

    /// Returns true for a missing resource.
    #[cfg(test)]
    fn is_missing(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (status, kind) = match error.kind() {
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, "not-found"),
            ErrorKind::AlreadyExists | ErrorKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            ErrorKind::Forbidden | ErrorKind::ReadOnly => (StatusCode::FORBIDDEN, "forbidden"),
            ErrorKind::TimedOut | ErrorKind::Interrupted => (StatusCode::GATEWAY_TIMEOUT, "timed-out"),
            ErrorKind::Corrupt => (StatusCode::UNPROCESSABLE_ENTITY, "corrupt"),
            ErrorKind::InvalidMetadata => (StatusCode::UNPROCESSABLE_ENTITY, "invalid-metadata"),
            ErrorKind::Unsupported => (StatusCode::UNPROCESSABLE_ENTITY, "unsupported"),
            ErrorKind::InvalidSelection => (StatusCode::BAD_REQUEST, "invalid-selection"),
            ErrorKind::InvalidArgument | ErrorKind::DataTypeMismatch => {
                (StatusCode::BAD_REQUEST, "bad-request")
            }
            ErrorKind::LimitExceeded => (StatusCode::PAYLOAD_TOO_LARGE, "too-much"),
            ErrorKind::OutOfMemory => (StatusCode::SERVICE_UNAVAILABLE, "out-of-memory"),
            _ => (StatusCode::BAD_GATEWAY, "unreachable"),
        };
        Self::new(status, kind, error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self { status, kind, message, advice, headers } = self;
        let error = ErrorInfo { status: status.as_u16(), kind, message, advice };
        let body = serde_json::to_vec(&ErrorAnswer { error }).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().extend(headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use zarrox::stores::StoreErrorKind;

    use super::*;

    #[test]
    fn stores_that_fail_are_told_from_requests_that_make_no_sense() {
        let status = |kind| Failure::from(Error::new(kind, "x")).status.as_u16();
        assert_eq!(status(ErrorKind::NotFound), 404);
        assert_eq!(status(ErrorKind::InvalidSelection), 400);
        assert_eq!(status(ErrorKind::LimitExceeded), 413);
        assert_eq!(status(ErrorKind::Corrupt), 422);
        assert_eq!(status(ErrorKind::Unreachable), 502);
        assert_eq!(status(ErrorKind::TimedOut), 504);
        // A client would interpret "not found" as a chunk of fill values.
        let obstructed = StoreError::new(StoreErrorKind::Obstructed, "reading", "a pipe");
        assert!(!Failure::from(obstructed).is_missing());
    }
}
