//! The cached copy of a value in a file.
//!
//! | bytes | what |
//! |---|---|
//! | 16 | [`MAGIC`] |
//! | 8 | length of the text |
//! | 8 | length of the version plus one, or 0 if there is no version |
//! | 8 | length of the value |
//! | … | the text: location of the store, NUL, key |
//! | … | the version |
//! | … | the value |
//!
//! Numbers are little-endian. The text identifies the value, since the name of the file only contains a hash of the text.

use std::fs::File;
use std::io::{self, Write};

use twox_hash::XxHash3_128;

use crate::local::files::{append_at, read_exact_at};
use crate::store::{checked_length, reserved};
use crate::{Bytes, Key, Prefix, StoreError, Value, Version};

const MAGIC: &[u8; 16] = b"zarrox cache v1\n";

/// The number of bytes before the text.
const FIXED: usize = 40;

/// The maximum combined length of the text and the version, in bytes. A file in which they are longer is damaged.
const LONGEST: u64 = 1 << 20;

/// The suffix of cache files.
const END: &str = ".zarrox-copy";

/// The identity of the value whose copy is in a cache file.
#[derive(Clone, Debug)]
pub(super) struct Name {
    text: String,
}

impl Name {
    pub(super) fn new(location: &str, key: &Key) -> Self {
        Self { text: format!("{location}\0{key}") }
    }

    /// Returns the name of the file, which is short enough for every file system.
    pub(super) fn file_name(&self) -> String {
        format!("{:032x}{END}", XxHash3_128::oneshot(self.text.as_bytes()))
    }
}

/// Returns true if a file name is the name of a copy.
pub(super) fn is_copy(file_name: &str) -> bool {
    file_name.strip_suffix(END).is_some_and(|hash| hash.len() == 32)
}

/// Writes the header, which precedes the value.
pub(super) fn write_header(file: &mut File, name: &Name, value: &dyn Value) -> io::Result<u64> {
    let version = value.version();
    let version = version.as_ref().map(Version::as_bytes);
    let version_length = version.map_or(0, |version| version.len() as u64 + 1);
    let mut header = MAGIC.to_vec();
    for number in [name.text.len() as u64, version_length, value.size()] {
        header.extend(number.to_le_bytes());
    }
    header.extend(name.text.as_bytes());
    header.extend(version.unwrap_or_default());
    file.write_all(&header)?;
    Ok(header.len() as u64)
}

/// An open copy. It stays readable after its file is removed.
#[derive(Debug)]
pub(super) struct Entry {
    file: File,
    text: Box<str>,
    version: Option<Version>,
    start: u64,
    size: u64,
}

impl Entry {
    /// Reads the header. Returns `None` if the file is not a complete copy.
    pub(super) fn read(file: File) -> io::Result<Option<Self>> {
        let mut fixed = [0; FIXED];
        let length = file.metadata()?.len();
        let start = FIXED as u64;
        if length < start {
            return Ok(None);
        }
        read_exact_at(&file, &mut fixed, 0)?;
        let (magic, numbers) = fixed.split_at(MAGIC.len());
        let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let (Some(text), Some(version), Some(size)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return Ok(None);
        };
        let names = text.saturating_add(version.saturating_sub(1));
        let whole = start.checked_add(names).and_then(|start| start.checked_add(size));
        if magic != MAGIC || names > LONGEST || whole != Some(length) {
            return Ok(None);
        }
        let read = |offset, length: u64| {
            let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
            read_exact_at(&file, &mut bytes, offset)?;
            io::Result::Ok(bytes)
        };
        let Ok(name) = String::from_utf8(read(start, text)?) else { return Ok(None) };
        let version = match version.checked_sub(1) {
            Some(length) => Some(Version::from(read(start + text, length)?)),
            None => None,
        };
        Ok(Some(Self { file, text: name.into(), version, start: start + names, size }))
    }

    /// Returns true if this is the copy of the value with this identity rather than of another value with the same hash.
    pub(super) fn is_of(&self, name: &Name) -> bool {
        *self.text == *name.text
    }

    /// Returns true if this is the copy of a value below a prefix of a store.
    pub(super) fn is_below(&self, location: &str, prefixes: &[&Prefix]) -> bool {
        let key = self.text.strip_prefix(location).and_then(|rest| rest.strip_prefix('\0'));
        key.is_some_and(|key| prefixes.iter().any(|prefix| key.starts_with(prefix.as_str())))
    }

    /// Returns the file. Its modification time is the time of its last use.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    fn fail(&self, error: io::Error) -> StoreError {
        let (location, key) = self.text.split_once('\0').unwrap_or(("", &self.text));
        StoreError::from_io("reading the cached copy of", error).with_location(location).with_key(key)
    }
}

impl Value for Entry {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        checked_length(self.size, offset, buffer.len() as u64)?;
        read_exact_at(&self.file, buffer, self.start + offset).map_err(|error| self.fail(error))
    }

    fn version(&self) -> Option<Version> {
        self.version.clone()
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let length = checked_length(self.size, offset, length)?;
        let mut buffer = reserved(length)?;
        append_at(&self.file, &mut buffer, length, self.start + offset).map_err(|error| self.fail(error))?;
        Ok(buffer.into())
    }
}
