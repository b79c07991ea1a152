//! Attributes, which are JSON in Zarr, as those of HDF5.

use zarrox::data_type::{ByteOrder, Endian};
use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Result, codecs};

use super::datatype::{self, Encoded};
use super::heap::Heap;
use super::messages::{self, Header};
use super::options::Convention;

/// Attributes of NetCDF that have the type of their variable.
const OF_VARIABLE: [&str; 6] =
    ["_FillValue", "missing_value", "valid_min", "valid_max", "valid_range", "flag_values"];

/// The longest text that is stored in the header of an object, in bytes.
const LONGEST: usize = 60_000;

/// An attribute in HDF5's form.
struct Attribute {
    datatype: Encoded,
    /// `None` for an attribute without a value.
    shape: Option<Vec<u64>>,
    value: Vec<u8>,
}

/// Adds attributes to a header. `variable` is the type of the elements, if they are stored as they are.
pub(super) fn add(
    header: &mut Header,
    heap: &mut Heap,
    attributes: &Map,
    convention: Convention,
    variable: Option<&DataType>,
) -> Result<()> {
    for (name, value) in attributes {
        let typed = variable.filter(|_| OF_VARIABLE.contains(&name.as_str()));
        let attribute = match typed.and_then(|data_type| of_variable(data_type, value)) {
            Some(attribute) => attribute,
            None => plain(value, convention, heap),
        };
        let Attribute { datatype, shape, value } = attribute;
        let dataspace = shape.map_or_else(messages::null_dataspace, |shape| messages::dataspace(&shape, &[]));
        header.attribute(name, &datatype.bytes, &dataspace, &value)?;
    }
    Ok(())
}

/// The attribute as numbers of the variable's type, if it is numbers that this type has.
fn of_variable(data_type: &DataType, value: &Json) -> Option<Attribute> {
    let datatype = datatype::of_fixed(data_type, Convention::NetCdf).ok()?;
    let number = match value.as_str() {
        // xarray stores floats so.
        Some(text) if matches!(data_type, DataType::Float32 | DataType::Float64) => {
            crate::fill::decode(text)?
        }
        _ => value.clone(),
    };
    let registry = codecs::registry();
    let elements = DynArray::from_json(data_type.clone(), &number, &registry).ok()?;
    let shape = elements.shape().iter().map(|&length| length as u64).collect();
    Some(Attribute { datatype, shape: Some(shape), value: little(elements).ok()? })
}

/// The bytes of elements in little-endian order.
pub(super) fn little(elements: DynArray) -> Result<Vec<u8>> {
    let (data_type, shape) = (elements.data_type().clone(), elements.shape().to_vec());
    let order = ByteOrder::One(Endian::Little);
    Ok(DynArray::from_foreign(data_type, shape, elements.into_bytes(), &order, false)?.into_bytes())
}

/// The attribute in the form that its value suggests. Values without a form of their own become JSON text.
fn plain(value: &Json, convention: Convention, heap: &mut Heap) -> Attribute {
    if value.is_null() && convention == Convention::Hdf5 {
        return Attribute { datatype: datatype::float(8), shape: None, value: Vec::new() };
    }
    if let Some(text) = value.as_str() {
        return text_attribute(text, convention, heap);
    }
    let mut leaves = Vec::new();
    let shape = flat(value, &mut leaves).filter(|_| !leaves.is_empty());
    let found = shape.and_then(|shape| list(&leaves, shape, convention, heap));
    found.unwrap_or_else(|| text_attribute(&value.to_string(), convention, heap))
}

/// The shape of nested lists, whose leaves are collected; `None` if they are not rectangular.
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

/// Leaves of one kind as an attribute.
fn list(leaves: &[&Json], shape: Vec<u64>, convention: Convention, heap: &mut Heap) -> Option<Attribute> {
    let all = |is: &dyn Fn(&Json) -> bool| leaves.iter().all(|leaf| is(leaf));
    let (datatype, value) = if all(&|leaf| leaf.as_bool().is_some()) {
        let is_netcdf = convention == Convention::NetCdf;
        let datatype = if is_netcdf { datatype::integer(1, true) } else { datatype::boolean() };
        (datatype, leaves.iter().map(|leaf| u8::from(leaf.as_bool() == Some(true))).collect())
    } else if all(&|leaf| leaf.as_i64().is_some()) {
        let bytes = leaves.iter().filter_map(|leaf| leaf.as_i64()).flat_map(i64::to_le_bytes);
        (datatype::integer(8, true), bytes.collect())
    } else if all(&|leaf| leaf.as_u64().is_some()) {
        let bytes = leaves.iter().filter_map(|leaf| leaf.as_u64()).flat_map(u64::to_le_bytes);
        (datatype::integer(8, false), bytes.collect())
    } else if all(&Json::is_number) {
        // Also what is not a number, or infinite.
        let float = |leaf: &&Json| if let Json::Number(number) = leaf { number.to_f64() } else { f64::NAN };
        (datatype::float(8), leaves.iter().map(float).flat_map(f64::to_le_bytes).collect())
    } else if all(&Json::is_string) {
        let texts = leaves.iter().filter_map(|leaf| leaf.as_str());
        let value: Vec<u8> = texts.flat_map(|text| heap.add(text.as_bytes(), text.len())).collect();
        (datatype::text(), value)
    } else {
        return None;
    };
    let value: Vec<u8> = value;
    (value.len() <= LONGEST).then_some(Attribute { datatype, shape: Some(shape), value })
}

/// Text: of a fixed length in NetCDF, as its library writes it, and of any length in HDF5, as h5py does.
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
