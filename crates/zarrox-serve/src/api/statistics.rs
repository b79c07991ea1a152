//! `stats` and `histogram`: statistics of the elements of a selection.

use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::{Array, Error, ErrorKind, Interrupt, Selection};
use zarrox_tools::Statistics;

use super::reduce::MOST_REDUCED;
use super::selection::{Indexing, Part, count, steps_for, thinned};
use crate::content::{self, Wanted};
use crate::failure::{Answer, Failure};
use crate::json::{Float, Value};
use crate::place::Place;
use crate::query::{Count, Finite, Numbers, Query, Select};

/// The memory for chunks in progress, in bytes.
const MEMORY: usize = 128 << 20;

/// The default maximum number of elements that are counted.
const USUAL: u64 = 1 << 24;

/// The maximum number of bins and of different elements in a response.
const MOST_BINS: u64 = 1 << 16;
const MOST_UNIQUE: u64 = 100_000;

/// The default number of bins of a histogram.
const USUAL_BINS: u64 = 64;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StatsQuery {
    select: Select,
    indexing: Indexing,
    bins: Option<Count<MOST_BINS>>,
    low: Option<Finite>,
    high: Option<Finite>,
    percentiles: Numbers,
    unique: Option<Count<MOST_UNIQUE>>,
    field: Option<String>,
    missing: Numbers,
    max_elements: Option<Count<{ 1 << 28 }>>,
}

/// Statistics of numbers. NaN and `missing` are counted, and excluded from all other statistics.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Stats {
    count: u64,
    nan: u64,
    missing: u64,
    min: Value,
    max: Value,
    mean: Option<Float>,
    /// The standard deviation of the population.
    std: Option<Float>,
    percentiles: Vec<Percentile>,
    /// The maximum error of a percentile.
    percentile_error: Float,
    histogram: Option<Histogram>,
    /// The different elements, unless there are more than requested.
    unique: Option<Vec<Unique>>,
    /// The selection in words, if it can be described.
    select: Option<String>,
    /// The number of elements that each counted element represents, along each axis of the selection.
    step: Vec<u64>,
    /// True if only some of the selected elements were counted.
    sampled: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Percentile {
    percent: Float,
    value: Float,
}

/// The counts in bins of equal width.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Histogram {
    /// The start of the first bin.
    low: Float,
    /// The end of the last bin.
    high: Float,
    counts: Vec<u64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Unique {
    /// The element as text.
    value: String,
    count: u64,
}

impl Stats {
    fn new(stats: zarrox_tools::stats::Stats, select: Option<String>, step: Vec<u64>, sampled: bool) -> Self {
        let json = stats.to_json();
        let member = |name: &str| Value(json.get(name).cloned().unwrap_or_default());
        let percentile =
            |(percent, value): (f64, f64)| Percentile { percent: Float(percent), value: Float(value) };
        Self {
            count: stats.count,
            nan: stats.nan,
            missing: stats.missing,
            min: member("min"),
            max: member("max"),
            mean: stats.mean.map(Float),
            std: stats.std.map(Float),
            percentiles: stats.percentiles.into_iter().map(percentile).collect(),
            percentile_error: Float(stats.percentile_error),
            histogram: stats.histogram.map(|histogram| Histogram {
                low: Float(histogram.low),
                high: Float(histogram.high),
                counts: histogram.counts,
            }),
            unique: stats
                .unique
                .map(|unique| unique.into_iter().map(|(value, count)| Unique { value, count }).collect()),
            select,
            step,
            sampled,
        }
    }
}

pub(super) async fn stats(place: Place, Query(query): Query<StatsQuery>, wanted: Wanted) -> Answer<Response> {
    let workers = place.root.long.clone();
    let work = move |array: &Array, interrupt: &Interrupt| {
        content::json(&wanted, &computed(array, &query, interrupt)?)
    };
    place.of_array(workers, work).await
}

/// Statistics with a histogram, even if the request does not set its bins.
pub(super) async fn histogram(
    place: Place,
    Query(query): Query<StatsQuery>,
    wanted: Wanted,
) -> Answer<Response> {
    let bins = query.bins.or(Count::new(USUAL_BINS));
    stats(place, Query(StatsQuery { bins, ..query }), wanted).await
}

fn computed(array: &Array, query: &StatsQuery, interrupt: &Interrupt) -> Answer<Stats> {
    let part = Part::new(array, &query.select, query.indexing, interrupt)?;
    let most = query.max_elements.map_or(USUAL, Count::get);
    let steps = steps_for(&part.shape, most.into());
    let counted = thinned(&part.shape, &steps);
    let selection = match part.plain(&steps) {
        Some(items) => Selection::new(items),
        None if steps.iter().all(|step| *step == 1) => part.selection.clone(),
        None => {
            let message = format!("the selection lists {} elements; the limit is {most}", part.count());
            return Err(Failure::too_much(message, "use slices, which can be thinned"));
        }
    };
    part.check_cost(&steps, "select a smaller part, or one element along a dimension")?;
    if count(&counted) > MOST_REDUCED {
        return Err(Failure::too_much("too many elements are selected", "use a smaller max_elements"));
    }
    let statistics = Statistics::new().memory(MEMORY).select(selection);
    let statistics = options(statistics, query)?;
    let (raised, signal) = (interrupt.clone(), || Error::new(ErrorKind::Interrupted, "interrupted"));
    let statistics = statistics.on_progress(move |_| if raised.is_raised() { Err(signal()) } else { Ok(()) });
    let (stats, select) = (statistics.run(&part.array)?, part.text(&steps));
    Ok(Stats::new(stats, select, steps, count(&counted) != part.count()))
}

fn options(statistics: Statistics, query: &StatsQuery) -> Answer<Statistics> {
    let number = |count: Option<u64>| usize::try_from(count.unwrap_or(0)).unwrap_or(0);
    let statistics = match (query.low, query.high) {
        (Some(Finite(low)), Some(Finite(high))) if low < high => statistics.range(low, high),
        (None, None) => statistics,
        _ => return Err(Failure::bad("low and high must be used together, and low must be less than high")),
    };
    let statistics = statistics
        .histogram(number(query.bins.map(Count::get)))
        .percentiles(query.percentiles.0.iter().copied())
        .unique(number(query.unique.map(Count::get)))
        .missing(query.missing.0.clone());
    Ok(query.field.iter().fold(statistics, |statistics, name| statistics.field(name)))
}
