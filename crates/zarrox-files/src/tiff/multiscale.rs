//! Images at several resolutions as OME-Zarr.

use zarrox::json::Map;
use zarrox::{DataType, Result};
use zarrox_images::ome::{self, Axis, DisplayWindow, ImageLevel, Multiscales};

use super::series::Series;
use crate::input::unsupported;

/// The mapping from the dimensions of an image to those of OME-Zarr.
#[derive(Debug)]
pub(super) struct Arrangement {
    /// The source dimension of each dimension of the result.
    pub(super) order: Vec<usize>,
    /// The first of two adjacent dimensions that are merged into channels.
    pub(super) merged: Option<usize>,
    /// The axes of the result.
    pub(super) axes: Vec<Axis>,
}

impl Arrangement {
    /// Returns the arrangement for dimensions with the given names.
    pub(super) fn of(names: &[String], series: &Series) -> Result<Self> {
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let axis = |name: &String| match name.as_str() {
            "channel" => "c",
            // Pages without metadata become the z dimension, as in other programs.
            "page" if !has("t") => "t",
            "page" if !has("z") => "z",
            "t" => "t",
            "c" => "c",
            "z" => "z",
            "y" => "y",
            "x" => "x",
            _ => "",
        };
        let axes: Vec<&str> = names.iter().map(axis).collect();
        if let Some(at) = axes.iter().position(|axis| axis.is_empty()) {
            return Err(unsupported(format!(
                "OME-Zarr has no axis for the dimension {} of the image",
                names[at]
            )));
        }
        let mut order: Vec<usize> = (0..axes.len()).collect();
        let rank = |axis: &str| ["t", "c", "z", "y", "x"].iter().position(|known| *known == axis);
        order.sort_by_key(|&dim| rank(axes[dim]));
        let mut sorted: Vec<&str> = order.iter().map(|&dim| axes[dim]).collect();
        let merged = sorted.windows(2).position(|pair| pair == ["c", "c"]);
        if let Some(dim) = merged {
            sorted.remove(dim);
        }
        let axis = |name: &&str| Axis {
            unit: series.scales.of(name).and_then(|scale| scale.unit.clone()),
            ..Axis::named(*name)
        };
        Ok(Self { order, merged, axes: sorted.iter().map(axis).collect() })
    }
}

/// Returns the attributes of a group whose arrays are named after their levels and have the given numbers of rows and columns.
pub(super) fn attributes(
    series: &Series,
    arrangement: &Arrangement,
    sides: &[(u64, u64)],
    channels: u64,
    data_type: &DataType,
) -> Result<Map> {
    let name = series.name.clone().unwrap_or_default();
    let mut image = ome::Image::new(name, arrangement.axes.clone());
    let first = sides.first().copied().unwrap_or((1, 1));
    for (number, side) in sides.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "images have fewer pixels along a side")]
        let ratio = |main: u64, own: u64| main as f64 / own.max(1) as f64;
        let (rows, columns) = (ratio(first.0, side.0), ratio(first.1, side.1));
        let along = |axis: &Axis| {
            let step = series.scales.of(&axis.name).map_or(1.0, |scale| scale.step);
            let ratio = match axis.name.as_str() {
                "y" => rows,
                "x" => columns,
                _ => 1.0,
            };
            (step * ratio, step * (ratio - 1.0) / 2.0)
        };
        let (scale, translation) = arrangement.axes.iter().map(along).unzip();
        image.levels.push(ImageLevel { path: number.to_string(), scale, translation });
    }
    image.channels = described(series, channels, data_type);
    let mut attributes = Map::default();
    Multiscales::Ome05.describe(&image, &mut attributes)?;
    Ok(attributes)
}

/// Returns the channels, if they have any display properties.
fn described(series: &Series, count: u64, data_type: &DataType) -> Vec<ome::Channel> {
    let has_range = series.channels.iter().any(|channel| channel.range.is_some());
    let limits = limits(data_type);
    if limits.is_none() && !has_range {
        return Vec::new();
    }
    let is_rgb = series.channels.len() <= 1 && count == 3 && series.is_rgb();
    let usual = [("Red", "FF0000"), ("Green", "00FF00"), ("Blue", "0000FF")];
    let channel = |nth: usize| {
        let known = series.channels.get(nth).cloned().unwrap_or_default();
        let rgb = usual.get(nth).filter(|_| is_rgb);
        let label = known.name.or_else(|| rgb.map(|(name, _)| (*name).to_owned()));
        let color = known.color.or_else(|| rgb.map(|(_, color)| (*color).to_owned()));
        let (min, max) = limits.or(known.range).unwrap_or((0.0, 1.0));
        let (start, end) = known.range.unwrap_or((min, max));
        let mut channel = ome::Channel::named(label.unwrap_or_else(|| format!("Channel {nth}")));
        channel.color = color;
        channel.window = Some(DisplayWindow { min: min.min(start), max: max.max(end), start, end });
        channel
    };
    (0..usize::try_from(count.min(1 << 10)).unwrap_or(0)).map(channel).collect()
}

/// Returns the minimum and maximum of an integer type.
fn limits(data_type: &DataType) -> Option<(f64, f64)> {
    Some(match data_type {
        DataType::UInt8 => (0.0, u8::MAX.into()),
        DataType::UInt16 => (0.0, u16::MAX.into()),
        DataType::UInt32 => (0.0, u32::MAX.into()),
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        _ => return None,
    })
}
