//! The dimensions of an exported selection: their names, selected positions, and coordinates or OME-Zarr scales.

mod ome;

use zarrox::data_type::Casting;
use zarrox::internals::selection::{ResolvedAxis, ResultAxis};
use zarrox::json::Json;
use zarrox::{Array, DataType, DimSelection, DynArray, Error, ErrorKind, Group, Node, Result, Selection};

use crate::input::unsupported;
pub(crate) use ome::OmeImage;

/// The names that mark the last dimension as the dimension of samples per pixel.
const SAMPLES: [&str; 10] =
    ["channel", "channels", "c", "s", "sample", "samples", "rgb", "rgba", "band", "bands"];

/// The maximum number of coordinates that are read for a dimension.
const MOST: u64 = 1 << 24;

/// The tolerance for evenly spaced coordinates, as a fraction of the spacing. It is needed because many coordinates are
/// 32-bit floats.
const TOLERANCE: f64 = 1e-3;

/// A dimension of an array, and the selected positions along it.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) name: Option<String>,
    /// The first selected position and the step, which is negative for descending positions.
    pub(crate) start: i64,
    pub(crate) step: i64,
    pub(crate) count: u64,
    /// True if the selection is a single index, which drops the dimension.
    pub(crate) is_dropped: bool,
    /// The coordinate of the first position and the spacing, if the coordinates are evenly spaced.
    pub(crate) even: Option<(f64, f64)>,
    pub(crate) unit: Option<String>,
}

impl Axis {
    /// Returns true if the name of the dimension marks it as the samples dimension.
    pub(crate) fn is_samples(&self) -> bool {
        self.name.as_ref().is_some_and(|name| SAMPLES.iter().any(|known| name.eq_ignore_ascii_case(known)))
    }

    /// Returns true if all positions along a dimension of length `length` are selected in order.
    pub(crate) fn is_whole(&self, length: u64) -> bool {
        self.start == 0 && self.count == length && (self.step == 1 || length <= 1)
    }
}

/// An array, a selection of its elements, and the properties of its dimensions.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) array: Array,
    pub(crate) selection: Selection,
    /// All dimensions of the array, in order.
    pub(crate) axes: Vec<Axis>,
    /// The parent group of the array, if there is one.
    pub(crate) parent: Option<Group>,
    /// The OME-Zarr metadata of the image, if there is any.
    pub(crate) image: Option<OmeImage>,
}

impl Placed {
    /// Finds the array of a node: the node itself, the highest resolution of an OME-Zarr image, or the only array in a
    /// group that is not a coordinate.
    pub(crate) fn new(node: &Node, selection: &Selection) -> Result<Self> {
        let (array, parent) = match node {
            Node::Array(array) => (array.clone(), array.parent()?),
            Node::Group(group) => (array_of(group)?, Some(group.clone())),
        };
        let image = parent.as_ref().and_then(|group| OmeImage::of(group.attributes()));
        let mut axes = positions(&array, selection)?;
        place(&mut axes, &array, parent.as_ref(), image.as_ref())?;
        Ok(Self { array, selection: selection.clone(), axes, parent, image })
    }

    /// Returns the dimensions of the selection result, in order.
    pub(crate) fn result(&self) -> impl DoubleEndedIterator<Item = &Axis> + Clone {
        self.axes.iter().filter(|axis| !axis.is_dropped)
    }

    /// Returns true if the selection contains all elements in order.
    pub(crate) fn is_whole(&self) -> bool {
        self.axes.iter().zip(self.array.shape()).all(|(axis, &length)| axis.is_whole(length))
    }

    /// Returns the selection restricted to one position along the first dimension of the result.
    pub(crate) fn at(&self, position: u64) -> Selection {
        let mut is_first = true;
        let items = self.axes.iter().map(|axis| {
            if axis.is_dropped {
                return DimSelection::Index(axis.start);
            }
            if std::mem::take(&mut is_first) {
                let steps = i64::try_from(position).unwrap_or(i64::MAX);
                return DimSelection::Index(axis.start.saturating_add(axis.step.saturating_mul(steps)));
            }
            let count = i64::try_from(axis.count).unwrap_or(i64::MAX);
            let stop = axis.start.saturating_add(axis.step.saturating_mul(count));
            // A negative stop would be counted from the end.
            DimSelection::Slice {
                start: Some(axis.start),
                stop: Some(stop).filter(|&stop| stop >= 0),
                step: axis.step,
            }
        });
        items.collect()
    }

    /// Returns an attribute of the array.
    pub(crate) fn attribute(&self, name: &str) -> Option<&Json> {
        self.array.attributes().get(name)
    }

    /// Returns a string attribute of the array.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.attribute(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns the number in an attribute of the array, which may be a float as encoded by xarray.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        let number = match self.attribute(name)? {
            Json::String(text) => crate::fill::decode(text)?.as_f64(),
            number => number.as_f64(),
        };
        number.filter(|number| number.is_finite())
    }
}

/// Returns the array of a group that is exported: the only array that is not a coordinate.
fn array_of(group: &Group) -> Result<Array> {
    if let Some(image) = OmeImage::of(group.attributes())
        && let Some(level) = image.levels.first()
    {
        return group.open(&level.path)?.into_array();
    }
    let arrays: Vec<Array> = group.arrays()?.into_iter().filter(|array| array.ndim() > 1).collect();
    match arrays.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            Err(unsupported(format!("the group '{}' has no array of two or more dimensions", group.path())))
        }
        many => {
            let names: Vec<&str> = many.iter().map(|array| array.path().name()).collect();
            let message = format!(
                "the file holds one array, but the group '{}' has several; name one of {}",
                group.path(),
                names.join(", ")
            );
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
    }
}

/// Returns the dimensions of an array, with the positions that a selection contains.
fn positions(array: &Array, selection: &Selection) -> Result<Vec<Axis>> {
    let listed = || {
        let message = format!(
            "the positions of the selection {selection} are not evenly spaced; use slices, or copy the selection first"
        );
        Error::new(ErrorKind::InvalidArgument, message)
    };
    let resolved = selection.resolve(array.shape())?;
    let is_kept = |number: usize| {
        resolved.result.iter().any(|axis| matches!(axis, ResultAxis::Of { axis, .. } if *axis == number))
    };
    if resolved.result.iter().any(|axis| matches!(axis, ResultAxis::New)) {
        return Err(listed());
    }
    let mut axes: Vec<Axis> = Vec::with_capacity(array.ndim());
    for (number, axis) in resolved.axes.iter().enumerate() {
        let ResolvedAxis::Span(span) = axis else { return Err(listed()) };
        let whole = |number: u64| i64::try_from(number).map_err(|_| listed());
        let (lowest, step) = (whole(span.start)?, whole(span.step)?);
        let last = lowest + step * (whole(span.count)? - 1).max(0);
        let (start, step) = if span.reversed { (last, -step) } else { (lowest, step) };
        let name = name_of(array, span.dim);
        let is_dropped = !is_kept(number);
        axes.push(Axis { name, start, step, count: span.count, is_dropped, even: None, unit: None });
    }
    Ok(axes)
}

/// Returns the name of a dimension, which in Zarr v2 is stored in xarray's attribute.
fn name_of(array: &Array, dim: usize) -> Option<String> {
    if let Some(names) = array.dimension_names() {
        return names.get(dim)?.clone();
    }
    Some(array.attributes().get("_ARRAY_DIMENSIONS")?.get(dim)?.as_str()?.to_owned())
}

/// Sets the coordinates of dimensions from OME-Zarr metadata, or from coordinate variables in the same group.
#[expect(clippy::cast_precision_loss, reason = "arrays have fewer positions along a dimension")]
fn place(axes: &mut [Axis], array: &Array, parent: Option<&Group>, image: Option<&OmeImage>) -> Result<()> {
    let level = image.and_then(|image| image.level(array.path().name()));
    for (dim, axis) in axes.iter_mut().enumerate() {
        let of_image = image.zip(level).and_then(|(image, level)| {
            let known = image.axes.get(dim)?;
            Some((known, *level.scale.get(dim)?, level.translation.get(dim).copied().unwrap_or(0.0)))
        });
        let even = match (of_image, parent) {
            (Some((known, scale, translation)), _) => {
                axis.name = Some(known.name.clone());
                axis.unit.clone_from(&known.unit);
                Some((translation, scale))
            }
            (None, Some(parent)) => {
                match coordinates(parent, axis.name.as_deref(), array.shape().get(dim))? {
                    Some((even, unit)) => {
                        axis.unit = unit;
                        even
                    }
                    None => None,
                }
            }
            (None, None) => None,
        };
        axis.even = even.map(|(first, step)| (first + step * axis.start as f64, step * axis.step as f64));
    }
    Ok(())
}

/// The first coordinate and the spacing, if the coordinates are evenly spaced; and the unit.
type Coordinates = (Option<(f64, f64)>, Option<String>);

/// Returns the coordinates of a dimension, if the group has them.
fn coordinates(group: &Group, name: Option<&str>, length: Option<&u64>) -> Result<Option<Coordinates>> {
    let Some(name) = name.filter(|name| !name.contains('/')) else { return Ok(None) };
    if !group.contains(name)? {
        return Ok(None);
    }
    let Ok(Node::Array(array)) = group.open(name) else { return Ok(None) };
    if array.shape() != length.map_or(&[] as &[u64], std::slice::from_ref)
        || array.shape().iter().any(|&n| n > MOST)
    {
        return Ok(None);
    }
    let unit = array.attributes().get("units").and_then(Json::as_str).map(str::to_owned);
    let registry = zarrox::codecs::registry();
    let Ok(values) = array.slice(..).read::<DynArray>()?.cast(&DataType::Float64, Casting::Lossy, &registry)
    else {
        return Ok(None);
    };
    let values = values.to::<Vec<f64>>()?;
    Ok(Some((even(&values), unit)))
}

/// Returns the first number and the spacing, if the numbers are evenly spaced.
#[expect(clippy::cast_precision_loss, reason = "there are at most 2^24 numbers")]
fn even(values: &[f64]) -> Option<(f64, f64)> {
    let (&first, &last) = (values.first()?, values.last()?);
    let count = values.len().checked_sub(1).filter(|&count| count > 0)?;
    let step = (last - first) / count as f64;
    let is_even = step != 0.0
        && step.is_finite()
        && values
            .iter()
            .enumerate()
            .all(|(n, value)| (value - (first + step * n as f64)).abs() <= TOLERANCE * step.abs());
    is_even.then_some((first, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_even_within_their_precision() {
        assert_eq!(even(&[1.0, 3.0, 5.0]), Some((1.0, 2.0)));
        assert_eq!(even(&[1.0, 3.0, 5.1]), None);
        assert_eq!(even(&[2.0, 2.0]), None);
        assert_eq!(even(&[1.0]), None);
        assert_eq!(even(&[0.0, f64::NAN]), None);
        let single: Vec<f64> = (0..1800).map(|n| f64::from(0.1_f32 * n as f32)).collect();
        assert!(even(&single).is_some_and(|(_, step)| (step - 0.1).abs() < 1e-6));
    }
}
