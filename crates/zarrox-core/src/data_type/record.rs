//! Rust structs as elements of structured types: what the code that `#[derive(Element)]` writes is made of.

use std::sync::Arc;

use super::{DataType, Element, Field, Structure};

/// A field of a Rust struct.
#[derive(Debug, Clone, Copy)]
pub struct RustField {
    /// The name in the data type.
    pub name: &'static str,
    /// Where the field begins in the struct, in bytes.
    pub offset: usize,
    /// The forms that the field can have in a data type. Arrays are created with the first.
    pub forms: &'static [Form],
    /// The type that arrays are created with instead.
    pub declared: Option<fn() -> DataType>,
}

/// A form of a Rust field in a data type: elements of one type, or an array of them.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    data_type: fn() -> DataType,
    holds: fn(&DataType) -> bool,
    shape: &'static [usize],
}

impl Form {
    /// An element, or an array of this shape of them.
    pub const fn of<T: Element>(shape: &'static [usize]) -> Self {
        assert!(T::CAN_BE_FIELD, "a field of a structure cannot be optional: Zarr has no such structures");
        Self { data_type: T::data_type, holds: T::holds, shape }
    }

    fn has(&self, field: &Field) -> bool {
        self.shape == field.shape && (self.holds)(&field.data_type)
    }
}

impl RustField {
    /// The type and the shape of the field in arrays that are created.
    fn created(&self) -> Option<(&'static str, DataType, Vec<usize>)> {
        let first = self.forms.first()?;
        let Some(declared) = self.declared else {
            return Some((self.name, (first.data_type)(), first.shape.to_vec()));
        };
        let data_type = declared();
        // A type that no form holds stays what it is: writing says then that it does not fit.
        let form = self.forms.iter().find(|form| (form.holds)(&data_type)).unwrap_or(first);
        Some((self.name, data_type, form.shape.to_vec()))
    }

    fn has(&self, field: &Field) -> bool {
        let same_place = self.name == field.name && self.offset == field.offset;
        same_place && self.forms.iter().any(|form| form.has(field))
    }
}

/// The data type of a struct of these fields and this size.
pub fn data_type(fields: &[RustField], size: usize) -> DataType {
    let structure = Structure::with_shapes(fields.iter().filter_map(RustField::created));
    // Only a declared type can be none of a field; what is created then is not held by the struct.
    structure.map_or(DataType::RawBits(size), |structure| DataType::Struct(Arc::new(structure)))
}

/// Returns true if a struct of these fields and this size has, byte for byte, what elements of a data type
/// have.
pub fn holds(fields: &[RustField], size: usize, data_type: &DataType) -> bool {
    let Some(structure) = data_type.fields() else { return false };
    let theirs = structure.fields();
    let alike = fields.len() == theirs.len() && fields.iter().zip(theirs).all(|(own, field)| own.has(field));
    alike && structure.layout().size == size && !structure.is_padded()
}
