//! Changing the shape: resize and append.

mod appending;
mod dataset;
mod leftovers;
mod reserved;
mod together;

use std::ops::ControlFlow;

use zarrox_core::internals::metadata::Change;
use zarrox_core::internals::selection::check_lengths;
use zarrox_core::strided::{Dims, Span};
use zarrox_core::{ChunkGrid, DimSelection, IntoElements, IntoSelection, NodeMetadata, Result, Selection};
use zarrox_stores::{Key, StoreExt};

pub use self::appending::{ExclusiveAppender, UnwrittenRows};
pub use self::dataset::{DatasetRemains, dataset_remains, settle_dataset};
pub use self::dataset::{GrownArray, Growth};
use super::Array;
use super::shape::Shape;
use crate::error::argument;
use crate::guarded::until_unchanged;

impl Array {
    /// Changes the shape. The number of dimensions stays the same.
    ///
    /// New elements have the fill value: any chunks or parts of chunks outside the old shape, left by an interrupted shrink or
    /// append, are cleared first. A rectilinear grid that ends before the new shape is extended by one chunk, which covers the
    /// rest. Shrinking erases the chunks outside the new shape, and clears the outer part of chunks that cross its boundary. When
    /// an array shrinks, the new shape is stored first: an interruption can leave chunks that are not read, but never a shape
    /// without its data.
    ///
    /// # Errors
    /// When the number of dimensions differs, the new chunk of a rectilinear grid is not a multiple of the inner chunks, or the
    /// store cannot be written.
    pub fn resize(&mut self, shape: impl Into<Shape>) -> Result<()> {
        self.check_writable()?;
        self.confirm()?;
        let place = self.place();
        self.try_resize(&shape.into().0).map_err(|error| error.at(place))
    }

    fn try_resize(&mut self, shape: &[u64]) -> Result<()> {
        if shape.len() != self.ndim() {
            let message =
                format!("the shape {shape:?} does not have the {} dimensions of the array", self.ndim());
            return Err(argument(message));
        }
        let (location, before) = (self.location.clone(), self.clone());
        let alone = before.alone()?;
        until_unchanged(|| {
            location.change(self.metadata.format, |node, write| {
                self.refresh(node)?;
                let resized = self.resized(shape)?;
                self.clear_leftovers(&resized)?;
                write(self.change_to(&resized))?;
                let old = std::mem::replace(self, resized);
                self.clear_outside(old.shape())
            })
        })?;
        alone.map_or(Ok(()), |_| self.forget_outside())
    }

    /// Appends values along an axis, and returns the new shape. Along all other axes, the values must have the length of the
    /// array.
    ///
    /// The values are stored before the shape, so the array is unchanged until all values are stored, and after an error. For
    /// concurrent appends in stores without locks, such as S3, see [`Array::append_with`].
    ///
    /// # Errors
    /// When the shapes do not fit; and the errors of [`Array::write`].
    #[expect(clippy::needless_pass_by_value, reason = "callers pass values and references alike")]
    pub fn append(&mut self, values: impl IntoElements, axis: usize) -> Result<Vec<u64>> {
        let elements = self.slice(..).elements(&values)?;
        let shape: Vec<u64> = elements.view().shape().iter().map(|&n| n as u64).collect();
        self.append_with(&shape, axis, |grown, place| grown.slice(place).write_elements(elements))
    }

    /// Appends values of this shape along an axis, like [`Array::append`], but leaves it to `write` to write them, in any number
    /// of parts; for values that do not fit into memory.
    ///
    /// `write` is called with the array in its new shape, and with the selection of the new values. Readers do not see the new
    /// shape before `write` returns; until then, no other thread can append to the array or resize it.
    ///
    /// In stores that have no lock that excludes other processes, but support conditional writes
    /// ([`Capabilities::set_if_unchanged`]), several writers can append at the same time. Each writer reserves rows in an object
    /// within the array, writes them, and stores the shape last. If a writer finishes before another writer that has reserved
    /// earlier rows, readers see fill values in the earlier rows until they are written. Rows left by a dead or failed writer are
    /// reused by the next append that fits into them. The rows of that append are then not the last rows of the array, so `write`
    /// must use the given selection instead of assuming the end of the array.
    ///
    /// # Errors
    /// When the shapes do not fit, and the errors of `write`; the array is then unchanged, unless another writer has appended to
    /// it in the meantime. [`ErrorKind::Conflict`] when another writer took the reserved rows because this process was suspended
    /// for minutes, or when a program that does not reserve rows has appended to the array.
    ///
    /// [`ErrorKind::Conflict`]: zarrox_core::ErrorKind::Conflict
    /// [`Capabilities::set_if_unchanged`]: zarrox_stores::Capabilities::set_if_unchanged
    #[doc(hidden)]
    pub fn append_with(
        &mut self,
        values: &[u64],
        axis: usize,
        write: impl FnOnce(&Self, Selection) -> Result<()>,
    ) -> Result<Vec<u64>> {
        self.check_writable()?;
        self.confirm()?;
        if self.location.is_guarded() {
            return self.append_reserved(values, axis, write);
        }
        let (location, format) = (self.location.clone(), self.metadata.format);
        location.change(format, |node, store| {
            let (grown, place) = self.grown(node, values, axis)?;
            if let Err(error) = write(&grown, place) {
                // If clearing fails as well, the cause is probably the same: the first error is reported. Leftovers are cleared
                // when the array next grows.
                let _ = self.clear_outside(grown.shape());
                return Err(error);
            }
            // The request may have taken effect despite the error, so nothing is cleared.
            store(self.change_to(&grown))?;
            *self = grown;
            Ok(self.shape().to_vec())
        })
    }

    /// Updates the shape of this handle to the stored shape, and returns the grown array and the selection of the new values.
    fn grown(&mut self, node: &NodeMetadata, values: &[u64], axis: usize) -> Result<(Self, Selection)> {
        let shape = self.refresh(node).and_then(|()| appended_shape(self.shape(), values, axis));
        let grown = shape.and_then(|shape| self.resized(&shape)).map_err(|error| error.at(self.place()))?;
        let mut place = vec![DimSelection::ALL; grown.ndim()];
        place[axis] = DimSelection::from(self.shape()[axis]..grown.shape()[axis]);
        Ok((grown, place.into_selection()))
    }

    /// Returns the array with another shape, and with any chunks added to its grid that the shape requires.
    fn resized(&self, shape: &[u64]) -> Result<Self> {
        let grid = check_lengths(shape).and_then(|()| self.metadata.chunk_grid.grown(shape));
        let mut resized = self.clone();
        resized.metadata.shape = shape.to_vec();
        if let Some(grid) = grid.map_err(|error| argument(error.to_string()))? {
            resized.metadata.chunk_grid = grid;
            resized.check_inner_chunks().map_err(|error| argument(error.to_string()))?;
            resized.renew_chain()?;
        }
        Ok(resized)
    }

    /// Returns the change that turns the metadata of this array into that of the resized one.
    fn change_to<'a>(&self, resized: &'a Self) -> Change<'a> {
        let (shape, grid) = (resized.shape(), &resized.metadata.chunk_grid);
        if *grid == self.metadata.chunk_grid { Change::Shape(shape) } else { Change::Growth(shape, grid) }
    }

    /// Updates the shape and the grid of this handle, which other writers may have changed, to those of a node that was read
    /// under the lock of its document.
    fn refresh(&mut self, node: &NodeMetadata) -> Result<()> {
        if let Some(generation) = &self.generation {
            generation.check_locked(&self.location, &self.metadata, node)?;
        }
        self.take_over(node)
    }

    fn take_over(&mut self, node: &NodeMetadata) -> Result<()> {
        match node {
            NodeMetadata::Array(now) if now.shape.len() == self.ndim() => {
                self.metadata.shape.clone_from(&now.shape);
                let (grid, now) = (&mut self.metadata.chunk_grid, &now.chunk_grid);
                match (&*grid, now) {
                    (ChunkGrid::Rectilinear(_), ChunkGrid::Rectilinear(_)) => grid.clone_from(now),
                    (before, now) if before != now => {
                        return Err(argument("the array was rechunked; open it again"));
                    }
                    _ => {}
                }
                self.check_inner_chunks()
            }
            _ => Err(argument("the array was replaced by another node; open it again")),
        }
    }

    /// Erases the chunks outside the shape, and clears the outer parts of chunks that cross its boundary.
    fn clear_outside(&self, old: &[u64]) -> Result<()> {
        if self.shape().iter().zip(old).all(|(new, old)| new >= old) {
            return Ok(());
        }
        for (chunk, key) in self.stored_chunks_outside()? {
            let regions = self.regions_outside(&chunk, old);
            match regions {
                None => drop(self.location.store.erase(&key)?),
                Some(regions) => {
                    for region in regions {
                        self.clear_chunk_region(&chunk, region)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns all stored chunks that are not entirely inside the shape. The cost is proportional to the number of stored chunks,
    /// not to the size of the grid.
    fn stored_chunks_outside(&self) -> Result<Vec<(Vec<u64>, Key)>> {
        let prefix = &self.chunks;
        let (grid, keys) = (&self.metadata.chunk_grid, self.chunk_key_encoding()?);
        let inside = |(dim, &index): (usize, &u64)| {
            let place = grid.chunk_place(dim, index);
            place.is_some_and(|(start, length)| start.saturating_add(length) <= self.shape()[dim])
        };
        let mut outside = Vec::new();
        let mut visit = |key: Key, _| {
            let name = &key.as_str()[prefix.as_str().len()..];
            if let Some(chunk) = keys.decode(name, self.ndim())
                && !chunk.iter().enumerate().all(inside)
            {
                outside.push((chunk, key));
            }
            ControlFlow::Continue(())
        };
        self.location.store.list_prefix(prefix, &mut visit)?;
        Ok(outside)
    }

    /// Returns the parts of a chunk that were inside the old shape and are now outside; `None` if no part of the chunk is inside.
    fn regions_outside(&self, chunk: &[u64], old: &[u64]) -> Option<Vec<Dims<Span>>> {
        regions_outside(&self.metadata.chunk_grid, chunk, self.shape(), Some(old))
    }
}

/// Returns the parts of a chunk that are outside a shape and, if the old shape is given, were inside the old shape; `None` if no
/// part of the chunk is inside the shape.
fn regions_outside(
    grid: &ChunkGrid,
    chunk: &[u64],
    shape: &[u64],
    old: Option<&[u64]>,
) -> Option<Vec<Dims<Span>>> {
    let places = (0..chunk.len()).map(|dim| grid.chunk_place(dim, chunk[dim]));
    // A chunk that is not in the grid is outside any shape.
    let places: Vec<(u64, u64)> = places.collect::<Option<_>>()?;
    let length = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let inside = |shape: &[u64], dim: usize| {
        let (start, length_of) = places[dim];
        length(shape[dim].saturating_sub(start).min(length_of))
    };
    let chunk_shape: Dims<usize> = places.iter().map(|place| length(place.1)).collect();
    let kept: Vec<usize> = (0..chunk_shape.len()).map(|dim| inside(shape, dim)).collect();
    if kept.contains(&0) {
        return None;
    }
    let mut regions = Vec::new();
    for dim in 0..chunk_shape.len() {
        let before = old.map_or(chunk_shape[dim], |old| inside(old, dim));
        if before > kept[dim] {
            let mut region: Dims<Span> = chunk_shape.iter().map(|&length| Span::all(length)).collect();
            region[dim] = Span { start: kept[dim], step: 1, count: chunk_shape[dim] - kept[dim] };
            regions.push(region);
        }
    }
    Some(regions)
}

fn appended_shape(shape: &[u64], values: &[u64], axis: usize) -> Result<Vec<u64>> {
    let fits = |dim: usize| dim == axis || values[dim] == shape[dim];
    if axis >= shape.len() {
        return Err(argument(format!("axis {axis} is out of bounds for the shape {shape:?}")));
    }
    if values.len() != shape.len() || !(0..shape.len()).all(fits) {
        return Err(argument(format!(
            "values of shape {values:?} cannot be appended along axis {axis} to the shape {shape:?}: all other axes must have the same length"
        )));
    }
    let mut shape = shape.to_vec();
    shape[axis] =
        shape[axis].checked_add(values[axis]).ok_or_else(|| crate::pool::too_many("the elements"))?;
    Ok(shape)
}
