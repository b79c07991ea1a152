//! Columns of printed elements: numbers are as wide as the widest number, and each field of a structured data type has a column.

use zarrox::data_type::{Field, Storage};
use zarrox::internals::data_type::{FamilyRef, VARIABLE_TEXT, utf32_text};
use zarrox::{DataType, Registry, Result};

use super::floats::{Float, FloatColumn};
use super::{EDGE, THRESHOLD};

/// The text of the datetime and timedelta `NaT` (not a time).
const NOT_A_TIME: &str = "NaT";

/// The elements that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A single element, without dimensions: floats have all their digits.
    Single,
    /// Elements of an array. Of long subarrays inside elements, only the edges are printed.
    Summary,
    /// Elements of an array, printed in full.
    Full,
}

/// The common format of the elements of an array. It depends on all of them.
pub(crate) struct Columns<'r> {
    data_type: DataType,
    family: FamilyRef<'r>,
    floats: FamilyRef<'r>,
    kind: Kind<'r>,
}

enum Kind<'r> {
    /// Right-aligned to this width.
    Aligned(usize),
    /// Datetimes, right-aligned to this width, in quotes.
    Quoted(usize),
    /// Timedeltas, right-aligned to this width; only `NaT` is in quotes.
    Counts(usize),
    /// Elements that are not padded to a common width.
    Plain,
    Float(FloatColumn),
    Complex(FloatColumn, FloatColumn),
    Struct(Vec<FieldColumns<'r>>),
}

impl<'r> Columns<'r> {
    pub(crate) fn new(data_type: &DataType, registry: &'r Registry, extent: Extent) -> Result<Self> {
        let kind = match data_type {
            point if point.is_named("numpy.datetime64") => Kind::Quoted(0),
            span if span.is_named("numpy.timedelta64") => Kind::Counts(0),
            optional if optional.optional_value().is_some() => Kind::Aligned(0),
            DataType::Extension(_) | DataType::RawBits(_) => Kind::Plain,
            DataType::Struct(structure) => {
                let columns =
                    structure.fields().iter().map(|field| FieldColumns::new(field, registry, extent));
                Kind::Struct(columns.collect::<Result<_>>()?)
            }
            core => match core.storage() {
                Storage::Float(_) | Storage::Bool if extent == Extent::Single => Kind::Plain,
                Storage::Float(_) => Kind::Float(FloatColumn::new(false)),
                Storage::Complex(_) => Kind::Complex(FloatColumn::new(false), FloatColumn::new(true)),
                // NumPy pads booleans to five characters, even if all of them are `True`.
                Storage::Bool => Kind::Aligned(5),
                _ => Kind::Aligned(0),
            },
        };
        let (family, floats) = (registry.family(data_type)?, registry.family(&DataType::Float64)?);
        Ok(Self { data_type: data_type.clone(), family, floats, kind })
    }

    /// Updates the format for an element.
    pub(crate) fn observe(&mut self, element: &[u8]) {
        let quoted = matches!(self.kind, Kind::Quoted(_));
        match &mut self.kind {
            Kind::Plain => {}
            Kind::Aligned(width) => *width = self.family.format(&self.data_type, element).len().max(*width),
            Kind::Quoted(width) | Kind::Counts(width) => {
                // Two more characters for the quotes.
                let text = self.family.format(&self.data_type, element);
                *width = (text.len() + 2 * usize::from(quoted || text == NOT_A_TIME)).max(*width);
            }
            Kind::Float(column) => column.observe(&Float::new(element, &*self.floats)),
            Kind::Complex(real, imaginary) => {
                let (a, b) = element.split_at(element.len() / 2);
                real.observe(&Float::new(a, &*self.floats));
                imaginary.observe(&Float::new(b, &*self.floats));
            }
            Kind::Struct(fields) => fields.iter_mut().for_each(|field| field.observe(element)),
        }
    }

    /// Returns the text of an element.
    pub(crate) fn format(&self, element: &[u8]) -> String {
        let plain = || self.family.format(&self.data_type, element);
        match &self.kind {
            Kind::Plain => plain(),
            Kind::Aligned(width) => format!("{:>width$}", plain()),
            Kind::Counts(width) if plain() != NOT_A_TIME => format!("{:>width$}", plain()),
            Kind::Quoted(width) | Kind::Counts(width) => format!("{:>width$}", format!("'{}'", plain())),
            Kind::Float(column) => column.format(&Float::new(element, &*self.floats)),
            Kind::Complex(real, imaginary) => {
                let (a, b) = element.split_at(element.len() / 2);
                let imaginary = imaginary.format(&Float::new(b, &*self.floats));
                let digits = imaginary.trim_end();
                let padding = &imaginary[digits.len()..];
                format!("{}{digits}j{padding}", real.format(&Float::new(a, &*self.floats)))
            }
            Kind::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| field.format(element)).collect();
                let comma = if fields.len() == 1 { "," } else { "" };
                format!("({}{comma})", fields.join(", "))
            }
        }
    }
}

/// The columns of one field of a structured data type. All elements of a subarray field share them.
struct FieldColumns<'r> {
    field: Field,
    columns: Columns<'r>,
    extent: Extent,
}

impl<'r> FieldColumns<'r> {
    fn new(field: &Field, registry: &'r Registry, extent: Extent) -> Result<Self> {
        let mut columns = Columns::new(&field.data_type, registry, extent)?;
        // Booleans of a subarray are aligned.
        if extent == Extent::Single && field.data_type == DataType::Bool && !field.shape.is_empty() {
            columns.kind = Kind::Aligned(5);
        }
        Ok(Self { field: field.clone(), columns, extent })
    }

    fn observe(&mut self, element: &[u8]) {
        elements(&self.field, element).for_each(|element| self.columns.observe(element));
    }

    fn format(&self, element: &[u8]) -> String {
        let elements: Vec<&[u8]> = elements(&self.field, element).collect();
        let summarised = elements.len() as u64 > THRESHOLD && self.extent != Extent::Full;
        self.nested(&self.field.shape, &elements, summarised)
    }

    /// Returns the elements of an array in brackets. Of a summarised array, it returns only those at the edges.
    fn nested(&self, shape: &[usize], elements: &[&[u8]], summarised: bool) -> String {
        let [length, rest @ ..] = shape else {
            return elements.first().map_or_else(String::new, |element| self.columns.format(element));
        };
        // If one length is zero, the other lengths can have any value.
        if elements.is_empty() {
            return "[]".to_owned();
        }
        let parts = elements.chunks(rest.iter().product::<usize>().max(1));
        let hidden = |nth: u64| summarised && nth >= EDGE && nth + EDGE < *length as u64;
        let mut shown = Vec::new();
        for (nth, part) in (0..).zip(parts) {
            if !hidden(nth) {
                shown.push(self.nested(rest, part, summarised));
            } else if nth == EDGE {
                shown.push("...".to_owned());
            }
        }
        format!("[{}]", shown.join(", "))
    }
}

/// Returns the items of a field in one element: several items if the field is a subarray.
pub(crate) fn elements<'e>(field: &Field, element: &'e [u8]) -> impl Iterator<Item = &'e [u8]> + use<'e> {
    element[field.offset..][..field.size()].chunks_exact(field.data_type.size())
}

/// Returns the text of a scalar, with all its digits and without padding.
pub(crate) fn scalar(data_type: &DataType, element: &[u8], registry: &Registry) -> Result<String> {
    // A single string is printed without quotes.
    if let Some(text) = text_of(data_type, element) {
        return Ok(text);
    }
    if data_type.fields().is_none() {
        return Ok(registry.family(data_type)?.format(data_type, element));
    }
    let mut columns = Columns::new(data_type, registry, Extent::Single)?;
    columns.observe(element);
    Ok(columns.format(element))
}

/// Returns the text of an element of a string data type.
pub(crate) fn text_of(data_type: &DataType, element: &[u8]) -> Option<String> {
    match (data_type.storage(), data_type) {
        (Storage::Utf32(_), _) => Some(utf32_text(element)),
        (_, text) if text.is_named(VARIABLE_TEXT) => String::from_utf8(element.to_vec()).ok(),
        _ => None,
    }
}
