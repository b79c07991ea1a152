//! `stats` and `histogram`: statistics of the elements of a selection.

use zarrox::json::{Json, json};
use zarrox::{Array, Error, ErrorKind, Interrupt, Selection};
use zarrox_tools::Statistics;

use super::reduce::MOST_REDUCED;
use super::selection::{self, Part, count, steps_for, thinned};
use crate::address::Query;
use crate::failure::{Answer, Failure};

/// The memory for chunks in progress, in bytes.
const MEMORY: usize = 128 << 20;

/// The elements that are counted unless a request says otherwise.
const USUAL: u64 = 1 << 24;

/// The most bins and different elements of an answer.
const MOST_BINS: u64 = 1 << 16;
const MOST_UNIQUE: u64 = 100_000;

/// The parameters.
const PARAMETERS: [&str; 8] =
    ["bins", "low", "high", "percentiles", "unique", "field", "missing", "max_elements"];

pub(super) fn answer(array: &Array, query: &Query, histogram: bool, interrupt: &Interrupt) -> Answer<Json> {
    query.only(&[&selection::PARAMETERS[..], &PARAMETERS[..]].concat())?;
    let part = Part::new(array, query, interrupt)?;
    let most = query.count("max_elements", 1 << 28)?.unwrap_or(USUAL);
    let steps = steps_for(&part.shape, most.into());
    let counted = thinned(&part.shape, &steps);
    let selection = match part.plain(&steps) {
        Some(items) => Selection::new(items),
        None if steps.iter().all(|step| *step == 1) => part.selection.clone(),
        None => {
            let message = format!("{} elements are listed, more than {most}", part.count());
            return Err(Failure::too_much(message, "select them by slices, which can be thinned"));
        }
    };
    part.check_cost(&steps, "select a smaller part, or one element along a dimension")?;
    if count(&counted) > MOST_REDUCED {
        return Err(Failure::too_much("too many elements are selected", "ask with a smaller max_elements"));
    }
    let statistics = Statistics::new().memory(MEMORY).select(selection);
    let statistics = options(statistics, query, histogram)?;
    let (raised, signal) = (interrupt.clone(), || Error::new(ErrorKind::Interrupted, "interrupted"));
    let statistics = statistics.on_progress(move |_| if raised.is_raised() { Err(signal()) } else { Ok(()) });
    let mut body = statistics.run(&part.array)?.to_json();
    body.insert("select".to_owned(), part.text(&steps).map_or(Json::Null, Json::from));
    body.insert("step".to_owned(), json!(steps.as_slice()));
    body.insert("sampled".to_owned(), (count(&counted) != part.count()).into());
    Ok(body.into())
}

fn options(statistics: Statistics, query: &Query, histogram: bool) -> Answer<Statistics> {
    let bins = query.count("bins", MOST_BINS)?.or(histogram.then_some(64)).unwrap_or(0);
    let statistics = statistics.histogram(usize::try_from(bins).unwrap_or(0));
    let statistics = match (query.number("low")?, query.number("high")?) {
        (Some(low), Some(high)) if low < high => statistics.range(low, high),
        (None, None) => statistics,
        _ => return Err(Failure::bad("a range has a low end and a higher one: low=0&high=100")),
    };
    let percentiles = query.numbers("percentiles")?;
    let unique = query.count("unique", MOST_UNIQUE)?.unwrap_or(0);
    let statistics = statistics.missing(query.numbers("missing")?);
    let statistics =
        query.text("field").into_iter().fold(statistics, |statistics, name| statistics.field(name));
    Ok(statistics.percentiles(percentiles).unique(usize::try_from(unique).unwrap_or(0)))
}
