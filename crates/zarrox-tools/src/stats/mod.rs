//! Statistics of the elements of an array.

mod along;
mod counted;
mod kernel;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use zarrox_core::data_type::Number;
use zarrox_core::json::{Json, Map, json};
use zarrox_core::{Error, IntoSelection, Result, Selection};

use crate::pass::{Pass, elements_of};
pub use crate::reduce::Measure;
use crate::reduce::Moments;
use counted::Counted;
use kernel::Bins;
use zarrox::internals::{ErrorPlace, Listener, Task, argument};
use zarrox::{Array, DynArray, Progress};

/// Statistics of numbers. NaN and missing values are counted, but otherwise ignored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of elements.
    pub count: u64,
    /// The number of elements that are NaN.
    pub nan: u64,
    /// The number of missing values.
    pub missing: u64,
    /// The smallest element; `None` if all elements are NaN or missing, or if there are none.
    pub min: Option<Number>,
    /// The largest element.
    pub max: Option<Number>,
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation of the population, as computed by NumPy's `std`.
    pub std: Option<f64>,
    /// The histogram, if requested.
    pub histogram: Option<Histogram>,
    /// The requested percentiles, with their values.
    pub percentiles: Vec<(f64, f64)>,
    /// The maximum error of a percentile.
    pub percentile_error: f64,
    /// The unique elements as strings, with their counts, if requested and if there are not too many.
    pub unique: Option<Vec<(String, u64)>>,
}

impl Stats {
    /// Returns the statistics as a JSON object; undefined members are `null`.
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
            ("missing", self.missing.into()),
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

/// The counts of elements in bins of equal width. The last bin includes both of its ends, as in NumPy's `histogram`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// The start of the first bin.
    pub low: f64,
    /// The end of the last bin.
    pub high: f64,
    /// The number of elements in each bin.
    pub counts: Vec<u64>,
}

/// A builder for statistics.
///
/// All threads read parts of whole chunks in one pass. Missing chunks are counted without being read. Percentiles, and a
/// histogram without a range, need a second pass.
///
/// ```
/// use zarrox::prelude::*;
/// use zarrox_tools::Statistics;
/// # let directory = tempfile::tempdir()?;
/// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([4]).data_type(DataType::Float32).create()?;
/// array.write(.., [1.0_f32, 2.0, f32::NAN, 6.0])?;
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
    missing: Vec<f64>,
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
            missing: Vec::new(),
            listener: None,
        }
    }
}

impl fmt::Debug for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statistics").field("memory", &self.memory).finish_non_exhaustive()
    }
}

/// The unique elements so far; `None` if there are too many.
type Unique = Option<BTreeMap<Vec<u8>, u64>>;

impl Statistics {
    /// Creates a builder that computes extremes, mean and standard deviation, with a memory limit of 1 GiB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the memory limit in bytes. At least one chunk is held in memory.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Uses only the elements of a selection.
    #[must_use]
    pub fn select(self, selection: impl IntoSelection) -> Self {
        Self { part: Some(selection.into_selection()), ..self }
    }

    /// Uses only this field of a structured data type.
    #[must_use]
    pub fn field(self, name: impl Into<String>) -> Self {
        Self { field: Some(name.into()), ..self }
    }

    /// Computes a histogram with this number of bins, at most 2^20, from the smallest to the largest element.
    #[must_use]
    pub fn histogram(self, bins: usize) -> Self {
        Self { bins: bins.min(1 << 20), ..self }
    }

    /// Sets the start of the first and the end of the last bin.
    #[must_use]
    pub fn range(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }

    /// Computes percentiles, given as numbers from 0 to 100, with the precision of 65,536 bins. They are exact for integers of at
    /// most 16 bits.
    #[must_use]
    pub fn percentiles(self, percentiles: impl IntoIterator<Item = f64>) -> Self {
        Self { percentiles: percentiles.into_iter().collect(), ..self }
    }

    /// Lists the unique elements, if there are at most `most`.
    #[must_use]
    pub fn unique(self, most: usize) -> Self {
        Self { unique: most, ..self }
    }

    /// Sets missing values, such as the values of the attributes `_FillValue` and `missing_value`. For floats, the nearest
    /// representable numbers are used. For other data types, numbers that cannot be represented have no effect.
    ///
    /// ```
    /// use zarrox::prelude::*;
    /// use zarrox_tools::Statistics;
    /// # let directory = tempfile::tempdir()?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([3]).data_type(DataType::Int16).create()?;
    /// array.write(.., [4_i16, -999, 6])?;
    ///
    /// let stats = Statistics::new().missing([-999.0]).run(&array)?;
    /// assert_eq!((stats.count, stats.missing, stats.mean), (3, 1, Some(5.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn missing(self, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { missing: numbers.into_iter().collect(), ..self }
    }

    /// Sets a listener that is called with the progress, from any thread. An error of the listener stops the operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Computes the statistics of an array.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) if the elements are not real numbers,
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) if a percentile or the range is invalid; the errors of
    /// reading.
    pub fn run(&self, array: &Array) -> Result<Stats> {
        self.check()?;
        let place = |error: Error| error.at(ErrorPlace::array(array.path()));
        let counted = Counted::new(array, self.field.as_deref()).map_err(place)?;
        let counted = counted.without(&self.missing, array)?;
        let (pass, absent) = self.pass(array)?;
        let work = Task::new(self.memory, self.listener.clone());
        let given = self.range.filter(|_| self.bins > 0).map(|(low, high)| Bins::new(low, high, self.bins));
        let start = || (Moments::default(), given.clone(), Some(BTreeMap::new()));
        let states =
            pass.run(&work, start, |(moments, bins, unique): &mut (_, _, Unique), region, values| {
                let values = counted.present(values[0])?;
                counted.add(&values, moments, bins.as_mut())?;
                moments.missing += elements_of(region) - values.shape().iter().product::<usize>() as u64;
                if self.unique > 0 {
                    add_unique(unique, &values, self.unique);
                }
                Ok(())
            })?;
        let (mut moments, mut bins, mut unique) = start();
        for (other, other_bins, other_unique) in &states {
            moments.join(other);
            bins.iter_mut().zip(other_bins).for_each(|(own, other)| own.join(other));
            join_unique(&mut unique, other_unique, self.unique);
        }
        let is_missing = counted.is_fill_missing();
        moments.missing += if is_missing { absent } else { 0 };
        let absent = if is_missing { 0 } else { absent };
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

    /// Returns the pass, and the number of elements in missing chunks, which it does not visit.
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
            return Err(argument(format!("the percentile {bad} is not between 0 and 100")));
        }
        match self.range {
            Some((low, high)) if !(low.is_finite() && high.is_finite() && low < high) => {
                Err(argument(format!("{low} to {high} is not a valid range")))
            }
            _ => Ok(()),
        }
    }

    /// Counts the elements in fine bins for percentiles, and in the bins of the histogram.
    fn second_pass(
        &self,
        pass: &Pass,
        counted: &Counted,
        (low, high): (f64, f64),
        absent: u64,
        work: &Task,
    ) -> Result<(Bins, Option<Bins>)> {
        if !(low.is_finite() && high.is_finite()) {
            let message =
                "some elements are infinite: histograms need a range, and percentiles are not supported";
            return Err(argument(message));
        }
        let fine = counted.fine_bins(low, high);
        let coarse = (self.bins > 0 && self.range.is_none()).then(|| Bins::new(low, high, self.bins));
        let start = || (fine.clone(), coarse.clone());
        let states = pass.run(work, start, |(fine, coarse), _, values| {
            let values = counted.present(values[0])?;
            if !self.percentiles.is_empty() {
                counted.count(&values, fine)?;
            }
            if let Some(coarse) = coarse {
                counted.count(&values, coarse)?;
            }
            Ok(())
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

    /// Returns the percentiles, and the width of their bins.
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
        // Percentiles are interpolated between two elements, as in NumPy.
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
        count: moments.count + moments.nan + moments.missing,
        nan: moments.nan,
        missing: moments.missing,
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
    // Equal elements are often adjacent.
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

/// Returns statistics of the elements of an array: extremes, mean and standard deviation. [`Statistics`] has options.
///
/// # Errors
/// The errors of [`Statistics::run`].
pub fn stats(array: &Array) -> Result<Stats> {
    Statistics::new().run(array)
}
