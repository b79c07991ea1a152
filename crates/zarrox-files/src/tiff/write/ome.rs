//! Describes an image in OME-XML.
//!
//! Specification: <https://docs.openmicroscopy.org/ome-model/6.3.1/ome-tiff/specification.html>

use zarrox::{DataType, Result};

use super::gdal::escaped;
use super::layout::Layout;
use crate::input::unsupported;
use crate::placed::{Axis, Placed};

const SCHEMA: &str = "http://www.openmicroscopy.org/Schemas/OME/2016-06";

/// The page dimensions in OME.
const LEADING: [char; 3] = ['c', 'z', 't'];

/// The OME units, by OME-Zarr name or symbol.
const UNITS: [(&[&str], &str); 14] = [
    (&["angstrom"], "Å"),
    (&["nanometer", "nm"], "nm"),
    (&["micrometer", "um", "µm", "micron"], "µm"),
    (&["millimeter", "mm"], "mm"),
    (&["centimeter", "cm"], "cm"),
    (&["meter", "m"], "m"),
    (&["kilometer", "km"], "km"),
    (&["nanosecond", "ns"], "ns"),
    (&["microsecond", "us", "µs"], "µs"),
    (&["millisecond", "ms"], "ms"),
    (&["second", "s"], "s"),
    (&["minute", "min"], "min"),
    (&["hour", "h"], "h"),
    (&["day", "d"], "d"),
];

/// Returns the OME-XML for an image with the given layout.
///
/// # Errors
/// [`zarrox::ErrorKind::Unsupported`] if OME does not support the dimensions or the data type.
pub(super) fn description(placed: &Placed, layout: &Layout) -> Result<String> {
    let axes: Vec<&Axis> = placed.result().collect();
    let leading = leading(&axes[..layout.lead.len()])?;
    let (rows, columns) = (axes[layout.lead.len()], axes[layout.lead.len() + 1]);
    let samples = layout.samples.unwrap_or(1);
    let length = |axis: char| leading.iter().find(|(own, _)| *own == axis).map_or(1, |(_, axis)| axis.count);
    let channels = length('c').saturating_mul(samples);
    let mut order: String = leading.iter().rev().map(|(axis, _)| *axis).collect();
    order.extend(LEADING.into_iter().filter(|axis| !leading.iter().any(|(own, _)| own == axis)));
    let order = order.to_ascii_uppercase();
    let name = placed.image.as_ref().and_then(|image| image.name.clone());
    let name = name.unwrap_or_else(|| placed.array.path().name().to_owned());
    let mut sizes = String::new();
    let of = |axis: char| leading.iter().find(|(own, _)| *own == axis).map(|(_, axis)| *axis);
    for (name, axis) in [("X", Some(columns)), ("Y", Some(rows)), ("Z", of('z'))] {
        sizes.push_str(&physical(&format!("PhysicalSize{name}"), axis));
    }
    sizes.push_str(&physical("TimeIncrement", of('t')));
    let interleaved = if samples > 1 { " Interleaved=\"true\"" } else { "" };
    let big = cfg!(target_endian = "big");
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <OME xmlns=\"{SCHEMA}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"{SCHEMA} {SCHEMA}/ome.xsd\" Creator=\"Zarrox {}\">\
         <Image ID=\"Image:0\" Name=\"{}\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XY{order}\" Type=\"{}\" \
         SizeX=\"{}\" SizeY=\"{}\" SizeC=\"{channels}\" SizeZ=\"{}\" SizeT=\"{}\"{sizes} BigEndian=\"{big}\"{interleaved}>",
        env!("CARGO_PKG_VERSION"),
        escaped(&name),
        pixel_type(placed.array.data_type())?,
        layout.width,
        layout.height,
        length('z'),
        length('t'),
    );
    let labels = placed.image.as_ref().map_or(&[] as &[String], |image| image.channels.as_slice());
    for channel in 0..length('c') {
        let label = of('c').and_then(|axis| label(axis, labels, channel));
        let label = label.map(|label| format!(" Name=\"{}\"", escaped(label))).unwrap_or_default();
        xml.push_str(&format!("<Channel ID=\"Channel:0:{channel}\" SamplesPerPixel=\"{samples}\"{label}/>"));
    }
    xml.push_str(&format!("<TiffData IFD=\"0\" PlaneCount=\"{}\"/></Pixels></Image></OME>", layout.images()));
    Ok(xml)
}

/// Returns the name of a channel of a selection.
fn label<'a>(axis: &Axis, labels: &'a [String], channel: u64) -> Option<&'a str> {
    let position = axis.start.checked_add(axis.step.checked_mul(i64::try_from(channel).ok()?)?)?;
    labels.get(usize::try_from(position).ok()?).map(String::as_str).filter(|label| !label.is_empty())
}

/// Returns the page dimensions with their OME letters. Dimensions without names are assumed to be in the default order.
fn leading<'a>(axes: &[&'a Axis]) -> Result<Vec<(char, &'a Axis)>> {
    let usual = ['t', 'c', 'z'];
    if axes.len() <= usual.len() && axes.iter().all(|axis| axis.name.is_none()) {
        return Ok(usual[usual.len() - axes.len()..].iter().copied().zip(axes.iter().copied()).collect());
    }
    let mut found: Vec<(char, &Axis)> = Vec::new();
    for axis in axes {
        let name = axis.name.as_deref().unwrap_or_default().to_ascii_lowercase();
        let letter = match name.as_str() {
            "t" | "time" => Some('t'),
            "z" | "depth" | "slice" => Some('z'),
            _ if axis.is_samples() => Some('c'),
            _ => None,
        };
        match letter {
            Some(letter) if !found.iter().any(|(own, _)| *own == letter) => found.push((letter, axis)),
            _ => {
                return Err(unsupported(format!(
                    "OME-TIFF supports the dimensions t, c, z, y and x, not '{name}'; select a single position of it, give it another \
                     name with zarrox rename-dim, or write .tif"
                )));
            }
        }
    }
    Ok(found)
}

/// Returns the XML attributes for the spacing along a dimension.
fn physical(name: &str, axis: Option<&Axis>) -> String {
    let Some((axis, (_, step))) = axis.and_then(|axis| Some((axis, axis.even?))) else {
        return String::new();
    };
    let unit = axis
        .unit
        .as_deref()
        .and_then(|unit| UNITS.iter().find(|(names, _)| names.contains(&unit)).map(|(_, symbol)| *symbol));
    let is_time = name == "TimeIncrement";
    match unit {
        // A spacing without a unit is in the reference frame of the array.
        None if is_time || step == 1.0 => String::new(),
        None => format!(" {name}=\"{}\" {name}Unit=\"reference frame\"", step.abs()),
        Some(symbol) => format!(" {name}=\"{}\" {name}Unit=\"{symbol}\"", step.abs()),
    }
}

fn pixel_type(data_type: &DataType) -> Result<&'static str> {
    Ok(match data_type {
        DataType::Bool | DataType::UInt8 => "uint8",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::Int8 => "int8",
        DataType::Int16 => "int16",
        DataType::Int32 => "int32",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Complex64 => "complex",
        DataType::Complex128 => "double-complex",
        _ => {
            return Err(unsupported(format!(
                "OME-TIFF does not support {data_type}; copy to another type with zarrox cp --dtype, or write .tif"
            )));
        }
    })
}
