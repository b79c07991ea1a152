//! The plan of a concatenation: which arrays are joined, and which are shared by all files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zarrox::codecs::registry;
use zarrox::json::Map;
use zarrox::{ErrorKind, FillValue, Format, Result};
use zarrox_tools::copy::missing::{of_attribute, tells_missing};

use super::joined::{Joined, Piece, Stored, is_variable};
use super::merge::{differing, named_by};
use super::order::{Coordinates, shift};
use super::sources::{Info, Nodes, Sources};
use super::values::first_difference;
use crate::fill::{FILL_VALUE, Fills};
use crate::input::{corrupt, unsupported};
use crate::store::LeftOut;
use crate::times::{Shift, Units};

/// A request for a concatenation.
pub(crate) struct Request<'a> {
    /// The dimension along which files are joined.
    pub(crate) dimension: &'a str,
    /// True to take arrays that should be equal from the first file if they differ.
    pub(crate) first_wins: bool,
    /// The values used for an array that a file lacks; `None` if a lacking array is an error.
    pub(crate) fills: Option<&'a Fills>,
    /// True to skip damaged files.
    pub(crate) skips_damaged: bool,
    /// A function that returns true for the paths of arrays to import.
    pub(crate) keeps: &'a dyn Fn(&str) -> bool,
    /// For an append that continues after an interruption: a function that returns the original length of an array along
    /// the dimension.
    pub(crate) first_length: &'a dyn Fn(&str) -> Option<u64>,
    /// True if the first source is the hierarchy to which the files are appended.
    pub(crate) appends: bool,
}

/// An array in the result.
#[derive(Debug)]
pub(super) enum Planned {
    /// An array that concatenates the elements of all files.
    Joined(Arc<Joined>),
    /// An array that is equal in all files. It is read from the source with the given index.
    Same(usize, Stored),
}

/// The plan of a concatenation.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) sources: Arc<Sources>,
    pub(super) groups: BTreeMap<String, Map>,
    pub(super) arrays: BTreeMap<String, Planned>,
    /// The index of the source of each array's metadata.
    pub(super) bases: BTreeMap<String, usize>,
    pub(super) dimension: String,
    /// True if no file has the dimension.
    pub(super) is_new: bool,
    /// Differences between the files that are lost in the result.
    pub(super) notes: Vec<String>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Builds a plan.
struct Planner<'a> {
    request: &'a Request<'a>,
    sources: Arc<Sources>,
    nodes: Vec<Nodes>,
    is_new: bool,
    /// The bounds arrays, each with the array whose units it shares.
    bounds: BTreeMap<String, String>,
    /// The arrays that receive a new dimension only if they differ between files.
    auxiliary: BTreeSet<String>,
    /// The number of files in which an attribute differs from that of the first file, by array and attribute.
    differing: BTreeMap<(String, String), usize>,
    /// The number of files that lack an array, by array.
    filled: BTreeMap<String, usize>,
    notes: Vec<String>,
}

/// Plans the concatenation of sources.
pub(super) fn plan(mut sources: Sources, request: &Request<'_>) -> Result<Plan> {
    let (mut nodes, left_out) = scanned(&mut sources, request)?;
    let dimension = request.dimension;
    let has = |nodes: &Nodes| nodes.arrays.values().any(|info| axis_of(info, dimension).is_some());
    let is_new = !nodes.first().is_some_and(has);
    if let Some(other) = nodes.iter().position(|nodes| has(nodes) == is_new) {
        let (with, without) = if is_new { (other, 0) } else { (0, other) };
        return Err(unsupported(format!(
            "{} has the dimension '{dimension}', but {} does not",
            sources.name(with),
            sources.name(without)
        )));
    }
    if !is_new {
        put_in_order(&mut sources, &mut nodes, request)?;
    }
    let bounds = nodes.first().map(bounds).unwrap_or_default();
    let planner = Planner {
        request,
        sources: Arc::new(sources),
        nodes,
        is_new,
        bounds,
        auxiliary: BTreeSet::new(),
        differing: BTreeMap::new(),
        filled: BTreeMap::new(),
        notes: Vec::new(),
    };
    planner.run(left_out)
}

/// Reads the nodes of all sources, and skips damaged sources if the request allows it.
fn scanned(sources: &mut Sources, request: &Request<'_>) -> Result<(Vec<Nodes>, Vec<LeftOut>)> {
    let (mut all, mut left_out, mut kept) = (Vec::<Nodes>::new(), Vec::new(), Vec::new());
    for number in 0..sources.len() {
        match sources.scan(number) {
            Ok(mut nodes) => {
                let name = sources.name(number);
                let found = std::mem::take(&mut nodes.left_out).into_iter();
                left_out.extend(
                    found.map(|part| LeftOut { reason: format!("in {name}: {}", part.reason), ..part }),
                );
                share(&mut nodes, all.first());
                all.push(nodes);
                kept.push(number);
            }
            Err(error) if request.skips_damaged && error.kind() == ErrorKind::Corrupt => {
                left_out.push(LeftOut::new("/", &error));
            }
            Err(error) => return Err(error),
        }
    }
    if kept.len() < sources.len() {
        sources.reorder(&kept);
    }
    if all.is_empty() {
        return Err(corrupt("all files are damaged"));
    }
    Ok((all, left_out))
}

/// Shares metadata that equals that of the first file, so that thousands of files need little memory.
fn share(nodes: &mut Nodes, first: Option<&Nodes>) {
    let Some(first) = first else { return };
    for (path, info) in &mut nodes.arrays {
        if let Some(known) = first.arrays.get(path).filter(|known| *known == info) {
            *info = Arc::clone(known);
        }
    }
}

/// Sorts the files by their coordinates, and checks that the coordinates continue from one file to the next.
fn put_in_order(sources: &mut Sources, nodes: &mut Vec<Nodes>, request: &Request<'_>) -> Result<()> {
    let (dimension, first_length) = (request.dimension, request.first_length);
    let coordinates = Coordinates { sources, nodes, dimension, first_length };
    let paths = coordinates.paths();
    if let Some(main) = paths.first() {
        let order = coordinates.order(main, request.appends)?;
        sources.reorder(&order);
        let mut old: Vec<Option<Nodes>> = std::mem::take(nodes).into_iter().map(Some).collect();
        *nodes = order.iter().filter_map(|&number| old.get_mut(number)?.take()).collect();
    }
    let coordinates = Coordinates { sources, nodes, dimension, first_length };
    paths.iter().try_for_each(|path| coordinates.check(path))
}

/// Returns the bounds arrays, each with the array that it belongs to.
fn bounds(nodes: &Nodes) -> BTreeMap<String, String> {
    let names = ["bounds", "climatology"];
    let of = |(path, info): (&String, &Arc<Info>)| {
        named_by(path, &info.attributes, &names)
            .into_iter()
            .map(|bounds| (bounds, path.clone()))
            .collect::<Vec<_>>()
    };
    nodes.arrays.iter().flat_map(of).collect()
}

/// Returns the index of a dimension of an array.
fn axis_of(info: &Info, dimension: &str) -> Option<usize> {
    info.names.iter().position(|name| name.as_deref() == Some(dimension))
}

fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Formats the missing value of an array whose fill value is its missing value.
fn shown_missing((info, missing): (&Arc<Info>, &Option<FillValue>)) -> String {
    let (data_type, registry) = (&info.metadata.data_type, registry());
    let text = |fill| registry.family(data_type).map(|family| family.fill_to_v3(data_type, fill).to_string());
    missing.as_ref().and_then(|fill| text(fill).ok()).unwrap_or_else(|| "none".to_owned())
}

/// Returns true if the fill value of an array equals the missing value of another one, in a format in which xarray masks
/// the fill value.
fn masks_fill_value(array: &Info, other: &Info) -> bool {
    let (of_array, Some(value)) = (&array.metadata, other.attributes.get(FILL_VALUE)) else { return false };
    of_array.format != Format::V3
        && !array.attributes.contains_key(FILL_VALUE)
        && of_array.fill_value.is_some()
        && of_array.fill_value == of_attribute(&of_array.data_type, value, &registry())
}

impl Planner<'_> {
    fn run(mut self, left_out: Vec<LeftOut>) -> Result<Plan> {
        let groups = self.groups();
        let all: BTreeSet<String> =
            self.nodes.iter().flat_map(|nodes| nodes.arrays.keys().cloned()).collect();
        self.check_destination()?;
        let wanted: Vec<String> = all.into_iter().filter(|path| (self.request.keeps)(path)).collect();
        self.auxiliary = self.auxiliary();
        let (mut arrays, mut bases) = (BTreeMap::new(), BTreeMap::new());
        let (mut joined, mut same) = (Vec::new(), Vec::new());
        for path in wanted {
            let (base, others) = self.having(&path)?;
            bases.insert(path.clone(), base);
            let is_joined = self.is_joined(&path, base)? || self.differs_along(&path, base, &others)?;
            if is_joined { joined.push(path) } else { same.push((path, base)) }
        }
        // If a coordinate differs, all arrays that depend on it differ as well.
        same.sort_by_key(|(path, base)| !self.is_coordinate(path, *base));
        // The outer loop is over files, since only a few files are open at a time.
        for file in 0..self.nodes.len() {
            for (path, base) in same.iter().filter(|(_, base)| *base < file) {
                self.check_same(path, *base, file)?;
            }
        }
        for (path, base) in same {
            let stored = Stored::of(&self.sources.array(base, &path)?)?;
            arrays.insert(path, Planned::Same(base, stored));
        }
        if joined.is_empty() {
            let message = format!("no array has the dimension '{}'", self.request.dimension);
            return Err(unsupported(message));
        }
        let lengths = self.lengths()?;
        for (path, pieces) in self.pieces(&joined, &bases, &lengths)? {
            let base = bases.get(&path).copied().unwrap_or(0);
            let array = self.join(path.clone(), base, pieces)?;
            arrays.insert(path, Planned::Joined(Arc::new(array)));
        }
        let differing = std::mem::take(&mut self.differing);
        self.notes.extend(differing.into_iter().map(|((path, name), count)| {
            format!(
                "/{path}: the attribute '{name}' differs in {count} files; that of the first file is kept"
            )
        }));
        let filled = std::mem::take(&mut self.filled);
        self.notes.extend(filled.into_iter().map(|(path, count)| {
            format!("/{path}: {count} files lack the array; its elements are missing values there")
        }));
        let Self { sources, notes, request, is_new, .. } = self;
        let dimension = request.dimension.to_owned();
        Ok(Plan { sources, groups, arrays, bases, dimension, is_new, notes, left_out })
    }

    /// Checks that the append extends all arrays of the destination that have the dimension, so that their lengths stay equal.
    fn check_destination(&self) -> Result<()> {
        let Some(destination) = self.nodes.first().filter(|_| self.request.appends) else { return Ok(()) };
        let stays = |(path, info): &(&String, &Arc<Info>)| {
            axis_of(info, self.request.dimension).is_some() && !(self.request.keeps)(path)
        };
        match destination.arrays.iter().find(stays) {
            Some((path, _)) => {
                let message =
                    format!("the array '/{path}' of the destination would not grow, since it is excluded");
                Err(unsupported(message))
            }
            None => Ok(()),
        }
    }

    fn info(&self, file: usize, path: &str) -> Result<&Arc<Info>> {
        let found = self.nodes.get(file).and_then(|nodes| nodes.arrays.get(path));
        found.ok_or_else(|| {
            unsupported(format!("the array '/{path}' is missing in {}", self.sources.name(file)))
        })
    }

    /// Merges the attributes of groups.
    fn groups(&mut self) -> BTreeMap<String, Map> {
        let mut groups: BTreeMap<String, Map> = BTreeMap::new();
        for nodes in &self.nodes {
            for (path, attributes) in &nodes.groups {
                let Some(first) = groups.get(path) else {
                    groups.insert(path.clone(), attributes.clone());
                    continue;
                };
                let (meaning, others) = differing(first, attributes);
                for name in meaning.into_iter().chain(others) {
                    *self.differing.entry((path.clone(), name.to_owned())).or_default() += 1;
                }
            }
        }
        groups
    }

    /// Returns the first file that has an array, and the other files that have it. A file that lacks the array is an
    /// error, unless the array is replaced by fill values.
    fn having(&self, path: &str) -> Result<(usize, Vec<usize>)> {
        let (have, lack): (Vec<usize>, Vec<usize>) =
            (0..self.nodes.len()).partition(|&file| self.info(file, path).is_ok());
        if let Some(&file) =
            lack.first().filter(|_| self.request.fills.is_none() || self.request.appends && lack.contains(&0))
        {
            let (name, has) = (self.sources.name(file), have.first().map(|&file| self.sources.name(file)));
            return Err(unsupported(format!(
                "the array '/{path}' of {} is missing in {name}; missing values can stand for it",
                has.unwrap_or_default()
            )));
        }
        let base = have.first().copied().ok_or_else(|| corrupt("no file has the array"))?;
        Ok((base, have.into_iter().skip(1).collect()))
    }

    /// Returns the arrays referenced by attributes, such as bounds. They receive a new dimension only if they differ
    /// between files.
    fn auxiliary(&self) -> BTreeSet<String> {
        let Some(first) = self.nodes.first().filter(|_| self.is_new) else { return BTreeSet::new() };
        let names =
            ["coordinates", "bounds", "climatology", "grid_mapping", "cell_measures", "formula_terms"];
        let arrays = first.arrays.iter().flat_map(|(path, info)| named_by(path, &info.attributes, &names));
        let groups = first.groups.iter().flat_map(|(path, attributes)| {
            let inside = if path.is_empty() { String::new() } else { format!("{path}/") };
            named_by(&inside, attributes, &names)
        });
        arrays.chain(groups).collect()
    }

    /// Returns true if an array is a coordinate: its name is that of a dimension.
    fn is_coordinate(&self, path: &str, base: usize) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let Some(nodes) = self.nodes.get(base) else { return false };
        nodes.arrays.values().any(|info| info.names.iter().any(|dim| dim.as_deref() == Some(name)))
    }

    /// Returns true if an array is joined along the dimension.
    fn is_joined(&self, path: &str, base: usize) -> Result<bool> {
        if self.is_new {
            let is_alone =
                path.is_empty() || !(self.auxiliary.contains(path) || self.is_coordinate(path, base));
            return Ok(is_alone);
        }
        let info = self.info(base, path)?;
        let along = info.names.iter().filter(|name| name.as_deref() == Some(self.request.dimension)).count();
        if along > 1 {
            let message = format!("the array '/{path}' has the dimension '{}' twice", self.request.dimension);
            return Err(unsupported(message));
        }
        Ok(along == 1)
    }

    /// Returns true if an array referenced by attributes differs between files, so that it receives the new dimension.
    fn differs_along(&self, path: &str, base: usize, others: &[usize]) -> Result<bool> {
        if !self.is_new || !self.auxiliary.contains(path) || self.is_coordinate(path, base) {
            return Ok(false);
        }
        let first = self.info(base, path)?;
        for &file in others {
            let info = self.info(file, path)?;
            let is_alike = info.metadata.shape == first.metadata.shape
                && info.metadata.data_type == first.metadata.data_type;
            if !is_alike || self.difference(path, base, file)?.is_some() {
                return Ok(is_alike);
            }
        }
        Ok(false)
    }

    fn difference(&self, path: &str, base: usize, file: usize) -> Result<Option<Vec<u64>>> {
        first_difference(&self.sources.array(base, path)?, &self.sources.array(file, path)?)
    }

    /// Checks that an array without the dimension is equal in all files.
    fn check_same(&mut self, path: &str, base: usize, file: usize) -> Result<()> {
        if self.info(file, path).is_err() {
            return Ok(());
        }
        self.check_form(path, base, file, None)?;
        let Some(at) = self.difference(path, base, file)? else { return Ok(()) };
        let (one, other) = (self.sources.name(base), self.sources.name(file));
        let differs = format!("the elements of '/{path}' differ between {one} and {other} at {at:?}");
        if !self.request.first_wins {
            return Err(unsupported(format!("{differs}; the first file can be taken")));
        }
        self.notes.push(format!("{differs}; those of the first file are kept"));
        Ok(())
    }

    /// Checks that the arrays in two files agree, except in their length along an axis. Returns the conversion of times,
    /// if one is needed.
    fn check_form(
        &mut self,
        path: &str,
        base: usize,
        file: usize,
        axis: Option<usize>,
    ) -> Result<Option<Shift>> {
        let (first, info) = (Arc::clone(self.info(base, path)?), Arc::clone(self.info(file, path)?));
        let (one, other) = (self.sources.name(base), self.sources.name(file));
        let refused = |what: &str, of_one: &str, of_other: &str| {
            Err(unsupported(format!(
                "the {what} of '/{path}' differs: {of_one} in {one}, and {of_other} in {other}"
            )))
        };
        let (a, b) = (&first.metadata, &info.metadata);
        if a.data_type != b.data_type {
            return refused("data type", &a.data_type.to_string(), &b.data_type.to_string());
        }
        let has_other_length = |dim: usize| Some(dim) != axis && a.shape.get(dim) != b.shape.get(dim);
        if a.shape.len() != b.shape.len() || (0..a.shape.len()).any(has_other_length) {
            return refused("shape", &format!("{:?}", a.shape), &format!("{:?}", b.shape));
        }
        if first.names != info.names {
            return refused("dimensions", &format!("{:?}", first.names), &format!("{:?}", info.names));
        }
        if Arc::ptr_eq(&first, &info) {
            return self.shift_of_parent(path, base, file);
        }
        let missing = [&first, &info]
            .map(|info| tells_missing(&info.attributes).then(|| info.metadata.fill_value.clone()).flatten());
        if missing[0] != missing[1] {
            let [of_one, of_other] = [(&first, &missing[0]), (&info, &missing[1])].map(shown_missing);
            return refused("missing value", &of_one, &of_other);
        }
        let (meaning, others) = differing(&first.attributes, &info.attributes);
        let own =
            shift(&first, &info).filter(|_| axis.is_some() && !first.attributes.contains_key("scale_factor"));
        for name in meaning {
            if own.is_some() && matches!(name, "units" | "calendar") {
                continue;
            }
            let is_same_time =
                Units::of(&first.attributes).is_some_and(|units| Units::of(&info.attributes) == Some(units));
            if is_same_time && matches!(name, "units" | "calendar") {
                continue;
            }
            if name == FILL_VALUE && masks_fill_value(&first, &info) {
                continue;
            }
            let shown =
                |info: &Info| info.attributes.get(name).map_or("none".to_owned(), ToString::to_string);
            return refused(&format!("attribute '{name}'"), &shown(&first), &shown(&info));
        }
        for name in others {
            *self.differing.entry((path.to_owned(), name.to_owned())).or_default() += 1;
        }
        match own {
            Some(own) => {
                let text =
                    |info: &Info| info.attributes.get("units").map(ToString::to_string).unwrap_or_default();
                self.notes.push(format!(
                    "/{path}: the times of {other}, {}, are converted to {}",
                    text(&info),
                    text(&first)
                ));
                Ok(Some(own))
            }
            None => self.shift_of_parent(path, base, file),
        }
    }

    /// Returns the conversion of times for a bounds array, which has the units of another array.
    fn shift_of_parent(&self, path: &str, base: usize, file: usize) -> Result<Option<Shift>> {
        let Some(parent) = self.bounds.get(path) else { return Ok(None) };
        if self.info(base, path)?.attributes.contains_key("units") {
            return Ok(None);
        }
        let (Ok(first), Ok(info)) = (self.info(base, parent), self.info(file, parent)) else {
            return Ok(None);
        };
        Ok(shift(first, info))
    }

    /// For each file, returns the length along the dimension of the arrays in each group.
    fn lengths(&self) -> Result<Vec<BTreeMap<String, u64>>> {
        let mut all = Vec::new();
        for (file, nodes) in self.nodes.iter().enumerate() {
            let mut lengths: BTreeMap<String, (u64, &str)> = BTreeMap::new();
            for (path, info) in &nodes.arrays {
                let Some(axis) = axis_of(info, self.request.dimension).filter(|_| !self.is_new) else {
                    continue;
                };
                let length = self.length(file, path, axis)?;
                let (known, first) = *lengths.entry(above(path).to_owned()).or_insert((length, path));
                if known != length && (self.request.keeps)(path) {
                    return Err(unsupported(format!(
                        "in {}, '/{path}' has {length} elements along the dimension '{}', and '/{first}' has {known}",
                        self.sources.name(file),
                        self.request.dimension
                    )));
                }
            }
            all.push(lengths.into_iter().map(|(path, (length, _))| (path, length)).collect());
        }
        Ok(all)
    }

    /// Returns the length of an array in a file along an axis.
    fn length(&self, file: usize, path: &str, axis: usize) -> Result<u64> {
        let known = (self.request.first_length)(path).filter(|_| self.request.appends && file == 0);
        let own = || self.info(file, path).map(|info| info.metadata.shape.get(axis).copied().unwrap_or(0));
        known.map_or_else(own, Ok)
    }

    /// Returns the pieces of all joined arrays. The files are read one after another.
    fn pieces(
        &mut self,
        joined: &[String],
        bases: &BTreeMap<String, usize>,
        lengths: &[BTreeMap<String, u64>],
    ) -> Result<BTreeMap<String, Vec<Piece>>> {
        let mut pieces: BTreeMap<String, Vec<Piece>> = BTreeMap::new();
        for file in 0..self.nodes.len() {
            for path in joined {
                let base = bases.get(path).copied().unwrap_or(0);
                let list = pieces.entry(path.clone()).or_default();
                let offset = list.last().map_or(0, |last| last.offset + last.length);
                let piece = self.piece(path, base, file, offset, lengths.get(file))?;
                list.push(piece);
            }
        }
        Ok(pieces)
    }

    fn piece(
        &mut self,
        path: &str,
        base: usize,
        file: usize,
        offset: u64,
        lengths: Option<&BTreeMap<String, u64>>,
    ) -> Result<Piece> {
        let first = Arc::clone(self.info(base, path)?);
        let axis = if self.is_new { None } else { axis_of(&first, self.request.dimension) };
        let Ok(info) = self.info(file, path).cloned() else {
            return self.lacking(path, &first, file, offset, lengths);
        };
        let shift = if file == base { None } else { self.check_form(path, base, file, axis)? };
        if shift.is_some() && is_variable(&info.metadata.data_type) {
            return Err(unsupported(format!("the times of '/{path}' are not numbers")));
        }
        let length = match axis {
            Some(axis) => self.length(file, path, axis)?,
            None => 1,
        };
        offset.checked_add(length).ok_or_else(|| corrupt("the joined array is too long"))?;
        let array = self.sources.array(file, path)?;
        let stored = Some(Stored::of(&array).map_err(|error| error.at(self.sources.name(file)))?);
        let (a, b) = (&first.metadata, &info.metadata);
        let is_transposed = self.is_new && a.codecs.iter().any(|codec| codec.name == "transpose");
        let chunks = b.chunk_grid.largest_chunk().to_vec();
        let is_as_stored = shift.is_none()
            && !is_transposed
            && a.chunk_grid.largest_chunk() == chunks
            && a.codecs == b.codecs;
        let has_other_fill = a.fill_value != b.fill_value;
        let is_as_stored = is_as_stored && !has_other_fill;
        let elements = b.shape.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
        // For an array to which an interrupted run has appended, only the elements before the append count.
        let elements = if self.request.appends && file == 0 { None } else { Some(elements) };
        Ok(Piece {
            source: file,
            offset,
            length,
            elements,
            stored,
            missing: None,
            chunks,
            is_as_stored,
            has_other_fill,
            shift,
        })
    }

    /// Returns the piece for a file that lacks an array. All its elements are missing values.
    fn lacking(
        &mut self,
        path: &str,
        first: &Info,
        file: usize,
        offset: u64,
        lengths: Option<&BTreeMap<String, u64>>,
    ) -> Result<Piece> {
        let name = self.sources.name(file);
        let length = match lengths.filter(|_| !self.is_new) {
            Some(lengths) => lengths.get(above(path)).or(lengths.values().next()).copied(),
            None => Some(1),
        };
        let length = length.ok_or_else(|| {
            unsupported(format!("the length of '{}' in {name} is unknown", self.request.dimension))
        })?;
        let registry = zarrox::codecs::registry();
        let missing =
            self.request.fills.and_then(|fills| fills.of(&first.metadata, &first.attributes, &registry));
        let missing = missing.ok_or_else(|| {
            unsupported(format!(
                "the array '/{path}' is missing in {name}, and has no missing value to replace its elements ({}); a value can be given for it",
                first.metadata.data_type
            ))
        })?;
        *self.filled.entry(path.to_owned()).or_default() += 1;
        let is_fill = missing == first.metadata.fill_element(&registry)?;
        Ok(Piece {
            source: file,
            offset,
            length,
            elements: None,
            stored: None,
            missing: Some(missing).filter(|_| !is_fill),
            chunks: Vec::new(),
            is_as_stored: false,
            has_other_fill: !is_fill,
            shift: None,
        })
    }

    fn join(&self, path: String, base: usize, pieces: Vec<Piece>) -> Result<Joined> {
        let info = self.info(base, &path)?;
        let metadata = &info.metadata;
        let total = pieces.last().map_or(0, |last| last.offset + last.length);
        let (mut shape, mut chunk_shape) =
            (metadata.shape.clone(), metadata.chunk_grid.largest_chunk().to_vec());
        let axis = match axis_of(info, self.request.dimension).filter(|_| !self.is_new) {
            Some(axis) => axis,
            None => {
                shape.insert(0, total);
                chunk_shape.insert(0, 1);
                0
            }
        };
        if let Some(length) = shape.get_mut(axis) {
            *length = total;
        }
        let grid =
            shape.iter().zip(&chunk_shape).map(|(length, chunk)| length.div_ceil((*chunk).max(1))).collect();
        let registry = zarrox::codecs::registry();
        Ok(Joined {
            sources: Arc::clone(&self.sources),
            path,
            axis,
            is_new: self.is_new,
            shape,
            chunk_shape,
            grid,
            data_type: metadata.data_type.clone(),
            fill: metadata.fill_element(&registry)?,
            pieces,
        })
    }
}
