//! The expected state of a cell.

use half::f16;
use zarrox::data_type::{Field, Storage};
use zarrox::json::Json;
use zarrox::{DataType, DynArray, FillValue, Registry};

use crate::cell::{Cell, Step};
use crate::elements::{elements, native, parts, whole};
use crate::failure::Failure;
use crate::variable::{HANDLE, Variable};

/// Returns the bytes of a fill value, calculated independently of the library's own reading of metadata.
pub(crate) fn fill_element(data_type: &DataType, cell: &Cell) -> Result<Vec<u8>, Failure> {
    let storage = data_type.storage();
    if let Some(variable) = Variable::new(cell, data_type)? {
        return Ok(variable.fill().to_vec());
    }
    match (&cell.fill_element, &cell.fill_value) {
        (Some(bytes), _) => {
            let mut bytes = bytes.clone();
            bytes.resize(storage.size(), 0);
            Ok(native(&bytes, &storage))
        }
        // An undefined fill value is read as zero, or as NaT (not a time) for types of times.
        (_, Json::Null) if is_time(data_type) => Ok(i64::MIN.to_ne_bytes().to_vec()),
        (_, Json::Null) => Ok(vec![0; data_type.size()]),
        (_, json) => scalar(data_type, cell.fill_fields.as_ref().unwrap_or(json)),
    }
}

/// Returns the fill value for the library, which requires the fill value of a structure in this machine's byte order.
pub(crate) fn fill_value(cell: &Cell, registry: &Registry) -> Result<Json, Failure> {
    if cell.fill_fields.is_none() || cell.format == 3 {
        return Ok(cell.fill_value.clone());
    }
    let data_type = cell.data_type(registry)?;
    let fill = FillValue::new(fill_element(&data_type, cell)?);
    Ok(registry.scalar_to_v2(&data_type, &fill)?)
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Extension(extension) if extension.name.starts_with("numpy."))
}

/// Sets all elements of a field to a value.
fn put(field: &Field, value: &[u8], record: &mut [u8]) {
    record[field.offset..][..field.size()].copy_from_slice(&value.repeat(field.count()));
}

/// Returns a scalar in the form of v3 metadata, with a few exceptions.
fn scalar(data_type: &DataType, json: &Json) -> Result<Vec<u8>, Failure> {
    if let Some(structure) = data_type.fields() {
        let mut bytes = vec![0; data_type.size()];
        for field in structure.fields() {
            put(field, &scalar(&field.data_type, &json[&field.name])?, &mut bytes);
        }
        return Ok(bytes);
    }
    let storage = data_type.storage();
    let (_, size) = parts(&storage);
    let little: Vec<Vec<u8>> = match (&storage, json) {
        (Storage::Bool, json) => vec![vec![u8::from(json.as_bool().ok_or("not a boolean")?)]],
        (Storage::Int(_), Json::String(text)) if text == "NaT" => vec![i64::MIN.to_le_bytes().to_vec()],
        (Storage::Int(_), json) => {
            vec![json.as_i64().ok_or("not an integer")?.to_le_bytes()[..size].to_vec()]
        }
        (Storage::Uint(_), json) => {
            vec![json.as_u64().ok_or("not an integer")?.to_le_bytes()[..size].to_vec()]
        }
        (Storage::Raw(length), Json::String(text)) => {
            let mut bytes = base64(text)?;
            bytes.resize(*length, 0);
            vec![bytes]
        }
        (Storage::Raw(_), Json::Array(bytes)) => {
            let byte = |json: &Json| json.as_u64().and_then(|n| u8::try_from(n).ok());
            vec![bytes.iter().map(byte).collect::<Option<_>>().ok_or("not bytes")?]
        }
        (Storage::Utf32(length), Json::String(text)) => {
            let points = text.chars().map(u32::from).chain(std::iter::repeat(0));
            points.take(length / 4).map(|point| point.to_le_bytes().to_vec()).collect()
        }
        (Storage::Complex(_), Json::Array(parts)) => {
            parts.iter().map(|part| float(size, part)).collect::<Result<_, _>>()?
        }
        (_, json) => vec![float(size, json)?],
    };
    Ok(little.iter().flat_map(|part| native(part, &storage)).collect())
}

/// Decodes base64.
fn base64(text: &str) -> Result<Vec<u8>, Failure> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_usize, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = LETTERS.iter().position(|&known| known == letter).ok_or("not base64")?;
        (bits, count) = ((bits << 6 | value) & 0xffff, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count).to_le_bytes()[0]);
        }
    }
    Ok(bytes)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the matrix has only fill values that every float can represent"
)]
fn float(size: usize, json: &Json) -> Result<Vec<u8>, Failure> {
    let value = match json.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        _ => json.as_f64().ok_or("not a float")?,
    };
    Ok(match size {
        2 => f16::from_f64(value).to_le_bytes().to_vec(),
        4 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    })
}

/// Evenly spaced positions along one dimension: the first position, their distance, and their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: isize,
    pub(crate) step: isize,
    pub(crate) count: usize,
}

pub(crate) fn spans(region: &[[isize; 3]]) -> Vec<Span> {
    let span = |&[start, stop, step]: &[isize; 3]| {
        let count = (stop - start).max(0).unsigned_abs().div_ceil(step.unsigned_abs());
        Span { start, step, count }
    };
    region.iter().map(span).collect()
}

/// A model of an array in memory that is slow and obviously correct.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) data_type: DataType,
    pub(crate) shape: Vec<usize>,
    /// The elements, or handles for elements of variable length.
    pub(crate) bytes: Vec<u8>,
    fill: Vec<u8>,
    mask: u64,
    whole: bool,
    variable: Option<Variable>,
}

impl Model {
    /// Creates the array in its initial state, before any step.
    pub(crate) fn new(cell: &Cell, data_type: &DataType) -> Result<Self, Failure> {
        let variable = Variable::new(cell, data_type)?;
        let shape = lengths(&cell.shape)?;
        let fill = match &variable {
            Some(_) => Variable::fill_handle(),
            None => fill_element(data_type, cell)?,
        };
        let bytes = fill.repeat(shape.iter().product());
        let mask = u64::MAX >> (64 - cell.bits);
        Ok(Self { data_type: data_type.clone(), shape, bytes, fill, mask, whole: cell.whole, variable })
    }

    /// Returns the number of bytes of an element in `bytes`.
    fn item(&self) -> usize {
        if self.variable.is_some() { HANDLE } else { self.data_type.size() }
    }

    /// Returns elements of this model in the library's form.
    pub(crate) fn array(&self, shape: Vec<usize>, bytes: Vec<u8>) -> Result<DynArray, Failure> {
        let Some(variable) = &self.variable else {
            return Ok(DynArray::new(self.data_type.clone(), shape, bytes)?);
        };
        let elements = bytes.chunks_exact(HANDLE).map(|handle| variable.element(handle));
        let elements = elements.collect::<Result<Vec<_>, Failure>>()?;
        Ok(DynArray::from_elements(self.data_type.clone(), shape, elements)?)
    }

    /// Returns the offsets in `bytes` of the elements of a region, in row-major order of the region.
    fn offsets(&self, region: &[Span]) -> Vec<usize> {
        let mut offsets = vec![0];
        for (span, &length) in region.iter().zip(&self.shape) {
            let position = |k: usize| (span.start + span.step * k.cast_signed()).unsigned_abs();
            offsets =
                offsets.iter().flat_map(|o| (0..span.count).map(move |k| o * length + position(k))).collect();
        }
        offsets.iter().map(|offset| offset * self.item()).collect()
    }

    /// Returns the elements of a region.
    pub(crate) fn gather(&self, region: &[Span]) -> Vec<u8> {
        let item = self.item();
        self.offsets(region).iter().flat_map(|&at| &self.bytes[at..at + item]).copied().collect()
    }

    fn scatter(&mut self, region: &[Span], values: &[u8]) {
        let item = self.item();
        for (at, value) in self.offsets(region).into_iter().zip(values.chunks_exact(item)) {
            self.bytes[at..at + item].copy_from_slice(value);
        }
    }

    /// Returns the values that a step writes into its region.
    pub(crate) fn values(&self, region: &[Span], seed: Option<u64>) -> Vec<u8> {
        match seed {
            None => self.fill.repeat(region.iter().map(|span| span.count).product()),
            Some(seed) => {
                let count = self.shape.iter().product();
                let bytes = match &self.variable {
                    Some(_) => Variable::handles(count, seed),
                    None if self.whole => whole(&self.data_type, self.mask, count, seed),
                    None => elements(&self.data_type, self.mask, count, seed),
                };
                Self { bytes, ..self.clone() }.gather(region)
            }
        }
    }

    fn resize(&mut self, shape: &[u64]) -> Result<(), Failure> {
        let shape = lengths(shape)?;
        let bytes = self.fill.repeat(shape.iter().product());
        let mut other = Self { shape, bytes, ..self.clone() };
        let kept = self.shape.iter().zip(&other.shape);
        let kept: Vec<Span> = kept.map(|(&a, &b)| Span { start: 0, step: 1, count: a.min(b) }).collect();
        let values = self.gather(&kept);
        other.scatter(&kept, &values);
        *self = other;
        Ok(())
    }

    /// Applies a step.
    pub(crate) fn apply(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Write { region, seed } => {
                let region = spans(region);
                let values = self.values(&region, Some(*seed));
                self.scatter(&region, &values);
            }
            Step::Fill { region } => {
                let region = spans(region);
                let values = self.values(&region, None);
                self.scatter(&region, &values);
            }
            Step::Resize { shape } => self.resize(shape)?,
            Step::Attributes { .. } => {}
        }
        Ok(())
    }
}

pub(crate) fn lengths(shape: &[u64]) -> Result<Vec<usize>, Failure> {
    shape.iter().map(|&n| usize::try_from(n).map_err(Failure::from)).collect()
}

/// Checks that elements equal those of the model; two NaNs count as equal.
pub(crate) fn same(model: &Model, got: &DynArray, expected: &[u8]) -> Result<(), Failure> {
    match &model.variable {
        Some(variable) => same_elements(variable, got, expected),
        None => same_bytes(&model.data_type, got.as_bytes(), expected),
    }
}

/// Checks that a fill value has these bytes, ignoring the padding of a structure.
pub(crate) fn same_fill(data_type: &DataType, got: &[u8], expected: &[u8]) -> Result<(), Failure> {
    let same = match data_type.fields() {
        Some(_) => same_bytes(data_type, got, expected).is_ok(),
        None => got == expected,
    };
    if same { Ok(()) } else { Err(format!("fill value: {got:02x?} instead of {expected:02x?}").into()) }
}

fn same_elements(variable: &Variable, got: &DynArray, expected: &[u8]) -> Result<(), Failure> {
    let count = expected.len() / HANDLE;
    if got.elements().count() != count {
        return Err(format!("{} elements instead of {count}", got.elements().count()).into());
    }
    for (index, (a, handle)) in got.elements().zip(expected.chunks_exact(HANDLE)).enumerate() {
        let b = variable.element(handle)?;
        if !variable.same(a, &b)? {
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            return Err(format!("element {index} differs: {:?} instead of {:?}", shown(a), shown(&b)).into());
        }
    }
    Ok(())
}

fn same_bytes(data_type: &DataType, got: &[u8], expected: &[u8]) -> Result<(), Failure> {
    if got.len() != expected.len() {
        return Err(format!("{} bytes instead of {}", got.len(), expected.len()).into());
    }
    if let Some(structure) = data_type.fields() {
        return structure.fields().iter().try_for_each(|field| {
            let part = |bytes: &[u8]| -> Vec<u8> {
                let records = bytes.chunks_exact(data_type.size());
                records.flat_map(|record| &record[field.offset..][..field.size()]).copied().collect()
            };
            same_bytes(&field.data_type, &part(got), &part(expected))
                .map_err(|failure| format!("field {}: {failure}", field.name).into())
        });
    }
    let storage = data_type.storage();
    let (_, size) = parts(&storage);
    let floats = matches!(storage, Storage::Float(_) | Storage::Complex(_));
    let pairs = got.chunks_exact(size).zip(expected.chunks_exact(size));
    let differs = |(a, b): &(&[u8], &[u8])| a != b && !(floats && is_nan(a) && is_nan(b));
    match pairs.clone().position(|pair| differs(&pair)) {
        None => Ok(()),
        Some(first) => {
            let count = pairs.clone().filter(differs).count();
            let (a, b) = pairs.clone().nth(first).unwrap_or_default();
            Err(format!("{count} numbers differ, first at flat index {first}: {a:02x?} instead of {b:02x?}")
                .into())
        }
    }
}

fn is_nan(bytes: &[u8]) -> bool {
    match *bytes {
        [a, b] => f16::from_ne_bytes([a, b]).is_nan(),
        [a, b, c, d] => f32::from_ne_bytes([a, b, c, d]).is_nan(),
        [a, b, c, d, e, f, g, h] => f64::from_ne_bytes([a, b, c, d, e, f, g, h]).is_nan(),
        _ => false,
    }
}
