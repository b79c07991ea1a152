//! Casting elements from one data type to another.
//!
//! Each family of numbers converts elements to numbers and numbers to elements ([`Family::number`], [`Family::write_number`]), so
//! that each type can be cast to every other type. A change of the value is detected by reading back the written element.

use super::{DataType, Family, FamilyRef, Field, NumberCast, Storage, Structure};
use crate::error::{Error, Result};
use crate::registry::Registry;

/// The changes that a cast may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Casting {
    /// No changes: an element that the other type cannot represent is an error.
    Exact,
    /// The changes of NumPy's `astype`: integers keep their lowest bits, floats are rounded to the nearest float or truncated to
    /// integers, complex numbers lose their imaginary part, everything except 0 becomes true. Floats beyond the range of an
    /// integer type are clamped to its limits, and NaN becomes 0 (in NumPy, this depends on the machine). A number that a type
    /// without infinities or NaN cannot represent is still an error.
    Lossy,
}

/// A cast of elements from one type to another; created by [`Registry::cast`].
#[derive(Debug)]
pub struct Cast<'r> {
    from: DataType,
    to: DataType,
    method: CastMethod<'r>,
}

#[derive(Debug)]
enum CastMethod<'r> {
    Copy,
    Loop(NumberCast),
    Numbers { from: FamilyRef<'r>, to: FamilyRef<'r>, casting: Casting },
    Fields(Vec<(Field, Field, Cast<'r>)>),
}

impl Cast<'_> {
    /// Casts one element, and writes the result to `to`.
    ///
    /// # Errors
    /// When the other type cannot represent the element, when an exact cast would change its value, or when `from` or `to` does
    /// not have the size of one element.
    pub fn element(&self, from: &[u8], to: &mut [u8]) -> Result<()> {
        if from.len() != self.from.size() || to.len() != self.to.size() {
            let (is, other) = (from.len(), to.len());
            return Err(Error::argument(format!(
                "{is} and {other} bytes are not one element each of {} and {}",
                self.from, self.to
            )));
        }
        match &self.method {
            CastMethod::Copy => to.copy_from_slice(from),
            CastMethod::Loop(cast) => drop(cast.cast(from, to)),
            CastMethod::Numbers { from: source, to: target, casting } => {
                let number = source.number(&self.from, from).ok_or_else(|| self.impossible())?;
                let has = target.write_number(&self.to, number, to);
                let exact = || target.number(&self.to, to).is_some_and(|written| written.is_same(number));
                if !has || (*casting == Casting::Exact && !exact()) {
                    let shown = source.format(&self.from, from);
                    return Err(Error::argument(format!(
                        "{shown} of {} cannot be represented as {}",
                        self.from, self.to
                    )));
                }
            }
            CastMethod::Fields(fields) => {
                for (source, target, cast) in fields {
                    let (item, into) = (source.data_type.size(), target.data_type.size());
                    let items = from[source.offset..][..source.size()].chunks_exact(item);
                    let all = to[target.offset..][..target.size()].chunks_exact_mut(into);
                    for (from, to) in items.zip(all) {
                        cast.element(from, to).map_err(|e| e.at(format!("field '{}'", source.name)))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the loop that casts many elements, if none of them can fail.
    #[doc(hidden)]
    pub fn number_cast(&self) -> Option<&NumberCast> {
        match &self.method {
            CastMethod::Loop(cast) => Some(cast),
            _ => None,
        }
    }

    fn impossible(&self) -> Error {
        impossible(&self.from, &self.to)
    }
}

fn impossible(from: &DataType, to: &DataType) -> Error {
    Error::unsupported(format!(
        "{from} cannot be cast to {to}; only numbers can be cast, and structures field by field"
    ))
}

impl Registry {
    /// Prepares a cast from one type to another: numbers to numbers, structures with the same fields field by field, and all
    /// types to themselves.
    ///
    /// # Errors
    /// When the types cannot be cast.
    #[doc(hidden)]
    pub fn cast(&self, from: &DataType, to: &DataType, casting: Casting) -> Result<Cast<'_>> {
        let method = match (from.fields(), to.fields()) {
            // Variable-length elements are references into a buffer.
            _ if from == to && from.storage() != Storage::Variable => CastMethod::Copy,
            (Some(source), Some(target)) => CastMethod::Fields(self.cast_fields(source, target, casting)?),
            (None, None) => {
                let number_cast = (casting == Casting::Lossy).then(|| NumberCast::between(from, to));
                if let Some(cast) = number_cast.flatten() {
                    return Ok(Cast { from: from.clone(), to: to.clone(), method: CastMethod::Loop(cast) });
                }
                let (source, target) = (self.family(from)?, self.family(to)?);
                let is_number = |family: &dyn Family, data_type: &DataType| {
                    family.number(data_type, &vec![0; data_type.size()]).is_some()
                };
                if !is_number(&*source, from) || !is_number(&*target, to) {
                    return Err(impossible(from, to));
                }
                CastMethod::Numbers { from: source, to: target, casting }
            }
            _ => return Err(impossible(from, to)),
        };
        Ok(Cast { from: from.clone(), to: to.clone(), method })
    }

    fn cast_fields(
        &self,
        from: &Structure,
        to: &Structure,
        casting: Casting,
    ) -> Result<Vec<(Field, Field, Cast<'_>)>> {
        let alike =
            |(source, target): (&Field, &Field)| source.name == target.name && source.shape == target.shape;
        if from.fields().len() != to.fields().len() || !from.fields().iter().zip(to.fields()).all(alike) {
            return Err(Error::unsupported(format!("{from} and {to} have different fields")));
        }
        let pairs = from.fields().iter().zip(to.fields());
        let cast = |(source, target): (&Field, &Field)| {
            let cast = self.cast(&source.data_type, &target.data_type, casting);
            let cast = cast.map_err(|error| error.at(format!("field '{}'", source.name)))?;
            Ok((source.clone(), target.clone(), cast))
        };
        pairs.map(cast).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{Json, json};

    use super::*;
    use crate::data_type::Number;
    use crate::strictness::Strictness;

    fn named(name: &str) -> DataType {
        DataType::parse(name, &Registry::new()).unwrap()
    }

    /// Returns the text of an element after a cast.
    fn cast(from: &str, value: &Json, to: &str, casting: Casting) -> Result<String> {
        let registry = Registry::new();
        let (from, to) = (named(from), named(to));
        let element =
            registry.family(&from).unwrap().fill_from_json(&from, value, Strictness::Lenient).unwrap();
        let mut into = vec![0; to.size()];
        registry.cast(&from, &to, casting)?.element(element.as_bytes(), &mut into)?;
        Ok(registry.family(&to).unwrap().format(&to, &into))
    }

    #[test]
    fn exact_casts_change_no_value() {
        for (from, value, to, shown) in [
            ("int64", json!(-5), "int8", "-5"),
            ("uint64", json!(u64::MAX), "uint64", "18446744073709551615"),
            ("float64", json!(3.0), "uint8", "3"),
            ("float32", json!("NaN"), "float16", "nan"),
            ("complex128", json!([2.0, 0.0]), "int4", "2"),
            ("bool", json!(true), "float8_e4m3", "1.0"),
            ("int16", json!(0), "bool", "False"),
            ("bfloat16", json!(1.5), "complex64", "(1.5+0j)"),
            ("uint2", json!(3), "complex_float16", "(3+0j)"),
            ("float64", json!("-Infinity"), "float32", "-inf"),
        ] {
            assert_eq!(cast(from, &value, to, Casting::Exact).unwrap(), shown, "{from} to {to}");
        }
        for (from, value, to) in [
            ("int16", json!(300), "uint8"),
            ("int16", json!(-1), "uint64"),
            ("float64", json!(1.5), "int32"),
            ("float64", json!(0.1), "float32"),
            ("float64", json!("NaN"), "int64"),
            ("float64", json!(1e300), "float32"),
            ("int64", json!((1_i64 << 53) + 1), "float64"),
            ("uint64", json!(u64::MAX), "float32"),
            ("complex64", json!([1.0, 2.0]), "float32"),
            ("int8", json!(2), "bool"),
            ("int8", json!(8), "int4"),
            ("float32", json!("NaN"), "float4_e2m1fn"),
        ] {
            let error = cast(from, &value, to, Casting::Exact).unwrap_err();
            assert!(
                error.to_string().ends_with(&format!("of {from} cannot be represented as {to}")),
                "{error}"
            );
        }
    }

    /// `numpy.array(value, from).astype(to)` in NumPy 2.5.5, and ml_dtypes 0.6.0 for the small type, except the last two lines.
    #[test]
    fn lossy_casts_are_numpys() {
        for (from, value, to, shown) in [
            ("int16", json!(300), "uint8", "44"),
            ("int16", json!(-1), "uint64", "18446744073709551615"),
            ("float64", json!(-1.9), "int32", "-1"),
            ("float64", json!(0.1), "float32", "0.1"),
            ("float64", json!(1e300), "float32", "inf"),
            ("uint64", json!(u64::MAX), "float32", "1.8446744e+19"),
            ("complex64", json!([1.5, 2.0]), "int8", "1"),
            ("complex64", json!([0.0, 2.0]), "bool", "True"),
            ("float32", json!("NaN"), "bool", "True"),
            ("int8", json!(9), "int4", "-7"),
            ("float64", json!(1e30), "int8", "127"),
            ("float64", json!("NaN"), "int8", "0"),
        ] {
            assert_eq!(cast(from, &value, to, Casting::Lossy).unwrap(), shown, "{from} to {to}");
        }
        assert!(cast("float32", &json!("NaN"), "float4_e2m1fn", Casting::Lossy).is_err(), "there is none");
    }

    #[test]
    fn every_number_casts_to_every_other() {
        let registry = Registry::new();
        let is_number = |t: &DataType| registry.family(t).unwrap().number(t, &vec![0; t.size()]).is_some();
        let mut numbers: Vec<DataType> = registry.examples().into_iter().filter(is_number).collect();
        assert_eq!(numbers.len(), 1 + 8 + 3 + 2 + 4 + 12 + 13);
        // The power-of-two type has no zero for the imaginary part.
        numbers.retain(|data_type| data_type.to_string() != "complex_float8_e8m0fnu");
        // 1 is an element of every type.
        let one = |t: &DataType| registry.scalar_from_json(t, &json!(1), Strictness::Lenient).unwrap();
        for from in &numbers {
            for to in &numbers {
                let mut into = vec![0; to.size()];
                let cast = registry.cast(from, to, Casting::Exact).unwrap();
                cast.element(one(from).as_bytes(), &mut into).unwrap();
                assert_eq!(into, one(to).as_bytes(), "{from} to {to}");
            }
        }
    }

    #[test]
    fn structures_are_cast_field_by_field_and_other_types_are_rejected() {
        let registry = Registry::new();
        let narrow = DataType::structure([("a", DataType::Int16), ("b", named("<U1"))]).unwrap();
        let wide = DataType::structure([("a", DataType::Int64), ("b", named("<U1"))]).unwrap();
        let mut into = vec![0; 12];
        let element = [2_i16.to_ne_bytes().as_slice(), &65_u32.to_ne_bytes()].concat();
        registry.cast(&narrow, &wide, Casting::Exact).unwrap().element(&element, &mut into).unwrap();
        assert_eq!(into, [2_i64.to_ne_bytes().as_slice(), &65_u32.to_ne_bytes()].concat());
        into[..8].copy_from_slice(&i64::MAX.to_ne_bytes());
        let cast = registry.cast(&wide, &narrow, Casting::Exact).unwrap();
        let error = cast.element(&into, &mut [0; 6]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "field 'a': 9223372036854775807 of int64 cannot be represented as int16"
        );
        assert!(cast.element(&into, &mut [0; 5]).is_err(), "too little memory");
        let other = DataType::structure([("b", DataType::Int64), ("a", named("<U1"))]).unwrap();
        for (from, to) in [
            (&wide, &other),
            (&wide, &DataType::Int8),
            (&DataType::Int64, &named("<M8[s]")),
            (&named("<U1"), &named("<U2")),
            (&named("string"), &DataType::Int8),
        ] {
            assert!(registry.cast(from, to, Casting::Lossy).is_err(), "{from} to {to}");
        }
        assert!(registry.cast(&named("<U2"), &named("<U2"), Casting::Exact).is_ok());
    }

    #[test]
    fn numbers_are_compared_by_their_value() {
        assert!(Number::Integer(0).is_same(Number::Float(-0.0)));
        assert!(Number::Complex(f64::NAN, 0.0).is_same(Number::Float(f64::NAN)));
        assert!(!Number::Integer(i128::MAX).is_same(Number::Float(2_f64.powi(127))));
        assert!(!Number::Complex(1.0, f64::NAN).is_same(Number::Integer(1)));
    }
}
