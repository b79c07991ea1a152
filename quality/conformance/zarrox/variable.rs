//! Elements of variable length: the counterpart of `quality/conformance/variable.py`, which describes them.

use zarrox::DataType;
use zarrox::internals::msgpack;
use zarrox::json::Json;
use zarrox_core::json::json;

use crate::cell::Cell;
use crate::elements::{code_point, elements, word};
use crate::failure::Failure;

/// The maximum length of a text, number of bytes, and length of an array, of one element.
const LONGEST: u64 = 12;
const MOST_NUMBERS: u64 = 4;

/// The size of an element in the model, in bytes: its seed and its index, from which it is generated on demand.
pub(crate) const HANDLE: usize = 16;

/// The seed of the fill value, which no step uses.
const FILL: u64 = u64::MAX;

/// The kind of an array's elements.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    kind: Kind,
    fill: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Kind {
    Text,
    Bytes,
    Json,
    Labels(Vec<String>),
    Array(DataType),
}

impl Variable {
    /// Creates the generator of a cell's elements; `None` if they have a fixed size.
    pub(crate) fn new(cell: &Cell, data_type: &DataType) -> Result<Option<Self>, Failure> {
        let Some(kind) = cell.elements.as_deref() else { return Ok(None) };
        let kind = match kind {
            "text" => Kind::Text,
            "bytes" => Kind::Bytes,
            "json" => Kind::Json,
            "labels" => Kind::Labels(cell.labels.clone()),
            _ => Kind::Array(data_type.vlen_item().ok_or("the elements are not arrays")?),
        };
        let fill = match (&kind, &cell.fill_element, &cell.fill_value) {
            (Kind::Json, _, json) => message(json)?,
            (_, Some(bytes), _) => bytes.clone(),
            (_, _, Json::String(text)) => text.clone().into_bytes(),
            _ => Vec::new(),
        };
        Ok(Some(Self { kind, fill }))
    }

    pub(crate) fn fill(&self) -> &[u8] {
        &self.fill
    }

    /// Returns the handle of the fill value.
    pub(crate) fn fill_handle() -> Vec<u8> {
        [FILL.to_le_bytes(), [0; 8]].concat()
    }

    /// Returns the handles of the elements of a whole array.
    pub(crate) fn handles(count: usize, seed: u64) -> Vec<u8> {
        (0..count as u64).flat_map(|index| [seed.to_le_bytes(), index.to_le_bytes()].concat()).collect()
    }

    /// Returns the bytes of an element in the library's form.
    pub(crate) fn element(&self, handle: &[u8]) -> Result<Vec<u8>, Failure> {
        let (seed, index) = handle.split_at(8);
        let (seed, index) = (u64::from_le_bytes(seed.try_into()?), u64::from_le_bytes(index.try_into()?));
        if seed == FILL {
            return Ok(self.fill.clone());
        }
        let own = word(seed, index);
        Ok(match &self.kind {
            Kind::Text => text(seed, index).into_bytes(),
            Kind::Bytes => {
                parts(seed, index, LONGEST).map(|(seed, at)| word(seed, at).to_le_bytes()[0]).collect()
            }
            Kind::Json => message(&json_value(own, text(seed, index)))?,
            Kind::Labels(labels) => {
                let choice = usize::try_from(own % (labels.len() as u64 + 1))?;
                labels.get(choice).cloned().unwrap_or_default().into_bytes()
            }
            Kind::Array(item) => {
                let range = parts(seed, index, MOST_NUMBERS);
                let count = range.count();
                let first = usize::try_from(index * MOST_NUMBERS)?;
                let all = elements(item, u64::MAX, first + count, seed + 1);
                all[first * item.size()..].to_vec()
            }
        })
    }

    /// Returns true if two elements are equal: objects may have their members in any order.
    pub(crate) fn same(&self, a: &[u8], b: &[u8]) -> Result<bool, Failure> {
        Ok(match self.kind {
            Kind::Json => msgpack::to_json(a)? == msgpack::to_json(b)?,
            _ => a == b,
        })
    }
}

/// Returns the seed and the positions of the words of an element's parts.
fn parts(seed: u64, index: u64, longest: u64) -> impl Iterator<Item = (u64, u64)> {
    let length = word(seed, index) % (longest + 1);
    (0..length).map(move |part| (seed + 1, index * longest + part))
}

fn text(seed: u64, index: u64) -> String {
    let points = parts(seed, index, LONGEST).map(|(seed, at)| code_point(word(seed, at)));
    points.filter_map(|point| char::from_u32(u32::try_from(point).ok()?)).collect()
}

fn message(json: &Json) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    msgpack::from_json(json, &mut bytes)?;
    Ok(bytes)
}

fn json_value(word: u64, text: String) -> Json {
    let eighths = i32::try_from(word % 4096).unwrap_or_default();
    match (word >> 3) % 7 {
        0 => Json::Null,
        1 => word.is_multiple_of(2).into(),
        2 => word.into(),
        3 => ((word >> 2).cast_signed() - (1 << 61)).into(),
        4 => (f64::from(eighths) / 8.0 - 100.0).into(),
        5 => text.into(),
        _ => json!({"text": text, "": [word % 1000, null, [], {"deep": [text, -0.5]}]}),
    }
}
