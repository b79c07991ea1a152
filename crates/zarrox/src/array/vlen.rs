//! Elements of variable length as Rust values: text, bytes, arrays of numbers, Python objects.

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn, RawData};
use zarrox_core::{DataType, Error, ErrorKind, Result};

use super::ndarrays::without_leading_ones;
use super::view::ArrayView;
use super::vlen_element::VlenElement;
use super::{Array, DynArray};
use crate::error::argument;

fn check<T: VlenElement>(data_type: &DataType) -> Result<()> {
    if T::holds(data_type) {
        return Ok(());
    }
    let message = format!("the elements are {data_type}, not {}", T::name());
    Err(Error::new(ErrorKind::DataTypeMismatch, message))
}

impl DynArray {
    /// A copy of elements of variable length as Rust values.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// let counts = DataType::vlen_array(&DataType::Int32)?;
    /// let ragged = DynArray::from_vlen(counts, &ndarray::arr1(&[vec![1, 2, 3], vec![]]))?;
    /// assert_eq!(ragged.to_vlen::<Vec<i32>>()?[[0]], [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the elements have another type. An element that the Rust type cannot represent is an
    /// error too, such as bytes as JSON.
    pub fn to_vlen<T: VlenElement>(&self) -> Result<ArrayD<T>> {
        check::<T>(self.data_type())?;
        let place = |index: usize| format!("element {index}");
        let values = self.elements().enumerate().map(|(i, e)| T::from_element(e).map_err(|e| e.at(place(i))));
        let values = values.collect::<Result<Vec<_>>>()?;
        ArrayD::from_shape_vec(IxDyn(self.shape()), values).map_err(|error| argument(error.to_string()))
    }

    /// Creates elements of a data type of variable length from Rust values.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the data type does not have such elements.
    pub fn from_vlen<T, S, D>(data_type: DataType, values: &ArrayBase<S, D>) -> Result<Self>
    where
        T: VlenElement,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        check::<T>(&data_type)?;
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        for value in values {
            let start = bytes.len();
            value.append_to(&mut bytes)?;
            lengths.push(bytes.len() - start);
        }
        let mut array = Self::empty(data_type, values.shape().to_vec())?;
        array.view_mut().set_elements(bytes, lengths)?;
        Ok(array)
    }
}

impl ArrayView<'_> {
    /// Reads elements of variable length as Rust values: `String`, `Vec<u8>`, `Vec` of numbers, or `Json` for
    /// Python objects.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # use zarrox::codecs::Json2;
    /// # let directory = tempfile::tempdir()?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr"))
    ///     .format(Format::V2)
    ///     .shape([3])
    ///     .data_type(DataType::object())
    ///     .filter(Json2)
    ///     .create()?;
    /// array.write_vlen(s![..2], &ndarray::arr1(&[zarrox::json::json!({"a": [1, 2]}), "text".into()]))?;
    /// let objects = array.slice(s![..;-1]).read_vlen::<zarrox::json::Json>()?;
    /// assert_eq!(objects[[2]]["a"][1], 2);
    /// assert!(objects[[0]].is_null());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`] and [`DynArray::to_vlen`].
    pub fn read_vlen<T: VlenElement>(&self) -> Result<ArrayD<T>> {
        let place = |error: Error| error.at(self.array.place());
        check::<T>(self.data_type()).map_err(place)?;
        self.read_dyn()?.to_vlen().map_err(place)
    }

    /// Writes Rust values to elements of variable length. Values are broadcast as in NumPy.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr")).shape([2, 3])
    /// #     .data_type(DataType::string()).create()?;
    /// array.slice(s![0, ..]).write_vlen(&ndarray::arr0("nothing".to_owned()))?;
    /// assert_eq!(array.read_vlen::<String>(s![.., 1])?.into_raw_vec_and_offset().0, ["nothing", ""]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`ArrayView::write`].
    pub fn write_vlen<T, S, D>(&self, values: &ArrayBase<S, D>) -> Result<()>
    where
        T: VlenElement,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        let array = self.array;
        let resolved = self.resolved()?;
        let shape = Array::lengths(&resolved.shape())?;
        let fitting = without_leading_ones(values, shape.len());
        if fitting.broadcast(IxDyn(&shape)).is_none() {
            return Err(array.shape_mismatch(&shape, values.shape()));
        }
        let elements = DynArray::from_vlen(self.data_type().clone(), &fitting);
        let elements = elements.map_err(|error| error.at(array.place()))?;
        let fitting = elements.broadcast(&shape, &[]);
        let fitting = fitting.ok_or_else(|| array.shape_mismatch(&shape, values.shape()))?;
        array.write_resolved(resolved, self.data_type(), fitting, None)
    }
}
