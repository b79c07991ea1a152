//! The GDAL metadata of an image: the missing-value marker, and the scale, offset, unit, name and metadata of each band.

use zarrox::json::{Json, Map};
use zarrox::{DataType, Error, Result};

use super::file::{Tags, Value};
use crate::input::unsupported;
use crate::placed::{Axis, Placed};
use crate::tiff::tag;

/// An item that GDAL stores with a role, although its name looks like that of ordinary metadata.
const COLOUR: &str = "COLORINTERP";

/// Adds the tags for an image with `bands` bands.
///
/// # Errors
/// [`zarrox::ErrorKind::Unsupported`] if an attribute does not have a value for each band or cannot be represented in XML.
pub(super) fn add(placed: &Placed, bands: u64, tags: &mut Tags) -> Result<()> {
    if let Some(text) = no_data(placed)? {
        tags.insert(tag::NO_DATA, Value::Text(text));
    }
    let bands = Bands { placed, count: bands };
    let mut items = Vec::new();
    for (name, role, of_all, of_each) in [
        ("SCALE", "scale", "scale_factor", "scale_factors"),
        ("OFFSET", "offset", "add_offset", "add_offsets"),
    ] {
        let same = placed.number(of_all).map(|number| format!("{number:?}"));
        items.extend(bands.items(name, role, same, of_each, &|value| {
            value.as_f64().filter(|number| number.is_finite()).map(|number| format!("{number:?}"))
        })?);
    }
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let unit = placed.text("units").filter(|unit| *unit != "1").map(str::to_owned);
    items.extend(bands.items("UNITTYPE", "unittype", unit, "band_units", &text)?);
    items.extend(bands.items("DESCRIPTION", "description", None, "band_names", &text)?);
    let object = |value: &Json| value.as_object().cloned();
    for (band, map) in bands.list("gdal_band_metadata", &object)?.into_iter().flatten().enumerate() {
        items.extend(of_map("gdal_band_metadata", &map, Some(band))?);
    }
    let name = "gdal_metadata";
    let xml = match placed.attribute(name) {
        // XML that an import could not parse is kept unchanged.
        Some(Json::String(text)) if items.is_empty() => text.clone(),
        Some(Json::Object(map)) => {
            items.extend(of_map(name, map, None)?);
            document(items)?
        }
        Some(other) if !other.is_null() => return Err(not_written(name, other)),
        _ => document(items)?,
    };
    if !xml.is_empty() {
        tags.insert(tag::GDAL_METADATA, Value::Text(xml));
    }
    Ok(())
}

/// An item in the GDAL XML.
#[derive(Debug)]
struct Item {
    name: String,
    domain: Option<String>,
    /// The band and the GDAL role of the item.
    band: Option<usize>,
    role: Option<&'static str>,
    value: String,
}

/// The bands of an image.
struct Bands<'p> {
    placed: &'p Placed,
    count: u64,
}

impl Bands<'_> {
    /// Returns the items with a role: the values in the attribute for each band, or the same value for all bands.
    fn items(
        &self,
        name: &'static str,
        role: &'static str,
        same: Option<String>,
        of_each: &str,
        value: &dyn Fn(&Json) -> Option<String>,
    ) -> Result<Vec<Item>> {
        let values = match (self.list(of_each, value)?, same) {
            (Some(values), _) => values,
            (None, Some(same)) => vec![same; usize::try_from(self.count).unwrap_or_default()],
            (None, None) => Vec::new(),
        };
        let all = values.into_iter().enumerate().filter(|(_, value)| !value.is_empty());
        let item = |(band, value)| Item {
            name: name.to_owned(),
            domain: None,
            band: Some(band),
            role: Some(role),
            value,
        };
        Ok(all.map(item).collect())
    }

    /// Returns the values in an attribute for the bands of the selection.
    ///
    /// # Errors
    /// If the attribute is not a list with a value of type `T` for each band.
    fn list<T>(&self, name: &str, value: &dyn Fn(&Json) -> Option<T>) -> Result<Option<Vec<T>>> {
        let Some(stored) = self.placed.attribute(name) else { return Ok(None) };
        let list = stored.as_array().ok_or_else(|| not_written(name, stored))?;
        let bands = self.positions(list.len()).ok_or_else(|| {
            unsupported(format!(
                "the attribute '{name}' has {} values, but the image has {} bands; correct or remove the attribute",
                list.len(),
                self.count
            ))
        })?;
        let values = bands.into_iter().map(|band| list.get(band).and_then(value)).collect::<Option<_>>();
        values.map(Some).ok_or_else(|| not_written(name, stored))
    }

    /// Returns the positions, in a list of `length` values, of the bands of the image.
    fn positions(&self, length: usize) -> Option<Vec<usize>> {
        let shape = self.placed.array.shape();
        let has_length = |dim: usize| shape.get(dim).and_then(|&n| usize::try_from(n).ok()) == Some(length);
        let mut axes = self.placed.axes.iter().enumerate();
        let positions: Vec<usize> = match axes.find(|(dim, axis)| axis.is_samples() && has_length(*dim)) {
            Some((_, axis)) => along(axis)?,
            None if length == 1 || self.placed.is_whole() => (0..length).collect(),
            None => return None,
        };
        (u64::try_from(positions.len()).ok() == Some(self.count)).then_some(positions)
    }
}

/// Returns the positions selected along a dimension.
fn along(axis: &Axis) -> Option<Vec<usize>> {
    let position = |nth: u64| {
        let distance = i64::try_from(nth).ok()?.checked_mul(axis.step)?;
        usize::try_from(axis.start.checked_add(distance)?).ok()
    };
    (0..axis.count).map(position).collect()
}

/// Returns the items for metadata in a map. Names may begin with a domain.
fn of_map(attribute: &str, map: &Map, band: Option<usize>) -> Result<Vec<Item>> {
    let item = |(name, value): (&String, &Json)| {
        let value = match value {
            Json::String(text) => text.clone(),
            Json::Number(_) | Json::Bool(_) => value.to_string(),
            _ => return Err(not_written(attribute, value)),
        };
        let (domain, name) = match name.rsplit_once(':') {
            Some((domain, name)) => (Some(domain.to_owned()), name.to_owned()),
            None => (None, name.clone()),
        };
        let role = (name == COLOUR && band.is_some()).then_some("colorinterp");
        Ok(Item { name, domain, band, role, value })
    };
    map.iter().map(item).collect()
}

/// Formats items as XML; empty if there are none.
fn document(items: Vec<Item>) -> Result<String> {
    if items.is_empty() {
        return Ok(String::new());
    }
    let mut xml = "<GDALMetadata>\n".to_owned();
    for Item { name, domain, band, role, value } in items {
        let attributes = [
            ("name", Some(name)),
            ("domain", domain),
            ("sample", band.map(|band| band.to_string())),
            ("role", role.map(str::to_owned)),
        ];
        xml.push_str("  <Item");
        for (attribute, text) in attributes {
            if let Some(text) = text {
                xml.push_str(&format!(" {attribute}=\"{}\"", text_of_xml(&text)?));
            }
        }
        xml.push_str(&format!(">{}</Item>\n", text_of_xml(&value)?));
    }
    xml.push_str("</GDALMetadata>\n");
    Ok(xml)
}

/// Escapes a string for XML. Control characters other than tabs and line breaks are an error.
fn text_of_xml(text: &str) -> Result<String> {
    match text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        None => Ok(escaped(text)),
        Some(found) => Err(unsupported(format!(
            "the character {found:?} of an attribute cannot be stored in the GDAL metadata of TIFF, which is XML"
        ))),
    }
}

fn not_written(name: &str, value: &Json) -> Error {
    unsupported(format!(
        "the value {value} of the attribute '{name}' cannot be stored in the GDAL metadata of TIFF; correct or remove the attribute"
    ))
}

/// Returns the missing-value marker as a string: the value of an attribute, or the fill value if it is not 0.
fn no_data(placed: &Placed) -> Result<Option<String>> {
    let data_type = placed.array.data_type();
    if matches!(data_type, DataType::Bool | DataType::Complex64 | DataType::Complex128) {
        return Ok(None);
    }
    let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let float = |number: f64| if number.is_nan() { "nan".to_owned() } else { format!("{number:?}") };
    for name in ["_FillValue", "missing_value"] {
        match placed.attribute(name) {
            Some(Json::Number(number)) if !is_float => return Ok(Some(number.to_string())),
            Some(_) => {
                if let Some(number) = placed.number(name) {
                    return Ok(Some(float(number)));
                }
            }
            None => {}
        }
    }
    let fill = placed.array.fill_bytes();
    if fill.as_bytes().iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    placed.array.format_element(fill.as_bytes()).map(|text| Some(text.to_ascii_lowercase()))
}

/// Escapes a string for XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
