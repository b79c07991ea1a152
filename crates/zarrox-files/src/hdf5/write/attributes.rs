//! Converts the JSON attributes of Zarr to HDF5 attributes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::{Json, Map};
use zarrox::{DynArray, Result};
use zarrox_tools::copy::missing;

use super::datatype::{self, Encoded};
use super::heap::Heap;
use super::messages::{self, Header};
use super::names;
use super::options::{Convention, Options};
use crate::fill::FILL_VALUE;
use crate::input::unsupported;
use crate::netcdf::{self, NcType, Types};

/// The maximum size in bytes of a string in an object header.
const LONGEST: usize = 60_000;

/// The attributes of an object, ready to be written.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    all: Map,
    types: Types,
    /// The type of the elements; `None` for groups, and for elements that are neither numbers nor strings.
    elements: Option<NcType>,
    /// True if the fill value of structures or opaque bytes is their missing-value marker.
    pub(super) is_fill_missing: bool,
    /// The missing-value marker of characters.
    letter: Option<u8>,
    /// True if the missing-value marker has the user-defined type of the elements.
    is_user_fill: bool,
}

/// The type of the elements of an object that has attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    /// A group, which has no elements.
    None,
    /// Numbers or strings.
    Of(NcType),
    /// Characters with the given fill value; `None` for strings of several characters.
    Letters(Option<u8>),
    /// Values of an enumeration with the given base type. An enumeration is a user-defined type.
    Enumeration(NcType),
    /// Values of another user-defined type, or of a type without a missing-value marker.
    Other,
}

/// An attribute as stored in HDF5.
struct Attribute {
    datatype: Encoded,
    /// `None` for an attribute without a value.
    shape: Option<Vec<u64>>,
    value: Vec<u8>,
}

impl Attributes {
    /// Prepares the attributes of the object at a path. An attribute that the format cannot represent is skipped or is an
    /// error, depending on the options.
    pub(super) fn new(path: &str, given: &Map, elements: Elements, options: &Options<'_>) -> Result<Self> {
        let convention = options.convention;
        let types = Types::of(given);
        let mut letter = match elements {
            Elements::Letters(fill) if types.get(FILL_VALUE) == Some(NcType::Char) => fill,
            _ => None,
        };
        let mut all = Map::default();
        for (name, value) in given {
            if netcdf::is_hint(name) {
                continue;
            }
            if names::is_reserved(name, convention) {
                if let Err(error) = names::check_reserved(name, given) {
                    options.leave_out(path, error)?;
                }
                continue;
            }
            if name == FILL_VALUE && convention == Convention::NetCdf {
                match own_fill(value, elements) {
                    Ok(Fill::Kept) => {}
                    Ok(Fill::Letter(found)) => {
                        letter = Some(found);
                        continue;
                    }
                    Err(error) => {
                        options.leave_out(path, error.at(format!("attribute '{name}'")))?;
                        continue;
                    }
                }
            }
            match names::check(name, convention) {
                Ok(()) => drop(all.insert(name.clone(), value.clone())),
                Err(error) => options.leave_out(path, error.at("an attribute"))?,
            }
        }
        let letter = letter.filter(|_| convention == Convention::NetCdf);
        let is_fill_missing = elements == Elements::Other && missing::tells_missing(given);
        let is_user_fill = matches!(elements, Elements::Enumeration(_));
        let elements = match elements {
            Elements::Of(of) | Elements::Enumeration(of) => Some(of),
            _ => None,
        };
        Ok(Self { all, types, elements, is_fill_missing, letter, is_user_fill })
    }

    /// Returns true if all attributes have types of the classic NetCDF data model.
    pub(super) fn are_classic(&self) -> bool {
        let of = |name: &String, value: &Json| {
            self.of(name, value, Convention::NetCdf).is_none_or(NcType::is_classic)
        };
        self.all.iter().all(|(name, value)| of(name, value))
    }

    /// Returns the type of an attribute, if its values are numbers or strings.
    fn of(&self, name: &str, value: &Json, convention: Convention) -> Option<NcType> {
        // In NetCDF, the missing-value marker has the type of its variable.
        let is_free = name != FILL_VALUE || convention == Convention::Hdf5 || self.elements.is_none();
        let told = self.types.get(name).filter(|of| is_free && fits(*of, value, convention));
        let usual = || match convention {
            Convention::NetCdf => NcType::usual(name, value, self.elements),
            Convention::Hdf5 => NcType::of_variable(name, value, self.elements),
        };
        told.or_else(usual)
    }

    /// Adds the attributes to a header, except those that it already has. `user_type` is the address of the user-defined
    /// type of the elements.
    pub(super) fn add(
        &self,
        header: &mut Header,
        heap: &mut Heap,
        convention: Convention,
        user_type: Option<u64>,
    ) -> Result<()> {
        if let Some(letter) = self.letter {
            let letters = datatype::fixed_text(1, false);
            header.attribute(FILL_VALUE, &letters.bytes, &messages::dataspace(&[], &[]), &[letter])?;
        }
        for (name, value) in &self.all {
            if header.has_attribute(name) {
                continue;
            }
            let of = self.of(name, value, convention);
            let attribute = of.and_then(|of| typed(of, value, convention, heap));
            let attribute = attribute.unwrap_or_else(|| plain(value, convention, heap));
            let Attribute { datatype, shape, value } = attribute;
            let dataspace =
                shape.map_or_else(messages::null_dataspace, |shape| messages::dataspace(&shape, &[]));
            match user_type.filter(|_| self.is_user_fill && name == FILL_VALUE) {
                Some(address) => header.committed_attribute(name, address, &dataspace, &value)?,
                None => header.attribute(name, &datatype.bytes, &dataspace, &value)?,
            }
        }
        Ok(())
    }
}

/// The encoding of a missing-value attribute.
enum Fill {
    Kept,
    Letter(u8),
}

/// Returns the encoding of a missing-value marker. In NetCDF, it must have the type of the elements.
fn own_fill(value: &Json, elements: Elements) -> Result<Fill> {
    match elements {
        Elements::Letters(_) => match letter(value) {
            Some(letter) => Ok(Fill::Letter(letter)),
            None => Err(unsupported(format!(
                "the missing value of characters must be a single character, not {value}"
            ))),
        },
        Elements::Of(of) | Elements::Enumeration(of) if of != NcType::String => {
            let fits = of.bytes(value).is_some();
            match fits && !value.is_array() {
                true => Ok(Fill::Kept),
                false => Err(unsupported(format!("{value} is not a value of the type {}", of.name()))),
            }
        }
        Elements::None => Ok(Fill::Kept),
        Elements::Of(_) if value.is_string() => Ok(Fill::Kept),
        _ => Err(unsupported(format!("{value} is not a value of the user-defined type of the variable"))),
    }
}

/// Returns a character, given as a one-byte string or in base64.
fn letter(value: &Json) -> Option<u8> {
    let text = value.as_str()?;
    let bytes = if text.len() == 1 { text.as_bytes().to_vec() } else { STANDARD.decode(text).ok()? };
    match bytes.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// Returns true if a type can represent a value.
fn fits(of: NcType, value: &Json, convention: Convention) -> bool {
    match of {
        NcType::Char if convention == Convention::NetCdf => value.is_string(),
        NcType::Char => fixed_texts(value).is_some(),
        NcType::String => match value {
            Json::Array(list) => list.iter().all(Json::is_string),
            value => value.is_string(),
        },
        of => of.bytes(value).is_some(),
    }
}

/// Returns the little-endian bytes of elements.
pub(super) fn little(elements: DynArray) -> Result<Vec<u8>> {
    let (data_type, shape) = (elements.data_type().clone(), elements.shape().to_vec());
    let order = ByteOrder::One(Endian::Little);
    Ok(DynArray::from_foreign(data_type, shape, elements.into_bytes(), &order, zarrox::Order::RowMajor)?
        .into_bytes())
}

/// Returns an attribute of a NetCDF type; `None` if the type cannot represent the value.
fn typed(of: NcType, value: &Json, convention: Convention, heap: &mut Heap) -> Option<Attribute> {
    if of == NcType::Char && convention == Convention::NetCdf {
        return Some(text_attribute(value.as_str()?, convention, heap));
    }
    if of == NcType::Char {
        return fixed_texts(value);
    }
    let mut leaves = Vec::new();
    let shape = flat(value, &mut leaves).filter(|shape| has_form(shape, convention))?;
    if leaves.is_empty() {
        let shape = (convention == Convention::Hdf5).then_some(shape);
        return Some(Attribute { datatype: datatype::of_netcdf(of), shape, value: Vec::new() });
    }
    if of == NcType::String {
        return texts(&leaves, shape, heap);
    }
    let is_boolean = convention == Convention::Hdf5 && leaves.iter().all(|leaf| leaf.as_bool().is_some());
    let datatype = if is_boolean { return None } else { datatype::of_netcdf(of) };
    let value = of.bytes(value).filter(|value| value.len() <= LONGEST)?;
    Some(Attribute { datatype, shape: Some(shape), value })
}

/// Returns true if an attribute can have the given shape. NetCDF attributes have at most one dimension.
fn has_form(shape: &[u64], convention: Convention) -> bool {
    shape.len() < 2 || convention == Convention::Hdf5
}

/// Returns an attribute whose type is inferred from its value. Values without a suitable type become JSON strings.
fn plain(value: &Json, convention: Convention, heap: &mut Heap) -> Attribute {
    if value.is_null() {
        let is_netcdf = convention == Convention::NetCdf;
        let datatype = if is_netcdf { datatype::fixed_text(1, true) } else { datatype::float(8) };
        return Attribute { datatype, shape: None, value: Vec::new() };
    }
    if let Some(text) = value.as_str() {
        return text_attribute(text, convention, heap);
    }
    let mut leaves = Vec::new();
    let shape = flat(value, &mut leaves).filter(|shape| has_form(shape, convention));
    let found = shape.and_then(|shape| list(&leaves, shape, convention, heap));
    found.unwrap_or_else(|| text_attribute(&value.to_string(), convention, heap))
}

/// Returns the shape of nested lists, and collects their leaves; `None` if the lists are ragged.
fn flat<'j>(value: &'j Json, leaves: &mut Vec<&'j Json>) -> Option<Vec<u64>> {
    let Json::Array(list) = value else {
        leaves.push(value);
        return Some(Vec::new());
    };
    let mut inner: Option<Vec<u64>> = None;
    for element in list {
        let shape = flat(element, leaves)?;
        if inner.get_or_insert_with(|| shape.clone()) != &shape {
            return None;
        }
    }
    let mut shape = vec![list.len() as u64];
    shape.extend(inner.unwrap_or_default());
    Some(shape)
}

/// Returns an attribute for leaves that all have the same JSON type; `None` if the types differ.
fn list(leaves: &[&Json], shape: Vec<u64>, convention: Convention, heap: &mut Heap) -> Option<Attribute> {
    if !leaves.is_empty() && leaves.iter().all(|leaf| leaf.as_bool().is_some()) {
        let is_netcdf = convention == Convention::NetCdf;
        let datatype = if is_netcdf { datatype::integer(1, true) } else { datatype::boolean() };
        let value = leaves.iter().map(|leaf| u8::from(leaf.as_bool() == Some(true))).collect();
        return Some(Attribute { datatype, shape: Some(shape), value });
    }
    let of = NcType::of_leaves(leaves)?;
    if of == NcType::String {
        return texts(leaves, shape, heap);
    }
    let value: Vec<u8> = leaves.iter().map(|leaf| of.bytes(leaf)).collect::<Option<Vec<_>>>()?.concat();
    let datatype = datatype::of_netcdf(of);
    (value.len() <= LONGEST).then_some(Attribute { datatype, shape: Some(shape), value })
}

/// Returns an attribute of fixed-length strings, padded to the length of the longest string; `None` for other values, and
/// for values that are too long.
fn fixed_texts(value: &Json) -> Option<Attribute> {
    let mut leaves = Vec::new();
    let shape = flat(value, &mut leaves)?;
    let texts: Vec<&str> = leaves.iter().map(|leaf| leaf.as_str()).collect::<Option<_>>()?;
    let length = texts.iter().map(|text| text.len()).max().unwrap_or(0).max(1);
    let size = length.checked_mul(texts.len()).filter(|&size| size <= LONGEST)?;
    let mut value = Vec::with_capacity(size);
    for text in &texts {
        value.extend_from_slice(text.as_bytes());
        value.resize(value.len() + length - text.len(), 0);
    }
    let datatype = datatype::fixed_text(length, !texts.iter().all(|text| text.is_ascii()));
    Some(Attribute { datatype, shape: Some(shape), value })
}

/// Returns an attribute of variable-length strings; `None` if there are too many.
fn texts(leaves: &[&Json], shape: Vec<u64>, heap: &mut Heap) -> Option<Attribute> {
    let texts = leaves.iter().filter_map(|leaf| leaf.as_str());
    let value: Vec<u8> = texts.flat_map(|text| heap.add(text.as_bytes(), text.len())).collect();
    (value.len() <= LONGEST).then_some(Attribute { datatype: datatype::text(), shape: Some(shape), value })
}

/// Returns a string attribute: of fixed length in NetCDF, as written by the NetCDF library, and of variable length in
/// HDF5, as written by h5py.
fn text_attribute(text: &str, convention: Convention, heap: &mut Heap) -> Attribute {
    if convention == Convention::NetCdf && text.is_empty() {
        return Attribute { datatype: datatype::fixed_text(1, true), shape: None, value: Vec::new() };
    }
    if convention == Convention::NetCdf && text.len() <= LONGEST {
        let datatype = datatype::fixed_text(text.len(), !text.is_ascii());
        return Attribute { datatype, shape: Some(Vec::new()), value: text.as_bytes().to_vec() };
    }
    let value = heap.add(text.as_bytes(), text.len()).to_vec();
    Attribute { datatype: datatype::text(), shape: Some(Vec::new()), value }
}
