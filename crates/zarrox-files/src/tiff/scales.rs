//! The spacing of elements along dimensions, with units.

use zarrox::json::{Json, Map};

/// The spacing of elements along a dimension and the coordinate of the first element.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    pub(super) axis: &'static str,
    pub(super) step: f64,
    /// The UDUNITS-2 name of the unit.
    pub(super) unit: Option<String>,
}

/// The spacing along dimensions.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Scales(pub(super) Vec<Scale>);

impl Scales {
    /// Adds the spacing along a dimension, if it is valid.
    pub(super) fn add(&mut self, axis: &'static str, step: f64, unit: Option<&str>) {
        if step.is_finite() && step > 0.0 {
            self.0.push(Scale { axis, step, unit: unit.and_then(named) });
        }
    }

    /// Returns the spacing along a dimension.
    pub(super) fn of(&self, axis: &str) -> Option<&Scale> {
        self.0.iter().find(|scale| scale.axis == axis)
    }

    /// Returns the spacing for pixels that are `rows` times as high and `columns` times as wide.
    pub(super) fn times(&self, rows: f64, columns: f64) -> Self {
        let larger = |scale: &Scale| {
            let ratio = match scale.axis {
                "y" => rows,
                "x" => columns,
                _ => 1.0,
            };
            Scale { step: scale.step * ratio, ..scale.clone() }
        };
        Self(self.0.iter().map(larger).collect())
    }

    /// Adds the attributes `spacing` and `spacing_units`, in dimension order.
    pub(super) fn attributes(&self, names: &[String], attributes: &mut Map) {
        let known: Vec<Option<&Scale>> = names.iter().map(|name| self.of(name)).collect();
        if known.iter().all(Option::is_none) {
            return;
        }
        let spacing: Json =
            known.iter().map(|scale| scale.map_or(1.0, |scale| scale.step)).map(Json::from).collect();
        attributes.insert("spacing".to_owned(), spacing);
        if known.iter().flatten().any(|scale| scale.unit.is_some()) {
            let unit = |scale: &Option<&Scale>| {
                scale.and_then(|scale| scale.unit.as_deref()).map_or(Json::Null, Json::from)
            };
            attributes.insert("spacing_units".to_owned(), known.iter().map(unit).collect());
        }
    }
}

/// Returns the UDUNITS-2 name of a unit; `None` for non-physical units such as pixels.
pub(super) fn named(unit: &str) -> Option<String> {
    let unit = unit.trim();
    let known = match unit {
        "" | "pixel" | "pixels" | "reference frame" => return None,
        "\u{b5}m" | "\u{3bc}m" | "um" | "micron" | "microns" | "micrometer" | "\\u00B5m" | "\\u00b5m" => {
            "micrometer"
        }
        "nm" => "nanometer",
        "mm" => "millimeter",
        "cm" => "centimeter",
        "dm" => "decimeter",
        "m" => "meter",
        "km" => "kilometer",
        "pm" => "picometer",
        "fm" => "femtometer",
        "\u{c5}" | "A" | "angstrom" => "angstrom",
        "in" | "inch" => "inch",
        "ft" => "foot",
        "yd" => "yard",
        "mi" => "mile",
        "s" | "sec" | "second" => "second",
        "ms" | "msec" => "millisecond",
        "\u{b5}s" | "\u{3bc}s" | "us" => "microsecond",
        "ns" => "nanosecond",
        "min" => "minute",
        "h" | "hour" => "hour",
        "d" => "day",
        other => other,
    };
    Some(known.to_owned())
}
