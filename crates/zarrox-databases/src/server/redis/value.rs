//! A version of a value in Redis, identified by its SHA-1 digest, which the server computes.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use ::redis::{Script, Value as Answer};
use bytes::Bytes;
use sha1_smol::Sha1;

use super::database::Database;
use zarrox_stores::internals::support::checked_length;
use zarrox_stores::{ByteRange, Key, StoreError, StoreErrorKind, Value, Version};

/// Values up to this size, in bytes, are read as a whole when they are opened: computing the digest would be more expensive for
/// the server.
pub(super) const WHOLE: u64 = 4 << 20;

/// A script that returns the whole value if it is small, otherwise a first range, the size and the digest.
static OPEN: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local value = redis.call('GET', KEYS[1])
        if not value then return false end
        if #value <= tonumber(ARGV[1]) then return {value} end
        return {redis.call('GETRANGE', KEYS[1], ARGV[2], ARGV[3]), #value, redis.sha1hex(value)}",
    )
});

/// A script that returns a range within the value, unless the value has changed.
static READ: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local value = redis.call('GET', KEYS[1])
        if not value or redis.sha1hex(value) ~= ARGV[1] then return false end
        return redis.call('GETRANGE', KEYS[1], ARGV[2], ARGV[3])",
    )
});

/// A script that returns the size.
static SIZE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('EXISTS', KEYS[1]) == 0 then return false end
        return redis.call('STRLEN', KEYS[1])",
    )
});

/// A script that returns several ranges, unless the size of the value has changed since the ranges were computed.
static PARTS: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('STRLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return false end
        local parts = {}
        for at = 2, #ARGV, 2 do
            parts[#parts + 1] = redis.call('GETRANGE', KEYS[1], ARGV[at], ARGV[at + 1])
        end
        return parts",
    )
});

/// A script that replaces the value, unless it has changed.
static REPLACE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local value = redis.call('GET', KEYS[1])
        if not value or redis.sha1hex(value) ~= ARGV[1] then return 0 end
        redis.call('SET', KEYS[1], ARGV[2])
        return 1",
    )
});

/// A script that erases the value, unless it has changed.
static ERASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local value = redis.call('GET', KEYS[1])
        if not value or redis.sha1hex(value) ~= ARGV[1] then return 0 end
        return redis.call('UNLINK', KEYS[1])",
    )
});

/// An open value, of which a part has already been read.
pub(super) struct RedisValue {
    store: Arc<Database>,
    key: Key,
    size: u64,
    /// The digest in hexadecimal digits. If the whole value is in memory, the digest is computed on request.
    digest: Option<String>,
    offset: u64,
    piece: Bytes,
}

impl RedisValue {
    /// Creates a value that is entirely in memory.
    pub(super) fn whole(store: &Arc<Database>, key: &Key, bytes: Bytes) -> Self {
        let (store, key, size) = (Arc::clone(store), key.clone(), bytes.len() as u64);
        Self { store, key, size, digest: None, offset: 0, piece: bytes }
    }

    /// Opens a value and reads a range of it.
    pub(super) fn open(
        store: &Arc<Database>,
        key: &Key,
        first: ByteRange,
    ) -> Result<Option<Self>, StoreError> {
        let (from, to) = bounds(first);
        let name = store.name(key);
        let invocation = |connection: &mut ::redis::Connection| {
            OPEN.key(&name).arg(WHOLE).arg(from).arg(to).invoke::<Answer>(connection)
        };
        let answer = store.pool.repeat(invocation).map_err(store.fail("reading", key.as_str()))?;
        let parts = match answer {
            Answer::Nil => return Ok(None),
            Answer::Array(parts) => parts,
            _ => return Err(odd_answer(store, key)),
        };
        let value = match <[Answer; 1]>::try_from(parts) {
            Ok([Answer::BulkString(bytes)]) => Some(Self::whole(store, key, bytes.into())),
            Ok(_) => None,
            Err(parts) => Self::part(store, key, first, parts),
        };
        value.map(Some).ok_or_else(|| odd_answer(store, key))
    }

    fn part(store: &Arc<Database>, key: &Key, first: ByteRange, parts: Vec<Answer>) -> Option<Self> {
        let parts = <[Answer; 3]>::try_from(parts).ok()?;
        let [Answer::BulkString(piece), Answer::Int(size), Answer::BulkString(digest)] = parts else {
            return None;
        };
        let size = u64::try_from(size).ok()?;
        // No bytes are returned for an out-of-bounds range.
        let range = first.resolve(size).filter(|range| range.end - range.start == piece.len() as u64);
        let (offset, piece) = range.map_or((0, Bytes::new()), |range| (range.start, piece.into()));
        let digest = String::from_utf8(digest).ok()?;
        Some(Self { store: Arc::clone(store), key: key.clone(), size, digest: Some(digest), offset, piece })
    }

    fn at_hand(&self, range: &Range<u64>) -> Option<Bytes> {
        let start = usize::try_from(range.start.checked_sub(self.offset)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(self.offset)?).ok()?;
        (end <= self.piece.len()).then(|| self.piece.slice(start..end))
    }

    fn fetch(&self, range: &Range<u64>) -> Result<Bytes, StoreError> {
        let name = self.store.name(&self.key);
        let read = |connection: &mut ::redis::Connection| {
            READ.key(&name)
                .arg(&self.digest)
                .arg(range.start)
                .arg(range.end - 1)
                .invoke::<Option<Bytes>>(connection)
        };
        let answer = self.store.pool.repeat(read).map_err(self.store.fail("reading", self.key.as_str()))?;
        answer.ok_or_else(|| conflict(&self.store, "reading", &self.key))
    }
}

impl Value for RedisValue {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        buffer.copy_from_slice(&self.read(offset, buffer.len() as u64)?);
        Ok(())
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        Some(&self.piece).filter(|piece| piece.len() as u64 == self.size)
    }

    fn version(&self) -> Option<Version> {
        let digest = self.digest.clone().unwrap_or_else(|| Sha1::from(&self.piece).digest().to_string());
        Some(digest.into_bytes().into())
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        checked_length(self.size, offset, length)?;
        let range = offset..offset + length;
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        self.at_hand(&range).map_or_else(|| self.fetch(&range), Ok)
    }
}

/// Returns the size of a value; `None` when it does not exist.
pub(super) fn size(store: &Database, key: &Key) -> Result<Option<u64>, StoreError> {
    let name = store.name(key);
    let size = |connection: &mut ::redis::Connection| SIZE.key(&name).invoke(connection);
    store.pool.repeat(size).map_err(store.fail("reading", key.as_str()))
}

/// Returns parts of the same version of a value; `None` if its size has changed.
pub(super) fn parts(
    store: &Database,
    key: &Key,
    size: u64,
    ranges: &[ByteRange],
) -> Result<Option<Vec<Bytes>>, StoreError> {
    let name = store.name(key);
    let mut read = PARTS.key(&name);
    read.arg(size);
    for range in ranges {
        let (from, to) = bounds(*range);
        read.arg(from).arg(to);
    }
    let parts = |connection: &mut ::redis::Connection| read.invoke(connection);
    store.pool.repeat(parts).map_err(store.fail("reading", key.as_str()))
}

/// Replaces a version of a value.
pub(super) fn replace(
    store: &Database,
    key: &Key,
    value: &[u8],
    version: &Version,
) -> Result<(), StoreError> {
    let name = store.name(key);
    let replace = |connection: &mut ::redis::Connection| {
        REPLACE.key(&name).arg(version.as_bytes()).arg(value).invoke::<bool>(connection)
    };
    let replaced = store.pool.once(replace).map_err(store.fail("writing", key.as_str()))?;
    if replaced { Ok(()) } else { Err(conflict(store, "writing", key)) }
}

/// Erases a version of a value.
pub(super) fn erase(store: &Database, key: &Key, version: &Version) -> Result<(), StoreError> {
    let name = store.name(key);
    let erase = |connection: &mut ::redis::Connection| {
        ERASE.key(&name).arg(version.as_bytes()).invoke::<bool>(connection)
    };
    let erased = store.pool.once(erase).map_err(store.fail("erasing", key.as_str()))?;
    if erased { Ok(()) } else { Err(conflict(store, "erasing", key)) }
}

/// Converts a range to the form that Redis uses: the offsets of the first and the last byte, where negative numbers count from
/// the end.
fn bounds(range: ByteRange) -> (i64, i64) {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    match range {
        ByteRange::From { offset, length: None } => (signed(offset), -1),
        // For an empty range, the offset of the last byte would be less than that of the first byte, or would refer to the last
        // byte of the value.
        ByteRange::From { length: Some(0), .. } | ByteRange::Suffix { length: 0 } => (1, 0),
        ByteRange::From { offset, length: Some(length) } => {
            (signed(offset), signed(offset.saturating_add(length - 1)))
        }
        ByteRange::Suffix { length } => (-signed(length), -1),
    }
}

fn conflict(store: &Database, operation: &'static str, key: &Key) -> StoreError {
    let message = "another writer changed the value in the meantime";
    let error = StoreError::new(StoreErrorKind::Conflict, operation, message);
    error.with_location(&store.location).with_key(key.as_str())
}

fn odd_answer(store: &Database, key: &Key) -> StoreError {
    let error =
        StoreError::new(StoreErrorKind::Other, "reading", "the response is not that of a Redis server");
    error.with_location(&store.location).with_key(key.as_str())
}
