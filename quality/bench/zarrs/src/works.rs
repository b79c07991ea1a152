//! Every kind of work: its preparation and execution.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon_iter_concurrent_limit::iter_concurrent_limit;
use zarrs::array::concurrency::calc_concurrency_outer_inner;
use zarrs::array::{Array, ArrayBytes, ArrayCodecTraits, ArraySubset, CodecOptions, RecommendedConcurrency};
use zarrs::config::global_config;
use zarrs::group::Group;
use zarrs::metadata::NodeMetadata;
use zarrs::plugin::ExtensionName;
use zarrs::storage::{ListableStorageTraits, StorePrefix};

use crate::case::Case;
use crate::outcome::Outcome;
use crate::pieces;
use crate::result::Done;
use crate::source::{Directory, Source, open_output, store, stored_shape};

/// Does the work once. The result is returned if the argument is true, and otherwise dropped at once.
pub(crate) type Work = Box<dyn Fn(bool) -> Outcome<Done>>;

pub(crate) enum Preparation {
    Ready(Work),
    Unsupported(String),
}

pub(crate) fn prepare(case: Case) -> Outcome<Preparation> {
    if matches!(case.kind(), "open" | "open_consolidated" | "list") {
        return prepare_group(case);
    }
    let source = match Source::open(&case.array) {
        Ok(source) => source,
        Err(error) => return Ok(Preparation::Unsupported(format!("cannot open it: {error}"))),
    };
    let work = match case.kind() {
        "read" => {
            let boxes = case.boxes()?;
            read(case, source, boxes)
        }
        "write" => write(case, &source)?,
        "copy" => Box::new(move |_| copy(&source, &open_output(&case.output)?, &case)),
        "rechunk" => Box::new(move |_| rechunk(&source, &open_output(&case.output)?, &case)),
        "append" => append(case, &source)?,
        "info" => Box::new(move |_| info(&case.array)),
        "select" | "select_write" => match case.blocks()? {
            Some(chunks) => select(case, source, &chunks)?,
            None => return Ok(Preparation::Unsupported("reads boxes and chunks only".into())),
        },
        kind => return Ok(Preparation::Unsupported(format!("no '{kind}'"))),
    };
    Ok(Preparation::Ready(work))
}

fn read(case: Case, source: Source, boxes: Vec<ArraySubset>) -> Work {
    Box::new(move |keep| {
        if case.opened() {
            return read_all(&source, &boxes, &case, keep);
        }
        read_all(&Source::open(&case.array)?, &boxes, &case, keep)
    })
}

fn read_all(source: &Source, boxes: &[ArraySubset], case: &Case, keep: bool) -> Outcome<Done> {
    let options = case.options();
    let values = for_each(boxes.len(), case.at_once(), |index| {
        let values = source.read(&boxes[index], &options)?;
        Ok(keep.then_some(values))
    })?;
    Ok(Done::Values(values.into_iter().flatten().collect(), source.width()))
}

fn write(case: Case, source: &Source) -> Outcome<Work> {
    let (boxes, options) = (case.boxes()?, case.options());
    let values = boxes.iter().map(|subset| bytes_of(source.read(subset, &options)?));
    let values = values.collect::<Outcome<Vec<_>>>()?;
    Ok(Box::new(move |_| {
        let target = open_output(&case.output)?;
        for_each(boxes.len(), case.at_once(), |index| {
            Ok(target.store_array_subset_opt(
                &boxes[index],
                ArrayBytes::new_flen(&values[index]),
                &options,
            )?)
        })?;
        Ok(Done::Nothing)
    }))
}

/// Rechunks target chunk by target chunk, as zarrs' own tool does.
fn copy(source: &Source, target: &Directory, case: &Case) -> Outcome<Done> {
    let chunks = ArraySubset::new_with_shape(target.chunk_grid_shape().to_vec());
    let chunk_shape = target.chunk_shape(&vec![0; target.dimensionality()])?;
    let at_once = chunks.num_elements_usize().min(global_config().chunk_concurrent_minimum());
    let (at_once, each) = calc_concurrency_outer_inner(
        case.threads,
        &RecommendedConcurrency::new_minimum(at_once),
        &target.codecs().recommended_concurrency(&chunk_shape, target.data_type())?,
    );
    let options = CodecOptions::default().with_concurrent_target(each);
    let copy_chunk = |chunk: zarrs::array::ArrayIndicesTinyVec| {
        let subset = target.chunk_subset(&chunk)?;
        let values: ArrayBytes = source.array.retrieve_array_subset_opt(&subset, &options)?;
        target.store_chunk_opt(&chunk, values, &options)
    };
    let indices = chunks.indices();
    iter_concurrent_limit!(at_once, indices, try_for_each, copy_chunk)?;
    Ok(Done::Nothing)
}

/// Rechunks piece by piece. All threads read and write each piece.
fn rechunk(source: &Source, target: &Directory, case: &Case) -> Outcome<Done> {
    let memory = case.number("memory").ok_or("no 'memory'")?;
    // The same amount of memory remains for encoded bytes, and for chunks that are decoded besides the piece.
    let elements = memory / 2 / source.width() as u64;
    let shape = source.array.shape();
    let steps = pieces::steps(shape, &stored_shape(&source.array)?, &stored_shape(target)?, elements);
    for region in pieces::regions(shape, &steps) {
        let values: ArrayBytes = source.array.retrieve_array_subset_opt(&region, &case.options())?;
        target.store_array_subset_opt(&region, values, &case.options())?;
    }
    Ok(Done::Nothing)
}

fn select(case: Case, source: Source, chunks: &ArraySubset) -> Outcome<Work> {
    let subset = source.array.chunks_subset_bounded(chunks)?;
    if case.kind() == "select" {
        return Ok(read(case, source, vec![subset]));
    }
    let mut values = bytes_of(source.read(&subset, &case.options())?)?;
    values.chunks_exact_mut(source.width()).for_each(add_one);
    Ok(Box::new(move |_| {
        let target = open_output(&case.output)?;
        target.store_array_subset_opt(&subset, ArrayBytes::new_flen(&values), &case.options())?;
        Ok(Done::Nothing)
    }))
}

fn append(case: Case, source: &Source) -> Outcome<Work> {
    let (count, rows) = (case.number("count").ok_or("no 'count'")?, case.number("rows").ok_or("no 'rows'")?);
    let name = source.array.data_type().name_v3().ok_or("a data type without a name")?;
    let row: u64 = source.array.shape()[1..].iter().product();
    let elements = usize::try_from(rows * row)?;
    let blocks = (0..count).map(|k| Ok(element(&name, k)?.repeat(elements))).collect::<Outcome<Vec<_>>>()?;
    Ok(Box::new(move |_| {
        let mut target = open_output(&case.output)?;
        for block in &blocks {
            let mut shape = target.shape().to_vec();
            let mut start = vec![0; shape.len()];
            (start[0], shape[0]) = (shape[0], shape[0] + rows);
            target.set_shape(shape.clone())?.store_metadata()?;
            shape[0] = rows;
            let subset = ArraySubset::new_with_start_shape(start, shape)?;
            target.store_array_subset_opt(&subset, ArrayBytes::new_flen(block), &case.options())?;
        }
        Ok(Done::Nothing)
    }))
}

/// Counts the stored objects and their bytes.
fn info(path: &str) -> Outcome<Done> {
    let source = Source::open(path)?;
    let storage = source.array.storage();
    let keys = storage.list_prefix(&StorePrefix::root())?;
    let is_document = |key: &str| matches!(key, "zarr.json" | ".zarray" | ".zattrs" | ".zmetadata");
    let stored = keys.iter().filter(|key| !is_document(key.as_str())).count();
    std::hint::black_box(storage.size()?);
    Ok(Done::Count(stored as u64 * source.chunks_per_object()?))
}

fn prepare_group(case: Case) -> Outcome<Preparation> {
    let group = Group::open(store(&case.array)?, "/")?;
    if case.kind() == "list" {
        return Ok(Preparation::Ready(Box::new(move |_| {
            let nodes = Group::open(store(&case.array)?, "/")?.traverse()?;
            Ok(Done::Count(nodes.len() as u64))
        })));
    }
    let names = case.names()?;
    if case.kind() == "open" {
        return Ok(Preparation::Ready(Box::new(move |_| open(&case.array, &names))));
    }
    if group.consolidated_metadata().is_none() {
        return Ok(Preparation::Unsupported("no consolidated metadata of format 2".into()));
    }
    Ok(Preparation::Ready(Box::new(move |_| open_consolidated(&case.array, &names))))
}

fn open(path: &str, names: &[String]) -> Outcome<Done> {
    let group = Group::open(store(path)?, "/")?;
    let arrays = names.iter().map(|name| Array::open(group.storage(), &format!("/{name}")));
    Ok(Done::Count(lengths(&arrays.collect::<Result<Vec<_>, _>>()?)))
}

fn open_consolidated(path: &str, names: &[String]) -> Outcome<Done> {
    let group = Group::open(store(path)?, "/")?;
    let mut nodes: HashMap<_, _> =
        group.traverse()?.into_iter().map(|(path, metadata)| (path.to_string(), metadata)).collect();
    let arrays = names.iter().map(|name| {
        let path = format!("/{name}");
        match nodes.remove(&path) {
            Some(NodeMetadata::Array(metadata)) => {
                Ok(Array::new_with_metadata(group.storage(), &path, metadata)?)
            }
            _ => Err(format!("no array '{name}'").into()),
        }
    });
    Ok(Done::Count(lengths(&arrays.collect::<Outcome<Vec<_>>>()?)))
}

fn lengths(arrays: &[Directory]) -> u64 {
    arrays.iter().flat_map(|array| array.shape()).sum()
}

/// Calls a function with each index on several threads, each of which takes the next one; returns the results in order.
fn for_each<T: Send>(
    count: usize,
    at_once: usize,
    function: impl Fn(usize) -> Outcome<T> + Sync,
) -> Outcome<Vec<T>> {
    if at_once == 1 {
        return (0..count).map(function).collect();
    }
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let result = function(index).map_err(|error| error.to_string());
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(take);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result.map_err(Into::into)).collect()
}

fn bytes_of(values: ArrayBytes<'static>) -> Outcome<Vec<u8>> {
    Ok(values.into_fixed()?.into_owned())
}

/// Adds one to an element as an unsigned integer of its width.
fn add_one(element: &mut [u8]) {
    let mut add = |byte: &mut u8| {
        *byte = byte.wrapping_add(1);
        *byte != 0
    };
    if cfg!(target_endian = "big") {
        element.iter_mut().rev().any(&mut add)
    } else {
        element.iter_mut().any(add)
    };
}

/// Returns a number as an element of a data type.
fn element(data_type: &str, k: u64) -> Outcome<Vec<u8>> {
    Ok(match data_type {
        "bool" => vec![u8::from(k != 0)],
        "int8" | "uint8" => vec![u8::try_from(k % 256)?],
        "int16" | "uint16" => u16::try_from(k % (1 << 16))?.to_ne_bytes().to_vec(),
        "int32" | "uint32" => u32::try_from(k % (1 << 32))?.to_ne_bytes().to_vec(),
        "int64" | "uint64" => k.to_ne_bytes().to_vec(),
        "float32" => (k as f32).to_ne_bytes().to_vec(),
        "float64" => (k as f64).to_ne_bytes().to_vec(),
        other => return Err(format!("no numbers of type {other}").into()),
    })
}
