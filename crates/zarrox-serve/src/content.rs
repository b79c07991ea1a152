//! Responses with values: whole, in ranges, compressed, or headers only.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, HeaderName, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use serde::Serialize;
use zarrox::stores::{Bytes, Value};

use crate::failure::{Answer, Failure};
use crate::ranges::{Sent, sent};
use crate::work::Workers;

/// The media type of JSON documents.
pub(crate) const JSON: &str = "application/json";
/// The media type of all other values.
pub(crate) const BYTES: &str = "application/octet-stream";

/// The size of the blocks in which values are sent, in bytes.
pub(crate) const BLOCK: u64 = 1 << 20;

/// The maximum size of a compressed document, in bytes.
const LARGEST_COMPRESSED: u64 = 16 << 20;
/// The minimum size of a compressed document, in bytes.
const SMALLEST_COMPRESSED: u64 = 512;

/// The headers of a request that determine which part of a value is sent.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) headers: HeaderMap,
    /// True for a `HEAD` request.
    pub(crate) head: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Wanted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self { headers: parts.headers.clone(), head: parts.method == Method::HEAD })
    }
}

impl Wanted {
    fn takes_gzip(&self) -> bool {
        let lists = self.headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        lists.flat_map(|list| list.split(',')).any(|item| {
            let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
            let refused = parameters.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            matches!(name.trim(), "gzip" | "*") && !refused
        })
    }
}

/// A value that may be sent.
pub(crate) enum Content {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A stored value.
    Value(Arc<dyn Value>),
}

impl Content {
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Value(value) => value.size(),
        }
    }

    fn read(&self, offset: u64, length: u64) -> Answer<Bytes> {
        match self {
            Self::Value(value) => Ok(value.read(offset, length)?),
            Self::Bytes(bytes) => {
                let place = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
                let range = place.and_then(|(offset, length)| Some(offset..offset.checked_add(length)?));
                let range = range.filter(|range| range.end <= bytes.len());
                range.map(|range| bytes.slice(range)).ok_or_else(|| Failure::bad("a range is out of bounds"))
            }
        }
    }
}

/// A piece of a body: bytes of the multipart framing, or a range of the value.
#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Range(u64, u64),
}

/// A response, with the pieces of its body that are still to be read.
pub(crate) struct Prepared {
    response: Response,
    content: Content,
    pieces: Vec<Piece>,
}

/// Determines which part of a value is sent, and reads it if it is small.
pub(crate) fn prepare(
    wanted: &Wanted,
    content: Content,
    kind: &'static str,
    tag: Option<String>,
) -> Answer<Prepared> {
    let size = content.size();
    let is_document = kind == JSON && (SMALLEST_COMPRESSED..=LARGEST_COMPRESSED).contains(&size);
    let has_range = wanted.headers.contains_key(axum::http::header::RANGE);
    if is_document && !has_range && wanted.takes_gzip() {
        return compressed(wanted, &content, kind, tag);
    }
    let mut response = Response::new(Body::empty());
    let decided = sent(&wanted.headers, size, tag.as_deref());
    let headers = response.headers_mut();
    put(headers, ACCEPT_RANGES, "bytes");
    // A client with a cached response must revalidate it before each use.
    put(headers, CACHE_CONTROL, "no-cache");
    put_tag(headers, tag.as_deref());
    if kind == JSON {
        put(headers, VARY, "Accept-Encoding");
    }
    let (status, pieces) = match decided {
        Sent::NotModified => (StatusCode::NOT_MODIFIED, Vec::new()),
        Sent::Changed => {
            let message = "the value does not match If-Match";
            return Err(Failure::new(StatusCode::PRECONDITION_FAILED, "changed", message));
        }
        Sent::Unsatisfiable => {
            let message = format!("no range is inside the value of {size} bytes");
            let failure = Failure::new(StatusCode::RANGE_NOT_SATISFIABLE, "range", message);
            return Err(failure.with_header(CONTENT_RANGE, header(&format!("bytes */{size}"))));
        }
        Sent::Whole => {
            put(headers, CONTENT_TYPE, kind);
            (StatusCode::OK, vec![Piece::Range(0, size)])
        }
        Sent::Range(offset, length) => {
            put(headers, CONTENT_TYPE, kind);
            put(headers, CONTENT_RANGE, &content_range(offset, length, size));
            (StatusCode::PARTIAL_CONTENT, vec![Piece::Range(offset, length)])
        }
        Sent::Ranges(ranges) => {
            let boundary = boundary(tag.as_deref(), size);
            put(headers, CONTENT_TYPE, &format!("multipart/byteranges; boundary={boundary}"));
            (StatusCode::PARTIAL_CONTENT, multipart(&ranges, &boundary, kind, size))
        }
    };
    if status != StatusCode::NOT_MODIFIED {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) => text.len() as u64,
            Piece::Range(_, length) => *length,
        };
        put(headers, CONTENT_LENGTH, &pieces.iter().map(length).sum::<u64>().to_string());
    }
    *response.status_mut() = status;
    let pieces = if wanted.head { Vec::new() } else { pieces };
    Prepared { response, content, pieces }.with_small_body()
}

impl Prepared {
    /// Reads a small body immediately.
    fn with_small_body(mut self) -> Answer<Self> {
        let total = self.pieces.iter().fold(0_u64, |total, piece| match piece {
            Piece::Text(text) => total.saturating_add(text.len() as u64),
            Piece::Range(_, length) => total.saturating_add(*length),
        });
        let in_memory = matches!(&self.content, Content::Bytes(_)) && self.pieces.len() == 1;
        if total > BLOCK && !in_memory {
            return Ok(self);
        }
        let body = match self.pieces.as_slice() {
            [Piece::Range(offset, length)] => self.content.read(*offset, *length)?,
            pieces => {
                let mut body = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => body.extend_from_slice(text.as_bytes()),
                        Piece::Range(offset, length) => {
                            body.extend_from_slice(&self.content.read(*offset, *length)?);
                        }
                    }
                }
                body.into()
            }
        };
        self.pieces.clear();
        *self.response.body_mut() = Body::from(body);
        Ok(self)
    }

    /// Returns the response. Its body is read block by block while the client receives it, so no thread waits for a
    /// client.
    pub(crate) fn into_response(self, workers: &Workers) -> Response {
        let Self { mut response, content, pieces } = self;
        if pieces.is_empty() {
            return response;
        }
        let pieces: VecDeque<Piece> = pieces.into();
        let (content, workers) = (Arc::new(content), workers.clone());
        let body = stream::unfold((pieces, content, workers), |(mut pieces, content, workers)| async move {
            let block = match next_block(&mut pieces)? {
                Piece::Text(text) => Ok(Bytes::from(text)),
                Piece::Range(offset, length) => {
                    let content = content.clone();
                    let read = move |_: &zarrox::Interrupt| content.read(offset, length);
                    workers.run(read).await.map_err(|failure| std::io::Error::other(failure.to_string()))
                }
            };
            if block.is_err() {
                pieces.clear();
            }
            Some((block, (pieces, content, workers)))
        });
        *response.body_mut() = Body::from_stream(body);
        response
    }
}

/// Removes the first piece, or the first block of a long range.
fn next_block(pieces: &mut VecDeque<Piece>) -> Option<Piece> {
    let piece = pieces.pop_front()?;
    let Piece::Range(offset, length) = piece else { return Some(piece) };
    if length <= BLOCK {
        return Some(piece);
    }
    pieces.push_front(Piece::Range(offset + BLOCK, length - BLOCK));
    Some(Piece::Range(offset, BLOCK))
}

fn compressed(
    wanted: &Wanted,
    content: &Content,
    kind: &'static str,
    tag: Option<String>,
) -> Answer<Prepared> {
    let plain = content.read(0, content.size())?;
    let failed = |error: std::io::Error| Failure::bad(format!("the document cannot be compressed: {error}"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(5));
    encoder.write_all(&plain).map_err(failed)?;
    let bytes = Bytes::from(encoder.finish().map_err(failed)?);
    // Different bytes need a different tag.
    let tag = tag.map(|tag| format!("{}-gzip\"", tag.trim_end_matches('"')));
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    put(headers, CACHE_CONTROL, "no-cache");
    put(headers, VARY, "Accept-Encoding");
    put_tag(headers, tag.as_deref());
    match sent(&wanted.headers, bytes.len() as u64, tag.as_deref()) {
        Sent::NotModified => *response.status_mut() = StatusCode::NOT_MODIFIED,
        Sent::Changed => {
            let message = "the value does not match If-Match";
            return Err(Failure::new(StatusCode::PRECONDITION_FAILED, "changed", message));
        }
        _ => {
            put(headers, CONTENT_TYPE, kind);
            put(headers, CONTENT_ENCODING, "gzip");
            put(headers, CONTENT_LENGTH, &bytes.len().to_string());
            if !wanted.head {
                *response.body_mut() = Body::from(bytes);
            }
        }
    }
    Ok(Prepared { response, content: Content::Bytes(Bytes::new()), pieces: Vec::new() })
}

/// Returns the body of several ranges.
fn multipart(ranges: &[(u64, u64)], boundary: &str, kind: &str, size: u64) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(2 * ranges.len() + 1);
    for (number, (offset, length)) in ranges.iter().enumerate() {
        let before = if number == 0 { "" } else { "\r\n" };
        let range = content_range(*offset, *length, size);
        let head = format!("{before}--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: {range}\r\n\r\n");
        pieces.push(Piece::Text(head));
        pieces.push(Piece::Range(*offset, *length));
    }
    pieces.push(Piece::Text(format!("\r\n--{boundary}--\r\n")));
    pieces
}

/// Returns a boundary that is very unlikely to occur in the value.
fn boundary(tag: Option<&str>, size: u64) -> String {
    let seed = [tag.unwrap_or_default().as_bytes(), &size.to_le_bytes(), b"boundary"].concat();
    format!("zarrox-{}", &blake3::hash(&seed).to_hex()[..32])
}

fn content_range(offset: u64, length: u64, size: u64) -> String {
    format!("bytes {offset}-{}/{size}", offset + length.saturating_sub(1))
}

/// Returns a strong entity tag for content that is identified by these bytes.
pub(crate) fn tag_of(identity: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in identity {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    format!("\"{}\"", &hasher.finalize().to_hex()[..32])
}

/// Returns a JSON response.
pub(crate) fn json<T: Serialize + ?Sized>(wanted: &Wanted, value: &T) -> Answer<Response> {
    let failed = |error| Failure::bad(format!("the response cannot be encoded as JSON: {error}"));
    document(wanted, serde_json::to_vec(value).map_err(failed)?)
}

/// Returns a JSON document as a response.
pub(crate) fn document(wanted: &Wanted, document: Vec<u8>) -> Answer<Response> {
    let tag = tag_of(&[&document]);
    Ok(prepare(wanted, Content::Bytes(document.into()), JSON, Some(tag))?.response)
}

/// Returns bytes as a response with an entity tag. A client with the same bytes receives no body.
pub(crate) fn tagged(wanted: &Wanted, bytes: Vec<u8>, kind: &'static str) -> Response {
    let tag = tag_of(&[&bytes]);
    let is_known = matches!(sent(&wanted.headers, bytes.len() as u64, Some(&tag)), Sent::NotModified);
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(bytes) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    put(headers, CONTENT_TYPE, kind);
    put(headers, CACHE_CONTROL, "no-cache");
    put_tag(headers, Some(&tag));
    response
}

fn put_tag(headers: &mut HeaderMap, tag: Option<&str>) {
    if let Some(tag) = tag {
        put(headers, ETAG, tag);
    }
}

/// Sets a header to a value of printable characters.
pub(crate) fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    headers.insert(name, header(value));
}

fn header(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static(""))
}
