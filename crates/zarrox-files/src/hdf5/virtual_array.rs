//! Virtual datasets, whose elements are stored in other datasets, possibly in other files.

use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::data_type::{Casting, Storage};
use zarrox::stores::MemoryStore;
use zarrox::{
    Array, ArrayBuilder, DataType, DimSelection, DynArray, Error, ErrorKind, OpenMode, OpenOptions, Result,
    Selection,
};

use super::array::{Maker, Wanted, encoded};
use super::files::Id;
use super::format::{Hyperslab, Mapping, ObjectKind, Space};
use super::steps::{Selected, Steps};
use super::text::lenient;
use super::types::{self, Mapped};
use crate::chunks::rows::{CHUNK, runs};
use crate::chunks::{Chunks, Elements};
use crate::input::{corrupt, unsupported, zeroed};
use crate::store::FileStore;

/// The maximum nesting depth of virtual datasets.
const DEEPEST: usize = 8;

/// The maximum number of chunks of a virtual dataset, and the maximum number of numbered source files.
const MOST: u64 = 1 << 24;

/// The maximum size in bytes of chunks whose shape a virtual dataset adopts from its sources.
const LARGEST_CHUNK: u64 = 64 << 20;

impl Maker {
    /// Creates the array of a virtual dataset. Along unlimited dimensions, its shape grows to include all elements of the
    /// sources.
    pub(super) fn virtual_array(
        &mut self,
        wanted: &mut Wanted<'_>,
        mappings: &[Mapping],
        fill: Option<zarrox::json::Json>,
    ) -> Result<Box<dyn Chunks>> {
        if self.open.contains(&wanted.id) || self.open.len() >= DEEPEST {
            return Err(unsupported("virtual datasets are sources of one another"));
        }
        self.open.push(wanted.id);
        let parts = self.parts(wanted, mappings);
        self.open.pop();
        let parts = parts?;
        let fill_json =
            fill.ok_or_else(|| unsupported("the fill value of a virtual dataset has different elements"))?;
        let raw = wanted.fill()?;
        let first = raw.get(..wanted.mapped.item).unwrap_or(&raw).to_vec();
        let fill = self.heap(wanted.id.file).elements(&wanted.mapped, vec![], first)?;
        let fill = fill.elements().next().unwrap_or_default().to_vec();
        let own = own_chunk(&parts, &wanted.shape, &wanted.mapped);
        let chunk_shape: Vec<u64> = own.iter().chain(&wanted.mapped.inner).copied().collect();
        let builder: ArrayBuilder = wanted.builder(Some(fill_json)).chunks(chunk_shape.clone());
        let array = self.compressed(builder).create()?;
        let mut grid: Vec<u64> = wanted.shape.iter().zip(&own).map(|(n, chunk)| n.div_ceil(*chunk)).collect();
        let stored = stored(&parts, &own, &grid)?;
        grid.extend(wanted.mapped.inner.iter().map(|_| 1));
        let data_type = wanted.mapped.data_type.clone();
        encoded(&array, Box::new(Virtual { parts, grid, own, chunk_shape, stored, data_type, fill }))
    }

    /// Determines the sources of a virtual dataset and the elements that each of them provides.
    fn parts(&mut self, wanted: &mut Wanted<'_>, mappings: &[Mapping]) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        let mut is_endless = vec![false; wanted.shape.len()];
        for mapping in mappings {
            let endless = endless(&mapping.target);
            let found = match endless {
                Some(dim) if has_number(&mapping.file) || has_number(&mapping.dataset) => {
                    self.numbered(wanted, mapping, dim)?
                }
                Some(dim) => vec![self.growing(wanted, mapping, dim)?],
                None => vec![self.fixed(wanted, mapping)?],
            };
            if let Some(is_endless) = endless.and_then(|dim| is_endless.get_mut(dim)) {
                *is_endless = true;
            }
            parts.extend(found);
        }
        for (dim, (length, is_endless)) in wanted.shape.iter_mut().zip(is_endless).enumerate() {
            if is_endless {
                *length = parts.iter().map(|part| part.end(dim)).max().unwrap_or(0);
            }
            if parts.iter().any(|part| part.end(dim) > *length) {
                return Err(corrupt("a virtual dataset has elements outside its shape"));
            }
        }
        Ok(parts)
    }

    /// Returns the part of a virtual dataset that a mapping with a fixed selection describes.
    fn fixed(&mut self, wanted: &Wanted<'_>, mapping: &Mapping) -> Result<Part> {
        let source = self.only_source(wanted, mapping)?;
        let own = own_shape(&source, &wanted.mapped)?;
        let target = Selected::of(&mapping.target, &wanted.shape)?;
        let selected = Selected::of(&mapping.source, &own)?;
        part(source, &selected, &target)
    }

    /// Returns the part of a virtual dataset for a mapping that grows with its source along a dimension.
    fn growing(&mut self, wanted: &Wanted<'_>, mapping: &Mapping, dim: usize) -> Result<Part> {
        let source = self.only_source(wanted, mapping)?;
        let own = own_shape(&source, &wanted.mapped)?;
        let both = (Selected::of(&mapping.target, &wanted.shape)?, Selected::of(&mapping.source, &own)?);
        let (Selected::Along(mut target), Selected::Along(mut selected)) = both else {
            return Err(corrupt("an unlimited selection consists of single elements"));
        };
        let from = endless(&mapping.source).or_else(|| (mapping.source == Hyperslab::All).then_some(dim));
        let from = from.filter(|&from| from < own.len());
        let from = from.ok_or_else(|| unsupported("a virtual dataset grows, but its source does not"))?;
        let length = selected[from].endless_before(own[from]);
        selected[from] = selected[from].with_length(length);
        target[dim] = target[dim].with_length(length);
        part(source, &Selected::Along(selected), &Selected::Along(target))
    }

    /// Returns the parts whose sources are numbered with `%b`: one for each existing source, starting at 0.
    fn numbered(&mut self, wanted: &Wanted<'_>, mapping: &Mapping, dim: usize) -> Result<Vec<Part>> {
        let Hyperslab::Regular(blocks) = &mapping.target else { return Ok(Vec::new()) };
        let mut parts = Vec::new();
        for number in 0..MOST {
            let (file, dataset) = (numbered(&mapping.file, number), numbered(&mapping.dataset, number));
            if !self.files.exists(wanted.id.file, &file) {
                break;
            }
            let source = match self.source_of(wanted, &file, &dataset) {
                // A file can contain any number of numbered datasets.
                Err(error) if error.kind() == ErrorKind::Unsupported && has_number(&mapping.dataset) => break,
                source => source?,
            };
            let own = own_shape(&source, &wanted.mapped)?;
            let selected = Selected::of(&mapping.source, &own)?;
            let mut blocks = blocks.clone();
            let far = || corrupt("a virtual dataset has too many blocks");
            let along = blocks.get_mut(dim).ok_or_else(far)?;
            let distance =
                number.checked_mul(along.stride).and_then(|distance| distance.checked_add(along.start));
            along.start = distance.ok_or_else(far)?;
            along.count = Some(1);
            let target = Selected::of(&Hyperslab::Regular(blocks), &wanted.shape)?;
            parts.push(part(source, &selected, &target)?);
        }
        Ok(parts)
    }

    /// Opens the source of a mapping without block numbers.
    fn only_source(&mut self, wanted: &Wanted<'_>, mapping: &Mapping) -> Result<Array> {
        if has_number(&mapping.file) || has_number(&mapping.dataset) {
            let (dataset, file) = (lenient(&mapping.dataset), lenient(&mapping.file));
            return Err(corrupt(format!(
                "the source '{dataset}' in '{file}' has a block number, but its selection is not unlimited"
            )));
        }
        self.source_of(wanted, &numbered(&mapping.file, 0), &numbered(&mapping.dataset, 0))
    }

    /// Opens a source of a virtual dataset.
    fn source_of(&mut self, wanted: &Wanted<'_>, file: &[u8], dataset: &[u8]) -> Result<Array> {
        let place = || format!("the source '{}' in '{}'", lenient(dataset), lenient(file));
        let found = self.files.named(wanted.id.file, file, dataset).and_then(|id| self.source(id));
        let found = found.map_err(|error| error.at(place()))?;
        let wanted_type = &wanted.mapped.data_type;
        let is_number = |data_type: &DataType| crate::fill::is_number(data_type);
        if found.data_type() == wanted_type || (is_number(found.data_type()) && is_number(wanted_type)) {
            return Ok(found);
        }
        let message = format!("elements of {} are not converted to {wanted_type}", found.data_type());
        Err(unsupported(message).at(place()))
    }

    /// Opens a dataset as an array that is not part of the hierarchy.
    fn source(&mut self, id: Id) -> Result<Array> {
        if let Some(array) = self.sources.get(&id) {
            return Ok(array.clone());
        }
        let object = self.files.object(id)?;
        let ObjectKind::Dataset(dataset) = &object.kind else {
            return Err(unsupported("the object is not a dataset"));
        };
        let shape = match &dataset.space {
            Space::Null => vec![0],
            Space::Simple { shape, .. } => shape.clone(),
        };
        let mapped = types::mapped(&dataset.datatype)?;
        let documents = MemoryStore::new();
        let wanted = Wanted {
            documents: &documents,
            path: "",
            id,
            dataset,
            mapped,
            column: None,
            shape,
            attributes: Default::default(),
            names: None,
        };
        let plain = std::mem::replace(&mut self.is_plain, true);
        let made = self.make(wanted);
        self.is_plain = plain;
        let arrays = std::iter::once((String::new(), made?.0)).collect();
        let location = self.files.path(id.file).display().to_string();
        let store = Arc::new(FileStore::new(location, documents, arrays, Vec::new()));
        let array = OpenOptions::new().mode(OpenMode::Read).open((store, ""))?.into_array()?;
        self.sources.insert(id, array.clone());
        Ok(array)
    }
}

/// Returns the dimension along which a selection is unlimited, if any.
fn endless(hyperslab: &Hyperslab) -> Option<usize> {
    let Hyperslab::Regular(blocks) = hyperslab else { return None };
    blocks.iter().position(|blocks| blocks.count.is_none() || blocks.block.is_none())
}

/// Returns true if a name contains the block number `%b`.
fn has_number(name: &[u8]) -> bool {
    numbered(name, 0) != numbered(name, 1)
}

/// Replaces `%b` in a name with a block number, and `%%` with a percent sign.
fn numbered(name: &[u8], number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = name.iter();
    while let Some(&byte) = rest.next() {
        match (byte, rest.as_slice().first()) {
            (b'%', Some(b'b')) => {
                out.extend_from_slice(number.to_string().as_bytes());
                rest.next();
            }
            (b'%', Some(b'%')) => {
                out.push(b'%');
                rest.next();
            }
            _ => out.push(byte),
        }
    }
    out
}

/// Returns the shape of a source without the dimensions of array-typed elements.
fn own_shape(source: &Array, mapped: &Mapped) -> Result<Vec<u64>> {
    let shape = source.shape();
    let own = shape.len().checked_sub(mapped.inner.len());
    let own = own.and_then(|own| shape.split_at_checked(own)).filter(|(_, inner)| *inner == mapped.inner);
    own.map(|(own, _)| own.to_vec()).ok_or_else(|| unsupported("the source has elements of another shape"))
}

/// A part of a virtual dataset.
#[derive(Debug)]
struct Part {
    source: Array,
    pairs: Pairs,
}

/// The correspondence between elements of the source and elements of the virtual dataset.
#[derive(Debug)]
enum Pairs {
    /// Positions along each dimension. Each dimension with more than one position corresponds to a dimension of the other
    /// selection: `of_source` contains the target dimension for each source dimension.
    Along { source: Vec<Steps>, target: Vec<Steps>, of_source: Vec<Option<usize>> },
    /// Single points: those in the source, and those in the virtual dataset.
    Points(Vec<Vec<u64>>, Vec<Vec<u64>>),
}

fn part(source: Array, selected: &Selected, target: &Selected) -> Result<Part> {
    if selected.count() != target.count() {
        return Err(corrupt(format!(
            "a virtual dataset selects {} elements, but {} elements of its source",
            target.count(),
            selected.count()
        )));
    }
    if let (Selected::Along(from), Selected::Along(to)) = (selected, target)
        && let Some(of_source) = matched(from, to)
    {
        let pairs = Pairs::Along { source: from.clone(), target: to.clone(), of_source };
        return Ok(Part { source, pairs });
    }
    Ok(Part { source, pairs: Pairs::Points(selected.points()?, target.points()?) })
}

/// For each source dimension with more than one element, returns the corresponding target dimension; `None` if the
/// lengths differ.
fn matched(source: &[Steps], target: &[Steps]) -> Option<Vec<Option<usize>>> {
    let mut several = target.iter().enumerate().filter(|(_, steps)| steps.length() != 1);
    let mut found = Vec::new();
    for steps in source {
        found.push(match steps.length() {
            1 => None,
            length => Some(several.next().filter(|(_, steps)| steps.length() == length)?.0),
        });
    }
    several.next().is_none().then_some(found)
}

impl Part {
    /// Returns the position after the last element of the part along a dimension of the virtual dataset.
    fn end(&self, dim: usize) -> u64 {
        match &self.pairs {
            Pairs::Along { target, .. } if target.iter().any(|steps| steps.length() == 0) => 0,
            Pairs::Along { target, .. } => target.get(dim).map_or(0, |steps| steps.end()),
            Pairs::Points(_, target) => target
                .iter()
                .filter_map(|point| point.get(dim))
                .map(|at| at.saturating_add(1))
                .max()
                .unwrap_or(0),
        }
    }

    /// Returns the selection in the source of the elements inside a box of the virtual dataset, and their positions in
    /// the box; `None` if the box contains no element of the part.
    fn inside(&self, first: &[u64], shape: &[u64], inner: &[u64]) -> Option<(Selection, Places)> {
        match &self.pairs {
            Pairs::Along { source, target, of_source } => {
                let mut ranges = Vec::new();
                for ((steps, &first), &length) in target.iter().zip(first).zip(shape) {
                    let (from, to) = (steps.before(first), steps.before(first.saturating_add(length)));
                    if from >= to {
                        return None;
                    }
                    ranges.push((from, to));
                }
                let item = |(steps, dim): (&Steps, &Option<usize>)| {
                    let (from, to) = dim.and_then(|dim| ranges.get(dim).copied()).unwrap_or((0, 1));
                    steps.selection(from, to)
                };
                let items =
                    source.iter().zip(of_source).map(item).chain(inner.iter().map(|_| DimSelection::ALL));
                let places = target.iter().zip(&ranges).zip(first).map(|((steps, &(from, to)), &first)| {
                    (from..to).map(|number| steps.at(number) - first).collect()
                });
                let places = places.chain(inner.iter().map(|&length| (0..length).collect())).collect();
                Some((Selection::orthogonal(items.collect::<Vec<_>>()), Places::Along(places)))
            }
            Pairs::Points(source, target) => {
                let is_inside = |point: &Vec<u64>| {
                    point
                        .iter()
                        .zip(first)
                        .zip(shape)
                        .all(|((at, first), length)| (*first..first.saturating_add(*length)).contains(at))
                };
                let found: Vec<_> =
                    source.iter().zip(target).filter(|(_, target)| is_inside(target)).collect();
                let ndim = found.first()?.0.len();
                let along = |dim: usize| {
                    found.iter().filter_map(|(source, _)| source.get(dim)).copied().collect::<Vec<u64>>()
                };
                let items: Vec<DimSelection> = (0..ndim).map(|dim| along(dim).into()).collect();
                let place =
                    |target: &Vec<u64>| target.iter().zip(first).map(|(at, first)| at - first).collect();
                let places = found.iter().map(|(_, target)| place(target)).collect();
                Some((Selection::coordinates(items), Places::Points(places)))
            }
        }
    }
}

/// The positions of elements within a chunk.
enum Places {
    /// The positions along each dimension.
    Along(Vec<Vec<u64>>),
    Points(Vec<Vec<u64>>),
}

impl Places {
    /// Calls `put` with the offset of each element in a chunk of the given shape, in element order.
    fn each(&self, shape: &[u64], mut put: impl FnMut(usize)) {
        let number = |position: &mut dyn Iterator<Item = u64>| {
            let number = position.zip(shape).fold(0, |number, (at, &length)| number * length + at);
            usize::try_from(number).unwrap_or(usize::MAX)
        };
        match self {
            Self::Points(points) => points.iter().for_each(|point| put(number(&mut point.iter().copied()))),
            Self::Along(along) => {
                let Some((last, outer)) = along.split_last() else { return put(0) };
                let grid: Vec<u64> = outer.iter().map(|positions| positions.len() as u64).collect();
                let _ = crate::chunks::each_position(&grid, &mut |indices| {
                    let at = |(positions, &index): (&Vec<u64>, &u64)| {
                        usize::try_from(index)
                            .ok()
                            .and_then(|index| positions.get(index))
                            .copied()
                            .unwrap_or(0)
                    };
                    let row = number(&mut outer.iter().zip(indices).map(at).chain(std::iter::once(0)));
                    for &at in last {
                        put(row + usize::try_from(at).unwrap_or(usize::MAX - row));
                    }
                    ControlFlow::Continue(())
                });
            }
        }
    }
}

/// Returns the chunk shape: that of the first source, so that each of its chunks is decoded only once, or else a shape of
/// contiguous elements.
fn own_chunk(parts: &[Part], shape: &[u64], mapped: &Mapped) -> Vec<u64> {
    let inner =
        mapped.inner.iter().fold(mapped.data_type.size() as u64, |size, &length| size.saturating_mul(length));
    let of_source = parts.first().and_then(|part| {
        let chunk = part.source.unit_shape();
        let chunk = chunk.get(..chunk.len().checked_sub(mapped.inner.len())?)?;
        let missing = shape.len().checked_sub(chunk.len())?;
        let whole = std::iter::repeat_n(1, missing).chain(chunk.iter().copied());
        let chunk: Vec<u64> =
            whole.zip(shape).map(|(chunk, &length)| chunk.clamp(1, length.max(1))).collect();
        let size = chunk.iter().fold(inner, |size, &length| size.saturating_mul(length));
        (size <= LARGEST_CHUNK).then_some(chunk)
    });
    of_source.unwrap_or_else(|| runs(shape, inner, CHUNK))
}

/// Returns the sorted linear indices of the chunks that contain elements of sources.
fn stored(parts: &[Part], chunk: &[u64], grid: &[u64]) -> Result<Vec<u64>> {
    let too_many = || {
        let message = format!("a virtual dataset has more than {MOST} chunks");
        Error::new(ErrorKind::LimitExceeded, message)
    };
    let mut numbers = Vec::new();
    let mut add = |position: &[u64]| {
        let number = position
            .iter()
            .zip(grid)
            .try_fold(0_u64, |number, (&index, &count)| number.checked_mul(count)?.checked_add(index));
        numbers.push(number.filter(|_| numbers.len() as u64 <= MOST)?);
        Some(())
    };
    for part in parts {
        match &part.pairs {
            Pairs::Points(_, target) => {
                for point in target {
                    let position: Vec<u64> = point.iter().zip(chunk).map(|(at, chunk)| at / chunk).collect();
                    add(&position).ok_or_else(too_many)?;
                }
            }
            Pairs::Along { target, .. } => {
                let mut along = Vec::new();
                for (steps, &chunk) in target.iter().zip(chunk) {
                    let (first, end) = (steps.at(0) / chunk, steps.end().div_ceil(chunk));
                    if end.saturating_sub(first) > MOST {
                        return Err(too_many());
                    }
                    let has = |index: &u64| {
                        steps.before(index * chunk) < steps.before((index + 1).saturating_mul(chunk))
                    };
                    along.push((first..end).filter(has).collect::<Vec<u64>>());
                }
                let counts: Vec<u64> = along.iter().map(|along| along.len() as u64).collect();
                let flow = crate::chunks::each_position(&counts, &mut |indices| {
                    let at = |(along, &index): (&Vec<u64>, &u64)| {
                        usize::try_from(index).ok().and_then(|index| along.get(index)).copied().unwrap_or(0)
                    };
                    let position: Vec<u64> = along.iter().zip(indices).map(at).collect();
                    add(&position).map_or(ControlFlow::Break(()), |()| ControlFlow::Continue(()))
                });
                if flow.is_break() {
                    return Err(too_many());
                }
            }
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The elements of a virtual dataset.
#[derive(Debug)]
struct Virtual {
    parts: Vec<Part>,
    /// The number of chunks along each dimension, including the dimensions of array-typed elements.
    grid: Vec<u64>,
    /// The shape of a chunk, without the dimensions of array-typed elements.
    own: Vec<u64>,
    chunk_shape: Vec<u64>,
    /// The linear indices of the chunks that contain elements of sources.
    stored: Vec<u64>,
    data_type: DataType,
    /// The element at positions without a source.
    fill: Vec<u8>,
}

impl Virtual {
    fn inner(&self) -> &[u64] {
        self.chunk_shape.get(self.own.len()..).unwrap_or_default()
    }

    /// Calls `put` with the offset and bytes of each element of a chunk for which there is a source.
    fn each(&self, chunk: &[u64], mut put: impl FnMut(usize, &[u8])) -> Result<()> {
        let first: Vec<u64> =
            chunk.iter().zip(&self.own).map(|(index, length)| index.saturating_mul(*length)).collect();
        for part in &self.parts {
            let Some((selection, places)) = part.inside(&first, &self.own, self.inner()) else { continue };
            let mut found = part.source.read::<DynArray>(selection)?;
            if found.data_type() != &self.data_type {
                found = found.cast(&self.data_type, Casting::Lossy, &zarrox::codecs::registry())?;
            }
            let mut elements = found.elements();
            places.each(&self.chunk_shape, |number| {
                if let Some(element) = elements.next() {
                    put(number, element);
                }
            });
        }
        Ok(())
    }
}

impl Elements for Virtual {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape.clone()
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        let number = chunk
            .iter()
            .zip(&self.grid)
            .fold(0_u64, |number, (&index, &count)| number.saturating_mul(count).saturating_add(index));
        self.stored.binary_search(&number).is_ok()
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut position = vec![0; self.grid.len()];
        for &number in &self.stored {
            let mut rest = number;
            for (index, &count) in position.iter_mut().zip(&self.grid).rev() {
                *index = rest % count;
                rest /= count;
            }
            visit(&position)?;
        }
        ControlFlow::Continue(())
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let shape =
            self.chunk_shape.iter().map(|&length| usize::try_from(length)).collect::<Result<Vec<_>, _>>();
        let shape = shape.map_err(|_| corrupt("a chunk is too large"))?;
        let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        let count = count.ok_or_else(|| corrupt("a chunk is too large"))?;
        if self.data_type.storage() == Storage::Variable {
            let mut elements = vec![self.fill.clone(); count];
            self.each(chunk, |number, element| {
                if let Some(place) = elements.get_mut(number) {
                    element.clone_into(place);
                }
            })?;
            return DynArray::from_elements(self.data_type.clone(), shape, elements);
        }
        let item = self.fill.len().max(1);
        let size = count.checked_mul(item).ok_or_else(|| corrupt("a chunk is too large"))?;
        let mut bytes = zeroed(size)?;
        bytes.chunks_exact_mut(item).for_each(|place| place.copy_from_slice(&self.fill));
        self.each(chunk, |number, element| {
            let place = number.checked_mul(item).and_then(|start| bytes.get_mut(start..)?.get_mut(..item));
            if let Some(place) = place
                && place.len() == element.len()
            {
                place.copy_from_slice(element);
            }
        })?;
        DynArray::new(self.data_type.clone(), shape, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_numbers_of_blocks() {
        assert_eq!(numbered(b"f_%b.h5", 12), b"f_12.h5");
        assert_eq!(numbered(b"100%%b%", 1), b"100%b%");
        assert!(has_number(b"%b") && !has_number(b"%%b"));
    }
}
