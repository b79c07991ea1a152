//! Missing values for xarray: the attribute `_FillValue` in Zarr v3, and the fill value in Zarr v2.
//!
//! In formats without dimension names, xarray masks the fill value, even if it was not intended as a missing value, and
//! attributes do not change that. In Zarr v3, xarray masks only the value of the attribute. After a conversion between these
//! formats, the same elements are masked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox_core::data_type::Storage;
use zarrox_core::json::{Json, Map};
use zarrox_core::{ArrayMetadata, DataType, FillValue, Registry, Result, Strictness};

use super::report::{Effect, Property};
use super::translator::{Missing, Translator};
use zarrox::Array;
use zarrox::internals::{ARRAY_DIMENSIONS, attribute_names};

/// The attribute for missing values.
pub const FILL_VALUE: &str = "_FillValue";

/// The attribute in which an import from NetCDF stores the types of attributes. For characters, `_FillValue` is stored only as
/// the fill value.
pub const TYPES: &str = "_nc_types";

/// The maximum total size, in bytes, of chunks that are stored only because of missing values.
const MOST: u64 = 64 << 20;

/// The stored chunks of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    All,
    /// Some chunks are missing, but few enough to be stored as well.
    Most,
    Few,
}

/// Returns the string that represents a float in the attribute, in the form that xarray reads from Zarr v3.
pub fn encoded(float: f64) -> String {
    STANDARD.encode(float.to_le_bytes())
}

/// Parses a float from a string in the attribute.
pub fn decoded(text: &str) -> Option<f64> {
    let bytes = STANDARD.decode(text).ok()?;
    Some(f64::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns the attribute for a missing value, in the form that xarray reads from Zarr v3; `None` for data types that xarray does
/// not support.
pub fn to_attribute(data_type: &DataType, fill: &FillValue, registry: &Registry) -> Option<Json> {
    let family = registry.family(data_type).ok()?;
    let json = family.fill_to_v3(data_type, fill);
    match data_type.storage() {
        Storage::Bool | Storage::Int(_) | Storage::Uint(_) => Some(json),
        Storage::Float(_) => number(&json).map(|float| encoded(float).into()),
        Storage::Complex(_) => {
            let parts = json.as_array()?.iter().map(|part| Some(encoded(number(part)?).into()));
            Some(Json::Array(parts.collect::<Option<_>>()?))
        }
        // xarray does not read the attribute for strings or bytes.
        _ => None,
    }
}

/// Returns the missing value that an attribute defines, in the form of Zarr v3 or as a plain value; `None` if the data type
/// cannot represent it.
pub fn of_attribute(data_type: &DataType, value: &Json, registry: &Registry) -> Option<FillValue> {
    let is_float = matches!(data_type.storage(), Storage::Float(_));
    let is_complex = matches!(data_type.storage(), Storage::Complex(_));
    let value = only(value);
    let plain = match value {
        Json::String(text) if is_float => decoded(text).map_or_else(|| value.clone(), Json::from),
        Json::Array(parts) if is_complex => parts
            .iter()
            .map(|part| part.as_str().and_then(decoded).map_or_else(|| part.clone(), Json::from))
            .collect(),
        _ => value.clone(),
    };
    let family = registry.family(data_type).ok()?;
    family.fill_from_json(data_type, &plain.without_tokens(), Strictness::Lenient).ok()
}

/// Unwraps nested one-element lists, since NetCDF and HDF5 store a missing value as a scalar or as an array of one element.
/// Returns any other value unchanged.
pub fn only(value: &Json) -> &Json {
    let mut value = value;
    while let Some([one]) = value.as_array().map(Vec::as_slice) {
        value = one;
    }
    value
}

/// Returns the entry of [`TYPES`] for a string data type whose fill value is its missing value; `None` for other data types.
pub fn text_type(data_type: &DataType) -> Option<&'static str> {
    match data_type.storage() {
        _ if data_type.is_named("string") => Some("string"),
        _ if data_type.is_named("null_terminated_bytes") => Some("char"),
        Storage::Utf32(_) => Some("string"),
        _ => None,
    }
}

/// Records that the fill value of strings is their missing value; xarray does not read this from the attribute `_FillValue`.
fn tell_missing(attributes: &mut Map, of: &str) {
    let own = attributes.get(TYPES).and_then(Json::as_str).filter(|types| !types.trim().is_empty());
    let own = own.map(|types| format!("{types}; ")).unwrap_or_default();
    attributes.insert(TYPES.to_owned(), format!("{own}{FILL_VALUE}: {of}").into());
}

/// Returns a number, or parses a string as a number.
fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => Some(number.to_f64()),
        Json::String(name) => name.parse().ok(),
        _ => None,
    }
}

impl Translator<'_> {
    /// Adapts the target so that xarray masks the same elements. Returns the treatment of missing chunks.
    pub(super) fn missing_values(
        &mut self,
        array: &Array,
        target: &mut ArrayMetadata,
    ) -> Result<MissingChunks> {
        let source = array.metadata();
        let had = source.attributes.contains_key(ARRAY_DIMENSIONS) && source.dimension_names.is_none();
        let has = target.attributes.contains_key(ARRAY_DIMENSIONS) && target.dimension_names.is_none();
        match (had && attribute_names(source).is_some(), has) {
            (true, false) => self.mask_by_attribute(array, target),
            (false, true) => return self.mask_by_fill(array, target),
            _ => {}
        }
        Ok(MissingChunks::Unchanged)
    }

    /// Converts the fill value to the attribute.
    fn mask_by_attribute(&mut self, array: &Array, target: &mut ArrayMetadata) {
        let source = array.metadata();
        let own = source.attributes.get(FILL_VALUE);
        let fill = match (&source.fill_value, own) {
            (Some(fill), _) => Some(fill.clone()),
            (None, Some(own)) => of_attribute(&source.data_type, own, self.registry),
            (None, None) => None,
        };
        let Some(fill) = fill else { return };
        let shown = array.format_element(fill.as_bytes()).unwrap_or_default();
        if self.missing == Missing::Kept {
            if source.fill_value.is_some() && !shown.eq_ignore_ascii_case("nan") {
                let reason = format!(
                    "xarray masks the fill value {shown} in the source, and only the attribute {FILL_VALUE} in the target"
                );
                self.find(Property::FillValues, Effect::Note, reason);
            }
            return;
        }
        match to_attribute(&source.data_type, &fill, self.registry) {
            Some(value) => {
                if target.attributes.get(FILL_VALUE) != Some(&value) {
                    target.attributes.insert(FILL_VALUE.to_owned(), value);
                    let reason = format!(
                        "xarray masks the fill value {shown}; the target gets the attribute {FILL_VALUE} with this value"
                    );
                    self.find(Property::FillValues, Effect::Note, reason);
                }
            }
            None => {
                let kept = match text_type(&source.data_type) {
                    Some(of) if !tells_missing(&target.attributes) => {
                        tell_missing(&mut target.attributes, of);
                        format!("; the attribute {TYPES} marks it as missing for Zarrox")
                    }
                    _ => String::new(),
                };
                let reason = format!(
                    "xarray masks the fill value {shown} in the source, and no values of type {} in the target{kept}",
                    source.data_type
                );
                self.find(Property::FillValues, Effect::Note, reason);
            }
        }
    }

    /// Converts the attribute to the fill value.
    fn mask_by_fill(&mut self, array: &Array, target: &mut ArrayMetadata) -> Result<MissingChunks> {
        let source = array.metadata();
        let shown = array.format_element(array.fill_bytes().as_bytes()).unwrap_or_default();
        let wanted = match source.attributes.get(FILL_VALUE) {
            Some(own) => match of_attribute(&source.data_type, own, self.registry) {
                Some(fill) if fill != array.fill_bytes() => Some(fill),
                Some(_) if self.missing == Missing::AsXarray => {
                    target.attributes.remove(FILL_VALUE);
                    return Ok(MissingChunks::Unchanged);
                }
                _ => return Ok(MissingChunks::Unchanged),
            },
            // NaN does not need a mask.
            None if tells_missing(&source.attributes) || shown.eq_ignore_ascii_case("nan") => {
                return Ok(MissingChunks::Unchanged);
            }
            None => None,
        };
        let with = ArrayMetadata { fill_value: wanted.clone(), ..target.clone() };
        if target.fill_value.is_none() || self.says_array(&with).is_err() {
            return Ok(MissingChunks::Unchanged);
        }
        let missing = wanted.as_ref().and_then(|fill| array.format_element(fill.as_bytes()).ok());
        let instead = match &missing {
            Some(missing) => {
                format!("the fill value becomes {missing}, which xarray masks, instead of {shown}")
            }
            None => format!("the fill value {shown} becomes null, so that xarray masks no elements"),
        };
        let stored = if self.missing == Missing::Kept { Stored::Few } else { self.stored(array)? };
        match stored {
            Stored::All | Stored::Most => {
                *target = with;
                target.attributes.remove(FILL_VALUE);
            }
            Stored::Few => {}
        }
        let (reason, chunks) = match stored {
            Stored::All => (instead, MissingChunks::NoneMissing),
            Stored::Most => (format!("{instead}; missing chunks are written"), MissingChunks::Written),
            Stored::Few => {
                let missing = missing.map(|missing| format!(" instead of {missing}")).unwrap_or_default();
                let reason = format!(
                    "xarray will mask elements with the fill value {shown}{missing}, which missing chunks need"
                );
                (reason, MissingChunks::Unchanged)
            }
        };
        self.find(Property::FillValues, Effect::Note, reason);
        Ok(chunks)
    }

    /// Returns the stored chunks.
    fn stored(&self, array: &Array) -> Result<Stored> {
        if !self.lists {
            return Ok(Stored::Most);
        }
        let mut stored = 0_u64;
        array.visit_stored(&mut |chunk, _| stored += u64::from(chunk.is_some()))?;
        let all = array.chunk_grid().chunk_count(array.shape()).unwrap_or(u64::MAX);
        let elements = array.unit_shape().into_iter().fold(1_u64, u64::saturating_mul);
        let chunk = elements.saturating_mul(array.data_type().size().max(1) as u64);
        Ok(match all.saturating_sub(stored) {
            0 => Stored::All,
            missing if !self.in_place && missing.saturating_mul(chunk) <= MOST => Stored::Most,
            _ => Stored::Few,
        })
    }
}

/// The treatment of missing chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingChunks {
    /// Missing chunks stay missing if they have the same elements in the target.
    Unchanged,
    /// No chunks are missing, since all are stored.
    NoneMissing,
    /// Missing chunks are written.
    Written,
}

/// Returns true if the attributes imply that the fill value is a missing value, without the attribute `_FillValue`.
pub fn tells_missing(attributes: &Map) -> bool {
    let types = attributes.get(TYPES).and_then(Json::as_str).unwrap_or_default();
    types
        .split(';')
        .any(|part| part.trim_start().strip_prefix(FILL_VALUE).is_some_and(|of| of.starts_with(':')))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_core::json::json;
    use zarrox_core::{Format, s};
    use zarrox_stores::{MemoryStore, Store};

    use super::*;
    use crate::copy::copier::Copier;
    use crate::copy::report::{Action, CopyReport};
    use zarrox::OpenOptions;

    fn converted(array: &Array, store: &Arc<dyn Store>, to: Format) -> (Array, CopyReport) {
        let made: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let plan = Copier::new().format(to).plan((store.clone(), ""), (made.clone(), "")).unwrap();
        let report = plan.run().unwrap();
        let copy = OpenOptions::new().open((made, "")).unwrap().into_array().unwrap();
        let (before, after) =
            (array.read::<zarrox::DynArray>(..).unwrap(), copy.read::<zarrox::DynArray>(..).unwrap());
        assert!(before.elements().eq(after.elements()));
        (copy, report)
    }

    fn three(attributes: &Json, fill: i16) -> (Array, Arc<dyn Store>) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let builder = OpenOptions::new().create_array((store.clone(), ""));
        let builder = builder.shape([4]).chunks([2]).data_type(DataType::Int16).dimension_names(["x"]);
        let attributes = attributes.as_object().cloned().unwrap_or_default();
        (builder.attributes(attributes).fill_value(fill).create().unwrap(), store)
    }

    #[test]
    fn what_is_not_missing_in_v3_is_not_in_v2() {
        let (array, store) = three(&json!({}), 7);
        array.write(.., ndarray::arr1(&[1_i16, 2, 3, 7])).unwrap();
        let (copy, report) = converted(&array, &store, Format::V2);
        assert_eq!(copy.metadata().fill_value, None);
        assert!(report.obstacles[0].reason.contains("null"), "{report}");
        assert_eq!(report.nodes[0].action, Action::CopyChunks);
        // Missing chunks are written, since null does not define their elements.
        array.raw().erase(&[1]).unwrap();
        let (copy, report) = converted(&array, &store, Format::V2);
        assert_eq!(copy.metadata().fill_value, None);
        assert!(copy.stored_size(&[1]).unwrap().is_some() && report.obstacles[0].reason.contains("written"));
        let kept = Copier::new().format(Format::V2).keep_fill_values(true);
        let made: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let report = kept.plan((store, ""), (made.clone(), "")).unwrap().run().unwrap();
        let copy = OpenOptions::new().open((made, "")).unwrap().into_array().unwrap();
        assert!(copy.metadata().fill_value.is_some() && report.obstacles[0].reason.contains("will mask"));
    }

    #[test]
    fn what_is_missing_in_v3_is_the_fill_value_of_v2_and_back() {
        for fill in [0_i16, -9] {
            let (array, store) = three(&json!({"_FillValue": -9}), fill);
            array.write(s![..2], ndarray::arr1(&[1_i16, -9])).unwrap();
            let (copy, _) = converted(&array, &store, Format::V2);
            assert_eq!(copy.fill_bytes().as_bytes(), (-9_i16).to_ne_bytes());
            assert!(!copy.attributes().contains_key(FILL_VALUE));
            assert_eq!(copy.stored_size(&[1]).unwrap().is_some(), fill == 0);
            let (back, report) = converted(&copy, &copy.location().store.clone(), Format::V3);
            assert_eq!(back.attributes()[FILL_VALUE], json!(-9));
            assert!(report.obstacles.iter().any(|found| found.reason.contains("gets the attribute")));
        }
    }

    #[test]
    fn attributes_have_the_form_of_their_type() {
        let registry = zarrox_codecs::registry();
        let attribute = |data_type: DataType, value: Json| {
            let fill = of_attribute(&data_type, &value, &registry)?;
            to_attribute(&data_type, &fill, &registry)
        };
        assert_eq!(attribute(DataType::Float32, json!("NaN")), Some(json!("AAAAAAAA+H8=")));
        assert_eq!(attribute(DataType::Float64, json!("AAAAAAAA+H8=")), Some(json!("AAAAAAAA+H8=")));
        assert_eq!(attribute(DataType::Float64, json!(0)), Some(json!("AAAAAAAAAAA=")));
        assert_eq!(attribute(DataType::Int8, json!(-1)), Some(json!(-1)));
        assert_eq!(attribute(DataType::Int8, json!("NaN")), None);
        assert_eq!(attribute(DataType::Bool, json!(true)), Some(json!(true)));
        assert_eq!(attribute(DataType::string(), json!("none")), None);
        let zero = json!(["AAAAAAAAAAA=", "AAAAAAAA+H8="]);
        assert_eq!(attribute(DataType::Complex64, zero.clone()), Some(zero));
    }

    #[test]
    fn text_that_xarray_masks_in_v2_is_marked_as_missing_in_v3() {
        for (own, expected) in [
            ("", "_FillValue: string"),
            ("k: byte", "k: byte; _FillValue: string"),
            ("_FillValue: string; k: byte", "_FillValue: string; k: byte"),
        ] {
            let own = json!({"_ARRAY_DIMENSIONS": ["x"], "_nc_types": own});
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let builder = OpenOptions::new().format(Format::V2).create_array((store.clone(), ""));
            let builder = builder.shape([1]).data_type(DataType::string());
            let array = builder.fill_value_json(json!("none")).attributes(own.as_object().unwrap().clone());
            let array = array.create().unwrap();
            assert_eq!(converted(&array, &store, Format::V3).0.attributes()[TYPES], json!(expected));
        }
    }

    #[test]
    fn missing_values_are_read_from_lists_of_one_element() {
        let (array, store) = three(&json!({"_FillValue": [[-9]]}), 0);
        array.write(.., ndarray::arr1(&[1_i16, 2, 3, -9])).unwrap();
        let (copy, _) = converted(&array, &store, Format::V2);
        assert_eq!(copy.fill_bytes().as_bytes(), (-9_i16).to_ne_bytes());
    }

    #[test]
    fn letters_that_netcdf_calls_missing_keep_their_fill_value() {
        let told = json!({"_nc_types": "units: string; _FillValue: char"});
        assert!(tells_missing(told.as_object().unwrap()));
        assert!(!tells_missing(json!({"_nc_types": "a_FillValue: char"}).as_object().unwrap()));
    }
}
