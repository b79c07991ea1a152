//! Failures between a client and a server, and response bodies.

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

use crate::parts::{Arriving, ByteParts};
use crate::{StoreError, StoreErrorKind};

/// The maximum number of bytes that are read from the body of an error response.
const EXPLANATION: usize = 16 << 10;

/// An error response: its status, and the error code if the server sends one.
///
/// Neither of them can contain a secret. The explanations of servers can, so they are left out.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) code: Option<String>,
}

impl Refusal {
    /// Extracts the error code from an S3 or Azure error: `<Error><Code>NoSuchKey</Code>…`.
    pub(super) fn new(status: u16, explanation: &[u8]) -> Self {
        let text = String::from_utf8_lossy(explanation);
        let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
        Self { status, code: code.and_then(|(code, _)| plain(code)) }
    }

    /// Adds the error code from a header.
    #[cfg(feature = "object_store")]
    pub(super) fn with_code(self, code: Option<&str>) -> Self {
        Self { code: code.and_then(plain).or(self.code), ..self }
    }

    /// Returns true if the bucket or container exists, but not the value.
    pub(super) fn is_missing_value(&self) -> bool {
        matches!(self.status, 404 | 410) && !self.is_missing_place()
    }

    /// Returns true if the bucket or container does not exist.
    pub(super) fn is_missing_place(&self) -> bool {
        let code = self.code.as_deref();
        self.status == 404 && code.is_some_and(|code| code == "NoSuchBucket" || code.starts_with("Container"))
    }

    pub(super) fn kind(&self) -> StoreErrorKind {
        use StoreErrorKind as Kind;
        match (self.status, self.code.as_deref().unwrap_or_default()) {
            (_, "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired") => Kind::Forbidden,
            (_, "RequestTimeout" | "OperationTimedOut") => Kind::TimedOut,
            (_, "OperationAborted" | "ConditionalRequestConflict" | "SlowDown") => Kind::Unreachable,
            (_, "EntityTooLarge" | "RequestBodyTooLarge") => Kind::TooLarge,
            (_, "KeyTooLongError") => Kind::InvalidKey,
            (401 | 403 | 407, _) => Kind::Forbidden,
            (404 | 410, _) => Kind::NotFound,
            (408 | 504, _) => Kind::TimedOut,
            (409 | 412, _) => Kind::Conflict,
            (413, _) => Kind::TooLarge,
            (414, _) => Kind::InvalidKey,
            (416, _) => Kind::OutOfRange,
            (405 | 501, _) => Kind::Unsupported,
            (507, _) => Kind::StorageFull,
            (429 | 500..600, _) => Kind::Unreachable,
            _ => Kind::Other,
        }
    }

    pub(super) fn into_error(self, operation: &'static str) -> StoreError {
        let message = match self.status {
            _ if self.is_missing_place() => format!("the bucket or container does not exist: {self}"),
            300..400 => format!("the bucket is at another address, perhaps in another region: {self}"),
            _ => self.to_string(),
        };
        StoreError::new(self.kind(), operation, message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the server answered {}", self.status)?;
        self.code.as_ref().map_or(Ok(()), |code| write!(formatter, " ({code})"))
    }
}

impl Error for Refusal {}

/// Returns the code if it is a single word.
fn plain(code: &str) -> Option<String> {
    let word = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    word.then(|| code.to_owned())
}

/// Reads the beginning of the body of an error response. Read errors are ignored.
pub(super) async fn explanation<E>(mut parts: impl Stream<Item = Result<Bytes, E>> + Unpin) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some(Ok(part)) = parts.next().await {
        text.extend_from_slice(&part[..part.len().min(EXPLANATION - text.len())]);
        if text.len() == EXPLANATION {
            break;
        }
    }
    text
}

/// Returns the root cause of an error, such as "Connection refused".
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Reads a whole body of this length.
pub(super) async fn collect(
    mut body: impl Stream<Item = Result<Bytes, StoreError>> + Unpin,
    length: u64,
) -> Result<ByteParts, StoreError> {
    let mut parts = Arriving::default();
    // The body is read to the end, so that the connection can be reused.
    while let Some(part) = body.next().await.transpose()? {
        let received = parts.len() + part.len();
        if received as u64 > length {
            return Err(wrong_length(received, length));
        }
        parts.push(part);
    }
    match parts.len() {
        received if received as u64 == length => Ok(parts.complete()),
        received => Err(wrong_length(received, length)),
    }
}

fn wrong_length(received: usize, length: u64) -> StoreError {
    let message = format!("the server sent {received} bytes instead of the {length} of its header");
    StoreError::new(StoreErrorKind::Unreachable, "reading", message)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::stream::iter;

    use super::*;

    #[test]
    fn codes_are_words() {
        let refusal = |text: &str| Refusal::new(404, text.as_bytes());
        let missing = refusal("<?xml?><Error><Code>NoSuchKey</Code><Message>m</Message></Error>");
        assert_eq!(missing.to_string(), "the server answered 404 (NoSuchKey)");
        assert!(missing.is_missing_value());
        for place in ["NoSuchBucket", "ContainerNotFound"] {
            let missing = refusal(&format!("<Error><Code>{place}</Code>"));
            assert!(missing.is_missing_place() && !missing.is_missing_value());
            assert_eq!(missing.into_error("reading").kind(), StoreErrorKind::NotFound);
        }
        for text in ["", "<Code>", "<Code>a secret</Code>", "<Code>\u{1b}[2J</Code>", "</Code><Code>"] {
            assert_eq!(refusal(text).code, None, "{text}");
        }
    }

    #[test]
    fn bodies_are_as_long_as_announced() {
        let body = |parts: &[&'static str], length| {
            let parts: Vec<_> = parts.iter().map(|part| Ok(Bytes::from_static(part.as_bytes()))).collect();
            collect(iter(parts), length).now_or_never().unwrap()
        };
        let body = |parts: &[&'static str], length| body(parts, length).map(Bytes::from);
        assert_eq!(body(&["abc"], 3).unwrap(), "abc");
        assert_eq!(body(&["ab", "", "c"], 3).unwrap(), "abc");
        assert_eq!(body(&[], 0).unwrap(), "");
        for (parts, length) in [(&["abc"][..], 4), (&["ab", "c"], 2), (&["abc"], 2), (&[], 1)] {
            assert_eq!(body(parts, length).unwrap_err().kind(), StoreErrorKind::Unreachable);
        }
        assert!(body(&["abc"], u64::MAX).is_err(), "no memory is taken for it");
    }
}
