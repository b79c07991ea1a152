//! GeoTIFF: the georeferencing of an image.
//!
//! Specification: <https://docs.ogc.org/is/19-008r4/19-008r4.html>

use std::ops::ControlFlow;

use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Result};

use super::directory::Directory;
use super::tag;
use crate::chunks::{Elements, each_position};

pub(super) const MODEL_TYPE: u64 = 1024;
pub(super) const RASTER_TYPE: u64 = 1025;
pub(super) const GEOGRAPHIC: u64 = 2048;
pub(super) const PROJECTED: u64 = 3072;
const VERTICAL: u64 = 4096;
/// The value of a key that is user-defined and has no code.
const USER_DEFINED: u64 = 32767;

/// The maximum number of control points in an attribute.
const MOST_POINTS: usize = 1 << 12;

/// The georeferencing of an image.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Georeference {
    /// The EPSG code of the coordinate reference system.
    code: Option<u64>,
    /// All GeoTIFF keys, if no code identifies the coordinate reference system.
    keys: Map,
    /// The affine transform as six numbers: x = a * column + b * row + c, y = d * column + e * row + f. Integer columns
    /// and rows denote the corners of pixels.
    transform: Option<[f64; 6]>,
    /// The control points of an image without a transform: column, row, level, and three coordinates.
    points: Vec<[f64; 6]>,
    /// The rational polynomial coefficients of a camera.
    camera: Vec<f64>,
}

impl Georeference {
    /// Returns the georeferencing in the tags of an image, if there is any.
    pub(super) fn of(directory: &Directory) -> Result<Option<Self>> {
        let tags = [tag::GEO_KEYS, tag::TIE_POINTS, tag::GEO_FLOATS, tag::GEO_TEXTS, tag::CAMERA];
        if tags.iter().any(|&tag| directory.size(tag) > 1 << 20) {
            return Ok(None);
        }
        let entries = directory.numbers(tag::GEO_KEYS)?;
        let key = |wanted: u64| {
            let mut entries = entries.chunks_exact(4).skip(1);
            // The second number of an entry is 0 if the value is in the entry itself. All other values are strings or floats.
            entries.find(|entry| entry[0] == wanted && entry[1] == 0).map(|entry| entry[3])
        };
        // A projected system without its own key must not be identified by the geographic system that it is based on.
        let is_projected = key(MODEL_TYPE) == Some(1);
        let code = key(PROJECTED).or_else(|| key(GEOGRAPHIC).filter(|_| !is_projected));
        let code = code.filter(|&code| code != USER_DEFINED && code != 0);
        let is_told = code.is_some() && key(VERTICAL).is_none();
        let keys = if is_told { Map::default() } else { all_keys(directory, &entries)? };
        let is_point = key(RASTER_TYPE) == Some(2);
        let transform = transform(directory)?.map(|[a, b, c, d, e, f]| {
            // The coordinates refer to the center of a pixel, not to its corner.
            let half = if is_point { 0.5 } else { 0.0 };
            [a, b, c - half * (a + b), d, e, f - half * (d + e)]
        });
        let transform = transform.filter(|all| all.iter().all(|number| number.is_finite()));
        let points = match transform {
            Some(_) => Vec::new(),
            None => {
                directory.floats(tag::TIE_POINTS)?.as_chunks().0.iter().copied().take(MOST_POINTS).collect()
            }
        };
        let camera = directory.floats(tag::CAMERA)?;
        let place = Self { code, keys, transform, points, camera };
        Ok((place != Self::nowhere()).then_some(place))
    }

    fn nowhere() -> Self {
        Self { code: None, keys: Map::default(), transform: None, points: Vec::new(), camera: Vec::new() }
    }

    /// Returns the georeferencing of an overview whose pixels are `columns` times as wide and `rows` times as high.
    pub(super) fn reduced(self, columns: f64, rows: f64) -> Self {
        let transform =
            self.transform.map(|[a, b, c, d, e, f]| [a * columns, b * rows, c, d * columns, e * rows, f]);
        let point = |[column, row, level, x, y, z]: [f64; 6]| [column / columns, row / rows, level, x, y, z];
        let points = self.points.into_iter().map(point).collect();
        Self { transform, points, ..self }
    }

    /// Adds the attributes for the georeferencing.
    pub(super) fn attributes(&self, attributes: &mut Map) {
        if let Some(code) = self.code {
            attributes.insert("crs".to_owned(), format!("EPSG:{code}").into());
        }
        if !self.keys.is_empty() {
            attributes.insert("geo_keys".to_owned(), self.keys.clone().into());
        }
        if !self.points.is_empty() {
            let point = |point: &[f64; 6]| point.iter().map(|&number| Json::from(number)).collect::<Json>();
            attributes.insert("gcps".to_owned(), self.points.iter().map(point).collect());
        }
        if !self.camera.is_empty() {
            let numbers = self.camera.iter().map(|&number| Json::from(number)).collect();
            attributes.insert("rpc_coefficients".to_owned(), numbers);
        }
        if let Some(transform) = self.transform {
            attributes
                .insert("transform".to_owned(), transform.iter().map(|&number| Json::from(number)).collect());
        }
    }

    /// Returns the coordinates of the centers of columns and of rows, if the image is not rotated.
    pub(super) fn coordinates(&self, columns: u64, rows: u64) -> Option<(Coordinates, Coordinates)> {
        let [a, b, c, d, e, f] = self.transform?;
        let is_straight = b == 0.0 && d == 0.0;
        is_straight.then(|| (Coordinates::new(c, a, columns), Coordinates::new(f, e, rows)))
    }
}

/// The maximum number of coordinates in a chunk.
const CHUNK: u64 = 1 << 16;

/// Evenly spaced coordinates.
#[derive(Debug)]
pub(super) struct Coordinates {
    /// The edge of the first pixel.
    begin: f64,
    step: f64,
    count: u64,
    grid: [u64; 1],
}

impl Coordinates {
    fn new(begin: f64, step: f64, count: u64) -> Self {
        Self { begin, step, count, grid: [count.div_ceil(CHUNK)] }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

impl Elements for Coordinates {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        vec![self.count.clamp(1, CHUNK)]
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        true
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        each_position(&self.grid, visit)
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let length = self.count.clamp(1, CHUNK);
        let first = chunk.first().copied().unwrap_or(0) * length;
        #[expect(clippy::cast_precision_loss, reason = "images have fewer pixels along a side")]
        let middle = |n: u64| self.begin + self.step * (n as f64 + 0.5);
        let bytes: Vec<u8> = (first..first + length).flat_map(|n| middle(n).to_ne_bytes()).collect();
        DynArray::new(DataType::Float64, vec![bytes.len() / 8], bytes)
    }
}

/// Returns all keys, by name, or by number if the name is unknown.
fn all_keys(directory: &Directory, entries: &[u64]) -> Result<Map> {
    if entries.len() < 8 {
        return Ok(Map::default());
    }
    let floats = directory.floats(tag::GEO_FLOATS)?;
    let texts = directory.text(tag::GEO_TEXTS)?.unwrap_or_default();
    let mut keys = Map::default();
    for entry in entries.chunks_exact(4).skip(1) {
        let at = usize::try_from(entry[3]).unwrap_or(usize::MAX);
        let count = usize::try_from(entry[2]).unwrap_or(0);
        let end = at.saturating_add(count);
        let value: Json = match entry[1] {
            0 => entry[3].into(),
            34736 => match floats.get(at..end) {
                Some([number]) => Json::from(*number),
                Some(numbers) => numbers.iter().map(|&number| Json::from(number)).collect(),
                None => continue,
            },
            34737 => match texts.get(at..end.min(texts.len())) {
                Some(text) => text.trim_end_matches(['|', '\0']).into(),
                None => continue,
            },
            _ => continue,
        };
        let known = NAMES.iter().find(|(number, _)| *number == entry[0]);
        keys.insert(known.map_or_else(|| entry[0].to_string(), |(_, name)| (*name).to_owned()), value);
    }
    Ok(keys)
}

/// The names of keys.
const NAMES: [(u64, &str); 42] = [
    (1024, "GTModelTypeGeoKey"),
    (1025, "GTRasterTypeGeoKey"),
    (1026, "GTCitationGeoKey"),
    (2048, "GeographicTypeGeoKey"),
    (2049, "GeogCitationGeoKey"),
    (2050, "GeogGeodeticDatumGeoKey"),
    (2051, "GeogPrimeMeridianGeoKey"),
    (2052, "GeogLinearUnitsGeoKey"),
    (2053, "GeogLinearUnitSizeGeoKey"),
    (2054, "GeogAngularUnitsGeoKey"),
    (2055, "GeogAngularUnitSizeGeoKey"),
    (2056, "GeogEllipsoidGeoKey"),
    (2057, "GeogSemiMajorAxisGeoKey"),
    (2058, "GeogSemiMinorAxisGeoKey"),
    (2059, "GeogInvFlatteningGeoKey"),
    (2060, "GeogAzimuthUnitsGeoKey"),
    (2061, "GeogPrimeMeridianLongGeoKey"),
    (2062, "GeogTOWGS84GeoKey"),
    (3072, "ProjectedCSTypeGeoKey"),
    (3073, "PCSCitationGeoKey"),
    (3074, "ProjectionGeoKey"),
    (3075, "ProjCoordTransGeoKey"),
    (3076, "ProjLinearUnitsGeoKey"),
    (3077, "ProjLinearUnitSizeGeoKey"),
    (3078, "ProjStdParallel1GeoKey"),
    (3079, "ProjStdParallel2GeoKey"),
    (3080, "ProjNatOriginLongGeoKey"),
    (3081, "ProjNatOriginLatGeoKey"),
    (3082, "ProjFalseEastingGeoKey"),
    (3083, "ProjFalseNorthingGeoKey"),
    (3084, "ProjFalseOriginLongGeoKey"),
    (3085, "ProjFalseOriginLatGeoKey"),
    (3086, "ProjFalseOriginEastingGeoKey"),
    (3087, "ProjFalseOriginNorthingGeoKey"),
    (3088, "ProjCenterLongGeoKey"),
    (3089, "ProjCenterLatGeoKey"),
    (3092, "ProjScaleAtNatOriginGeoKey"),
    (3094, "ProjAzimuthAngleGeoKey"),
    (3095, "ProjStraightVertPoleLongGeoKey"),
    (4096, "VerticalCSTypeGeoKey"),
    (4097, "VerticalCitationGeoKey"),
    (4099, "VerticalUnitsGeoKey"),
];

fn transform(directory: &Directory) -> Result<Option<[f64; 6]>> {
    if let [a, b, _, c, d, e, _, f, ..] = directory.floats(tag::TRANSFORMATION)?.as_slice() {
        return Ok(Some([*a, *b, *c, *d, *e, *f]));
    }
    let (scale, points) = (directory.floats(tag::PIXEL_SCALE)?, directory.floats(tag::TIE_POINTS)?);
    match (scale.as_slice(), points.as_slice()) {
        // Several tie points do not define an affine transform.
        (&[x, y, ..], &[column, row, _, east, north, _]) => {
            Ok(Some([x, 0.0, east - column * x, 0.0, -y, north + row * y]))
        }
        _ => Ok(None),
    }
}
