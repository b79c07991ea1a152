//! `slice`: selected elements, thinned or reduced to no more than are asked for.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName};
use axum::response::Response;
use zarrox::data_type::{ByteOrder, Casting, Endian, Storage};
use zarrox::json::{Json, json};
use zarrox::{Array, DataType, DimSelection, DynArray, ErrorKind, Interrupt, Registry};
use zarrox_files::picture::{self, MAPS, Scale};

use super::reduce::{MOST_REDUCED, REDUCTIONS, Reduction, reduce};
use super::selection::{self, Part, count, steps_for, thinned};
use crate::address::Query;
use crate::content::{self, BYTES, Wanted, put};
use crate::failure::{Answer, Failure};

/// The most elements of an answer unless a request says otherwise, and in any case.
const USUAL: u64 = 4 << 20;
pub(super) const MOST: u64 = 64 << 20;
/// The most bytes of an answer.
const MOST_BYTES: u128 = 256 << 20;
/// The most elements of an answer in JSON.
const MOST_JSON: u64 = 1 << 20;

/// The parameters.
const PARAMETERS: [&str; 14] = [
    "max_elements",
    "max_pixels",
    "width",
    "height",
    "step",
    "reduce",
    "missing",
    "as",
    "field",
    "colormap",
    "low",
    "high",
    "scale",
    "download",
];

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Raw,
    Json,
    Npy,
    Png,
}

/// The elements of an answer, and the way to them.
pub(super) struct Elements {
    pub(super) values: DynArray,
    /// The selection in plain words, if it has some.
    selection: Option<String>,
    pub(super) steps: Vec<u64>,
    reduction: Reduction,
}

/// Answers with elements.
pub(super) fn answer(
    array: &Array,
    query: &Query,
    wanted: &Wanted,
    registry: &Registry,
    interrupt: &Interrupt,
) -> Answer<Response> {
    query.only(&[&selection::PARAMETERS[..], &PARAMETERS[..]].concat())?;
    let forms = [("raw", Form::Raw), ("json", Form::Json), ("npy", Form::Npy), ("png", Form::Png)];
    let form = query.choice("as", &forms)?;
    let part = Part::new(array, query, interrupt)?;
    let most = if form == Form::Json { MOST_JSON } else { MOST };
    let steps = asked_steps(&part.shape, query, most)?;
    let elements = read(&part, steps, query, registry)?;
    let mut described = HeaderMap::new();
    describe(&elements, &mut described, registry);
    let mut response = match form {
        Form::Json => return as_json(&elements, wanted, registry),
        Form::Raw => bytes(little_endian(as_numbers(elements.values, registry)?.1)?, BYTES),
        Form::Npy => bytes(npy(elements.values, registry)?, BYTES),
        Form::Png => bytes(png(&elements, query, registry)?, "image/png"),
    };
    response.headers_mut().extend(described);
    if query.flag("download")? {
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

/// The steps along each axis of the result, so that no more elements are sent than are asked for.
fn asked_steps(shape: &[u64], query: &Query, most: u64) -> Answer<Vec<u64>> {
    let max = query.count("max_elements", most)?.or(query.count("max_pixels", most)?);
    let (width, height) = (query.count("width", 1 << 16)?, query.count("height", 1 << 16)?);
    let mut steps = match query.text("step") {
        None => vec![1; shape.len()],
        Some(_) if width.or(height).is_some() => {
            return Err(Failure::bad("step says all that width and height would"));
        }
        Some(list) => own_steps(shape, list)?,
    };
    if (width.is_some() || height.is_some()) && shape.is_empty() {
        return Err(Failure::bad("one element has no width and no height"));
    }
    for (from_end, asked) in [(1, width), (2, height)] {
        let Some(asked) = asked else { continue };
        let Some(dim) = shape.len().checked_sub(from_end) else {
            return Err(Failure::bad("a line of elements has no height"));
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
        let message = format!(
            "{selected} elements are selected; an answer has at most {limit} unless it asks for more"
        );
        let advice = "select less, or ask with max_elements=N, or width=W&height=H, for every so-many-th element; \
                      reduce=mean, min or max takes all into account";
        return Err(Failure::too_much(message, advice));
    }
    Ok(steps)
}

/// The steps that a list says: one for each axis of the selection.
fn own_steps(shape: &[u64], list: &str) -> Answer<Vec<u64>> {
    let bad = || Failure::bad(format!("step has a number from 1 on for each of {} axes", shape.len()));
    let steps: Vec<u64> =
        list.split(',').map(|item| item.trim().parse()).collect::<Result<_, _>>().map_err(|_| bad())?;
    if steps.len() != shape.len() || steps.contains(&0) {
        return Err(bad());
    }
    // Longer steps than an axis change nothing, and would not fit into the numbers of a selection.
    Ok(steps.iter().zip(shape).map(|(step, length)| (*step).min((*length).max(1))).collect())
}

/// Reads the elements of a part.
pub(super) fn read(part: &Part, steps: Vec<u64>, query: &Query, registry: &Registry) -> Answer<Elements> {
    let field = query.text("field");
    let asked = query.choice("reduce", &REDUCTIONS)?;
    let missing = query.numbers("missing")?;
    let is_whole = steps.iter().all(|step| *step == 1);
    let reduction = if is_whole { Reduction::Nearest } else { asked };
    let bytes =
        count(&thinned(&part.shape, &steps)).saturating_mul(part.array.data_type().size().max(1) as u128);
    if bytes > MOST_BYTES {
        let message = format!("the elements take {bytes} bytes; an answer has at most {MOST_BYTES}");
        return Err(Failure::too_much(
            message,
            "ask for fewer elements, with max_elements=N or width=W&height=H",
        ));
    }
    let view = part.array.slice(part.selection.clone());
    let selection = part.text(&steps);
    if reduction == Reduction::Nearest {
        part.check_cost(&steps, "select a smaller part, or one element along a dimension")?;
        let items: Vec<DimSelection> = steps.iter().map(|step| every(*step)).collect();
        let view = view.slice(items);
        let values = match field {
            Some(name) => view.read_field_dyn(name)?,
            None => view.read_dyn()?,
        };
        let mut steps = steps;
        steps.resize(values.shape().len(), 1);
        return Ok(Elements { values, selection, steps, reduction });
    }
    if field.is_some() {
        return Err(Failure::unsupported("fields are thinned, not reduced; use reduce=nearest"));
    }
    let read = part.count();
    if read > MOST_REDUCED {
        let message = format!("the reduction would read {read} elements; {MOST_REDUCED} are allowed");
        let advice = "select a smaller part, or use reduce=nearest, which reads no more than it sends";
        return Err(Failure::too_much(message, advice));
    }
    part.check_cost(&vec![1; part.shape.len()], "select a smaller part, or use reduce=nearest")?;
    let values = reduce(&view, &steps, &missing, registry)?.take(reduction);
    Ok(Elements { values, selection, steps, reduction })
}

/// Every so-many-th position.
fn every(step: u64) -> DimSelection {
    DimSelection::Slice { start: None, stop: None, step: i64::try_from(step).unwrap_or(i64::MAX) }
}

fn bytes(bytes: Vec<u8>, kind: &str) -> Response {
    let mut response = Response::new(Body::from(bytes));
    put(response.headers_mut(), CONTENT_TYPE, kind);
    response
}

/// The type of an answer's numbers in NumPy's words, and the values in that type: numbers that NumPy has not become floats.
fn as_numbers(values: DynArray, registry: &Registry) -> Answer<(String, DynArray)> {
    let order = ByteOrder::One(Endian::Little);
    if let (Ok(name), true) = (zarrox::npy::descr(values.data_type(), &order), is_fixed(values.data_type())) {
        return Ok((name.trim_matches('\'').to_owned(), values));
    }
    let wide = values.cast(&DataType::Float32, Casting::Lossy, registry).map_err(|_| {
        let message = format!("elements of {} are no numbers; ask for as=json", values.data_type());
        Failure::unsupported(message)
    })?;
    Ok(("<f4".to_owned(), wide))
}

fn is_fixed(data_type: &DataType) -> bool {
    data_type.storage() != Storage::Variable
}

/// The bytes of elements in little-endian order.
fn little_endian(values: DynArray) -> Answer<Vec<u8>> {
    if Endian::NATIVE == Endian::Little {
        return Ok(values.into_bytes());
    }
    let (data_type, shape) = (values.data_type().clone(), values.shape().to_vec());
    let order = ByteOrder::One(Endian::Little);
    Ok(DynArray::from_foreign(data_type, shape, values.into_bytes(), &order, false)?.into_bytes())
}

fn npy(values: DynArray, registry: &Registry) -> Answer<Vec<u8>> {
    let (_, values) = as_numbers(values, registry)?;
    let shape: Vec<u64> = values.shape().iter().map(|&n| n as u64).collect();
    let mut file = zarrox::npy::header(values.data_type(), &ByteOrder::One(Endian::Little), false, &shape)?;
    file.extend(little_endian(values)?);
    Ok(file)
}

fn as_json(elements: &Elements, wanted: &Wanted, registry: &Registry) -> Answer<Response> {
    let values = &elements.values;
    let body = json!({
        "shape": values.shape(),
        "data_type": values.data_type().to_string(),
        "select": elements.selection.clone(),
        "step": elements.steps.as_slice(),
        "reduce": reduction_name(elements.reduction),
        "values": values.to_json(registry)?,
    });
    content::json(wanted, &body)
}

fn reduction_name(reduction: Reduction) -> &'static str {
    REDUCTIONS.iter().find(|(_, other)| *other == reduction).map_or("nearest", |(name, _)| name)
}

/// The headers that say what the body has.
fn describe(elements: &Elements, headers: &mut HeaderMap, registry: &Registry) {
    let list = |numbers: Vec<String>| numbers.join(",");
    let shape = list(elements.values.shape().iter().map(usize::to_string).collect());
    put(headers, HeaderName::from_static("x-zarrox-shape"), &shape);
    let steps = list(elements.steps.iter().map(u64::to_string).collect());
    put(headers, HeaderName::from_static("x-zarrox-step"), &steps);
    put(headers, HeaderName::from_static("x-zarrox-reduce"), reduction_name(elements.reduction));
    let data_type: String = elements.values.data_type().to_string().escape_default().to_string();
    put(headers, HeaderName::from_static("x-zarrox-data-type"), &data_type);
    if let Ok((name, _)) = as_numbers(empty_like(&elements.values), registry) {
        put(headers, HeaderName::from_static("x-zarrox-dtype"), &name.escape_default().to_string());
    }
    if let Some(selection) = &elements.selection {
        put(headers, HeaderName::from_static("x-zarrox-select"), selection);
    }
}

/// No elements of the same type.
fn empty_like(values: &DynArray) -> DynArray {
    DynArray::new(values.data_type().clone(), vec![0], Vec::new()).unwrap_or_else(|_| values.clone())
}

/// The numbers as floats; of complex ones the magnitude.
pub(super) fn floats(values: &DynArray, registry: &Registry) -> Answer<Vec<f64>> {
    picture::floats(values, registry).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => Failure::unsupported(format!("{error}; ask for as=json")),
        _ => error.into(),
    })
}

fn png(elements: &Elements, query: &Query, registry: &Registry) -> Answer<Vec<u8>> {
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
            let message = format!("a picture has two dimensions; the selection has the shape {shape:?}");
            return Err(Failure::bad(message));
        }
    };
    let values = floats(values, registry)?;
    let logarithmic = query.choice("scale", &[("linear", false), ("log", true)])?;
    let found = Scale::range_of(values.iter().copied(), logarithmic);
    let (low, high) = found.unwrap_or(Scale::usual_range(logarithmic));
    let (low, high) = (query.number("low")?.unwrap_or(low), query.number("high")?.unwrap_or(high));
    if logarithmic && low <= 0.0 {
        return Err(Failure::bad("a logarithmic scale begins above zero"));
    }
    let scale = Scale { low, high, logarithmic, colours: query.choice("colormap", &MAPS)? };
    Ok(picture::picture(&values, height, width, &scale)?)
}

/// Answers with one line: its elements, or the extremes and means of blocks of them.
pub(super) fn line(
    array: &Array,
    query: &Query,
    wanted: &Wanted,
    registry: &Registry,
    interrupt: &Interrupt,
) -> Answer<Response> {
    query.only(&[&selection::PARAMETERS[..], &["points", "field", "missing"]].concat())?;
    let missing = query.numbers("missing")?;
    let points = query.count("points", MOST_JSON)?.unwrap_or(2000);
    let part = Part::new(array, query, interrupt)?;
    let along: Vec<usize> = (0..part.shape.len()).filter(|&dim| part.shape[dim] != 1).collect();
    if along.len() > 1 {
        let message = format!("a line has one dimension; the selection has the shape {:?}", part.shape);
        return Err(Failure::bad(message));
    }
    let length = along.first().map_or(1, |&dim| part.shape[dim]);
    let step = length.div_ceil(points).max(1);
    let steps: Vec<u64> = part.shape.iter().map(|&length| step.min(length.max(1))).collect();
    let mut body = json!({"length": length, "step": step, "select": part.text(&vec![1; part.shape.len()])});
    let is_reduced = step > 1 && part.count() <= MOST_REDUCED && query.text("field").is_none();
    let flat = |values: &DynArray| -> Answer<Json> {
        let items =
            values.elements().map(|item| DynArray::element_to_json(values.data_type(), item, registry));
        Ok(Json::Array(items.collect::<zarrox::Result<Vec<_>>>()?))
    };
    let view = part.array.slice(part.selection.clone());
    let reduced = match is_reduced {
        true => {
            part.check_cost(&vec![1; part.shape.len()], "select a shorter line")?;
            match reduce(&view, &steps, &missing, registry) {
                // Elements without an order are thinned.
                Err(failure) if failure.is_unsupported() => None,
                reduced => Some(reduced?),
            }
        }
        false => None,
    };
    match reduced {
        Some(blocks) => {
            body["reduce"] = "blocks".into();
            body["min"] = flat(&blocks.min)?;
            body["max"] = flat(&blocks.max)?;
            body["mean"] = flat(&blocks.mean)?;
        }
        None => {
            let elements = read(&part, steps, &nearest(query)?, registry)?;
            body["reduce"] = "nearest".into();
            body["values"] = flat(&elements.values)?;
        }
    }
    content::json(wanted, &body)
}

/// The parameters without a reduction.
fn nearest(query: &Query) -> Answer<Query> {
    let field = query.text("field").map(|field| format!("field={}", crate::address::escaped(field)));
    Query::new(field.as_deref())
}
