//! The elements whose statistics are computed, and the loops for their data types.

use std::borrow::Cow;
use std::collections::BTreeMap;

use zarrox_core::data_type::{Casting, Number};
use zarrox_core::{DataType, Error, ErrorKind, FillValue, Result};

use super::kernel::{self, Bins};
use crate::reduce::{self, Moments, has_loops, with_number};
use zarrox::{Array, DynArray};

/// The number of bins for percentiles.
const FINE: usize = 1 << 16;

/// The elements whose statistics are computed, and the loops for them.
pub(super) struct Counted {
    field: Option<String>,
    /// The data type of the elements, or of the field.
    pub(super) data_type: DataType,
    /// The data type to which elements are cast, if their own has no loops.
    cast: Option<(DataType, zarrox_core::Registry)>,
    pub(super) fill: Number,
    pub(super) fill_bytes: Vec<u8>,
    /// The fill value in the data type of the loops.
    pub(super) fill_number: Vec<u8>,
    /// The missing values, in the data type of the loops.
    missing: Vec<u8>,
}

impl Counted {
    pub(super) fn new(array: &Array, field: Option<&str>) -> Result<Self> {
        let fill = array.fill_bytes();
        let fill = DynArray::from_elements(array.data_type().clone(), vec![], [fill.as_bytes()])?;
        let fill = match field {
            Some(name) => fill.field(name)?,
            None => fill,
        };
        if let Some(name) = field.filter(|_| !fill.shape().is_empty()) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("the elements of the field '{name}' are subarrays"),
            ));
        }
        let data_type = fill.data_type().clone();
        let registry = array.location().context.registry.clone();
        let mut counted = Self {
            field: field.map(str::to_owned),
            cast: (!has_loops(&data_type)).then(|| (DataType::Float64, (*registry).clone())),
            data_type,
            fill: Number::Integer(0),
            fill_bytes: fill.elements().next().unwrap_or_default().to_vec(),
            fill_number: Vec::new(),
            missing: Vec::new(),
        };
        let numbers = counted.numbers(&fill).map_err(|error| {
            let message = format!("elements of {} are not real numbers", counted.data_type);
            Error::new(ErrorKind::Unsupported, message).with_source(error)
        })?;
        if is_complex(&counted.data_type) {
            let message =
                format!("elements of {} are complex; use their real and imaginary parts", counted.data_type);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let moments = with_number!(numbers.data_type(), reduce::moments(numbers.as_bytes()));
        let fill_number = numbers.as_bytes().to_vec();
        counted.fill = moments.range.map_or(Number::Float(f64::NAN), |(low, _)| low);
        counted.fill_number = fill_number;
        Ok(counted)
    }

    /// Sets the missing values, which are ignored.
    pub(super) fn without(mut self, missing: &[f64], array: &Array) -> Result<Self> {
        let missing = DynArray::nearest(&self.data_type, missing, &array.location().context.registry)?;
        self.missing = self.numbers(&missing)?.as_bytes().to_vec();
        Ok(self)
    }

    /// Returns true if the fill value is a missing value.
    pub(super) fn is_fill_missing(&self) -> bool {
        self.differ(&self.fill_number, self.number_type()) == [false]
    }

    /// Returns the elements of a part without missing values.
    pub(super) fn present<'v>(&self, part: &'v DynArray) -> Result<Cow<'v, DynArray>> {
        let values = self.values(part)?;
        if self.missing.is_empty() {
            return Ok(values);
        }
        let numbers = self.numbers(&values)?;
        let kept = self.differ(numbers.as_bytes(), numbers.data_type());
        let length = kept.iter().filter(|kept| **kept).count();
        let elements = values.elements().zip(kept).filter_map(|(element, kept)| kept.then_some(element));
        DynArray::from_elements(self.data_type.clone(), vec![length], elements).map(Cow::Owned)
    }

    fn differ(&self, numbers: &[u8], data_type: &DataType) -> Vec<bool> {
        with_number!(data_type, kernel::differ(numbers, &self.missing))
    }

    /// Returns the elements of a part.
    pub(super) fn values<'v>(&self, part: &'v DynArray) -> Result<Cow<'v, DynArray>> {
        match &self.field {
            Some(name) => part.field(name).map(Cow::Owned),
            None => Ok(Cow::Borrowed(part)),
        }
    }

    pub(super) fn numbers<'v>(&self, values: &'v DynArray) -> Result<Cow<'v, DynArray>> {
        match &self.cast {
            Some((to, registry)) => values.cast(to, Casting::Lossy, registry).map(Cow::Owned),
            None => Ok(Cow::Borrowed(values)),
        }
    }

    /// Returns the data type of the loops.
    pub(super) fn number_type(&self) -> &DataType {
        self.cast.as_ref().map_or(&self.data_type, |(to, _)| to)
    }

    /// Converts numbers to the data type of the elements.
    pub(super) fn uncast(&self, numbers: DynArray) -> Result<DynArray> {
        match &self.cast {
            Some((_, registry)) => numbers.cast(&self.data_type, Casting::Lossy, registry),
            None => Ok(numbers),
        }
    }

    pub(super) fn add(
        &self,
        values: &DynArray,
        moments: &mut Moments,
        bins: Option<&mut Bins>,
    ) -> Result<()> {
        let numbers = self.numbers(values)?;
        moments.join(&with_number!(numbers.data_type(), reduce::moments(numbers.as_bytes())));
        if let Some(bins) = bins {
            with_number!(numbers.data_type(), kernel::count(numbers.as_bytes(), bins));
        }
        Ok(())
    }

    pub(super) fn count(&self, values: &DynArray, bins: &mut Bins) -> Result<()> {
        let numbers = self.numbers(values)?;
        with_number!(numbers.data_type(), kernel::count(numbers.as_bytes(), bins));
        Ok(())
    }

    /// Creates the bins for percentiles.
    pub(super) fn fine_bins(&self, low: f64, high: f64) -> Bins {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than 2^16")]
        match self.cast.is_none() && !is_float(&self.data_type) && high - low < FINE as f64 {
            // Each integer has its own bin.
            true => Bins::new(low, high + 1.0, (high - low) as usize + 1),
            false => Bins::new(low, high, FINE),
        }
    }

    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "both are whole numbers")]
    pub(super) fn is_exact(&self, bins: &Bins) -> bool {
        self.cast.is_none() && !is_float(&self.data_type) && bins.high - bins.low == bins.counts.len() as f64
    }

    /// Returns the unique elements as strings, in numerical order.
    pub(super) fn texts(&self, unique: BTreeMap<Vec<u8>, u64>, array: &Array) -> Result<Vec<(String, u64)>> {
        let registry = &array.location().context.registry;
        let family = registry.family(&self.data_type)?;
        let mut elements: Vec<(Vec<u8>, u64)> = unique.into_iter().collect();
        let number = |element: &[u8]| {
            let one = DynArray::from_elements(self.data_type.clone(), vec![], [element]).ok()?;
            let numbers = self.numbers(&one).ok()?;
            let moments = with_number!(numbers.data_type(), reduce::moments(numbers.as_bytes()));
            Some(moments.range.map_or(f64::NAN, |(low, _)| low.to_f64()))
        };
        elements.sort_by(|(a, _), (b, _)| match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.cmp(b),
        });
        let text = |(element, count): (Vec<u8>, u64)| {
            let fill = FillValue::new(element);
            (family.format(&self.data_type, fill.as_bytes()), count)
        };
        Ok(elements.into_iter().map(text).collect())
    }
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64)
}

fn is_complex(data_type: &DataType) -> bool {
    matches!(data_type.storage(), zarrox_core::data_type::Storage::Complex(_))
}
