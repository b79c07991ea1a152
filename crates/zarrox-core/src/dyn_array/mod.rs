//! Arrays in memory whose element type is known only at run time.

mod from_json;
mod to_json;

use std::sync::Arc;

use crate::data_type::ByteOrder;
use crate::data_type::{Casting, Storage};
use crate::elements::{self, Decode, Elements, InPlace, Source, Target, reserved};
use crate::registry::CORE;
use crate::strided::{Dims, Span, View, ViewMut, VlenBuffer};
use crate::{DataType, Error, ErrorKind, FromElement, FromElements, IntoElements, Order, Registry, Result};

/// Elements in memory, in row-major order and native byte order: a data type, a shape, and the bytes.
#[derive(Debug, Clone)]
pub struct DynArray {
    data_type: DataType,
    shape: Vec<usize>,
    /// The bytes of the elements; for variable-length elements, their references.
    bytes: Vec<u8>,
    /// The bytes of variable-length elements.
    vlen: Arc<VlenBuffer>,
}

impl PartialEq for DynArray {
    fn eq(&self, other: &Self) -> bool {
        let same = self.data_type == other.data_type && self.shape == other.shape;
        same && self.elements().eq(other.elements())
    }
}

impl DynArray {
    /// Creates an array from bytes.
    ///
    /// # Errors
    /// When the number of bytes does not match the shape and the data type, or the elements have variable length.
    pub fn new(data_type: DataType, shape: Vec<usize>, bytes: Vec<u8>) -> Result<Self> {
        if data_type.storage() == Storage::Variable {
            let message = format!(
                "elements of {data_type} have no fixed length: create the array from elements instead of bytes"
            );
            return Err(Error::argument(message));
        }
        let size = shape.iter().try_fold(data_type.size(), |size, &n| size.checked_mul(n));
        if size != Some(bytes.len()) {
            return Err(Error::argument(format!(
                "{} bytes are not an array of shape {shape:?} of {data_type}",
                bytes.len()
            )));
        }
        let mut array = Self { data_type, shape, bytes, vlen: Arc::default() };
        array.data_type.clone().normalise(&mut array.view_mut());
        Ok(array)
    }

    /// Creates an array from elements of fixed or variable length, in row-major order.
    ///
    /// # Errors
    /// When the number of elements does not match the shape, or the size of an element does not match the data type.
    pub fn from_elements<E: AsRef<[u8]>>(
        data_type: DataType,
        shape: Vec<usize>,
        elements: impl IntoIterator<Item = E>,
    ) -> Result<Self> {
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        for element in elements {
            bytes.extend_from_slice(element.as_ref());
            lengths.push(element.as_ref().len());
        }
        if data_type.storage() != Storage::Variable {
            if let Some(length) = lengths.iter().find(|&&length| length != data_type.size()) {
                return Err(Error::argument(format!("{length} bytes are not one element of {data_type}")));
            }
            return Self::new(data_type, shape, bytes);
        }
        let mut array = Self::empty(data_type, shape)?;
        array.view_mut().set_elements(bytes, lengths)?;
        Ok(array)
    }

    /// Creates an array of a data type from the values that `Array::write` accepts: arrays, slices, single values.
    ///
    /// ```
    /// # use zarrox_core::{DataType, DynArray};
    /// let counts = DataType::vlen_array(DataType::Int32)?;
    /// let ragged = DynArray::from_values(counts, [vec![1, 2, 3], vec![]])?;
    /// assert_eq!(ragged.to::<Vec<Vec<i32>>>()?[0], [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the values are not elements of the data type, [`ErrorKind::InvalidArgument`] when a
    /// value is outside its range.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass values and references alike")]
    pub fn from_values(data_type: DataType, values: impl IntoElements) -> Result<Self> {
        let elements = values.elements(&Target { data_type: &data_type, registry: &CORE })?;
        let view = elements.view();
        data_type.check_range(&view)?;
        let mut array = Self::empty(data_type, view.shape().to_vec())?;
        array.view_mut().copy_from(&view, 1);
        array.data_type.clone().normalise(&mut array.view_mut());
        Ok(array)
    }

    /// Allocates memory for an array, filled with zeros.
    #[doc(hidden)]
    pub fn empty(data_type: DataType, shape: Vec<usize>) -> Result<Self> {
        let size = shape.iter().try_fold(data_type.size(), |size, &n| size.checked_mul(n));
        let size = size.ok_or_else(elements::too_many)?;
        let bytes = InPlace::<u8>::new().zeroed(size)?;
        Ok(Self { data_type, shape, bytes, vlen: Arc::default() })
    }

    /// Returns the bytes of each element, in row-major order.
    pub fn elements(&self) -> impl Iterator<Item = &[u8]> {
        let variable = self.data_type.storage() == Storage::Variable;
        let items = self.bytes.chunks_exact(self.data_type.size());
        items.map(move |item| if variable { self.vlen.element(item) } else { item })
    }

    /// Returns one field of structured elements as an array. If the field is itself an array, its dimensions are added at the
    /// end.
    ///
    /// # Errors
    /// When the field is unknown.
    pub fn field(&self, name: &str) -> Result<Self> {
        let structure =
            self.data_type.fields().ok_or_else(|| Error::argument("the elements have no fields"))?;
        let field = structure.field(name).ok_or_else(|| structure.no_field(name))?;
        let mut bytes = reserved(self.shape.iter().product::<usize>() * field.size())?;
        self.view().field(field.offset, field.size()).append_to(&mut bytes, 1);
        let shape = self.shape.iter().chain(&field.shape).copied().collect();
        Self::new(field.data_type, shape, bytes)
    }

    /// Creates an array from bytes of another program, in either byte order and either memory order.
    ///
    /// # Errors
    /// The errors of [`DynArray::new`].
    #[doc(hidden)]
    pub fn from_foreign(
        data_type: DataType,
        shape: Vec<usize>,
        bytes: Vec<u8>,
        endian: &ByteOrder,
        order: Order,
    ) -> Result<Self> {
        let swapped = endian.swapped(&data_type.storage());
        let in_place = order == Order::RowMajor || shape.len() < 2;
        let backwards: Vec<usize> = (0..shape.len()).rev().collect();
        let mut foreign =
            Self::new(data_type, if in_place { shape } else { permuted(&shape, &backwards) }, bytes)?;
        for leaf in swapped {
            foreign.view_mut().into_field(leaf.offset, leaf.size).reverse_words(leaf.word);
        }
        if in_place {
            return Ok(foreign);
        }
        let view = foreign.view().permuted(&backwards);
        let mut bytes = reserved(foreign.bytes.len())?;
        view.append_to(&mut bytes, 1);
        Self::new(foreign.data_type.clone(), view.shape().to_vec(), bytes)
    }

    /// Returns the data type.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Returns the shape, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the bytes of all elements, in row-major order. For variable-length elements, use [`DynArray::elements`] instead:
    /// the bytes here are internal references.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of all elements. See [`DynArray::as_bytes`].
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Copies the elements to a type that `Array::read` can return, such as `ArrayD<f32>` or `Vec<String>`.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the elements have another type. An element that the Rust type cannot represent is
    /// also an error, such as bytes that are not UTF-8 if the type is `String`.
    pub fn to<A: FromElements>(&self) -> Result<A> {
        let read = |mut out: ViewMut<'_>| {
            out.copy_from(&self.view(), 1);
            Ok(())
        };
        A::read_from(&Source {
            shape: self.shape.as_slice().into(),
            data_type: &self.data_type,
            read: &read,
            memory: Some(self.view()),
        })
    }

    /// Casts the elements to another data type: numbers to other numbers, structures field by field.
    ///
    /// ```
    /// use zarrox_core::data_type::Casting;
    /// use zarrox_core::{DataType, DynArray, Registry};
    /// let known = Registry::new();
    /// let array = DynArray::from_values(DataType::Float64, &ndarray::arr1(&[1.0, 2.5]))?;
    /// let halves = array.cast(&DataType::parse("bfloat16", &known)?, Casting::Exact, &known)?;
    /// assert_eq!(halves.cast(&DataType::Float64, Casting::Exact, &known)?, array);
    /// let error = array.cast(&DataType::Int8, Casting::Exact, &known).unwrap_err();
    /// assert_eq!(error.to_string(), "element [1]: 2.5 of float64 cannot be represented as int8");
    /// assert_eq!(array.cast(&DataType::Int8, Casting::Lossy, &known)?.as_bytes(), [1, 2]);
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the types cannot be cast. [`ErrorKind::InvalidArgument`] when the data type cannot
    /// represent an element or, with [`Casting::Exact`], cannot represent its exact value.
    pub fn cast(&self, data_type: &DataType, casting: Casting, registry: &Registry) -> Result<Self> {
        if *data_type == self.data_type {
            return Ok(self.clone());
        }
        let cast = registry.cast(&self.data_type, data_type, casting)?;
        let mut array = Self::empty(data_type.clone(), self.shape.clone())?;
        if let Some(cast) = cast.number_cast() {
            cast.cast(&self.bytes, &mut array.bytes);
            return Ok(array);
        }
        let into = array.bytes.chunks_exact_mut(data_type.size());
        for (index, (from, to)) in self.elements().zip(into).enumerate() {
            cast.element(from, to).map_err(|error| error.at(self.place(index)))?;
        }
        Ok(array)
    }

    /// Creates a one-dimensional array of the elements of a data type that are nearest to the given numbers. Numbers that the
    /// type cannot represent are omitted.
    ///
    /// ```
    /// use zarrox_core::{DataType, DynArray, Registry};
    /// let numbers = DynArray::nearest(&DataType::Int8, &[-9.0, 0.5, 1e20], &Registry::new())?;
    /// assert_eq!(numbers.as_bytes(), [247]);
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the type is not numeric.
    #[doc(hidden)]
    pub fn nearest(data_type: &DataType, numbers: &[f64], registry: &Registry) -> Result<Self> {
        registry.cast(&DataType::Float64, data_type, Casting::Lossy)?;
        let is_float = matches!(data_type.storage(), Storage::Float(_));
        let nearest = |number: &f64| {
            let one = Self::new(DataType::Float64, vec![1], number.to_ne_bytes().to_vec()).ok()?;
            let own = one.cast(data_type, Casting::Lossy, registry).ok()?;
            let back = own.cast(&DataType::Float64, Casting::Lossy, registry).ok()?;
            let is_near = is_float && f64::from_ne_bytes(back.as_bytes().try_into().ok()?).is_finite();
            (is_near || back == one).then(|| own.into_bytes())
        };
        let elements: Vec<Vec<u8>> = numbers.iter().filter_map(nearest).collect();
        Self::from_elements(data_type.clone(), vec![elements.len()], elements)
    }

    /// Returns a copy without padding between the fields of structures.
    ///
    /// # Errors
    /// Never for a valid array.
    #[doc(hidden)]
    pub fn packed(&self) -> Result<Self> {
        let data_type = self.data_type.packed();
        if data_type == self.data_type {
            return Ok(self.clone());
        }
        let mut bytes = reserved(self.bytes.len())?;
        self.elements().for_each(|element| self.data_type.pack(element, &mut bytes));
        Self::new(data_type, self.shape.clone(), bytes)
    }

    /// Copies the elements at one position along the first dimension, and drops that dimension. Panics if the position is out of
    /// bounds.
    pub(super) fn row(&self, position: usize) -> Result<Self> {
        let one = Span { start: position, step: 1, count: 1 };
        let spans: Dims<Span> =
            [one].into_iter().chain(self.shape[1..].iter().copied().map(Span::all)).collect();
        let mut row = Self::empty(self.data_type.clone(), self.shape[1..].to_vec())?;
        row.view_mut().copy_from(&self.view().region(&spans).without_axis(0), 1);
        Ok(row)
    }

    /// Formats the index of the n-th element in row-major order.
    pub(super) fn place(&self, index: usize) -> String {
        elements::place(&self.shape, index)
    }

    /// Returns a view of the elements, for code that works with strided memory.
    pub fn view(&self) -> View<'_> {
        let view = View::contiguous(&self.bytes, &self.shape, self.data_type.size());
        if self.data_type.storage() == Storage::Variable { view.with_vlen(&self.vlen) } else { view }
    }

    #[doc(hidden)]
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        let view = ViewMut::contiguous(&mut self.bytes, &self.shape, self.data_type.size());
        if self.data_type.storage() == Storage::Variable { view.with_vlen(&self.vlen) } else { view }
    }
}

fn permuted(shape: &[usize], order: &[usize]) -> Vec<usize> {
    order.iter().map(|&axis| shape[axis]).collect()
}

impl FromElements for DynArray {
    type Rows = Self;

    fn check(_: &DataType) -> Result<()> {
        Ok(())
    }

    fn read_from(source: &Source<'_>) -> Result<Self> {
        let mut elements = Self::empty(source.data_type.clone(), source.shape.to_vec())?;
        (source.read)(elements.view_mut())?;
        Ok(elements)
    }

    fn read_again(mut self, source: &Source<'_>) -> Result<Self> {
        let is_alike = self.shape == source.shape.as_slice() && self.data_type == *source.data_type;
        if !is_alike || self.data_type.storage() == Storage::Variable {
            return Self::read_from(source);
        }
        (source.read)(self.view_mut())?;
        Ok(self)
    }

    fn row(rows: &Self, index: usize) -> Result<Self> {
        rows.row(index)
    }
}

/// One element of any data type, as a zero-dimensional array.
impl FromElement for DynArray {
    fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
        let data_type = data_type.clone();
        Ok(Box::new(move |element| Self::from_elements(data_type.clone(), Vec::new(), [element])))
    }

    fn check(_: &DataType) -> Result<()> {
        Ok(())
    }
}

impl DynArray {
    fn as_elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        if takes(target.data_type, &self.data_type) {
            return Ok(Elements::of_view(self.view()));
        }
        let message = format!("the elements are {}, not {}", target.data_type, self.data_type);
        Err(Error::new(ErrorKind::DataTypeMismatch, message))
    }
}

impl IntoElements for DynArray {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        self.as_elements(target)
    }
}

impl IntoElements for &DynArray {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        self.as_elements(target)
    }
}

/// Returns true if elements of one type may be written as elements of another. Both types must have the same storage. Two
/// different extension types are rejected, because they interpret the same bits differently, and so are structures with
/// different fields.
fn takes(own: &DataType, given: &DataType) -> bool {
    let both = matches!((own, given), (DataType::Extension(_), DataType::Extension(_)));
    let names = |data_type: &DataType| -> Option<Vec<String>> {
        Some(data_type.fields()?.fields().iter().map(|field| field.name.clone()).collect())
    };
    own == given || (own.storage() == given.storage() && !both && names(own) == names(given))
}

#[cfg(test)]
mod tests {
    use crate::data_type::Endian;
    use crate::internals::data_type::VARIABLE_TEXT;

    use super::*;

    #[test]
    fn typed_arrays_become_what_they_can_be() {
        let known = Registry::new();
        let nibble = DataType::parse("int4", &known).unwrap();
        let columns = ndarray::arr2(&[[1_i8, 2], [3, 4]]).reversed_axes();
        let array = DynArray::from_values(nibble.clone(), &columns).unwrap();
        assert_eq!((array.as_bytes(), array.shape()), (&[1, 3, 2, 4][..], &[2, 2][..]));
        let beyond = DynArray::from_values(nibble.clone(), ndarray::arr0(8_i8)).unwrap_err();
        assert_eq!(beyond.kind(), ErrorKind::InvalidArgument);
        let other = DynArray::from_values(nibble, ndarray::arr0(8_u8)).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::DataTypeMismatch);
        let wide = array.cast(&DataType::Float64, Casting::Exact, &known).unwrap();
        assert_eq!(wide.to::<ndarray::ArrayD<f64>>().unwrap(), columns.mapv(f64::from).into_dyn());
        let error = wide.cast(&DataType::Bool, Casting::Exact, &known).unwrap_err();
        assert_eq!(error.to_string(), "element [0, 1]: 3.0 of float64 cannot be represented as bool");
        let text = DataType::parse(VARIABLE_TEXT, &known).unwrap();
        let words = DynArray::from_elements(text.clone(), vec![1], ["né"]).unwrap();
        assert_eq!(words.cast(&text, Casting::Exact, &known).unwrap(), words);
        assert_eq!(
            words.cast(&DataType::Int8, Casting::Lossy, &known).unwrap_err().kind(),
            ErrorKind::Unsupported
        );
    }

    #[test]
    fn foreign_bytes_are_brought_into_our_order() {
        let foreign = |bytes: Vec<u8>, endian, order| {
            DynArray::from_foreign(DataType::Int16, vec![2, 3], bytes, &ByteOrder::One(endian), order)
        };
        let values: [i16; 6] = [1, 2, 3, 4, 5, 600];
        let little: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
        let columns: Vec<u8> = [1_i16, 4, 2, 5, 3, 600].iter().flat_map(|v| v.to_be_bytes()).collect();
        let wanted = ndarray::arr2(&[[1_i16, 2, 3], [4, 5, 600]]).into_dyn();
        for (bytes, endian, order) in [
            (little, Endian::Little, Order::RowMajor),
            (big, Endian::Big, Order::RowMajor),
            (columns, Endian::Big, Order::ColumnMajor),
        ] {
            assert_eq!(foreign(bytes, endian, order).unwrap().to::<ndarray::ArrayD<i16>>().unwrap(), wanted);
        }
        let error = foreign(vec![0; 11], Endian::Big, Order::ColumnMajor).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("11 bytes are not an array"), "{error}");
    }
}
