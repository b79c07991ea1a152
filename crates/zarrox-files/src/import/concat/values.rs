//! Coordinate values, and comparisons of arrays.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;

use zarrox::data_type::{Casting, Storage};
use zarrox::{Array, DataType, DimSelection, DynArray, Result};

use crate::chunks::each_position;
use crate::input::unsupported;
use crate::times::Shift;

/// The maximum number of chunks in arrays that are compared.
const MOST_CHUNKS: u64 = 1 << 24;

/// The values of a coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Integers and times.
    Whole(Vec<i128>),
    /// Floats.
    Float(Vec<f64>),
    /// Strings.
    Text(Vec<String>),
}

impl Values {
    /// Returns the elements of an array as comparable values; `None` if their type has no order.
    pub(crate) fn of(elements: &DynArray) -> Option<Self> {
        match elements.data_type().storage() {
            Storage::Int(_) | Storage::Uint(_) => integers(elements).map(Self::Whole),
            Storage::Float(_) => {
                let registry = zarrox::codecs::registry();
                let wide = elements.cast(&DataType::Float64, Casting::Exact, &registry).ok()?;
                Some(Self::Float(wide.to().ok()?))
            }
            _ => Some(Self::Text(elements.to().ok()?)),
        }
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Compares the value at `index` with the value of `other` at `of_other`; `None` if they cannot be compared.
    pub(crate) fn compare(&self, index: usize, other: &Self, of_other: usize) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(own), Self::Whole(other)) => Some(own.get(index)?.cmp(other.get(of_other)?)),
            (Self::Float(own), Self::Float(other)) => own.get(index)?.partial_cmp(other.get(of_other)?),
            (Self::Text(own), Self::Text(other)) => Some(own.get(index)?.cmp(other.get(of_other)?)),
            _ => None,
        }
    }

    /// Returns the order of the values: `Less` if they are ascending, `Greater` if they are descending, `Equal` if there
    /// are fewer than two values, and `None` otherwise.
    pub(crate) fn order(&self) -> Option<Ordering> {
        let is_number = !matches!(self, Self::Float(values) if values.iter().any(|value| value.is_nan()));
        if !is_number {
            return None;
        }
        if self.len() < 2 {
            return Some(Ordering::Equal);
        }
        let first = self.compare(0, self, 1).filter(|order| order.is_ne())?;
        (1..self.len()).all(|index| self.compare(index - 1, self, index) == Some(first)).then_some(first)
    }

    /// Converts times; `None` if a value cannot be converted exactly.
    pub(crate) fn shifted(&self, shift: Shift) -> Option<Self> {
        Some(match self {
            Self::Whole(values) => {
                Self::Whole(values.iter().map(|&value| shift.whole(value)).collect::<Option<_>>()?)
            }
            Self::Float(values) => {
                Self::Float(values.iter().map(|&value| shift.float(value)).collect::<Option<_>>()?)
            }
            Self::Text(_) => return None,
        })
    }

    /// Formats a value.
    pub(crate) fn shown(&self, index: usize) -> String {
        let shown = match self {
            Self::Whole(values) => values.get(index).map(i128::to_string),
            Self::Float(values) => values.get(index).map(f64::to_string),
            Self::Text(values) => values.get(index).map(|text| format!("'{text}'")),
        };
        shown.unwrap_or_default()
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            0 => f.write_str("nothing"),
            1 => f.write_str(&self.shown(0)),
            count => write!(f, "{} to {}", self.shown(0), self.shown(count - 1)),
        }
    }
}

/// Returns the elements of an integer type as `i128`.
fn integers(elements: &DynArray) -> Option<Vec<i128>> {
    let storage = elements.data_type().storage();
    let one = |bytes: &[u8]| {
        Some(match storage {
            Storage::Int(1) => i8::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Int(2) => i16::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Int(4) => i32::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Int(8) => i64::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Uint(1) => u8::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Uint(2) => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Uint(4) => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
            Storage::Uint(8) => u64::from_ne_bytes(bytes.try_into().ok()?).into(),
            _ => return None,
        })
    };
    elements.elements().map(one).collect()
}

/// Encodes an integer in the given storage type; `None` if it does not fit.
fn bytes_of(value: i128, storage: &Storage) -> Option<Vec<u8>> {
    Some(match storage {
        Storage::Int(1) => i8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Int(2) => i16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Int(4) => i32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Int(8) => i64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Uint(1) => u8::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Uint(2) => u16::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Uint(4) => u32::try_from(value).ok()?.to_ne_bytes().to_vec(),
        Storage::Uint(8) => u64::try_from(value).ok()?.to_ne_bytes().to_vec(),
        _ => return None,
    })
}

/// Converts the times in an array, except missing values.
///
/// The fill value is left unchanged if `is_missing` is true or if it cannot be converted. Otherwise it is converted,
/// because the usual fill value, 0, is a valid time.
pub(crate) fn shifted(elements: &DynArray, shift: Shift, fill: &[u8], is_missing: bool) -> Result<DynArray> {
    let storage = elements.data_type().storage();
    let inexact = || unsupported("a time has no exact value in the units of the first file");
    let one = |bytes: &[u8], whole: Option<i128>| -> Option<Vec<u8>> {
        if bytes == fill && is_missing {
            return Some(bytes.to_vec());
        }
        let converted = match (&storage, whole) {
            (_, Some(whole)) => bytes_of(shift.whole(whole)?, &storage),
            (Storage::Float(8), _) => {
                let value = f64::from_ne_bytes(bytes.try_into().ok()?);
                Some(shift.float(value)?.to_ne_bytes().to_vec())
            }
            (Storage::Float(4), _) => {
                let value = f32::from_ne_bytes(bytes.try_into().ok()?);
                let wide = shift.float(value.into())?;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the result is compared with the original"
                )]
                let narrow = wide as f32;
                (f64::from(narrow) == wide || wide.is_nan()).then(|| narrow.to_ne_bytes().to_vec())
            }
            _ => None,
        };
        converted.or_else(|| (bytes == fill).then(|| bytes.to_vec()))
    };
    let whole = integers(elements);
    let converted = elements
        .elements()
        .enumerate()
        .map(|(index, bytes)| one(bytes, whole.as_ref().and_then(|whole| whole.get(index).copied())));
    let converted: Option<Vec<Vec<u8>>> = converted.collect();
    DynArray::from_elements(
        elements.data_type().clone(),
        elements.shape().to_vec(),
        converted.ok_or_else(inexact)?,
    )
}

/// Returns the position of the first difference between two arrays of the same shape and type; `None` if they are bitwise equal.
pub(super) fn first_difference(one: &Array, other: &Array) -> Result<Option<Vec<u64>>> {
    let is_same_grid = one.chunk_grid() == other.chunk_grid() && one.fill_bytes() == other.fill_bytes();
    let chunks = is_same_grid.then(|| stored_by_either(one, other)).transpose()?;
    let grid = one.grid_shape();
    let mut found = Ok(None);
    let mut compare = |chunk: &[u64]| match compare_chunk(one, other, chunk, is_same_grid) {
        Ok(None) => ControlFlow::Continue(()),
        different => {
            found = different;
            ControlFlow::Break(())
        }
    };
    match chunks {
        Some(chunks) => {
            let _ = chunks.iter().try_for_each(|chunk| compare(chunk));
        }
        None => {
            let count = grid.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
            if count.is_none_or(|count| count > MOST_CHUNKS) {
                return Err(unsupported("there are too many chunks to compare"));
            }
            let _ = each_position(&grid, &mut compare);
        }
    }
    found
}

/// Returns the indices of the chunks that are stored in at least one of two arrays.
fn stored_by_either(one: &Array, other: &Array) -> Result<BTreeSet<Vec<u64>>> {
    let mut chunks = BTreeSet::new();
    for array in [one, other] {
        array.raw().visit(&mut |chunk, _| chunks.extend(chunk))?;
    }
    Ok(chunks)
}

fn compare_chunk(one: &Array, other: &Array, chunk: &[u64], is_same_grid: bool) -> Result<Option<Vec<u64>>> {
    let has_same_codecs = is_same_grid && one.metadata().codecs == other.metadata().codecs;
    if has_same_codecs && one.raw().read(chunk)? == other.raw().read(chunk)? {
        return Ok(None);
    }
    let region: Vec<(u64, u64)> = chunk
        .iter()
        .zip(one.chunk_grid().largest_chunk())
        .zip(one.shape())
        .map(|((index, length), &shape)| {
            let start = index.saturating_mul(*length).min(shape);
            (start, start.saturating_add(*length).min(shape))
        })
        .collect();
    let selection = || region.iter().map(|&(begin, end)| DimSelection::from(begin..end)).collect::<Vec<_>>();
    let (a, b) = (one.read::<DynArray>(selection())?, other.read::<DynArray>(selection())?);
    let Some(at) = a.elements().zip(b.elements()).position(|(a, b)| a != b) else { return Ok(None) };
    let mut rest = at as u64;
    let mut position = vec![0; region.len()];
    for (index, (begin, end)) in position.iter_mut().zip(&region).rev() {
        let length = (end - begin).max(1);
        (*index, rest) = (begin + rest % length, rest / length);
    }
    Ok(Some(position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_an_order() {
        let order = |values: &[f64]| Values::Float(values.to_vec()).order();
        assert_eq!(order(&[1.0, 2.0, 4.0]), Some(Ordering::Less));
        assert_eq!(order(&[3.0, 2.0]), Some(Ordering::Greater));
        assert_eq!(order(&[3.0]), Some(Ordering::Equal));
        assert_eq!(order(&[1.0, 1.0]), None);
        assert_eq!(order(&[1.0, 2.0, 1.0]), None);
        assert_eq!(order(&[f64::NAN]), None);
        let shorts = DynArray::new(DataType::UInt16, vec![2], [1_u16, 65535].map(u16::to_ne_bytes).concat());
        assert_eq!(Values::of(&shorts.unwrap()), Some(Values::Whole(vec![1, 65535])));
    }
}
