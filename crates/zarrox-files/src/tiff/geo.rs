//! The place of an image on the earth: GeoTIFF.
//!
//! Specification: <https://docs.ogc.org/is/19-008r4/19-008r4.html>

use std::ops::ControlFlow;

use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Result};

use super::directory::Directory;
use crate::chunks::{Elements, each_position};

const PIXEL_SCALE: u16 = 33550;
const TIE_POINTS: u16 = 33922;
const TRANSFORMATION: u16 = 34264;
const KEYS: u16 = 34735;
const RASTER_TYPE: u64 = 1025;
const GEOGRAPHIC: u64 = 2048;
const PROJECTED: u64 = 3072;
/// A number that stands for a description instead of a code.
const USER_DEFINED: u64 = 32767;

/// The place of an image.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    /// The code of the coordinate system in the EPSG registry.
    code: Option<u64>,
    /// Six numbers: x = a * column + b * row + c, y = d * column + e * row + f. Whole columns and rows are the corners of pixels.
    transform: Option<[f64; 6]>,
}

impl Place {
    /// The place that the tags of an image tell.
    pub(super) fn of(directory: &Directory) -> Result<Option<Self>> {
        if directory.size(KEYS) > 1 << 20 || directory.size(TIE_POINTS) > 1 << 20 {
            return Ok(None);
        }
        let keys = directory.numbers(KEYS)?;
        let key = |wanted: u64| {
            let mut entries = keys.chunks_exact(4).skip(1);
            // Values of keys with another place than the directory itself are texts and floats.
            entries.find(|entry| entry[0] == wanted && entry[1] == 0).map(|entry| entry[3])
        };
        let code =
            key(PROJECTED).or_else(|| key(GEOGRAPHIC)).filter(|&code| code != USER_DEFINED && code != 0);
        let is_point = key(RASTER_TYPE) == Some(2);
        let transform = transform(directory)?.map(|[a, b, c, d, e, f]| {
            // The point of a pixel is its middle, and not its corner.
            let half = if is_point { 0.5 } else { 0.0 };
            [a, b, c - half * (a + b), d, e, f - half * (d + e)]
        });
        let is_usable = transform.is_none_or(|all| all.iter().all(|number| number.is_finite()));
        Ok((is_usable && (code.is_some() || transform.is_some())).then_some(Self { code, transform }))
    }

    /// The place of a smaller copy, whose pixels are so many times as large.
    pub(super) fn reduced(self, columns: f64, rows: f64) -> Self {
        let transform =
            self.transform.map(|[a, b, c, d, e, f]| [a * columns, b * rows, c, d * columns, e * rows, f]);
        Self { transform, ..self }
    }

    /// The attributes of the image.
    pub(super) fn attributes(&self, attributes: &mut Map) {
        if let Some(code) = self.code {
            attributes.insert("crs".to_owned(), format!("EPSG:{code}").into());
        }
        if let Some(transform) = self.transform {
            attributes
                .insert("transform".to_owned(), transform.iter().map(|&number| Json::from(number)).collect());
        }
    }

    /// The coordinates of the middles of columns and of rows, if these are not turned.
    pub(super) fn coordinates(&self, columns: u64, rows: u64) -> Option<(Coordinates, Coordinates)> {
        let [a, b, c, d, e, f] = self.transform?;
        let is_straight = b == 0.0 && d == 0.0;
        is_straight.then(|| (Coordinates::new(c, a, columns), Coordinates::new(f, e, rows)))
    }
}

/// The most coordinates of a chunk.
const CHUNK: u64 = 1 << 16;

/// Coordinates at even distances.
#[derive(Debug)]
pub(super) struct Coordinates {
    /// The begin of the first pixel.
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

fn transform(directory: &Directory) -> Result<Option<[f64; 6]>> {
    if let [a, b, _, c, d, e, _, f, ..] = directory.floats(TRANSFORMATION)?.as_slice() {
        return Ok(Some([*a, *b, *c, *d, *e, *f]));
    }
    let (scale, points) = (directory.floats(PIXEL_SCALE)?, directory.floats(TIE_POINTS)?);
    match (scale.as_slice(), points.as_slice()) {
        // More points than one are no line.
        (&[x, y, ..], &[column, row, _, east, north, _]) => {
            Ok(Some([x, 0.0, east - column * x, 0.0, -y, north + row * y]))
        }
        _ => Ok(None),
    }
}
