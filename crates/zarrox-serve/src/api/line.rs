//! `line`: one line of elements, or the minimum, maximum and mean of blocks of elements.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::json::Json;
use zarrox::{Array, DynArray, Interrupt, Registry, Result};
use zarrox_tools::reduce::{Blocks, Division, Measure};

use super::reduce::{MOST_REDUCED, reducer};
use super::selection::{Indexing, Part};
use super::slice::{MOST_JSON, nearest};
use crate::content::{self, Wanted};
use crate::failure::{Answer, Failure};
use crate::json::Value;
use crate::place::Place;
use crate::query::{Count, Numbers, Query, Select};

/// The default number of points of a line.
const USUAL: u64 = 2000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LineQuery {
    select: Select,
    indexing: Indexing,
    points: Option<Count<MOST_JSON>>,
    field: Option<String>,
    missing: Numbers,
}

/// One line of elements.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Line {
    /// The number of selected elements.
    length: u64,
    /// The number of elements that each point represents.
    step: u64,
    /// The selection in words, if it can be described.
    select: Option<String>,
    #[serde(flatten)]
    points: Points,
}

#[derive(Debug, Serialize)]
#[serde(tag = "reduce", rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
enum Points {
    /// The first element of each block.
    Nearest {
        #[cfg_attr(test, ts(as = "Vec<Value>"))]
        values: Value,
    },
    /// The minimum, the maximum and the mean of each block.
    Blocks {
        #[cfg_attr(test, ts(as = "Vec<Value>"))]
        min: Value,
        #[cfg_attr(test, ts(as = "Vec<Value>"))]
        max: Value,
        #[cfg_attr(test, ts(as = "Vec<Value>"))]
        mean: Value,
    },
}

pub(super) async fn answer(
    State(registry): State<Arc<Registry>>,
    place: Place,
    Query(query): Query<LineQuery>,
    wanted: Wanted,
) -> Answer<Response> {
    let workers = place.root.workers.clone();
    let work = move |array: &Array, interrupt: &Interrupt| {
        content::json(&wanted, &line(array, &query, &registry, interrupt)?)
    };
    place.of_array(workers, work).await
}

fn line(array: &Array, query: &LineQuery, registry: &Registry, interrupt: &Interrupt) -> Answer<Line> {
    let part = Part::new(array, &query.select, query.indexing, interrupt)?;
    let along: Vec<usize> = (0..part.shape.len()).filter(|&dim| part.shape[dim] != 1).collect();
    if along.len() > 1 {
        let message = format!("a line needs one dimension; the selection has the shape {:?}", part.shape);
        return Err(Failure::bad(message));
    }
    let length = along.first().map_or(1, |&dim| part.shape[dim]);
    let step = length.div_ceil(query.points.map_or(USUAL, Count::get)).max(1);
    let steps: Vec<u64> = part.shape.iter().map(|&length| step.min(length.max(1))).collect();
    let list = |values: &DynArray| list(values, registry);
    let points = match blocks(&part, &steps, query)? {
        Some(mut blocks) => Points::Blocks {
            min: list(&blocks.get(Measure::Min)?)?,
            max: list(&blocks.get(Measure::Max)?)?,
            mean: list(&blocks.rounded_mean()?)?,
        },
        None => {
            let elements = nearest(&part, steps, query.field.as_deref())?;
            Points::Nearest { values: list(&elements.values)? }
        }
    };
    Ok(Line { length, step, select: part.text(&vec![1; part.shape.len()]), points })
}

/// Returns the blocks of a line; `None` if each block is a single element, the request would read too
/// much, or the elements have no order.
fn blocks(part: &Part, steps: &[u64], query: &LineQuery) -> Answer<Option<Blocks>> {
    let is_whole = steps.iter().all(|step| *step == 1);
    if is_whole || part.count() > MOST_REDUCED || query.field.is_some() {
        return Ok(None);
    }
    part.check_cost(&vec![1; part.shape.len()], "select a shorter line")?;
    let view = part.array.slice(part.selection.clone());
    let divisions: Vec<Division> = steps.iter().map(|&step| Division::Length(step)).collect();
    match reducer(&view, &query.missing).and_then(|reducer| Ok(reducer.blocks(&view, &divisions)?)) {
        Err(failure) if failure.is_unsupported() => Ok(None),
        reduced => reduced.map(Some),
    }
}

/// Returns the elements as a flat list.
fn list(values: &DynArray, registry: &Registry) -> Result<Value> {
    let items = values.elements().map(|item| DynArray::element_to_json(values.data_type(), item, registry));
    Ok(Json::Array(items.collect::<Result<Vec<_>>>()?).into())
}
