//! Attributes (sections IV.A.2.m and IV.A.2.v).

use zarrox::{Error, Result};

use super::btree2::Records;
use super::cursor::{Cursor, until_nul};
use super::header::{Header, kind};
use super::heap::fractal::FractalHeap;
use super::message::datatype;
use super::message::space;
use super::model::Attribute;
use super::shared::SharedMessages;
use super::source::Source;
use crate::input::corrupt;

const WHAT: &str = "an attribute message";

/// An attribute, or its name and the error from reading it. The name is empty if it is unknown.
pub(super) type Found = Result<Attribute, (Vec<u8>, Error)>;

/// Returns the attributes of an object, in creation order if the object tracks it. Otherwise, attributes stored in the
/// header are in header order, and attributes stored in a heap are sorted by name.
pub(super) fn all(source: &Source, shared: &SharedMessages, header: &Header) -> Result<Vec<Found>> {
    let mut found: Vec<(Option<u32>, Found)> = Vec::new();
    for message in header.all(kind::ATTRIBUTE) {
        let bytes = shared.message(source, message);
        found.push((message.order.map(u32::from), one(source, shared, bytes)));
    }
    if let Some(info) = header.find(kind::ATTRIBUTE_INFO) {
        let start = found.len();
        in_heap(source, shared, &info.bytes, &mut found)?;
        found[start..].sort_by(|(_, one), (_, other)| name(one).cmp(name(other)));
    }
    if found.iter().all(|(order, _)| order.is_some()) {
        found.sort_by_key(|(order, _)| *order);
    }
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

fn name(found: &Found) -> &[u8] {
    match found {
        Ok(attribute) => &attribute.name,
        Err((name, _)) => name,
    }
}

/// Adds the attributes of a heap.
fn in_heap(
    source: &Source,
    shared: &SharedMessages,
    info: &[u8],
    found: &mut Vec<(Option<u32>, Found)>,
) -> Result<()> {
    let mut cursor = source.cursor(info, "an attribute info message");
    cursor.version(0)?;
    let flags = cursor.u8()?;
    if flags & 1 != 0 {
        // The maximum creation index.
        cursor.u16()?;
    }
    let (heap, names) = (cursor.address()?, cursor.address()?);
    let Some(heap) = heap else { return Ok(()) };
    let heap = FractalHeap::read(source, heap)?;
    let names =
        names.ok_or_else(|| corrupt("an object has a heap of attributes, but no index of their names"))?;
    let records = Records::read(source, names)?.expect(8)?;
    let mut budget = heap.budget(source);
    for record in records.iter() {
        let mut cursor = source.cursor(record, "a record of an attribute");
        let id = cursor.take(8)?;
        let is_shared = cursor.u8()? & 2 != 0;
        let order = (flags & 1 != 0).then_some(cursor.u32()?);
        let bytes =
            if is_shared { shared.in_heap(source, kind::ATTRIBUTE, id) } else { heap.object(source, id) };
        budget.take(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))?;
        found.push((order, one(source, shared, bytes)));
    }
    Ok(())
}

/// Parses an attribute message.
fn one(source: &Source, shared: &SharedMessages, message: Result<Vec<u8>>) -> Found {
    let message = message.map_err(|error| (Vec::new(), error))?;
    let parts = Parts::of(source.cursor(&message, WHAT)).map_err(|error| (Vec::new(), error))?;
    parts.attribute(source, shared).map_err(|error| (parts.name.to_vec(), error))
}

/// The parts of an attribute message.
struct Parts<'b> {
    name: &'b [u8],
    /// Bits that indicate a shared datatype or dataspace.
    flags: u8,
    datatype: &'b [u8],
    space: &'b [u8],
    data: &'b [u8],
}

impl<'b> Parts<'b> {
    fn of(mut cursor: Cursor<'b>) -> Result<Self> {
        let version = cursor.u8()?;
        if !(1..=3).contains(&version) {
            return Err(cursor.unknown_version(version));
        }
        let flags = cursor.u8()?;
        let lengths = [cursor.u16()?, cursor.u16()?, cursor.u16()?].map(usize::from);
        if version == 3 {
            // The character set of the name.
            cursor.u8()?;
        }
        let mut part = |length: usize| {
            let bytes = cursor.take(if version == 1 { length.next_multiple_of(8) } else { length })?;
            Ok::<_, Error>(&bytes[..length])
        };
        let [name, datatype, space] = lengths;
        let (name, datatype, space) = (part(name)?, part(datatype)?, part(space)?);
        let flags = if version == 1 { 0 } else { flags };
        Ok(Self { name: until_nul(name), flags, datatype, space, data: cursor.rest() })
    }

    fn attribute(&self, source: &Source, shared: &SharedMessages) -> Result<Attribute> {
        let resolved = |bit: u8, kind: u16, bytes: &[u8]| match self.flags & bit {
            0 => Ok(bytes.to_vec()),
            _ => shared.resolve(source, kind, bytes),
        };
        let bytes = resolved(1, kind::DATATYPE, self.datatype)?;
        let datatype = datatype::parse(source.cursor(&bytes, "the datatype of an attribute"))?;
        let bytes = resolved(2, kind::SPACE, self.space)?;
        let space = space::parse(source.cursor(&bytes, "the dataspace of an attribute"))?;
        let length = space.elements().and_then(|elements| elements.checked_mul(datatype.size as u64));
        let data = length.and_then(|length| self.data.get(..usize::try_from(length).ok()?));
        let data = data.ok_or_else(|| {
            corrupt(format!("an attribute has {} bytes, fewer than its elements need", self.data.len()))
        })?;
        Ok(Attribute { name: self.name.to_vec(), datatype, space, data: data.to_vec() })
    }
}
