//! The results of reads.

use ndarray::{Array, ArrayD, Axis, Dimension, IxDyn};

use super::{Decode, FromElement, place, too_many};
use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::strided::{Dims, View, ViewMut};
use crate::vlen::VlenBuffer;

/// Selected elements that have not been read yet.
pub struct Source<'a> {
    /// The shape of the selection.
    pub shape: Dims<usize>,
    /// The data type of the elements.
    pub data_type: &'a DataType,
    /// Reads the elements into memory of this shape, whose items have the size of the data type's elements. Booleans are
    /// normalised to 0 or 1.
    pub read: &'a dyn Fn(ViewMut<'_>) -> Result<()>,
    /// A view of the elements, if they are already in memory. They are then decoded from this view.
    pub memory: Option<View<'a>>,
}

impl Source<'_> {
    /// Returns the number of elements, if their bytes fit into memory.
    fn count(&self) -> Result<usize> {
        let size = self.shape.iter().try_fold(self.data_type.size(), |size, &n| size.checked_mul(n));
        let size = size.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(too_many)?;
        Ok(size / self.data_type.size().max(1))
    }

    /// Reads the elements in row-major order.
    fn to_vec<T: FromElement>(&self) -> Result<Vec<T>> {
        let Some(in_place) = T::in_place() else { return self.decoded(&T::decoder(self.data_type)?) };
        T::check(self.data_type)?;
        let mut data = in_place.zeroed(self.count()?)?;
        (self.read)(ViewMut::contiguous(in_place.bytes_mut(&mut data), &self.shape, size_of::<T>()))?;
        Ok(data)
    }

    fn decoded<T>(&self, decode: &Decode<T>) -> Result<Vec<T>> {
        if let Some(memory) = &self.memory {
            return decoded(memory, decode);
        }
        let (item, vlen) = (self.data_type.size(), VlenBuffer::new());
        let mut bytes = super::InPlace::<u8>::new().zeroed(self.count()? * item)?;
        let mut view = ViewMut::contiguous(&mut bytes, &self.shape, item);
        if self.data_type.storage() == crate::data_type::Storage::Variable {
            view = view.with_vlen(&vlen);
        }
        (self.read)(view.reborrow())?;
        decoded(&view.as_view(), decode)
    }

    /// Checks the number of dimensions.
    fn check_ndim<D: Dimension>(&self) -> Result<()> {
        let found = self.shape.len();
        match D::NDIM.filter(|&wanted| wanted != found) {
            Some(wanted) => Err(Error::argument(format!(
                "the selection has {found} dimensions, but {wanted} are expected"
            ))),
            None => Ok(()),
        }
    }
}

/// Decodes elements in row-major order. Errors contain the index of the element.
fn decoded<T>(elements: &View<'_>, decode: &Decode<T>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    elements.for_each_element(|element| {
        let value = decode(element).map_err(|error| error.at(place(elements.shape(), values.len())))?;
        values.push(value);
        Ok::<_, Error>(())
    })?;
    Ok(values)
}

/// The result type of a read.
///
/// | type | |
/// |---|---|
/// | `ArrayD<T>` | an `ndarray` with any number of dimensions |
/// | `Array1<T>`, `Array2<T>`, … | an `ndarray` with this number of dimensions |
/// | `Vec<T>` | the elements in row-major order |
/// | `DynArray` | elements whose type is known only at run time |
///
/// `T` is a [`FromElement`].
#[diagnostic::on_unimplemented(
    message = "elements cannot be read as `{Self}`",
    note = "name the whole result: `read::<ArrayD<f32>>(..)`, `read::<Array2<f32>>(..)`, `read::<Vec<String>>(..)`, or `read::<DynArray>(..)`",
    note = "one element is read by `get::<f32>([0, 0])`"
)]
pub trait FromElements: Sized {
    /// Several results of one read, stacked along an additional first axis.
    #[doc(hidden)]
    type Rows: FromElements;

    /// Checks the data type before elements are read.
    #[doc(hidden)]
    fn check(data_type: &DataType) -> Result<()>;

    /// Reads the elements.
    #[doc(hidden)]
    fn read_from(source: &Source<'_>) -> Result<Self>;

    /// Reads the elements, and reuses the memory of this value if its shape and layout fit.
    #[doc(hidden)]
    fn read_again(self, source: &Source<'_>) -> Result<Self> {
        Self::read_from(source)
    }

    /// Copies one of several results.
    #[doc(hidden)]
    fn row(rows: &Self::Rows, index: usize) -> Result<Self>;
}

impl<T: FromElement, D: Dimension> FromElements for Array<T, D> {
    type Rows = ArrayD<T>;

    fn check(data_type: &DataType) -> Result<()> {
        T::check(data_type)
    }

    fn read_from(source: &Source<'_>) -> Result<Self> {
        source.check_ndim::<D>()?;
        let array = ArrayD::from_shape_vec(IxDyn(&source.shape), source.to_vec()?).map_err(shape_error)?;
        array.into_dimensionality().map_err(shape_error)
    }

    fn read_again(mut self, source: &Source<'_>) -> Result<Self> {
        let shape = self.shape() == source.shape.as_slice();
        let memory = T::in_place().zip(self.as_slice_mut().filter(|_| shape));
        let Some((in_place, memory)) = memory else { return Self::read_from(source) };
        Self::check(source.data_type)?;
        (source.read)(ViewMut::contiguous(in_place.bytes_mut(memory), &source.shape, size_of::<T>()))?;
        Ok(self)
    }

    fn row(rows: &ArrayD<T>, index: usize) -> Result<Self> {
        rows.index_axis(Axis(0), index).to_owned().into_dimensionality().map_err(shape_error)
    }
}

impl<T: FromElement> FromElements for Vec<T> {
    type Rows = ArrayD<T>;

    fn check(data_type: &DataType) -> Result<()> {
        T::check(data_type)
    }

    fn read_from(source: &Source<'_>) -> Result<Self> {
        source.to_vec()
    }

    fn row(rows: &ArrayD<T>, index: usize) -> Result<Self> {
        Ok(rows.index_axis(Axis(0), index).iter().cloned().collect())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
fn shape_error(error: ndarray::ShapeError) -> Error {
    Error::argument(error.to_string())
}
