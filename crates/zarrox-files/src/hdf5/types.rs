//! HDF5 data types as Zarr data types.

use zarrox::codecs;
use zarrox::data_type::{Endian, Structure};
use zarrox::json::{Json, Map};
use zarrox::{DataType, Result};

use super::format::{Class, Datatype, Member, Reference};
use super::scalars::{Change, Scalar};
use super::text::lenient;
use crate::input::{corrupt, unsupported};

/// The maximum number of scalars in a structure, which is far more than real files contain.
const MOST_LEAVES: usize = 1 << 16;

/// The maximum nesting depth of types.
pub(super) const DEEPEST: usize = 32;

/// The attribute for the tag of opaque bytes.
const OPAQUE: &str = "opaque_tag";

/// The Zarr equivalent of an HDF5 data type.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    pub(super) data_type: DataType,
    /// The dimensions of array-typed elements. They become dimensions of the Zarr array.
    pub(super) inner: Vec<u64>,
    /// The size of a stored element in bytes; for array-typed elements, the size of one item.
    pub(super) item: usize,
    pub(super) form: Form,
    /// Attributes for properties that the Zarr data type cannot represent.
    pub(super) attributes: Map,
}

/// The format of stored elements.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// The bytes are the same as in Zarr, in the given byte order.
    Same(Endian),
    /// The pieces of an element are converted individually.
    Pieces(Vec<Piece>),
    /// References to strings in a heap.
    Text,
    /// References to lists in a heap, with the pieces and the size of a list element.
    Lists(Vec<Piece>, usize),
    /// References to objects. They become paths of objects.
    Paths,
}

/// A number or string inside an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The offset in the stored element.
    pub(super) offset: usize,
    /// The stored size in bytes.
    pub(super) stored: usize,
    /// The size in bytes in Zarr.
    pub(super) size: usize,
    pub(super) change: Change,
}

impl Piece {
    /// Appends the Zarr representation of this piece of a stored element.
    pub(super) fn append(&self, element: &[u8], out: &mut Vec<u8>) {
        let stored = element.get(self.offset..).and_then(|rest| rest.get(..self.stored)).unwrap_or_default();
        self.change.append(stored, self.size, out);
    }
}

/// The Zarr arrays that a datatype requires.
#[derive(Debug)]
pub(super) enum Kind<'t> {
    /// A single array.
    Array(Box<Mapped>),
    /// One array per field, for a structured type without an equivalent in Zarr.
    Columns(&'t [Member]),
}

/// Returns the arrays that a datatype requires.
pub(super) fn kind(datatype: &Datatype) -> Result<Kind<'_>> {
    if let Class::Compound(members) = &datatype.class
        && Scalar::of(datatype)?.is_none()
        && members.iter().any(|member| !is_field(&member.datatype, DEEPEST))
    {
        return Ok(Kind::Columns(members));
    }
    Ok(Kind::Array(Box::new(mapped(datatype)?)))
}

/// Returns true if Zarr v3 allows fields of this type: it has a fixed size and is not an array type.
fn is_field(datatype: &Datatype, depth: usize) -> bool {
    match &datatype.class {
        Class::Array { .. } | Class::VariableText { .. } | Class::Sequence(_) | Class::Reference(_) => false,
        Class::Compound(members) => {
            depth > 0 && members.iter().all(|member| is_field(&member.datatype, depth - 1))
        }
        _ => true,
    }
}

/// Returns the Zarr equivalent of a datatype whose elements fit in a single array.
pub(super) fn mapped(datatype: &Datatype) -> Result<Mapped> {
    if datatype.size == 0 {
        return Err(corrupt("an element has no bytes"));
    }
    match &datatype.class {
        Class::Array { base, shape } => {
            let inner = mapped(base)?;
            let count = shape.iter().try_fold(base.size as u64, |size, &length| size.checked_mul(length));
            if count != Some(datatype.size as u64) {
                return Err(corrupt("the size of an array type is not that of its elements"));
            }
            let dims = shape.iter().copied().chain(inner.inner.iter().copied()).collect();
            Ok(Mapped { inner: dims, ..inner })
        }
        Class::VariableText { .. } => Ok(plain(DataType::string(), datatype, Form::Text)),
        Class::Sequence(base) => lists(datatype, base),
        Class::Reference(kind) => match kind {
            Reference::Object => Ok(plain(DataType::string(), datatype, Form::Paths)),
            Reference::Region | Reference::Standard => Err(reference(*kind)),
        },
        Class::Compound(_) => match Scalar::of(datatype)? {
            Some(scalar) => Ok(of_scalar(scalar, datatype)),
            None => structure(datatype),
        },
        _ => {
            let scalar = Scalar::of(datatype)?;
            let scalar = scalar.ok_or_else(|| unsupported("Zarr has no equivalent data type"))?;
            Ok(of_scalar(scalar, datatype))
        }
    }
}

/// Returns the error for references that cannot be converted to a path.
pub(super) fn reference(kind: Reference) -> zarrox::Error {
    unsupported(match kind {
        Reference::Region => "Zarr has no data type for region references",
        Reference::Object | Reference::Standard => "Zarr has no data type for the references of HDF5 1.12",
    })
}

fn plain(data_type: DataType, datatype: &Datatype, form: Form) -> Mapped {
    Mapped { data_type, inner: Vec::new(), item: datatype.size, form, attributes: Map::default() }
}

fn of_scalar(scalar: Scalar, datatype: &Datatype) -> Mapped {
    let Scalar { data_type, size: stored, change, names, tag } = scalar;
    let form = match change.order() {
        Some(endian) => Form::Same(endian),
        None => Form::Pieces(vec![Piece { offset: 0, stored, size: data_type.size(), change }]),
    };
    let mut attributes = Map::default();
    if let Some(names) = names {
        attributes.insert(crate::ENUM.to_owned(), names.into());
    }
    if let Some(tag) = tag {
        attributes.insert(OPAQUE.to_owned(), tag.into());
    }
    Mapped { attributes, ..plain(data_type, datatype, form) }
}

/// Returns the data type of variable-length lists. Zarr v3 only has lists of bytes; these contain the elements in
/// little-endian order.
fn lists(datatype: &Datatype, base: &Datatype) -> Result<Mapped> {
    let base_type = mapped(base)?;
    let pieces = match base_type.form {
        Form::Same(endian) if base_type.inner.is_empty() => {
            let (size, word) = (base_type.data_type.size(), base_type.data_type.storage().word());
            let change =
                if endian == Endian::Big && word > 1 { Change::Reversed(word) } else { Change::None };
            vec![Piece { offset: 0, stored: base.size, size, change }]
        }
        Form::Pieces(pieces) if base_type.inner.is_empty() => pieces,
        _ => return Err(unsupported("Zarr has no data type for lists of text, references or lists")),
    };
    let mut attributes = base_type.attributes;
    if base_type.data_type != DataType::UInt8 {
        let registry = codecs::registry();
        let name = registry.family(&base_type.data_type)?.to_v3(&base_type.data_type)?;
        attributes.insert(crate::LIST_OF.to_owned(), name);
    }
    Ok(Mapped { attributes, ..plain(DataType::bytes(), datatype, Form::Lists(pieces, base.size)) })
}

fn structure(datatype: &Datatype) -> Result<Mapped> {
    let (mut pieces, mut notes) = (Vec::new(), Notes::default());
    let data_type = fields(datatype, 0, &mut pieces, &mut notes, "", DEEPEST)?;
    if pieces.iter().any(|piece: &Piece| piece.offset.saturating_add(piece.stored) > datatype.size) {
        return Err(corrupt("a field lies outside its structure"));
    }
    let mut end = 0;
    let is_packed = pieces.iter().all(|piece| {
        let follows = piece.offset == end;
        end += piece.stored;
        follows && piece.change == Change::None
    });
    let form =
        if is_packed && end == datatype.size { Form::Same(Endian::Little) } else { Form::Pieces(pieces) };
    let mut attributes = Map::default();
    for (name, of_fields) in [(crate::ENUM, notes.names), (OPAQUE, notes.tags)] {
        if !of_fields.is_empty() {
            attributes.insert(name.to_owned(), of_fields.into());
        }
    }
    Ok(Mapped { attributes, ..plain(data_type, datatype, form) })
}

/// Properties that the data types of fields cannot represent, by field name.
#[derive(Default)]
struct Notes {
    /// The member names of enumerations.
    names: Map,
    tags: Map,
}

/// Returns the structured data type without padding, and appends the pieces of its elements.
fn fields(
    datatype: &Datatype,
    start: usize,
    pieces: &mut Vec<Piece>,
    notes: &mut Notes,
    above: &str,
    depth: usize,
) -> Result<DataType> {
    let Class::Compound(members) = &datatype.class else {
        return Err(unsupported(
            "Zarr has no data type for lists of structures with arrays, text, lists or references",
        ));
    };
    if depth == 0 {
        return Err(unsupported("the structures are nested too deeply"));
    }
    let mut found = Vec::new();
    for member in members {
        let name = lenient(&member.name);
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let field = || {
            let offset = start.checked_add(member.offset);
            let offset = offset.ok_or_else(|| corrupt("a field lies outside its structure"))?;
            if pieces.len() >= MOST_LEAVES {
                return Err(unsupported("the structure has too many elements"));
            }
            match Scalar::of(&member.datatype)? {
                Some(scalar) => {
                    notes.add(&path, scalar.names, scalar.tag);
                    let (stored, size, change) = (scalar.size, scalar.data_type.size(), scalar.change);
                    pieces.push(Piece { offset, stored, size, change });
                    Ok(scalar.data_type)
                }
                None => fields(&member.datatype, offset, pieces, notes, &path, depth - 1),
            }
        };
        let data_type = in_place(field, || format!("field '{name}'"))?;
        found.push((name, data_type));
    }
    let structure = Structure::packed(found)?;
    Ok(DataType::Struct(std::sync::Arc::new(structure)))
}

/// Adds the location to an error.
fn in_place<T>(work: impl FnOnce() -> Result<T>, place: impl FnOnce() -> String) -> Result<T> {
    work().map_err(|error| error.at(place()))
}

impl Notes {
    fn add(&mut self, path: &str, names: Option<Map>, tag: Option<String>) {
        if let Some(names) = names {
            self.names.insert(path.to_owned(), Json::Object(names));
        }
        if let Some(tag) = tag {
            self.tags.insert(path.to_owned(), tag.into());
        }
    }
}
