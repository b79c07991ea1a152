//! Converts the strings in a column to elements.

use zarrox::data_type::{Casting, NOT_A_TIME, Storage, TimeKind, TimeUnit};
use zarrox::{DataType, DynArray, Registry, Result};

use super::blocks::{Pieces, Values};
use super::dates::Point;
use super::guess::{is_missing, parsed, signed, truth};
use crate::input::unsupported;

/// The conversion from a string to an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Text,
    Truth,
    Signed,
    Unsigned,
    Single,
    Double,
    Point(TimeUnit),
}

/// A parser that converts strings to elements of a data type.
#[derive(Debug)]
pub(super) struct Parser {
    data_type: DataType,
    way: Way,
    registry: Registry,
}

impl Parser {
    /// Creates a parser for a data type.
    ///
    /// # Errors
    /// If strings cannot be converted to the type.
    pub(super) fn new(data_type: &DataType) -> Result<Self> {
        let way = match (data_type.time(), data_type.storage()) {
            (Some(time), _) if time.kind() == TimeKind::Point && time.scale() == 1 => Way::Point(time.unit()),
            (Some(time), _) if time.kind() == TimeKind::Point => {
                return Err(unsupported(format!("text cannot be converted to {data_type}")));
            }
            (_, Storage::Bool) => Way::Truth,
            (_, Storage::Int(_)) => Way::Signed,
            (_, Storage::Uint(_)) => Way::Unsigned,
            (_, Storage::Float(..=4)) => Way::Single,
            (_, Storage::Float(_)) => Way::Double,
            (_, Storage::Variable) if data_type.is_named("string") => Way::Text,
            _ => return Err(unsupported(format!("text cannot be converted to {data_type}"))),
        };
        Ok(Self { data_type: data_type.clone(), way, registry: zarrox::codecs::registry() })
    }

    /// Returns the type of the elements.
    pub(super) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Returns true if the elements are the strings themselves.
    pub(super) fn is_text(&self) -> bool {
        self.way == Way::Text
    }

    /// Converts strings to elements.
    ///
    /// # Errors
    /// The inner error is the position of the first string that cannot be converted to the type.
    pub(super) fn parse<'t>(&self, texts: impl Iterator<Item = &'t [u8]>) -> Result<Result<Values, usize>> {
        let wide = match self.way {
            Way::Text => {
                let mut elements = Pieces::default();
                texts.for_each(|text| elements.push(text));
                return Ok(match elements.first_without_text() {
                    None => Ok(Values::Any(elements)),
                    Some(at) => Err(at),
                });
            }
            Way::Truth => return Ok(each(texts, |text| Some([u8::from(truth(text)?)])).map(Values::Fixed)),
            Way::Point(unit) => {
                let count = |text: &[u8]| match is_missing(text) {
                    true => Some(NOT_A_TIME.to_ne_bytes()),
                    false => Some(Point::parse(text)?.count(unit)?.to_ne_bytes()),
                };
                return Ok(each(texts, count).map(Values::Fixed));
            }
            Way::Signed => {
                each(texts, |text| Some(signed(text)?.to_ne_bytes())).map(|all| (DataType::Int64, all))
            }
            Way::Unsigned => each(texts, |text| Some(parsed::<u64>(text)?.to_ne_bytes()))
                .map(|all| (DataType::UInt64, all)),
            Way::Single => each(texts, |text| Some(float(text, f32::NAN)?.to_ne_bytes()))
                .map(|all| (DataType::Float32, all)),
            Way::Double => each(texts, |text| Some(float(text, f64::NAN)?.to_ne_bytes()))
                .map(|all| (DataType::Float64, all)),
        };
        let (wide, bytes) = match wide {
            Ok(wide) => wide,
            Err(at) => return Ok(Err(at)),
        };
        if wide == self.data_type || self.data_type.time().is_some() {
            return Ok(Ok(Values::Fixed(bytes)));
        }
        let casting =
            if matches!(self.way, Way::Single | Way::Double) { Casting::Lossy } else { Casting::Exact };
        let count = bytes.len() / wide.size();
        let cast = DynArray::new(wide, vec![count], bytes)?.cast(&self.data_type, casting, &self.registry)?;
        Ok(Ok(Values::Fixed(cast.into_bytes())))
    }
}

fn float<T: std::str::FromStr>(text: &[u8], missing: T) -> Option<T> {
    if is_missing(text) { Some(missing) } else { parsed(text) }
}

/// Converts strings one by one. Returns the bytes of all elements, or the position of the first invalid string.
fn each<'t, const N: usize>(
    texts: impl Iterator<Item = &'t [u8]>,
    element: impl Fn(&[u8]) -> Option<[u8; N]>,
) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(texts.size_hint().1.unwrap_or_default().saturating_mul(N));
    for (at, text) in texts.enumerate() {
        bytes.extend_from_slice(&element(text).ok_or(at)?);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn fixed(data_type: &DataType, texts: &[&str]) -> Result<Vec<u8>, usize> {
        let parser = Parser::new(data_type).unwrap();
        let values = parser.parse(texts.iter().map(|text| text.as_bytes())).unwrap()?;
        let Values::Fixed(bytes) = values else { panic!("no bytes") };
        Ok(bytes)
    }

    #[test]
    fn texts_become_elements_or_are_pointed_at() {
        assert_eq!(fixed(&DataType::Int16, &["1", "-2"]), Ok([1_i16, -2].map(i16::to_ne_bytes).concat()));
        assert_eq!(fixed(&DataType::UInt8, &["1", "-2"]), Err(1));
        assert_eq!(
            fixed(&DataType::Float32, &["0.1", "1e5"]),
            Ok([0.1_f32, 1e5].map(f32::to_ne_bytes).concat())
        );
        assert_eq!(fixed(&DataType::Bool, &["True", "false"]), Ok(vec![1, 0]));
        let seconds = DataType::datetime64(TimeUnit::Second);
        let expected = [86_400, NOT_A_TIME].map(i64::to_ne_bytes).concat();
        assert_eq!(fixed(&seconds, &["1970-01-02", ""]), Ok(expected));
        let parser = Parser::new(&DataType::Int8).unwrap();
        assert_error(
            parser.parse([b"200".as_slice()].into_iter()),
            ErrorKind::InvalidArgument,
            "element [0]",
        );
        assert_error(
            Parser::new(&DataType::Complex64),
            ErrorKind::Unsupported,
            "cannot be converted to complex64",
        );
    }
}
