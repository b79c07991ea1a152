//! Views that read an array as another data type.

use zarrox_core::data_type::Casting;
use zarrox_core::internals::data_type::NumberCast;
use zarrox_core::internals::elements::Source;
use zarrox_core::internals::selection::ResolvedSelection;
use zarrox_core::strided::{Dims, Span, View, ViewMut};
use zarrox_core::{DataType, DynArray, ElementsMut, FromElements, IntoSelection, Mask, Result, Selection};

use super::Array;
use super::read::chunk_place;
use super::view::ArrayView;

/// The number of bytes that are cast at a time: few enough that they are still in the core's cache when they are copied to the
/// result.
const BLOCK: usize = 128 << 10;

/// A view of an array that is read as another data type, like zarr-python's `astype`; created by [`Array::astype`] and
/// [`ArrayView::astype`].
///
/// Elements are cast chunk by chunk, so memory is needed only for the result and for the chunks in progress. The values are the
/// same as those of NumPy's `astype` ([`Casting::Lossy`]). The view is read-only, since the stored elements cannot be recovered
/// from cast values.
///
/// ```
/// # use zarrox::{prelude::*, s};
/// # let directory = tempfile::tempdir()?;
/// # let array = zarrox::create_array(directory.path().join("a.zarr"))
/// #     .shape([100, 100]).data_type(DataType::Float64).chunks([10, 10]).create()?;
/// array.write(s![.., 1], 2.75)?;
/// let whole = array.astype(&DataType::Int16);
/// assert_eq!(whole.slice(s![5, ..3]).read::<Vec<i16>>()?, [0, 2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AsTypeView<'a> {
    view: ArrayView<'a>,
    data_type: DataType,
}

impl Array {
    /// Returns a view that reads the array as another data type. See [`AsTypeView`].
    pub fn astype(&self, data_type: &DataType) -> AsTypeView<'_> {
        self.slice(..).astype(data_type)
    }
}

impl<'a> ArrayView<'a> {
    /// Returns a view that reads the same elements as another data type. See [`AsTypeView`]. Numbers can be cast to any other
    /// numeric type, and structured elements are cast field by field. An unsupported cast is reported when the view is read.
    pub fn astype(&self, data_type: &DataType) -> AsTypeView<'a> {
        AsTypeView { view: self.clone(), data_type: data_type.clone() }
    }
}

impl<'a> AsTypeView<'a> {
    /// Returns the underlying view, which has the stored data type.
    #[doc(hidden)]
    pub fn view(&self) -> &ArrayView<'a> {
        &self.view
    }

    /// Returns the shape of the selection.
    ///
    /// # Errors
    /// The errors of [`ArrayView::shape`].
    pub fn shape(&self) -> Result<Vec<u64>> {
        self.view.shape()
    }

    /// Returns the data type that elements are read as.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Selects from this view, like [`ArrayView::slice`].
    #[must_use]
    pub fn slice(&self, selection: impl IntoSelection) -> Self {
        self.view.slice(selection).astype(&self.data_type)
    }

    /// Selects from this view, like [`ArrayView::oindex`].
    #[must_use]
    pub fn oindex(&self, selection: impl IntoSelection) -> Self {
        self.slice(Selection::orthogonal(selection))
    }

    /// Selects elements of this view, like [`ArrayView::vindex`].
    #[must_use]
    pub fn vindex(&self, coordinates: impl IntoSelection) -> Self {
        self.slice(Selection::coordinates(coordinates))
    }

    /// Selects elements of this view, like [`ArrayView::mask`].
    #[must_use]
    pub fn mask(&self, mask: impl Into<Mask>) -> Self {
        self.slice(Selection::mask(mask))
    }

    /// Reads the elements, like [`ArrayView::read`].
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when `A` does not hold elements of the view's type, [`ErrorKind::Unsupported`] when the
    /// stored elements cannot be cast to this type, [`ErrorKind::InvalidArgument`] when this type cannot represent an element
    /// (some small floats have no NaN or infinities); and the errors of [`ArrayView::read`].
    ///
    /// [`ErrorKind::DataTypeMismatch`]: crate::ErrorKind::DataTypeMismatch
    /// [`ErrorKind::Unsupported`]: crate::ErrorKind::Unsupported
    /// [`ErrorKind::InvalidArgument`]: crate::ErrorKind::InvalidArgument
    pub fn read<A: FromElements>(&self) -> Result<A> {
        self.with_source(A::read_from)
    }

    /// Reads the elements into the caller's memory, like [`ArrayView::read_into`].
    ///
    /// # Errors
    /// The errors of [`AsTypeView::read`], and an error when the shapes differ. After an error, the memory may be partly written.
    pub fn read_into(&self, out: impl ElementsMut) -> Result<()> {
        self.with_source(|source| out.read_from(source))
    }

    fn with_source<R>(&self, work: impl FnOnce(&Source<'_>) -> Result<R>) -> Result<R> {
        let (view, array) = (&self.view, self.view.array);
        let resolved = view.resolved_for_reading()?;
        let mut shape = Array::lengths(&resolved.shape())?;
        shape.extend_from_slice(view.inner());
        array.with_source(shape, &self.data_type, work, &|mut out| {
            if view.fields.is_none() {
                return self.read_cast(resolved, out);
            }
            let registry = &array.location.context.registry;
            let cast = view.read::<DynArray>()?.cast(&self.data_type, Casting::Lossy, registry);
            out.copy_from(&cast.map_err(|error| error.at(array.place()))?.view(), 1);
            Ok(())
        })
    }

    fn read_cast(&self, resolved: &ResolvedSelection, out: ViewMut<'_>) -> Result<()> {
        let (array, to) = (self.view.array, &self.data_type);
        let from = array.data_type();
        if from == to {
            return array.read_resolved(resolved, out);
        }
        let registry = &array.location.context.registry;
        // An unsupported cast is reported before anything is read.
        let cast = registry.cast(from, to, Casting::Lossy).map_err(|error| error.at(array.place()))?;
        array.read_projections(resolved, to, out, array.at_once_whole(), |projection, out, objects| {
            let (part, back) = projection.compact();
            let mut stored = DynArray::empty(from.clone(), back.shape())?;
            array.read_chunk_part(&part, stored.view_mut(), objects)?;
            from.normalise(&mut stored.view_mut());
            if let (Some(many), Some(places)) = (cast.number_cast(), back.places()) {
                cast_into(many, &stored, out.into_region(places));
                return Ok(());
            }
            let cast = stored.cast(to, Casting::Lossy, registry).map_err(|error| {
                let key = array.key(&projection.chunk);
                let place = key
                    .map_or_else(|_| String::new(), |key| chunk_place(&projection.chunk, &key).to_string());
                error.at(format!("the selected elements of {place}")).at(array.place())
            })?;
            back.gather(&cast.view(), out);
            Ok(())
        })
    }
}

/// Casts elements into memory of the same shape.
fn cast_into(cast: &NumberCast, stored: &DynArray, out: ViewMut<'_>) {
    let mut out = match out.into_slice() {
        Ok(memory) => {
            cast.cast(stored.as_bytes(), memory);
            return;
        }
        Err(out) => out,
    };
    let shape = stored.shape();
    // The axes before this one have length 1, so consecutive positions along it are contiguous in memory.
    let axis = shape.iter().position(|&length| length > 1).unwrap_or(0);
    let (from, to) = (stored.data_type().size(), out.item());
    let row: usize = shape[axis + 1..].iter().product();
    let most = (BLOCK / (row * to).max(1)).clamp(1, shape[axis]);
    let mut block = vec![0; most * row * to];
    for start in (0..shape[axis]).step_by(most) {
        let count = most.min(shape[axis] - start);
        let block = &mut block[..count * row * to];
        cast.cast(&stored.as_bytes()[start * row * from..][..count * row * from], block);
        let mut places: Dims<Span> = shape.iter().copied().map(Span::all).collect();
        places[axis] = Span { start, step: 1, count };
        let mut shape: Dims<usize> = shape.into();
        shape[axis] = count;
        out.reborrow().into_region(&places).copy_from(&View::contiguous(block, &shape, to), 1);
    }
}
