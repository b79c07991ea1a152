//! Statistics of the elements of an array.

mod kernel;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use zarrox_core::data_type::{Casting, Number};
use zarrox_core::json::{Json, Map, json};
use zarrox_core::{DataType, Error, ErrorKind, FillValue, IntoSelection, Result, Selection};

use crate::array::{Array, DynArray};
use crate::convert::Progress;
use crate::digest::{Listener, Work};
use crate::error::argument;
use crate::survey::pass::{Pass, elements_of};
use kernel::{Bins, Moments};

/// The number of bins in which percentiles are looked for.
const FINE: usize = 1 << 16;

/// Statistics of numbers. What is NaN is counted, and left out of everything else.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of elements.
    pub count: u64,
    /// The number of elements that are NaN.
    pub nan: u64,
    /// The smallest element; `None` if there are only NaN, or nothing.
    pub min: Option<Number>,
    /// The largest element.
    pub max: Option<Number>,
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation of the population, as NumPy's `std` computes it.
    pub std: Option<f64>,
    /// The counts in bins of one width, if they were asked for.
    pub histogram: Option<Histogram>,
    /// The percentiles that were asked for, with their values.
    pub percentiles: Vec<(f64, f64)>,
    /// The largest error of a percentile.
    pub percentile_error: f64,
    /// The elements that differ from each other, as text and with their counts, if they were asked for and are not too many.
    pub unique: Option<Vec<(String, u64)>>,
}

impl Stats {
    /// The statistics as an object: what there is none of is `null`.
    pub fn to_json(&self) -> Map {
        let number = |number: Option<Number>| match number {
            Some(Number::Integer(whole)) => match (i64::try_from(whole), u64::try_from(whole)) {
                (Ok(whole), _) => Json::from(whole),
                (_, Ok(whole)) => Json::from(whole),
                _ => Json::Null,
            },
            Some(other) => Json::from(other.to_f64()),
            None => Json::Null,
        };
        let float = |float: Option<f64>| float.map_or(Json::Null, Json::from);
        let percentiles = self.percentiles.iter().map(|(p, value)| json!({"percent": *p, "value": *value}));
        let histogram = self.histogram.as_ref().map_or(Json::Null, |histogram| {
            json!({"low": histogram.low, "high": histogram.high, "counts": histogram.counts.as_slice()})
        });
        let unique = self.unique.as_ref().map_or(Json::Null, |unique| {
            unique.iter().map(|(value, count)| json!({"value": value.as_str(), "count": *count})).collect()
        });
        let members = [
            ("count", self.count.into()),
            ("nan", self.nan.into()),
            ("min", number(self.min)),
            ("max", number(self.max)),
            ("mean", float(self.mean)),
            ("std", float(self.std)),
            ("percentiles", percentiles.collect()),
            ("percentile_error", self.percentile_error.into()),
            ("histogram", histogram),
            ("unique", unique),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// The counts of elements in bins of one width, of which the last has both its ends, as NumPy's `histogram` counts them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// The begin of the first bin.
    pub low: f64,
    /// The end of the last bin.
    pub high: f64,
    /// The number of elements in each bin.
    pub counts: Vec<u64>,
}

/// Computes statistics, with options.
///
/// All threads read parts of whole chunks in one pass. Chunks that are not stored are counted without a visit. A histogram without a
/// range and percentiles take a second pass.
///
/// ```
/// use zarrox::prelude::*;
/// use zarrox::Statistics;
/// # let directory = tempfile::tempdir()?;
/// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([4]).data_type(DataType::Float32).create()?;
/// array.write(.., &ndarray::arr1(&[1.0_f32, 2.0, f32::NAN, 6.0]))?;
///
/// let stats = Statistics::new().histogram(2).run(&array)?;
/// assert_eq!((stats.count, stats.nan, stats.mean), (4, 1, Some(3.0)));
/// assert_eq!(stats.histogram.unwrap().counts, [2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Statistics {
    memory: usize,
    part: Option<Selection>,
    field: Option<String>,
    bins: usize,
    range: Option<(f64, f64)>,
    percentiles: Vec<f64>,
    unique: usize,
    listener: Option<Listener>,
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            part: None,
            field: None,
            bins: 0,
            range: None,
            percentiles: Vec::new(),
            unique: 0,
            listener: None,
        }
    }
}

impl fmt::Debug for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statistics").field("memory", &self.memory).finish_non_exhaustive()
    }
}

/// The unique elements that were seen; `None` if there are too many.
type Unique = Option<BTreeMap<Vec<u8>, u64>>;

impl Statistics {
    /// Extremes, mean and deviation, in 1 GiB of memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how much memory may be in use at once, in bytes. At least one chunk is in memory.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Takes only the elements of a selection.
    #[must_use]
    pub fn select(self, selection: impl IntoSelection) -> Self {
        Self { part: Some(selection.into_selection()), ..self }
    }

    /// Takes only this field of structures.
    #[must_use]
    pub fn field(self, name: impl Into<String>) -> Self {
        Self { field: Some(name.into()), ..self }
    }

    /// Counts elements in so many bins from the smallest to the largest element; at most 2^20.
    #[must_use]
    pub fn histogram(self, bins: usize) -> Self {
        Self { bins: bins.min(1 << 20), ..self }
    }

    /// Sets the begin of the first and the end of the last bin.
    #[must_use]
    pub fn range(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }

    /// Finds percentiles, from 0 to 100: as exact as a range of 65,536 bins allows, and exact for integers of at most 16 bits.
    #[must_use]
    pub fn percentiles(self, percentiles: impl IntoIterator<Item = f64>) -> Self {
        Self { percentiles: percentiles.into_iter().collect(), ..self }
    }

    /// Lists the elements that differ from each other, if there are at most so many.
    #[must_use]
    pub fn unique(self, most: usize) -> Self {
        Self { unique: most, ..self }
    }

    /// Hears of progress in elements, from any thread. An error ends the work.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Computes the statistics of an array.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the elements are no real numbers, [`ErrorKind::InvalidArgument`] when a percentile or the range
    /// is none; the errors of reading.
    pub fn run(&self, array: &Array) -> Result<Stats> {
        self.check()?;
        let place = |error: Error| error.at(format!("array '{}'", array.path()));
        let counted = Counted::new(array, self.field.as_deref()).map_err(place)?;
        let (pass, absent) = self.pass(array)?;
        let work = Work::new(self.memory, self.listener.clone());
        work.expect(pass.elements());
        let given = self.range.filter(|_| self.bins > 0).map(|(low, high)| Bins::new(low, high, self.bins));
        let start = || (Moments::default(), given.clone(), Some(BTreeMap::new()));
        let states = pass.run(start, |(moments, bins, unique): &mut (_, _, Unique), region, values| {
            let values = counted.values(values[0])?;
            counted.add(&values, moments, bins.as_mut())?;
            if self.unique > 0 {
                add_unique(unique, &values, self.unique);
            }
            work.tell(elements_of(region))
        })?;
        let (mut moments, mut bins, mut unique) = start();
        for (other, other_bins, other_unique) in &states {
            moments.join(other);
            bins.iter_mut().zip(other_bins).for_each(|(own, other)| own.join(other));
            join_unique(&mut unique, other_unique, self.unique);
        }
        moments.join(&Moments::of_repeated(counted.fill, absent));
        if absent > 0 {
            bins.iter_mut().for_each(|bins| bins.add(counted.fill.to_f64(), absent));
            let fill = BTreeMap::from([(counted.fill_bytes.clone(), absent)]);
            join_unique(&mut unique, &Some(fill), self.unique);
        }
        let mut stats = stats_of(&moments);
        stats.unique =
            unique.filter(|_| self.unique > 0).map(|unique| counted.texts(unique, array)).transpose()?;
        let is_second = !self.percentiles.is_empty() || (self.bins > 0 && self.range.is_none());
        if let Some((low, high)) = moments.range.filter(|_| is_second) {
            let range = (low.to_f64(), high.to_f64());
            let (fine, coarse) = self.second_pass(&pass, &counted, range, absent, &work)?;
            bins = bins.or(coarse);
            (stats.percentiles, stats.percentile_error) = self.found(&fine, &counted);
        }
        stats.histogram = bins.map(|Bins { low, high, counts }| Histogram { low, high, counts });
        Ok(stats)
    }

    /// The pass, and the number of elements that it does not visit since they are not stored.
    fn pass(&self, array: &Array) -> Result<(Pass, u64)> {
        if let Some(part) = &self.part {
            return Ok((Pass::of_view(&array.slice(part.clone()), part.clone(), self.memory)?, 0));
        }
        let pass = Pass::new(&[array], self.memory, false)?;
        let all = array.shape().iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
        let all = all.ok_or_else(|| argument("the array has more elements than can be counted"))?;
        let absent = all - pass.elements();
        Ok((pass, absent))
    }

    fn check(&self) -> Result<()> {
        if let Some(bad) = self.percentiles.iter().find(|percentile| !(0.0..=100.0).contains(*percentile)) {
            return Err(argument(format!("{bad} is no percentile, which are from 0 to 100")));
        }
        match self.range {
            Some((low, high)) if !(low.is_finite() && high.is_finite() && low < high) => {
                Err(argument(format!("{low} to {high} is no range")))
            }
            _ => Ok(()),
        }
    }

    /// The counts in fine bins, for percentiles, and in those of the histogram.
    fn second_pass(
        &self,
        pass: &Pass,
        counted: &Counted,
        (low, high): (f64, f64),
        absent: u64,
        work: &Work,
    ) -> Result<(Bins, Option<Bins>)> {
        if !(low.is_finite() && high.is_finite()) {
            let message =
                "there are infinite elements; a histogram needs a range, and percentiles are not found";
            return Err(argument(message));
        }
        work.expect(pass.elements());
        let fine = counted.fine_bins(low, high);
        let coarse = (self.bins > 0 && self.range.is_none()).then(|| Bins::new(low, high, self.bins));
        let start = || (fine.clone(), coarse.clone());
        let states = pass.run(start, |(fine, coarse), region, values| {
            let values = counted.values(values[0])?;
            if !self.percentiles.is_empty() {
                counted.count(&values, fine)?;
            }
            if let Some(coarse) = coarse {
                counted.count(&values, coarse)?;
            }
            work.tell(elements_of(region))
        })?;
        let (mut fine, mut coarse) = start();
        for (other, other_coarse) in &states {
            fine.join(other);
            coarse.iter_mut().zip(other_coarse).for_each(|(own, other)| own.join(other));
        }
        if absent > 0 {
            fine.add(counted.fill.to_f64(), absent);
            coarse.iter_mut().for_each(|bins| bins.add(counted.fill.to_f64(), absent));
        }
        Ok((fine, coarse))
    }

    /// The percentiles, and the width of the bins in which they are.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the rank is within the count"
    )]
    fn found(&self, bins: &Bins, counted: &Counted) -> (Vec<(f64, f64)>, f64) {
        let total: u64 = bins.counts.iter().sum();
        let width = (bins.high - bins.low) / bins.counts.len() as f64;
        let at_rank = |rank: u64| {
            let mut below = 0;
            let at = bins.counts.iter().position(|count| {
                below += count;
                below > rank
            });
            let at = at.unwrap_or(0) as f64;
            let value = if counted.is_exact(bins) { bins.low + at } else { bins.low + (at + 0.5) * width };
            value.clamp(bins.low, bins.high)
        };
        // Between two elements, as NumPy does.
        let find = |&percentile: &f64| {
            let rank = percentile / 100.0 * total.saturating_sub(1) as f64;
            let (lower, upper) = (at_rank(rank.floor() as u64), at_rank(rank.ceil() as u64));
            (percentile, lower + (upper - lower) * rank.fract())
        };
        let error = if counted.is_exact(bins) { 0.0 } else { width / 2.0 };
        (self.percentiles.iter().map(find).collect(), error)
    }
}

#[expect(clippy::cast_precision_loss, reason = "the divisor of a mean")]
fn stats_of(moments: &Moments) -> Stats {
    let any = moments.count > 0;
    Stats {
        count: moments.count + moments.nan,
        nan: moments.nan,
        min: moments.range.map(|(low, _)| low),
        max: moments.range.map(|(_, high)| high),
        mean: any.then_some(moments.mean),
        std: any.then(|| (moments.squares / moments.count as f64).sqrt()),
        histogram: None,
        percentiles: Vec::new(),
        percentile_error: 0.0,
        unique: None,
    }
}

fn add_unique(unique: &mut Unique, values: &DynArray, most: usize) {
    let Some(seen) = unique else { return };
    let mut last: Option<&[u8]> = None;
    let mut times = 0;
    // Equal elements often lie side by side.
    for element in values.elements().map(Some).chain([None]) {
        if element == last && element.is_some() {
            times += 1;
            continue;
        }
        if let Some(last) = last {
            match seen.get_mut(last) {
                Some(count) => *count += times,
                None => drop(seen.insert(last.to_vec(), times)),
            }
        }
        (last, times) = (element, 1);
        if seen.len() > most {
            *unique = None;
            return;
        }
    }
}

fn join_unique(unique: &mut Unique, other: &Unique, most: usize) {
    let (Some(own), Some(other)) = (unique.as_mut(), other) else {
        *unique = None;
        return;
    };
    for (element, count) in other {
        *own.entry(element.clone()).or_default() += count;
    }
    if own.len() > most {
        *unique = None;
    }
}

/// The elements that are counted, and the loops for them.
struct Counted {
    field: Option<String>,
    /// The type of the elements, or of the field.
    data_type: DataType,
    /// The type that elements are cast to, if there are no loops for their own.
    cast: Option<(DataType, zarrox_core::Registry)>,
    fill: Number,
    fill_bytes: Vec<u8>,
}

/// Calls a loop for the Rust type of a data type; that of others is `f64`.
macro_rules! with_type {
    ($data_type:expr, $loop:ident ( $($argument:expr),* )) => {
        match $data_type {
            DataType::Bool | DataType::UInt8 => kernel::$loop::<u8>($($argument),*),
            DataType::Int8 => kernel::$loop::<i8>($($argument),*),
            DataType::Int16 => kernel::$loop::<i16>($($argument),*),
            DataType::Int32 => kernel::$loop::<i32>($($argument),*),
            DataType::Int64 => kernel::$loop::<i64>($($argument),*),
            DataType::UInt16 => kernel::$loop::<u16>($($argument),*),
            DataType::UInt32 => kernel::$loop::<u32>($($argument),*),
            DataType::UInt64 => kernel::$loop::<u64>($($argument),*),
            DataType::Float32 => kernel::$loop::<f32>($($argument),*),
            _ => kernel::$loop::<f64>($($argument),*),
        }
    };
}

impl Counted {
    fn new(array: &Array, field: Option<&str>) -> Result<Self> {
        let fill = array.fill_value();
        let fill = DynArray::from_elements(array.data_type().clone(), vec![], [fill.as_bytes()])?;
        let fill = match field {
            Some(name) => fill.field(name)?,
            None => fill,
        };
        if let Some(name) = field.filter(|_| !fill.shape().is_empty()) {
            return Err(Error::new(ErrorKind::Unsupported, format!("the field '{name}' has arrays")));
        }
        let data_type = fill.data_type().clone();
        let registry = array.location().context.registry.clone();
        let mut counted = Self {
            field: field.map(str::to_owned),
            cast: (!has_loops(&data_type)).then(|| (DataType::Float64, (*registry).clone())),
            data_type,
            fill: Number::Integer(0),
            fill_bytes: fill.elements().next().unwrap_or_default().to_vec(),
        };
        let numbers = counted.numbers(&fill).map_err(|error| {
            let message = format!("elements of {} are no real numbers", counted.data_type);
            Error::new(ErrorKind::Unsupported, message).with_source(error)
        })?;
        if is_complex(&counted.data_type) {
            let message = format!("elements of {} are complex; take their parts", counted.data_type);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let moments = with_type!(numbers.data_type(), moments(numbers.as_bytes()));
        counted.fill = moments.range.map_or(Number::Float(f64::NAN), |(low, _)| low);
        Ok(counted)
    }

    /// The counted elements of a part.
    fn values<'v>(&self, part: &'v DynArray) -> Result<Cow<'v, DynArray>> {
        match &self.field {
            Some(name) => part.field(name).map(Cow::Owned),
            None => Ok(Cow::Borrowed(part)),
        }
    }

    fn numbers<'v>(&self, values: &'v DynArray) -> Result<Cow<'v, DynArray>> {
        match &self.cast {
            Some((to, registry)) => values.cast(to, Casting::Lossy, registry).map(Cow::Owned),
            None => Ok(Cow::Borrowed(values)),
        }
    }

    fn add(&self, values: &DynArray, moments: &mut Moments, bins: Option<&mut Bins>) -> Result<()> {
        let numbers = self.numbers(values)?;
        moments.join(&with_type!(numbers.data_type(), moments(numbers.as_bytes())));
        if let Some(bins) = bins {
            with_type!(numbers.data_type(), count(numbers.as_bytes(), bins));
        }
        Ok(())
    }

    fn count(&self, values: &DynArray, bins: &mut Bins) -> Result<()> {
        let numbers = self.numbers(values)?;
        with_type!(numbers.data_type(), count(numbers.as_bytes(), bins));
        Ok(())
    }

    /// Bins in which percentiles are found.
    fn fine_bins(&self, low: f64, high: f64) -> Bins {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than 2^16")]
        match self.cast.is_none() && !is_float(&self.data_type) && high - low < FINE as f64 {
            // A bin for each integer.
            true => Bins::new(low, high + 1.0, (high - low) as usize + 1),
            false => Bins::new(low, high, FINE),
        }
    }

    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "both are whole numbers")]
    fn is_exact(&self, bins: &Bins) -> bool {
        self.cast.is_none() && !is_float(&self.data_type) && bins.high - bins.low == bins.counts.len() as f64
    }

    /// The texts of unique elements, in the order of numbers.
    fn texts(&self, unique: BTreeMap<Vec<u8>, u64>, array: &Array) -> Result<Vec<(String, u64)>> {
        let registry = &array.location().context.registry;
        let family = registry.family(&self.data_type)?;
        let mut elements: Vec<(Vec<u8>, u64)> = unique.into_iter().collect();
        let number = |element: &[u8]| {
            let one = DynArray::from_elements(self.data_type.clone(), vec![], [element]).ok()?;
            let numbers = self.numbers(&one).ok()?;
            let moments = with_type!(numbers.data_type(), moments(numbers.as_bytes()));
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

fn has_loops(data_type: &DataType) -> bool {
    use DataType::{Bool, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    matches!(
        data_type,
        Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float32 | Float64
    )
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64)
}

fn is_complex(data_type: &DataType) -> bool {
    matches!(data_type.storage(), zarrox_core::Storage::Complex(_))
}

/// Statistics of the elements of an array: the extremes, the mean and the deviation. [`Statistics`] has options.
///
/// # Errors
/// The errors of [`Statistics::run`].
pub fn stats(array: &Array) -> Result<Stats> {
    Statistics::new().run(array)
}
