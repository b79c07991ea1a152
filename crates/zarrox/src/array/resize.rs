//! Changing the shape: resize and append.

use std::ops::ControlFlow;

use ndarray::{ArrayBase, Data, Dimension, RawData};
use zarrox_core::indexing::{DimSelection, Selection};
use zarrox_core::metadata::Change;
use zarrox_core::strided::{Dims, Span};
use zarrox_core::{Element, Error, ErrorKind, IntoSelection, NodeMetadata, Result};
use zarrox_stores::Key;

use super::{Array, DynArray};
use crate::error::{argument, from_store};

impl Array {
    /// Gives the array another shape with as many dimensions.
    ///
    /// Growing touches no chunk. Shrinking erases the chunks that are outside then, and clears the part of others that
    /// is, so that growing again gives fill values and never what was there before. The new shape is stored first: an
    /// interruption can leave chunks behind that nobody reads, never a shape without its data.
    ///
    /// # Errors
    /// When the number of dimensions differs or the store cannot be written.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.check_writable()?;
        let place = self.place();
        self.try_resize(shape).map_err(|error| error.at(place))
    }

    fn try_resize(&mut self, shape: &[u64]) -> Result<()> {
        if shape.len() != self.ndim() {
            let message = format!("the shape {shape:?} has not the {} dimensions of the array", self.ndim());
            return Err(argument(message));
        }
        let location = self.location.clone();
        location.change(self.metadata.format, |node, write| {
            self.refresh(node)?;
            let old = std::mem::replace(&mut self.metadata.shape, shape.to_vec());
            write(Change::Shape(shape)).inspect_err(|_| self.metadata.shape.clone_from(&old))?;
            self.clear_outside(&old)
        })
    }

    /// Appends values along an axis. The other axes of the values must be as long as the array's; returns the new shape.
    ///
    /// The values are stored before the shape: until they are complete, and if that fails, the array is as before.
    ///
    /// # Errors
    /// When the shapes do not fit, or as for [`Array::write`].
    pub fn append<T, S, D>(&mut self, values: &ArrayBase<S, D>, axis: usize) -> Result<Vec<u64>>
    where
        T: Element,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        self.check_element::<T>()?;
        self.append_with(values.shape(), axis, |array, selection, shape| {
            array.write_typed(&selection.resolve(shape)?, values, shape)
        })
    }

    /// Appends values whose type is known only at run time; as [`Array::append`].
    ///
    /// # Errors
    /// As for [`Array::append`].
    pub fn append_dyn(&mut self, values: &DynArray, axis: usize) -> Result<Vec<u64>> {
        if values.data_type().storage() != self.data_type().storage() {
            let message = format!("the elements are {}, not {}", self.data_type(), values.data_type());
            return Err(Error::new(ErrorKind::DataTypeMismatch, message).at(self.place()));
        }
        self.append_with(values.shape(), axis, |array, selection, shape| {
            array.write_resolved(&selection.resolve(shape)?, values.view(), shape)
        })
    }

    fn append_with(
        &mut self,
        values: &[usize],
        axis: usize,
        write_values: impl FnOnce(&Self, &Selection, &[u64]) -> Result<()>,
    ) -> Result<Vec<u64>> {
        self.check_writable()?;
        let location = self.location.clone();
        let (place, format) = (self.place(), self.metadata.format);
        let append = |node: &NodeMetadata, write: &mut dyn FnMut(Change<'_>) -> Result<()>| {
            self.refresh(node)?;
            let shape = appended_shape(self.shape(), values, axis)?;
            let mut dims = vec![DimSelection::ALL; shape.len()];
            dims[axis] = DimSelection::from(self.shape()[axis]..shape[axis]);
            write_values(self, &dims.into_selection(), &shape)?;
            write(Change::Shape(&shape))?;
            self.metadata.shape.clone_from(&shape);
            Ok(shape)
        };
        location.change(format, append).map_err(|e| e.at(place))
    }

    /// Takes over the shape that is stored now: somebody else may have changed it.
    fn refresh(&mut self, node: &NodeMetadata) -> Result<()> {
        match node {
            NodeMetadata::Array(now) if now.shape.len() == self.ndim() => {
                self.metadata.shape.clone_from(&now.shape);
                Ok(())
            }
            _ => Err(argument("the array was replaced by another node; open it again")),
        }
    }

    /// Erases the chunks outside the shape, and clears the parts outside of those that cross its border.
    fn clear_outside(&self, old: &[u64]) -> Result<()> {
        if self.shape().iter().zip(old).all(|(new, old)| new >= old) {
            return Ok(());
        }
        for (chunk, key) in self.stored_chunks_outside()? {
            let regions = self.regions_outside(&chunk, old);
            match regions {
                None => drop(self.location.store.erase(&key).map_err(from_store)?),
                Some(regions) => {
                    for region in regions {
                        self.clear_chunk_region(&chunk, region)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// All stored chunks that are not wholly inside the shape. The cost follows the chunks that are stored, never the size
    /// of the grid.
    fn stored_chunks_outside(&self) -> Result<Vec<(Vec<u64>, Key)>> {
        let prefix = self.prefix()?;
        let chunk_shape = self.metadata.chunk_grid.chunk_shape();
        let mut outside = Vec::new();
        let mut visit = |key: Key, _| {
            let name = &key.as_str()[prefix.as_str().len()..];
            if let Some(chunk) = self.metadata.chunk_key_encoding.decode(name, self.ndim()) {
                let ends =
                    chunk.iter().zip(chunk_shape).map(|(&i, &c)| i.saturating_add(1).saturating_mul(c));
                if ends.zip(self.shape()).any(|(end, &length)| end > length) {
                    outside.push((chunk, key));
                }
            }
            ControlFlow::Continue(())
        };
        self.location.store.list_prefix(&prefix, &mut visit).map_err(from_store)?;
        Ok(outside)
    }

    /// The parts of a chunk that were inside the old shape and are outside now; `None` when no part is inside.
    fn regions_outside(&self, chunk: &[u64], old: &[u64]) -> Option<Vec<Dims<Span>>> {
        let chunk_shape = self.chain.chunk().shape();
        let inside = |shape: &[u64], dim: usize| {
            let inside = shape[dim].saturating_sub(chunk[dim].saturating_mul(chunk_shape[dim] as u64));
            usize::try_from(inside).map_or(chunk_shape[dim], |inside| inside.min(chunk_shape[dim]))
        };
        let new: Vec<usize> = (0..chunk_shape.len()).map(|dim| inside(self.shape(), dim)).collect();
        if new.contains(&0) {
            return None;
        }
        let mut regions = Vec::new();
        for dim in 0..chunk_shape.len() {
            let before = inside(old, dim);
            if before > new[dim] {
                let mut region: Dims<Span> = chunk_shape.iter().map(|&length| Span::all(length)).collect();
                region[dim] = Span { start: new[dim], step: 1, count: chunk_shape[dim] - new[dim] };
                regions.push(region);
            }
        }
        Some(regions)
    }
}

fn appended_shape(shape: &[u64], values: &[usize], axis: usize) -> Result<Vec<u64>> {
    let fits = |dim: usize| dim == axis || values[dim] as u64 == shape[dim];
    if axis >= shape.len() {
        return Err(argument(format!("there is no axis {axis} to append along, the shape is {shape:?}")));
    }
    if values.len() != shape.len() || !(0..shape.len()).all(fits) {
        return Err(argument(format!(
            "values of shape {values:?} cannot be appended along axis {axis} to the shape {shape:?}: all other axes must agree"
        )));
    }
    let mut shape = shape.to_vec();
    shape[axis] =
        shape[axis].checked_add(values[axis] as u64).ok_or_else(|| crate::pool::too_many("the elements"))?;
    Ok(shape)
}
