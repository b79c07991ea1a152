//! N-bit: stores only the significant bits of elements, tightly packed.
//!
//! The parameters are: the number of parameters, 1 if the elements are stored unchanged, the number of elements in a
//! chunk, and the element type. The encoding of the type is described in H5Znbit.c of HDF5: 1, size, order, precision and
//! offset for a number; 2, size and element type for an array; 3, size, number of members, and the offset and type of
//! each member for a compound type; 4 and size for all other types.

use zarrox::Result;

use super::bits::Bits;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, unsupported, zeroed};

/// The maximum element size in bytes.
const ITEM: usize = 16 << 20;

/// The maximum nesting depth of types.
const DEPTH: usize = 64;

#[derive(Debug)]
struct Nbit {
    is_plain: bool,
    count: usize,
    kind: Kind,
}

/// An element type.
#[derive(Debug)]
enum Kind {
    Number {
        size: usize,
        is_big: bool,
        precision: usize,
        offset: usize,
    },
    Array {
        size: usize,
        element: Box<Kind>,
    },
    Compound {
        size: usize,
        /// The offset and type of each member.
        members: Vec<(usize, Kind)>,
    },
    Bytes {
        size: usize,
    },
}

/// A range of bits in one byte of an element.
#[derive(Debug, Clone, Copy)]
struct Part {
    byte: usize,
    shift: u32,
    width: u32,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let is_plain = super::undo::required(filter, 1)? != 0;
    let count = super::undo::required(filter, 2)?;
    let kind = match is_plain {
        true => Kind::Bytes { size: 1 },
        false => {
            let parameters = &filter.parameters[3..];
            Kind::read(&mut parameters.iter().copied(), DEPTH)
                .ok_or_else(|| corrupt("the parameters of the filter N-bit do not describe a type"))?
        }
    };
    Ok(Box::new(Nbit { is_plain, count, kind }))
}

impl Undo for Nbit {
    fn encoded_size(&self, size: usize) -> Option<usize> {
        self.is_plain.then_some(size)
    }

    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        if self.is_plain {
            return Ok(bytes);
        }
        let item = self.kind.size();
        if item > ITEM {
            return Err(unsupported(format!("the filter N-bit with elements of {item} bytes")));
        }
        let size = self.count.checked_mul(item);
        let size = size.ok_or_else(|| corrupt("a chunk of the filter N-bit is too large"))?;
        let mut decoded = zeroed(given.announced(size)?)?;
        let mut parts = Vec::new();
        self.kind
            .parts(0, item, &mut parts)
            .ok_or_else(|| corrupt("the parameters of the filter N-bit do not describe a type"))?;
        let mut bits = Bits::new(&bytes);
        for element in decoded.chunks_mut(item.max(1)) {
            for part in &parts {
                let value = bits
                    .take(part.width)
                    .ok_or_else(|| corrupt("a chunk of the filter N-bit is truncated"))?;
                element[part.byte] |= u8::try_from(value << part.shift & 0xff).unwrap_or_default();
            }
        }
        Ok(decoded)
    }
}

impl Kind {
    fn read(parameters: &mut impl Iterator<Item = u32>, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let mut next = || parameters.next().and_then(|value| usize::try_from(value).ok());
        let (class, size) = (next()?, next()?);
        match class {
            1 => {
                let (order, precision, offset) = (next()?, next()?, next()?);
                let is_possible = precision > 0 && precision.checked_add(offset)? <= size.checked_mul(8)?;
                (order <= 1 && is_possible).then_some(Self::Number {
                    size,
                    is_big: order == 1,
                    precision,
                    offset,
                })
            }
            2 => {
                let element = Box::new(Self::read(parameters, depth)?);
                (element.size() > 0 && size.is_multiple_of(element.size()))
                    .then_some(Self::Array { size, element })
            }
            3 => {
                let count = next()?;
                let mut members = Vec::new();
                for _ in 0..count {
                    let offset = usize::try_from(parameters.next()?).ok()?;
                    members.push((offset, Self::read(parameters, depth)?));
                }
                Some(Self::Compound { size, members })
            }
            4 => Some(Self::Bytes { size }),
            _ => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Number { size, .. }
            | Self::Array { size, .. }
            | Self::Compound { size, .. }
            | Self::Bytes { size } => *size,
        }
    }

    /// Appends the parts of a type that begins at byte `start` of an element of `item` bytes. The number of parts is at
    /// most the number of bytes.
    fn parts(&self, start: usize, item: usize, parts: &mut Vec<Part>) -> Option<()> {
        if start.checked_add(self.size())? > item {
            return None;
        }
        match self {
            Self::Number { size, is_big, precision, offset } => {
                let end = precision + offset;
                for byte in (offset / 8..end.div_ceil(8)).rev() {
                    let (low, high) = ((byte * 8).max(*offset), (byte * 8 + 8).min(end));
                    let place = if *is_big { size - 1 - byte } else { byte };
                    let [shift, width] = [low % 8, high - low].map(|n| u32::try_from(n).unwrap_or_default());
                    parts.push(Part { byte: start + place, shift, width });
                }
            }
            Self::Array { size, element } => {
                for at in (0..*size).step_by(element.size()) {
                    element.parts(start + at, item, parts)?;
                }
            }
            Self::Compound { size, members } => {
                for (offset, member) in members {
                    let end = offset.checked_add(member.size())?;
                    if end > *size {
                        return None;
                    }
                    member.parts(start + offset, item, parts)?;
                }
            }
            Self::Bytes { size } => {
                parts.extend((start..start + size).map(|byte| Part { byte, shift: 0, width: 8 }));
            }
        }
        (parts.len() <= item).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pipeline;
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn decode(parameters: &[u32], bytes: &[u8], size: usize) -> Result<Vec<u8>> {
        let filter = Filter { id: 5, name: None, is_optional: false, parameters: parameters.to_vec() };
        Pipeline::new(&[filter])?.decode(bytes.to_vec(), 0, size, 1)
    }

    #[test]
    fn damaged_parameters_and_chunks_are_errors() {
        let good = [8, 0, 2, 1, 2, 0, 12, 4];
        assert_eq!(decode(&good, &[0xab, 0xcd, 0xef], 4).unwrap(), [0xc0, 0xab, 0xf0, 0xde]);
        assert_error(decode(&good, &[0xab, 0xcd], 4), ErrorKind::Corrupt, "truncated");
        assert_error(decode(&good, &[0xab, 0xcd, 0xef], 6), ErrorKind::Corrupt, "4 bytes instead of 6");
        for damaged in [
            &[8, 0, 2, 1, 2, 0, 17, 0][..],
            &[8, 0, 2, 1, 2, 2, 12, 4],
            &[8, 0, 2, 9, 2, 0, 12, 4],
            &[8, 0, 2, 3, 2, 2, 0, 4, 2, 0, 4, 2],
            &[8, 0, 2, 2, 4, 4, 0],
            &[8, 0, 2],
            &[8],
        ] {
            assert!(decode(damaged, &[0; 64], 4).is_err(), "{damaged:?}");
        }
        let nested = [vec![600, 0, 1], [2, 4].repeat(300), vec![4, 4]].concat();
        assert_error(decode(&nested, &[0; 64], 4), ErrorKind::Corrupt, "do not describe a type");
    }
}
