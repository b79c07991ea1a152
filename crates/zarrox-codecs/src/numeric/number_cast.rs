//! Casting many of the machine's numbers at once.

use zarrox_core::DataType;

use crate::numeric::filter::cast::cast;

/// Casts elements that lie in memory one after the other, without gaps: as many as there are in both.
pub type NumberCast = fn(&[u8], &mut [u8]);

/// The cast from one type to another by NumPy's rules: a fast
/// [`Casting::Lossy`](zarrox_core::data_type::Casting). `None` unless both types are booleans or numbers of
/// the machine's.
///
/// ```
/// use zarrox_core::DataType;
/// let cast = zarrox_codecs::number_cast(&DataType::Int16, &DataType::UInt8).unwrap();
/// let mut bytes = [0; 2];
/// cast(&[300_i16.to_ne_bytes(), (-1_i16).to_ne_bytes()].concat(), &mut bytes);
/// assert_eq!(bytes, [44, 255]);
/// assert!(zarrox_codecs::number_cast(&DataType::RawBits(1), &DataType::UInt8).is_none());
/// ```
pub fn number_cast(from: &DataType, to: &DataType) -> Option<NumberCast> {
    // Other types that lie in memory as these do are other numbers, or none.
    let special = |data_type: &DataType| {
        matches!(data_type, DataType::RawBits(_) | DataType::Struct(_) | DataType::Extension(_))
    };
    if special(from) || special(to) { None } else { cast(&from.storage(), &to.storage()) }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::{Casting, Number, Storage};
    use zarrox_testkit::codec::Random;

    use super::*;

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

    /// Elements of a type: what is special in any type, cast to this one, and any bits.
    fn elements(data_type: &DataType) -> Vec<Vec<u8>> {
        let registry = crate::registry();
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
        let registry = crate::registry();
        for from in &TYPES {
            let elements = elements(from);
            let bytes = elements.concat();
            for to in &TYPES {
                let family = registry.family(to).unwrap();
                let mut all = vec![0; elements.len() * to.size()];
                number_cast(from, to).unwrap()(&bytes, &mut all);
                let each = registry.cast(from, to, Casting::Lossy).unwrap();
                let mut alone = vec![0; to.size()];
                for (element, cast) in elements.iter().zip(all.chunks_exact(to.size())) {
                    each.element(element, &mut alone).unwrap();
                    // Of NaN, other bits may come than of one alone, but NaN it is.
                    let [cast_number, wanted] =
                        [cast, &alone].map(|element| family.number(to, element).unwrap());
                    let same = cast == alone || (cast_number.is_same(wanted) && is_nan(wanted));
                    assert!(
                        same,
                        "{} of {from} to {to}",
                        registry.family(from).unwrap().format(from, element)
                    );
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
        let registry = crate::registry();
        for other in ["int4", "bfloat16", "<M8[s]", "r16", "string"] {
            let other = DataType::parse(other, &registry).unwrap();
            assert!(
                number_cast(&other, &DataType::Int8).is_none()
                    && number_cast(&DataType::Int8, &other).is_none()
            );
        }
    }
}
