//! Conversions to items and to selections.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo};

use ndarray::{ArrayBase, Data, Dimension, NewAxis};

use super::arrays::saturated;
use super::{ArrayItem, DimSelection, IndexArray, IntoSelection, Mask, Selection};

impl IntoSelection for Selection {
    fn into_selection(self) -> Selection {
        self
    }
}

impl IntoSelection for &Selection {
    fn into_selection(self) -> Selection {
        self.clone()
    }
}

/// Selects all elements, including the element of a zero-dimensional array.
impl IntoSelection for RangeFull {
    fn into_selection(self) -> Selection {
        Selection::all()
    }
}

impl IntoSelection for Vec<DimSelection> {
    fn into_selection(self) -> Selection {
        self.into_iter().collect()
    }
}

impl<const N: usize> IntoSelection for [DimSelection; N] {
    fn into_selection(self) -> Selection {
        self.into_iter().collect()
    }
}

/// A single item is a selection.
macro_rules! items_alone {
    ($([$($generics:tt)*] $T:ty),+ $(,)?) => {$(
        impl<$($generics)*> IntoSelection for $T {
            fn into_selection(self) -> Selection {
                Selection::new([self])
            }
        }
    )+};
}

items_alone!([] DimSelection, [] IndexArray, [] &IndexArray, [] Mask, [] &Mask, [] NewAxis);

macro_rules! tuples {
    ($($T:ident)+) => {
        impl<$($T: Into<DimSelection>),+> IntoSelection for ($($T,)+) {
            fn into_selection(self) -> Selection {
                #[expect(non_snake_case, reason = "the values are named after their types")]
                let ($($T,)+) = self;
                Selection::from_iter([$($T.into()),+])
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);

/// A box, with a range for each dimension.
macro_rules! boxes {
    ($T:ty; $([$($generics:tt)*] $Ranges:ty),+) => {$(
        impl<$($generics)*> IntoSelection for $Ranges {
            fn into_selection(self) -> Selection {
                self.iter().cloned().map(DimSelection::from).collect()
            }
        }
    )+};
}

macro_rules! from_integers {
    ($($T:ty),+) => {$(
        impl From<$T> for DimSelection {
            fn from(index: $T) -> Self {
                Self::Index(saturated(index))
            }
        }

        impl From<Range<$T>> for DimSelection {
            fn from(range: Range<$T>) -> Self {
                let (start, stop) = (Some(saturated(range.start)), Some(saturated(range.end)));
                Self::Slice { start, stop, step: 1 }
            }
        }

        impl From<RangeInclusive<$T>> for DimSelection {
            fn from(range: RangeInclusive<$T>) -> Self {
                // An inclusive end of -1 is the last position, so the exclusive stop is the end of the dimension.
                let stop = Some(saturated(*range.end()).saturating_add(1)).filter(|&stop| stop != 0);
                Self::Slice { start: Some(saturated(*range.start())), stop, step: 1 }
            }
        }

        impl From<RangeFrom<$T>> for DimSelection {
            fn from(range: RangeFrom<$T>) -> Self {
                Self::Slice { start: Some(saturated(range.start)), stop: None, step: 1 }
            }
        }

        impl From<RangeTo<$T>> for DimSelection {
            fn from(range: RangeTo<$T>) -> Self {
                Self::Slice { start: None, stop: Some(saturated(range.end)), step: 1 }
            }
        }

        items_alone!([] $T, [] Range<$T>, [] RangeInclusive<$T>, [] RangeFrom<$T>, [] RangeTo<$T>);
        boxes!($T; [] Vec<Range<$T>>, [] &Vec<Range<$T>>, [] &[Range<$T>]);
        boxes!($T; [const N: usize] [Range<$T>; N], [const N: usize] &[Range<$T>; N]);
    )+};
}

from_integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl From<RangeFull> for DimSelection {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

impl From<NewAxis> for DimSelection {
    fn from(_: NewAxis) -> Self {
        Self::NewAxis
    }
}

impl From<IndexArray> for DimSelection {
    fn from(array: IndexArray) -> Self {
        Self::Integers(array)
    }
}

impl From<&IndexArray> for DimSelection {
    fn from(array: &IndexArray) -> Self {
        Self::Integers(array.clone())
    }
}

impl From<Mask> for DimSelection {
    fn from(mask: Mask) -> Self {
        Self::Booleans(mask)
    }
}

impl From<&Mask> for DimSelection {
    fn from(mask: &Mask) -> Self {
        Self::Booleans(mask.clone())
    }
}

impl From<&Mask> for Mask {
    fn from(mask: &Mask) -> Self {
        mask.clone()
    }
}

impl From<&IndexArray> for IndexArray {
    fn from(array: &IndexArray) -> Self {
        array.clone()
    }
}

/// A source of values for an array: the shape of the array, and its values in row-major order.
trait Values<T> {
    fn into_values(self) -> (Vec<usize>, Vec<T>);
}

impl<T> Values<T> for Vec<T> {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        (vec![self.len()], self)
    }
}

impl<T: Copy> Values<T> for &Vec<T> {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        self.clone().into_values()
    }
}

impl<T: Copy> Values<T> for &[T] {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        self.to_vec().into_values()
    }
}

impl<T: Copy, const N: usize> Values<T> for [T; N] {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        self.to_vec().into_values()
    }
}

impl<T: Copy, const N: usize> Values<T> for &[T; N] {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        self.to_vec().into_values()
    }
}

impl<T: Copy, const M: usize, const N: usize> Values<T> for [[T; M]; N] {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        (vec![N, M], self.concat())
    }
}

impl<T: Copy, S: Data<Elem = T>, D: Dimension> Values<T> for &ArrayBase<S, D> {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        let values = self.as_slice().map_or_else(|| self.iter().copied().collect(), <[T]>::to_vec);
        (self.shape().to_vec(), values)
    }
}

impl<T: Copy, S: Data<Elem = T>, D: Dimension> Values<T> for ArrayBase<S, D> {
    fn into_values(self) -> (Vec<usize>, Vec<T>) {
        (&self).into_values()
    }
}

macro_rules! from_arrays {
    ($([$($generics:tt)*] $T:ty),+ $(,)?) => {$(
        impl<T: ArrayItem<Array: Into<DimSelection>>, $($generics)*> From<$T> for DimSelection {
            fn from(array: $T) -> Self {
                let (shape, values) = array.into_values();
                T::array(shape, values).into()
            }
        }

        impl<T: ArrayItem<Array = IndexArray>, $($generics)*> From<$T> for IndexArray {
            fn from(array: $T) -> Self {
                let (shape, values) = array.into_values();
                T::array(shape, values)
            }
        }

        impl<T: ArrayItem<Array = Mask>, $($generics)*> From<$T> for Mask {
            fn from(array: $T) -> Self {
                let (shape, values) = array.into_values();
                T::array(shape, values)
            }
        }

        items_alone!([T: ArrayItem<Array: Into<DimSelection>>, $($generics)*] $T);
    )+};
}

from_arrays!(
    [] Vec<T>,
    [] &Vec<T>,
    [] &[T],
    [const N: usize] [T; N],
    [const N: usize] &[T; N],
    [const M: usize, const N: usize] [[T; M]; N],
    [S: Data<Elem = T>, D: Dimension] ArrayBase<S, D>,
    [S: Data<Elem = T>, D: Dimension] &ArrayBase<S, D>,
);
