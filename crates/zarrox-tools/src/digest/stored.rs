//! Listing and hashing of the stored values of a node and of all nodes below it.

use std::ops::ControlFlow;

use blake3::{Hash, Hasher};
use zarrox_core::internals::metadata::Extent;
use zarrox_core::{Error, ErrorKind, Format, Result};
use zarrox_stores::{ByteRange, Key, Prefix, Value};

use super::set_hash::{SetHash, update_framed};
use zarrox::internals::{Location, Pool, Task};

const VALUE: &str = "zarrox digest 1: stored value";
const STORED: &str = "zarrox digest 1: stored values";

/// The number of bytes of a value that are in memory at a time.
const PIECE: u64 = 4 << 20;

/// The number of values in a batch that the threads share.
const BATCH: usize = 1024;

/// The values of a node and of all nodes below it, by name. The name of a value is its key relative to the node if all keys
/// begin with the node's path, and otherwise its absolute key.
pub(crate) struct StoredValues {
    location: Location,
    extent: Extent,
    /// The prefix of the keys, which the names omit.
    prefix: String,
}

/// The size and the hash of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hashed {
    /// The size in bytes.
    pub(crate) size: u64,
    /// The BLAKE3 hash.
    pub(crate) hash: Hash,
}

impl StoredValues {
    /// Creates the values of the node at a location. The node may be invalid.
    pub(crate) fn new(location: &Location) -> Result<Self> {
        let location = location.as_stored();
        if !location.store.capabilities().listable {
            let message = format!("the keys in {} cannot be listed", location.store.location());
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let extent = extent(&location)?;
        let prefix = match extent.prefixes.as_slice() {
            [only] if extent.keys.is_empty() => only.clone(),
            _ => String::new(),
        };
        Ok(Self { location, extent, prefix })
    }

    /// Returns the location, for error messages.
    pub(crate) fn place(&self) -> String {
        self.location.to_string()
    }

    /// Returns the thread pool that reads values.
    pub(crate) fn pool(&self) -> &Pool {
        self.location.pool()
    }

    /// Returns the number of values that can be read concurrently within this amount of memory.
    pub(crate) fn at_once(memory: usize) -> usize {
        usize::try_from(memory as u64 / PIECE).unwrap_or(usize::MAX).max(1)
    }

    /// Visits the name and the size of each value in arbitrary order, until an error occurs.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&str, u64) -> Result<()>) -> Result<()> {
        let store = &self.location.store;
        for key in &self.extent.keys {
            if let Some(size) = store.size(&Key::new(key.as_str())?)? {
                visit(key, size)?;
            }
        }
        for prefix in &self.extent.prefixes {
            let mut result = Ok(());
            store.list_prefix(&Prefix::new(prefix.as_str())?, &mut |key, size| {
                result = visit(key.as_str().strip_prefix(&self.prefix).unwrap_or(key.as_str()), size);
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            result?;
        }
        Ok(())
    }

    /// Reads and hashes the value with this name. Returns `None` if it does not exist.
    pub(crate) fn hash(&self, name: &str) -> Result<Option<Hashed>> {
        let key = Key::new([&self.prefix, name].concat())?;
        let first = ByteRange::From { offset: 0, length: Some(PIECE) };
        let Some(value) = self.location.store.open_with(&key, Some(first))? else { return Ok(None) };
        let mut hasher = Hasher::new();
        update_from(&mut hasher, &*value).map_err(|error| Error::from(error).at(format!("key '{key}'")))?;
        Ok(Some(Hashed { size: value.size(), hash: hasher.finalize() }))
    }
}

fn update_from(hasher: &mut Hasher, value: &dyn Value) -> Result<(), zarrox_stores::StoreError> {
    if let Some(bytes) = value.as_bytes() {
        hasher.update(bytes);
        return Ok(());
    }
    let mut offset = 0;
    while offset < value.size() {
        let length = PIECE.min(value.size() - offset);
        hasher.update(&value.read(offset, length)?);
        offset += length;
    }
    Ok(())
}

/// Returns the extent of the node at a location: two prefixes in hierarchies that store documents separately from chunks.
fn extent(location: &Location) -> Result<Extent> {
    let together = Extent { keys: Vec::new(), prefixes: vec![location.path.prefix()] };
    if location.path.is_root() {
        return Ok(together);
    }
    for format in Format::all().filter(|format| format.def().entry_key().is_some()) {
        if let Some(layout) = location.existing_layout(format)? {
            return Ok(layout.extent(&location.path));
        }
    }
    Ok(together)
}

/// The sum of the hashes of values with their names and sizes.
#[derive(Default)]
pub(crate) struct StoredSum(SetHash);

impl StoredSum {
    /// Returns the sum of one value.
    pub(crate) fn of(name: &str, value: &Hashed) -> Self {
        let mut hasher = Hasher::new_derive_key(VALUE);
        update_framed(&mut hasher, name.as_bytes());
        hasher.update(&value.size.to_le_bytes()).update(value.hash.as_bytes());
        let mut sum = SetHash::default();
        sum.add(&hasher);
        Self(sum)
    }

    /// Adds other values.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.join(&other.0);
    }

    /// Returns the hash of all values.
    pub(crate) fn finish(&self) -> [u8; 32] {
        let mut hasher = Hasher::new_derive_key(STORED);
        self.0.update(&mut hasher);
        hasher.finalize().into()
    }
}

/// Returns the hash of all values of a node and of all nodes below it.
pub(super) fn stored_hash(location: &Location, work: &Task) -> Result<[u8; 32]> {
    let values = StoredValues::new(location)?;
    let mut sum = StoredSum::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut flush = |batch: &mut Vec<(String, u64)>| -> Result<()> {
        let bytes = batch.iter().map(|(_, size)| *size).sum::<u64>() / batch.len().max(1) as u64;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let at_once = StoredValues::at_once(work.memory);
        let sums = values.pool().map(std::mem::take(batch), bytes, at_once, |(name, size)| {
            let hashed = values.hash(&name)?;
            work.advance(size)?;
            // A value that was deleted after the listing is treated as if it had been deleted before.
            Ok(hashed.map(|hashed| StoredSum::of(&name, &hashed)))
        })?;
        sums.iter().flatten().for_each(|other| sum.join(other));
        Ok(())
    };
    values.visit(&mut |name, size| {
        work.expect(size);
        batch.push((name.to_owned(), size));
        if batch.len() == BATCH { flush(&mut batch) } else { Ok(()) }
    })?;
    flush(&mut batch)?;
    Ok(sum.finish())
}
