//! HTTP requests for the WebDAV and Google Cloud Storage stores.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_RANGE, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};

use crate::store::reserved;
use crate::{ByteRange, StoreError, StoreErrorKind};

/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of bytes of a server's message that an error quotes.
const WORDS: u64 = 300;

/// Returns a client that times out when nothing arrives for `timeout`. The client does not follow redirects, since they could
/// lead to any host.
pub fn client(timeout: Duration) -> Result<Client, StoreError> {
    let builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT.min(timeout))
        .read_timeout(timeout)
        .redirect(Policy::none())
        .user_agent(concat!("zarrox/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| transport("connecting", error))
}

/// Sends a request. Returns the response whatever its status.
///
/// A server may close a keep-alive connection just as the next request is sent. In this case, a read-only request is sent again.
pub async fn send(operation: &'static str, request: RequestBuilder) -> Result<Response, StoreError> {
    let (client, request) = request.build_split();
    let request = request.map_err(|error| transport(operation, error))?;
    let reads = matches!(request.method().as_str(), "GET" | "PROPFIND");
    let again = if reads { request.try_clone() } else { None };
    let answer = match (client.execute(request).await, again) {
        (Err(error), Some(again)) if !error.is_timeout() && !error.is_connect() => {
            client.execute(again).await
        }
        (answer, _) => answer,
    };
    answer.map_err(|error| transport(operation, error))
}

/// Returns the error for a response with an unexpected status.
pub async fn refused(operation: &'static str, response: Response) -> StoreError {
    let status = response.status();
    let kind = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            StoreErrorKind::Forbidden
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => StoreErrorKind::NotFound,
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => StoreErrorKind::TimedOut,
        StatusCode::PRECONDITION_FAILED => StoreErrorKind::Conflict,
        StatusCode::RANGE_NOT_SATISFIABLE => StoreErrorKind::OutOfRange,
        StatusCode::PAYLOAD_TOO_LARGE => StoreErrorKind::TooLarge,
        StatusCode::INSUFFICIENT_STORAGE => StoreErrorKind::StorageFull,
        StatusCode::NOT_IMPLEMENTED => StoreErrorKind::Unsupported,
        StatusCode::LOCKED | StatusCode::TOO_MANY_REQUESTS => StoreErrorKind::Unreachable,
        _ if status.is_server_error() => StoreErrorKind::Unreachable,
        _ => StoreErrorKind::Other,
    };
    let words = words(response).await;
    StoreError::new(kind, operation, format!("the server answered {status}{words}"))
}

/// Returns the server's explanation of an error, if it is plain text or JSON rather than an HTML page.
async fn words(mut response: Response) -> String {
    let Ok(Some(chunk)) = response.chunk().await else { return String::new() };
    let text = String::from_utf8_lossy(&chunk);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.starts_with('<') {
        return String::new();
    }
    let text: String = text.chars().take(usize::try_from(WORDS).unwrap_or_default()).collect();
    format!(": {text}")
}

/// Returns the error for a request without a complete response.
fn transport(operation: &'static str, error: reqwest::Error) -> StoreError {
    let (kind, message) = if error.is_timeout() {
        (StoreErrorKind::TimedOut, "no answer in time")
    } else if error.is_connect() {
        (StoreErrorKind::Unreachable, "no connection to the server")
    } else if error.is_builder() {
        (StoreErrorKind::Other, "the request could not be sent")
    } else {
        (StoreErrorKind::Unreachable, "the connection was interrupted")
    };
    // Printed error sources must not reveal secrets in the URL.
    StoreError::new(kind, operation, message).with_source(error.without_url())
}

/// Returns the header value that requests a range. HTTP cannot express an empty range.
///
/// # Errors
///
/// [`StoreErrorKind::OutOfRange`] for a range without bytes.
pub fn range_header(range: ByteRange) -> Result<String, StoreError> {
    let nothing = || StoreError::new(StoreErrorKind::OutOfRange, "reading", "the range is empty");
    match range {
        ByteRange::From { offset, length: None } => Ok(format!("bytes={offset}-")),
        ByteRange::From { offset, length: Some(length) } => {
            let last = length.checked_sub(1).ok_or_else(nothing)?;
            Ok(format!("bytes={offset}-{}", offset.saturating_add(last)))
        }
        ByteRange::Suffix { length: 0 } => Err(nothing()),
        ByteRange::Suffix { length } => Ok(format!("bytes=-{length}")),
    }
}

/// A value or a part of it, as sent by a server.
pub struct Part {
    /// The offset of the first byte in the value.
    pub offset: u64,
    /// The length of the value.
    pub size: u64,
    /// The bytes.
    pub bytes: Bytes,
    /// The headers of the response.
    pub headers: HeaderMap,
}

/// Extracts the value from a response. If the server sent the whole value instead of the range, extracts the range.
pub async fn part(response: Response, range: Option<ByteRange>) -> Result<Part, StoreError> {
    let headers = response.headers().clone();
    let unclear = |message| StoreError::new(StoreErrorKind::Other, "reading", message);
    let length = response
        .content_length()
        .ok_or_else(|| unclear("the server does not report the length of the value"))?;
    if response.status() == StatusCode::PARTIAL_CONTENT {
        // Some servers send an empty response for an empty range, and others return an error.
        if length == 0 {
            return Err(StoreError::new(
                StoreErrorKind::OutOfRange,
                "reading",
                "the server answered with an empty range",
            ));
        }
        let reported =
            headers.get(CONTENT_RANGE).and_then(|range| range.to_str().ok()).and_then(content_range);
        let (offset, end, size) =
            reported.ok_or_else(|| unclear("the server does not report which range it sent"))?;
        let bytes = body("reading", response, length).await?;
        if end.checked_sub(offset) != Some(bytes.len() as u64) || end > size {
            return Err(unclear("the server sent a different range than it reports"));
        }
        return Ok(Part { offset, size, bytes, headers });
    }
    let bytes = body("reading", response, length).await?;
    let size = bytes.len() as u64;
    let wanted = match range {
        Some(ByteRange::From { offset, length }) if offset < size => {
            offset..length.and_then(|length| offset.checked_add(length)).map_or(size, |end| end.min(size))
        }
        Some(ByteRange::Suffix { length }) => size.saturating_sub(length)..size,
        _ => 0..size,
    };
    // Both offsets lie within a buffer in memory.
    let [start, end] = [wanted.start, wanted.end].map(|place| usize::try_from(place).unwrap_or_default());
    Ok(Part { offset: wanted.start, size, bytes: bytes.slice(start..end), headers })
}

/// Parses `bytes 7-9/10`: returns the offset of the first byte, the offset after the last byte, and the size.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let last: u64 = last.parse().ok()?;
    Some((first.parse().ok()?, last.checked_add(1)?, size.parse().ok()?))
}

/// Returns the body of a response if it is at most `limit` bytes long.
pub async fn body(operation: &'static str, mut response: Response, limit: u64) -> Result<Bytes, StoreError> {
    let too_large = || {
        let message = format!("the server sends more than {limit} bytes");
        StoreError::new(StoreErrorKind::TooLarge, operation, message)
    };
    let expected = response.content_length().unwrap_or_default();
    if expected > limit {
        return Err(too_large());
    }
    let mut buffer = reserved(usize::try_from(expected).map_err(|_| too_large())?)?;
    while let Some(chunk) = response.chunk().await.map_err(|error| transport(operation, error))? {
        if chunk.len() as u64 > limit - buffer.len() as u64 {
            return Err(too_large());
        }
        buffer.extend_from_slice(&chunk);
    }
    Ok(buffer.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_asked_for_and_understood() {
        let from = |offset, length| range_header(ByteRange::From { offset, length }).ok();
        assert_eq!(from(7, None).as_deref(), Some("bytes=7-"));
        assert_eq!(from(7, Some(3)).as_deref(), Some("bytes=7-9"));
        assert_eq!(from(7, Some(u64::MAX)), Some(format!("bytes=7-{}", u64::MAX)));
        assert_eq!(from(7, Some(0)), None);
        assert_eq!(range_header(ByteRange::Suffix { length: 3 }).unwrap(), "bytes=-3");
        assert_eq!(
            range_header(ByteRange::Suffix { length: 0 }).unwrap_err().kind(),
            crate::StoreErrorKind::OutOfRange
        );
        assert_eq!(content_range("bytes 7-9/10"), Some((7, 10, 10)));
        for odd in ["", "bytes */10", "bytes 7-9/*", "7-9/10", "bytes 7-18446744073709551615/10"] {
            assert_eq!(content_range(odd), None, "{odd}");
        }
    }
}
