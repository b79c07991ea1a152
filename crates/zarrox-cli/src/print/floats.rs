//! Columns of floats. All floats have the same notation, and the number of digits that the longest one needs.

use half::f16;
use zarrox::DataType;
use zarrox::data_type::Family;

/// The maximum number of printed digits after the point.
const PRECISION: usize = 8;

/// A float: its value as `f64`, which is exact, and its shortest text.
pub(super) struct Float {
    size: usize,
    value: f64,
    text: String,
}

impl Float {
    pub(super) fn new(element: &[u8], family: &dyn Family) -> Self {
        let (value, data_type) = match *element {
            [a, b] => (f16::from_ne_bytes([a, b]).to_f64(), DataType::Float16),
            [a, b, c, d] => (f32::from_ne_bytes([a, b, c, d]).into(), DataType::Float32),
            _ => (f64::from_ne_bytes(element.try_into().unwrap_or_default()), DataType::Float64),
        };
        Self { size: element.len(), value, text: family.format(&data_type, element) }
    }

    /// Returns the sign with the digits before the decimal point, and the digits after it.
    fn positional(&self, plus: bool) -> (String, String) {
        let short = self.text.split_once('.').filter(|(_, fraction)| fraction.len() <= PRECISION);
        let rounded = format!("{:.PRECISION$}", self.value);
        let (whole, fraction) = match short.filter(|_| !self.text.contains('e')) {
            Some(parts) => parts,
            None => rounded.split_once('.').unwrap_or((&rounded, "")),
        };
        (signed(whole, plus), fraction.trim_end_matches('0').to_owned())
    }

    /// Returns the sign with the digit before the point, the digits after it, and the exponent.
    fn scientific(&self, plus: bool) -> (String, String, i32) {
        let short = self.shortest_scientific();
        let digits = short.find('e').unwrap_or(short.len());
        let digits = short[..digits].trim_start_matches('-').len();
        if digits > PRECISION + 2 {
            let (digit, fraction, exponent) = self.rounded(PRECISION, plus);
            return (digit, fraction.trim_end_matches('0').to_owned(), exponent);
        }
        taken_apart(&short, plus)
    }

    /// Returns the digits in scientific notation, with exactly `precision` digits after the point. If the shortest text has fewer
    /// digits, the remaining ones are those of the exact value.
    fn rounded(&self, precision: usize, plus: bool) -> (String, String, i32) {
        taken_apart(&format!("{:.precision$e}", self.value), plus)
    }

    /// Returns the shortest digits in scientific notation. For a float narrower than `f64`, these digits may differ from the
    /// shortest digits of its value as `f64`, but they denote the nearest `f64`.
    fn shortest_scientific(&self) -> String {
        let short = format!("{:e}", self.text.parse::<f64>().unwrap_or(self.value));
        let (mantissa, _) = short.split_once('e').unwrap_or((&short, ""));
        let precision = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        format!("{:.precision$e}", self.value)
    }
}

/// Splits a number in Rust's scientific notation: `-1.5e-7`.
fn taken_apart(text: &str, plus: bool) -> (String, String, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (digit, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    (signed(digit, plus), fraction.to_owned(), exponent.parse().unwrap_or_default())
}

fn signed(digits: &str, plus: bool) -> String {
    let sign = if plus && !digits.starts_with('-') { "+" } else { "" };
    format!("{sign}{digits}")
}

/// The common format of the floats in a column.
pub(super) struct FloatColumn {
    /// True if positive numbers are printed with a sign.
    plus: bool,
    /// The largest and the smallest magnitude other than zero.
    largest: f64,
    smallest: f64,
    scientific: bool,
    non_finite: bool,
    negative_infinity: bool,
    positional_widths: Widths,
    scientific_widths: Widths,
    exponent_width: usize,
}

/// The widths before and after the point.
#[derive(Debug, Clone, Copy, Default)]
struct Widths {
    whole: usize,
    fraction: usize,
}

impl Widths {
    fn include(&mut self, whole: &str, fraction: &str) {
        self.whole = self.whole.max(whole.len());
        self.fraction = self.fraction.max(fraction.len());
    }
}

impl FloatColumn {
    pub(super) fn new(plus: bool) -> Self {
        Self {
            plus,
            largest: 0.0,
            smallest: f64::INFINITY,
            scientific: false,
            non_finite: false,
            negative_infinity: false,
            positional_widths: Widths::default(),
            scientific_widths: Widths::default(),
            exponent_width: 0,
        }
    }

    pub(super) fn observe(&mut self, float: &Float) {
        if !float.value.is_finite() {
            self.non_finite = true;
            self.negative_infinity |= float.value == f64::NEG_INFINITY;
            return;
        }
        if float.value != 0.0 {
            self.largest = self.largest.max(float.value.abs());
            self.smallest = self.smallest.min(float.value.abs());
            self.scientific = self.scientific || wants_exponent(self.largest, self.smallest, float.size);
        }
        let (whole, fraction, exponent) = float.scientific(self.plus);
        self.scientific_widths.include(&whole, &fraction);
        self.exponent_width = self.exponent_width.max(exponent_digits(exponent).len());
        // If one number needs an exponent, all numbers get one, and this width is not used.
        if !self.scientific {
            let (whole, fraction) = float.positional(self.plus);
            self.positional_widths.include(&whole, &fraction);
        }
    }

    /// Returns the widths before the point, and from the point on.
    fn widths(&self) -> (usize, usize) {
        let Widths { whole, fraction } = self.positional_widths;
        let (mut before, behind) = match self.scientific {
            true => (self.scientific_widths.whole, self.scientific_widths.fraction + self.exponent_width + 3),
            false => (whole, fraction + 1),
        };
        if self.non_finite {
            let infinity = if self.plus || self.negative_infinity { 4_usize } else { 3 };
            before = before.max(infinity.saturating_sub(behind));
        }
        (before, behind)
    }

    pub(super) fn format(&self, float: &Float) -> String {
        let (before, behind) = self.widths();
        if !float.value.is_finite() {
            let total = before + behind;
            return format!("{:>total$}", signed(&float.text, self.plus));
        }
        if self.scientific {
            let (whole, fraction, exponent) = float.rounded(self.scientific_widths.fraction, self.plus);
            let sign = if exponent < 0 { '-' } else { '+' };
            let (digits, width) = (exponent_digits(exponent), self.exponent_width);
            return format!("{whole:>before$}.{fraction}e{sign}{digits:0>width$}");
        }
        let (whole, fraction) = float.positional(self.plus);
        let precision = self.positional_widths.fraction;
        format!("{whole:>before$}.{fraction:<precision$}")
    }
}

fn exponent_digits(exponent: i32) -> String {
    format!("{:02}", exponent.unsigned_abs())
}

/// Returns true if numbers between these magnitudes are printed with exponents. NumPy makes this comparison in the data type of
/// the numbers.
#[expect(clippy::cast_possible_truncation, reason = "the numbers were widened from the narrower type")]
fn wants_exponent(largest: f64, smallest: f64, size: usize) -> bool {
    let narrow = |value: f64| match size {
        2 => f16::from_f64(value).to_f64(),
        4 => f64::from(value as f32),
        _ => value,
    };
    largest >= exponents_from(size) || smallest < narrow(1e-4) || narrow(largest / smallest) > 1000.0
}

/// Returns the magnitude from which NumPy prints columns with exponents.
fn exponents_from(size: usize) -> f64 {
    match size {
        2 => 1e3,
        4 => 1e6,
        _ => 1e8,
    }
}
