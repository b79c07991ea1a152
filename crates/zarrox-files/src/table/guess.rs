//! Infers the type of a column of strings.

use zarrox::DataType;
use zarrox::data_type::TimeUnit;

use super::dates::Point;

/// The bound up to which floats represent all integers exactly.
const EXACT: u64 = 1 << 53;

/// Returns true for a string that marks a missing value in a column of numbers or dates.
pub(super) fn is_missing(text: &[u8]) -> bool {
    matches!(
        text,
        b"" | b"NA"
            | b"N/A"
            | b"n/a"
            | b"NaN"
            | b"nan"
            | b"-nan"
            | b"NULL"
            | b"null"
            | b"None"
            | b"NaT"
            | b"<NA>"
    )
}

/// Parses a boolean.
pub(super) fn truth(text: &[u8]) -> Option<bool> {
    match text {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// Parses a number.
pub(super) fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses an integer.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // Up to 18 digits cannot overflow, and most columns have no more.
    if !(1..=18).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return parsed(text);
    }
    let size = digits.iter().fold(0, |size, digit| size * 10 + i64::from(digit - b'0'));
    Some(if is_negative { -size } else { size })
}

/// Returns true if a string can be parsed as a float.
fn is_float(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let mut points = 0;
    let is_plain = digits.iter().all(|byte| match byte {
        b'0'..=b'9' => true,
        b'.' => {
            points += 1;
            true
        }
        _ => false,
    });
    // Digits with at most one decimal point are recognised as a float without parsing, unless they could be out of range.
    let is_float = is_plain && points <= 1 && digits.len() > points && digits.len() < 300;
    is_float || parsed(text).is_some_and(|float: f64| !float.is_infinite() || is_named_infinity(digits))
}

/// Returns true for the names of infinity, but not for numbers that overflow to infinity.
fn is_named_infinity(text: &[u8]) -> bool {
    !text.iter().any(u8::is_ascii_digit)
}

/// Returns true if a string is an integer, of any size.
fn is_whole(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// The types to which all values in a column seen so far can be converted.
#[derive(Debug)]
pub(super) struct Guess {
    has_values: bool,
    has_missing: bool,
    signed: bool,
    unsigned: bool,
    float: bool,
    truth: bool,
    point: bool,
    /// True if every value is an integer, of any size.
    whole: bool,
    /// True if floats represent every integer exactly.
    is_exact: bool,
    /// The unit that represents the fractional seconds of all timestamps.
    unit: TimeUnit,
    /// The earliest and latest timestamps.
    extent: Option<(Point, Point)>,
}

impl Default for Guess {
    fn default() -> Self {
        Self {
            has_values: false,
            has_missing: false,
            signed: true,
            unsigned: true,
            float: true,
            truth: true,
            point: true,
            whole: true,
            is_exact: true,
            unit: TimeUnit::Day,
            extent: None,
        }
    }
}

impl Guess {
    /// Takes a value into account.
    pub(super) fn see(&mut self, text: &[u8]) {
        let is_text = !(self.signed || self.unsigned || self.float || self.truth || self.point);
        if is_text && self.has_values {
            return;
        }
        if is_missing(text) {
            self.has_missing = true;
            return;
        }
        self.has_values = true;
        if self.signed || self.unsigned {
            let signed = signed(text);
            let size = signed.map(i64::unsigned_abs).or_else(|| parsed(text));
            self.signed &= signed.is_some();
            self.unsigned &= size.is_some() && signed.is_none_or(|value| value >= 0);
            self.is_exact &= size.is_none_or(|size| size <= EXACT);
            if size.is_some() {
                // An integer is also a float, but neither a boolean nor a timestamp.
                (self.truth, self.point) = (false, false);
                return;
            }
        }
        self.whole = self.whole && is_whole(text);
        self.float = self.float && is_float(text);
        self.truth = self.truth && truth(text).is_some();
        if self.point {
            match Point::parse(text) {
                Some(point) => self.see_point(point),
                None => self.point = false,
            }
        }
    }

    fn see_point(&mut self, point: Point) {
        if point.unit as u8 > self.unit as u8 {
            self.unit = point.unit;
        }
        let (first, last) = self.extent.unwrap_or((point, point));
        let is_before = |one: Point, other: Point| one.since_1970() < other.since_1970();
        self.extent = Some((
            if is_before(point, first) { point } else { first },
            if is_before(last, point) { point } else { last },
        ));
    }

    /// Returns true if the unit can represent all timestamps.
    fn has_unit(&self) -> bool {
        self.extent.is_none_or(|(first, last)| [first, last].iter().all(|one| one.count(self.unit).is_some()))
    }

    /// Returns the type of the column; `None` for strings.
    pub(super) fn data_type(&self) -> Option<DataType> {
        let whole = |data_type: DataType| match (self.has_missing, self.is_exact) {
            (false, _) => Some(data_type),
            (true, true) => Some(DataType::Float64),
            (true, false) => None,
        };
        if !self.has_values {
            return Some(DataType::Float64);
        }
        if self.signed {
            return whole(DataType::Int64);
        }
        if self.unsigned {
            return whole(DataType::UInt64);
        }
        if self.float {
            if self.whole {
                // Floats cannot represent all integers of more than 64 bits.
                return None;
            }
            return Some(DataType::Float64);
        }
        if self.truth {
            return (!self.has_missing).then_some(DataType::Bool);
        }
        (self.point && self.has_unit()).then(|| DataType::datetime64(self.unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let texts = [
            "0",
            "-0",
            "12",
            "-7",
            "+5",
            "999999999999999999",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "1.5",
            "-.5",
            "5.",
            ".",
            "-",
            "",
            "--1",
            "1..2",
            "1e5",
            "inf",
            "1_000",
            "1-2",
        ];
        for text in texts {
            assert_eq!(signed(text.as_bytes()), text.parse().ok(), "{text}");
            assert_eq!(is_float(text.as_bytes()), text.parse::<f64>().is_ok(), "{text}");
        }
    }

    #[test]
    fn a_column_has_the_type_of_all_its_values() {
        let of = |texts: &[&str]| {
            let mut guess = Guess::default();
            texts.iter().for_each(|text| guess.see(text.as_bytes()));
            guess.data_type().map_or("text".to_owned(), |data_type| data_type.to_string())
        };
        assert_eq!(of(&["1", "-2"]), "int64");
        assert_eq!(of(&["1", "18446744073709551615"]), "uint64");
        assert_eq!(of(&["-1", "18446744073709551615"]), "text");
        assert_eq!(of(&["1", "99999999999999999999"]), "text");
        assert_eq!(of(&["1", "99999999999999999999", "1e400"]), "text");
        assert_eq!(of(&["1.5", "99999999999999999999", "Infinity"]), "float64");
        assert_eq!(of(&["1", &"9".repeat(400)]), "text");
        assert_eq!(of(&["0.5", &"9".repeat(400)]), "text");
        assert_eq!(of(&["1", ""]), "float64");
        assert_eq!(of(&["9007199254740993", ""]), "text");
        assert_eq!(of(&["1", "2.5", "nan", "-inf", "1e3"]), "float64");
        assert_eq!(of(&["true", "False"]), "bool");
        assert_eq!(of(&["true", "1"]), "text");
        assert_eq!(of(&["1", "true"]), "text");
        assert_eq!(of(&["true", ""]), "text");
        assert_eq!(of(&["2024-01-01", "2024-05-06"]), "datetime64[D]");
        assert_eq!(of(&["2024-01-01", "2024-05-06T12:00:00.5", "NaT"]), "datetime64[ms]");
        assert_eq!(of(&["2024-01-01", "5"]), "text");
        assert_eq!(of(&["1600-01-01", "2020-01-01T00:00:00.123456"]), "datetime64[us]");
        assert_eq!(of(&["1600-01-01", "2020-01-01T00:00:00.123456789"]), "text");
        assert_eq!(of(&["2020-01-01T00:00:00.123456789", "9999-01-01"]), "text");
        assert_eq!(of(&["", "NA"]), "float64");
        assert_eq!(of(&["a", "1"]), "text");
    }
}
