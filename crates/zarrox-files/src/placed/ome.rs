//! OME-Zarr images: the axes, scales and channels described by the attributes of a group.

use zarrox::json::{Json, Map};

/// An axis of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OmeAxis {
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
}

/// A level of a pyramid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OmeLevel {
    pub(crate) path: String,
    pub(crate) scale: Vec<f64>,
    pub(crate) translation: Vec<f64>,
}

/// The first image of a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OmeImage {
    pub(crate) name: Option<String>,
    pub(crate) axes: Vec<OmeAxis>,
    /// The levels, starting with the highest resolution.
    pub(crate) levels: Vec<OmeLevel>,
    /// The names of the channels. Names may be empty.
    pub(crate) channels: Vec<String>,
}

impl OmeImage {
    /// Returns the image described by the attributes of a group, for OME-Zarr 0.3 and later.
    pub(crate) fn of(attributes: &Map) -> Option<Self> {
        let members = attributes.get("ome").and_then(Json::as_object).unwrap_or(attributes);
        let entry = members.get("multiscales")?.get(0)?;
        let axes: Vec<OmeAxis> = entry.get("axes")?.as_array()?.iter().map(axis).collect::<Option<_>>()?;
        let whole = transformed(entry, axes.len());
        let level = |dataset: &Json| {
            let own = transformed(dataset, axes.len());
            let both = own.0.iter().zip(&own.1).zip(whole.0.iter().zip(&whole.1));
            let (scale, translation) = both.map(|((s, t), (all, shift))| (s * all, t * all + shift)).unzip();
            Some(OmeLevel { path: dataset.get("path")?.as_str()?.to_owned(), scale, translation })
        };
        let levels = entry.get("datasets")?.as_array()?.iter().map(level).collect::<Option<Vec<_>>>()?;
        let label =
            |channel: &Json| channel.get("label").and_then(Json::as_str).unwrap_or_default().to_owned();
        let channels = members.get("omero").and_then(|omero| omero.get("channels")?.as_array());
        let channels = channels.map(|channels| channels.iter().map(label).collect()).unwrap_or_default();
        let name = entry.get("name").and_then(Json::as_str).map(str::to_owned);
        Some(Self { name, axes, levels, channels })
    }

    /// Returns the level with the given name.
    pub(crate) fn level(&self, name: &str) -> Option<&OmeLevel> {
        self.levels.iter().find(|level| level.path == name)
    }
}

/// Parses an axis, which is a string in old versions.
fn axis(json: &Json) -> Option<OmeAxis> {
    let text = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    let name = json.as_str().map(str::to_owned).or_else(|| text("name"))?;
    Some(OmeAxis { name, unit: text("unit") })
}

/// Returns the scale and translation of an entry. The defaults are 1 and 0.
fn transformed(entry: &Json, ndim: usize) -> (Vec<f64>, Vec<f64>) {
    let find = |kind: &str| -> Option<Vec<f64>> {
        let all = entry.get("coordinateTransformations")?.as_array()?;
        let own = all.iter().find(|one| one.get("type").and_then(Json::as_str) == Some(kind))?;
        let numbers: Option<Vec<f64>> = own.get(kind)?.as_array()?.iter().map(Json::as_f64).collect();
        numbers.filter(|numbers| numbers.len() == ndim)
    };
    (find("scale").unwrap_or_else(|| vec![1.0; ndim]), find("translation").unwrap_or_else(|| vec![0.0; ndim]))
}
