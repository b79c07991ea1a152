//! Reading one entry.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};

use super::directory::{Entry, corrupt, key_of};
use super::format::{self, DEFLATED, ENCRYPTED, LOCAL_LENGTH, STORED};
use super::source::Source;
use crate::store::{checked_length, out_of_memory, reserved};
use crate::{Key, StoreError, StoreErrorKind, Value, Version};

/// The number of bytes read beyond the shortest header, so that one read usually contains the header and the data.
const SLACK: u64 = 64;
/// The largest offset for which a read begins at the header, so that one read contains both the header and the data.
const FOLD: u64 = 64 << 10;
/// The maximum compression ratio of deflate.
const DEFLATE_RATIO: u64 = 1032;
/// The initial size of the output buffer for inflating, in bytes.
const FIRST_OUTPUT: u64 = 64 << 10;

/// One entry of an archive, which is read on demand.
pub(super) struct ZipValue {
    pub(super) source: Arc<Source>,
    pub(super) entry: Entry,
    pub(super) key: Key,
    /// The archive's name in errors.
    pub(super) location: Arc<str>,
    /// The maximum size of a deflated entry to read.
    pub(super) inflate_limit: u64,
    pub(super) version: Option<Version>,
    /// The offset of the entry's data, once the header has been read.
    pub(super) data: OnceLock<u64>,
    /// The content of a deflated entry, which is decompressed on first use.
    pub(super) inflated: OnceLock<Bytes>,
}

impl ZipValue {
    /// Returns an error for an entry if its record alone shows that it cannot be read.
    fn check(&self) -> Result<(), StoreError> {
        let Entry { content, header, limit, .. } = self.entry;
        if content.flags & ENCRYPTED != 0 {
            let message = "the entry is encrypted; unpack the archive with its password";
            return Err(StoreError::new(StoreErrorKind::Unsupported, "reading", message));
        }
        if ![STORED, DEFLATED].contains(&content.method) {
            let (method, name) = (content.method, format::method_name(content.method));
            let message = format!(
                "the entry is compressed by method {method} ({name}), but only stored and deflated entries are supported; pack the archive again without compression"
            );
            return Err(StoreError::new(StoreErrorKind::Unsupported, "reading", message));
        }
        let end = header.checked_add(LOCAL_LENGTH).and_then(|data| data.checked_add(content.compressed));
        if end.is_none_or(|end| end > limit) {
            return Err(reaches_out());
        }
        match content.method {
            STORED if content.compressed != content.size => {
                Err(corrupt("the entry is stored uncompressed, but has two different sizes"))
            }
            DEFLATED if content.size > content.compressed.saturating_mul(DEFLATE_RATIO) => {
                Err(corrupt("the entry has a size that deflate cannot produce"))
            }
            DEFLATED if content.size > self.inflate_limit => {
                let message = format!(
                    "the entry has {} bytes when unpacked, more than the limit of {}; raise it with inflate_limit()",
                    content.size, self.inflate_limit
                );
                Err(StoreError::new(StoreErrorKind::TooLarge, "reading", message))
            }
            _ => Ok(()),
        }
    }

    /// Reads a range of the entry's data as stored in the archive.
    fn stored(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        if let Some(data) = self.data.get() {
            return self.source.read(data + offset, length);
        }
        self.check()?;
        let Entry { header, limit, .. } = self.entry;
        let ahead = if offset <= FOLD { offset + length } else { 0 };
        let wanted = LOCAL_LENGTH + self.key.as_str().len() as u64 + SLACK + ahead;
        let bytes = self.source.read(header, wanted.min(limit - header))?;
        let data = self.data_start(&bytes)?;
        let _ = self.data.set(data);
        let start = data - header + offset;
        let read = bytes.len() as u64;
        if start + length <= read
            && let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length))
        {
            return Ok(bytes.slice(start..start + length));
        }
        self.source.read(data + offset, length)
    }

    /// Returns the offset of the entry's data, which is determined from its header.
    fn data_start(&self, header: &[u8]) -> Result<u64, StoreError> {
        let Entry { content, header: place, limit, .. } = self.entry;
        let local = format::parse_local(header)
            .ok_or_else(|| corrupt("no entry was found at the offset in the directory"))?;
        let name = std::str::from_utf8(local.raw_name).ok().filter(|name| name.is_ascii());
        let same_name = name.is_none_or(|name| key_of(name).as_ref() == Some(&self.key));
        if !same_name || local.method != content.method {
            return Err(corrupt("the entry has another name than its record in the directory"));
        }
        let data = place + local.length;
        if data.checked_add(content.compressed).is_none_or(|end| end > limit) {
            return Err(reaches_out());
        }
        Ok(data)
    }

    fn whole(&self) -> Result<Bytes, StoreError> {
        let bytes = self.stored(0, self.entry.content.compressed)?;
        let content = match self.entry.content.method {
            DEFLATED => inflate(&bytes, self.entry.content.size)?.into(),
            _ => bytes,
        };
        self.check_sum(&content)?;
        Ok(content)
    }

    fn check_sum(&self, content: &[u8]) -> Result<(), StoreError> {
        let (expected, found) = (self.entry.content.crc, crc32fast::hash(content));
        if expected == found {
            return Ok(());
        }
        Err(corrupt(format!("the entry's CRC-32 is {found:08x}, not {expected:08x}")))
    }

    fn inflated(&self) -> Result<&Bytes, StoreError> {
        if let Some(bytes) = self.inflated.get() {
            return Ok(bytes);
        }
        let bytes = self.whole()?;
        Ok(self.inflated.get_or_init(|| bytes))
    }

    fn is_whole(&self, offset: u64, length: usize) -> bool {
        offset == 0 && length as u64 == self.size()
    }

    fn try_read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let count = checked_length(self.size(), offset, length)?;
        if self.entry.content.method == STORED {
            return if self.is_whole(offset, count) { self.whole() } else { self.stored(offset, length) };
        }
        let start = checked_length(self.size(), 0, offset)?;
        Ok(self.inflated()?.slice(start..start + count))
    }

    fn try_read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        checked_length(self.size(), offset, buffer.len() as u64)?;
        let Some(data) = self.data.get().filter(|_| self.entry.content.method == STORED) else {
            buffer.copy_from_slice(&self.try_read(offset, buffer.len() as u64)?);
            return Ok(());
        };
        self.source.read_at(data + offset, buffer)?;
        if self.is_whole(offset, buffer.len()) { self.check_sum(buffer) } else { Ok(()) }
    }

    fn named(&self, error: StoreError) -> StoreError {
        error.with_location(&*self.location).with_key(self.key.as_str())
    }
}

impl Value for ZipValue {
    fn size(&self) -> u64 {
        self.entry.content.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.try_read_at(offset, buffer).map_err(|error| self.named(error))
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        self.inflated.get()
    }

    fn version(&self) -> Option<Version> {
        self.version.clone()
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        self.try_read(offset, length).map_err(|error| self.named(error))
    }
}

fn reaches_out() -> StoreError {
    corrupt("the entry extends into the next one, or beyond the archive")
}

/// Decompresses an entry. The buffer grows with the output, up to the size stated in the directory.
fn inflate(mut input: &[u8], size: u64) -> Result<Vec<u8>, StoreError> {
    let wrong_size =
        || corrupt(format!("the entry does not have the {size} bytes that the directory states"));
    let damaged = |error| corrupt("the entry's deflated bytes are damaged").with_source(error);
    let mut out = reserved(checked_length(size, 0, size.min(FIRST_OUTPUT))?)?;
    let mut stream = Decompress::new(false);
    loop {
        let before = (stream.total_in(), stream.total_out());
        let full = out.len() as u64 == size;
        let status = if full {
            // Even one more byte would be too much.
            stream.decompress(input, &mut [0], FlushDecompress::Finish)
        } else {
            stream.decompress_vec(input, &mut out, FlushDecompress::None)
        };
        let status = status.map_err(damaged)?;
        let consumed = usize::try_from(stream.total_in() - before.0).unwrap_or(input.len());
        input = input.get(consumed..).unwrap_or_default();
        if stream.total_out() > size {
            return Err(wrong_size());
        }
        if status == Status::StreamEnd {
            return if out.len() as u64 == size { Ok(out) } else { Err(wrong_size()) };
        }
        let stuck = before == (stream.total_in(), stream.total_out());
        if full || (stuck && out.len() < out.capacity()) {
            return Err(wrong_size());
        }
        if out.len() == out.capacity() {
            let more = (size - out.len() as u64).min(out.len() as u64);
            let more = usize::try_from(more).unwrap_or(usize::MAX);
            out.try_reserve_exact(more).map_err(|error| out_of_memory(size).with_source(error))?;
        }
    }
}
