//! `zarrox chunks`: lists the chunks of an array.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use zarrox::json::{Json, json};
use zarrox::{Array, InnerChunk, Result};

use super::table::Widths;
use crate::args::Global;
use crate::exit::{Failure, printable, usage};
use crate::print::{print_json, tuple};

/// The maximum number of chunks in a map, and of missing chunks that are listed one by one.
const MOST: u64 = 1 << 20;

/// List the stored chunks or shards of an array: index, key, region and size
///
/// Only listings are read, and with --inner the shard indexes.
#[derive(Debug, Args)]
pub(crate) struct Chunks {
    /// The array
    path: String,

    /// List the inner chunks of shards
    #[arg(long)]
    inner: bool,

    /// List the chunks that are not stored
    #[arg(long, conflicts_with_all = ["inner", "map"])]
    missing: bool,

    /// Print a map of the chunk grid: # for a stored chunk, and . for a missing one; at most two dimensions may have more than
    /// one chunk
    #[arg(long, conflicts_with = "inner")]
    map: bool,

    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

/// The stored chunks, with their sizes.
type Stored = BTreeMap<Box<[u64]>, u64>;

impl Chunks {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let array = global.read_array(&self.path)?;
        let mut stored = Stored::new();
        array.raw().visit(&mut |chunk, size| {
            if let Some(chunk) = chunk {
                stored.insert(chunk.into(), size);
            }
        })?;
        if self.map {
            return print_map(&array, &stored, out);
        }
        if self.missing {
            return self.print_missing(&array, &stored, out);
        }
        if self.json {
            let chunks = stored.iter().map(|(chunk, size)| self.to_json(&array, chunk, *size));
            let chunks = Json::Array(chunks.collect::<Result<_>>()?);
            let grid = array.grid_shape();
            return Ok(print_json(out, &json!({"grid_shape": grid.as_slice(), "chunks": chunks}))?);
        }
        // The rows are computed twice, since holding the rows of millions of chunks would take too much memory.
        let mut widths = Widths::default();
        self.rows(&array, &stored, &mut |row| {
            widths.fit(row);
            Ok(())
        })?;
        self.rows(&array, &stored, &mut |row| widths.print(out, row))
    }

    /// Calls a function with each row of the table.
    fn rows(
        &self,
        array: &Array,
        stored: &Stored,
        work: &mut dyn FnMut(&[String]) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        work(&["index", "key", "region", "bytes"].map(str::to_owned))?;
        for (chunk, size) in stored {
            let key = printable(&array.raw().key(chunk)?);
            work(&[tuple(chunk), key, region(array, chunk), size.to_string()])?;
            for inner in self.inner_chunks(array, chunk)? {
                let [at, length] = match inner.place {
                    Some((offset, length)) => [format!("at {offset}"), length.to_string()],
                    None => ["not stored".to_owned(), String::new()],
                };
                let index = format!("  {}", tuple(&inner.index));
                work(&[index, at, inner_region(array, &inner.index), length])?;
            }
        }
        Ok(())
    }

    fn inner_chunks(&self, array: &Array, chunk: &[u64]) -> Result<Vec<InnerChunk>> {
        if self.inner { Ok(array.raw().inner_chunks(chunk)?.unwrap_or_default()) } else { Ok(Vec::new()) }
    }

    fn to_json(&self, array: &Array, chunk: &[u64], size: u64) -> Result<Json> {
        let key = array.raw().key(chunk)?;
        let mut json = json!({"index": chunk, "key": key, "region": region(array, chunk), "bytes": size});
        if self.inner {
            let inner = self.inner_chunks(array, chunk)?.into_iter().map(|inner| {
                let (offset, length) = match inner.place {
                    Some((offset, length)) => (Json::from(offset), Json::from(length)),
                    None => (Json::Null, Json::Null),
                };
                json!({"index": inner.index.as_slice(), "offset": offset, "bytes": length})
            });
            json["inner"] = Json::Array(inner.collect());
        }
        Ok(json)
    }

    fn print_missing(&self, array: &Array, stored: &Stored, out: &mut dyn Write) -> Result<(), Failure> {
        let grid = array.grid_shape();
        let count = grid.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
        let missing = count.map_or(u64::MAX, |count| count - stored.len() as u64);
        if missing > MOST {
            return Err(usage(format!(
                "more than {MOST} chunks are not stored; --json without --missing lists those that are"
            ))
            .into());
        }
        let mut keys = Vec::new();
        for number in 0..count.unwrap_or(0) {
            let chunk = index(number, &grid);
            if stored.contains_key(chunk.as_slice()) {
                continue;
            }
            let (key, region) = (array.raw().key(&chunk)?, region(array, &chunk));
            if self.json {
                keys.push(json!({"index": chunk.as_slice(), "key": key, "region": region}));
            } else {
                writeln!(out, "{}  {}  {region}", tuple(&chunk), printable(&key))?;
            }
        }
        if self.json {
            let keys = Json::Array(keys);
            print_json(out, &json!({"grid_shape": grid.as_slice(), "missing": keys}))?;
        }
        Ok(())
    }
}

/// Returns the index of the n-th chunk in row-major order.
fn index(mut number: u64, grid: &[u64]) -> Vec<u64> {
    let along = |&length: &u64| {
        let at = number % length.max(1);
        number /= length.max(1);
        at
    };
    let mut index: Vec<u64> = grid.iter().rev().map(along).collect();
    index.reverse();
    index
}

/// Returns the region of a stored chunk, as a selection.
fn region(array: &Array, chunk: &[u64]) -> String {
    let along = |(dim, &index): (usize, &u64)| {
        let (begin, length) = array.chunk_grid().chunk_place(dim, index).unwrap_or_default();
        format!("{begin}:{}", begin.saturating_add(length).min(array.shape()[dim]))
    };
    let along: Vec<String> = chunk.iter().enumerate().map(along).collect();
    format!("[{}]", along.join(", "))
}

/// Returns the region of an inner chunk, as a selection.
fn inner_region(array: &Array, chunk: &[u64]) -> String {
    let lengths = array.unit_shape();
    let along = |(dim, &index): (usize, &u64)| {
        let (begin, most) = (index * lengths[dim], array.shape()[dim]);
        format!("{}:{}", begin.min(most), (begin + lengths[dim]).min(most))
    };
    let along: Vec<String> = chunk.iter().enumerate().map(along).collect();
    format!("[{}]", along.join(", "))
}

fn print_map(array: &Array, stored: &Stored, out: &mut dyn Write) -> Result<(), Failure> {
    let grid = array.grid_shape();
    let long: Vec<usize> = (0..grid.len()).filter(|&dim| grid[dim] > 1).collect();
    let count = grid.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
    if long.len() > 2 || count.is_none_or(|count| count > MOST) {
        let message =
            format!("a map has at most two dimensions and {MOST} chunks; the grid has {}", tuple(&grid));
        return Err(usage(message).into());
    }
    let (rows, columns) = match long.as_slice() {
        [row, column] => (grid[*row], grid[*column]),
        [column] => (1, grid[*column]),
        _ => (u64::from(count != Some(0)), u64::from(count != Some(0))),
    };
    for row in 0..rows {
        let mut line = String::new();
        for column in 0..columns {
            let mut chunk = vec![0; grid.len()];
            match long.as_slice() {
                [first, second] => (chunk[*first], chunk[*second]) = (row, column),
                [only] => chunk[*only] = column,
                _ => {}
            }
            line.push(if stored.contains_key(chunk.as_slice()) { '#' } else { '.' });
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}
