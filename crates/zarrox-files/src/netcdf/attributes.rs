//! The conversion of NetCDF and HDF5 attributes to Zarr.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::DataType;
use zarrox::data_type::Storage as Memory;
use zarrox::json::{Json, Map};
use zarrox_tools::copy::missing;

use super::types::{NcType, Types};
use super::{STORAGE, Storage, TYPE, TYPES, is_hint};
use crate::fill;

/// The attribute for additional missing values besides `_FillValue`.
const MISSING: &str = "missing_value";

/// The conventions of the source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Plain HDF5.
    Hdf5,
    /// NetCDF.
    NetCdf,
}

/// The attributes of an object, which are added one by one.
#[derive(Debug)]
pub(crate) struct Attributes<'d> {
    origin: Origin,
    /// The Zarr data type of the elements; `None` for a group.
    elements: Option<&'d DataType>,
    map: Map,
    /// The attribute types that must be recorded, by attribute name.
    types: Vec<(String, &'static str)>,
    fill: Option<Json>,
    /// True if the missing-value marker of strings becomes their fill value; false if the file defines another fill value.
    sets_fill: bool,
    /// The missing-value marker of strings, if it differs from the fill value.
    other_missing: Option<Json>,
    notes: Vec<String>,
    storage: Option<Storage>,
    user_type: Option<String>,
}

/// The converted attributes.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) attributes: Map,
    /// The value of `_FillValue` as a Zarr v3 fill value, if it becomes the fill value.
    pub(crate) fill: Option<Json>,
    /// Notes on changed attributes.
    pub(crate) notes: Vec<String>,
}

impl<'d> Attributes<'d> {
    /// Creates the attributes of an array with the given Zarr data type, or of a group.
    pub(crate) fn new(origin: Origin, elements: Option<&'d DataType>) -> Self {
        Self {
            origin,
            elements,
            map: Map::default(),
            types: Vec::new(),
            fill: None,
            sets_fill: false,
            other_missing: None,
            notes: Vec::new(),
            storage: None,
            user_type: None,
        }
    }

    /// Makes the missing-value marker of characters their fill value, for files that define no other fill values.
    pub(crate) fn setting_fill(self) -> Self {
        Self { sets_fill: true, ..self }
    }

    /// Adds an attribute. A 32-bit float, including infinity and NaN, is passed as the equal 64-bit float, and an
    /// attribute without a value as an empty list or an empty string. `of` is the type in the file; `None` for a
    /// user-defined type.
    ///
    /// If two attributes have the same name, the first one is kept. An attribute whose name has a special meaning for
    /// Zarrox or Zarr is dropped, since an export would interpret it.
    pub(crate) fn add(&mut self, name: &str, value: Json, of: Option<NcType>) {
        if is_hint(name) || (name == crate::ARRAY_DIMENSIONS && self.elements.is_some()) {
            let reason = "in Zarr, this name has a meaning of its own; rename it in the file to keep it";
            self.notes.push(format!("attribute '{name}' is dropped: {reason}"));
            return;
        }
        if self.map.contains_key(name) {
            self.notes.push(format!("attribute '{name}' occurs twice; the first one is kept"));
            return;
        }
        let value = match name {
            fill::FILL_VALUE if self.elements.is_some() => self.fill_value(&value, of),
            MISSING if self.elements.is_some() => self.missing(value),
            _ => Some(value),
        };
        let Some(value) = value else { return };
        let plain = value.without_tokens();
        if let Some(of) = of.filter(|_| name != fill::FILL_VALUE || self.elements.is_none()) {
            let own = self.elements.and_then(NcType::of_elements);
            let usual = match self.origin {
                Origin::NetCdf => NcType::usual(name, &plain, own),
                Origin::Hdf5 => NcType::usual_in_hdf5(name, &plain, own),
            };
            if usual != Some(of) {
                self.types.push((name.to_owned(), of.name()));
            }
        }
        self.map.insert(name.to_owned(), plain);
    }

    /// Returns true if the attributes belong to an array.
    #[cfg(feature = "hdf5")]
    pub(crate) fn is_of_array(&self) -> bool {
        self.elements.is_some()
    }

    /// Records the storage of the elements, whose total size is `bytes` bytes. `None` means filtered chunks.
    pub(crate) fn storage(&mut self, storage: Option<Storage>, bytes: u64) {
        let is_usual = storage == Some(Storage::Contiguous) && bytes <= Storage::SMALL;
        self.storage = storage.filter(|_| self.origin == Origin::NetCdf && !is_usual);
    }

    /// Records the name of the user-defined type of the elements.
    pub(crate) fn user_type(&mut self, name: impl Into<String>) {
        self.user_type = Some(name.into());
    }

    /// Records that the fill value of the elements is also their missing-value marker, which xarray cannot read from an
    /// attribute. `of` is the string type, or the class of a user-defined type.
    #[cfg(feature = "hdf5")]
    pub(crate) fn fill_is_missing(&mut self, of: &'static str) {
        self.types.push((fill::FILL_VALUE.to_owned(), of));
    }

    /// Returns the Zarr attributes.
    pub(crate) fn finish(mut self) -> Described {
        if let Some(value) = self.other_missing.take() {
            self.add_other_missing(value);
        }
        let mut attributes = self.map;
        if !self.types.is_empty() {
            attributes.insert(TYPES.to_owned(), Types::text(&self.types).into());
        }
        if let Some(storage) = self.storage {
            attributes.insert(STORAGE.to_owned(), storage.name().into());
        }
        if let Some(name) = self.user_type {
            attributes.insert(TYPE.to_owned(), name.into());
        }
        Described { attributes, fill: self.fill, notes: self.notes }
    }

    /// Returns the missing-value marker as xarray reads it from Zarr v3; `None` if the marker is dropped.
    fn fill_value(&mut self, value: &Json, of: Option<NcType>) -> Option<Json> {
        let elements = self.elements?;
        let value = missing::only(value).clone();
        if fill::is_text(elements) {
            self.text(value, of);
            return None;
        }
        if *elements == DataType::Bool && matches!(value.as_i64(), Some(0 | 1)) || value.as_bool().is_some() {
            return Some(value);
        }
        if !fill::is_number(elements) {
            // xarray cannot decode this attribute.
            let text = value.without_tokens();
            self.notes
                .push(format!("_FillValue {text} is dropped: it is not the fill value of the elements"));
            return None;
        }
        match fill::in_type(elements, &value) {
            Some(number) => {
                if NcType::of_elements(elements).is_some_and(|usual| of.is_some_and(|of| of != usual)) {
                    let text = value.without_tokens();
                    self.notes.push(format!("_FillValue {text} had another type than its variable"));
                }
                self.fill = Some(number.without_tokens());
                Some(fill::encoded(elements, number))
            }
            None => {
                let text = value.without_tokens();
                self.notes.push(format!("_FillValue {text} is ignored: {elements} cannot represent it"));
                None
            }
        }
    }

    /// Handles the missing-value marker of strings. xarray does not read it from an attribute, so it is only stored in
    /// the metadata.
    fn text(&mut self, value: Json, of: Option<NcType>) {
        if self.sets_fill {
            self.letter(&value, of);
        } else if value.is_string() {
            self.other_missing = Some(value);
        } else {
            self.notes.push(format!("_FillValue {} is dropped: it is not text", value.without_tokens()));
        }
    }

    /// Makes the missing-value marker of characters their fill value.
    fn letter(&mut self, value: &Json, of: Option<NcType>) {
        let size = self.elements.map_or(1, DataType::size);
        let bytes = value.as_str().and_then(latin);
        match bytes.filter(|bytes| bytes.len() <= size) {
            Some(mut bytes) => {
                bytes.resize(size, 0);
                self.fill = Some(STANDARD.encode(bytes).into());
                self.types.push((fill::FILL_VALUE.to_owned(), of.unwrap_or(NcType::Char).name()));
            }
            None => {
                self.notes.push(format!("_FillValue {value} is ignored: it is not text of {size} bytes"));
            }
        }
    }

    /// Adds the missing-value marker of strings whose fill value differs from it, under an attribute name that xarray reads.
    fn add_other_missing(&mut self, value: Json) {
        let what = format!("_FillValue {value} is not the fill value of the text");
        if self.map.contains_key(MISSING) {
            self.notes.push(format!("{what}; it is dropped, since there is an attribute {MISSING}"));
            return;
        }
        self.notes.push(format!("{what}; it becomes the attribute {MISSING}"));
        self.map.insert(MISSING.to_owned(), value);
    }

    /// Returns additional missing values without NaN. Integers have no NaN, and a list with NaN and other values would
    /// make xarray compare strings.
    fn missing(&mut self, value: Json) -> Option<Json> {
        let is_nan = |value: &Json| !value.as_f64().is_some_and(f64::is_finite) && value.is_number();
        let is_float = self.elements.is_some_and(|of| matches!(of.storage(), Memory::Float(_)));
        match value {
            Json::Array(list) if list.len() > 1 && list.iter().any(is_nan) => {
                self.notes.push("missing_value has NaN beside other values; NaN is dropped".to_owned());
                Some(list.into_iter().filter(|value| !is_nan(value)).collect())
            }
            value if is_nan(&value) && !is_float => {
                self.notes.push(format!(
                    "missing_value {} is ignored: integers have no NaN",
                    value.without_tokens()
                ));
                None
            }
            value => Some(value),
        }
    }
}

/// Encodes a string as Latin-1; `None` if it contains a character outside Latin-1.
fn latin(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::json::json;

    fn described(elements: &DataType, attributes: &[(&str, Json, NcType)]) -> Described {
        let mut all = Attributes::new(Origin::NetCdf, Some(elements));
        for (name, value, of) in attributes {
            all.add(name, value.clone(), Some(*of));
        }
        all.finish()
    }

    #[test]
    fn types_that_an_export_would_not_choose_are_told() {
        let list = [
            ("units", json!("K"), NcType::Char),
            ("number", json!(1), NcType::Int),
            ("valid_range", json!([0, 1]), NcType::Int),
            ("valid_min", json!(0), NcType::Short),
            ("scale_factor", json!(0.5), NcType::Float),
            ("name", json!("x"), NcType::String),
        ];
        let found = described(&DataType::Int16, &list).attributes;
        assert_eq!(found[TYPES], json!("valid_range: int; scale_factor: float; name: string"));
        let mut plain = Attributes::new(Origin::Hdf5, None);
        for (name, value, of) in [
            ("number", json!(1), NcType::Short),
            ("long", json!(1), NcType::Int64),
            ("name", json!("x"), NcType::String),
            ("fixed", json!(["x"]), NcType::Char),
            ("float", json!(0.5), NcType::Double),
        ] {
            plain.add(name, value, Some(of));
        }
        assert_eq!(plain.finish().attributes[TYPES], json!("number: short; fixed: char"));
    }

    #[test]
    fn what_is_not_a_number_is_text_with_a_type() {
        let nan = Json::from(f64::NAN);
        let list = [
            ("missing_value", nan.clone(), NcType::Float),
            ("comment", nan.clone(), NcType::Double),
            ("actual_range", Json::Array(vec![nan.clone(), json!(1.5)]), NcType::Float),
        ];
        let found = described(&DataType::Float32, &list);
        assert_eq!(found.attributes["missing_value"], json!("NaN"));
        assert_eq!(found.attributes["actual_range"], json!(["NaN", 1.5]));
        assert_eq!(found.attributes[TYPES], json!("comment: double; actual_range: float"));
        let mut plain = Attributes::new(Origin::Hdf5, None);
        plain.add("number", nan.clone(), Some(NcType::Float));
        assert_eq!(plain.finish().attributes[TYPES], json!("number: float"));
        let both = [("missing_value", Json::Array(vec![json!(1.0), nan]), NcType::Float)];
        let found = described(&DataType::Float32, &both);
        assert_eq!(found.attributes["missing_value"], json!([1.0]));
        assert_eq!(found.notes.len(), 1);
    }

    #[test]
    fn missing_values_are_those_that_the_type_has() {
        let fill = |elements: &DataType, value: Json, of| described(elements, &[("_FillValue", value, of)]);
        let found = fill(&DataType::Int16, f64::NAN.into(), NcType::Double);
        assert!(found.attributes.is_empty() && found.fill.is_none() && found.notes.len() == 1);
        let found = fill(&DataType::Int16, json!([-999.0]), NcType::Double);
        assert_eq!((&found.attributes["_FillValue"], found.fill), (&json!(-999), Some(json!(-999))));
        let found = fill(&DataType::Float32, f64::NAN.into(), NcType::Float);
        assert_eq!(
            (&found.attributes["_FillValue"], found.fill),
            (&json!("AAAAAAAA+H8="), Some(json!("NaN")))
        );
        let letter = zarrox::DataType::parse("|S1", &zarrox::codecs::registry()).unwrap();
        let mut all = Attributes::new(Origin::NetCdf, Some(&letter)).setting_fill();
        all.add("_FillValue", json!("-"), Some(NcType::Char));
        all.add("missing_value", json!("*"), Some(NcType::Char));
        let found = all.finish();
        assert_eq!(found.fill, Some(json!("LQ==")));
        assert_eq!(found.attributes["missing_value"], json!("*"));
        assert_eq!(found.attributes.get("_FillValue"), None);
        assert_eq!(found.attributes[TYPES], json!("_FillValue: char"));
        let half = [("missing_value", json!(-9.0), NcType::Double)];
        assert_eq!(described(&DataType::Float16, &half).attributes["missing_value"], json!(-9.0));
    }

    #[test]
    fn xarray_can_read_the_missing_values_of_all_types() {
        let fill = |elements: &DataType, value: Json, of| described(elements, &[("_FillValue", value, of)]);
        let found = fill(&DataType::string(), json!("none"), NcType::String);
        assert_eq!(found.attributes, [("missing_value".to_owned(), json!("none"))].into_iter().collect());
        assert!(found.notes[0].contains("becomes the attribute missing_value"), "{:?}", found.notes);
        let both = [("_FillValue", json!("a"), NcType::String), ("missing_value", json!("b"), NcType::Char)];
        let found = described(&DataType::string(), &both);
        assert!(found.attributes["missing_value"] == json!("b") && found.notes.len() == 1);
        let found = fill(&DataType::Complex64, json!({"r": 0, "i": 1}), NcType::Float);
        assert!(found.attributes.is_empty() && found.notes.len() == 1);
        assert_eq!(fill(&DataType::Bool, json!(true), NcType::Byte).attributes["_FillValue"], json!(true));
    }

    #[test]
    fn a_missing_value_of_a_group_has_a_type() {
        let mut group = Attributes::new(Origin::NetCdf, None);
        group.add("_FillValue", json!(-999.0), Some(NcType::Float));
        let found = group.finish().attributes;
        assert_eq!((&found["_FillValue"], &found[TYPES]), (&json!(-999.0), &json!("_FillValue: float")));
    }
}
