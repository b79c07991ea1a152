//! The description of an image, independent of the form in which it is stored in attributes.

use zarrox_core::Result;
use zarrox_core::json::{Json, Map, json};

use super::axis::{self, Axis};
use super::channel::{self, Channel};
use zarrox::internals::argument;

/// A resolution level of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageLevel {
    /// The path of the array, relative to the group.
    pub path: String,
    /// The distance between adjacent elements along each axis, in the unit of the axis.
    pub scale: Vec<f64>,
    /// The coordinate of the centre of the first element along each axis, in the unit of the axis.
    pub translation: Vec<f64>,
}

/// A multi-resolution image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Image {
    /// The name.
    pub name: String,
    /// The axes, in the order of the arrays' dimensions.
    pub axes: Vec<Axis>,
    /// The resolution levels, with the highest resolution first.
    pub levels: Vec<ImageLevel>,
    /// The downsampling method.
    pub method: Option<String>,
    /// The channels; empty if they are not described.
    pub channels: Vec<Channel>,
    /// True if the elements are labels.
    pub is_labels: bool,
}

impl Image {
    /// Creates an image with axes, but without levels.
    pub fn new(name: impl Into<String>, axes: Vec<Axis>) -> Self {
        let (levels, channels) = (Vec::new(), Vec::new());
        Self { name: name.into(), axes, levels, method: None, channels, is_labels: false }
    }

    pub(super) fn check_lengths(&self) -> Result<()> {
        let ndim = self.axes.len();
        match self.levels.iter().find(|level| level.scale.len() != ndim || level.translation.len() != ndim) {
            Some(level) => Err(argument(format!(
                "level '{}' does not have as many dimensions as there are axes",
                level.path
            ))),
            None => Ok(()),
        }
    }

    /// Returns the entry of `multiscales`, which is the same in both versions of OME-Zarr.
    pub(super) fn ome_entry(&self) -> Result<Map> {
        axis::check(&self.axes).map_err(|why| {
            argument(format!(
                "OME-Zarr does not allow these axes: {why}; name them, or use the convention multiscales"
            ))
        })?;
        let mut entry = Map::default();
        entry.insert("name".to_owned(), json!(self.name.as_str()));
        entry.insert("axes".to_owned(), Json::Array(self.axes.iter().map(Axis::to_json).collect()));
        let has_translation =
            self.levels.iter().any(|level| level.translation.iter().any(|along| *along != 0.0));
        let dataset = |level: &ImageLevel| {
            let mut transformations = vec![json!({"type": "scale", "scale": level.scale.as_slice()})];
            if has_translation {
                transformations
                    .push(json!({"type": "translation", "translation": level.translation.as_slice()}));
            }
            json!({"path": level.path.as_str(), "coordinateTransformations": Json::Array(transformations)})
        };
        entry.insert("datasets".to_owned(), Json::Array(self.levels.iter().map(dataset).collect()));
        if let Some(method) = &self.method {
            entry.insert("type".to_owned(), json!(method.as_str()));
            let version = env!("CARGO_PKG_VERSION");
            let about = json!({"method": "zarrox.downsample", "version": version, "kwargs": {"method": method.as_str()}});
            entry.insert("metadata".to_owned(), about);
        }
        Ok(entry)
    }

    /// Returns the description of the channels, if there are any.
    pub(super) fn omero(&self) -> Option<Map> {
        if self.channels.is_empty() {
            return None;
        }
        let mut omero = Map::default();
        omero.insert("name".to_owned(), json!(self.name.as_str()));
        omero.insert("channels".to_owned(), channel::list(&self.channels));
        let model = if self.channels.len() == 1 { "greyscale" } else { "color" };
        omero.insert("rdefs".to_owned(), json!({"defaultT": 0, "defaultZ": 0, "model": model}));
        Some(omero)
    }

    /// Returns the description of labels, if the elements are labels. It names the labelled image: the parent of the group
    /// `labels`.
    pub(super) fn image_label(&self) -> Option<Map> {
        let mut label = Map::default();
        label.insert("source".to_owned(), json!({"image": "../../"}));
        self.is_labels.then_some(label)
    }
}

/// Adds an entry to the list of images, or replaces the entry with the same first array.
pub(super) fn put_entry(members: &mut Map, entry: Map) {
    let first = |entry: &Json| {
        let path = entry.get("datasets")?.get(0)?.get("path")?;
        path.as_str().map(str::to_owned)
    };
    let entry = Json::Object(entry);
    let list = members.get_or_insert_with("multiscales", || Json::Array(Vec::new()));
    if !list.is_array() {
        *list = Json::Array(Vec::new());
    }
    let Some(list) = list.as_array_mut() else { return };
    match list.iter_mut().find(|other| first(other) == first(&entry)) {
        Some(same) => *same = entry,
        None => list.push(entry),
    }
}
