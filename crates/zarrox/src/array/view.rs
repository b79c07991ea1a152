//! Views of selections.

use std::sync::Arc;

use zarrox_core::internals::elements::{Elements, Source, Target};
use zarrox_core::internals::selection::ResolvedSelection;
use zarrox_core::{
    DataType, DimSelection, ElementsMut, Error, FromElement, FromElements, IntoElements, IntoSelection, Mask,
    Result, Selection,
};

use super::fields::Fields;
use super::{Array, product};
use crate::error::argument;

/// A view of a selection of an array. Creating a view reads nothing.
///
/// Selecting from a view returns another view, as if the first view were an array; only the elements of the final selection are
/// read. An invalid selection is reported when the view is read or written.
///
/// ```
/// # use zarrox::{prelude::*, s};
/// # let directory = tempfile::tempdir()?;
/// # let array = zarrox::create_array(directory.path().join("a.zarr"))
/// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
/// let view = array.slice(s![10..20, ..]).oindex((0, [5, 3, 99]));
/// assert_eq!(view.shape()?, [3]);
/// view.write([1, 2, 3])?;
/// assert_eq!(array.read::<Vec<i32>>(s![10, 3..6])?, [2, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArrayView<'a> {
    pub(super) array: &'a Array,
    /// The resolved selection, or the error for an invalid selection or an unknown field.
    pub(super) resolved: Result<ResolvedSelection>,
    /// The fields of structured elements, if only some are selected.
    pub(super) fields: Option<Arc<Fields>>,
}

impl Array {
    /// Selects a part of the array by NumPy's rules; selections of other kinds, such as masks, follow their own rules.
    pub fn slice(&self, selection: impl IntoSelection) -> ArrayView<'_> {
        let selection = selection.into_selection();
        let selection = selection.on_grid(self.chunk_grid(), self.shape());
        let resolved = selection.and_then(|selection| selection.resolve(self.shape()));
        ArrayView { array: self, resolved, fields: None }
    }

    /// Selects along each dimension independently (zarr-python's `oindex`). Each item is an integer, a slice, a list of integers
    /// or a list of booleans.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
    /// let crossings: ndarray::Array2<i32> = array.oindex(([0, 50, 99], [7, 5])).read()?;
    /// assert_eq!(crossings.shape(), [3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn oindex(&self, selection: impl IntoSelection) -> ArrayView<'_> {
        self.slice(Selection::orthogonal(selection))
    }

    /// Selects elements by coordinates (zarr-python's `vindex`): one integer or integer array for each dimension. The arrays are
    /// broadcast together, and the result has the broadcast shape. A single boolean array is a [mask](Array::mask).
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
    /// let three = array.vindex(([0, 50, -1], [7, 5, 7])).read::<Vec<i32>>()?;
    /// assert_eq!(three.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn vindex(&self, coordinates: impl IntoSelection) -> ArrayView<'_> {
        self.slice(Selection::coordinates(coordinates))
    }

    /// Selects the elements at which a mask of the array's shape is true, in row-major order.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([2, 3]).data_type(DataType::Int32).create()?;
    /// let mask = ndarray::arr2(&[[false, true, false], [true, false, true]]);
    /// array.mask(&mask).write(7)?;
    /// assert_eq!(array.read::<ndarray::Array2<i32>>(..)?, mask.mapv(|set| if set { 7 } else { 0 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mask(&self, mask: impl Into<Mask>) -> ArrayView<'_> {
        self.slice(Selection::mask(mask))
    }

    /// Selects whole chunks by their indices in the [chunk grid](Array::chunk_grid): integers and slices, where negative integers
    /// count from the end. A chunk at the edge of the array is cropped to the elements inside the array. If the array has shards,
    /// whole shards are selected.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([30, 30]).create()?;
    /// assert_eq!(array.blocks(s![1, 2..]).shape()?, [30, 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blocks(&self, blocks: impl IntoSelection) -> ArrayView<'_> {
        self.slice(Selection::blocks(blocks))
    }

    /// Selects one field of structured elements. See [`ArrayView::field`].
    pub fn field(&self, name: &str) -> ArrayView<'_> {
        self.slice(..).field(name)
    }
}

impl<'a> ArrayView<'a> {
    /// Returns the array.
    #[doc(hidden)]
    pub fn array(&self) -> &'a Array {
        self.array
    }

    /// Returns the shape of the selection. The dimensions of an array field are appended.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSelection`](crate::ErrorKind::InvalidSelection) when the selection does not fit the array.
    pub fn shape(&self) -> Result<Vec<u64>> {
        let mut shape = self.unconfirmed()?.shape();
        shape.extend(self.inner().iter().map(|&length| length as u64));
        Ok(shape)
    }

    /// Returns the number of selected elements; `None` if it exceeds `u64`.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([6, 2]).data_type(DataType::Int32).create()?;
    /// let view = array.slice(s![1.., 0]);
    /// assert_eq!((view.shape()?, view.size()?), (vec![5], Some(5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::shape`].
    pub fn size(&self) -> Result<Option<u64>> {
        Ok(product(&self.shape()?))
    }

    /// Returns the data type of the elements, or that of the selected field.
    pub fn data_type(&self) -> &DataType {
        self.fields.as_ref().map_or_else(|| self.array.data_type(), |fields| &fields.data_type)
    }

    /// Selects from this view, like [`Array::slice`]. Blocks can be selected only from an array.
    #[must_use]
    pub fn slice(&self, selection: impl IntoSelection) -> ArrayView<'a> {
        let selection = selection.into_selection();
        let resolved = self.resolved.clone().and_then(|resolved| resolved.select(&selection));
        ArrayView { array: self.array, resolved, fields: self.fields.clone() }
    }

    /// Selects from this view, like [`Array::oindex`].
    #[must_use]
    pub fn oindex(&self, selection: impl IntoSelection) -> ArrayView<'a> {
        self.slice(Selection::orthogonal(selection))
    }

    /// Selects elements of this view, like [`Array::vindex`].
    #[must_use]
    pub fn vindex(&self, coordinates: impl IntoSelection) -> ArrayView<'a> {
        self.slice(Selection::coordinates(coordinates))
    }

    /// Selects elements of this view, like [`Array::mask`].
    #[must_use]
    pub fn mask(&self, mask: impl Into<Mask>) -> ArrayView<'a> {
        self.slice(Selection::mask(mask))
    }

    /// Returns the resolved selection, if it is valid and the array's metadata is up to date.
    pub(super) fn resolved(&self) -> Result<&ResolvedSelection> {
        self.array.confirm()?;
        self.unconfirmed()
    }

    /// Returns the resolved selection of elements to read, if it is valid. Metadata that is confirmed by a request to the store is
    /// confirmed with the first chunks.
    pub(super) fn resolved_for_reading(&self) -> Result<&ResolvedSelection> {
        let reads_chunks = self.resolved.as_ref().is_ok_and(|resolved| !resolved.is_empty());
        if reads_chunks && self.array.is_confirmed_by_a_request() {
            return self.unconfirmed();
        }
        self.resolved()
    }

    /// Returns the resolved selection, if it is valid. The array's metadata may be out of date.
    pub(super) fn unconfirmed(&self) -> Result<&ResolvedSelection> {
        self.resolved.as_ref().map_err(|error| error.clone().at(self.array.place()))
    }

    /// Returns the shape of the selected field, if it is an array field; otherwise an empty slice.
    pub(super) fn inner(&self) -> &[usize] {
        self.fields.as_ref().map_or(&[], |fields| &fields.inner)
    }

    /// Reads the elements as the type `A`, such as `ArrayD<f32>`, `Array2<f32>`, `Vec<String>` or [`DynArray`](crate::DynArray).
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the elements have another type, [`ErrorKind::InvalidArgument`] when `A` has another
    /// number of dimensions, [`ErrorKind::InvalidSelection`] when the selection is invalid, [`ErrorKind::OutOfMemory`] when
    /// memory for the result cannot be allocated, [`ErrorKind::LimitExceeded`] when the result would not fit into the address
    /// space, [`ErrorKind::Corrupt`] when a chunk is damaged, and errors of the store.
    ///
    /// [`ErrorKind::DataTypeMismatch`]: crate::ErrorKind::DataTypeMismatch
    /// [`ErrorKind::InvalidArgument`]: crate::ErrorKind::InvalidArgument
    /// [`ErrorKind::InvalidSelection`]: crate::ErrorKind::InvalidSelection
    /// [`ErrorKind::OutOfMemory`]: crate::ErrorKind::OutOfMemory
    /// [`ErrorKind::LimitExceeded`]: crate::ErrorKind::LimitExceeded
    /// [`ErrorKind::Corrupt`]: crate::ErrorKind::Corrupt
    pub fn read<A: FromElements>(&self) -> Result<A> {
        self.with_source(A::read_from)
    }

    /// Reads the elements into the caller's memory: an `ndarray` of any memory layout that has the shape of the selection, or a
    /// slice with the same number of elements, in row-major order. `MaybeUninit` elements are initialised if the read succeeds.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).fill_value(7).create()?;
    /// let mut columns = Array2::<i32>::zeros((6, 4)).reversed_axes();
    /// array.slice(..).read_into(&mut columns)?;
    /// let mut row = vec![std::mem::MaybeUninit::<i32>::uninit(); 6];
    /// array.slice(s![0, ..]).read_into(&mut row)?;
    /// # assert_eq!(columns[[3, 5]], 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`], and an error when the shapes differ. After an error, the memory may be partly written.
    pub fn read_into(&self, out: impl ElementsMut) -> Result<()> {
        self.with_source(|source| out.read_from(source))
    }

    /// Writes elements: an `ndarray` of any memory layout whose shape is that of the selection or can be broadcast to it by
    /// NumPy's rules; a slice or `Vec` with the same number of elements; or a single value for all elements. If an element is
    /// selected more than once, the last value in row-major order is written.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`](crate::ErrorKind::DataTypeMismatch) when the values have another type,
    /// [`ErrorKind::InvalidSelection`](crate::ErrorKind::InvalidSelection) when the selection does not fit, and the errors of the
    /// store. Chunks that were written before an error remain written; each chunk has either its old or its new elements.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass values and references alike")]
    pub fn write(&self, values: impl IntoElements) -> Result<()> {
        let elements = self.elements(&values)?;
        self.write_elements(elements)
    }

    /// Calls `work` with a source of the view's elements. The location of the array is added to errors that have none.
    pub(super) fn with_source<R>(&self, work: impl FnOnce(&Source<'_>) -> Result<R>) -> Result<R> {
        let (array, resolved) = (self.array, self.resolved_for_reading()?);
        let mut shape = Array::lengths(&resolved.shape())?;
        shape.extend_from_slice(self.inner());
        let fields = self.fields.as_deref();
        array.with_source(shape, self.data_type(), work, &|out| match fields {
            None => array.read_resolved(resolved, out),
            Some(fields) => fields.read(array, resolved, out),
        })
    }

    /// Converts values to elements of the view's data type.
    pub(super) fn elements<'v>(&self, values: &'v impl IntoElements) -> Result<Elements<'v>> {
        let registry = &self.array.location.context.registry;
        let target = Target { data_type: self.data_type(), registry };
        values.elements(&target).map_err(|error| error.at(self.array.place()))
    }

    pub(super) fn write_elements(&self, elements: Elements<'_>) -> Result<()> {
        let (array, resolved) = (self.array, self.resolved()?);
        let shape = Array::lengths(&resolved.shape())?;
        let mismatch = |given: &[usize]| {
            let wanted: Vec<usize> = shape.iter().chain(self.inner()).copied().collect();
            array.shape_mismatch(&wanted, given)
        };
        let given = elements.view().shape().to_vec();
        let elements = elements.grouped(self.inner()).ok_or_else(|| mismatch(&given))?;
        let values = elements.broadcast(&shape).ok_or_else(|| mismatch(&given))?;
        let places = self.fields.as_ref().map(|fields| fields.places_written());
        array.write_resolved(resolved, self.data_type(), values, places.as_deref())
    }
}

/// Reading and writing a selection in one call, like the methods of the same names of [`ArrayView`].
impl Array {
    /// Reads a selection. See [`ArrayView::read`]. Dimensions that are selected by an integer are dropped.
    ///
    /// ```
    /// use ndarray::{Array2, ArrayD};
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).chunks([2, 3]).fill_value(7).create()?;
    /// let all: Array2<i32> = array.read(..)?;
    /// let corner = array.read::<ArrayD<i32>>(s![..2, -3..])?;
    /// let column = array.read::<Vec<i32>>(s![..;-1, 2])?;
    /// assert_eq!((all.sum(), corner.shape(), column.len()), (168, &[2, 3][..], 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`].
    pub fn read<A: FromElements>(&self, selection: impl IntoSelection) -> Result<A> {
        self.slice(selection).read()
    }

    /// Reads one element; [`set`](Self::set) writes one. Negative indices count from the end. The indices are a tuple or a list:
    /// in these two methods, `[4, 7]` means the same as `(4, 7)`, whereas `read([4, 7])` reads rows 4 and 7.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).create()?;
    /// array.write((3, 2), 5)?;
    /// assert_eq!(array.get::<i32>((-1, 2))?, 5);
    /// assert_eq!(array.get::<i32>([3, 2])?, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the number of indices differs from the number of dimensions; and the errors of [`ArrayView::read`].
    pub fn get<T: FromElement>(&self, index: impl IntoSelection) -> Result<T> {
        let element = self.read::<Vec<T>>(self.one_element(index)?)?.pop();
        element.ok_or_else(|| argument("the element was not read"))
    }

    /// Writes one element; [`get`](Self::get) reads one. The indices are a tuple or a list.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).create()?;
    /// array.set([3, -1], 5)?;
    /// assert_eq!(array.read::<Vec<i32>>(3)?, [0, 0, 0, 0, 0, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the number of indices differs from the number of dimensions; and the errors of [`ArrayView::write`].
    pub fn set(&self, index: impl IntoSelection, value: impl IntoElements) -> Result<()> {
        self.write(self.one_element(index)?, value)
    }

    /// Returns the selection of one element. Unlike in other selections, the indices may be a list.
    fn one_element(&self, index: impl IntoSelection) -> Result<Selection> {
        let selection = index.into_selection();
        let items: Vec<DimSelection> = match selection.items() {
            [DimSelection::Integers(list)] if list.shape().len() == 1 => {
                list.values().iter().map(|&index| DimSelection::Index(index)).collect()
            }
            items => items.to_vec(),
        };
        let is_index = |item: &DimSelection| matches!(item, DimSelection::Index(_));
        if items.len() != self.ndim() || !items.iter().all(is_index) {
            let message =
                format!("an element of an array with {} dimensions needs one index for each", self.ndim());
            return Err(Error::new(zarrox_core::ErrorKind::InvalidSelection, message).at(self.place()));
        }
        Ok(Selection::new(items))
    }

    /// Reads a selection into the caller's memory. See [`ArrayView::read_into`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_into`].
    pub fn read_into(&self, selection: impl IntoSelection, out: impl ElementsMut) -> Result<()> {
        self.slice(selection).read_into(out)
    }

    /// Writes elements to a selection. See [`ArrayView::write`].
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).chunks([2, 3]).create()?;
    /// array.write(s![1, ..], [1, 2, 3, 4, 5, 6])?;
    /// array.write(s![2.., ..;2], 9)?;
    /// array.write(s![0, ..], &ndarray::Array1::<i32>::zeros(6))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::write`].
    pub fn write(&self, selection: impl IntoSelection, values: impl IntoElements) -> Result<()> {
        self.slice(selection).write(values)
    }
}
