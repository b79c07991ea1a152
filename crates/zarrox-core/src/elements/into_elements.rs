//! The arguments of writes.

use ndarray::{ArrayBase, Data, Dimension};

use super::list::item_type;
use super::{InPlace, ToElement, place};
use crate::Registry;
use crate::data_type::{DataType, Storage};
use crate::error::Result;
use crate::strided::{Dims, View, ViewMut};
use crate::vlen::VlenBuffer;

/// The destination of elements that are written.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The data type of the array or the field.
    pub data_type: &'a DataType,
    /// The registry that contains the data types to which single numbers are converted.
    pub registry: &'a Registry,
}

/// Values as elements of the target's data type.
#[derive(Debug)]
pub struct Elements<'a> {
    memory: Memory<'a>,
    /// True if the values are a list, which may be written to any shape in row-major order.
    is_list: bool,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would need an allocation for each write")]
enum Memory<'a> {
    View(View<'a>),
    Owned { bytes: Vec<u8>, vlen: VlenBuffer, shape: Dims<usize>, item: usize },
}

impl<'a> Elements<'a> {
    /// Creates elements from memory with the layout of the target's data type.
    pub fn of_view(view: View<'a>) -> Self {
        Self { memory: Memory::View(view), is_list: false }
    }

    /// Creates one fixed-size element.
    pub fn of_element(bytes: Vec<u8>) -> Self {
        let item = bytes.len();
        Self::of_bytes(bytes, &[], item)
    }

    /// Creates fixed-size elements, in row-major order.
    pub(super) fn of_bytes(bytes: Vec<u8>, shape: &[usize], item: usize) -> Self {
        let memory = Memory::Owned { bytes, vlen: VlenBuffer::new(), shape: shape.into(), item };
        Self { memory, is_list: false }
    }

    /// Encodes values, which are listed in row-major order.
    pub(super) fn encoded<'v, T: ToElement + 'v>(
        values: impl Iterator<Item = &'v T>,
        shape: &[usize],
        data_type: &DataType,
    ) -> Result<Self> {
        let encode = T::encoder(data_type)?;
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        for (index, value) in values.enumerate() {
            let start = bytes.len();
            encode(value, &mut bytes).map_err(|error| error.at(place(shape, index)))?;
            lengths.push(bytes.len() - start);
        }
        let item = data_type.size();
        if data_type.storage() != Storage::Variable {
            return Ok(Self::of_bytes(bytes, shape, item));
        }
        Self::of_pieces(bytes, lengths, shape, item)
    }

    /// Creates variable-length elements, whose bytes are concatenated in row-major order.
    fn of_pieces(bytes: Vec<u8>, lengths: Vec<usize>, shape: &[usize], item: usize) -> Result<Self> {
        let (mut references, vlen) = (vec![0; lengths.len() * item], VlenBuffer::new());
        ViewMut::contiguous(&mut references, shape, item).with_vlen(&vlen).set_elements(bytes, lengths)?;
        let memory = Memory::Owned { bytes: references, vlen, shape: shape.into(), item };
        Ok(Self { memory, is_list: false })
    }

    /// Returns the elements in their own shape.
    pub fn view(&self) -> View<'_> {
        match &self.memory {
            Memory::View(view) => view.clone(),
            Memory::Owned { bytes, vlen, shape, item } => {
                View::contiguous(bytes, shape, *item).with_vlen(vlen)
            }
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.view().shape().iter().product()
    }

    /// Returns true if the values contain no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements in another shape, if NumPy would broadcast them to it, or if they are a list with the same number of
    /// elements.
    pub fn broadcast(&self, shape: &[usize]) -> Option<View<'_>> {
        let view = self.view();
        let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        if self.is_list && count == view.shape().first().copied() {
            return view.reshaped(shape);
        }
        view.broadcast_like_numpy(shape)
    }

    /// Combines the elements along the last dimensions, whose shape must be `inner`, into single elements.
    pub fn grouped(self, inner: &[usize]) -> Option<Self> {
        if inner.is_empty() {
            return Some(self);
        }
        let (view, is_list) = (self.view(), self.is_list);
        let outer = view.shape().strip_suffix(inner)?;
        let mut bytes = Vec::new();
        view.append_to(&mut bytes, 1);
        let item = inner.iter().product::<usize>() * view.item();
        Some(Self { is_list, ..Self::of_bytes(bytes, outer, item) })
    }
}

/// Values that can be written to an array.
///
/// | type | |
/// |---|---|
/// | `&ArrayBase`, `ArrayBase` | arrays and views of `ndarray`, of any layout, which are broadcast as in NumPy |
/// | `&[T]`, `Vec<T>`, `[T; N]` and references to them | the elements in row-major order, or one dimension that is broadcast |
/// | the same, of `u8` or another number | one element: a byte string, or a variable-length array |
/// | numbers, `bool`, `&str`, `String`, structs with `#[derive(Element)]` | one value for all elements |
/// | `&DynArray` | elements whose type is known only at run time |
///
/// `T` is a [`ToElement`]. A single number may have another type, if the data type can represent its value: `0` can be written to
/// an array of floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written to an array",
    note = "pass an array of `ndarray` or a reference to it, a slice or `Vec`, one value, or a `&DynArray`; nested arrays by `arr2`"
)]
pub trait IntoElements {
    /// Returns the values as elements of the target.
    #[doc(hidden)]
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>>;
}

fn of_array<'a, T: ToElement, S: Data<Elem = T>, D: Dimension>(
    values: &'a ArrayBase<S, D>,
    target: &Target<'_>,
) -> Result<Elements<'a>> {
    match T::in_place() {
        Some(in_place) => {
            T::check(target.data_type)?;
            Ok(Elements::of_view(in_place.view(values)))
        }
        None => Elements::encoded(values.iter(), values.shape(), target.data_type),
    }
}

fn of_list<'a, T: ToElement>(values: &'a [T], target: &Target<'_>) -> Result<Elements<'a>> {
    let elements = match T::in_place() {
        Some(in_place) => match T::check(target.data_type) {
            Ok(()) => {
                Elements::of_view(View::contiguous(in_place.bytes(values), &[values.len()], size_of::<T>()))
            }
            Err(error) => return of_parts(in_place, values, target.data_type)?.ok_or(error),
        },
        None => Elements::encoded(values.iter(), &[values.len()], target.data_type)?,
    };
    Ok(Elements { is_list: true, ..elements })
}

/// Returns one element, if these values are its parts: its bytes, its code points, or the items of a variable-length element.
fn of_parts<'a, T: ToElement>(
    in_place: InPlace<T>,
    values: &'a [T],
    data_type: &DataType,
) -> Result<Option<Elements<'a>>> {
    let memory = in_place.bytes(values);
    match data_type.storage() {
        Storage::Raw(size) | Storage::Utf32(size) if size == memory.len() => {
            Ok(Some(Elements::of_view(View::contiguous(memory, &[], size))))
        }
        Storage::Variable => {
            let Some(item) = item_type(data_type).filter(|item| T::check(item).is_ok()) else {
                return Ok(None);
            };
            item.check_range(&View::contiguous(memory, &[values.len()], size_of::<T>()))?;
            Elements::of_pieces(memory.to_vec(), vec![memory.len()], &[], data_type.size()).map(Some)
        }
        _ => Ok(None),
    }
}

macro_rules! arrays {
    ($($A:ty),+) => {$(
        impl<T: ToElement, S: Data<Elem = T>, D: Dimension> IntoElements for $A {
            fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
                of_array(self, target)
            }
        }
    )+};
}

arrays!(ArrayBase<S, D>, &ArrayBase<S, D>);

macro_rules! lists {
    ($($A:ty),+) => {$(
        impl<T: ToElement> IntoElements for $A {
            fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
                of_list(self, target)
            }
        }
    )+};
}

lists!(&[T], Vec<T>, &Vec<T>);

impl<T: ToElement, const N: usize> IntoElements for [T; N] {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        of_list(self, target)
    }
}

impl<T: ToElement, const N: usize> IntoElements for &[T; N] {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        of_list(*self, target)
    }
}
