//! The columns of printed numbers: as wide as the widest of them, floats all in one notation.

use half::f16;
use zarrox::data_type::{Family, Storage, utf32_text};
use zarrox::registry::FamilyRef;
use zarrox::{DataType, Registry, Result};

/// What times have that are none.
const NOT_A_TIME: &str = "NaT";

/// So many digits behind the point are printed at most.
const PRECISION: usize = 8;

/// How the elements of an array are printed: shown every element first, it then formats them all alike.
pub(crate) struct Columns<'r> {
    data_type: DataType,
    family: FamilyRef<'r>,
    floats: FamilyRef<'r>,
    kind: Kind,
}

enum Kind {
    /// Right-aligned in so many characters.
    Aligned(usize),
    /// The same for points in time, in quotes.
    Quoted(usize),
    /// The same for spans of time, where only what is no count is in quotes.
    Counts(usize),
    /// As they are.
    Plain,
    Float(FloatColumn),
    Complex(FloatColumn, FloatColumn),
}

impl<'r> Columns<'r> {
    pub(crate) fn new(data_type: &DataType, registry: &'r Registry) -> Result<Self> {
        let kind = match data_type {
            DataType::Extension(extension) if extension.name == "numpy.datetime64" => Kind::Quoted(0),
            DataType::Extension(extension) if extension.name == "numpy.timedelta64" => Kind::Counts(0),
            DataType::Extension(_) | DataType::RawBits(_) | DataType::Struct(_) => Kind::Plain,
            core => match core.storage() {
                Storage::Float(_) => Kind::Float(FloatColumn::new(false)),
                Storage::Complex(_) => Kind::Complex(FloatColumn::new(false), FloatColumn::new(true)),
                // NumPy gives even `False False` the same five characters as `True`.
                Storage::Bool => Kind::Aligned(5),
                _ => Kind::Aligned(0),
            },
        };
        let (family, floats) = (registry.family(data_type)?, registry.family(&DataType::Float64)?);
        Ok(Self { data_type: data_type.clone(), family, floats, kind })
    }

    /// Takes note of an element.
    pub(crate) fn observe(&mut self, element: &[u8]) {
        let quoted = matches!(self.kind, Kind::Quoted(_));
        match &mut self.kind {
            Kind::Plain => {}
            Kind::Aligned(width) => *width = self.family.format(&self.data_type, element).len().max(*width),
            Kind::Quoted(width) | Kind::Counts(width) => {
                // Two characters more are the quotes.
                let text = self.family.format(&self.data_type, element);
                *width = (text.len() + 2 * usize::from(quoted || text == NOT_A_TIME)).max(*width);
            }
            Kind::Float(column) => column.observe(&Float::new(element, &*self.floats)),
            Kind::Complex(real, imaginary) => {
                let (a, b) = element.split_at(element.len() / 2);
                real.observe(&Float::new(a, &*self.floats));
                imaginary.observe(&Float::new(b, &*self.floats));
            }
        }
    }

    /// An element's text.
    pub(crate) fn format(&self, element: &[u8]) -> String {
        let plain = || self.family.format(&self.data_type, element);
        match &self.kind {
            Kind::Plain => plain(),
            Kind::Aligned(width) => format!("{:>width$}", plain()),
            Kind::Counts(width) if plain() != NOT_A_TIME => format!("{:>width$}", plain()),
            Kind::Quoted(width) | Kind::Counts(width) => format!("{:>width$}", format!("'{}'", plain())),
            Kind::Float(column) => column.format(&Float::new(element, &*self.floats)),
            Kind::Complex(real, imaginary) => {
                let (a, b) = element.split_at(element.len() / 2);
                let imaginary = imaginary.format(&Float::new(b, &*self.floats));
                let digits = imaginary.trim_end();
                let padding = &imaginary[digits.len()..];
                format!("{}{digits}j{padding}", real.format(&Float::new(a, &*self.floats)))
            }
        }
    }
}

/// The text of an element without dimensions: shorter than in a column, and with all its digits.
pub(crate) fn scalar(data_type: &DataType, element: &[u8], registry: &Registry) -> Result<String> {
    let floats = registry.family(&DataType::Float64)?;
    Ok(match data_type {
        // Text alone stands without the quotes.
        text if matches!(text.storage(), Storage::Utf32(_)) => utf32_text(element),
        DataType::Extension(_) | DataType::RawBits(_) | DataType::Struct(_) => {
            registry.family(data_type)?.format(data_type, element)
        }
        core => match core.storage() {
            Storage::Float(_) => Float::new(element, &*floats).alone(),
            Storage::Complex(_) => {
                let (real, imaginary) = element.split_at(element.len() / 2);
                complex_alone(&Float::new(real, &*floats), &Float::new(imaginary, &*floats))
            }
            _ => registry.family(core)?.format(core, element),
        },
    })
}

/// NumPy leaves out a real part of zero, unless it is negative, and a fraction of zero.
fn complex_alone(real: &Float, imaginary: &Float) -> String {
    let part = |float: &Float| {
        let text = float.alone();
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    if real.value == 0.0 && real.value.is_sign_positive() {
        return format!("{}j", part(imaginary));
    }
    format!("({}{}j)", part(real), signed(&part(imaginary), true))
}

/// A float: its value, which `f64` holds whatever its size, and its shortest text.
struct Float {
    size: usize,
    value: f64,
    text: String,
}

impl Float {
    fn new(element: &[u8], family: &dyn Family) -> Self {
        let (value, data_type) = match *element {
            [a, b] => (f16::from_ne_bytes([a, b]).to_f64(), DataType::Float16),
            [a, b, c, d] => (f32::from_ne_bytes([a, b, c, d]).into(), DataType::Float32),
            _ => (f64::from_ne_bytes(element.try_into().unwrap_or_default()), DataType::Float64),
        };
        let text = half_to_even(value, family.format(&data_type, element));
        Self { size: element.len(), value, text }
    }

    /// The text of a float by itself. Narrow ones have an exponent from a smaller magnitude on.
    fn alone(&self) -> String {
        let limit = if self.size == 8 { 1e16 } else { exponents_from(self.size) };
        if !self.value.is_finite() || self.value.abs() < limit {
            return self.text.clone();
        }
        let (digit, fraction, exponent) = taken_apart(&self.shortest_scientific(), false);
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{digit}{point}{fraction}e+{}", exponent_digits(exponent))
    }

    /// The sign, and what stands in front of the point and behind it.
    fn positional(&self, plus: bool) -> (String, String) {
        let short = self.text.split_once('.').filter(|(_, fraction)| fraction.len() <= PRECISION);
        let rounded = format!("{:.PRECISION$}", self.value);
        let (whole, fraction) = match short.filter(|_| !self.text.contains('e')) {
            Some(parts) => parts,
            None => rounded.split_once('.').unwrap_or((&rounded, "")),
        };
        (signed(whole, plus), fraction.trim_end_matches('0').to_owned())
    }

    /// The sign and the digit in front of the point, the digits behind it, and the exponent.
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

    /// The same with exactly so many digits behind the point: as many as the value truly has, where its shortest text
    /// has fewer.
    fn rounded(&self, precision: usize, plus: bool) -> (String, String, i32) {
        taken_apart(&format!("{:.precision$e}", self.value), plus)
    }

    /// The shortest digits in scientific notation; those of a narrow float are not those of the `f64` of its value,
    /// but they do make the nearest `f64`'s.
    fn shortest_scientific(&self) -> String {
        let short = format!("{:e}", self.text.parse::<f64>().unwrap_or(self.value));
        let (mantissa, _) = short.split_once('e').unwrap_or((&short, ""));
        let precision = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        format!("{:.precision$e}", self.value)
    }
}

/// Where two of the shortest texts are equally near, NumPy takes that with the even digit, Rust the larger.
fn half_to_even(value: f64, text: String) -> String {
    match text.split_once('.') {
        // Whole numbers of many digits end in zeros that are not exact.
        Some((_, fraction)) if fraction != "0" && !text.contains('e') => {
            format!("{value:.precision$}", precision = fraction.len())
        }
        _ => text,
    }
}

/// The parts of a number in Rust's scientific notation: `-1.5e-7`.
fn taken_apart(text: &str, plus: bool) -> (String, String, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (digit, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    (signed(digit, plus), fraction.to_owned(), exponent.parse().unwrap_or_default())
}

fn signed(digits: &str, plus: bool) -> String {
    let sign = if plus && !digits.starts_with('-') { "+" } else { "" };
    format!("{sign}{digits}")
}

/// What the floats of a column have in common.
struct FloatColumn {
    /// Whether positive numbers have a sign.
    plus: bool,
    /// The largest and the smallest magnitude but for zero.
    largest: f64,
    smallest: f64,
    scientific: bool,
    non_finite: bool,
    negative_infinity: bool,
    positional_widths: Widths,
    scientific_widths: Widths,
    exponent_width: usize,
}

/// The widths before and behind the point.
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
    fn new(plus: bool) -> Self {
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

    fn observe(&mut self, float: &Float) {
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
        // Once some number wants an exponent all have one, and this width is not needed any more.
        if !self.scientific {
            let (whole, fraction) = float.positional(self.plus);
            self.positional_widths.include(&whole, &fraction);
        }
    }

    /// The widths before the point, and of the point and all behind it.
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

    fn format(&self, float: &Float) -> String {
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

/// Whether numbers between these magnitudes are printed with exponents. NumPy compares in the numbers' own type.
#[expect(clippy::cast_possible_truncation, reason = "the numbers were widened from the narrower type")]
fn wants_exponent(largest: f64, smallest: f64, size: usize) -> bool {
    let narrow = |value: f64| match size {
        2 => f16::from_f64(value).to_f64(),
        4 => f64::from(value as f32),
        _ => value,
    };
    largest >= exponents_from(size) || smallest < narrow(1e-4) || narrow(largest / smallest) > 1000.0
}

/// From this magnitude on NumPy's columns have exponents.
fn exponents_from(size: usize) -> f64 {
    match size {
        2 => 1e3,
        4 => 1e6,
        _ => 1e8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_printed_as_numpys_str_prints_them() {
        let registry = zarrox::codecs::registry();
        let f2 = |v: f64| scalar(&DataType::Float16, &f16::from_f64(v).to_ne_bytes(), &registry).unwrap();
        let f4 = |v: f32| scalar(&DataType::Float32, &v.to_ne_bytes(), &registry).unwrap();
        let f8 = |v: f64| scalar(&DataType::Float64, &v.to_ne_bytes(), &registry).unwrap();
        assert_eq!([f2(999.0), f2(1000.0), f2(65504.0)], ["999.0", "1e+03", "6.55e+04"]);
        assert_eq!([f4(999_999.0), f4(1e6), f4(-16_777_216.0)], ["999999.0", "1e+06", "-1.6777216e+07"]);
        assert_eq!([f8(1e8), f8(1e16), f8(1e-5), f8(-0.0)], ["100000000.0", "1e+16", "1e-05", "-0.0"]);
        assert_eq!(
            [f4(-1_390_265.0 / 8.0), f8(562_949_953_421_313.0 / 8.0)],
            ["-173783.12", "70368744177664.12"]
        );
        assert_eq!([f8(f64::NAN), f4(f32::NEG_INFINITY)], ["nan", "-inf"]);
        let c8 = |a: f32, b: f32| {
            scalar(&DataType::Complex64, &[a.to_ne_bytes(), b.to_ne_bytes()].concat(), &registry).unwrap()
        };
        assert_eq!([c8(0.0, 1.0), c8(0.0, -0.0), c8(0.0, f32::NAN)], ["1j", "-0j", "nanj"]);
        assert_eq!([c8(-0.0, 1.0), c8(1e6, 0.5), c8(1.0, -2.0)], ["(-0+1j)", "(1e+06+0.5j)", "(1-2j)"]);
    }
}
