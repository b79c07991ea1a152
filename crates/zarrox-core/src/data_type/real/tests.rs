//! Tests that compare every conversion between types with the definition of rounding.

use zarrox_testkit::codec::Random;

use super::*;
use crate::json::json;
use crate::number::{Missing, OutOfRange, RealCast, Rounding, round_to_whole};

const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::TowardsZero,
    Rounding::TowardsPositive,
    Rounding::TowardsNegative,
    Rounding::NearestAway,
];
const RANGES: [OutOfRange; 3] = [OutOfRange::Refuse, OutOfRange::Clamp, OutOfRange::Wrap];

const NAMES: &[&str] = &[
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int2",
    "int4",
    "uint2",
    "uint4",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "float8_e4m3",
    "float8_e5m2fnuz",
    "float6_e3m2fn",
    "float4_e2m1fn",
    "float8_e8m0fnu",
];

fn real(name: &str) -> RealType {
    let registry = Registry::new();
    RealType::of(&registry.data_type_from_v3(&json!(name)).unwrap(), &registry).unwrap()
}

/// Compares an exact number with a number that is not an integer of more than 127 bits.
fn compare(a: Number, b: Number) -> std::cmp::Ordering {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap(),
        (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
        (Number::Integer(_), Number::Float(_)) => compare(b, a).reverse(),
        #[expect(clippy::cast_possible_truncation, reason = "smaller than 2^126, and checked again")]
        (Number::Float(a), Number::Integer(b)) => {
            if a.abs() >= 2_f64.powi(126) {
                return a.partial_cmp(&0.0).unwrap();
            }
            (a.floor() as i128).cmp(&b).then(a.partial_cmp(&a.floor()).unwrap())
        }
        (Number::Complex(..), _) | (_, Number::Complex(..)) => panic!("complex numbers have no order"),
    }
}

/// Returns the midpoint of two adjacent numbers.
fn between(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) if (b - a).fract() == 0.0 && a.abs() < 1e30 && b - a >= 2.0 => {
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
            let (a, b) = (a as i128, b as i128);
            Number::Integer(i128::midpoint(a, b))
        }
        (a, b) => Number::Float(a.to_f64() / 2.0 + b.to_f64() / 2.0),
    }
}

/// Returns numbers of a type for testing casts to another type: random numbers, and numbers near the limits of both types.
fn numbers(from: &RealType, to: &RealType, random: &mut Random) -> Vec<u8> {
    let mut elements = Vec::new();
    let mut add = |value: Number, rounding: Rounding| {
        let mut element = vec![0; from.size()];
        if from.write(value, rounding, OutOfRange::Clamp, &mut element).is_ok() {
            elements.extend(element);
        }
    };
    let limits: Vec<f64> = match to {
        RealType::Integer(integer) => {
            [integer.least(), integer.most()].map(|n| Number::Integer(n).to_f64()).to_vec()
        }
        RealType::Binary(binary) => {
            let largest = binary.value(binary.infinity() - 1);
            vec![largest, -largest, binary.value(1), -binary.value(1), binary.value(binary.infinity() / 2)]
        }
        RealType::Table(table) => table.values().iter().copied().filter(|value| value.is_finite()).collect(),
    };
    let limits = limits.into_iter().chain([0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    for limit in limits {
        for more in [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5] {
            for value in [
                limit + more,
                limit - more,
                limit * (1.0 + more / 16.0),
                limit * (1.0 + more * 2_f64.powi(-25)),
            ] {
                for near in [value, value.next_up(), value.next_down()] {
                    add(Number::Float(near), Rounding::NearestEven);
                }
            }
        }
    }
    for _ in 0..50 {
        // All magnitudes occur, and patterns with few bits, so that there are ties.
        let bits = random.number() >> random.below(64);
        let sparse = (bits & random.number() & random.number()) << random.below(32);
        for whole in [bits, sparse, bits | 1, 1 << random.below(64)] {
            add(Number::Integer(whole.into()), Rounding::TowardsZero);
            add(Number::Integer(-i128::from(whole)), Rounding::TowardsZero);
            #[expect(clippy::cast_precision_loss, reason = "any number will do")]
            let scaled = whole as f64 / 2_f64.powi(i32::try_from(random.below(90)).unwrap());
            add(Number::Float(scaled), Rounding::NearestEven);
            add(Number::Float(-scaled), Rounding::NearestEven);
        }
        add(Number::Float(f64::from_bits(random.number())), Rounding::NearestEven);
    }
    elements.extend(random.bytes(from.size() * 100));
    elements
}

#[test]
fn loops_do_what_the_exact_way_does() {
    let mut random = Random::new(1);
    for from_name in NAMES {
        for to_name in NAMES {
            let (from, to) = (real(from_name), real(to_name));
            let elements = numbers(&from, &to, &mut random);
            for rounding in ROUNDINGS {
                for range in RANGES {
                    if range == OutOfRange::Wrap && !matches!(to, RealType::Integer(_)) {
                        continue;
                    }
                    let caster = RealCast::new(from.clone(), to.clone(), rounding, range, &[]);
                    let what = format!("{from_name} to {to_name}, {rounding:?}, {range:?}");
                    loop_is_exact(&caster, &elements, (&from, &to), rounding, range, &what);
                }
            }
        }
    }
}

fn loop_is_exact(
    caster: &RealCast,
    elements: &[u8],
    (from, to): (&RealType, &RealType),
    rounding: Rounding,
    range: OutOfRange,
    what: &str,
) {
    let (mut good, mut expected) = (Vec::new(), Vec::new());
    for element in elements.chunks_exact(from.size()) {
        let mut into = vec![0; to.size()];
        match to.write(from.read(element), rounding, range, &mut into) {
            Ok(()) => {
                good.extend_from_slice(element);
                expected.extend(into);
            }
            Err(why) => {
                let refused = caster.cast(element, &mut into).unwrap_err();
                assert_eq!(refused.why, why, "{what}: {:?}", from.read(element));
            }
        }
    }
    let mut cast = vec![0; expected.len()];
    caster.cast(&good, &mut cast).unwrap();
    for (index, (cast, expected)) in cast.chunks(to.size()).zip(expected.chunks(to.size())).enumerate() {
        let (is, should) = (to.read(cast), to.read(expected));
        let same =
            cast == expected || matches!(is, Number::Float(value) if value.is_nan() && is.is_same(should));
        let value = from.read(&good[index * from.size()..][..from.size()]);
        assert!(same, "{what}: {value:?} becomes {is:?} instead of {should:?}");
    }
}

/// Returns the finite numbers of a type that are nearest to a given number: the nearest from below and the nearest from above
/// (either may equal it).
fn neighbours(to: &RealType, value: Number) -> [Option<(Number, u64)>; 2] {
    let at = |pattern: u64| {
        let mut element = vec![0; to.size()];
        write_pattern(pattern, &mut element);
        (to.read(&element), pattern)
    };
    let negative = compare(value, Number::Integer(0)).is_lt();
    let (sign, largest) = match to {
        RealType::Binary(binary) => (if negative { binary.sign() } else { 0 }, binary.infinity() - 1),
        _ => panic!("a binary float"),
    };
    // The largest magnitude that does not exceed that of the value.
    let (mut low, mut high) = (0, largest + 1);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        let order = compare(at(sign | middle).0, value);
        let inside = if negative { order.is_ge() } else { order.is_le() };
        *if inside { &mut low } else { &mut high } = middle;
    }
    let inner = Some(at(sign | low));
    let outer = (low < largest).then(|| at(sign | (low + 1)));
    if negative { [outer, inner] } else { [inner, outer] }
}

#[test]
fn the_exact_path_matches_the_definition_of_rounding() {
    let mut random = Random::new(2);
    for from_name in NAMES {
        for to_name in ["float16", "bfloat16", "float32", "float64"] {
            let (from, to) = (real(from_name), real(to_name));
            for element in numbers(&from, &to, &mut random).chunks_exact(from.size()) {
                let value = from.read(element);
                if matches!(value, Number::Float(value) if !value.is_finite()) {
                    continue;
                }
                let [Some(below), Some(above)] = neighbours(&to, value) else { continue };
                for rounding in ROUNDINGS {
                    let (negative, exact) = (
                        compare(value, Number::Integer(0)).is_lt(),
                        [below, above].into_iter().find(|n| compare(n.0, value).is_eq()),
                    );
                    let tie = compare(value, between(below.0, above.0));
                    let nearest = |at_tie| match tie {
                        std::cmp::Ordering::Less => below,
                        std::cmp::Ordering::Equal => at_tie,
                        std::cmp::Ordering::Greater => above,
                    };
                    let (inner, outer) = if negative { (above, below) } else { (below, above) };
                    let expected = exact.unwrap_or_else(|| match rounding {
                        Rounding::NearestEven => nearest(if below.1 & 1 == 0 { below } else { above }),
                        Rounding::NearestAway => nearest(outer),
                        Rounding::TowardsZero => inner,
                        Rounding::TowardsPositive => above,
                        Rounding::TowardsNegative => below,
                    });
                    let mut into = vec![0; to.size()];
                    to.write(value, rounding, OutOfRange::Refuse, &mut into).unwrap();
                    let is = to.read(&into);
                    let what = format!("{from_name} to {to_name}, {rounding:?}: {value:?} becomes {is:?}");
                    assert!(is.is_same(expected.0), "{what} instead of {:?}", expected.0);
                    let sign =
                        |real: Number| matches!(real, Number::Float(value) if value.is_sign_negative());
                    assert_eq!(sign(is), sign(value) || negative, "{what}: the sign");
                }
            }
        }
    }
}

#[test]
fn numbers_are_the_machines() {
    let mut random = Random::new(3);
    for _ in 0..20000 {
        let bits = random.number();
        #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
        let (single, double) = (f32::from_bits(bits as u32), f64::from_bits(bits));
        assert!(
            real("float32").read(&single.to_ne_bytes()).is_same(Number::Float(single.into())),
            "{single:?}"
        );
        assert!(real("float64").read(&double.to_ne_bytes()).is_same(Number::Float(double)), "{double:?}");
        let mut out = [0; 4];
        #[expect(clippy::cast_possible_truncation, reason = "the machine's way to round")]
        let narrowed = double as f32;
        real("float32")
            .write(Number::Float(double), Rounding::NearestEven, OutOfRange::Clamp, &mut out)
            .unwrap();
        assert!(narrowed.is_nan() || out == narrowed.to_ne_bytes(), "{double:?}");
        for whole in [i128::from(bits), i128::from(bits.cast_signed() >> (bits & 63))] {
            #[expect(clippy::cast_precision_loss, reason = "the machine's way to round")]
            let (single, double) = (whole as f32, whole as f64);
            let mut out8 = [0; 8];
            let even = Rounding::NearestEven;
            real("float32").write(Number::Integer(whole), even, OutOfRange::Refuse, &mut out).unwrap();
            real("float64").write(Number::Integer(whole), even, OutOfRange::Refuse, &mut out8).unwrap();
            assert_eq!((out, out8), (single.to_ne_bytes(), double.to_ne_bytes()), "{whole}");
        }
        for (rounding, rounded) in ROUNDINGS.into_iter().zip([
            double.round_ties_even(),
            double.trunc(),
            double.ceil(),
            double.floor(),
            double.round(),
        ]) {
            #[expect(clippy::cast_possible_truncation, reason = "compared only where it is smaller")]
            let expected = (rounded.abs() < 2_f64.powi(127)).then_some(rounded as i128);
            assert_eq!(round_to_whole(double, rounding), expected, "{double:?}");
        }
    }
}

#[test]
fn small_floats_are_rounded_as_everywhere() {
    // numpy.array(value, 'f4').astype(name) with ml_dtypes 0.6.0, for numbers that are in range.
    for (name, value, rounded) in [
        ("float8_e4m3fn", 464.0, 448.0),
        ("float8_e4m3", 17.0, 16.0),
        ("float8_e4m3", 19.0, 20.0),
        ("float4_e2m1fn", 2.5, 2.0),
        ("float4_e2m1fn", -0.25, 0.0),
        ("float8_e8m0fnu", 1.5, 2.0),
        ("float6_e2m3fn", 7.4, 7.5),
        ("float8_e4m3fnuz", -1e-9, 0.0),
    ] {
        let real = real(name);
        let mut out = [0];
        real.write(Number::Float(value), Rounding::NearestEven, OutOfRange::Refuse, &mut out).unwrap();
        assert_eq!(real.read(&out), Number::Float(rounded), "{name} {value}");
    }
    let write = |name, value, rounding, range| {
        let (real, mut out) = (real(name), [0]);
        real.write(Number::Float(value), rounding, range, &mut out).map(|()| real.read(&out).to_f64())
    };
    use OutOfRange::{Clamp, Refuse};
    use Rounding::{NearestAway, NearestEven, TowardsNegative, TowardsPositive, TowardsZero};
    assert_eq!(write("float4_e2m1fn", 7.0, NearestEven, Refuse), Err(Missing::OutOfRange), "7 would be 8");
    assert_eq!(write("float4_e2m1fn", 6.9, NearestEven, Refuse), Ok(6.0));
    assert_eq!(write("float4_e2m1fn", 7.9, TowardsZero, Refuse), Ok(6.0));
    assert_eq!(write("float4_e2m1fn", -6.1, TowardsNegative, Refuse), Err(Missing::OutOfRange));
    assert_eq!(write("float4_e2m1fn", -6.1, TowardsPositive, Refuse), Ok(-6.0));
    assert_eq!(write("float4_e2m1fn", 1e9, NearestAway, Clamp), Ok(6.0), "the type has no infinity");
    assert_eq!(write("float4_e2m1fn", -1e9, NearestAway, Clamp), Ok(-6.0));
    assert_eq!(write("float4_e2m1fn", 1.25, NearestAway, Refuse), Ok(1.5));
    assert_eq!(write("float4_e2m1fn", f64::INFINITY, NearestEven, Clamp), Err(Missing::Infinity));
    assert_eq!(write("float4_e2m1fn", f64::NAN, NearestEven, Clamp), Err(Missing::NotANumber));
    assert_eq!(write("float8_e5m2", -1e9, NearestEven, Clamp), Ok(f64::NEG_INFINITY));
    assert_eq!(write("float8_e5m2", 1e9, NearestEven, Refuse), Err(Missing::OutOfRange));
    assert_eq!(write("float8_e8m0fnu", 0.0, NearestEven, Refuse), Err(Missing::OutOfRange));
    assert_eq!(write("float8_e8m0fnu", -3.0, NearestEven, Clamp), Ok(2_f64.powi(-127)));
    assert!(write("float8_e8m0fnu", f64::NAN, NearestEven, Refuse).is_ok_and(f64::is_nan));
}

#[test]
fn an_integer_between_two_small_floats_is_not_rounded_twice() {
    let bfloat16 = real("bfloat16");
    let mut out = [0; 2];
    // All three numbers become the same 64-bit float, which is the first of them.
    let tie = (1_i128 << 80) + (1 << 72);
    for (whole, up) in [(tie, false), (tie + 1, true), (tie - 1, false)] {
        bfloat16.write(Number::Integer(whole), Rounding::NearestEven, OutOfRange::Refuse, &mut out).unwrap();
        let expected = (1_i128 << 80) + if up { 1 << 73 } else { 0 };
        assert!(bfloat16.read(&out).is_same(Number::Integer(expected)), "{whole}");
    }
}
