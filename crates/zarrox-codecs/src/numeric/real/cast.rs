//! Casts of many elements from one type to another.

use super::kernels::{BLOCK, Kernel, Machine, Rules, kernel, machine, to_odd, with_machine};
use super::native::Native;
use super::{
    BFLOAT16, Binary, FLOAT16, Integer, Missing, OutOfRange, Real, RealType, Rounding, marked, to_bfloat16,
    to_float16, widen_bfloat16, widen_float16,
};

/// A cast from one type to another, ready to work.
#[derive(Debug)]
pub(crate) struct Caster {
    from: RealType,
    to: RealType,
    rules: Rules,
    /// The type of the elements once they are numbers of the machine.
    source: Machine,
    way: Way,
    map: Map,
}

#[derive(Debug)]
enum Way {
    Direct(Kernel),
    /// By way of `f64` and `f32`, which lose nothing that matters.
    Narrow(Kernel),
    /// One by one.
    Exact,
}

/// The element that has no place in the other type.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) value: Real,
    pub(crate) why: Missing,
}

/// Elements that become others whatever their numbers are.
#[derive(Debug, Default)]
struct Map {
    /// Each number once, ascending by its pattern, and the element that it becomes.
    entries: Vec<(u64, Vec<u8>)>,
}

/// From so many entries on, each element is looked up, instead of each entry being compared with all elements.
const MANY: usize = 16;

impl Caster {
    /// `map` are pairs of elements of the two types; of several for one number, the first is taken.
    pub(crate) fn new(
        from: RealType,
        to: RealType,
        rounding: Rounding,
        range: OutOfRange,
        map: &[(Vec<u8>, Vec<u8>)],
    ) -> Self {
        let integer = match &to {
            RealType::Integer(integer) => *integer,
            _ => Integer { size: 8, bits: 64, signed: true },
        };
        let (least, most, full) = (integer.least(), integer.most(), integer.is_full());
        let rules = Rules { rounding, range, least, most, full };
        let source = machine(&from);
        let way = match &to {
            RealType::Table(_) => Way::Exact,
            RealType::Binary(binary) if binary.size == 2 => Way::Narrow(kernel(source, Machine::F64)),
            other => Way::Direct(kernel(source, machine(other))),
        };
        let mut caster = Self { from, to, rules, source, way, map: Map::default() };
        caster.map = caster.mapped(map);
        caster
    }

    fn mapped(&self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Map {
        let mut entries: Vec<(u64, Vec<u8>)> =
            pairs.iter().map(|(from, to)| (self.key(from), to.clone())).collect();
        entries.sort_by_key(|(key, _)| *key);
        entries.dedup_by_key(|(key, _)| *key);
        Map { entries }
    }

    /// A key that is equal for elements of one number.
    fn key(&self, element: &[u8]) -> u64 {
        let mut wide = [0; 8];
        let loaded = self.load(element, &mut wide, &mut [false]).unwrap_or(element);
        with_machine!(self.source, S => S::read(loaded).next().map_or(0, Key::key))
    }

    /// Casts elements; both slices hold equally many.
    pub(crate) fn cast(&self, from: &[u8], to: &mut [u8]) -> Result<(), Refused> {
        let (item, into) = (self.from.size(), self.to.size());
        let (mut wide, mut double, mut single) = ([0; 8 * BLOCK], [0; 8 * BLOCK], [0; 4 * BLOCK]);
        let (mut bad, mut hits) = ([false; BLOCK], [0_u16; BLOCK]);
        let blocks = from.chunks(item * BLOCK).zip(to.chunks_mut(into * BLOCK));
        for (from, to) in blocks {
            let count = from.len() / item;
            let bad = &mut bad[..count];
            bad.fill(matches!(self.way, Way::Exact));
            let loaded = self.load(from, &mut wide, bad).unwrap_or(from);
            match self.way {
                Way::Direct(kernel) => kernel(loaded, to, bad, &self.rules),
                Way::Narrow(kernel) => {
                    let single = &mut single[..4 * count];
                    let singles: &[u8] = if self.source == Machine::F32 {
                        loaded
                    } else {
                        let double = &mut double[..8 * count];
                        // What is not exact even so is marked.
                        let rules = Rules { rounding: Rounding::TowardsZero, ..self.rules };
                        kernel(loaded, double, bad, &rules);
                        to_odd(double, single, bad);
                        single
                    };
                    self.narrow(singles, to, bad);
                }
                Way::Exact => (),
            }
            self.map.apply(self.source, loaded, to, bad, &mut hits[..count]);
            for index in marked(bad) {
                let value = self.from.read(&from[index * item..][..item]);
                let element = &mut to[index * into..][..into];
                let written = self.to.write(value, self.rules.rounding, self.rules.range, element);
                written.map_err(|why| Refused { value, why })?;
            }
        }
        Ok(())
    }

    /// The elements as numbers of the machine, where they are none as they are.
    fn load<'w>(&self, from: &[u8], wide: &'w mut [u8], bad: &mut [bool]) -> Option<&'w [u8]> {
        let count = from.len() / self.from.size();
        match &self.from {
            RealType::Integer(integer) if !integer.is_full() => {
                let unused = 8 - integer.bits;
                let signed = integer.signed;
                for (byte, wide) in from.iter().zip(&mut *wide) {
                    let high = byte << unused;
                    *wide =
                        if signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused };
                }
                Some(&wide[..count])
            }
            RealType::Binary(FLOAT16) => {
                widen_float16(from, &mut wide[..4 * count], bad);
                Some(&wide[..4 * count])
            }
            RealType::Binary(BFLOAT16) => {
                widen_bfloat16(from, &mut wide[..4 * count], bad);
                Some(&wide[..4 * count])
            }
            RealType::Table(table) => {
                let (values, wide) = (table.values(), &mut wide[..8 * count]);
                if table.size() == 1 {
                    let values = from.iter().map(|&byte| values[usize::from(byte)]);
                    values.zip(f64::places(wide)).for_each(|(value, place)| value.write(place));
                } else {
                    let values = u16::read(from).map(|pattern| values[usize::from(pattern)]);
                    values.zip(f64::places(wide)).for_each(|(value, place)| value.write(place));
                }
                Some(wide)
            }
            RealType::Integer(_) | RealType::Binary(_) => None,
        }
    }

    fn narrow(&self, singles: &[u8], to: &mut [u8], bad: &mut [bool]) {
        let narrow = if is(&self.to, FLOAT16) { to_float16 } else { to_bfloat16 };
        narrow(singles, to, bad, self.rules.rounding, self.rules.range);
    }
}

fn is(real: &RealType, binary: Binary) -> bool {
    matches!(real, RealType::Binary(other) if *other == binary)
}

impl Map {
    /// Writes the elements that are mapped, and takes their marks away.
    fn apply(&self, source: Machine, from: &[u8], to: &mut [u8], bad: &mut [bool], hits: &mut [u16]) {
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
                for (index, number) in S::read(from).enumerate() {
                    if let Ok(found) = self.entries.binary_search_by_key(&number.key(), |(key, _)| *key) {
                        write(index, &self.entries[found].1);
                    }
                }
            });
        }
        hits.fill(0);
        for ((key, _), hit) in self.entries.iter().zip(1..) {
            with_machine!(source, S => {
                let key = S::from_pattern(*key);
                for (number, at) in S::read(from).zip(&mut *hits) {
                    if number.is_same(key) {
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

/// Numbers by which entries are found: all NaN are one, and so are the two zeros.
trait Key: Native {
    fn key(self) -> u64;

    fn is_same(self, other: Self) -> bool;
}

macro_rules! integer_keys {
    ($($T:ty),*) => {$(
        impl Key for $T {
            #[expect(clippy::allow_attributes, reason = "not all types have a sign")]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless, reason = "the bits are wanted")]
            #[allow(trivial_numeric_casts, clippy::unnecessary_cast, reason = "one text for all types")]
            fn key(self) -> u64 {
                self as u64
            }

            fn is_same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
integer_keys!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float_keys {
    ($($T:ty),*) => {$(
        impl Key for $T {
            fn key(self) -> u64 {
                // Zero plus zero is the positive one.
                let canonical = if self.is_nan() { <$T>::NAN } else { self + 0.0 };
                canonical.to_bits().into()
            }

            fn is_same(self, other: Self) -> bool {
                self == other || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}
float_keys!(f32, f64);
