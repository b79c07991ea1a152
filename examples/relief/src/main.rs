//! Draws an elevation model as a shaded relief: the part of `cargo xtask demo` that is a program of its own, over the library.
//!
//! ```text
//! relief PATH PNG
//! ```
//!
//! PATH is a group that has the arrays `elevation`, `dx`, `dy` and `ymin`. The relief becomes a new array beside them, which
//! grows by a strip of rows at a time, and then the picture PNG.

#![expect(clippy::print_stdout, reason = "it tells what it does")]

use std::error::Error;
use std::fs::File;
use std::path::Path;

use ndarray::Array2;
use zarrox::codecs::Zstd;
use zarrox::{Array, prelude::*, s};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of rows that are shaded at a time.
const STRIP: usize = 100;
/// The length of a degree of latitude, in metres.
const DEGREE: f64 = 111_200.0;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, picture] = arguments.as_slice() else { return Err("relief PATH PNG".into()) };
    let group = zarrox::open_group(path)?;
    let relief = shade(&group)?;
    println!("{:?} elements, appended strip by strip", relief.shape());
    save(&relief, Path::new(picture))
}

/// Shades the elevations into the array `relief`.
fn shade(group: &Group) -> Result<Array> {
    let elevation = group.open("elevation")?.into_array()?;
    let spacing = spacing(group)?;
    let (rows, columns) = (usize::try_from(elevation.shape()[0])?, elevation.shape()[1]);
    let mut relief = group
        .create_array("relief")
        .shape([0, columns])
        .data_type(DataType::UInt8)
        .chunks([64, 64])
        .compressor(Zstd::level(5))
        .create()?;
    for first in (0..rows).step_by(STRIP) {
        let last = rows.min(first + STRIP);
        // A slope needs the rows on either side.
        let (above, below) = (first.saturating_sub(1), rows.min(last + 1));
        let heights: Array2<i16> = elevation.read(s![above..below, ..])?;
        let shaded = hillshade(&heights, spacing);
        let inside = first - above..last - above;
        relief.append(shaded.slice(ndarray::s![inside, ..]), 0)?;
    }
    Ok(relief)
}

/// The distance between neighbours, in metres, along rows and along columns.
fn spacing(group: &Group) -> Result<(f64, f64)> {
    let number = |name: &str| -> Result<f64> {
        let values = group.open(name)?.into_array()?.read::<ArrayD<f64>>(s![...])?;
        Ok(values.first().copied().ok_or("an empty array")?)
    };
    let latitude = number("ymin")?.to_radians();
    Ok((number("dy")? * DEGREE, number("dx")? * DEGREE * latitude.cos()))
}

/// The brightness of each place when the sun stands in the north-west.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
fn hillshade(heights: &Array2<i16>, (dy, dx): (f64, f64)) -> Array2<u8> {
    const EXAGGERATION: f64 = 2.0;
    let sun = [-0.5, 0.5, std::f64::consts::FRAC_1_SQRT_2];
    let (rows, columns) = heights.dim();
    let height = |row: usize, column: usize| f64::from(heights[[row, column]]) * EXAGGERATION;
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        let (north, south) = (row.saturating_sub(1), (row + 1).min(rows - 1));
        let (west, east) = (column.saturating_sub(1), (column + 1).min(columns - 1));
        let to_east = (height(row, east) - height(row, west)) / ((east - west).max(1) as f64 * dx);
        let to_north = (height(north, column) - height(south, column)) / ((south - north).max(1) as f64 * dy);
        let light = -to_east * sun[0] - to_north * sun[1] + sun[2];
        let light = light / (to_east * to_east + to_north * to_north + 1.0).sqrt();
        (light.clamp(0.0, 1.0) * 255.0) as u8
    })
}

/// Writes an array of bytes as a grey picture.
fn save(relief: &Array, path: &Path) -> Result<()> {
    let pixels = relief.read::<Array2<u8>>(s![..])?;
    let (height, width) = pixels.dim();
    let mut encoder = png::Encoder::new(File::create(path)?, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels.as_slice().ok_or("the pixels do not lie in order")?)?;
    println!("{}: {width} by {height} pixels", path.display());
    Ok(())
}
