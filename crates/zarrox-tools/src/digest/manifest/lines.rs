//! Reading and writing the lines of manifests.

use std::io::{self, BufRead, Read, Write};

use blake3::Hasher;
use zarrox_core::json::{Json, JsonNumber, Map, parse_object, to_line};
use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::Key;

use crate::digest::{Digest, Hashed, hash_of};

/// The version of the format.
const VERSION: u64 = 1;

/// The maximum length of a line, in bytes. Real keys are far shorter.
const LONGEST: u64 = 1 << 20;

/// The totals of a written manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The number of keys.
    pub keys: u64,
    /// The total size of all values, in bytes.
    pub bytes: u64,
    /// The digest of all keys and values.
    pub digest: Digest,
}

/// An entry of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) value: Hashed,
}

/// A writer of lines.
pub(super) struct LineWriter<'w> {
    out: &'w mut dyn Write,
    /// The hash of all lines so far.
    hasher: Hasher,
}

impl<'w> LineWriter<'w> {
    /// Writes the first line.
    pub(super) fn begin(out: &'w mut dyn Write) -> Result<Self> {
        let mut lines = Self { out, hasher: Hasher::new() };
        lines.write([("zarrox_manifest", Json::from(VERSION)), ("hash", "blake3".into())])?;
        Ok(lines)
    }

    pub(super) fn value(&mut self, name: &str, value: &Hashed) -> Result<()> {
        let hash = value.hash.to_hex().to_string();
        self.write([("key", Json::from(name)), ("size", value.size.into()), ("blake3", hash.into())])
    }

    /// Writes the last line.
    pub(super) fn finish(mut self, written: &Written) -> Result<()> {
        let lines = self.hasher.finalize().to_hex().to_string();
        self.write([
            ("keys", Json::from(written.keys)),
            ("bytes", Json::Number(JsonNumber::from(i128::from(written.bytes)))),
            ("digest", written.digest.to_string().into()),
            ("lines", lines.into()),
        ])?;
        self.out.flush().map_err(|error| output(&error))
    }

    fn write<const N: usize>(&mut self, members: [(&str, Json); N]) -> Result<()> {
        let map: Map = members.into_iter().map(|(name, json)| (name.to_owned(), json)).collect();
        let mut line = to_line(&map);
        line.push('\n');
        self.hasher.update(line.as_bytes());
        self.out.write_all(line.as_bytes()).map_err(|error| output(&error))
    }
}

fn output(error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull => ErrorKind::StorageFull,
        _ => ErrorKind::Unreachable,
    };
    Error::new(kind, format!("writing the manifest failed: {error}"))
}

/// A reader of lines, which checks that they are complete and ordered.
pub(super) struct LineReader<'r> {
    input: &'r mut dyn BufRead,
    hasher: Hasher,
    /// The number of the last line that was read, from 1.
    number: u64,
    last: Option<String>,
    keys: u64,
    bytes: u64,
    ended: bool,
}

impl<'r> LineReader<'r> {
    /// Reads the first line.
    pub(super) fn begin(input: &'r mut dyn BufRead) -> Result<Self> {
        let (hasher, last) = (Hasher::new(), None);
        let mut lines = Self { input, hasher, number: 0, last, keys: 0, bytes: 0, ended: false };
        let first = lines.line().ok().flatten().and_then(|line| parse_object(&line).ok());
        let version = first.as_ref().and_then(|first| first.get("zarrox_manifest")).and_then(Json::as_u64);
        let hash = first.as_ref().and_then(|first| first.get("hash")).and_then(Json::as_str);
        match (version, hash) {
            (Some(VERSION), Some("blake3")) => Ok(lines),
            (Some(version), hash) => {
                let hash = hash.unwrap_or("none");
                let message = format!(
                    "unsupported version {version} or hash {hash}; expected version {VERSION} and blake3"
                );
                Err(lines.wrong(message))
            }
            (None, _) => {
                Err(lines.wrong("not a manifest: the first line does not begin with {\"zarrox_manifest\":"))
            }
        }
    }

    /// Returns the next entry, or `None` at the last line, after checking its totals.
    pub(super) fn next(&mut self) -> Result<Option<Line>> {
        if self.ended {
            return Ok(None);
        }
        let before = self.hasher.clone();
        let Some(bytes) = self.line()? else {
            return Err(self.wrong("the manifest is truncated: its last line is missing"));
        };
        let map = parse_object(&bytes).map_err(|error| self.wrong(error.message()))?;
        if map.contains_key("keys") {
            self.ended = true;
            return self.check_end(&map, &before).map(|()| None);
        }
        let line = line_of(&map).ok_or_else(|| self.wrong("invalid \"key\", \"size\" or \"blake3\""))?;
        if self.last.as_ref().is_some_and(|last| *last >= line.name) {
            return Err(self.wrong("the key is not greater than that of the line above"));
        }
        self.last = Some(line.name.clone());
        self.keys += 1;
        self.bytes = self.bytes.saturating_add(line.value.size);
        Ok(Some(line))
    }

    fn check_end(&mut self, map: &Map, before: &Hasher) -> Result<()> {
        let number = |name: &str| map.get(name).and_then(Json::as_u64);
        if (number("keys"), number("bytes")) != (Some(self.keys), Some(self.bytes)) {
            return Err(
                self.wrong(format!("the totals differ from {} keys and {} bytes", self.keys, self.bytes))
            );
        }
        let lines = map.get("lines").and_then(Json::as_str);
        if lines != Some(before.finalize().to_hex().as_str()) {
            return Err(self.wrong("the lines above were changed: their hash differs"));
        }
        Ok(())
    }

    /// Reads the next line, with its line break.
    fn line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        self.number += 1;
        let read = self.input.take(LONGEST).read_until(b'\n', &mut line);
        match read {
            Err(error) => Err(self.wrong(format!("it cannot be read: {error}"))),
            Ok(0) => Ok(None),
            Ok(_) if line.len() as u64 == LONGEST => {
                Err(self.wrong(format!("it is longer than {LONGEST} bytes")))
            }
            Ok(_) => {
                self.hasher.update(&line);
                Ok(Some(line))
            }
        }
    }

    fn wrong(&self, message: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::InvalidArgument, format!("line {}: {message}", self.number)).at("the manifest")
    }
}

/// Returns the entry of a line; `None` if the line is invalid.
fn line_of(map: &Map) -> Option<Line> {
    let name = map.get("key")?.as_str()?.to_owned();
    Key::new(name.as_str()).ok()?;
    let size = map.get("size")?.as_u64()?;
    let hash = hash_of(map.get("blake3")?.as_str()?)?;
    Some(Line { name, value: Hashed { size, hash: hash.into() } })
}
