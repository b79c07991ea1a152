//! Casts of many elements from one type to another.

use std::convert::identity;

use half::{bf16, f16};

use super::kernels::{Kernel, Rules, kernel};
use super::machine::Machine;
use super::{BLOCK, Half, Missing, Number, OutOfRange, Plain, Policy, RealType, Rounding, map};
use crate::with_machine;

/// A prepared cast from one type to another.
#[derive(Debug)]
pub struct RealCast {
    from: RealType,
    to: RealType,
    rounding: Rounding,
    range: OutOfRange,
    rules: Rules,
    /// The built-in type to which elements are converted first.
    source: Machine,
    /// The loop that casts a slice; `None` if elements are cast one by one.
    kernel: Option<Kernel>,
    map: Map,
}

/// An element that the other type cannot represent.
#[derive(Debug)]
pub struct CastFailure {
    /// The value of the element.
    pub value: Number,
    /// The reason.
    pub why: Missing,
}

/// Elements that are mapped to given elements of the other type, whatever their values.
#[derive(Debug, Default)]
struct Map {
    /// The keys of the distinct numbers, in ascending order, each with the element that its number is mapped to.
    entries: Vec<(u64, Vec<u8>)>,
}

/// The minimum number of entries with which each element is looked up. If there are fewer entries, each entry is compared with
/// all elements.
const MANY: usize = 16;

impl RealCast {
    /// Creates a cast. `map` contains pairs of elements of the two types; if several pairs have the same number, the first pair
    /// is used.
    pub fn new(
        from: RealType,
        to: RealType,
        rounding: Rounding,
        range: OutOfRange,
        map: &[(Vec<u8>, Vec<u8>)],
    ) -> Self {
        let source = from.machine();
        let is_table = matches!(to, RealType::Table(_));
        let kernel = (!is_table).then(|| kernel(source, to.machine()));
        let rules = Rules::new(&to, Policy::Exact(rounding, range));
        let mut cast = Self { from, to, rounding, range, rules, source, kernel, map: Map::default() };
        let mut entries: Vec<(u64, Vec<u8>)> =
            map.iter().map(|(from, to)| (cast.key(from), to.clone())).collect();
        entries.sort_by_key(|(key, _)| *key);
        entries.dedup_by_key(|(key, _)| *key);
        cast.map.entries = entries;
        cast
    }

    /// Returns a key that is equal for elements with the same number.
    fn key(&self, element: &[u8]) -> u64 {
        let mut wide = [0; 8];
        let loaded = self.load(element, &mut wide).unwrap_or(element);
        with_machine!(self.source, S => S::elements(loaded).first().map_or(0, |bytes| S::get(*bytes).key()))
    }

    /// Casts elements; both slices have the same number of elements.
    pub fn cast(&self, from: &[u8], to: &mut [u8]) -> Result<(), CastFailure> {
        let (item, into) = (self.from.size(), self.to.size());
        let (mut wide, mut bad, mut hits) = ([0; 8 * BLOCK], [false; BLOCK], [0_u16; BLOCK]);
        for (from, to) in from.chunks(item * BLOCK).zip(to.chunks_mut(into * BLOCK)) {
            let bad = &mut bad[..from.len() / item];
            let loaded = self.load(from, &mut wide).unwrap_or(from);
            let all_good = self.kernel.is_some_and(|kernel| kernel(loaded, to, bad, &self.rules));
            if self.kernel.is_none() {
                bad.fill(true);
            }
            self.map.apply(self.source, loaded, to, bad, &mut hits);
            if all_good {
                continue;
            }
            for index in marked(bad) {
                let value = self.from.read(&from[index * item..][..item]);
                let element = &mut to[index * into..][..into];
                let written = self.to.write(value, self.rounding, self.range, element);
                written.map_err(|why| CastFailure { value, why })?;
            }
            bad.fill(false);
        }
        Ok(())
    }

    /// Converts the elements to built-in numbers, unless they already are.
    fn load<'w>(&self, from: &[u8], wide: &'w mut [u8]) -> Option<&'w [u8]> {
        let count = from.len() / self.from.size();
        match &self.from {
            RealType::Integer(integer) if !integer.is_full() => {
                let (unused, wide) = (8 - integer.bits, &mut wide[..count]);
                if integer.signed {
                    map(from, wide, |byte: u8| (byte << unused).cast_signed() >> unused);
                } else {
                    map(from, wide, |byte: u8| byte << unused >> unused);
                }
                Some(wide)
            }
            RealType::Table(table) => {
                let (values, wide) = (table.values(), &mut wide[..8 * count]);
                if table.size() == 1 {
                    map(from, wide, |byte: u8| values[usize::from(byte)]);
                } else {
                    map(from, wide, |pattern: u16| values[usize::from(pattern)]);
                }
                Some(wide)
            }
            RealType::Integer(_) | RealType::Binary(_) => None,
        }
    }
}

/// Returns the indices of the marked elements. In the usual case, in which no element is marked, the marks are not examined one
/// by one.
pub fn marked(bad: &[bool]) -> impl Iterator<Item = usize> {
    // There is no early exit, so that the loop is vectorised.
    let any = bad.iter().fold(false, |any, bad| any | bad);
    let bad = if any { bad } else { &[] };
    bad.iter().enumerate().filter(|(_, bad)| **bad).map(|(index, _)| index)
}

impl Map {
    /// Writes the mapped elements, and removes their marks.
    fn apply(&self, source: Machine, from: &[u8], to: &mut [u8], bad: &mut [bool], hits: &mut [u16; BLOCK]) {
        if self.entries.is_empty() {
            return;
        }
        let into = to.len() / bad.len().max(1);
        let mut write = |index: usize, element: &[u8]| {
            to[index * into..][..into].copy_from_slice(element);
            bad[index] = false;
        };
        if self.entries.len() >= MANY {
            return with_machine!(source, S => {
                for (index, number) in S::elements(from).iter().enumerate() {
                    if let Ok(found) = self.entries.binary_search_by_key(&S::get(*number).key(), |(key, _)| *key) {
                        write(index, &self.entries[found].1);
                    }
                }
            });
        }
        hits.fill(0);
        for ((key, _), hit) in self.entries.iter().zip(1..) {
            with_machine!(source, S => {
                let key = S::of_key(*key);
                for (number, at) in S::elements(from).iter().zip(&mut *hits) {
                    if S::get(*number).is_same(key) {
                        *at = hit;
                    }
                }
            });
        }
        for (index, &hit) in hits.iter().enumerate().filter(|(_, hit)| **hit > 0) {
            write(index, &self.entries[usize::from(hit) - 1].1);
        }
    }
}

/// Numbers that serve as keys of entries: all NaNs have the same key, and so do the two zeros.
trait Key: Plain {
    fn key(self) -> u64;
    fn of_key(key: u64) -> Self;
    fn is_same(self, other: Self) -> bool;
}

macro_rules! keys {
    ($($T:ty: $key:expr, $of_key:expr, $value:expr;)*) => {$(
        impl Key for $T {
            #[inline(always)]
            fn key(self) -> u64 {
                $key(self)
            }

            #[expect(clippy::allow_attributes, reason = "some types lose no bits")]
            #[allow(clippy::cast_possible_truncation, reason = "the key has the bits of the type")]
            fn of_key(key: u64) -> Self {
                $of_key(key as _)
            }

            #[inline(always)]
            fn is_same(self, other: Self) -> bool {
                let (a, b) = ($value(self), $value(other));
                (a == b) | ((a != a) & (b != b))
            }
        }
    )*};
    ($($T:ty as $Bits:ty)*) => {
        keys! { $($T: |value| i64::from(value).cast_unsigned(), <$Bits>::cast_signed, identity;)* }
    };
    ($($T:ty)*) => {
        keys! { $($T: u64::from, identity, identity;)* }
    };
}
keys!(u8 u16 u32 u64);
keys!(i8 as u8 i16 as u16 i32 as u32 i64 as u64);
// The sum of two zeros is the positive zero.
keys! {
    f16: |value: Self| value.to_single().key(), |single| Self::from_f32(f32::from_bits(single)), Half::to_single;
    bf16: |value: Self| value.to_single().key(), |single| Self::from_f32(f32::from_bits(single)), Half::to_single;
    f32: |value: Self| if value.is_nan() { Self::NAN } else { value + 0.0 }.to_bits().into(), Self::from_bits, identity;
    f64: |value: Self| if value.is_nan() { Self::NAN } else { value + 0.0 }.to_bits(), Self::from_bits, identity;
}
