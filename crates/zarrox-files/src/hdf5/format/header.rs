//! Object headers (section IV.A of the specification).

use std::collections::HashSet;

use zarrox::Result;

use super::cursor::Cursor;
use super::model::Address;
use super::source::{Budget, Source, verified};
use crate::input::{corrupt, unsupported};

/// The message types.
pub(super) mod kind {
    pub(in crate::hdf5::format) const SPACE: u16 = 0x01;
    pub(in crate::hdf5::format) const LINK_INFO: u16 = 0x02;
    pub(in crate::hdf5::format) const DATATYPE: u16 = 0x03;
    pub(in crate::hdf5::format) const OLD_FILL: u16 = 0x04;
    pub(in crate::hdf5::format) const FILL: u16 = 0x05;
    pub(in crate::hdf5::format) const LINK: u16 = 0x06;
    pub(in crate::hdf5::format) const EXTERNAL: u16 = 0x07;
    pub(in crate::hdf5::format) const LAYOUT: u16 = 0x08;
    pub(in crate::hdf5::format) const GROUP_INFO: u16 = 0x0a;
    pub(in crate::hdf5::format) const FILTERS: u16 = 0x0b;
    pub(in crate::hdf5::format) const ATTRIBUTE: u16 = 0x0c;
    pub(in crate::hdf5::format) const SHARED_TABLE: u16 = 0x0f;
    pub(in crate::hdf5::format) const CONTINUATION: u16 = 0x10;
    pub(in crate::hdf5::format) const SYMBOLS: u16 = 0x11;
    pub(in crate::hdf5::format) const DRIVER: u16 = 0x14;
    pub(in crate::hdf5::format) const ATTRIBUTE_INFO: u16 = 0x15;
    /// The metadata cache image.
    pub(in crate::hdf5::format) const CACHE_IMAGE: u16 = 0x18;
    /// The highest known message type.
    pub(in crate::hdf5::format) const LAST: u16 = CACHE_IMAGE;
}

const WHAT: &str = "an object header";
const CONTINUATION: &str = "a continuation block of an object header";
/// The flag for a message that is stored outside the header.
const IS_SHARED: u8 = 0x02;
/// The flag for a message whose type a reader must know to open the object.
const FAIL_IF_UNKNOWN: u8 = 0x80;
/// The maximum number of blocks in a header.
const MOST_BLOCKS: usize = 1 << 16;
/// The maximum number of messages in a header.
const MOST_MESSAGES: usize = 1 << 20;

/// An unparsed message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) kind: u16,
    /// True if the bytes encode the location of the message.
    pub(super) is_shared: bool,
    /// The creation index of an attribute, if creation order is tracked.
    pub(super) order: Option<u16>,
    pub(super) bytes: Vec<u8>,
}

/// The messages of an object.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) address: Address,
    pub(super) messages: Vec<Message>,
}

/// The layout of messages.
#[derive(Clone, Copy)]
struct Form {
    is_old: bool,
    has_order: bool,
}

impl Header {
    /// Reads the header at an address, including all its blocks.
    pub(super) fn read(source: &Source, address: Address) -> Result<Self> {
        let start = source.read_most(address, 16)?;
        if start.starts_with(b"OHDR") {
            Self::read_new(source, address)
        } else {
            Self::read_old(source, address, &start)
        }
    }

    /// Reads a version 1 header.
    fn read_old(source: &Source, address: Address, start: &[u8]) -> Result<Self> {
        let mut cursor = source.cursor(start, WHAT);
        let version = cursor.u8()?;
        if version != 1 {
            return Err(corrupt(format!("there is no object header at address {address}")));
        }
        // A reserved byte, the number of messages, and the reference count.
        cursor.skip(7)?;
        let length = cursor.u32()?;
        let block = source.read(address + 16, u64::from(length))?;
        let form = Form { is_old: true, has_order: false };
        Self { address, messages: Vec::new() }.completed(source, &block, form)
    }

    /// Reads a version 2 header.
    fn read_new(source: &Source, address: Address) -> Result<Self> {
        let start = source.read_most(address, 64)?;
        let mut cursor = source.cursor(&start, WHAT);
        cursor.signature(b"OHDR")?;
        cursor.version(2)?;
        let flags = cursor.u8()?;
        if flags & 0x20 != 0 {
            // Four timestamps.
            cursor.skip(16)?;
        }
        if flags & 0x10 != 0 {
            // The limits on the number of attributes for compact and dense storage.
            cursor.skip(4)?;
        }
        let length = cursor.number(1 << (flags & 3))?;
        let prefix = start.len() - cursor.left();
        let total =
            length.checked_add(prefix as u64 + 4).ok_or_else(|| corrupt("an object header is too long"))?;
        let bytes = source.read_checked(address, total, WHAT)?;
        let form = Form { is_old: false, has_order: flags & 4 != 0 };
        Self { address, messages: Vec::new() }.completed(source, &bytes[prefix..], form)
    }

    /// Reads the messages of the first block and of all continuation blocks.
    fn completed(mut self, source: &Source, first: &[u8], form: Form) -> Result<Self> {
        let mut blocks = Vec::new();
        let mut visited = HashSet::from([self.address]);
        let mut budget = Budget::of_file(source, WHAT);
        self.take(source, first, form, &mut blocks)?;
        while let Some((address, length)) = blocks.pop() {
            if !visited.insert(address) || visited.len() > MOST_BLOCKS {
                return Err(corrupt(format!(
                    "the object header at {} has a continuation at {address} more than once, or too many",
                    self.address
                )));
            }
            budget.take(length)?;
            let block = source.read(address, length)?;
            let messages = if form.is_old { &block[..] } else { continuation(source, &block)? };
            let mut more = Vec::new();
            self.take(source, messages, form, &mut more)?;
            // Messages are in block order.
            blocks.extend(more.into_iter().rev());
        }
        Ok(self)
    }

    /// Reads the messages of a block. Continuations are added to `blocks`.
    fn take(
        &mut self,
        source: &Source,
        block: &[u8],
        form: Form,
        blocks: &mut Vec<(Address, u64)>,
    ) -> Result<()> {
        let mut cursor = source.cursor(block, WHAT);
        let prefix = if form.is_old { 8 } else { 4 + if form.has_order { 2 } else { 0 } };
        let mut found = Vec::new();
        while cursor.left() >= prefix {
            let message = message(&mut cursor, form)?;
            if message.kind == kind::CONTINUATION {
                let mut cursor = source.cursor(&message.bytes, "a continuation message");
                found.push((cursor.defined_address()?, cursor.length()?));
            } else if message.kind != 0 {
                self.messages.push(message);
            }
            if self.messages.len() > MOST_MESSAGES {
                return Err(corrupt(format!("the object header at {} has too many messages", self.address)));
            }
        }
        blocks.extend(found.into_iter().rev());
        Ok(())
    }

    /// Returns the first message of the given type.
    pub(super) fn find(&self, kind: u16) -> Option<&Message> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    /// Returns all messages of the given type.
    pub(super) fn all(&self, kind: u16) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }
}

/// Verifies a version 2 continuation block, and returns the bytes of its messages.
fn continuation<'b>(source: &Source, block: &'b [u8]) -> Result<&'b [u8]> {
    let checked = verified(block, CONTINUATION)?;
    let mut cursor = source.cursor(checked, CONTINUATION);
    cursor.signature(b"OCHK")?;
    Ok(cursor.rest())
}

/// Reads the next message.
fn message(cursor: &mut Cursor<'_>, form: Form) -> Result<Message> {
    let kind = if form.is_old { cursor.u16()? } else { u16::from(cursor.u8()?) };
    let length = usize::from(cursor.u16()?);
    let flags = cursor.u8()?;
    if form.is_old {
        cursor.skip(3)?;
    }
    let order = if form.has_order { Some(cursor.u16()?) } else { None };
    if kind > kind::LAST && flags & FAIL_IF_UNKNOWN != 0 {
        return Err(unsupported(format!(
            "an object has a message of the kind {kind:#06x}, which is unknown and cannot be skipped"
        )));
    }
    let bytes = cursor.take(length)?.to_vec();
    Ok(Message { kind, is_shared: flags & IS_SHARED != 0, order, bytes })
}
