//! The columns of a group: its one-dimensional arrays and their fields. For Parquet, two-dimensional arrays become
//! columns of lists.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::json::Json;
use zarrox::{Array, DataType, DynArray, Error, ErrorKind, Group, Node, Registry, Result, Selection};
use zarrox_tools::copy::missing;

use super::csv_in::COLUMNS;
use super::nulls::NULL_VALUE;
use super::packed::Packing;
use crate::fill;

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    array: Array,
    selection: Selection,
    /// The path of a field; `None` for whole elements.
    field: Option<String>,
    /// The type of the values; for decimals, the type of the unscaled integers.
    pub(super) data_type: DataType,
    /// The elements that mark missing values.
    missing: Vec<Vec<u8>>,
    /// The conversion from packed elements to values.
    packing: Option<Packing>,
    /// The number of values in each row, if rows are lists.
    pub(super) list: Option<u64>,
}

/// Consecutive elements of a column.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) elements: DynArray,
    /// The mask of missing values; empty if no value is missing.
    pub(super) missing: Vec<bool>,
    /// The number of decimal places, if the elements are unscaled integers of decimals.
    pub(super) decimals: Option<u32>,
}

impl Part {
    pub(super) fn is_missing(&self, at: usize) -> bool {
        self.missing.get(at).copied().unwrap_or(false)
    }
}

impl Column {
    /// Returns the elements in a range of rows.
    pub(super) fn read(&self, rows: Range<u64>) -> Result<Part> {
        let view = self.array.slice(&self.selection).slice(rows);
        let elements = match &self.field {
            Some(field) => view.field(field).read::<DynArray>()?,
            None => view.read::<DynArray>()?,
        };
        let missing = match self.missing.as_slice() {
            [] => Vec::new(),
            missing => elements.elements().map(|element| missing.iter().any(|one| one == element)).collect(),
        };
        let elements = match self.packing {
            Some(packing) => packing.values(elements, &zarrox::codecs::registry())?,
            None => elements,
        };
        Ok(Part { elements, missing, decimals: self.decimals() })
    }

    /// Returns the number of decimal places, if the elements are unscaled integers of decimals.
    pub(super) fn decimals(&self) -> Option<u32> {
        self.packing.and_then(Packing::decimals)
    }

    /// Returns true if elements can be missing: if the array has a `_FillValue` or `missing_value` attribute, or an
    /// attribute that marks the fill value as missing.
    pub(super) fn can_miss(&self) -> bool {
        !self.missing.is_empty()
    }
}

/// Whether rows can be lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// Each row of a two-dimensional array is a list.
    Allowed,
    Refused,
}

/// Returns the columns of a node and the number of rows.
pub(super) fn of(
    node: &Node,
    selection: &Selection,
    names: &[String],
    lists: Lists,
) -> Result<(Vec<Column>, u64)> {
    let registry = zarrox::codecs::registry();
    let arrays = match node {
        Node::Array(array) if names.is_empty() => vec![(array.path().name().to_owned(), array.clone())],
        Node::Array(array) => {
            return Err(bad(format!(
                "'{}' is an array; columns can only be selected in a group",
                array.path()
            )));
        }
        Node::Group(group) => chosen(group, names)?,
    };
    let (mut columns, mut rows) = (Vec::new(), None::<(u64, String)>);
    for (name, array) in arrays {
        let shape = array.slice(selection).shape()?;
        let (length, list) = match *shape.as_slice() {
            [length] => (length, None),
            [length, list] if lists == Lists::Allowed => (length, Some(list)),
            _ => {
                let most = match lists {
                    Lists::Allowed => "one dimension, or two for lists",
                    Lists::Refused => "one dimension",
                };
                return Err(bad(format!(
                    "'{name}' has the shape {shape:?}, but a column has {most}; select columns"
                )));
            }
        };
        match &rows {
            Some((other, first)) if *other != length => {
                return Err(bad(format!(
                    "'{first}' has {other} rows, but '{name}' has {length}; select columns"
                )));
            }
            Some(_) => {}
            None => rows = Some((length, name.clone())),
        }
        add(&mut columns, &array, selection, &name, list, &registry)?;
    }
    match rows {
        Some((rows, _)) => Ok((columns, rows)),
        None => Err(bad("the group has no arrays to export")),
    }
}

/// Returns the arrays in a group with the given names. Without names, returns all arrays in the order recorded by an import.
fn chosen(group: &Group, names: &[String]) -> Result<Vec<(String, Array)>> {
    let open = |name: &String| Ok((name.clone(), group.open(name)?.into_array()?));
    if !names.is_empty() {
        return names.iter().map(open).collect();
    }
    let mut arrays = Vec::new();
    for child in group.children()? {
        if let Ok(array) = group.open(&child.name)?.into_array() {
            arrays.push((child.name, array));
        }
    }
    let order: Vec<&str> = match group.attributes().get(COLUMNS).and_then(Json::as_array) {
        Some(order) => order.iter().filter_map(Json::as_str).collect(),
        None => Vec::new(),
    };
    arrays.sort_by_key(|(name, _)| order.iter().position(|known| known == name).unwrap_or(usize::MAX));
    Ok(arrays)
}

/// Adds an array, or each of its fields if it has a structured data type.
fn add(
    columns: &mut Vec<Column>,
    array: &Array,
    selection: &Selection,
    name: &str,
    list: Option<u64>,
    registry: &Registry,
) -> Result<()> {
    let mut push = |name: String, field: Option<String>, data_type: DataType| -> Result<()> {
        let (missing, packing) = match field {
            None => (missing_elements(array, &data_type, registry), Packing::of(array, &name)?),
            Some(_) => (Vec::new(), None),
        };
        let data_type = match packing {
            Some(packing) if packing.decimals().is_none() => DataType::Float64,
            _ => data_type,
        };
        let (array, selection) = (array.clone(), selection.clone());
        columns.push(Column { name, array, selection, field, data_type, missing, packing, list });
        Ok(())
    };
    let Some(structure) = array.data_type().fields() else {
        let name = if name.is_empty() { "values" } else { name };
        return push(name.to_owned(), None, array.data_type().clone());
    };
    for field in structure.fields() {
        let full = if name.is_empty() { field.name.clone() } else { format!("{name}.{}", field.name) };
        if !field.shape.is_empty() || field.data_type.fields().is_some() {
            return Err(bad(format!("the field '{full}' has no scalar values for a column")));
        }
        push(full, Some(field.name.clone()), field.data_type.clone())?;
    }
    Ok(())
}

/// Returns the missing-value markers of an array as elements.
fn missing_elements(array: &Array, data_type: &DataType, registry: &Registry) -> Vec<Vec<u8>> {
    let element = |name: &&str| {
        let value = array.attributes().get(name)?;
        let value = match value.as_str().filter(|_| !data_type.is_named("string")) {
            Some(text) => fill::decode(text)?,
            None => value.clone(),
        };
        let element = DynArray::from_json(data_type.clone(), &value, registry).ok()?;
        element.elements().next().map(<[u8]>::to_vec)
    };
    let null = array.attributes().get(NULL_VALUE).and_then(Json::as_str);
    let null = null.and_then(|text| STANDARD.decode(text).ok());
    let fill = missing::tells_missing(array.attributes()).then(|| array.fill_bytes().as_bytes().to_vec());
    ["_FillValue", "missing_value"].iter().filter_map(element).chain(null).chain(fill).collect()
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
