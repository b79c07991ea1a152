//! The HDF5 file format: superblock, object headers, messages, heaps and indexes.
//!
//! All data is read as byte ranges, so that the file can be in any storage. The content is not trusted: lengths are
//! checked against the length of the file before memory is allocated, and no address is visited twice.

mod attribute;
mod btree1;
mod btree2;
mod chunk_index;
mod cursor;
mod dataset;
mod group;
mod header;
mod heap;
mod mapping;
mod message;
mod model;
mod selection;
mod shared;
mod source;
mod superblock;

use std::sync::Arc;

use zarrox::Result;

use crate::input::{Input, unsupported};
use header::{Header, kind};
use heap::global::GlobalHeap;
pub(super) use model::*;
use shared::SharedMessages;
use source::Source;
pub(super) use source::checksum;
use superblock::Superblock;

/// A file that is open for reading. Clones share the file.
#[derive(Debug, Clone)]
pub(super) struct File {
    source: Arc<Source>,
    shared: Arc<SharedMessages>,
    heap: Arc<GlobalHeap>,
    root: Address,
}

impl File {
    /// Reads the superblock, at the start of the file or after a user block.
    pub(super) fn open(input: Arc<Input>) -> Result<Self> {
        let Superblock { base, sizes, root, extension } = Superblock::read(&input)?;
        let source = Source { input, base, sizes };
        let shared = match extension {
            Some(address) => extended(&source, address)?,
            None => SharedMessages::default(),
        };
        Ok(Self { source: Arc::new(source), shared: Arc::new(shared), heap: Arc::default(), root })
    }

    /// Returns the address of the root group.
    pub(super) fn root(&self) -> Address {
        self.root
    }

    /// Returns the bytes of the file.
    pub(super) fn input(&self) -> &Arc<Input> {
        &self.source.input
    }

    /// Returns the size in bytes of an address in a reference.
    pub(super) fn offset_size(&self) -> usize {
        self.source.sizes.offset
    }

    /// Reads bytes at an address.
    pub(super) fn read(&self, address: Address, length: u64) -> Result<Vec<u8>> {
        self.source.read(address, length)
    }

    /// Converts an address to a position in the file.
    pub(super) fn position(&self, address: Address) -> Result<u64> {
        self.source.position(address)
    }

    /// Reads the object header at an address.
    ///
    /// # Errors
    /// If a required message cannot be parsed. Messages that are not needed are not parsed.
    pub(super) fn object(&self, address: Address) -> Result<Object> {
        let header = Header::read(&self.source, address)?;
        dataset::object(&self.source, &self.shared, &self.heap, &header)
    }

    /// Returns the links of a group, in creation order if the group tracks it, otherwise sorted by name.
    pub(super) fn links(&self, group: Address) -> Result<Vec<Link>> {
        group::links(&self.source, &self.shared, &Header::read(&self.source, group)?)
    }

    /// Returns the attributes of an object, in creation order if the object tracks it. For an attribute that cannot be
    /// read, returns its name, empty if unknown, and the error.
    pub(super) fn attributes(&self, object: Address) -> Result<Vec<attribute::Found>> {
        attribute::all(&self.source, &self.shared, &Header::read(&self.source, object)?)
    }

    /// Returns the stored chunks of a dataset that overlap its shape, in any order.
    pub(super) fn chunks(&self, dataset: &Dataset) -> Result<Vec<StoredChunk>> {
        chunk_index::read(&self.source, dataset)
    }

    /// Returns the bytes of an object in the global heap. `address` is the address of its collection.
    pub(super) fn global(&self, address: Address, index: u32) -> Result<Vec<u8>> {
        self.heap.object(&self.source, address, index)
    }
}

/// Reads the file-wide properties from the superblock extension.
fn extended(source: &Source, address: Address) -> Result<SharedMessages> {
    let header = Header::read(source, address)?;
    if let Some(driver) = header.find(kind::DRIVER) {
        // The first byte of the message is its version.
        superblock::refuse_split(driver.bytes.get(1..).unwrap_or_default())?;
    }
    if let Some(image) = header.find(kind::CACHE_IMAGE) {
        let mut cursor = source.cursor(&image.bytes, "a metadata cache image message");
        cursor.skip(1)?;
        if cursor.address()?.is_some() {
            return Err(unsupported(
                "the newest metadata of the file is in a cache image, which is not supported; remove it with h5repack",
            ));
        }
    }
    match header.find(kind::SHARED_TABLE) {
        Some(message) => SharedMessages::read(source, &message.bytes),
        None => Ok(SharedMessages::default()),
    }
}

#[cfg(test)]
mod tests;
