//! Structured types: elements with named fields. v3 `struct` (and `structured`, an older name that is read but not written); v2's
//! lists of fields.
//!
//! v2 has NumPy's structured types: fields may be nested, may be arrays of a fixed shape, may have their own byte orders, and may
//! have padding between them. v3's `struct` has nested fields without padding. In memory, a structured element has the layout of
//! v2 or v3, with its numbers in native byte order.

use std::sync::Arc;

use crate::json::json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::model::{Builder, count};
use super::{ByteOrder, DataType, Endian, Family, Field, KnownTypes, Structure, bad_fill};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

const NAME: &str = "struct";
const LEGACY: &str = "structured";

/// The family of structured types. Fields can have any type in the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Structures<'r>(pub(crate) &'r dyn KnownTypes);

impl Structures<'_> {
    /// Returns the type that a v2 list of fields describes, with the byte order if any field has one.
    pub(crate) fn parse_fields(self, fields: &[Json]) -> Result<(DataType, Option<ByteOrder>)> {
        let mut builder = Builder::default();
        let mut endians = Vec::new();
        for field in fields {
            let (name, dtype, shape) = v2_field(field)?;
            let (data_type, order) =
                self.0.type_from_v2(dtype).map_err(|e| e.at(format!("field '{name}'")))?;
            if name.is_empty() {
                builder.pad(count(&shape).saturating_mul(data_type.size()))?;
                continue;
            }
            let leaves = builder.leaves.len();
            builder.push(name, data_type, shape)?;
            let ordered = builder.leaves[leaves..].iter().filter(|leaf| leaf.word > 1).count();
            match order {
                None => endians.extend(std::iter::repeat_n(Endian::Little, ordered)),
                Some(ByteOrder::One(endian)) => endians.extend(std::iter::repeat_n(endian, ordered)),
                Some(ByteOrder::Each(each)) => endians.extend(each.iter().cycle().take(ordered)),
            }
        }
        let order = match endians.first() {
            None => None,
            Some(&first) if endians.iter().all(|&endian| endian == first) => Some(ByteOrder::One(first)),
            Some(_) => Some(ByteOrder::Each(endians)),
        };
        Ok((DataType::Struct(Arc::new(builder.finish()?)), order))
    }

    /// Returns the list of fields in v2 form.
    pub(crate) fn fields_to_v2(self, structure: &Structure, order: &ByteOrder) -> Result<Json> {
        let mut rest = match order {
            ByteOrder::One(_) => &[],
            ByteOrder::Each(each) => each.as_slice(),
        };
        let mut list = Vec::new();
        let mut end = 0;
        for field in structure.fields() {
            list.extend(padding(field.offset - end));
            end = field.offset + field.size();
            let own = field.data_type.storage().leaves().iter().filter(|leaf| leaf.word > 1).count();
            let own_order = match order {
                ByteOrder::One(endian) => ByteOrder::One(*endian),
                ByteOrder::Each(_) => narrowed(rest.get(..own).unwrap_or_default()),
            };
            let all = match field.data_type {
                DataType::Struct(_) => own * field.count(),
                _ => own.min(field.count()),
            };
            rest = rest.get(all..).unwrap_or_default();
            let dtype = self.0.type_to_v2(&field.data_type, &own_order)?;
            list.push(match field.shape.is_empty() {
                true => json!([field.name, dtype]),
                false => json!([field.name, dtype, field.shape]),
            });
        }
        list.extend(padding(structure.layout().size - end));
        Ok(list.into())
    }

    fn parse_v3_fields(self, configuration: &Map, legacy: bool) -> Result<DataType> {
        let fields = configuration.get("fields").and_then(Json::as_array);
        let fields = fields.filter(|_| configuration.len() == 1).ok_or_else(|| {
            Error::metadata(
                "the configuration of a structure must be {\"fields\": […]} without other members",
            )
        })?;
        let mut builder = Builder::default();
        for field in fields {
            let parts = if legacy { pair(field) } else { named(field) };
            let (name, json) = parts.ok_or_else(|| {
                let wanted =
                    if legacy { "a name and a type" } else { "an object with a name and a data_type" };
                Error::metadata(format!("the field {field} of a structure must be {wanted}"))
            })?;
            let data_type = match self.0.type_from_v3(json) {
                Err(_) if legacy => self.0.type_from_v2(json).map(|(data_type, _)| data_type),
                result => result,
            };
            let data_type = data_type.map_err(|error| error.at(format!("field '{name}'")))?;
            builder.push(name.to_owned(), data_type, Vec::new())?;
        }
        Ok(DataType::Struct(Arc::new(builder.finish()?)))
    }

    /// Calls `work` with each element of each field, and its range in the structured element.
    fn each<T>(
        self,
        structure: &Structure,
        mut work: impl FnMut(&Field, &dyn Family, usize) -> Result<T>,
    ) -> Result<Vec<Vec<T>>> {
        let mut all = Vec::new();
        for field in structure.fields() {
            let family = self.0.family_of(&field.data_type)?;
            let item = field.data_type.size();
            let elements = (0..field.count()).map(|index| work(field, &*family, field.offset + index * item));
            all.push(elements.collect::<Result<Vec<T>>>()?);
        }
        Ok(all)
    }

    fn fill_from_object(self, structure: &Structure, map: &Map, strictness: Strictness) -> Result<FillValue> {
        let mut bytes = vec![0; structure.layout().size];
        if let Some(unknown) = map.keys().find(|name| !structure.fields().iter().any(|f| f.name == **name)) {
            return Err(Error::metadata(format!(
                "fill_value has the member '{unknown}', but the structure has no such field"
            )));
        }
        for field in structure.fields() {
            let family = self.0.family_of(&field.data_type)?;
            let value = match map.get(&field.name) {
                Some(json) if field.shape.is_empty() => family
                    .fill_from_json(&field.data_type, json, strictness)
                    .map_err(|error| error.at(format!("field '{}'", field.name)))?,
                Some(_) => return Err(Error::unsupported("a fill value of a field that is an array")),
                None if strictness == Strictness::Lenient => family.default_fill(&field.data_type),
                None => return Err(Error::metadata(format!("fill_value lacks the field '{}'", field.name))),
            };
            let item = field.data_type.size();
            for index in 0..field.count() {
                bytes[field.offset + index * item..][..item].copy_from_slice(value.as_bytes());
            }
        }
        Ok(FillValue::new(bytes))
    }
}

/// Returns a padding field in v2 form, if there is padding.
fn padding(bytes: usize) -> Option<Json> {
    (bytes > 0).then(|| json!(["", format!("|V{bytes}")]))
}

/// Returns the simplest equivalent byte order.
fn narrowed(endians: &[Endian]) -> ByteOrder {
    match endians {
        [] => ByteOrder::One(Endian::NATIVE),
        [first, rest @ ..] if rest.iter().all(|endian| endian == first) => ByteOrder::One(*first),
        each => ByteOrder::Each(each.to_vec()),
    }
}

/// Parses `[name, dtype]` or `[name, dtype, shape]`; the name may be a pair of a title and a name.
fn v2_field(json: &Json) -> Result<(String, &Json, Vec<usize>)> {
    let wrong = || {
        Error::metadata(format!(
            "the field {json} of a structure must be [name, dtype] or [name, dtype, shape]"
        ))
    };
    let (name, dtype, shape) = match json.as_array().map(Vec::as_slice) {
        Some([name, dtype]) => (name, dtype, None),
        Some([name, dtype, shape]) => (name, dtype, Some(shape)),
        _ => return Err(wrong()),
    };
    let name = match name {
        Json::Array(both) => both.get(1),
        name => Some(name),
    };
    let length = |json: &Json| json.as_u64().and_then(|n| usize::try_from(n).ok());
    let shape = match shape {
        None => Some(Vec::new()),
        Some(Json::Array(lengths)) => lengths.iter().map(length).collect(),
        Some(single) => length(single).map(|length| vec![length]),
    };
    let name = name.and_then(Json::as_str).ok_or_else(wrong)?;
    Ok((name.to_owned(), dtype, shape.ok_or_else(wrong)?))
}

fn named(field: &Json) -> Option<(&str, &Json)> {
    let map = field.as_object().filter(|map| map.len() == 2)?;
    Some((map.get("name")?.as_str()?, map.get("data_type")?))
}

fn pair(field: &Json) -> Option<(&str, &Json)> {
    match field.as_array()?.as_slice() {
        [name, data_type] => Some((name.as_str()?, data_type)),
        _ => None,
    }
}

impl Family for Structures<'_> {
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>> {
        match name {
            NAME => Some(self.parse_v3_fields(configuration, false)),
            LEGACY => Some(self.parse_v3_fields(configuration, true)),
            _ => None,
        }
    }

    fn examples(&self) -> Vec<DataType> {
        let fields = [("x", DataType::Float32), ("y", DataType::Int16)];
        Structure::packed(fields).map(|structure| DataType::Struct(Arc::new(structure))).into_iter().collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.fields().is_some()
    }

    fn to_v3(&self, data_type: &DataType) -> Result<Json> {
        let structure = data_type.fields().ok_or_else(|| Error::argument("the type has no fields"))?;
        if structure.is_padded() {
            let message = "Zarr v3 has no padding between the fields of a structure; create the array as v2";
            return Err(Error::unsupported(message));
        }
        let fields = structure.fields().iter().map(|field| {
            if !field.shape.is_empty() {
                let message = format!(
                    "Zarr v3 does not support fields that are arrays, such as '{}'; create the array as v2",
                    field.name
                );
                return Err(Error::unsupported(message));
            }
            let data_type = self.0.family_of(&field.data_type)?.to_v3(&field.data_type)?;
            Ok(json!({"name": field.name, "data_type": data_type}))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        Ok(json!({"name": NAME, "configuration": {"fields": fields}}))
    }

    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        self.0.type_to_v2(data_type, &ByteOrder::One(endian))
    }

    /// Parses v3's object with a value for each field, or the base64 encoding of the stored bytes, as in v2 and in v3's older
    /// `structured`.
    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let structure = data_type.fields().ok_or_else(|| Error::argument("the type has no fields"))?;
        match json {
            Json::Object(map) => self.fill_from_object(structure, map, strictness),
            Json::String(text) => match STANDARD.decode(text) {
                Ok(bytes) if bytes.len() == data_type.size() => Ok(FillValue::new(bytes)),
                _ => Err(bad_fill(data_type, json, &format!("the base64 of {} bytes", data_type.size()))),
            },
            Json::Number(number) if strictness == Strictness::Lenient && number.as_u64() == Some(0) => {
                Ok(FillValue::zero(data_type.size()))
            }
            _ => Err(bad_fill(data_type, json, "an object with a value for each field, or base64")),
        }
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let Some(structure) = data_type.fields() else { return Json::Null };
        let value = |field: &Field, family: &dyn Family, at: usize| {
            let bytes = &fill.as_bytes()[at..][..field.data_type.size()];
            Ok(family.fill_to_v3(&field.data_type, &FillValue::new(bytes)))
        };
        let Ok(values) = self.each(structure, value) else { return Json::Null };
        let members = structure.fields().iter().zip(values);
        let members = members.map(|(field, values)| (field.name.clone(), lists(&field.shape, &values)));
        Json::Object(members.collect())
    }

    fn fill_to_v2(&self, _: &DataType, fill: &FillValue) -> Json {
        STANDARD.encode(fill.as_bytes()).into()
    }

    /// Formats an element as NumPy does: `(1, 2.5)`, with `[1, 2]` for a field that is an array.
    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        let Some(structure) = data_type.fields() else { return String::new() };
        let value = |field: &Field, family: &dyn Family, at: usize| {
            let text = family.format(&field.data_type, &element[at..][..field.data_type.size()]);
            Ok(if super::time::is_time(&field.data_type, &text) { format!("'{text}'") } else { text })
        };
        let Ok(values) = self.each(structure, value) else { return String::new() };
        let fields = structure.fields().iter().zip(values);
        let shown: Vec<String> = fields.map(|(field, values)| nested(&field.shape, &values)).collect();
        let comma = if shown.len() == 1 { "," } else { "" };
        format!("({}{comma})", shown.join(", "))
    }
}

/// Formats the elements of an array in brackets.
fn nested(shape: &[usize], values: &[String]) -> String {
    match shape {
        [] => values.first().cloned().unwrap_or_default(),
        _ if values.is_empty() => "[]".to_owned(),
        [_, rest @ ..] => {
            let length = count(rest).max(1);
            let parts: Vec<String> = values.chunks(length).map(|part| nested(rest, part)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// Returns the elements of an array as nested lists.
fn lists(shape: &[usize], values: &[Json]) -> Json {
    match shape {
        [] => values.first().cloned().unwrap_or_default(),
        [_, rest @ ..] => {
            let length = count(rest).max(1);
            values.chunks(length).map(|part| lists(rest, part)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::Leaf;
    use crate::registry::Registry;

    fn from_v2(json: &Json) -> Result<(DataType, Option<ByteOrder>)> {
        Registry::new().data_type_from_v2(json)
    }

    #[test]
    fn v2_lists_survive() {
        let lists = [
            json!([["a", "<i4"], ["b", "|S3"]]),
            json!([["a", ">i4"], ["b", ">f8"]]),
            json!([["a", "<i4"], ["b", ">f8"], ["c", "|u1"]]),
            json!([["r", "|u1"], ["", "|V3"], ["d", "<i4"], ["", "|V2"]]),
            json!([["a", "<i2", [2, 3]], ["p", [["x", ">f4"], ["y", "<f4"]]]]),
            json!([["p", [["x", ">f4"], ["y", "<f4"]], [2]], ["z", "<M8[ns]"]]),
            json!([["a", ">i2"], ["e", "<i4", [0]], ["b", "<i4"]]),
        ];
        let registry = Registry::new();
        for list in lists {
            let (data_type, order) = from_v2(&list).unwrap();
            assert_eq!(registry.data_type_to_v2(&data_type, &order.unwrap()).unwrap(), list);
        }
    }

    #[test]
    fn leaves_know_what_is_swapped() {
        let list = json!([["a", ">i2"], ["", "|V2"], ["b", "<c8"], ["c", ">i4", [2]], ["d", "|S2"]]);
        let (data_type, order) = from_v2(&list).unwrap();
        let swapped = order.unwrap().swapped(&data_type.storage());
        let native_is_little = Endian::NATIVE == Endian::Little;
        let big = [Leaf { offset: 0, size: 2, word: 2 }, Leaf { offset: 12, size: 8, word: 4 }];
        assert_eq!(swapped == big, native_is_little, "{swapped:?}");
        assert_eq!(data_type.size(), 22);
        let mut fields: Vec<Json> = (0..1000).map(|n| json!([n.to_string(), "<i2", [0]])).collect();
        fields.push(json!(["x", "|u1"]));
        let (data_type, _) = from_v2(&json!([["many", fields, [1 << 16]]])).unwrap();
        assert_eq!(data_type.storage().leaves().len(), 1 << 16, "arrays without elements have none");
    }

    #[test]
    fn v3_types_survive_and_say_what_they_cannot_say() {
        let registry = Registry::new();
        let v3 = json!({"name": "struct", "configuration": {"fields": [
            {"name": "a", "data_type": "int32"},
            {"name": "b", "data_type": {"name": "struct", "configuration": {"fields": [
                {"name": "t", "data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}},
            ]}}},
        ]}});
        let data_type = registry.data_type_from_v3(&v3).unwrap();
        let family = registry.family(&data_type).unwrap();
        assert_eq!(family.to_v3(&data_type).unwrap(), v3);
        let fill = json!({"a": 7, "b": {"t": "NaT"}});
        let value = family.fill_from_json(&data_type, &fill, Strictness::Strict).unwrap();
        assert_eq!(family.fill_to_v3(&data_type, &value), fill);
        assert_eq!(family.format(&data_type, value.as_bytes()), "(7, ('NaT',))");
        let legacy =
            json!({"name": "structured", "configuration": {"fields": [["a", "int32"], ["b", "float64"]]}});
        let legacy = registry.data_type_from_v3(&legacy).unwrap();
        assert_eq!(legacy.fields().unwrap().fields()[1].offset, 4);
        for (list, what) in
            [(json!([["a", "<i4", [2]]]), "arrays"), (json!([["a", "|u1"], ["", "|V1"]]), "padding")]
        {
            let (data_type, _) = from_v2(&list).unwrap();
            let error = registry.family(&data_type).unwrap().to_v3(&data_type).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn arrays_inside_are_nested_lists_in_json() {
        let (data_type, _) =
            from_v2(&json!([["m", "|u1", [2, 3]], ["s", "|u1", [1]], ["x", "|i1"]])).unwrap();
        let element = FillValue::new([1, 2, 3, 4, 5, 6, 7, 255]);
        let registry = Registry::new();
        let json = registry.family(&data_type).unwrap().fill_to_v3(&data_type, &element);
        assert_eq!(json, json!({"m": [[1, 2, 3], [4, 5, 6]], "s": [7], "x": -1}));
        let long = 1_u64 << 40;
        for hostile in [json!([0, long, long]), json!([long, long, 0])] {
            let (hostile, _) = from_v2(&json!([["e", "|u1", hostile], ["x", "|i1"]])).unwrap();
            let family = registry.family(&hostile).unwrap();
            assert_eq!(family.fill_to_v3(&hostile, &FillValue::new([1])), json!({"e": [], "x": 1}));
            assert_eq!(family.format(&hostile, &[1]), "([], 1)");
        }
    }

    #[test]
    fn fill_values_are_base64_in_v2() {
        let registry = Registry::new();
        let (data_type, _) = from_v2(&json!([["a", "<i2"], ["b", "|u1"]])).unwrap();
        let family = registry.family(&data_type).unwrap();
        let fill = family.fill_from_json(&data_type, &json!("AQAC"), Strictness::Strict).unwrap();
        assert_eq!(fill.as_bytes(), [1, 0, 2]);
        assert_eq!(family.fill_to_v2(&data_type, &fill), json!("AQAC"));
        for bad in [json!("AQ=="), json!(1), json!([1, 2]), json!({"a": 1}), json!({"a": 1, "b": 2, "c": 3})]
        {
            assert!(family.fill_from_json(&data_type, &bad, Strictness::Strict).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields_are_found_also_inside() {
        let (data_type, _) = from_v2(&json!([["a", "<i2"], ["p", [["x", "<f4"], ["y", "<f8"]]]])).unwrap();
        let structure = data_type.fields().unwrap();
        assert_eq!(structure.field("p.y").unwrap().offset, 6);
        assert!(structure.field("p.z").is_none());
        let (chosen, fields) = structure.select(&["p.y", "a"]).unwrap();
        assert_eq!((chosen.layout().size, fields[0].offset, fields[1].offset), (10, 6, 0));
        assert!(structure.select(&["q"]).unwrap_err().to_string().contains("the fields are a, p"));
    }

    #[test]
    fn broken_structures_are_refused() {
        let bad = [
            json!([]),
            json!([["", "|V4"]]),
            json!([["a"]]),
            json!([["a", "<i4"], ["a", "<i4"]]),
            json!([[1, "<i4"]]),
            json!([["a", "|O"]]),
            json!([["a", "<i4", [-1]]]),
            json!([["a", "<i4", [1_u64 << 40, 1_u64 << 40]]]),
            json!([["a", "<i4"], ["", "|V1", [1_u64 << 40, 1_u64 << 40]]]),
            json!([["a", "<q9"]]),
        ];
        for list in bad {
            assert!(from_v2(&list).is_err(), "{list}");
        }
    }
}
