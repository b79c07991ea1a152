//! NumPy's casts of many built-in numbers in one call.

use super::{Complex, DataType, Storage};
use crate::number::{BLOCK, Kernel, Plain, Policy, RealType, Rules, kernel, map};
use crate::with_storage;

/// A fast [lossy](super::Casting::Lossy) cast between types of booleans or built-in numbers.
///
/// ```
/// use zarrox_core::DataType;
/// use zarrox_core::internals::data_type::NumberCast;
/// let cast = NumberCast::between(&DataType::Int16, &DataType::UInt8).unwrap();
/// let mut bytes = [0; 2];
/// cast.cast(&[300_i16.to_ne_bytes(), (-1_i16).to_ne_bytes()].concat(), &mut bytes);
/// assert_eq!(bytes, [44, 255]);
/// assert!(NumberCast::between(&DataType::RawBits(1), &DataType::UInt8).is_none());
/// ```
#[derive(Debug, Clone)]
pub struct NumberCast {
    /// The sizes of the input and output elements, and of the input and output of the loop.
    sizes: [usize; 4],
    /// Converts elements to real numbers.
    before: Option<Pass>,
    kernel: Kernel,
    rules: Rules,
    /// Converts real numbers to elements.
    after: Option<Pass>,
    /// The only pass needed, if the loop would only copy.
    alone: Option<Pass>,
}

/// The number of elements that a loop casts at once. If one element needs the slow path, the loop uses it for all of them.
const LONG: usize = 8 * BLOCK;

type Pass = fn(&[u8], &mut [u8]);

impl NumberCast {
    /// Returns the cast between two types; `None` unless both are types of booleans or built-in numbers.
    pub fn between(from: &DataType, to: &DataType) -> Option<Self> {
        // Other types with the same in-memory layout represent other numbers, or none.
        let special = |data_type: &DataType| {
            matches!(data_type, DataType::RawBits(_) | DataType::Struct(_) | DataType::Extension(_))
        };
        if special(from) || special(to) {
            return None;
        }
        Self::new(&from.storage(), &to.storage(), Policy::Lossy)
    }

    /// Returns the cast between two layouts under one of NumPy's policies; `None` if one of them is not numeric.
    pub fn new(from: &Storage, to: &Storage, policy: Policy) -> Option<Self> {
        use Storage::{Bool, Complex};
        let before: Option<Pass> = match (from, to) {
            (Bool, _) | (_, Bool) => with_storage!(element from, T => Some(truths::<T>), else None),
            (Complex(_), Complex(_)) => None,
            (Complex(8), _) => Some(real_parts::<f32>),
            (Complex(_), _) => Some(real_parts::<f64>),
            _ => None,
        };
        let after: Option<Pass> = match (from, to) {
            (Complex(_), Complex(_)) => None,
            (_, Complex(8)) => Some(without_imaginary::<f32>),
            (_, Complex(_)) => Some(without_imaginary::<f64>),
            _ => None,
        };
        let real = |storage: &Storage| match storage {
            Bool => RealType::of_storage(&Storage::Uint(1)),
            Complex(size @ (8 | 16)) => RealType::of_storage(&Storage::Float(size / 2)),
            other => RealType::of_storage(other),
        };
        let (source, target) = (real(from)?, real(to)?);
        let source = if *to == Bool { target.clone() } else { source };
        let parts = if matches!((from, to), (Complex(_), Complex(_))) { 2 } else { 1 };
        Some(Self {
            sizes: [from.size(), parts * source.size(), parts * target.size(), to.size()],
            before,
            kernel: kernel(source.machine(), target.machine()),
            rules: Rules::new(&target, policy),
            after,
            alone: before.xor(after).filter(|_| source.machine() == target.machine()),
        })
    }

    /// Casts contiguous elements, as many as both slices hold. Returns true unless the policy is [`Policy::Checked`] and a number
    /// changes.
    pub fn cast(&self, from: &[u8], to: &mut [u8]) -> bool {
        if let Some(pass) = self.alone {
            pass(from, to);
            return true;
        }
        let [size, taken, given, into] = self.sizes;
        if self.before.is_none() && self.after.is_none() {
            let blocks = from.chunks(LONG * size).zip(to.chunks_mut(LONG * into));
            return blocks.fold(true, |all, (from, to)| all & (self.kernel)(from, to, &mut [], &self.rules));
        }
        let blocks = from.chunks(BLOCK * size).zip(to.chunks_mut(BLOCK * into));
        let (mut real, mut cast) = ([0; BLOCK * 8], [0; BLOCK * 8]);
        let mut all = true;
        for (from, to) in blocks {
            let count = from.len() / size;
            let from = match self.before {
                None => from,
                Some(before) => {
                    let real = &mut real[..count * taken];
                    before(from, real);
                    real
                }
            };
            let Some(after) = self.after else {
                all &= (self.kernel)(from, to, &mut [], &self.rules);
                continue;
            };
            let cast = &mut cast[..count * given];
            all &= (self.kernel)(from, cast, &mut [], &self.rules);
            after(cast, to);
        }
        all
    }
}

fn truths<S: Plain>(from: &[u8], to: &mut [u8]) {
    map(from, to, |number: S| u8::from(number != S::default()));
}

fn real_parts<S: Plain>(from: &[u8], to: &mut [u8])
where
    Complex<S>: Plain,
{
    map(from, to, |number: Complex<S>| number.re);
}

fn without_imaginary<T: Plain>(from: &[u8], to: &mut [u8])
where
    Complex<T>: Plain,
{
    map(from, to, |real: T| Complex { re: real, im: T::default() });
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use zarrox_testkit::codec::Random;

    use super::*;
    use crate::number::Number;
    use crate::registry::Registry;

    const TYPES: [DataType; 14] = [
        DataType::Bool,
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Complex64,
        DataType::Complex128,
    ];

    /// Returns elements of a type: special values of all types, cast to this type, and random bits.
    fn elements(data_type: &DataType) -> Vec<Vec<u8>> {
        let registry = Registry::new();
        let family = registry.family(data_type).unwrap();
        let powers = (0..64).flat_map(|power| [-1_i128, 1].map(|sign| sign << power));
        let whole = powers.flat_map(|power| [power - 1, power, power + 1]).map(Number::Integer);
        let near =
            [0.1, 0.5, 0.999, 1.5, 2.5, 127.5, 65503.9, 65520.0, 1e-8, 6e-8, 1e38, 3.5e38, 1e300, 1e-320];
        let odd = [f64::NAN, f64::INFINITY, -0.0, 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)];
        let floats = near.into_iter().chain(odd).flat_map(|float| [float, -float]);
        let floats = floats.flat_map(|float| {
            [Number::Float(float), Number::Complex(float, 2.5), Number::Complex(0.0, float)]
        });
        let mut elements: Vec<Vec<u8>> = whole
            .chain(floats)
            .map(|number| {
                let mut element = vec![0; data_type.size()];
                assert!(family.write_number(data_type, number, &mut element));
                element
            })
            .collect();
        let mut random = Random::new(7);
        if data_type.storage() != Storage::Bool {
            let mut any = || random.number().to_le_bytes()[3];
            elements.extend((0..2000).map(|_| (0..data_type.size()).map(|_| any()).collect()));
        }
        elements
    }

    #[test]
    fn many_are_cast_as_each_alone() {
        let registry = Registry::new();
        for from in &TYPES {
            let source = registry.family(from).unwrap();
            let elements = elements(from);
            let bytes = elements.concat();
            for to in &TYPES {
                let family = registry.family(to).unwrap();
                let mut all = vec![0; elements.len() * to.size()];
                NumberCast::between(from, to).unwrap().cast(&bytes, &mut all);
                let mut alone = vec![0; to.size()];
                for (element, cast) in elements.iter().zip(all.chunks_exact(to.size())) {
                    let number = source.number(from, element).unwrap();
                    assert!(family.write_number(to, number, &mut alone));
                    // The bits of a NaN may differ from the bits after a single cast, but the result remains a NaN.
                    let [cast_number, wanted] =
                        [cast, &alone].map(|element| family.number(to, element).unwrap());
                    let same = cast == alone || (cast_number.is_same(wanted) && is_nan(wanted));
                    assert!(same, "{} of {from} to {to}", source.format(from, element));
                }
            }
        }
    }

    fn is_nan(number: Number) -> bool {
        matches!(number, Number::Float(float) if float.is_nan())
            || matches!(number, Number::Complex(real, imaginary) if real.is_nan() || imaginary.is_nan())
    }

    #[test]
    fn other_types_have_no_such_cast() {
        let registry = Registry::new();
        for other in ["int4", "bfloat16", "<M8[s]", "r16", "string"] {
            let other = DataType::parse(other, &registry).unwrap();
            assert!(
                NumberCast::between(&other, &DataType::Int8).is_none()
                    && NumberCast::between(&DataType::Int8, &other).is_none()
            );
        }
    }

    /// Casts numbers and shows the results.
    fn shown<S: Plain, T: Plain>(cast: &NumberCast, numbers: &[S]) -> Vec<T> {
        let from: Vec<u8> = numbers.iter().flat_map(|number| number.put().as_ref().to_vec()).collect();
        let mut to = vec![0; numbers.len() * size_of::<T::Bytes>()];
        cast.cast(&from, &mut to);
        T::elements(&to).iter().map(|bytes| T::get(*bytes)).collect()
    }

    #[test]
    fn what_numpy_leaves_to_the_machine() {
        let numbers = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e10, -1.9, 255.9, 256.0, -0.9];
        let from_double = |to: Storage, policy| NumberCast::new(&Storage::Float(8), &to, policy).unwrap();
        let saturated = shown::<f64, u8>(&from_double(Storage::Uint(1), Policy::Lossy), &numbers);
        assert_eq!(saturated, [0, 255, 0, 255, 0, 255, 255, 0]);
        let long = from_double(Storage::Int(8), Policy::Lossy);
        assert_eq!(shown::<f64, i64>(&long, &[f64::NAN, 1e30, -1e30]), [0, i64::MAX, i64::MIN]);
        let wrapped = shown::<f64, u8>(&from_double(Storage::Uint(1), Policy::Wrapping), &numbers);
        assert_eq!(wrapped, [0, 0, 0, 0, 255, 255, 0, 0]);
    }

    fn checked(from: &Storage, to: &Storage) -> NumberCast {
        NumberCast::new(from, to, Policy::Checked).unwrap()
    }

    #[test]
    fn whole_numbers_are_checked() {
        let check = |to: Storage, number: f64| {
            let both = [Storage::Float(8), Storage::Float(4)].map(|from| checked(&from, &to));
            let mut into = [0; 8];
            let fits = both[0].cast(&number.put(), &mut into[..to.size()]);
            #[expect(clippy::cast_possible_truncation, reason = "exact, or out of the range")]
            let single = both[1].cast(&(number as f32).put(), &mut into[..to.size()]);
            assert_eq!(fits, single, "{number} to {to:?}");
            fits
        };
        for (to, least, greatest) in [
            (Storage::Int(1), -128.0, 127.0),
            (Storage::Uint(1), 0.0, 255.0),
            (Storage::Int(2), -32768.0, 32767.0),
            (Storage::Uint(2), 0.0, 65535.0),
        ] {
            assert!(check(to.clone(), least) && check(to.clone(), greatest) && check(to.clone(), -0.0));
            assert!(!check(to.clone(), least - 1.0) && !check(to.clone(), greatest + 1.0));
            assert!(!check(to.clone(), f64::NAN) && !check(to, f64::INFINITY));
        }
        for (to, beyond) in [(Storage::Int(8), 2_f64.powi(63)), (Storage::Uint(8), 2_f64.powi(64))] {
            assert!(
                !check(to.clone(), beyond) && check(to.clone(), beyond / 2.0) && !check(to, -beyond - 3e12)
            );
        }
        let integers = |number: i64, to: Storage| {
            checked(&Storage::Int(8), &to).cast(&number.put(), &mut [0; 8][..to.size()])
        };
        assert!(
            integers(-1, Storage::Int(1)) && integers(255, Storage::Uint(1)) && integers(0, Storage::Uint(8))
        );
        assert!(
            !integers(-1, Storage::Uint(8))
                && !integers(-1, Storage::Uint(1))
                && !integers(128, Storage::Int(1))
        );
        let all_bits = u64::MAX.to_ne_bytes();
        assert!(!checked(&Storage::Uint(8), &Storage::Int(4)).cast(&all_bits, &mut [0; 4]), "not -1");
        let highest = checked(&Storage::Uint(1), &Storage::Int(1));
        assert!(!highest.cast(&[128], &mut [0]) && highest.cast(&[127], &mut [0]));
    }

    /// Casts doubles and singles in several calls. Compares each result with the cast of a single number, and the reported change
    /// with the changes of the single casts.
    fn compare<T: Plain + Debug>(to: &Storage, numbers: &[f64], one: impl Fn(f64) -> (T, bool)) {
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        let singles: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
        let rounded: Vec<f64> = singles.iter().map(|number| f64::from(*number)).collect();
        for length in [1, 60, 700, 2000] {
            for (numbers, singles) in rounded.chunks(length).zip(singles.chunks(length)) {
                compare_piece(
                    &Storage::Float(4),
                    to,
                    &singles.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>(),
                    numbers,
                    &one,
                );
            }
            for numbers in numbers.chunks(length) {
                compare_piece(
                    &Storage::Float(8),
                    to,
                    &numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>(),
                    numbers,
                    &one,
                );
            }
        }
    }

    fn compare_piece<T: Plain + Debug>(
        from: &Storage,
        to: &Storage,
        memory: &[u8],
        numbers: &[f64],
        one: impl Fn(f64) -> (T, bool),
    ) {
        let mut found = vec![0xa5; numbers.len() * to.size()];
        NumberCast::new(from, to, Policy::Lossy).unwrap().cast(memory, &mut found);
        for (number, found) in numbers.iter().zip(T::elements(&found)) {
            assert_eq!(T::get(*found), one(*number).0, "{number:?} to {to:?}");
        }
        if numbers.iter().all(|number| number.fract() == 0.0) {
            let fit = numbers.iter().all(|number| one(*number).1);
            assert_eq!(checked(from, to).cast(memory, &mut found), fit, "{numbers:?} to {to:?}");
        }
    }

    macro_rules! compare_with_rust {
        ($numbers:expr, $($T:ty: $storage:expr;)*) => {$(
            #[expect(clippy::allow_attributes, reason = "some types are signed")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless, reason = "it is compared")]
            compare::<$T>(&$storage, $numbers, |number| (number as $T, number as i128 == (number as $T) as i128));
        )*};
    }

    #[test]
    fn as_rust_casts() {
        let mut random = Random::new(7);
        for limit in [1e2, 3e4, 3e9, 2e15, 4e18, 3e19] {
            #[expect(clippy::cast_precision_loss, reason = "at most two millions")]
            let mut number = || (random.below(2_000_001) as f64 - 1e6) / 1e6 * limit;
            let mut fractions: Vec<f64> = (0..2000).map(|_| number()).collect();
            let mut whole: Vec<f64> = fractions.iter().map(|number| number.round()).collect();
            let positive: Vec<f64> = whole.iter().map(|number| number.abs()).collect();
            // A few special numbers among the others.
            (fractions[1000], fractions[1900]) = (f64::NAN, f64::NEG_INFINITY);
            (whole[10], whole[1500]) = (-0.0, 1e25);
            for numbers in [fractions, whole, positive] {
                compare_with_rust! { &numbers,
                    i8: Storage::Int(1);
                    i16: Storage::Int(2);
                    i32: Storage::Int(4);
                    i64: Storage::Int(8);
                    u8: Storage::Uint(1);
                    u16: Storage::Uint(2);
                    u32: Storage::Uint(4);
                    u64: Storage::Uint(8);
                }
            }
        }
    }
}
