//! Writes arrays to NIfTI files.

use std::io::Write;

use zarrox::json::{Json, Map};
use zarrox::{DataType, DimSelection, DynArray, Result};

use super::attributes::{FLOATS, INTS, NIFTI, SPACE, TIME};
use super::layout::{
    AUXILIARY, DESCRIPTION, DIM, Field, Header, INTENT_NAME, INTERCEPT, OFFSET, PIXDIM, SFORM, SFORM_CODE,
    SLOPE, UNITS, Version,
};
use super::{extensions, volume};
use crate::input::{failed, unsupported};
use crate::placed::{Axis, Placed};

/// The maximum length of a NIfTI-1 dimension.
const LONGEST: u64 = 32_767;

/// The transform code for coordinates that are aligned to another image.
const ALIGNED: i64 = 2;

/// The number of spatial dimensions.
const SPATIAL: usize = 3;

/// The names of length units, and their lengths in meters.
const METERS: [(&[&str], f64); 7] = [
    (&["um", "µm", "micrometer", "micron", "micrometre"], 1e-6),
    (&["mm", "millimeter", "millimetre"], 1e-3),
    (&["m", "meter", "metre"], 1.0),
    (&["nm", "nanometer", "nanometre"], 1e-9),
    (&["cm", "centimeter", "centimetre"], 1e-2),
    (&["km", "kilometer", "kilometre"], 1e3),
    (&["angstrom"], 1e-10),
];

/// The names of time units, and their durations in seconds.
const SECONDS: [(&[&str], f64); 3] = [
    (&["s", "second", "seconds", "sec"], 1.0),
    (&["ms", "millisecond", "milliseconds"], 1e-3),
    (&["us", "µs", "microsecond", "microseconds"], 1e-6),
];

/// Options for writing a file.
pub(crate) struct Options<'a> {
    /// True to compress the file with gzip.
    pub(crate) is_packed: bool,
    /// The memory limit for elements, in bytes.
    pub(crate) memory: u64,
    /// A function that is called with the number of elements written since its last call.
    pub(crate) progress: &'a dyn Fn(u64) -> Result<()>,
}

/// Writes a file with the header and the elements.
///
/// # Errors
/// [`zarrox::ErrorKind::Unsupported`] if NIfTI does not support the data type or the dimensions; any error that occurs
/// while reading or writing.
pub(crate) fn write(placed: &Placed, out: &mut impl Write, options: &Options<'_>) -> Result<()> {
    let image = Image::new(placed)?;
    let header = image.header()?;
    if options.is_packed {
        let mut out = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        image.write(&header, &mut out, options)?;
        return out.finish().map(drop).map_err(|error| failed("writing the file", error));
    }
    image.write(&header, out, options)
}

/// The content of a file.
struct Image<'a> {
    placed: &'a Placed,
    /// The dimensions of the file, from fastest- to slowest-varying.
    axes: Vec<&'a Axis>,
    /// The dimensions of the file, and also dimensions with a single selected position, which are not in the file.
    all: Vec<&'a Axis>,
    /// The number of dimensions of length 1 that precede the dimensions of the array.
    empty: usize,
    samples: Option<u64>,
    /// The header fields preserved by an import.
    known: Map,
    /// The spacing and units preserved by an import, for each dimension.
    spacing: Vec<Option<f64>>,
    units: Vec<Option<String>>,
}

impl<'a> Image<'a> {
    fn new(placed: &'a Placed) -> Result<Self> {
        let is_bytes = *placed.array.data_type() == DataType::UInt8;
        let (samples, rest) = match placed.axes.split_last() {
            Some((last, rest))
                if last.is_samples() && is_bytes && !last.is_dropped && matches!(last.count, 3 | 4) =>
            {
                (Some(last.count), rest)
            }
            _ => (None, placed.axes.as_slice()),
        };
        let known = placed.attribute(NIFTI).and_then(Json::as_object).cloned().unwrap_or_default();
        let listed = |name: &str| {
            let list =
                placed.attribute(name).and_then(Json::as_array).filter(|list| list.len() == rest.len());
            list.cloned().unwrap_or_default()
        };
        let spacing = listed("spacing");
        let units = listed("spacing_units");
        let spacing = (0..rest.len()).rev().map(|dim| spacing.get(dim).and_then(Json::as_f64)).collect();
        let units = (0..rest.len()).rev().map(|dim| units.get(dim)?.as_str().map(str::to_owned)).collect();
        let all: Vec<&Axis> = rest.iter().rev().collect();
        let mut axes = all.clone();
        // A faster-varying dimension with a single position is kept, so that the other dimensions keep their meaning.
        while axes.len() > 1 && axes.last().is_some_and(|axis| axis.is_dropped) {
            axes.pop();
        }
        let is_cifti =
            known.get("intent_code").and_then(Json::as_i64).is_some_and(|code| volume::CIFTI.contains(&code))
                && known.get("extensions").and_then(Json::as_array).is_some_and(|all| {
                    all.iter().any(|one| one.get("code").and_then(Json::as_i64) == Some(extensions::CIFTI))
                });
        let empty = if is_cifti { volume::EMPTY_OF_CIFTI } else { 0 };
        let image = Self { placed, axes, all, empty, samples, known, spacing, units };
        image.check()?;
        Ok(image)
    }

    fn check(&self) -> Result<()> {
        let count = self.axes.len() + self.empty;
        if !(1..=7).contains(&count) {
            return Err(unsupported(format!(
                "a NIfTI image has 1 to 7 dimensions, but the selection has {}; select single positions of some",
                self.axes.len()
            )));
        }
        if self.axes.iter().any(|axis| axis.count == 0) {
            return Err(unsupported("a NIfTI image has at least one element, but the selection is empty"));
        }
        Ok(())
    }

    fn header(&self) -> Result<Header> {
        let is_second = self.known.get("version").and_then(Json::as_i64) == Some(2)
            || self.empty > 0
            || self.axes.iter().any(|axis| axis.count > LONGEST);
        let mut header = Header::new(if is_second { Version::Second } else { Version::First });
        volume::set_data_type(&mut header, self.placed.array.data_type(), self.samples)?;
        let count = self.empty + self.axes.len();
        header.set_int(DIM, 0, i64::try_from(count).unwrap_or_default())?;
        for dim in 0..7_usize {
            let axis = dim.checked_sub(self.empty).and_then(|dim| self.axes.get(dim));
            let length = axis.map_or(1, |axis| axis.count);
            let too_long = |_| unsupported(format!("a NIfTI dimension cannot have {length} elements"));
            header.set_int(DIM, dim + 1, i64::try_from(length).map_err(too_long)?)?;
            header.set_float(PIXDIM, dim + 1, 1.0);
        }
        header.set_float(PIXDIM, 0, 1.0);
        self.set_places(&mut header)?;
        self.set_known(&mut header)?;
        if let Some(slope) = self.placed.number("scale_factor") {
            header.set_float(SLOPE, 0, slope);
            header.set_float(INTERCEPT, 0, self.placed.number("add_offset").unwrap_or(0.0));
        } else if let Some(intercept) = self.placed.number("add_offset") {
            header.set_float(SLOPE, 0, 1.0);
            header.set_float(INTERCEPT, 0, intercept);
        }
        if let Some(text) = self.placed.text("description").or_else(|| self.placed.text("long_name")) {
            header.set_text(DESCRIPTION, text);
        }
        Ok(header)
    }

    /// Sets the spacing, the units and the matrix.
    fn set_places(&self, header: &mut Header) -> Result<()> {
        let (space, time) = (self.unit_of_space(), self.unit(3));
        for (dim, axis) in self.axes.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a step is small")]
            let kept =
                self.spacing.get(dim).copied().flatten().map(|spacing| spacing * axis.step.abs() as f64);
            let factor = if dim < SPATIAL { self.factor(dim, space) } else { 1.0 };
            let spacing = kept.or_else(|| axis.even.map(|(_, step)| step.abs() * factor));
            if let Some(spacing) = spacing {
                header.set_float(PIXDIM, dim + self.empty + 1, spacing);
            }
        }
        let code = |known: &[(i64, &str)], unit: Option<&str>| {
            unit.and_then(|unit| known.iter().find(|(_, name)| *name == unit)).map_or(0, |(code, _)| *code)
        };
        header.set_int(UNITS, 0, code(&SPACE, space) | code(&TIME, time.as_deref()))?;
        if let Some((matrix, code)) = self.matrix(space) {
            header.set_int(SFORM_CODE, 0, code)?;
            for (index, value) in matrix.iter().flatten().take(12).enumerate() {
                header.set_float(SFORM, index, *value);
            }
        }
        Ok(())
    }

    /// Returns the NIfTI unit of a dimension: the unit preserved by an import, or else that of the coordinates.
    fn unit(&self, dim: usize) -> Option<String> {
        let kept = self.units.get(dim).cloned().flatten().filter(|unit| !unit.is_empty());
        let of_axis = || {
            let unit = self.axes.get(dim)?.unit.as_deref()?;
            // CF time units include a reference date: "seconds since 1970-01-01".
            let unit = unit.split(" since ").next().unwrap_or(unit).trim();
            let all = METERS.iter().chain(&SECONDS).map(|(names, _)| names);
            all.into_iter().find(|names| names.contains(&unit)).map(|names| names[0].to_owned())
        };
        kept.or_else(of_axis)
    }

    /// Returns the unit of the spatial dimensions.
    fn unit_of_space(&self) -> Option<&'static str> {
        let first = (0..SPATIAL).find_map(|dim| self.unit(dim))?;
        match SPACE.iter().find(|(_, name)| *name == first) {
            Some((_, name)) => Some(name),
            // Other length units are converted to micrometers or millimeters.
            None => METERS
                .iter()
                .find(|(names, _)| names.contains(&first.as_str()))
                .map(|(_, size)| if *size < 1e-6 { "um" } else { "mm" }),
        }
    }

    /// Returns the conversion factor from the unit of a dimension's coordinates to the spatial unit.
    fn factor(&self, dim: usize, space: Option<&str>) -> f64 {
        let meters =
            |unit: &str| METERS.iter().find(|(names, _)| names.contains(&unit)).map(|(_, size)| size);
        let own = self.unit(dim).and_then(|unit| meters(&unit));
        own.zip(space.and_then(meters)).map_or(1.0, |(own, space)| own / space)
    }

    /// Returns the matrix of the file and its transform code: the matrix preserved by an import, or one derived from the
    /// coordinates.
    #[expect(clippy::cast_precision_loss, reason = "arrays have fewer positions along a dimension")]
    fn matrix(&self, space: Option<&str>) -> Option<([[f64; 4]; 3], i64)> {
        let code = |name: &str| self.known.get(name).and_then(Json::as_i64).filter(|&code| code > 0);
        if let Some(rows) = self.placed.attribute("affine").and_then(Json::as_array) {
            // The quaternion preserved by an import describes the same coordinates as the matrix.
            if self.placed.is_whole() && code("sform_code").is_none() && code("qform_code").is_some() {
                return None;
            }
            let mut matrix = [[0.0; 4]; 3];
            for (to, from) in matrix.iter_mut().zip(rows) {
                for (to, from) in to.iter_mut().zip(from.as_array()?) {
                    *to = from.as_f64().filter(|number| number.is_finite())?;
                }
                for (dim, axis) in self.all.iter().take(SPATIAL).enumerate() {
                    to[3] += to[dim] * axis.start as f64;
                    to[dim] *= axis.step as f64;
                }
            }
            return Some((matrix, code("sform_code").or_else(|| code("qform_code")).unwrap_or(ALIGNED)));
        }
        let is_placed = self.all.iter().take(SPATIAL).any(|axis| axis.even.is_some());
        is_placed.then(|| {
            let mut matrix = [[0.0; 4]; 3];
            for (dim, row) in matrix.iter_mut().enumerate() {
                let even = self.all.get(dim).and_then(|axis| axis.even).unwrap_or((0.0, 1.0));
                let factor = self.factor(dim, space);
                (row[dim], row[3]) = (even.1 * factor, even.0 * factor);
            }
            (matrix, ALIGNED)
        })
    }

    /// Sets the fields preserved by an import.
    fn set_known(&self, header: &mut Header) -> Result<()> {
        let is_whole = self.placed.is_whole();
        // The quaternion and slice timing of the whole array are not valid for a part of it.
        let is_valid =
            |name: &str| is_whole || !["q", "slice", "sform"].iter().any(|start| name.starts_with(start));
        for (name, field) in INTS.into_iter().filter(|(name, _)| is_valid(name) && *name != "sform_code") {
            if let Some(value) = self.known.get(name).and_then(Json::as_i64) {
                header.set_int(field, 0, value)?;
            }
        }
        for (name, field, _) in FLOATS.into_iter().filter(|(name, ..)| is_valid(name)) {
            match self.known.get(name) {
                Some(Json::Array(values)) => set_floats(header, field, values),
                Some(value) => set_floats(header, field, std::slice::from_ref(value)),
                None => {}
            }
        }
        for (name, text) in [("aux_file", AUXILIARY), ("intent_name", INTENT_NAME)] {
            if let Some(value) = self.known.get(name).and_then(Json::as_str) {
                header.set_text(text, value);
            }
        }
        if is_whole && self.known.get("qfac").and_then(Json::as_f64).is_some_and(|qfac| qfac < 0.0) {
            header.set_float(PIXDIM, 0, -1.0);
        }
        Ok(())
    }

    /// Writes the header, the extensions and the elements.
    fn write(&self, header: &Header, out: &mut impl Write, options: &Options<'_>) -> Result<()> {
        let mut header = header.clone();
        let kept =
            self.known.get("extensions").and_then(Json::as_array).map_or(&[] as &[Json], Vec::as_slice);
        let extensions = extensions::written(kept)?;
        let begin = header.version.size() + extensions.len();
        header.set_int(OFFSET, 0, i64::try_from(begin).unwrap_or_default())?;
        let writing = |error| failed("writing the file", error);
        out.write_all(header.bytes()).map_err(writing)?;
        out.write_all(&extensions).map_err(writing)?;
        let view = self.placed.array.slice(&self.placed.selection);
        let item = view.data_type().size().max(1) as u64;
        for block in view.parts_in_order((options.memory / item).max(1), zarrox::Order::RowMajor)? {
            let part: Vec<DimSelection> = block.into_iter().map(DimSelection::from).collect();
            let elements = view.slice(part).read::<DynArray>()?;
            out.write_all(elements.as_bytes()).map_err(writing)?;
            (options.progress)(elements.as_bytes().len() as u64 / item)?;
        }
        Ok(())
    }
}

fn set_floats(header: &mut Header, field: Field, values: &[Json]) {
    for (index, value) in values.iter().enumerate() {
        if let Some(value) = value.as_f64().filter(|number| number.is_finite()) {
            header.set_float(field, index, value);
        }
    }
}
