//! Parses the requests of an HTTP/1 client.

/// The longest line of HTTP, in bytes.
const LONGEST: usize = 64 * 1024;

/// Finds the requests on one connection, however the bytes are split.
#[derive(Debug, Default)]
pub(super) struct Requests {
    place: Place,
    /// The line so far.
    line: Vec<u8>,
    /// The request whose head is being read, as far as it is known.
    head: Head,
}

/// The part that comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    RequestLine,
    Header,
    /// A number of bytes to skip, then another part.
    Skipped(u64, After),
    ChunkSize,
    Trailer,
    /// The data are not HTTP/1.
    Unknown,
}

/// The part after skipped bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Request,
    Chunk,
}

#[derive(Debug, Default)]
struct Head {
    /// Method and target.
    request: String,
    range: Option<String>,
    length: u64,
    is_chunked: bool,
}

impl Requests {
    /// Parses the next bytes, and returns the requests whose heads are complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        while !bytes.is_empty() && self.place != Place::Unknown {
            bytes = match self.place {
                Place::Skipped(length, after) => self.skip(bytes, length, after),
                _ => self.take_line(bytes, &mut found),
            };
        }
        found
    }

    fn skip<'a>(&mut self, bytes: &'a [u8], length: u64, after: After) -> &'a [u8] {
        let skipped = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
        self.place = match (length - skipped as u64, after) {
            (0, After::Request) => Place::RequestLine,
            (0, After::Chunk) => Place::ChunkSize,
            (rest, after) => Place::Skipped(rest, after),
        };
        &bytes[skipped..]
    }

    fn take_line<'a>(&mut self, bytes: &'a [u8], found: &mut Vec<String>) -> &'a [u8] {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        self.line.extend(&bytes[..taken]);
        if end.is_some() {
            let line = std::mem::take(&mut self.line);
            self.place = self.end_line(String::from_utf8_lossy(&line).trim_end(), found);
        } else if self.line.len() > LONGEST {
            self.place = Place::Unknown;
        }
        &bytes[taken..]
    }

    /// Returns the part after a line.
    fn end_line(&mut self, line: &str, found: &mut Vec<String>) -> Place {
        match self.place {
            // Empty lines may separate two requests.
            Place::RequestLine if line.is_empty() => Place::RequestLine,
            Place::RequestLine => self.begin(line),
            Place::Header if line.is_empty() => self.end_head(found),
            Place::Header => self.take_header(line),
            Place::ChunkSize => chunk(line),
            Place::Trailer if line.is_empty() => Place::RequestLine,
            other => other,
        }
    }

    fn begin(&mut self, line: &str) -> Place {
        let Some((request, version)) = line.rsplit_once(' ') else { return Place::Unknown };
        self.head = Head { request: request.to_owned(), ..Head::default() };
        if version.starts_with("HTTP/1.") { Place::Header } else { Place::Unknown }
    }

    fn take_header(&mut self, line: &str) -> Place {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "range" => self.head.range = Some(value.to_owned()),
            "content-length" => match value.parse() {
                Ok(length) => self.head.length = length,
                Err(_) => return Place::Unknown,
            },
            "transfer-encoding" => self.head.is_chunked = value.eq_ignore_ascii_case("chunked"),
            _ => {}
        }
        Place::Header
    }

    fn end_head(&mut self, found: &mut Vec<String>) -> Place {
        let head = std::mem::take(&mut self.head);
        found.push(head.range.map_or(head.request.clone(), |range| format!("{} {range}", head.request)));
        match (head.is_chunked, head.length) {
            (true, _) => Place::ChunkSize,
            (false, 0) => Place::RequestLine,
            (false, length) => Place::Skipped(length, After::Request),
        }
    }
}

/// Returns the part after the line that begins a chunk.
fn chunk(line: &str) -> Place {
    let size = line.split(';').next().unwrap_or_default();
    match u64::from_str_radix(size.trim(), 16) {
        Ok(0) => Place::Trailer,
        // The end of a line follows the chunk.
        Ok(size) => Place::Skipped(size.saturating_add(2), After::Chunk),
        Err(_) => Place::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = "GET /a?b HTTP/1.1\r\nHost: x\r\nrange: bytes=0-9\r\n\r\n\
        PUT /b HTTP/1.1\r\nContent-Length: 19\r\n\r\nGET /no HTTP/1.1\r\n\r\
        POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nGET /\r\n0\r\nA: b\r\n\r\n\
        HEAD /d HTTP/1.0\r\n\r\n";

    #[test]
    fn requests_are_found_however_they_are_divided() {
        for size in [1, 2, 3, 7, 1_000] {
            let mut requests = Requests::default();
            let found: Vec<_> = SENT.as_bytes().chunks(size).flat_map(|bytes| requests.feed(bytes)).collect();
            assert_eq!(found, ["GET /a?b bytes=0-9", "PUT /b", "POST /c", "HEAD /d"], "{size} bytes at once");
        }
    }

    #[test]
    fn other_protocols_have_no_requests() {
        let long = "x".repeat(LONGEST + 1);
        for sent in [
            "*1\r\n$4\r\nPING\r\n",
            "PRI * HTTP/2.0\r\n\r\n",
            "GET /a HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            &long,
        ] {
            let mut requests = Requests::default();
            assert_eq!(requests.feed(sent.as_bytes()), [""; 0], "{sent:.20}");
            assert_eq!(requests.feed(b"GET / HTTP/1.1\r\n\r\n"), [""; 0], "{sent:.20}");
        }
    }
}
