//! `slice`: selected elements, thinned or reduced to the requested number.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, HeaderName};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::data_type::{Casting, Endian, Storage};
use zarrox::internals::Timings;
use zarrox::internals::data_type::ByteOrder;
use zarrox::{Array, DataType, DynArray, ErrorKind, Interrupt, Registry};
use zarrox_files::picture::{self, Colours, NAMES, Scale, Scaling};
use zarrox_tools::reduce::Reducer;

use super::reduce::{MOST_REDUCED, Reduce, reducer};
use super::selection::{Indexing, Part, count, steps_for, thinned};
use crate::content::{self, BYTES, Wanted, put};
use crate::failure::{Answer, Failure};
use crate::json::Value;
use crate::place::Place;
use crate::query::{Count, Finite, Flag, Numbers, Query, Select};

/// The header with the times of a response, which browsers show beside the request.
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// The default and the maximum number of elements in a response.
const USUAL: u64 = 4 << 20;
const MOST: u64 = 64 << 20;
/// The maximum number of bytes in a response.
const MOST_BYTES: u128 = 256 << 20;
/// The maximum number of elements in a JSON response.
pub(super) const MOST_JSON: u64 = 1 << 20;

/// The maximum number of elements along an axis of a picture.
const MOST_ALONG: u64 = 1 << 16;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SliceQuery {
    select: Select,
    indexing: Indexing,
    max_elements: Option<Count<MOST>>,
    /// An alias of `max_elements`.
    max_pixels: Option<Count<MOST>>,
    width: Option<Count<MOST_ALONG>>,
    height: Option<Count<MOST_ALONG>>,
    step: Option<String>,
    reduce: Reduce,
    missing: Numbers,
    #[serde(rename = "as")]
    form: Form,
    field: Option<String>,
    colormap: ColourMap,
    low: Option<Finite>,
    high: Option<Finite>,
    scale: ColourScale,
    download: Flag,
}

/// The format of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    #[default]
    Raw,
    Json,
    Npy,
    Png,
}

/// The norm of the colormap.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ColourScale {
    #[default]
    Linear,
    Log,
}

/// A colormap, by name.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(try_from = "String")]
struct ColourMap(Colours);

impl TryFrom<String> for ColourMap {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let unknown =
            || format!("unknown colormap '{}'; expected one of {}", name.escape_debug(), NAMES.join(", "));
        Colours::named(&name).map(Self).ok_or_else(unknown)
    }
}

/// Elements as JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Slice {
    shape: Vec<usize>,
    data_type: String,
    /// The selection in words, if it can be described.
    select: Option<String>,
    /// The number of elements that each returned element represents, along each axis.
    step: Vec<u64>,
    /// The name of the reduction.
    reduce: &'static str,
    /// Nested lists, or one value.
    values: Value,
}

/// The elements of a response, and their selection.
pub(super) struct Elements {
    pub(super) values: DynArray,
    /// The selection in words, if it can be described.
    selection: Option<String>,
    steps: Vec<u64>,
    reduction: Reduce,
}

pub(super) async fn answer(
    State(registry): State<Arc<Registry>>,
    place: Place,
    Query(query): Query<SliceQuery>,
    wanted: Wanted,
) -> Answer<Response> {
    let workers = place.root.workers.clone();
    let work =
        move |array: &Array, interrupt: &Interrupt| elements(array, &query, &wanted, &registry, interrupt);
    place.of_array(workers, work).await
}

/// Responds with elements in the requested format.
fn elements(
    array: &Array,
    query: &SliceQuery,
    wanted: &Wanted,
    registry: &Registry,
    interrupt: &Interrupt,
) -> Answer<Response> {
    let form = query.form;
    let part = Part::new(array, &query.select, query.indexing, interrupt)?;
    let steps = asked_steps(&part.shape, query)?;
    let begun = Instant::now();
    let elements = read(&part, steps, query)?;
    let mut described = HeaderMap::new();
    describe(&elements, &mut described, registry);
    put(&mut described, SERVER_TIMING, &times(&part.timings, begun.elapsed()));
    let mut response = match form {
        Form::Json => return as_json(&elements, wanted, registry),
        Form::Raw => content::tagged(wanted, little_endian(as_numbers(elements.values, registry)?.1)?, BYTES),
        Form::Npy => content::tagged(wanted, npy(elements.values, registry)?, BYTES),
        Form::Png => content::tagged(wanted, png(&elements, query, registry)?, "image/png"),
    };
    response.headers_mut().extend(described);
    if query.download.0 {
        let name =
            array.path().name().replace(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_', "_");
        let name = if name.is_empty() { "array" } else { &name };
        let extension = match form {
            Form::Npy => "npy",
            Form::Png => "png",
            Form::Raw | Form::Json => "bin",
        };
        put(
            response.headers_mut(),
            CONTENT_DISPOSITION,
            &format!("attachment; filename=\"{name}.{extension}\""),
        );
    }
    Ok(response)
}

/// Returns the steps along each axis of the result that limit the number of elements to the request.
fn asked_steps(shape: &[u64], query: &SliceQuery) -> Answer<Vec<u64>> {
    let most = if query.form == Form::Json { MOST_JSON } else { MOST };
    let max = query.max_elements.or(query.max_pixels).map(Count::get);
    if let Some(max) = max.filter(|max| *max > most) {
        return Err(Failure::bad(format!("max_elements: {max} exceeds the limit of {most} for this format")));
    }
    let (width, height) = (query.width.map(Count::get), query.height.map(Count::get));
    let mut steps = match &query.step {
        None => vec![1; shape.len()],
        Some(_) if width.or(height).is_some() => {
            return Err(Failure::bad("step cannot be combined with width or height"));
        }
        Some(list) => own_steps(shape, list)?,
    };
    if (width.is_some() || height.is_some()) && shape.is_empty() {
        return Err(Failure::bad("width and height need a selection of at least one dimension"));
    }
    for (from_end, asked) in [(1, width), (2, height)] {
        let Some(asked) = asked else { continue };
        let Some(dim) = shape.len().checked_sub(from_end) else {
            return Err(Failure::bad("height needs a selection of at least two dimensions"));
        };
        steps[dim] = shape[dim].div_ceil(asked).max(1);
    }
    let left = thinned(shape, &steps);
    if let Some(max) = max {
        let further = steps_for(&left, max.into());
        return Ok(steps.iter().zip(further).map(|(own, further)| own.saturating_mul(further)).collect());
    }
    let limit = if width.is_some() || height.is_some() { most } else { USUAL.min(most) };
    let selected = count(&left);
    if selected > limit.into() {
        let message = format!("the selection has {selected} elements; the limit is {limit}");
        let advice = "select less, or use max_elements=N, or width=W&height=H, for evenly spaced elements; \
                      reduce=mean, min, max, median or mode takes all into account";
        return Err(Failure::too_much(message, advice));
    }
    Ok(steps)
}

/// Parses a list of steps: one for each axis of the selection.
fn own_steps(shape: &[u64], list: &str) -> Answer<Vec<u64>> {
    let bad = || Failure::bad(format!("step needs a positive integer for each of the {} axes", shape.len()));
    let steps: Vec<u64> =
        list.split(',').map(|item| item.trim().parse()).collect::<Result<_, _>>().map_err(|_| bad())?;
    if steps.len() != shape.len() || steps.contains(&0) {
        return Err(bad());
    }
    // Steps are limited to the length of the axis. Larger ones have the same effect, and might overflow.
    Ok(steps.iter().zip(shape).map(|(step, length)| (*step).min((*length).max(1))).collect())
}

/// Reads the elements of a part, reduced as a request says.
fn read(part: &Part, steps: Vec<u64>, query: &SliceQuery) -> Answer<Elements> {
    let field = query.field.as_deref();
    let is_whole = steps.iter().all(|step| *step == 1);
    let reduction = query.reduce;
    if reduction == Reduce::NEAREST || (is_whole && reduction != Reduce::Deviation) {
        return nearest(part, steps, field);
    }
    check_size(part, &steps)?;
    if field.is_some() {
        return Err(Failure::unsupported("fields cannot be reduced; use reduce=nearest"));
    }
    let read = part.count();
    if read > MOST_REDUCED {
        let message = format!("the reduction would read {read} elements; the limit is {MOST_REDUCED}");
        let advice = "select a smaller part, or use reduce=nearest, which reads no more than it sends";
        return Err(Failure::too_much(message, advice));
    }
    part.check_cost(&vec![1; part.shape.len()], "select a smaller part, or use reduce=nearest")?;
    let view = part.array.slice(part.selection.clone());
    let values = reduction.reduce(&reducer(&view, &query.missing)?, &view, &steps)?;
    Ok(Elements { values, selection: part.text(&steps), steps, reduction })
}

/// Reads the first element of each block of a part.
pub(super) fn nearest(part: &Part, mut steps: Vec<u64>, field: Option<&str>) -> Answer<Elements> {
    check_size(part, &steps)?;
    part.check_cost(&steps, "select a smaller part, or one element along a dimension")?;
    let selection = part.text(&steps);
    let reducer = field.into_iter().fold(Reducer::new(), Reducer::field);
    let view = part.array.slice(part.selection.clone());
    let values = Reduce::NEAREST.reduce(&reducer, &view, &steps)?;
    steps.resize(values.shape().len(), 1);
    Ok(Elements { values, selection, steps, reduction: Reduce::NEAREST })
}

/// Rejects responses that are too large.
fn check_size(part: &Part, steps: &[u64]) -> Answer<()> {
    let size = part.array.data_type().size().max(1) as u128;
    let bytes = count(&thinned(&part.shape, steps)).saturating_mul(size);
    if bytes > MOST_BYTES {
        let message = format!("the elements take {bytes} bytes; the limit is {MOST_BYTES}");
        let advice = "request fewer elements, with max_elements=N or width=W&height=H";
        return Err(Failure::too_much(message, advice));
    }
    Ok(())
}

/// Returns the NumPy data type of the numbers of a response, and the values in that type: other numbers
/// become floats.
fn as_numbers(values: DynArray, registry: &Registry) -> Answer<(String, DynArray)> {
    let order = ByteOrder::One(Endian::Little);
    if let (Ok(name), true) =
        (zarrox_files::npy::descr(values.data_type(), &order), is_fixed(values.data_type()))
    {
        return Ok((name.trim_matches('\'').to_owned(), values));
    }
    let wide = values.cast(&DataType::Float32, Casting::Lossy, registry).map_err(|_| {
        let message = format!("elements of type {} are not numbers; use as=json", values.data_type());
        Failure::unsupported(message)
    })?;
    Ok(("<f4".to_owned(), wide))
}

fn is_fixed(data_type: &DataType) -> bool {
    data_type.storage() != Storage::Variable
}

/// Returns the bytes of elements in little-endian order.
fn little_endian(values: DynArray) -> Answer<Vec<u8>> {
    if Endian::NATIVE == Endian::Little {
        return Ok(values.into_bytes());
    }
    let (data_type, shape) = (values.data_type().clone(), values.shape().to_vec());
    let order = ByteOrder::One(Endian::Little);
    Ok(DynArray::from_foreign(data_type, shape, values.into_bytes(), &order, zarrox::Order::RowMajor)?
        .into_bytes())
}

fn npy(values: DynArray, registry: &Registry) -> Answer<Vec<u8>> {
    let (_, values) = as_numbers(values, registry)?;
    let shape: Vec<u64> = values.shape().iter().map(|&n| n as u64).collect();
    let mut file = zarrox_files::npy::header(
        values.data_type(),
        &ByteOrder::One(Endian::Little),
        zarrox::Order::RowMajor,
        &shape,
    )?;
    file.extend(little_endian(values)?);
    Ok(file)
}

fn as_json(elements: &Elements, wanted: &Wanted, registry: &Registry) -> Answer<Response> {
    let values = &elements.values;
    let slice = Slice {
        shape: values.shape().to_vec(),
        data_type: values.data_type().to_string(),
        select: elements.selection.clone(),
        step: elements.steps.clone(),
        reduce: elements.reduction.name(),
        values: values.to_json(registry)?.into(),
    };
    content::json(wanted, &slice)
}

/// Returns the value of the header `Server-Timing`. Fetching and decoding are sums over threads, in milliseconds.
fn times(timings: &Timings, total: Duration) -> String {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (fetched, decoded) = (milliseconds(timings.fetched()), milliseconds(timings.decoded()));
    let (bytes, total) = (timings.bytes(), milliseconds(total));
    format!("fetch;dur={fetched:.3}, decode;dur={decoded:.3};desc=\"{bytes} bytes\", total;dur={total:.3}")
}

/// The headers that describe the body.
fn describe(elements: &Elements, headers: &mut HeaderMap, registry: &Registry) {
    let list = |numbers: Vec<String>| numbers.join(",");
    let shape = list(elements.values.shape().iter().map(usize::to_string).collect());
    put(headers, HeaderName::from_static("x-zarrox-shape"), &shape);
    let steps = list(elements.steps.iter().map(u64::to_string).collect());
    put(headers, HeaderName::from_static("x-zarrox-step"), &steps);
    put(headers, HeaderName::from_static("x-zarrox-reduce"), elements.reduction.name());
    let data_type: String = elements.values.data_type().to_string().escape_default().to_string();
    put(headers, HeaderName::from_static("x-zarrox-data-type"), &data_type);
    if let Ok((name, _)) = as_numbers(empty_like(&elements.values), registry) {
        put(headers, HeaderName::from_static("x-zarrox-dtype"), &name.escape_default().to_string());
    }
    if let Some(selection) = &elements.selection {
        put(headers, HeaderName::from_static("x-zarrox-select"), selection);
    }
}

/// Returns an empty array of the same type.
fn empty_like(values: &DynArray) -> DynArray {
    DynArray::new(values.data_type().clone(), vec![0], Vec::new()).unwrap_or_else(|_| values.clone())
}

/// Returns the numbers as floats; the magnitude of complex numbers.
fn floats(values: &DynArray, registry: &Registry) -> Answer<Vec<f64>> {
    picture::floats(values, registry).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => Failure::unsupported(format!("{error}; use as=json")),
        _ => error.into(),
    })
}

fn png(elements: &Elements, query: &SliceQuery, registry: &Registry) -> Answer<Vec<u8>> {
    let values = &elements.values;
    let shape: Vec<usize> = values.shape().to_vec();
    if let (&[height, width, channels @ (3 | 4)], DataType::UInt8) = (shape.as_slice(), values.data_type()) {
        return Ok(picture::coloured(values.as_bytes(), height, width, channels)?);
    }
    let lengths: Vec<usize> = shape.iter().copied().filter(|&length| length != 1).collect();
    let (height, width) = match (shape.as_slice(), lengths.as_slice()) {
        (&[height, width], _) | (_, &[height, width]) => (height, width),
        (_, &[width]) => (1, width),
        (_, []) => (1, 1),
        _ => {
            let message = format!("a picture needs two dimensions; the selection has the shape {shape:?}");
            return Err(Failure::bad(message));
        }
    };
    let values = floats(values, registry)?;
    let scaling = match query.scale {
        ColourScale::Linear => Scaling::Linear,
        ColourScale::Log => Scaling::Log,
    };
    let found = scaling.range_of(values.iter().copied());
    let (low, high) = found.unwrap_or(scaling.usual_range());
    let (Finite(low), Finite(high)) = (query.low.unwrap_or(Finite(low)), query.high.unwrap_or(Finite(high)));
    if scaling == Scaling::Log && low <= 0.0 {
        return Err(Failure::bad("low must be positive for a logarithmic norm"));
    }
    let scale = Scale { low, high, scaling, colours: query.colormap.0 };
    Ok(picture::picture(&values, height, width, &scale)?)
}
