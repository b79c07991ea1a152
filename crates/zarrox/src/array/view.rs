//! Selected parts of arrays.

use ndarray::{Array as NdArray, ArrayBase, ArrayD, Data, DataMut, Dimension, RawData};
use zarrox_core::selection::{Mask, ResolvedSelection, Selection};
use zarrox_core::{DataType, Element, IntoSelection, Result};

use super::{Array, DynArray, VlenElement};

/// A selected part of an array, which is neither read nor written yet.
///
/// A view can be selected from again. The result is the same as a selection from the elements of the view, but only the finally
/// selected elements are read. An invalid selection is reported when the view is read or written.
///
/// ```
/// # use zarrox::prelude::*;
/// # let directory = tempfile::tempdir()?;
/// # let array = zarrox::create_array(directory.path().join("a.zarr"))
/// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
/// let view = array.slice(s![10..20, ..]).oindex((0, [5, 3, 99]));
/// assert_eq!(view.shape()?, [3]);
/// view.write(&ndarray::arr1(&[1, 2, 3]))?;
/// assert_eq!(array.read::<i32>(s![10, 3..6])?.as_slice().unwrap(), [2, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArrayView<'a> {
    pub(super) array: &'a Array,
    /// The resolved selection, or the error of an invalid selection.
    pub(super) resolved: Result<ResolvedSelection>,
}

impl Array {
    /// Selects a part of the array: with NumPy's rules, or in the way that the selection itself defines.
    pub fn slice(&self, selection: impl IntoSelection) -> ArrayView<'_> {
        let selection = selection.into_selection();
        let selection = selection.on_grid(self.chunk_grid(), self.shape());
        let resolved = selection.and_then(|selection| selection.resolve(self.shape()));
        ArrayView { array: self, resolved }
    }

    /// Selects along each dimension independently (zarr-python's `oindex`). Every item is an integer, a slice, a list of integers
    /// or a list of booleans.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
    /// let crossings = array.oindex(([0, 50, 99], [7, 5])).read::<i32>()?;
    /// assert_eq!(crossings.shape(), [3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn oindex(&self, selection: impl IntoSelection) -> ArrayView<'_> {
        self.slice(Selection::orthogonal(selection))
    }

    /// Selects elements by coordinates (zarr-python's `vindex`): one integer or integer array for each dimension. The arrays are
    /// broadcast together, and the result has their shape. A single boolean array is a [mask](Array::mask).
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([10, 10]).create()?;
    /// let three = array.vindex(([0, 50, -1], [7, 5, 7])).read::<i32>()?;
    /// assert_eq!(three.shape(), [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn vindex(&self, coordinates: impl IntoSelection) -> ArrayView<'_> {
        self.slice(Selection::coordinates(coordinates))
    }

    /// Selects the elements where a mask of the array's shape is true, in row-major order.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([2, 3]).data_type(DataType::Int32).create()?;
    /// let mask = ndarray::arr2(&[[false, true, false], [true, false, true]]);
    /// array.mask(&mask).fill(7)?;
    /// assert_eq!(array.read::<i32>(..)?, mask.mapv(|set| if set { 7 } else { 0 }).into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mask(&self, mask: impl Into<Mask>) -> ArrayView<'_> {
        self.slice(Selection::mask(mask))
    }

    /// Selects whole chunks by their indices in the [chunk grid](Array::chunk_grid): integers, of which negative ones count from
    /// the end, and slices. A chunk at the edge of the array has only the elements inside the array. If the array has shards,
    /// these are the shards.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([100, 100]).data_type(DataType::Int32).chunks([30, 30]).create()?;
    /// assert_eq!(array.blocks(s![1, 2..]).shape()?, [30, 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blocks(&self, blocks: impl IntoSelection) -> ArrayView<'_> {
        self.slice(Selection::blocks(blocks))
    }
}

impl<'a> ArrayView<'a> {
    /// The array.
    pub fn array(&self) -> &'a Array {
        self.array
    }

    /// The shape of the selection.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSelection`](crate::ErrorKind::InvalidSelection) when the selection does not fit.
    pub fn shape(&self) -> Result<Vec<u64>> {
        Ok(self.unconfirmed()?.shape())
    }

    /// The data type of the elements.
    pub fn data_type(&self) -> &'a DataType {
        self.array.data_type()
    }

    /// Selects a part of this part, like [`Array::slice`]. Blocks can only be selected from an array.
    #[must_use]
    pub fn slice(&self, selection: impl IntoSelection) -> ArrayView<'a> {
        let selection = selection.into_selection();
        let resolved = self.resolved.clone().and_then(|resolved| resolved.select(&selection));
        ArrayView { array: self.array, resolved }
    }

    /// Selects a part of this part, like [`Array::oindex`].
    #[must_use]
    pub fn oindex(&self, selection: impl IntoSelection) -> ArrayView<'a> {
        self.slice(Selection::orthogonal(selection))
    }

    /// Selects elements of this part, like [`Array::vindex`].
    #[must_use]
    pub fn vindex(&self, coordinates: impl IntoSelection) -> ArrayView<'a> {
        self.slice(Selection::coordinates(coordinates))
    }

    /// Selects elements of this part, like [`Array::mask`].
    #[must_use]
    pub fn mask(&self, mask: impl Into<Mask>) -> ArrayView<'a> {
        self.slice(Selection::mask(mask))
    }

    /// The resolved selection, if it is valid and the array's metadata is up to date.
    pub(super) fn resolved(&self) -> Result<&ResolvedSelection> {
        self.array.confirm()?;
        self.unconfirmed()
    }

    /// The resolved selection by the present metadata, if it is valid.
    pub(super) fn unconfirmed(&self) -> Result<&ResolvedSelection> {
        self.resolved.as_ref().map_err(|error| error.clone().at(self.array.place()))
    }
}

/// Reads and writes a selection in one call, like the methods of the same names of [`ArrayView`].
impl Array {
    /// Reads a selection into a new array: [`ArrayView::read`]. Dimensions that are selected by a single index are dropped.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).chunks([2, 3]).fill_value(7_i32).create()?;
    /// let column = array.read::<i32>(s![..;-1, 2])?;
    /// assert_eq!(column.shape(), [4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`].
    pub fn read<T: Element>(&self, selection: impl IntoSelection) -> Result<ArrayD<T>> {
        self.slice(selection).read()
    }

    /// Reads a selection into a new array whose number of dimensions is known at compile time: [`ArrayView::read_nd`].
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6, 2]).data_type(DataType::Float32).chunks([2, 3, 2]).create()?;
    /// let map: ndarray::Array2<f32> = array.read_nd(s![.., .., -1])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_nd`].
    pub fn read_nd<T: Element, D: Dimension>(&self, selection: impl IntoSelection) -> Result<NdArray<T, D>> {
        self.slice(selection).read_nd()
    }

    /// Reads a selection into the caller's memory: [`ArrayView::read_into`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_into`].
    pub fn read_into<T, S, D>(&self, selection: impl IntoSelection, out: &mut ArrayBase<S, D>) -> Result<()>
    where
        T: Element,
        S: DataMut + RawData<Elem = T>,
        D: Dimension,
    {
        self.slice(selection).read_into(out)
    }

    /// Reads a selection without knowing the element type at compile time.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`].
    pub fn read_dyn(&self, selection: impl IntoSelection) -> Result<DynArray> {
        self.slice(selection).read_dyn()
    }

    /// Reads a selection of elements of variable length as Rust values: [`ArrayView::read_vlen`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_vlen`].
    pub fn read_vlen<T: VlenElement>(&self, selection: impl IntoSelection) -> Result<ArrayD<T>> {
        self.slice(selection).read_vlen()
    }

    /// Reads one field of structured elements: [`ArrayView::read_field`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_field`].
    pub fn read_field<T: Element>(&self, name: &str, selection: impl IntoSelection) -> Result<ArrayD<T>> {
        self.slice(selection).read_field(name)
    }

    /// Reads one field without knowing its type at compile time.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_field`].
    pub fn read_field_dyn(&self, name: &str, selection: impl IntoSelection) -> Result<DynArray> {
        self.slice(selection).read_field_dyn(name)
    }

    /// Reads several fields, in the given order, as structures of these fields.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_fields`].
    pub fn read_fields(&self, names: &[&str], selection: impl IntoSelection) -> Result<DynArray> {
        self.slice(selection).read_fields(names)
    }

    /// Writes elements to a selection: [`ArrayView::write`]. Values are broadcast as in NumPy.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).chunks([2, 3]).create()?;
    /// array.write(s![1, ..], &ndarray::arr1(&[1, 2, 3, 4, 5, 6]))?;
    /// array.write(s![2.., ..;2], &ndarray::arr0(9))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::write`].
    pub fn write<T, S, D>(&self, selection: impl IntoSelection, values: &ArrayBase<S, D>) -> Result<()>
    where
        T: Element,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        self.slice(selection).write(values)
    }

    /// Sets every element of a selection to one value.
    ///
    /// # Errors
    /// The errors of [`ArrayView::write`].
    pub fn fill<T: Element>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        self.slice(selection).fill(value)
    }

    /// Writes elements whose type is known only at run time: [`ArrayView::write_dyn`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::write_dyn`].
    pub fn write_dyn(&self, selection: impl IntoSelection, values: &DynArray) -> Result<()> {
        self.slice(selection).write_dyn(values)
    }

    /// Writes Rust values to a selection of elements of variable length: [`ArrayView::write_vlen`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::write_vlen`].
    pub fn write_vlen<T, S, D>(&self, selection: impl IntoSelection, values: &ArrayBase<S, D>) -> Result<()>
    where
        T: VlenElement,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        self.slice(selection).write_vlen(values)
    }

    /// Writes one field of structured elements: [`ArrayView::write_field`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::write_field`].
    pub fn write_field<T, S, D>(
        &self,
        name: &str,
        selection: impl IntoSelection,
        values: &ArrayBase<S, D>,
    ) -> Result<()>
    where
        T: Element,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        self.slice(selection).write_field(name, values)
    }

    /// Writes one field without knowing its type at compile time: [`ArrayView::write_field_dyn`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::write_field_dyn`].
    pub fn write_field_dyn(
        &self,
        name: &str,
        selection: impl IntoSelection,
        values: &DynArray,
    ) -> Result<()> {
        self.slice(selection).write_field_dyn(name, values)
    }

    /// Writes several fields at once: [`ArrayView::write_fields`].
    ///
    /// # Errors
    /// The errors of [`ArrayView::write_fields`].
    pub fn write_fields(&self, selection: impl IntoSelection, values: &DynArray) -> Result<()> {
        self.slice(selection).write_fields(values)
    }
}
