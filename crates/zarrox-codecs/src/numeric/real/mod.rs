//! Real numbers: the integers and floats of all data types, and exact casts between them.
//!
//! The arithmetic is our own, since no crate casts exactly between all of these types, with their 4-bit to 64-bit floats and
//! their rules for rounding and range; `num-rational` and `dashu` also allocate memory for each number.
//!
//! There are two ways from one type to another. The exact one, here, takes one number at a time, and any types and rules. Loops
//! over many elements ([`cast`]) do what is ordinary, and leave to the exact way what is not.

mod arithmetic;
mod cast;
mod exact;
mod kernels;
mod narrow;
mod native;
mod rounding;
mod table;
#[cfg(test)]
mod tests;

use zarrox_core::data_type::Storage;
use zarrox_core::{DataType, Registry};

pub(crate) use arithmetic::{Arithmetic, Direction};
pub(crate) use cast::{Caster, Refused};
pub(crate) use exact::{BFLOAT16, Binary, FLOAT16, Integer, Missing, Real};
use exact::{FLOAT32, FLOAT64, pattern, write_pattern};
use narrow::{to_bfloat16, to_float16, widen_bfloat16, widen_float16};
pub(crate) use rounding::OutOfRange;
pub use rounding::Rounding;
use table::Table;

/// The properties of a data type of real numbers that casts need.
#[derive(Debug, Clone)]
pub(crate) enum RealType {
    Integer(Integer),
    Binary(Binary),
    /// Any other of one or two bytes: a list of its numbers.
    Table(Table),
}

impl RealType {
    /// A data type's; `None` when its elements are no real numbers.
    pub(crate) fn of(data_type: &DataType, registry: &Registry) -> Option<Self> {
        let integer = |size: usize, bits: u32, signed: bool| Self::Integer(Integer { size, bits, signed });
        let DataType::Extension(extension) = data_type else {
            return match data_type.storage() {
                Storage::Int(size) => Some(integer(size, 8 * u32::try_from(size).ok()?, true)),
                Storage::Uint(size) => Some(integer(size, 8 * u32::try_from(size).ok()?, false)),
                Storage::Float(2) => Some(Self::Binary(FLOAT16)),
                Storage::Float(4) => Some(Self::Binary(FLOAT32)),
                Storage::Float(8) => Some(Self::Binary(FLOAT64)),
                _ => None,
            };
        };
        match extension.name.as_str() {
            "int2" => Some(integer(1, 2, true)),
            "int4" => Some(integer(1, 4, true)),
            "uint2" => Some(integer(1, 2, false)),
            "uint4" => Some(integer(1, 4, false)),
            "bfloat16" => Some(Self::Binary(BFLOAT16)),
            _ => Table::of(data_type, registry).map(Self::Table),
        }
    }

    /// The size of an element, in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Integer(integer) => integer.size,
            Self::Binary(binary) => binary.size,
            Self::Table(table) => table.size(),
        }
    }

    /// The number that an element is.
    pub(crate) fn read(&self, element: &[u8]) -> Real {
        let pattern = pattern(element);
        match self {
            Self::Integer(integer) => Real::Whole(integer.value(pattern)),
            Self::Binary(binary) => Real::Float(binary.value(pattern)),
            Self::Table(table) => Real::Float(table.value(pattern)),
        }
    }

    /// Writes the element that a number becomes.
    pub(crate) fn write(
        &self,
        value: Real,
        rounding: Rounding,
        range: OutOfRange,
        element: &mut [u8],
    ) -> Result<(), Missing> {
        let pattern = match self {
            Self::Integer(integer) => integer.pattern(value, rounding, range)?,
            Self::Binary(binary) => binary.pattern(value, rounding, range)?,
            Self::Table(table) => table.pattern(value, rounding, range)?,
        };
        write_pattern(pattern, element);
        Ok(())
    }

    /// Returns true if there are infinities.
    pub(crate) fn has_infinities(&self) -> bool {
        match self {
            Self::Integer(_) => false,
            Self::Binary(_) => true,
            Self::Table(table) => table.has_infinities(),
        }
    }
}

/// Which ones are marked. Mostly none is, which is seen without a look at each.
fn marked(bad: &[bool]) -> impl Iterator<Item = usize> {
    // Without an end before the last, so that it is done with vectors.
    let any = bad.iter().fold(false, |any, bad| any | bad);
    let bad = if any { bad } else { &[] };
    bad.iter().enumerate().filter(|(_, bad)| **bad).map(|(index, _)| index)
}
