//! Growing several arrays together, such as the arrays of a dataset along a shared dimension.

use std::sync::Arc;

use zarrox_core::{NodeMetadata, Result};
use zarrox_stores::HoldGuard;

use super::super::Array;
use crate::error::argument;
use crate::guarded::until_unchanged;
use crate::policy::Upkeep;
use crate::upkeep::Changes;

/// The maximum number of arrays that are locked at the same time: each lock takes up to three open files.
const MOST: usize = 100;

/// Writes the new elements into the arrays in their new shapes.
type Write<'a> = dyn FnMut(&[Array]) -> Result<()> + 'a;

impl Array {
    /// Grows several arrays of one store to larger shapes, once `write` has stored the new elements.
    ///
    /// `write` is called with the arrays in their new shapes. Readers do not see the new shapes before `write` returns, and no
    /// shape is stored if `write` fails. Afterwards, the shapes are stored one after the other, that of the first array last.
    /// Consolidated metadata is updated in one step, after all shapes are stored. In the meantime, no other writer appends to the
    /// arrays or resizes them, as far as locks and [reservations](Array::append_with) prevent it. At most 100 arrays are locked;
    /// for the others, an error is returned if the stored shape is not the one that the handle knows. Concurrent callers must
    /// pass the same arrays in the same order.
    ///
    /// # Errors
    /// When a shape does not fit, or another writer has changed a shape; and the errors of `write`. After an error, all arrays
    /// have their old shapes.
    #[doc(hidden)]
    pub fn grow_together(
        arrays: &mut [Self],
        shapes: &[Vec<u64>],
        write: impl FnOnce(&[Self]) -> Result<()>,
    ) -> Result<()> {
        let Some(first) = arrays.first() else { return write(&[]) };
        let store = first.location.store.location();
        let is_beside = |array: &Self| array.location.store.location() == store;
        if shapes.len() != arrays.len() || !arrays.iter().all(is_beside) {
            return Err(argument(
                "arrays that grow together need one shape each, and must be in the same store",
            ));
        }
        let _holds = hold(arrays)?;
        let before = arrays.to_vec();
        for array in arrays.iter_mut() {
            // Consolidated metadata is updated at the end, so that its readers see all shapes change at once.
            Arc::make_mut(&mut array.location.context).upkeep = Upkeep::Leave;
        }
        let mut write = Some(write);
        let mut write = |grown: &[Self]| write.take().map_or(Ok(()), |write| write(grown));
        let done = grow(arrays, shapes, &mut Vec::with_capacity(shapes.len()), &mut write);
        for (array, before) in arrays.iter_mut().zip(&before) {
            array.location.context = before.location.context.clone();
        }
        if let Err(error) = done {
            for (array, before) in arrays.iter_mut().zip(&before) {
                // If this fails, the cause is probably the same as that of the error that is reported.
                let _ = array.shrink_to(before);
            }
            return Err(error);
        }
        keep_copies(arrays)
    }

    /// Returns the array in a new shape that is not stored yet, for other processes that write on behalf of a
    /// [`grow_together`](Self::grow_together) call. Only processes that the call waits for may write outside the stored shape.
    ///
    /// # Errors
    /// When the shape does not fit.
    #[doc(hidden)]
    pub fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        let has_dims = shape.len() == self.ndim();
        let fits = if has_dims {
            Ok(())
        } else {
            Err(argument(format!(
                "the shape {shape:?} does not have the {} dimensions of the array",
                self.ndim()
            )))
        };
        fits.and_then(|()| self.resized(shape)).map_err(|error| error.at(self.place()))
    }

    /// Calls `write` with the array in its new shape, and then stores the shape.
    fn grow_around(
        &mut self,
        shape: &[u64],
        is_locked: bool,
        write: &mut dyn FnMut(&Self) -> Result<()>,
    ) -> Result<()> {
        self.check_writable()?;
        self.confirm()?;
        let (location, format) = (self.location.clone(), self.metadata.format);
        if is_locked && !location.is_guarded() {
            return location.change(format, |node, store| {
                let grown = self.about_to_grow(node, shape)?;
                self.cleared_unless(write(&grown), &grown)?;
                store(self.change_to(&grown))?;
                *self = grown;
                Ok(())
            });
        }
        let array = self.clone();
        let alone = if is_locked { array.alone()? } else { None };
        let grown = until_unchanged(|| location.change(format, |node, _| self.about_to_grow(node, shape)))?;
        let written = match &alone {
            Some(alone) => alone.renewing(|| write(&grown)),
            None => write(&grown),
        };
        self.cleared_unless(written, &grown)?;
        let mut attempts = 0;
        until_unchanged(|| {
            attempts += 1;
            location.change(format, |node, store| {
                // An earlier request whose response was lost may have already stored the shape.
                let is_stored = matches!(node, NodeMetadata::Array(now) if now.shape == grown.shape());
                if attempts > 1 && is_stored {
                    return Ok(());
                }
                self.as_known(node)?;
                store(self.change_to(&grown))
            })
        })?;
        *self = grown;
        Ok(())
    }

    /// Clears leftovers outside the shape, and returns the array in its new shape.
    fn about_to_grow(&mut self, node: &NodeMetadata, shape: &[u64]) -> Result<Self> {
        self.as_known(node)?;
        let grown = self.with_shape(shape)?;
        if shape.iter().zip(self.shape()).any(|(new, old)| new < old) {
            let message = format!("the shape {:?} cannot grow to {shape:?}", self.shape());
            return Err(argument(message).at(self.place()));
        }
        self.clear_leftovers(&grown)?;
        Ok(grown)
    }

    /// Returns an error unless the stored shape is the one that this handle knows.
    fn as_known(&mut self, node: &NodeMetadata) -> Result<()> {
        let known = self.shape().to_vec();
        self.refresh(node)?;
        if self.shape() == known {
            return Ok(());
        }
        let stored = std::mem::replace(&mut self.metadata.shape, known);
        let message =
            format!("another writer has changed the shape from {:?} to {stored:?} meanwhile", self.shape());
        Err(argument(message).at(self.place()))
    }

    /// Clears the elements outside the shape if writing has failed.
    fn cleared_unless(&self, written: Result<()>, grown: &Self) -> Result<()> {
        if written.is_err() {
            // If clearing fails as well, the cause is probably the same. Leftovers are cleared when the array next grows.
            let _ = self.clear_between(grown);
        }
        written
    }

    /// Restores the shape of the array, unless another writer has changed it since.
    fn shrink_to(&mut self, before: &Self) -> Result<()> {
        let grown = self.shape().to_vec();
        if grown == before.shape() {
            return Ok(());
        }
        self.refresh_stored()?;
        if self.shape() == grown { self.resize(before.shape()) } else { Ok(()) }
    }
}

/// Takes shared holds of the arrays, in the same order as exclusive holds are taken, so that no deadlock is possible.
fn hold(arrays: &[Array]) -> Result<Vec<HoldGuard>> {
    let mut places: Vec<_> =
        arrays.iter().take(MOST).map(|array| (&array.location, array.metadata.format)).collect();
    places.sort_by_cached_key(|(location, _)| format!("{}/", location.path));
    let held =
        places.into_iter().map(|(location, format)| location.hold_shared(&location.layout_for(format)?));
    held.filter_map(Result::transpose).collect()
}

/// Grows the arrays recursively, so that the shape of the first one is stored last.
fn grow(
    arrays: &mut [Array],
    shapes: &[Vec<u64>],
    grown: &mut Vec<Array>,
    write: &mut Write<'_>,
) -> Result<()> {
    let (Some((first, others)), Some((shape, shapes))) = (arrays.split_first_mut(), shapes.split_first())
    else {
        return write(grown);
    };
    first.grow_around(shape, grown.len() < MOST, &mut |array| {
        grown.push(array.clone());
        grow(others, shapes, grown, write)
    })
}

/// Updates consolidated metadata for all arrays of one format at once.
fn keep_copies(arrays: &[Array]) -> Result<()> {
    let mut formats: Vec<_> = arrays.iter().map(|array| array.metadata.format).collect();
    formats.dedup();
    let kept = formats.into_iter().map(|format| {
        let mut of_format = arrays.iter().filter(|array| array.metadata.format == format);
        let Some(first) = of_format.next() else { return Ok(()) };
        let others = of_format.map(|array| array.location.path.clone()).collect();
        first.location.keep_copies(format, &Changes::of_node(&first.location.path, false).and(others))
    });
    kept.fold(Ok(()), Result::and)
}
