//! The order of files along a dimension, determined by the values of their coordinates.

use std::cmp::Ordering;

use zarrox::DynArray;
use zarrox::Result;

use super::sources::{Info, Nodes, Sources};
use super::values::Values;
use crate::input::unsupported;
use crate::times::{Shift, Units};

/// The coordinates of all files along one dimension.
pub(super) struct Coordinates<'a> {
    pub(super) sources: &'a Sources,
    pub(super) nodes: &'a [Nodes],
    pub(super) dimension: &'a str,
    /// A function that returns the valid length along the dimension, for an array to which an interrupted run has appended.
    pub(super) first_length: &'a dyn Fn(&str) -> Option<u64>,
}

impl Coordinates<'_> {
    /// Returns the paths of the coordinates in the first file. Coordinates of outer groups come first.
    pub(super) fn paths(&self) -> Vec<String> {
        let Some(first) = self.nodes.first() else { return Vec::new() };
        let is_coordinate = |path: &str, info: &Info| {
            let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
            name == self.dimension && matches!(info.names.as_slice(), [Some(name)] if name == self.dimension)
        };
        let found = first.arrays.iter().filter(|(path, info)| is_coordinate(path, info));
        let mut paths: Vec<String> = found.map(|(path, _)| path.clone()).collect();
        paths.sort_by_key(|path| path.matches('/').count());
        paths
    }

    /// Reads the values of a coordinate in `file`, converted to the units of the file `base`.
    fn values(&self, path: &str, file: usize, base: usize) -> Result<Values> {
        let missing =
            || unsupported(format!("the coordinate '/{path}' is missing in {}", self.sources.name(file)));
        let info = self.nodes.get(file).and_then(|nodes| nodes.arrays.get(path)).ok_or_else(missing)?;
        let of_base = self.nodes.get(base).and_then(|nodes| nodes.arrays.get(path)).ok_or_else(missing)?;
        let array = self.sources.array(file, path)?;
        let length = (self.first_length)(path).filter(|_| file == 0);
        let length = length.or_else(|| array.shape().first().copied()).unwrap_or(0);
        let named = |error: zarrox::Error| error.at(format!("'/{path}' of {}", self.sources.name(file)));
        let elements = array.read::<DynArray>(0..length).map_err(named)?;
        let unordered = || {
            unsupported(format!(
                "'/{path}' has the data type {}, whose elements cannot be ordered",
                array.data_type()
            ))
        };
        let values = Values::of(&elements).ok_or_else(unordered)?;
        let Some(shift) = shift(of_base, info) else { return Ok(values) };
        let inexact = || {
            let (one, other) = (self.sources.name(file), self.sources.name(base));
            let text =
                |info: &Info| info.attributes.get("units").map(ToString::to_string).unwrap_or_default();
            unsupported(format!(
                "the times of '/{path}' in {one}, {}, have no exact values in the units of {other}, {}",
                text(info),
                text(of_base)
            ))
        };
        values.shifted(shift).ok_or_else(inexact)
    }

    /// Returns the indices of the files, sorted by the values of a coordinate. If `is_fixed` is true, the first file stays first.
    pub(super) fn order(&self, path: &str, is_fixed: bool) -> Result<Vec<usize>> {
        let count = self.nodes.len();
        let values: Vec<Values> = (0..count).map(|file| self.values(path, file, 0)).collect::<Result<_>>()?;
        let mut direction = Ordering::Equal;
        for (file, values) in values.iter().enumerate() {
            let own = values.order().ok_or_else(|| {
                let name = self.sources.name(file);
                unsupported(format!("the values of '/{path}' in {name} are neither ascending nor descending"))
            })?;
            if own.is_ne() && direction.is_ne() && own != direction {
                let name = self.sources.name(file);
                return Err(unsupported(format!(
                    "the values of '/{path}' in {name} have the opposite direction of those of earlier files"
                )));
            }
            direction = if own.is_ne() { own } else { direction };
        }
        let first = |&file: &usize| values.get(file).is_some_and(|values| values.len() > 0);
        let (mut order, empty): (Vec<usize>, Vec<usize>) =
            (usize::from(is_fixed)..count).partition(|file| first(file));
        let compare = |one: usize, other: usize| {
            let (one, other) = (values.get(one), values.get(other));
            one.zip(other).and_then(|(one, other)| one.compare(0, other, 0)).unwrap_or(Ordering::Equal)
        };
        order.sort_by(|&one, &other| match direction {
            Ordering::Greater => compare(other, one),
            _ => compare(one, other),
        });
        if is_fixed {
            order.insert(0, 0);
        }
        order.extend(empty);
        Ok(order)
    }

    /// Checks that the values of a coordinate continue from file to file without overlaps and in a single direction. The
    /// files must already be sorted.
    pub(super) fn check(&self, path: &str) -> Result<()> {
        let mut direction = Ordering::Equal;
        let mut before: Option<(usize, Values)> = None;
        for file in 0..self.nodes.len() {
            let values = self.values(path, file, 0)?;
            if values.len() == 0 {
                continue;
            }
            let own = values.order().unwrap_or(Ordering::Equal);
            let Some((last_file, last)) = before.replace((file, values.clone())) else {
                direction = own;
                continue;
            };
            let step = last.compare(last.len() - 1, &values, 0).unwrap_or(Ordering::Equal);
            let wanted = [direction, own].into_iter().find(|order| order.is_ne()).unwrap_or(step);
            if step.is_eq() || step != wanted || (own.is_ne() && own != wanted) {
                let (one, other) = (self.sources.name(last_file), self.sources.name(file));
                return Err(unsupported(format!(
                    "the values of '/{path}' overlap or are not in order: {last} in {one}, and {values} in {other}"
                )));
            }
            direction = wanted;
        }
        Ok(())
    }
}

/// Returns the conversion of times from the units of `other` to those of `base`, if the units differ.
pub(super) fn shift(base: &Info, other: &Info) -> Option<Shift> {
    let (to, from) = (Units::of(&base.attributes)?, Units::of(&other.attributes)?);
    if to == from { None } else { Shift::new(from, to) }
}
