//! The generation of an array: what its elements are read and written by. Whoever rechunks, converts, moves, deletes or replaces an array
//! gives it another one, so that handles that were opened before fail instead of reading or writing wrong elements.
//!
//! The store tells by the [stamp](zarrox_stores::Store::stamp) of the array's document whether it was replaced, which costs one system call.
//! Only then the document is read again. Other attributes and another shape are no other generation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

use zarrox_core::internals::grid::Run;
use zarrox_core::{ArrayMetadata, ChunkGrid, Error, ErrorKind, NodeMetadata, Result};
use zarrox_stores::{Hold, HoldGuard, Key, Prefix, Stamp};

use crate::location::Location;

/// What a handle knows of its array's document.
#[derive(Debug)]
pub(crate) struct Generation {
    /// The array's document.
    document: Key,
    /// What those who change the array hold.
    prefix: Prefix,
    /// What the store said of the document when it was as the handle has it; `None` if that was not seen yet.
    known: RwLock<Option<Stamp>>,
    /// True if the metadata is a copy of the document, which nobody has compared with it.
    is_copy: AtomicBool,
    /// The metadata to compare, if the array is also viewed in another way.
    said: OnceLock<ArrayMetadata>,
}

impl Generation {
    /// The generation of an array that was found at a place, or read from consolidated metadata. `None` for an array that is only
    /// planned, or where the store cannot tell.
    pub(crate) fn of_found(location: &Location, metadata: &ArrayMetadata) -> Result<Option<Self>> {
        if location.copy().is_some() {
            return Ok(location
                .deciding_document(metadata.format)?
                .map(|document| Self::new(document, None, true)));
        }
        Ok(match &location.read_ahead.seen {
            None | Some((_, Stamp::Unknown)) => None,
            // It was read before the store was asked.
            Some((document, Stamp::Missing)) => Some(Self::new(document.clone(), None, false)),
            Some((document, stamp)) => Some(Self::new(document.clone(), Some(stamp.clone()), false)),
        })
    }

    /// The generation of an array whose document was just stored.
    pub(crate) fn of_stored(location: &Location, metadata: &ArrayMetadata) -> Result<Option<Self>> {
        let document = location.deciding_document(metadata.format)?;
        let is_told = |document: &Key| !matches!(location.store.stamp(document), Ok(Stamp::Unknown));
        Ok(document.filter(is_told).map(|document| Self::new(document, None, false)))
    }

    fn new(document: Key, known: Option<Stamp>, is_copy: bool) -> Self {
        let prefix = document.parent();
        Self {
            document,
            prefix,
            known: RwLock::new(known),
            is_copy: AtomicBool::new(is_copy),
            said: OnceLock::new(),
        }
    }

    /// Keeps the metadata to compare, for an array that will be viewed in another way.
    pub(crate) fn keep(&self, said: &ArrayMetadata) {
        self.said.get_or_init(|| said.clone());
    }

    /// Makes sure that metadata from consolidated metadata agrees with the array's own document, once.
    pub(crate) fn confirm_copy(&self, location: &Location, said: &ArrayMetadata) -> Result<()> {
        if self.is_copy.load(Ordering::Acquire) { self.compare(location, said) } else { Ok(()) }
    }

    /// Makes sure that it is known what the document is like, before elements are read.
    pub(crate) fn begin(&self, location: &Location, said: &ArrayMetadata) -> Result<()> {
        if self.known().is_some() { Ok(()) } else { self.compare(location, said) }
    }

    /// Makes sure that the array is the one that the handle was opened for.
    pub(crate) fn check(&self, location: &Location, said: &ArrayMetadata) -> Result<()> {
        let is_same = match &*self.known() {
            None | Some(Stamp::Recent(_) | Stamp::Missing) => false,
            Some(Stamp::Unknown) => true,
            Some(known @ Stamp::Settled(_)) => *known == location.store.stamp(&self.document)?,
        };
        if is_same { Ok(()) } else { self.compare(location, said) }
    }

    /// Holds the array together with other writers, so that nobody moves, replaces or deletes it meanwhile.
    pub(crate) fn hold(&self, location: &Location) -> Result<HoldGuard> {
        Ok(location.store.hold(&self.prefix, Hold::Shared)?)
    }

    /// Readers of it do not exclude one another, so that it may be kept while the store is asked.
    fn known(&self) -> RwLockReadGuard<'_, Option<Stamp>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_known(&self, stamp: Stamp) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(stamp);
    }

    /// Makes sure that a node, which was just read under the lock of its document, is the array that the handle was opened for.
    pub(crate) fn check_locked(
        &self,
        location: &Location,
        said: &ArrayMetadata,
        node: &NodeMetadata,
    ) -> Result<()> {
        if location.is_guarded() {
            // Nothing keeps others from storing another document before the store is asked.
            return self.judge(&own(location, said), said, Some(node));
        }
        let stamp = location.store.stamp(&self.document)?;
        if self.known().as_ref() == Some(&stamp) && matches!(stamp, Stamp::Settled(_)) {
            return Ok(());
        }
        self.judge(&own(location, said), said, Some(node))?;
        self.now_known(stamp);
        Ok(())
    }

    #[cold]
    fn compare(&self, location: &Location, said: &ArrayMetadata) -> Result<()> {
        // It is asked before the document is read: what is stored meanwhile is seen the next time.
        let stamp = location.store.stamp(&self.document)?;
        let place = own(location, said);
        self.judge(&place, said, place.find_node()?.as_ref())?;
        self.now_known(stamp);
        Ok(())
    }

    /// Makes sure that the node that is stored is the array that the handle was opened for.
    fn judge(&self, place: &Location, said: &ArrayMetadata, stored: Option<&NodeMetadata>) -> Result<()> {
        let said = self.said.get().unwrap_or(said);
        let is_copy = self.is_copy.load(Ordering::Acquire);
        let mut kind = ErrorKind::InvalidArgument;
        let how = match stored {
            Some(NodeMetadata::Array(stored)) => match difference(stored, said, is_copy, place)? {
                None => {
                    self.is_copy.store(false, Ordering::Release);
                    return Ok(());
                }
                Some(how) => how,
            },
            Some(NodeMetadata::Group(_)) => "was replaced by a group".to_owned(),
            None => {
                kind = ErrorKind::NotFound;
                gone(place, said)
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

/// The place of an array's own documents, without copies of them.
fn own(location: &Location, said: &ArrayMetadata) -> Location {
    location.as_stored().with_probe(None).of_format(Some(said.format))
}

/// Says what became of an array that is not there any more.
fn gone(place: &Location, said: &ArrayMetadata) -> String {
    match place.clone().of_format(None).find_node() {
        Ok(Some(NodeMetadata::Array(other))) if other.format != said.format => {
            format!("was converted to Zarr {}", other.format)
        }
        Ok(Some(_)) => "was replaced by another node".to_owned(),
        _ => "was moved or deleted".to_owned(),
    }
}

/// Says in what the stored metadata differ from those of a handle, as far as elements are read and written by it. A copy of the document has
/// its shape as well.
fn difference(
    stored: &ArrayMetadata,
    said: &ArrayMetadata,
    is_copy: bool,
    place: &Location,
) -> Result<Option<String>> {
    let may_grow = !is_copy && goes_on(&stored.chunk_grid, &said.chunk_grid);
    let alike = ArrayMetadata {
        attributes: said.attributes.clone(),
        extra: said.extra.clone(),
        shape: if is_copy { stored.shape.clone() } else { said.shape.clone() },
        chunk_grid: if may_grow { said.chunk_grid.clone() } else { stored.chunk_grid.clone() },
        dimension_names: if is_copy { stored.dimension_names.clone() } else { said.dimension_names.clone() },
        // A document of version 2 need not say how chunks are named: it was found out, or the store says it.
        chunk_key_encoding: match stored.separator_declared {
            true => stored.chunk_key_encoding,
            false => said.chunk_key_encoding,
        },
        ..stored.clone()
    };
    if stored.shape.len() == said.shape.len()
        && (alike.is_same(said, &place.context.registry, place.context.chunk_limit)?
            || are_documents_alike(&alike, said, place))
    {
        return Ok(None);
    }
    Ok(Some(if is_copy {
        format!("differs from its copy: its shape is {:?}", stored.shape)
    } else if alike.data_type != said.data_type {
        format!("got elements of the type {} instead of {}", stored.data_type, said.data_type)
    } else if stored.shape.len() != said.shape.len() || alike.chunk_grid != said.chunk_grid {
        let (new, old) = (stored.chunk_grid.largest_chunk(), said.chunk_grid.largest_chunk());
        format!("was divided into other chunks ({new:?} instead of {old:?})")
    } else if alike.chunk_key_encoding != said.chunk_key_encoding {
        "got other chunk keys".to_owned()
    } else if alike.codecs == said.codecs {
        "got another fill value".to_owned()
    } else {
        "got other codecs".to_owned()
    }))
}

/// Returns true if two arrays have the same documents. An array that was just created can say in other words what is read from its
/// documents: `r40` instead of `raw_bytes`, for example, or another fill value of Python objects.
fn are_documents_alike(one: &ArrayMetadata, other: &ArrayMetadata, place: &Location) -> bool {
    let documents = |array: &ArrayMetadata| {
        let node = NodeMetadata::Array(array.clone());
        array.format.def().to_documents(&place.path, &node, &place.context.registry)
    };
    matches!((documents(one), documents(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns true if one grid is the beginning of the other: a rectilinear grid gets more chunks when its array grows.
fn goes_on(stored: &ChunkGrid, said: &ChunkGrid) -> bool {
    if !matches!((stored, said), (ChunkGrid::Rectilinear(_), ChunkGrid::Rectilinear(_))) {
        return stored == said;
    }
    let dims = said.largest_chunk().len();
    stored.largest_chunk().len() == dims
        && (0..dims).all(|dim| begin_alike(&stored.runs(dim), &said.runs(dim)))
}

fn begin_alike(one: &[Run], other: &[Run]) -> bool {
    let last = one.len().min(other.len()).saturating_sub(1);
    one.iter().zip(other).enumerate().all(|(index, (one, other))| {
        (one.start, one.length) == (other.start, other.length) && (index == last || one.count == other.count)
    })
}
