//! Parses objects from the messages in their headers.

use zarrox::Result;

use super::cursor::Cursor;
use super::header::{Header, kind};
use super::heap::global::GlobalHeap;
use super::mapping;
use super::message::fill::Fill;
use super::message::layout::{self, Stored};
use super::message::{datatype, external, fill, filters, space};
use super::model::{Dataset, Datatype, Layout, Object, ObjectKind, Space};
use super::shared::SharedMessages;
use super::source::Source;
use crate::input::corrupt;

/// The header of an object, for access to its messages.
struct Messages<'s> {
    source: &'s Source,
    shared: &'s SharedMessages,
    header: &'s Header,
}

/// Parses the object described by a header.
pub(super) fn object(
    source: &Source,
    shared: &SharedMessages,
    heap: &GlobalHeap,
    header: &Header,
) -> Result<Object> {
    let has = |kinds: &[u16]| kinds.iter().any(|&kind| header.find(kind).is_some());
    let messages = Messages { source, shared, header };
    let is_group = has(&[kind::SYMBOLS, kind::LINK_INFO]);
    let kind = if is_group {
        ObjectKind::Group
    } else if has(&[kind::SPACE]) && has(&[kind::DATATYPE]) {
        ObjectKind::Dataset(Box::new(messages.dataset(heap)?))
    } else if has(&[kind::DATATYPE]) {
        ObjectKind::Datatype(messages.datatype()?)
    } else if has(&[kind::GROUP_INFO, kind::LINK]) {
        ObjectKind::Group
    } else {
        let address = header.address;
        return Err(corrupt(format!(
            "the object at {address} has no messages of a group, a dataset or a datatype"
        )));
    };
    Ok(Object { kind })
}

/// Checks that the size of contiguous elements agrees with the shape. If it did not, elements would be read from the
/// wrong offsets.
fn check_size(space: &Space, datatype: &Datatype, size: u64) -> Result<()> {
    let Space::Simple { shape, .. } = space else { return Ok(()) };
    let needed = shape.iter().try_fold(datatype.size as u64, |size, &length| size.checked_mul(length));
    if needed == Some(size) {
        return Ok(());
    }
    Err(corrupt(format!(
        "the elements take {size} bytes, which does not agree with the shape {shape:?} and elements of {} bytes",
        datatype.size
    )))
}

impl Messages<'_> {
    /// Returns the bytes of the first message of the given type.
    fn bytes(&self, kind: u16) -> Result<Option<Vec<u8>>> {
        let message = self.header.find(kind);
        message.map(|message| self.shared.message(self.source, message)).transpose()
    }

    /// Parses the first message of the given type, if there is one.
    fn parsed<T>(
        &self,
        kind: u16,
        what: &'static str,
        parse: fn(Cursor<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(bytes) = self.bytes(kind)? else { return Ok(None) };
        parse(self.source.cursor(&bytes, what)).map(Some)
    }

    /// Parses the first message of the given type. Returns an error if there is none.
    fn needed<T>(&self, kind: u16, what: &'static str, parse: fn(Cursor<'_>) -> Result<T>) -> Result<T> {
        let address = self.header.address;
        let missing =
            || corrupt(format!("the dataset at {address} has no {}", what.trim_start_matches("a ")));
        self.parsed(kind, what, parse)?.ok_or_else(missing)
    }

    fn datatype(&self) -> Result<Datatype> {
        self.needed(kind::DATATYPE, "a datatype message", datatype::parse)
    }

    fn dataset(&self, heap: &GlobalHeap) -> Result<Dataset> {
        let space = self.needed(kind::SPACE, "a dataspace message", space::parse)?;
        let datatype = self.datatype()?;
        let stored = self.needed(kind::LAYOUT, "a data layout message", layout::parse)?;
        let filters =
            self.parsed(kind::FILTERS, "a filter pipeline message", filters::parse)?.unwrap_or_default();
        let external = match self.bytes(kind::EXTERNAL)? {
            Some(bytes) => external::parse(self.source, &bytes)?,
            None => Vec::new(),
        };
        let fill = self.fill()?;
        let (layout, are_edges_unfiltered) = match stored {
            Stored::Ready(layout) => (layout, false),
            Stored::Contiguous(address, size) => {
                if address.is_some() && external.is_empty() {
                    check_size(&space, &datatype, size)?;
                }
                (Layout::Contiguous(address), false)
            }
            Stored::Chunked { layout, are_edges_unfiltered } => (layout, are_edges_unfiltered),
            Stored::Virtual(place) => (Layout::Virtual(mapping::read(self.source, heap, place)?), false),
        };
        Ok(Dataset { space, datatype, layout, filters, fill, external, are_edges_unfiltered })
    }

    /// Returns the fill value. Versions of HDF5 before 1.6 stored it in a different message.
    fn fill(&self) -> Result<Option<Vec<u8>>> {
        let fill = self.parsed(kind::FILL, "a fill value message", fill::parse)?.unwrap_or(Fill::Default);
        let fill = match fill {
            Fill::Default => self
                .parsed(kind::OLD_FILL, "an old fill value message", fill::parse_old)?
                .unwrap_or(Fill::Default),
            fill => fill,
        };
        match fill {
            Fill::Value(bytes) => Ok(Some(bytes)),
            Fill::Default | Fill::Undefined => Ok(None),
        }
    }
}
