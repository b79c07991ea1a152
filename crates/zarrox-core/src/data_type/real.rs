//! The data types of real numbers, described for casts.

#[cfg(test)]
mod tests;

use super::{DataType, Storage};
use crate::number::{Binary, Integer, Number, RealType, Table, pattern, write_pattern};
use crate::registry::Registry;

impl RealType {
    /// Returns the properties of a data type; `None` if its elements are not real numbers.
    pub fn of(data_type: &DataType, registry: &Registry) -> Option<Self> {
        let small = |bits: u32, signed: bool| Some(Self::Integer(Integer { size: 1, bits, signed }));
        let DataType::Extension(extension) = data_type else { return Self::of_storage(&data_type.storage()) };
        match extension.name.as_str() {
            "int2" => small(2, true),
            "int4" => small(4, true),
            "uint2" => small(2, false),
            "uint4" => small(4, false),
            "bfloat16" => Some(Self::Binary(Binary::BFLOAT16)),
            _ => table(data_type, registry).map(Self::Table),
        }
    }

    /// Returns the built-in type with this in-memory layout.
    pub(super) fn of_storage(storage: &Storage) -> Option<Self> {
        let integer = |size: usize, signed: bool| {
            let bits = 8 * u32::try_from(size).ok()?;
            size.is_power_of_two().then_some(Self::Integer(Integer { size, bits, signed }))
        };
        match *storage {
            Storage::Int(size @ 1..=8) => integer(size, true),
            Storage::Uint(size @ 1..=8) => integer(size, false),
            Storage::Float(2) => Some(Self::Binary(Binary::FLOAT16)),
            Storage::Float(4) => Some(Self::Binary(Binary::FLOAT32)),
            Storage::Float(8) => Some(Self::Binary(Binary::FLOAT64)),
            _ => None,
        }
    }
}

/// Returns the numbers of a type; `None` if its elements have more than two bytes, or are not real numbers.
fn table(data_type: &DataType, registry: &Registry) -> Option<Table> {
    let size = data_type.size();
    let family = registry.family(data_type).ok()?;
    let mut element = vec![0; size];
    if !(1..=2).contains(&size) {
        return None;
    }
    let values: Option<Vec<f64>> = (0..1_u64 << (8 * size))
        .map(|pattern| {
            write_pattern(pattern, &mut element);
            match family.number(data_type, &element)? {
                Number::Complex(..) => None,
                real => Some(real.to_f64()),
            }
        })
        .collect();
    Some(Table::new(size, values?, |value| {
        family.write_number(data_type, Number::Float(value), &mut element).then(|| pattern(&element))
    }))
}
