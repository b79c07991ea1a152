//! The axes of images.

use std::fmt;
use std::str::FromStr;

use zarrox_core::json::{Json, Map, json};
use zarrox_core::{Error, Result};

use zarrox::internals::argument;

/// The kind of axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AxisKind {
    /// A spatial dimension.
    Space,
    /// Time.
    Time,
    /// Channels, such as colours or stains.
    Channel,
    /// Any other kind.
    Other(String),
}

impl AxisKind {
    /// Returns the name of the kind: `space`, `time`, `channel` or another name.
    pub fn name(&self) -> &str {
        match self {
            Self::Space => "space",
            Self::Time => "time",
            Self::Channel => "channel",
            Self::Other(name) => name,
        }
    }

    pub(super) fn named(name: &str) -> Self {
        match name {
            "space" => Self::Space,
            "time" => Self::Time,
            "channel" => Self::Channel,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the rank of the kind in the order that OME-Zarr requires: time, then channels or other kinds, then space.
    pub(super) fn rank(&self) -> usize {
        match self {
            Self::Time => 0,
            Self::Channel | Self::Other(_) => 1,
            Self::Space => 2,
        }
    }
}

impl fmt::Display for AxisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An axis of an image. It is parsed from a name, or from `NAME:KIND`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axis {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: AxisKind,
    /// The unit of scales and translations along the axis, by its UDUNITS-2 name: `micrometer`, `second`.
    pub unit: Option<String>,
}

impl Axis {
    /// Creates an axis whose kind is inferred from its name: `t` and `time` are time axes, `c`, `channel` and `band` are channel
    /// axes, and all others are space axes.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        let kind = match name.to_ascii_lowercase().as_str() {
            "t" | "time" => AxisKind::Time,
            "c" | "channel" | "channels" | "band" | "bands" => AxisKind::Channel,
            _ => AxisKind::Space,
        };
        Self { name, kind, unit: None }
    }

    /// Returns the usual axes of an image with `ndim` dimensions: the last `ndim` of `t`, `c`, `z`, `y` and `x`; `None` for more
    /// than five dimensions.
    pub fn usual(ndim: usize) -> Option<Vec<Self>> {
        const NAMES: [&str; 5] = ["t", "c", "z", "y", "x"];
        let first = NAMES.len().checked_sub(ndim)?;
        Some(NAMES[first..].iter().map(|name| Self::named(*name)).collect())
    }

    pub(super) fn to_json(&self) -> Json {
        let mut axis = Map::default();
        axis.insert("name".to_owned(), json!(self.name.as_str()));
        axis.insert("type".to_owned(), json!(self.kind.name()));
        if let Some(unit) = &self.unit {
            axis.insert("unit".to_owned(), json!(unit.as_str()));
        }
        Json::Object(axis)
    }
}

impl FromStr for Axis {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, kind) = match text.split_once(':') {
            Some((name, kind)) => (name.trim(), Some(kind.trim())),
            None => (text.trim(), None),
        };
        if name.is_empty() || kind == Some("") {
            return Err(argument(format!("'{text}' is not an axis; expected NAME or NAME:KIND")));
        }
        let axis = Self::named(name);
        Ok(match kind {
            Some(kind) => Self { kind: AxisKind::named(kind), ..axis },
            None => axis,
        })
    }
}

/// Checks that OME-Zarr allows the axes: two to five axes with distinct names, of which two or three are space axes, in the order
/// time, channel, space.
pub(super) fn check(axes: &[Axis]) -> std::result::Result<(), String> {
    if !(2..=5).contains(&axes.len()) {
        return Err(format!("an image must have 2 to 5 axes, not {}", axes.len()));
    }
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    if let Some(twice) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        return Err(format!("two axes have the name '{}'", twice.1));
    }
    let count = |rank: usize| axes.iter().filter(|axis| axis.kind.rank() == rank).count();
    if !(2..=3).contains(&count(2)) {
        return Err(format!("2 or 3 axes must have the type 'space', not {}", count(2)));
    }
    if count(0) > 1 {
        return Err("several axes have the type 'time'".to_owned());
    }
    if count(1) > 1 {
        return Err("several axes have neither the type 'space' nor 'time'".to_owned());
    }
    if !axes.is_sorted_by_key(|axis| axis.kind.rank()) {
        return Err(format!("the axes must be in the order time, channel, space, not {}", names.join(", ")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_kinds_by_their_names() {
        let kinds = |axes: &[Axis]| axes.iter().map(|axis| axis.kind.to_string()).collect::<Vec<_>>();
        assert_eq!(kinds(&Axis::usual(5).unwrap()), ["time", "channel", "space", "space", "space"]);
        assert_eq!(Axis::usual(6), None);
        assert_eq!("w:angle".parse::<Axis>().unwrap().kind, AxisKind::Other("angle".to_owned()));
        assert!(":x".parse::<Axis>().is_err() && "x:".parse::<Axis>().is_err());
    }

    #[test]
    fn axes_have_an_order() {
        let fits = |names: &str| {
            let axes: Vec<Axis> = names.split(',').map(|name| name.parse().unwrap()).collect();
            check(&axes).is_ok()
        };
        for good in ["y,x", "t,y,x", "c,z,y,x", "t,c,z,y,x", "a:angle,y,x", "lat,lon"] {
            assert!(fits(good), "{good}");
        }
        for bad in
            ["x", "y,y", "c,t,y,x", "y,x,c", "t,c,x", "w,z,y,x", "c,a:angle,y,x", "t,time,y,x", "a,b,c,d,e,f"]
        {
            assert!(!fits(bad), "{bad}");
        }
    }
}
