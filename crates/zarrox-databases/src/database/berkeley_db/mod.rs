//! [`BerkeleyDbStore`].
//!
//! This module parses the files itself, since the Berkeley DB library trusts its files: when a file is damaged, it divides by
//! zero, reads out of bounds or loops forever.

mod hash;
mod pages;
mod tree;

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use self::hash::Hash;
use self::pages::{HASH_MAGIC, Item, Pages, TREE_MAGIC, unsupported};
use self::tree::Tree;
use crate::database::files::split;
use zarrox_stores::internals::support::valid;
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, Key, Located, LockGuard, Payload, Prefix, Scheme, Store,
    StoreError, StoreErrorKind, Value, provided,
};

/// A read-only store of the values in a Berkeley DB file, as written by zarr-python's `DBMStore` with `bsddb3.btopen`, with
/// `bsddb3.hashopen`, or with `dbm.ndbm` where it is based on Berkeley DB, as on Debian.
///
/// This store is for existing files: nothing is written. To change the data, copy it to another store.
///
/// The access methods hash and btree of Berkeley DB 4 and 5 are supported, in either byte order. Encryption, checksums, several
/// databases in one file, and several values under one key are not supported. The files are not locked, so no other program may
/// write while this program reads. In a hash table, every listing visits all keys.
#[derive(Clone, Debug)]
pub struct BerkeleyDbStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    pages: Pages,
    index: Index,
}

/// Files are only read, so this never creates one.
pub(crate) static SCHEME: Scheme = Scheme::new(&["bdb"], |url, _| {
    let (file, rest) = split(url, &["bdb", "db"], Path::is_file);
    Ok(Located::whole(BerkeleyDbStore::open(file)?, rest))
});

/// The index of the keys.
#[derive(Debug)]
enum Index {
    Tree(Tree),
    Hash(Hash),
}

impl BerkeleyDbStore {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when the file does not exist, [`StoreErrorKind::Corrupt`] when it is not a Berkeley DB file
    /// with the access method hash or btree, and [`StoreErrorKind::Unsupported`] when it uses an unsupported feature.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        Self::open_file(path).map_err(|error| error.with_location(path.to_string_lossy()))
    }

    fn open_file(path: &Path) -> Result<Self, StoreError> {
        let io = |error| StoreError::from_io("opening", error);
        let path = fs::canonicalize(path).map_err(io)?;
        if path.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        let (pages, first) = Pages::new(File::open(&path).map_err(io)?)?;
        let (magic, version) = (first.word(12)?, first.word(16)?);
        let versions = if magic == TREE_MAGIC { 8..=9 } else { 7..=9 };
        if !versions.contains(&version) {
            return Err(unsupported(&format!("version {version} of its format")));
        }
        if first.byte(24)? != 0 {
            return Err(unsupported("encryption"));
        }
        if first.byte(26)? != 0 {
            return Err(unsupported("checksums or partitions"));
        }
        let index = match magic {
            HASH_MAGIC => Index::Hash(Hash::new(&first, &pages)?),
            _ => Index::Tree(Tree::new(&first)?),
        };
        Ok(Self(Arc::new(Inner { path, pages, index })))
    }

    fn place(&self, key: &str) -> impl Fn(StoreError) -> StoreError {
        move |error| error.with_location(self.location()).with_key(key)
    }

    fn find(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        let (pages, key) = (&self.0.pages, key.as_str().as_bytes());
        match &self.0.index {
            Index::Tree(tree) => tree.find(pages, key),
            Index::Hash(hash) => hash.find(pages, key),
        }
    }

    /// Visits the keys below a prefix, with the sizes of their values.
    fn walk(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        // Keys that are invalid in Zarr belong to other programs.
        let visit = &mut |key: Vec<u8>, size| match valid(key).filter(|key| prefix.contains(key)) {
            Some(key) => visit(key, size),
            None => Ok(ControlFlow::Continue(())),
        };
        let (pages, start) = (&self.0.pages, prefix.as_str().as_bytes());
        let walked = match &self.0.index {
            Index::Tree(tree) => tree.walk(pages, start, visit),
            Index::Hash(hash) => hash.walk(pages, start, visit),
        };
        walked.map_err(self.place(prefix.as_str()))
    }

    fn read_only(&self, operation: &'static str, key: &str) -> StoreError {
        let message = "Berkeley DB files are read-only; copy the data to another store to change it";
        self.place(key)(StoreError::new(StoreErrorKind::ReadOnly, operation, message))
    }
}

impl Store for BerkeleyDbStore {
    provided!(directory get_ranges get_many contains rename_prefix flush stamp hold exchange);

    fn location(&self) -> String {
        self.0.path.to_string_lossy().into_owned()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.listable = true;
        capabilities.values_above_values = true;
        capabilities
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.get(key)?.map(|bytes| Box::new(bytes) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let read = || self.find(key)?.map(|item| self.0.pages.bytes(item).map(Bytes::from)).transpose();
        read().map_err(self.place(key.as_str()))
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        let item = self.find(key).map_err(self.place(key.as_str()))?;
        Ok(item.map(|item| item.size()))
    }

    fn put(&self, key: &Key, _payload: Payload<'_>, _condition: Condition<'_>) -> Result<(), StoreError> {
        Err(self.read_only("writing", key.as_str()))
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.unconditional()?;
        Err(self.read_only("erasing", key.as_str()))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        Err(self.read_only("erasing", prefix.as_str()))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.walk(prefix, &mut |key, size| Ok(visit(key, size)))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = DirListing::default();
        let mut children = std::collections::BTreeSet::new();
        self.walk(prefix, &mut |key, _| {
            match key.as_str()[prefix.as_str().len()..].split_once('/') {
                Some((child, _)) => drop(children.insert(prefix.child(child)?)),
                None => listing.keys.push(key),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        listing.prefixes.extend(children);
        Ok(listing.sorted())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("bdb://{}", self.location()), key))
    }
}
