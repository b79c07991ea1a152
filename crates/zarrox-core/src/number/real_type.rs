//! [`RealType`]: the types of real numbers.

use super::exact::{pattern, write_pattern};
use super::{Binary, Integer, Machine, Missing, Number, OutOfRange, Rounding, Table};

/// The properties that casts need of a data type of real numbers.
#[derive(Debug, Clone)]
pub enum RealType {
    /// Integers.
    Integer(Integer),
    /// Binary floats.
    Binary(Binary),
    /// Any other type of one or two bytes, given by a list of its numbers.
    Table(Table),
}

impl RealType {
    /// Returns the size of an element, in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Integer(integer) => integer.size,
            Self::Binary(binary) => binary.size,
            Self::Table(table) => table.size(),
        }
    }

    /// Returns the value of an element.
    pub fn read(&self, element: &[u8]) -> Number {
        let pattern = pattern(element);
        match self {
            Self::Integer(integer) => Number::Integer(integer.value(pattern)),
            Self::Binary(binary) => Number::Float(binary.value(pattern)),
            Self::Table(table) => Number::Float(table.value(pattern)),
        }
    }

    /// Writes the element for a number.
    pub fn write(
        &self,
        value: Number,
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

    /// Returns true if the type has infinities.
    pub fn has_infinities(&self) -> bool {
        match self {
            Self::Integer(_) => false,
            Self::Binary(_) => true,
            Self::Table(table) => table.has_infinities(),
        }
    }

    /// Returns the built-in type that represents the numbers of the type.
    pub fn machine(&self) -> Machine {
        match self {
            Self::Integer(integer) => match (integer.size, integer.signed) {
                (1, true) => Machine::I8,
                (2, true) => Machine::I16,
                (4, true) => Machine::I32,
                (_, true) => Machine::I64,
                (1, false) => Machine::U8,
                (2, false) => Machine::U16,
                (4, false) => Machine::U32,
                (_, false) => Machine::U64,
            },
            Self::Binary(Binary::FLOAT16) => Machine::F16,
            Self::Binary(Binary::BFLOAT16) => Machine::BF16,
            Self::Binary(Binary::FLOAT32) => Machine::F32,
            Self::Binary(_) | Self::Table(_) => Machine::F64,
        }
    }
}
