//! Encodes HDF5 file structures: the superblock, object headers and their messages.
//!
//! Specification: <https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html>

use std::collections::HashSet;

use zarrox::{Error, ErrorKind, Result};

use crate::hdf5::format::checksum;

/// The undefined address.
pub(super) const NOWHERE: u64 = u64::MAX;

/// The size of a superblock in bytes.
pub(super) const SUPERBLOCK: u64 = 48;

/// The message types.
pub(super) mod kind {
    pub(crate) const DATASPACE: u8 = 0x01;
    pub(crate) const LINK_INFO: u8 = 0x02;
    pub(crate) const DATATYPE: u8 = 0x03;
    pub(crate) const FILL_VALUE: u8 = 0x05;
    pub(crate) const LINK: u8 = 0x06;
    pub(crate) const LAYOUT: u8 = 0x08;
    pub(crate) const GROUP_INFO: u8 = 0x0a;
    pub(crate) const FILTERS: u8 = 0x0b;
    pub(crate) const ATTRIBUTE: u8 = 0x0c;
    pub(crate) const ATTRIBUTE_INFO: u8 = 0x15;
}

/// Returns a version 2 superblock.
pub(super) fn superblock(end: u64, root: u64) -> Vec<u8> {
    let mut bytes = b"\x89HDF\r\n\x1a\n\x02\x08\x08\x00".to_vec();
    for address in [0, NOWHERE, end, root] {
        bytes.extend_from_slice(&address.to_le_bytes());
    }
    bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
    bytes
}

/// A version 2 object header under construction. It tracks the creation order of attributes.
#[derive(Debug, Default)]
pub(super) struct Header {
    messages: Vec<u8>,
    /// The names of the attributes added so far.
    attributes: HashSet<String>,
}

impl Header {
    /// Adds a message.
    pub(super) fn add(&mut self, kind: u8, message: &[u8]) -> Result<()> {
        self.push(kind, message, 0, 0)
    }

    /// Adds the datatype message for a datatype that is committed at an address.
    pub(super) fn add_committed(&mut self, address: u64) -> Result<()> {
        self.push(kind::DATATYPE, &committed(address), SHARED, 0)
    }

    /// Returns true if the header has an attribute with the given name.
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.contains(name)
    }

    fn push(&mut self, kind: u8, message: &[u8], flags: u8, order: u16) -> Result<()> {
        let size = u16::try_from(message.len()).map_err(|_| too_large(message.len()))?;
        self.messages.push(kind);
        self.messages.extend_from_slice(&size.to_le_bytes());
        self.messages.push(flags);
        self.messages.extend_from_slice(&order.to_le_bytes());
        self.messages.extend_from_slice(message);
        Ok(())
    }

    /// Adds an attribute.
    pub(super) fn attribute(
        &mut self,
        name: &str,
        datatype: &[u8],
        dataspace: &[u8],
        value: &[u8],
    ) -> Result<()> {
        self.attribute_of(name, 0, datatype, dataspace, value)
    }

    /// Adds an attribute whose datatype is committed at an address.
    pub(super) fn committed_attribute(
        &mut self,
        name: &str,
        address: u64,
        dataspace: &[u8],
        value: &[u8],
    ) -> Result<()> {
        self.attribute_of(name, 1, &committed(address), dataspace, value)
    }

    fn attribute_of(
        &mut self,
        name: &str,
        flags: u8,
        datatype: &[u8],
        dataspace: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let mut message = vec![3, flags];
        let lengths = [name.len() + 1, datatype.len(), dataspace.len()];
        for length in lengths {
            let length = u16::try_from(length).map_err(|_| too_large(length))?;
            message.extend_from_slice(&length.to_le_bytes());
        }
        message.push(1);
        message.extend_from_slice(name.as_bytes());
        message.push(0);
        message.extend_from_slice(datatype);
        message.extend_from_slice(dataspace);
        message.extend_from_slice(value);
        let order = self.attributes.len();
        let order = u16::try_from(order).map_err(|_| too_large(order))?;
        self.attributes.insert(name.to_owned());
        self.push(kind::ATTRIBUTE, &message, 0, order)
            .map_err(|error| error.at(format!("attribute '{name}'")))
    }

    /// Returns the complete header, including its checksum.
    pub(super) fn finish(mut self) -> Result<Vec<u8>> {
        let attributes = u16::try_from(self.attributes.len()).unwrap_or(u16::MAX);
        if attributes > 0 {
            let mut message = vec![0, 1];
            message.extend_from_slice(&attributes.to_le_bytes());
            message.extend_from_slice(&NOWHERE.to_le_bytes());
            message.extend_from_slice(&NOWHERE.to_le_bytes());
            self.add(kind::ATTRIBUTE_INFO, &message)?;
        }
        let size = u32::try_from(self.messages.len()).map_err(|_| too_large(self.messages.len()))?;
        let mut bytes = b"OHDR\x02\x06".to_vec();
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.extend_from_slice(&self.messages);
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        Ok(bytes)
    }
}

/// The flag for a message that contains the location of a shared message.
const SHARED: u8 = 0x02;

/// Encodes the location of a committed datatype.
fn committed(address: u64) -> Vec<u8> {
    let mut bytes = vec![3, 2];
    bytes.extend_from_slice(&address.to_le_bytes());
    bytes
}

fn too_large(size: usize) -> Error {
    let message = format!("{size} bytes do not fit into an HDF5 message, which has at most 65535 bytes");
    Error::new(ErrorKind::Unsupported, message)
}

/// Returns the dataspace of a dataset or an attribute. `unlimited` is true for each dimension that can grow.
pub(super) fn dataspace(shape: &[u64], unlimited: &[bool]) -> Vec<u8> {
    let rank = u8::try_from(shape.len()).unwrap_or(u8::MAX);
    let grows = unlimited.contains(&true);
    let mut bytes = vec![2, rank, u8::from(grows), u8::from(rank > 0)];
    shape.iter().for_each(|length| bytes.extend_from_slice(&length.to_le_bytes()));
    if grows {
        for (length, &unlimited) in shape.iter().zip(unlimited) {
            bytes.extend_from_slice(&if unlimited { u64::MAX } else { *length }.to_le_bytes());
        }
    }
    bytes
}

/// Returns the null dataspace.
pub(super) fn null_dataspace() -> Vec<u8> {
    vec![2, 0, 0, 2]
}

/// Returns the fill value message. If there is no value, elements are zero.
pub(super) fn fill_value(value: Option<&[u8]>) -> Vec<u8> {
    // Space is allocated incrementally, and the fill value is written if it is set.
    let Some(value) = value else { return vec![3, 0x0b] };
    let mut bytes = vec![3, 0x2b];
    bytes.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(value);
    bytes
}

/// Returns the layout message for contiguous elements.
pub(super) fn contiguous(address: u64, size: u64) -> Vec<u8> {
    let mut bytes = vec![3, 1];
    bytes.extend_from_slice(&address.to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes
}

/// Returns the layout message for chunked elements. `index` is the address of the chunk index.
pub(super) fn chunked(index: u64, chunk_shape: &[u32], item: u32) -> Vec<u8> {
    let rank = u8::try_from(chunk_shape.len() + 1).unwrap_or(u8::MAX);
    let mut bytes = vec![3, 2, rank];
    bytes.extend_from_slice(&index.to_le_bytes());
    chunk_shape.iter().chain([&item]).for_each(|length| bytes.extend_from_slice(&length.to_le_bytes()));
    bytes
}

/// A filter, with its ID and parameters.
pub(super) type Filter = (u16, Vec<u32>);

/// Returns the filter pipeline message. All filter IDs are below 256, so no names are stored.
pub(super) fn filters(filters: &[Filter]) -> Vec<u8> {
    let mut bytes = vec![2, u8::try_from(filters.len()).unwrap_or(u8::MAX)];
    for (number, parameters) in filters {
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&u16::try_from(parameters.len()).unwrap_or(u16::MAX).to_le_bytes());
        parameters.iter().for_each(|parameter| bytes.extend_from_slice(&parameter.to_le_bytes()));
    }
    bytes
}

/// Returns the link info message for a group that tracks the creation order of its links.
pub(super) fn link_info(links: u64) -> Vec<u8> {
    let mut bytes = vec![0, 1];
    bytes.extend_from_slice(&links.to_le_bytes());
    bytes.extend_from_slice(&NOWHERE.to_le_bytes());
    bytes.extend_from_slice(&NOWHERE.to_le_bytes());
    bytes
}

/// Returns the link message for a hard link.
pub(super) fn link(name: &str, order: u64, address: u64) -> Vec<u8> {
    // The length of the name has two bytes; the link has a creation order and the UTF-8 character set.
    let mut bytes = vec![1, 0x01 | 0x04 | 0x10];
    bytes.extend_from_slice(&order.to_le_bytes());
    bytes.push(1);
    bytes.extend_from_slice(&u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(&address.to_le_bytes());
    bytes
}
