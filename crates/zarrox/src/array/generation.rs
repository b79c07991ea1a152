//! The generation of an array: the metadata that determines how its elements are read and written. Rechunking, converting,
//! moving, deleting or replacing an array changes its generation, so a handle that was opened earlier fails instead of reading or
//! writing wrong elements.
//!
//! The [stamp](zarrox_stores::Store::stamp) of the array's document shows whether the document was replaced. Reading the stamp
//! takes one system call, and the document is read again only if its stamp has changed. Changing the attributes or the shape does
//! not change the generation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

use zarrox_core::internals::grid::Run;
use zarrox_core::{ArrayMetadata, ChunkGrid, Error, ErrorKind, NodeMetadata, Result};
use zarrox_stores::{Hold, HoldGuard, Key, Prefix, Stamp};

use crate::location::{Location, Purpose};

/// The state of an array's document as a handle last saw it.
#[derive(Debug)]
pub(crate) struct Generation {
    /// The key of the array's document.
    document: Key,
    /// The prefix on which writers of the array take their holds.
    prefix: Prefix,
    /// The stamp of the document when it last agreed with the handle; `None` before the first comparison.
    known: RwLock<Option<Stamp>>,
    /// True if the metadata comes from consolidated metadata, and has not been compared with the document yet.
    is_copy: AtomicBool,
    /// The metadata to compare with the document, if the handle's own metadata was changed for a view.
    expected: OnceLock<ArrayMetadata>,
}

impl Generation {
    /// Returns the generation of an array that was found at a location, or whose metadata was read from consolidated metadata.
    /// `None` if the array is only planned, or if the store has no stamps.
    pub(crate) fn of_found(location: &Location, metadata: &ArrayMetadata) -> Result<Option<Self>> {
        if location.copy().is_some() {
            return Ok(location
                .deciding_document(metadata.format)?
                .map(|document| Self::new(document, None, true)));
        }
        Ok(match &location.read_ahead.seen {
            None | Some((_, Stamp::Unknown)) => None,
            // `Missing` means that the document was read before its stamp.
            Some((document, Stamp::Missing)) => Some(Self::new(document.clone(), None, false)),
            Some((document, stamp)) => Some(Self::new(document.clone(), Some(stamp.clone()), false)),
        })
    }

    /// Returns the generation of an array whose document was just stored.
    pub(crate) fn of_stored(location: &Location, metadata: &ArrayMetadata) -> Result<Option<Self>> {
        let document = location.deciding_document(metadata.format)?;
        let has_stamps = |document: &Key| !matches!(location.store.stamp(document), Ok(Stamp::Unknown));
        Ok(document.filter(has_stamps).map(|document| Self::new(document, None, false)))
    }

    fn new(document: Key, known: Option<Stamp>, is_copy: bool) -> Self {
        let prefix = document.parent();
        Self {
            document,
            prefix,
            known: RwLock::new(known),
            is_copy: AtomicBool::new(is_copy),
            expected: OnceLock::new(),
        }
    }

    /// Remembers the metadata to compare with the document, before the metadata of the handle is changed for a view.
    pub(crate) fn keep(&self, expected: &ArrayMetadata) {
        self.expected.get_or_init(|| expected.clone());
    }

    /// Checks, once, that metadata read from consolidated metadata agrees with the array's own document.
    pub(crate) fn confirm_copy(&self, location: &Location, expected: &ArrayMetadata) -> Result<()> {
        if self.is_copy() { self.compare(location, expected) } else { Ok(()) }
    }

    /// Returns true if the metadata was read from consolidated metadata, and is not confirmed yet.
    pub(crate) fn is_copy(&self) -> bool {
        self.is_copy.load(Ordering::Acquire)
    }

    /// Reads the stamp of the document before elements are read, if the stamp is unknown.
    pub(crate) fn begin(&self, location: &Location, expected: &ArrayMetadata) -> Result<()> {
        if self.known().is_some() { Ok(()) } else { self.compare(location, expected) }
    }

    /// Returns an error unless the stored array is still the one that the handle was opened for.
    pub(crate) fn check(&self, location: &Location, expected: &ArrayMetadata) -> Result<()> {
        let is_same = match &*self.known() {
            None | Some(Stamp::Recent(_) | Stamp::Missing) => false,
            Some(Stamp::Unknown) => true,
            Some(known @ Stamp::Settled(_)) => *known == location.store.stamp(&self.document)?,
        };
        if is_same { Ok(()) } else { self.compare(location, expected) }
    }

    /// Takes a shared hold of the array, so that no other process moves, replaces or deletes it in the meantime.
    pub(crate) fn hold(&self, location: &Location) -> Result<HoldGuard> {
        Ok(location.store.hold(&self.prefix, Hold::Shared)?)
    }

    /// Returns the known stamp. Readers do not exclude one another, so the guard may be held during a request to the store.
    fn known(&self) -> RwLockReadGuard<'_, Option<Stamp>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_known(&self, stamp: Stamp) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(stamp);
    }

    /// Returns an error unless a node that was just read, under the lock of its document, is the array that the handle was opened
    /// for.
    pub(crate) fn check_locked(
        &self,
        location: &Location,
        expected: &ArrayMetadata,
        node: &NodeMetadata,
    ) -> Result<()> {
        if location.is_guarded() {
            // Another writer can store a document between the read and the request for the stamp.
            return self.compare_with(&own(location, expected), expected, Some(node));
        }
        let stamp = location.store.stamp(&self.document)?;
        if self.known().as_ref() == Some(&stamp) && matches!(stamp, Stamp::Settled(_)) {
            return Ok(());
        }
        self.compare_with(&own(location, expected), expected, Some(node))?;
        self.set_known(stamp);
        Ok(())
    }

    #[cold]
    fn compare(&self, location: &Location, expected: &ArrayMetadata) -> Result<()> {
        // The stamp is read before the document, so that a change in between is detected by the next check.
        let stamp = location.store.stamp(&self.document)?;
        let place = own(location, expected);
        // In a remote store, the documents are requested in parallel.
        let place = place.probed_for(std::slice::from_ref(&place.path), Purpose::Open);
        self.compare_with(&place, expected, place.find_node()?.as_ref())?;
        self.set_known(stamp);
        Ok(())
    }

    /// Returns an error unless the stored node is the array that the handle was opened for.
    fn compare_with(
        &self,
        place: &Location,
        expected: &ArrayMetadata,
        stored: Option<&NodeMetadata>,
    ) -> Result<()> {
        let expected = self.expected.get().unwrap_or(expected);
        let is_copy = self.is_copy();
        let mut kind = ErrorKind::InvalidArgument;
        let how = match stored {
            Some(NodeMetadata::Array(stored)) => match difference(stored, expected, is_copy, place)? {
                None => {
                    self.is_copy.store(false, Ordering::Release);
                    return Ok(());
                }
                Some(how) => how,
            },
            Some(NodeMetadata::Group(_)) => "was replaced by a group".to_owned(),
            None => {
                kind = ErrorKind::NotFound;
                gone(place, expected)
            }
        };
        if is_copy {
            let message = format!(
                "the consolidated metadata is out of date: the array {how}; consolidate again, or open with Consolidated::Never"
            );
            return Err(Error::new(ErrorKind::InvalidMetadata, message));
        }
        Err(Error::new(kind, format!("the array {how} since it was opened; open it again")))
    }
}

/// Returns the location of an array's own documents, without consolidated metadata.
fn own(location: &Location, expected: &ArrayMetadata) -> Location {
    location.as_stored().with_probe(None).of_format(Some(expected.format))
}

/// Describes what happened to an array that no longer exists.
fn gone(place: &Location, expected: &ArrayMetadata) -> String {
    match place.clone().of_format(None).find_node() {
        Ok(Some(NodeMetadata::Array(other))) if other.format != expected.format => {
            format!("was converted to Zarr {}", other.format)
        }
        Ok(Some(_)) => "was replaced by another node".to_owned(),
        _ => "was moved or deleted".to_owned(),
    }
}

/// Describes those differences between the stored metadata and the metadata of a handle that affect how elements are read. If the
/// handle was opened by consolidated metadata, the shape is compared as well.
fn difference(
    stored: &ArrayMetadata,
    expected: &ArrayMetadata,
    is_copy: bool,
    place: &Location,
) -> Result<Option<String>> {
    let may_grow = !is_copy && goes_on(&stored.chunk_grid, &expected.chunk_grid);
    let alike = ArrayMetadata {
        attributes: expected.attributes.clone(),
        extra: expected.extra.clone(),
        shape: if is_copy { stored.shape.clone() } else { expected.shape.clone() },
        chunk_grid: if may_grow { expected.chunk_grid.clone() } else { stored.chunk_grid.clone() },
        dimension_names: if is_copy {
            stored.dimension_names.clone()
        } else {
            expected.dimension_names.clone()
        },
        // A v2 document need not define the encoding of the chunk keys, in which case the encoding was detected earlier, or is
        // detected now.
        chunk_key_encoding: match stored.separator_declared {
            true => stored.chunk_key_encoding,
            false => expected.chunk_key_encoding,
        },
        ..stored.clone()
    };
    if stored.shape.len() == expected.shape.len()
        && (alike.is_same(expected, &place.context.registry, place.context.chunk_limit)?
            || are_documents_alike(&alike, expected, place))
    {
        return Ok(None);
    }
    Ok(Some(if is_copy {
        format!("differs from its copy: its shape is {:?}", stored.shape)
    } else if alike.data_type != expected.data_type {
        format!("got the data type {} instead of {}", stored.data_type, expected.data_type)
    } else if stored.shape.len() != expected.shape.len() || alike.chunk_grid != expected.chunk_grid {
        let (new, old) = (stored.chunk_grid.largest_chunk(), expected.chunk_grid.largest_chunk());
        format!("was rechunked (to {new:?} from {old:?})")
    } else if alike.chunk_key_encoding != expected.chunk_key_encoding {
        "got another encoding of chunk keys".to_owned()
    } else if alike.codecs == expected.codecs {
        "got another fill value".to_owned()
    } else {
        "got other codecs".to_owned()
    }))
}

/// Returns true if two arrays have the same documents. The metadata of a new array can differ in notation from the metadata that
/// is read back from its documents: `r40` instead of `raw_bytes`, for example, or another fill value for Python objects.
fn are_documents_alike(one: &ArrayMetadata, other: &ArrayMetadata, place: &Location) -> bool {
    let documents = |array: &ArrayMetadata| {
        let node = NodeMetadata::Array(array.clone());
        array.format.def().to_documents(&place.path, &node, &place.context.registry)
    };
    matches!((documents(one), documents(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns true if one grid is a prefix of the other: chunks are added to a rectilinear grid when its array grows.
fn goes_on(stored: &ChunkGrid, expected: &ChunkGrid) -> bool {
    if !matches!((stored, expected), (ChunkGrid::Rectilinear(_), ChunkGrid::Rectilinear(_))) {
        return stored == expected;
    }
    let dims = expected.largest_chunk().len();
    stored.largest_chunk().len() == dims
        && (0..dims).all(|dim| begin_alike(&stored.runs(dim), &expected.runs(dim)))
}

fn begin_alike(one: &[Run], other: &[Run]) -> bool {
    let last = one.len().min(other.len()).saturating_sub(1);
    one.iter().zip(other).enumerate().all(|(index, (one, other))| {
        (one.start, one.length) == (other.start, other.length) && (index == last || one.count == other.count)
    })
}
