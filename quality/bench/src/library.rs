//! The library as a contestant, and as the generator of the benchmark's arrays.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use zarrox::Selection;
use zarrox::data_type::Casting;
use zarrox::strided::View;
use zarrox::{AccessOptions, Consolidated, DimSelection, IndexArray, Mask, OpenMode, OpenOptions};
use zarrox::{Array, prelude::*};
use zarrox_tools::Rechunk;

use crate::case::{self, Case, Work};
use crate::failure::Failure;
use crate::parallel;
use crate::pieces::Pieces;
use crate::protocol::{Elements, Found, Job};
use crate::region::{Region, lengths};
use crate::values::{Number, Values, increment};

/// The factor by which Zarrox's memory limit is smaller than that of the other contestants.
const LESS: usize = 4;

pub(crate) fn prepare(case: &Case) -> Result<Job, Failure> {
    let (input, output) = (Place::new(&case.array, case.threads), Place::new(&case.output, case.threads));
    Ok(match &case.work {
        Work::Read { boxes, at_once, opened } => {
            let (boxes, at_once) = (boxes.iter().map(selection).collect::<Vec<_>>(), *at_once);
            let source = Source::new(input.alone(at_once), *opened)?;
            Box::new(move |keep| source.with(|array| read(array, &boxes, at_once, keep)))
        }
        Work::Write { boxes, at_once } => {
            let array = input.open()?;
            let boxes: Vec<Selection> = boxes.iter().map(selection).collect();
            let values =
                boxes.iter().map(|region| array.read::<DynArray>(region)).collect::<Result<Vec<_>, _>>()?;
            let (output, at_once) = (output.alone(*at_once), *at_once);
            Box::new(move |_| {
                let array = output.open()?;
                let write = |index: usize| Ok(array.write(&boxes[index], &values[index])?);
                parallel::each(boxes.len(), at_once, write).map(|()| Found::Nothing)
            })
        }
        Work::Copy => {
            let source = input.open()?;
            Box::new(copy(source, output, Rechunk::new()))
        }
        Work::Rechunk { memory } => {
            let (source, between) = (input.open()?, output.path.with_extension("between"));
            Box::new(copy(source, output, Rechunk::new().memory(memory / LESS).scratch(between)))
        }
        Work::Select { selection, opened } => {
            let selection = selected(selection, &input.open()?)?;
            let source = Source::new(input, *opened)?;
            let boxes = vec![selection];
            Box::new(move |keep| source.with(|array| read(array, &boxes, 1, keep)))
        }
        Work::SelectWrite { selection } => {
            let array = input.open()?;
            let selection = selected(selection, &array)?;
            let values = array.read::<DynArray>(&selection)?;
            let (data_type, shape) = (values.data_type().clone(), values.shape().to_vec());
            let mut bytes = values.into_bytes();
            increment(&mut bytes, data_type.size());
            let values = DynArray::new(data_type, shape, bytes)?;
            Box::new(move |_| {
                output.open()?.write(&selection, &values)?;
                Ok(Found::Nothing)
            })
        }
        Work::Append { count, rows } => {
            let values = rows_of_numbers(&output.open()?, *count, *rows)?;
            Box::new(move |_| {
                let mut array = output.open()?;
                for rows in &values {
                    array.append(rows, 0)?;
                }
                Ok(Found::Nothing)
            })
        }
        Work::Open { names } => {
            let names = names.clone();
            Box::new(move |_| open_all(&input.group(Consolidated::Never)?, &names))
        }
        Work::OpenConsolidated { names } => {
            let names = names.clone();
            Box::new(move |_| open_all(&input.group(Consolidated::Require)?, &names))
        }
        Work::List => Box::new(move |_| {
            let group = input.group(Consolidated::Never)?;
            let mut paths = Vec::new();
            group.visit(&mut |path, _| {
                paths.push(path.to_owned());
                Ok(())
            })?;
            Ok(Found::Number(paths.len() as u64))
        }),
        Work::Info => Box::new(move |_| Ok(Found::Number(input.open()?.info()?.chunks_stored))),
        Work::Fill(_) => return Err(Failure::Unsupported("filling is not its own case".to_owned())),
    })
}

pub(crate) fn prepare_fill(case: &Case) -> Result<Job, Failure> {
    let Work::Fill(formula) = case.work else {
        return Err(Failure::Unsupported("anything but filling".to_owned()));
    };
    let place = Place::new(&case.array, case.threads);
    Ok(Box::new(move |_| {
        let array = place.open()?.with_options(&AccessOptions::new().threads(1));
        let values = Values::new(formula, Number::parse(&array.data_type().to_string())?, shape(&array));
        let pieces = Pieces::new(&shape(&array), &stored_chunk(&array), &stored_chunk(&array), 1, 0);
        parallel::each(pieces.count(), place.threads, |index| {
            let region = pieces.get(index);
            with_buffer(0, |elements| {
                values.region(&region, elements);
                let view = View::contiguous(elements, &lengths(&region), array.data_type().size());
                Ok(array.slice(selection(&region)).write_raw(view)?)
            })
        })?;
        Ok(Found::Nothing)
    }))
}

/// The path of an array, and the options for opening it. The same options are always used, so that all arrays share their
/// threads.
struct Place {
    path: PathBuf,
    threads: usize,
    options: OpenOptions,
}

impl Place {
    fn new(path: &Path, threads: usize) -> Self {
        Self { path: path.to_owned(), threads, options: OpenOptions::new().threads(threads) }
    }

    /// Returns the options for this number of concurrent callers, which share the threads.
    fn alone(self, at_once: usize) -> Self {
        Self::new(&self.path, (self.threads / at_once.max(1)).max(1))
    }

    /// Opens the group for reading.
    fn group(&self, policy: Consolidated) -> Result<Group, Failure> {
        let options = self.options.clone().mode(OpenMode::Read).consolidated(policy);
        Ok(options.open(&self.path)?.into_group()?)
    }

    fn open(&self) -> Result<Array, Failure> {
        Ok(self.options.open(&self.path)?.into_array()?)
    }
}

/// An array that was opened before, or that is opened for each use.
enum Source {
    Opened(Box<Array>),
    Closed(Box<Place>),
}

impl Source {
    fn new(place: Place, opened: bool) -> Result<Self, Failure> {
        if opened { Ok(Self::Opened(Box::new(place.open()?))) } else { Ok(Self::Closed(Box::new(place))) }
    }

    fn with<R>(&self, work: impl FnOnce(&Array) -> Result<R, Failure>) -> Result<R, Failure> {
        match self {
            Self::Opened(array) => work(array),
            Self::Closed(place) => work(&place.open()?),
        }
    }
}

fn selection(region: &Region) -> Selection {
    region.iter().map(|range| DimSelection::from(range.clone())).collect()
}

pub(crate) fn selected(selection: &case::Selection, array: &Array) -> Result<Selection, Failure> {
    let lists = |lists: &[Vec<i64>]| {
        let list = |list: &Vec<i64>| Ok(IndexArray::new([list.len()], list.clone())?.into());
        lists.iter().map(list).collect::<Result<Vec<DimSelection>, Failure>>()
    };
    Ok(match selection {
        case::Selection::Strided(slices) => slices
            .iter()
            .map(|slice| DimSelection::from(slice.start..slice.stop).step_by(slice.step as i64))
            .collect(),
        case::Selection::Orthogonal(indices) => Selection::orthogonal(lists(indices)?),
        case::Selection::Coordinates(indices) => Selection::coordinates(lists(indices)?),
        case::Selection::Mask { seed } => {
            let count: u64 = array.shape().iter().product();
            let values: Vec<bool> = (0..count).map(|index| case::is_masked(index, *seed)).collect();
            Selection::mask(Mask::new(shape(array), values)?)
        }
        case::Selection::Blocks(region) => Selection::blocks(self::selection(region)),
    })
}

fn read(array: &Array, boxes: &[Selection], at_once: usize, keep: bool) -> Result<Found, Failure> {
    let kept = Mutex::new(Vec::<(usize, Elements)>::new());
    parallel::each(boxes.len(), at_once, |index| {
        let elements = array.read::<DynArray>(&boxes[index])?;
        if keep {
            kept.lock().unwrap().push((index, Box::new(elements.into_bytes())));
        }
        Ok(())
    })?;
    Ok(Found::Boxes(array.data_type().size(), kept.into_inner().unwrap()))
}

fn copy(source: Array, output: Place, way: Rechunk) -> impl FnMut(bool) -> Result<Found, Failure> {
    move |_| {
        way.run(&source, &output.open()?)?;
        Ok(Found::Nothing)
    }
}

/// Passes the thread's own buffer, which is reused, to a function.
fn with_buffer<R>(length: usize, work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    thread_local! {
        static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(length, 0);
        work(buffer)
    })
}

fn shape(array: &Array) -> Vec<usize> {
    array.shape().iter().map(|&length| length as usize).collect()
}

/// Returns the shape of a stored object.
fn stored_chunk(array: &Array) -> Vec<usize> {
    let chunk = array.shard_shape().map_or_else(|| array.unit_shape(), <[u64]>::to_vec);
    chunk.into_iter().map(|length| length as usize).collect()
}

/// Runs a function for each number below `count`, with rows that are filled with the number.
fn rows_of_numbers(array: &Array, count: usize, rows: usize) -> Result<Vec<DynArray>, Failure> {
    let registry = zarrox::codecs::registry();
    let shape: Vec<usize> = [rows].into_iter().chain(shape(array).into_iter().skip(1)).collect();
    let rows_of = |number: usize| {
        let numbers = ndarray::ArrayD::from_elem(shape.clone(), number as i64);
        let numbers = DynArray::from_values(DataType::Int64, &numbers)?;
        Ok(numbers.cast(array.data_type(), Casting::Lossy, &registry)?)
    };
    (0..count).map(rows_of).collect()
}

fn open_all(group: &Group, names: &[String]) -> Result<Found, Failure> {
    let mut sum = 0;
    for name in names {
        sum += group.open(name)?.into_array()?.shape().iter().sum::<u64>();
    }
    Ok(Found::Number(sum))
}
