//! Shared messages, which are stored once for several objects (sections III.G and IV.A.2 of the specification).

use std::sync::{Arc, Mutex, PoisonError};

use zarrox::Result;

use super::cursor::Cursor;
use super::header::{Header, Message, kind};
use super::heap::fractal::FractalHeap;
use super::model::Address;
use super::source::Source;
use crate::input::corrupt;

const WHAT: &str = "a shared message";
const TABLE: &str = "the table of shared messages";
/// The length of an index in the table, excluding its two addresses.
const INDEX: usize = 14;

/// A heap of shared messages.
#[derive(Debug)]
struct Index {
    /// A bit mask of the message types in the heap.
    kinds: u16,
    address: Option<Address>,
    heap: Mutex<Option<Arc<FractalHeap>>>,
}

/// The heaps of shared messages of a file.
#[derive(Debug, Default)]
pub(super) struct SharedMessages {
    indexes: Vec<Index>,
}

impl SharedMessages {
    /// Reads the table that the superblock extension refers to.
    pub(super) fn read(source: &Source, message: &[u8]) -> Result<Self> {
        let mut cursor = source.cursor(message, "a shared message table message");
        cursor.version(0)?;
        let address = cursor.defined_address()?;
        let count = usize::from(cursor.u8()?);
        let length = 4 + count * (INDEX + 2 * source.sizes.offset) + 4;
        let bytes = source.read_checked(address, length as u64, TABLE)?;
        let mut cursor = source.cursor(&bytes, TABLE);
        cursor.signature(b"SMTB")?;
        let indexes = (0..count).map(|_| index(&mut cursor)).collect::<Result<_>>()?;
        Ok(Self { indexes })
    }

    /// Returns the bytes of a message, whether it is stored in the header or outside it.
    pub(super) fn message(&self, source: &Source, message: &Message) -> Result<Vec<u8>> {
        if message.is_shared {
            self.resolve(source, message.kind, &message.bytes)
        } else {
            Ok(message.bytes.clone())
        }
    }

    /// Returns the message at the location encoded in `place`.
    pub(super) fn resolve(&self, source: &Source, kind: u16, place: &[u8]) -> Result<Vec<u8>> {
        let mut cursor = source.cursor(place, WHAT);
        let address = match (cursor.u8()?, cursor.u8()?) {
            // A symbol table entry, in files written by HDF5 before 1.6.
            (1, _) => {
                cursor.skip(6 + source.sizes.length)?;
                cursor.defined_address()?
            }
            (3, 1) => return self.in_heap(source, kind, cursor.take(8)?),
            (2 | 3, _) => cursor.defined_address()?,
            (version, _) => return Err(cursor.unknown_version(version)),
        };
        let header = Header::read(source, address)?;
        let found = header.find(kind).filter(|found| !found.is_shared || is_in_heap(&found.bytes));
        let found = found.ok_or_else(|| {
            corrupt(format!("the object at {address} has no message of the kind {kind:#06x} to share"))
        })?;
        if !found.is_shared {
            return Ok(found.bytes.clone());
        }
        let mut cursor = source.cursor(&found.bytes, WHAT);
        cursor.skip(2)?;
        self.in_heap(source, kind, cursor.take(8)?)
    }

    /// Returns a message from the heap for the given message type.
    pub(super) fn in_heap(&self, source: &Source, kind: u16, id: &[u8]) -> Result<Vec<u8>> {
        // Both types of fill value messages share one bit.
        let kind = if kind == kind::OLD_FILL { kind::FILL } else { kind };
        let bit = 1_u16.checked_shl(u32::from(kind)).unwrap_or(0);
        let index = self.indexes.iter().find(|index| index.kinds & bit != 0);
        let found = index.and_then(|index| Some((index, index.address?)));
        let (index, address) =
            found.ok_or_else(|| corrupt(format!("no heap of shared messages of the kind {kind:#06x}")))?;
        let heap = {
            let mut heap = index.heap.lock().unwrap_or_else(PoisonError::into_inner);
            match &*heap {
                Some(heap) => Arc::clone(heap),
                None => Arc::clone(heap.insert(Arc::new(FractalHeap::read(source, address)?))),
            }
        };
        heap.object(source, id)
    }
}

/// Returns true if a shared message is stored in a heap.
fn is_in_heap(place: &[u8]) -> bool {
    place.starts_with(&[3, 1])
}

fn index(cursor: &mut Cursor<'_>) -> Result<Index> {
    // The version and the index type.
    cursor.skip(2)?;
    let kinds = cursor.u16()?;
    // The minimum message size, the cutoffs between list and B-tree, and the number of messages.
    cursor.skip(10)?;
    cursor.address()?;
    Ok(Index { kinds, address: cursor.address()?, heap: Mutex::new(None) })
}
