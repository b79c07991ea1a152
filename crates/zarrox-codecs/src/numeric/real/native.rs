//! Numbers that the machine has, in slices of bytes.

use multiversion::multiversion;

/// A number that the machine has.
pub(crate) trait Native: Copy + PartialEq + 'static {
    /// The bytes of one.
    type Bytes;

    /// The numbers of a slice.
    fn read(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self>;

    /// The places of numbers in a slice.
    fn places(bytes: &mut [u8]) -> impl ExactSizeIterator<Item = &mut Self::Bytes>;

    /// Writes the number.
    fn write(self, place: &mut Self::Bytes);

    /// The number of these bits; of fewer than 64, the lowest.
    fn from_pattern(pattern: u64) -> Self;
}

macro_rules! native {
    ($($T:ty as $Bits:ty, $from:expr;)*) => {$(
        impl Native for $T {
            type Bytes = [u8; size_of::<$T>()];

            #[inline(always)]
            fn read(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> {
                let (numbers, _) = bytes.as_chunks::<{ size_of::<$T>() }>();
                numbers.iter().map(|bytes| <$T>::from_ne_bytes(*bytes))
            }

            #[inline(always)]
            fn places(bytes: &mut [u8]) -> impl ExactSizeIterator<Item = &mut Self::Bytes> {
                bytes.as_chunks_mut::<{ size_of::<$T>() }>().0.iter_mut()
            }

            #[inline(always)]
            fn write(self, place: &mut Self::Bytes) {
                *place = self.to_ne_bytes();
            }

            #[expect(clippy::allow_attributes, reason = "not all types lose bits")]
            #[allow(clippy::cast_possible_truncation, reason = "the lowest bits are wanted")]
            fn from_pattern(pattern: u64) -> Self {
                $from(pattern as $Bits)
            }
        }
    )*};
}

native! {
    u8 as u8, std::convert::identity;
    u16 as u16, std::convert::identity;
    u32 as u32, std::convert::identity;
    u64 as u64, std::convert::identity;
    i8 as u8, u8::cast_signed;
    i16 as u16, u16::cast_signed;
    i32 as u32, u32::cast_signed;
    i64 as u64, u64::cast_signed;
    f32 as u32, f32::from_bits;
    f64 as u64, f64::from_bits;
}

/// Makes a number of each other one, and marks those for which it is not what is wanted.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn for_each<S: Native, T: Native>(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    make: impl Fn(S) -> (T, bool),
) {
    let mut all_good = true;
    for (number, place) in S::read(from).zip(T::places(to)) {
        let (made, good) = make(number);
        made.write(place);
        all_good &= good;
    }
    // Marks of another size than the numbers cost more than all else: only where there are any.
    if !all_good {
        S::read(from).zip(bad).for_each(|(number, bad)| *bad |= !make(number).1);
    }
}

/// Returns true if all numbers are of a kind.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn all<S: Native>(numbers: &[u8], is: impl Fn(S) -> bool) -> bool {
    let mut all = true;
    for number in S::read(numbers) {
        all &= is(number);
    }
    all
}
