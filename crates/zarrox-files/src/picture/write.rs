//! [`Picture`]: writes a selection as a PNG file, block by block.

use std::io::Write;

use ::png::Compression;
use zarrox::{ArrayView, DimSelection, DynArray, Error, ErrorKind, Registry, Result};

use super::colours::Colours;
use super::png::{Form, not_written};
use super::scale::{Scale, Scaling};
use super::values::{floats, missing_values};
use crate::input::failed;

/// The maximum number of values used to compute percentiles.
const SAMPLE: u64 = 4 << 20;

/// The contrast limits: the values that are mapped to the first and last colours.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Range {
    Extremes,
    Values(f64, f64),
    Percentiles(f64, f64),
}

/// A builder for pictures of two-dimensional selections.
///
/// Bytes are colours if there is a third dimension of length 3 or 4. All other numbers are mapped to colours with a
/// colormap. Missing values are transparent. These are NaN, the values of the attributes `_FillValue` and
/// `missing_value`, and the fill value if it is not 0.
///
/// ```
/// use zarrox::prelude::*;
/// use zarrox_files::picture::{Colours, Picture};
/// # let directory = tempfile::tempdir()?;
/// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([2, 3]).data_type(DataType::Float32).create()?;
///
/// let mut file = Vec::new();
/// Picture::new().colours(Colours::named("magma").unwrap()).range(0.0, 1.0)?.write(&array.slice(..), &mut file)?;
/// assert!(file.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Picture {
    colours: Colours,
    range: Range,
    scaling: Scaling,
    field: Option<String>,
    memory: u64,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            colours: Colours::default(),
            range: Range::Extremes,
            scaling: Scaling::Linear,
            field: None,
            memory: 1 << 29,
        }
    }
}

impl Picture {
    /// Creates a picture with the colormap viridis, whose contrast limits are the smallest and largest values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the colormap.
    pub fn colours(self, colours: Colours) -> Self {
        Self { colours, ..self }
    }

    /// Sets the contrast limits: the values that are mapped to the first and last colours.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless `low` is less than `high`.
    pub fn range(self, low: f64, high: f64) -> Result<Self> {
        if low.is_nan() || high.is_nan() || low >= high {
            return Err(bad(format!("the range {low} to {high} must be ascending")));
        }
        Ok(Self { range: Range::Values(low, high), ..self })
    }

    /// Sets the contrast limits to percentiles of the values. Percentiles range from 0 to 100. If there are more than 4
    /// Mi elements, the percentiles are computed from evenly spaced elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless the numbers are ascending percentiles.
    pub fn percentiles(self, low: f64, high: f64) -> Result<Self> {
        if !(0.0 <= low && low < high && high <= 100.0) {
            return Err(bad(format!(
                "percentiles must be ascending and between 0 and 100, not {low} to {high}"
            )));
        }
        Ok(Self { range: Range::Percentiles(low, high), ..self })
    }

    /// Sets the norm. The default is linear. With the logarithmic norm, values that are not positive are transparent.
    pub fn scaling(self, scaling: Scaling) -> Self {
        Self { scaling, ..self }
    }

    /// Selects a field of a structured data type.
    pub fn field(self, name: impl Into<String>) -> Self {
        Self { field: Some(name.into()), ..self }
    }

    /// Sets the memory limit for elements, in bytes. The default is 512 MiB.
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Returns the same picture with contrast limits computed from the given selection, so that pictures of different
    /// parts of the selection have the same colours.
    pub(crate) fn fixed(&self, view: &ArrayView<'_>) -> Result<Self> {
        let (low, high) = self.range_of(&Source::new(view, self)?)?;
        Ok(Self { range: Range::Values(low, high), ..self.clone() })
    }

    /// Writes the picture. The elements are read once, or twice if the contrast limits are not set.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the selection is not two-dimensional; [`ErrorKind::Unsupported`] if the elements
    /// are not numbers; any error that occurs while reading or writing.
    pub fn write(&self, view: &ArrayView<'_>, out: impl Write) -> Result<()> {
        let source = Source::new(view, self)?;
        let form = Form::of(&source.shape, &source.data_type)?;
        let scale = match form.channels {
            Some(_) => None,
            None => {
                let (low, high) = self.range_of(&source)?;
                Some(Scale { low, high, scaling: self.scaling, colours: self.colours })
            }
        };
        let mut writer = form.begin(out, Compression::Balanced)?;
        let mut stream = writer.stream_writer_with_size(1 << 20).map_err(not_written)?;
        let mut store =
            |bytes: &[u8]| stream.write_all(bytes).map_err(|error| failed("writing the picture", error));
        source.each(&mut |values| match scale {
            None => store(values.as_bytes()),
            Some(scale) => {
                let colours = source.numbers(&values)?.into_iter().flat_map(|value| scale.colour(value));
                store(&colours.collect::<Vec<u8>>())
            }
        })?;
        stream.finish().map_err(not_written)?;
        writer.finish().map_err(not_written)
    }

    /// Returns the contrast limits.
    fn range_of(&self, source: &Source<'_>) -> Result<(f64, f64)> {
        let usual = self.scaling.usual_range();
        match self.range {
            Range::Values(low, _) if self.scaling == Scaling::Log && low <= 0.0 => {
                Err(bad("a logarithmic scale needs a positive lower limit"))
            }
            Range::Values(low, high) => Ok((low, high)),
            Range::Extremes => {
                let mut found: Option<(f64, f64)> = None;
                source.each(&mut |values| {
                    let of_block = self.scaling.range_of(source.numbers(&values)?);
                    let both = found.into_iter().chain(of_block).flat_map(|(low, high)| [low, high]);
                    found = self.scaling.range_of(both);
                    Ok(())
                })?;
                Ok(found.unwrap_or(usual))
            }
            Range::Percentiles(low, high) => {
                let mut sample = self.sample(source)?;
                sample.sort_unstable_by(f64::total_cmp);
                let at = |percentile| percentile_of(&sample, percentile);
                Ok(at(low).zip(at(high)).unwrap_or(usual))
            }
        }
    }

    /// Returns the finite values among evenly spaced elements.
    fn sample(&self, source: &Source<'_>) -> Result<Vec<f64>> {
        let count = source.shape.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
        // The step is coprime to common row lengths, so that all columns are sampled.
        let step = usize::try_from(count.div_ceil(SAMPLE)).unwrap_or(usize::MAX);
        let step = if step > 1 { step | 1 } else { 1 };
        let (mut sample, mut skipped) = (Vec::new(), 0);
        source.each(&mut |values| {
            let numbers = source.numbers(&values)?;
            let length = numbers.len();
            let taken = numbers.into_iter().skip(skipped).step_by(step);
            sample.extend(taken.filter(|&value| self.scaling.has(value)));
            let past = length.saturating_sub(skipped);
            skipped = if past == 0 { skipped - length } else { past.next_multiple_of(step) - past };
            Ok(())
        })?;
        Ok(sample)
    }
}

/// Returns the interpolated value at a percentile of sorted values.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position in a list"
)]
fn percentile_of(sorted: &[f64], percentile: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = percentile / 100.0 * last as f64;
    let first = (place as usize).min(last);
    let (low, high) = (sorted[first], sorted[(first + 1).min(last)]);
    Some(low + (high - low) * (place - first as f64))
}

/// The elements of a picture.
struct Source<'a> {
    view: &'a ArrayView<'a>,
    field: Option<&'a str>,
    shape: Vec<u64>,
    data_type: zarrox::DataType,
    missing: Vec<f64>,
    registry: Registry,
    /// The maximum number of elements in a block.
    most: u64,
}

impl<'a> Source<'a> {
    fn new(view: &'a ArrayView<'a>, picture: &'a Picture) -> Result<Self> {
        let registry = zarrox::codecs::registry();
        let field = picture.field.as_deref();
        let data_type = match field {
            None => view.data_type().clone(),
            Some(name) => {
                let whole = view.data_type();
                let fields =
                    whole.fields().ok_or_else(|| bad(format!("elements of {whole} have no fields")))?;
                let (_, found) = fields.select(&[name])?;
                match found.as_slice() {
                    [one] if one.shape.is_empty() => one.data_type.clone(),
                    _ => return Err(bad(format!("the field '{name}' is not a number"))),
                }
            }
        };
        let missing = missing_values(view.array(), field, &registry);
        // For each pixel, memory holds an element, a float and a colour.
        let most = picture.memory / (view.data_type().size() as u64 + 16);
        Ok(Self { view, field, shape: view.shape()?, data_type, missing, registry, most: most.max(1) })
    }

    /// Calls a function with each block of elements, in row-major order.
    fn each(&self, take: &mut dyn FnMut(DynArray) -> Result<()>) -> Result<()> {
        for block in self.view.parts_in_order(self.most, zarrox::Order::RowMajor)? {
            let part: Vec<DimSelection> = block.into_iter().map(DimSelection::from).collect();
            let part = self.view.slice(part);
            take(match self.field {
                Some(name) => part.field(name).read::<DynArray>()?,
                None => part.read::<DynArray>()?,
            })?;
        }
        Ok(())
    }

    /// Converts elements to floats. Missing values become NaN.
    fn numbers(&self, values: &DynArray) -> Result<Vec<f64>> {
        let mut numbers = floats(values, &self.registry)?;
        if !self.missing.is_empty() {
            numbers
                .iter_mut()
                .filter(|number| self.missing.contains(number))
                .for_each(|number| *number = f64::NAN);
        }
        Ok(numbers)
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_values() {
        assert_eq!(percentile_of(&[], 50.0), None);
        assert_eq!(percentile_of(&[1.0], 99.0), Some(1.0));
        let values = [0.0, 10.0, 20.0];
        assert_eq!([0.0, 25.0, 100.0].map(|p| percentile_of(&values, p)), [0.0, 5.0, 20.0].map(Some));
    }
}
