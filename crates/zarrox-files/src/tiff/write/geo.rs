//! Writes the georeferencing of an image as GeoTIFF tags.

use zarrox::json::Json;
use zarrox::{Group, Node, Result};

use super::file::{Tags, Value};
use crate::placed::{Axis, Placed};
use crate::tiff::geo::{GEOGRAPHIC, MODEL_TYPE, PROJECTED, RASTER_TYPE};
use crate::tiff::tag;

/// The EPSG code of WGS 84 longitude and latitude.
const WGS_84: u16 = 4326;

/// The ranges of EPSG codes that always denote projected systems, regardless of the coordinates of the image.
const SURELY_PROJECTED: [std::ops::RangeInclusive<u16>; 2] = [2000..=3999, 20000..=32766];

/// The names of column dimensions, and of row dimensions, whose coordinates are used for georeferencing.
const EAST: [&str; 8] =
    ["x", "lon", "longitude", "long", "easting", "east", "projection_x_coordinate", "rlon"];
const NORTH: [&str; 8] =
    ["y", "lat", "latitude", "northing", "north", "projection_y_coordinate", "rlat", "ylat"];

/// The georeferencing of an image.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Georeference {
    /// The affine transform as six numbers: x = a * column + b * row + c, y = d * column + e * row + f. Integer columns
    /// and rows denote the corners of pixels.
    transform: [f64; 6],
    /// The EPSG code of the coordinate reference system, and whether its coordinates are longitude and latitude.
    system: Option<(u16, bool)>,
}

impl Georeference {
    /// Determines the georeferencing of an array from its attributes or coordinates. `rows` and `columns` are its last
    /// spatial dimensions.
    pub(super) fn of(placed: &Placed, rows: &Axis, columns: &Axis, size: (u64, u64)) -> Result<Option<Self>> {
        let transform = match of_attribute(placed, rows, columns) {
            Some(transform) => transform,
            None if placed.image.is_some() => return Ok(None),
            None => match of_coordinates(rows, columns) {
                Some(transform) => transform,
                None => return Ok(None),
            },
        };
        if transform.iter().any(|number| !number.is_finite()) {
            return Ok(None);
        }
        let is_degrees = |axis: &Axis| axis.unit.as_deref().is_some_and(|unit| unit.starts_with("degree"));
        let has_name = |axis: &Axis, start: &str| {
            axis.name.as_ref().is_some_and(|name| name.to_ascii_lowercase().starts_with(start))
        };
        let is_geographic =
            (is_degrees(rows) && is_degrees(columns)) || (has_name(rows, "lat") && has_name(columns, "lon"));
        let code = code_of(placed)?;
        let system = match code {
            Some(code) => Some((code, is_geographic || are_degrees(code, &transform, size))),
            None => is_geographic.then_some((WGS_84, true)),
        };
        Ok(Some(Self { transform, system }))
    }

    /// Adds the GeoTIFF tags.
    pub(super) fn add(&self, tags: &mut Tags) {
        let [a, b, c, d, e, f] = self.transform;
        if b == 0.0 && d == 0.0 && a > 0.0 && e < 0.0 {
            tags.insert(tag::PIXEL_SCALE, Value::Doubles(vec![a, -e, 0.0]));
            tags.insert(tag::TIE_POINTS, Value::Doubles(vec![0.0, 0.0, 0.0, c, f, 0.0]));
        } else {
            let matrix = vec![a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
            tags.insert(tag::TRANSFORMATION, Value::Doubles(matrix));
        }
        let short = |number: u64| u16::try_from(number).unwrap_or_default();
        if let Some((code, is_geographic)) = self.system {
            let (model, key) = if is_geographic { (2, GEOGRAPHIC) } else { (1, PROJECTED) };
            // Pixels are areas, not points.
            let entries = [(MODEL_TYPE, model), (RASTER_TYPE, 1), (key, code)];
            let mut keys = vec![1, 1, 0, short(entries.len() as u64)];
            keys.extend(entries.iter().flat_map(|&(key, value)| [short(key), 0, 1, value]));
            tags.insert(tag::GEO_KEYS, Value::Shorts(keys));
        }
    }
}

/// Returns the transform in the attribute written by an import, adjusted to the selected part of the array.
#[expect(clippy::cast_precision_loss, reason = "images have fewer pixels along a side")]
fn of_attribute(placed: &Placed, rows: &Axis, columns: &Axis) -> Option<[f64; 6]> {
    let numbers = placed.attribute("transform")?.as_array()?;
    let numbers: Vec<f64> = numbers.iter().map(Json::as_f64).collect::<Option<_>>()?;
    let &[a, b, c, d, e, f] = numbers.as_slice() else { return None };
    let (column, row) = (columns.start as f64, rows.start as f64);
    let (right, down) = (columns.step as f64, rows.step as f64);
    // The center of the first pixel stays fixed, so its corner depends on the pixel size.
    let corner = |along_x: f64, along_y: f64, begin: f64| {
        begin + along_x * (column + 0.5 * (1.0 - right)) + along_y * (row + 0.5 * (1.0 - down))
    };
    Some([a * right, b * down, corner(a, b, c), d * right, e * down, corner(d, e, f)])
}

/// Returns the transform of evenly spaced coordinates.
fn of_coordinates(rows: &Axis, columns: &Axis) -> Option<[f64; 6]> {
    let is_named = |axis: &Axis, names: &[&str]| {
        axis.name.as_ref().is_some_and(|own| names.iter().any(|name| own.eq_ignore_ascii_case(name)))
    };
    if !is_named(rows, &NORTH) || !is_named(columns, &EAST) {
        return None;
    }
    let ((east, right), (north, down)) = (columns.even?, rows.even?);
    Some([right, 0.0, east - right / 2.0, 0.0, down, north - down / 2.0])
}

/// Returns the EPSG code of the coordinate reference system, from the attribute `crs` or from the variable named in the
/// CF attribute `grid_mapping`.
fn code_of(placed: &Placed) -> Result<Option<u16>> {
    let of_text = |text: &str| text.trim().strip_prefix("EPSG:").and_then(|code| code.trim().parse().ok());
    let of_parent = placed.parent.as_ref().and_then(|group| group.attributes().get("crs")?.as_str());
    if let Some(code) = placed.text("crs").or(of_parent).and_then(of_text) {
        return Ok(Some(code));
    }
    let name = placed.text("grid_mapping").unwrap_or("spatial_ref");
    let Some(group) = placed.parent.as_ref() else { return Ok(None) };
    Ok(of_grid_mapping(group, name.trim_end_matches(':')))
}

/// Returns the EPSG code in the well-known text of a CF grid mapping variable.
fn of_grid_mapping(group: &Group, name: &str) -> Option<u16> {
    let Ok(Node::Array(array)) = group.open(name) else { return None };
    let text = |name: &str| array.attributes().get(name).and_then(Json::as_str);
    let wkt = text("crs_wkt").or_else(|| text("spatial_ref"))?;
    // If the text ends with an authority, this authority identifies the whole system.
    let end = wkt.trim_end().trim_end_matches(']');
    let last = end.rfind('[').map(|at| &end[at + 1..])?;
    let mut parts = last.split(',').map(|part| part.trim().trim_matches('"'));
    (parts.next() == Some("EPSG")).then(|| parts.next()?.parse().ok())?
}

/// Returns true if a system with the given code may be geographic and the corners of the image are valid longitudes and
/// latitudes.
#[expect(clippy::cast_precision_loss, reason = "images have fewer pixels along a side")]
fn are_degrees(code: u16, transform: &[f64; 6], (height, width): (u64, u64)) -> bool {
    let [a, b, c, d, e, f] = *transform;
    let corner = |column: u64, row: u64| {
        let (column, row) = (column as f64, row as f64);
        (a * column + b * row + c, d * column + e * row + f)
    };
    let corners = [corner(0, 0), corner(width, 0), corner(0, height), corner(width, height)];
    !SURELY_PROJECTED.iter().any(|range| range.contains(&code))
        && corners.iter().all(|(x, y)| (-361.0..=361.0).contains(x) && (-91.0..=91.0).contains(y))
}
