//! Checking images: `multiscales` and `omero`.

use zarrox_core::json::{Json, Map};
use zarrox_core::{Result, Separator};

use super::node::{MOST, Report, Version, Visited};
use crate::ome::axis::{self, Axis, AxisKind};
use zarrox::Array;

/// The prefixes of UDUNITS-2 units for space and time axes.
const PREFIXES: [&str; 16] = [
    "atto", "centi", "deci", "exa", "femto", "giga", "hecto", "kilo", "mega", "micro", "milli", "nano",
    "peta", "pico", "tera", "yocto",
];
const MORE_PREFIXES: [&str; 3] = ["yotta", "zepto", "zetta"];
const SPACE: [&str; 7] = ["angstrom", "foot", "inch", "meter", "mile", "parsec", "yard"];
const TIME: [&str; 4] = ["day", "hour", "minute", "second"];

/// Checks an image.
pub(super) fn check(visited: &Visited, report: &mut Report) -> Result<()> {
    let list = visited.get("multiscales").and_then(Json::as_array).filter(|list| !list.is_empty());
    let Some(list) = list else {
        report.error(visited, "'multiscales' must be a list with at least one entry");
        return Ok(());
    };
    for (index, entry) in list.iter().enumerate().take(MOST) {
        let at = format!("multiscales[{index}]");
        let Some(entry) = entry.as_object() else {
            report.error(visited, format!("'{at}' must be an object"));
            continue;
        };
        let arrays = check_entry(visited, &at, entry, report)?;
        if index == 0 {
            check_channels(visited, entry, arrays.first(), report);
        }
    }
    check_labels_below(visited, report)
}

/// Checks an entry of `multiscales`, and returns its arrays.
fn check_entry(visited: &Visited, at: &str, entry: &Map, report: &mut Report) -> Result<Vec<Array>> {
    match entry.get("name") {
        None => report.warning(visited, format!("'{at}' has no 'name'")),
        Some(name) if !name.is_string() => {
            report.error(visited, format!("'name' of '{at}' must be a string"));
        }
        Some(_) => {}
    }
    if entry.get("type").is_some_and(|kind| !kind.is_string()) {
        report.error(visited, format!("'type' of '{at}' must be a string"));
    }
    let axes = check_axes(visited, at, entry.get("axes"), report);
    if let Some(own) = entry.get("coordinateTransformations") {
        check_transformations(visited, at, own, axes.as_ref().map(Vec::len), report);
    }
    let datasets = entry.get("datasets").and_then(Json::as_array).filter(|list| !list.is_empty());
    let Some(datasets) = datasets else {
        report.error(visited, format!("'datasets' of '{at}' must be a list with at least one entry"));
        return Ok(Vec::new());
    };
    let mut arrays: Vec<(String, Array)> = Vec::new();
    let mut scales: Vec<Vec<f64>> = Vec::new();
    for (index, dataset) in datasets.iter().enumerate().take(MOST) {
        let at = format!("{at}.datasets[{index}]");
        let ndim = axes.as_ref().map(Vec::len);
        match dataset.get("coordinateTransformations") {
            Some(own) => scales.extend(check_transformations(visited, &at, own, ndim, report)),
            None => report.error(visited, format!("'{at}' has no 'coordinateTransformations'")),
        }
        let Some(path) = dataset.get("path").and_then(Json::as_str) else {
            report.error(visited, format!("'path' of '{at}' must be a string"));
            continue;
        };
        if arrays.iter().any(|(other, _)| other == path) {
            report.error(visited, format!("'{at}' has the path '{path}' of another dataset"));
            continue;
        }
        if let Some(array) = report.array(visited, path)? {
            arrays.push((path.to_owned(), array));
        }
    }
    check_scales(visited, at, &scales, report);
    check_arrays(visited, axes.as_deref(), &arrays, report);
    Ok(arrays.into_iter().map(|(_, array)| array).collect())
}

/// Checks the axes, and returns them if all of them have names.
fn check_axes(visited: &Visited, at: &str, axes: Option<&Json>, report: &mut Report) -> Option<Vec<Axis>> {
    let Some(list) = axes.and_then(Json::as_array) else {
        report.error(visited, format!("'axes' of '{at}' must be a list"));
        return None;
    };
    let mut all = Vec::new();
    for (index, axis) in list.iter().enumerate() {
        let at = format!("{at}.axes[{index}]");
        let Some(name) = axis.get("name").and_then(Json::as_str) else {
            report.error(visited, format!("'name' of '{at}' must be a string"));
            return None;
        };
        let kind = match axis.get("type").map(Json::as_str) {
            Some(Some(kind)) => AxisKind::named(kind),
            Some(None) => {
                report.error(visited, format!("'type' of '{at}' must be a string"));
                return None;
            }
            None => {
                report.warning(visited, format!("'{at}' has no 'type'"));
                AxisKind::Other(String::new())
            }
        };
        let unit = match axis.get("unit").map(Json::as_str) {
            Some(None) => {
                report.error(visited, format!("'unit' of '{at}' must be a string"));
                None
            }
            unit => unit.flatten().map(str::to_owned),
        };
        if let Some(unit) = unit.as_deref().filter(|unit| !is_unit(&kind, unit)) {
            report.warning(visited, format!("'{unit}' is not a UDUNITS-2 unit for the axis '{name}'"));
        }
        all.push(Axis { name: name.to_owned(), kind, unit });
    }
    if let Err(why) = axis::check(&all) {
        report.error(visited, format!("the axes of '{at}': {why}"));
    }
    Some(all)
}

fn is_unit(kind: &AxisKind, unit: &str) -> bool {
    let prefixed = |base: &str| {
        unit.strip_suffix(base)
            .is_some_and(|prefix| PREFIXES.contains(&prefix) || MORE_PREFIXES.contains(&prefix))
    };
    match kind {
        AxisKind::Space => SPACE.contains(&unit) || prefixed("meter"),
        AxisKind::Time => TIME.contains(&unit) || prefixed("second"),
        _ => true,
    }
}

/// Checks coordinate transformations, and returns the scale.
fn check_transformations(
    visited: &Visited,
    at: &str,
    transformations: &Json,
    ndim: Option<usize>,
    report: &mut Report,
) -> Option<Vec<f64>> {
    let Some(list) = transformations.as_array() else {
        report.error(visited, format!("'coordinateTransformations' of '{at}' must be a list"));
        return None;
    };
    let mut kinds: Vec<&str> = Vec::new();
    let mut scale = None;
    for transformation in list {
        let kind = transformation.get("type").and_then(Json::as_str).unwrap_or_default();
        if kind != "scale" && kind != "translation" {
            report.error(visited, format!("a transformation of '{at}' is neither a scale nor a translation"));
            continue;
        }
        kinds.push(kind);
        let numbers = transformation.get(kind).and_then(Json::as_array);
        let numbers = numbers.and_then(|list| list.iter().map(Json::as_f64).collect::<Option<Vec<f64>>>());
        match numbers {
            Some(numbers) => {
                if ndim.is_some_and(|ndim| ndim != numbers.len()) {
                    report.error(
                        visited,
                        format!("the {kind} of '{at}' does not have one number for each axis"),
                    );
                }
                if kind == "scale" {
                    scale = Some(numbers);
                }
            }
            None if transformation.get("path").is_some_and(Json::is_string) => {}
            None => report.error(visited, format!("the {kind} of '{at}' must be a list of numbers")),
        }
    }
    let count = |wanted: &str| kinds.iter().filter(|kind| **kind == wanted).count();
    if count("scale") != 1 {
        report.error(visited, format!("'{at}' must have one scale, not {}", count("scale")));
    }
    if count("translation") > 1 {
        report.error(
            visited,
            format!("'{at}' must have at most one translation, not {}", count("translation")),
        );
    }
    if kinds.first() == Some(&"translation") {
        report.error(visited, format!("the translation of '{at}' must follow the scale"));
    }
    if scale.iter().flatten().any(|along| *along <= 0.0) {
        report.warning(visited, format!("the scale of '{at}' must be positive along each axis"));
    }
    scale
}

/// Checks that the scales increase from one level to the next.
fn check_scales(visited: &Visited, at: &str, scales: &[Vec<f64>], report: &mut Report) {
    let shrinks = |pair: &[Vec<f64>]| {
        pair[0].len() == pair[1].len() && pair[0].iter().zip(&pair[1]).any(|(before, after)| after < before)
    };
    if scales.windows(2).any(shrinks) {
        report
            .error(visited, format!("the scales of '{at}' decrease: the highest resolution must come first"));
    }
}

/// Checks the arrays of an image: their dimensions, data types, names and sizes.
fn check_arrays(visited: &Visited, axes: Option<&[Axis]>, arrays: &[(String, Array)], report: &mut Report) {
    for (path, array) in arrays {
        if let Some(axes) = axes {
            if array.ndim() != axes.len() {
                let message =
                    format!("the array has {} dimensions, but there are {} axes", array.ndim(), axes.len());
                report.error_below(visited, path, message);
                continue;
            }
            check_names(visited, axes, path, array, report);
        }
        let separator = array.metadata().chunk_key_encoding.separator();
        if visited.version == Version::V04 && array.ndim() > 1 && separator != Separator::Slash {
            report.warning_below(visited, path, "the separator of chunk keys is '/' since OME-Zarr 0.2");
        }
    }
    for pair in arrays.windows(2) {
        let ((_, before), (path, after)) = (&pair[0], &pair[1]);
        if before.data_type() != after.data_type() {
            let message = format!(
                "the data type is {}, but that of the previous level is {}",
                after.data_type(),
                before.data_type()
            );
            report.error_below(visited, path, message);
        }
        if before.ndim() != after.ndim() {
            report.error_below(
                visited,
                path,
                "the array has another number of dimensions than the previous level",
            );
            continue;
        }
        let mut lengths = after.shape().iter().zip(before.shape());
        if lengths.any(|(after, before)| after > before) {
            let message = format!(
                "the shape {:?} is larger than {:?} of the previous level",
                after.shape(),
                before.shape()
            );
            report.error_below(visited, path, message);
        } else if after.shape() == before.shape() {
            let message = format!("the shape {:?} is the same as that of the previous level", after.shape());
            report.warning_below(visited, path, message);
        }
    }
}

fn check_names(visited: &Visited, axes: &[Axis], path: &str, array: &Array, report: &mut Report) {
    if visited.version != Version::V05 {
        return;
    }
    match array.dimension_names() {
        None => report.error_below(visited, path, "'dimension_names' are missing"),
        Some(names) => {
            if names.iter().map(Option::as_deref).ne(axes.iter().map(|axis| Some(axis.name.as_str()))) {
                report.error_below(visited, path, "'dimension_names' are not the names of the axes");
            }
        }
    }
}

/// Checks `omero`.
fn check_channels(visited: &Visited, entry: &Map, first: Option<&Array>, report: &mut Report) {
    let Some(omero) = visited.get("omero") else { return };
    let Some(channels) = omero.get("channels").and_then(Json::as_array) else {
        report.error(visited, "'channels' of 'omero' must be a list");
        return;
    };
    for (index, channel) in channels.iter().enumerate().take(MOST) {
        let at = format!("omero.channels[{index}]");
        let color = channel.get("color").and_then(Json::as_str);
        if !color
            .is_some_and(|color| color.len() == 6 && color.bytes().all(|digit| digit.is_ascii_hexdigit()))
        {
            report.error(visited, format!("'color' of '{at}' must have six hexadecimal digits"));
        }
        let window = channel.get("window");
        let has = |member: &str| window.and_then(|window| window.get(member)).is_some_and(Json::is_number);
        if let Some(missing) = ["start", "end", "min", "max"].iter().find(|member| !has(member)) {
            report.error(visited, format!("'{missing}' of the window of '{at}' must be a number"));
        }
        if channel.get("label").is_some_and(|label| !label.is_string()) {
            report.error(visited, format!("'label' of '{at}' must be a string"));
        }
    }
    let Some(axes) = entry.get("axes").and_then(Json::as_array) else { return };
    let is_channel = |axis: &Json| axis.get("type").and_then(Json::as_str) == Some("channel");
    let dim = axes.iter().position(is_channel);
    let count = match (dim, first) {
        (Some(dim), Some(array)) => array.shape().get(dim).copied(),
        (None, Some(_)) => Some(1),
        _ => None,
    };
    if let Some(count) = count.filter(|count| *count != channels.len() as u64) {
        report.error(visited, format!("'omero' has {} channels, but the image has {count}", channels.len()));
    }
}

/// Checks the labels of an image.
fn check_labels_below(visited: &Visited, report: &mut Report) -> Result<()> {
    if !visited.group.contains("labels")? {
        return Ok(());
    }
    let Some(labels) = report.group(visited, "labels")? else { return Ok(()) };
    super::labels::check_list(&labels, report)
}
