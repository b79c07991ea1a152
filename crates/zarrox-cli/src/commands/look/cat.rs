//! `zarrox cat`: prints the bytes of stored objects.

use std::io::Write;

use clap::Args;
use zarrox::{DimSelection, DynArray, Error, ErrorKind, Node, Result};

use crate::args::Global;
use crate::exit::Failure;

/// Write a stored object, or the elements of a chunk, to the standard output
///
/// The key is relative to the node: zarr.json, .zarray, c/0/1, 0.1 …
#[derive(Debug, Args)]
pub(crate) struct Cat {
    /// The array or group
    path: String,

    /// The key of a document or a chunk
    key: String,

    /// Decode the chunk, and write its elements within the array in row-major order and native byte order
    #[arg(long)]
    decoded: bool,
}

impl Cat {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        if self.decoded {
            return self.decode(global, out);
        }
        let value = global.look(&self.path)?.stored_value(&self.key)?;
        Ok(out.write_all(&value.ok_or_else(|| self.missing("the key has no stored object"))?)?)
    }

    fn decode(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let array = global.read_array(&self.path)?;
        let chunk = array.raw().key_encoding()?.decode(&self.key, array.ndim());
        let chunk = chunk.ok_or_else(|| self.missing("the key is not a chunk key of the array"))?;
        if Node::Array(array.clone()).stored_value(&self.key)?.is_none() {
            return Err(self.missing("the chunk is not stored").into());
        }
        let along = |(dim, &index): (usize, &u64)| {
            let (begin, length) = array.chunk_grid().chunk_place(dim, index).unwrap_or_default();
            DimSelection::from(begin..begin.saturating_add(length).min(array.shape()[dim]))
        };
        let region: Vec<DimSelection> = chunk.iter().enumerate().map(along).collect();
        for element in array.read::<DynArray>(region)?.elements() {
            out.write_all(element)?;
        }
        Ok(())
    }

    fn missing(&self, why: &str) -> Error {
        Error::new(ErrorKind::NotFound, format!("{why} '{}' of '{}'", self.key, self.path))
    }
}
