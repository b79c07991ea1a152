//! Timestamps and durations in NumPy's form: v3 `numpy.datetime64` and `numpy.timedelta64` with a `unit` and a
//! `scale_factor`; v2 `<M8[…]` and `<m8[…]`.
//!
//! An element is a 64-bit count of units; timestamps are counted from the beginning of 1970. The lowest count means "not
//! a time".

use std::borrow::Cow;

use super::number::bytes_of;
use super::{DataType, Endian, Extension, Family, Storage, TypeString, bad_fill};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of timestamps and durations.
#[derive(Debug)]
pub(crate) struct Times;

const POINT: &str = "numpy.datetime64";
const SPAN: &str = "numpy.timedelta64";
const LONG_POINT: &str = "datetime64";
const LONG_SPAN: &str = "timedelta64";

/// The units, from the largest to the smallest; `generic` has no defined length.
const UNITS: [&str; 14] = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/// The count that means "not a time".
pub const NOT_A_TIME: i64 = i64::MIN;

const LARGEST_SCALE: u32 = 0x7fff_ffff;

/// The kind of the elements of a time type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeKind {
    /// Timestamps: `numpy.datetime64`.
    Point,
    /// Durations: `numpy.timedelta64`.
    Span,
}

/// The unit of a time type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum TimeUnit {
    /// No unit.
    Generic,
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
}

impl TimeUnit {
    const ALL: [Self; UNITS.len()] = [
        Self::Generic,
        Self::Year,
        Self::Month,
        Self::Week,
        Self::Day,
        Self::Hour,
        Self::Minute,
        Self::Second,
        Self::Millisecond,
        Self::Microsecond,
        Self::Nanosecond,
        Self::Picosecond,
        Self::Femtosecond,
        Self::Attosecond,
    ];

    /// Returns the name in metadata: `D`, `ms`.
    pub fn name(self) -> &'static str {
        UNITS[self as usize]
    }

    /// Returns the unit with this name; `μs` is also accepted.
    #[doc(hidden)]
    pub fn parse(name: &str) -> Option<Self> {
        let name = if name == "μs" || name == "µs" { "us" } else { name };
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

/// The kind of a time type, its unit, and the number of units in one count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeType {
    kind: TimeKind,
    unit: TimeUnit,
    scale: u32,
}

impl TimeType {
    /// Creates the type that counts multiples of a unit.
    ///
    /// # Errors
    /// When the multiple is outside 1 to 2³¹ - 1.
    pub fn new(kind: TimeKind, unit: TimeUnit, scale: u32) -> Result<Self> {
        if scale == 0 || scale > LARGEST_SCALE {
            return Err(Error::argument(format!(
                "the multiple of a unit must be 1 to 2^31 - 1, but it is {scale}"
            )));
        }
        Ok(Self { kind, unit, scale })
    }

    /// Returns the kind of the elements: timestamps or durations.
    pub fn kind(&self) -> TimeKind {
        self.kind
    }

    /// Returns the unit.
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// Returns the number of units in one count.
    pub fn scale(&self) -> u32 {
        self.scale
    }
}

impl From<TimeType> for DataType {
    fn from(time: TimeType) -> Self {
        let mut configuration = Map::default();
        configuration.insert("unit".to_owned(), time.unit.name().into());
        configuration.insert("scale_factor".to_owned(), time.scale.into());
        let name = if time.kind == TimeKind::Point { POINT } else { SPAN }.to_owned();
        Self::Extension(Box::new(Extension { name, configuration, storage: Storage::Int(8) }))
    }
}

impl DataType {
    /// Returns the type of timestamps, counted in a unit from the beginning of 1970: NumPy's `datetime64`.
    pub fn datetime64(unit: TimeUnit) -> Self {
        TimeType { kind: TimeKind::Point, unit, scale: 1 }.into()
    }

    /// Returns the type of durations, counted in a unit: NumPy's `timedelta64`.
    pub fn timedelta64(unit: TimeUnit) -> Self {
        TimeType { kind: TimeKind::Span, unit, scale: 1 }.into()
    }

    /// Returns the kind and unit of a time type; `None` for all other types.
    pub fn time(&self) -> Option<TimeType> {
        let (name, unit, scale) = parts(self)?;
        let kind = if name == POINT { TimeKind::Point } else { TimeKind::Span };
        TimeType::new(kind, TimeUnit::parse(unit)?, scale.try_into().ok()?).ok()
    }
}

/// Creates the type with this v3 name and `scale` units in one count.
fn of(name: &str, unit: &str, scale: u64) -> Result<DataType> {
    let Some(unit) = TimeUnit::parse(unit) else {
        return Err(Error::metadata(format!(
            "data type '{name}': the unit {unit:?} is not one of {}",
            UNITS.join(", ")
        )));
    };
    let kind = if name == POINT { TimeKind::Point } else { TimeKind::Span };
    match u32::try_from(scale) {
        Ok(scale) if (1..=LARGEST_SCALE).contains(&scale) => Ok(TimeType { kind, unit, scale }.into()),
        _ => Err(Error::metadata(format!(
            "data type '{name}': scale_factor must be 1 to 2^31 - 1, but it is {scale}"
        ))),
    }
}

/// Returns the name, the unit, and the number of units in one count.
fn parts(data_type: &DataType) -> Option<(&str, &str, i64)> {
    let DataType::Extension(extension) = data_type else { return None };
    let unit = extension.configuration.get("unit")?.as_str()?;
    let scale = extension.configuration.get("scale_factor")?.as_i64()?;
    matches!(extension.name.as_str(), POINT | SPAN).then_some((&extension.name, unit, scale))
}

/// Returns NumPy's name, such as `datetime64[25s]`, given the words for timestamps and durations.
fn named(data_type: &DataType, point: &str, span: &str) -> Option<String> {
    let (name, unit, scale) = parts(data_type)?;
    let word = if name == POINT { point } else { span };
    Some(match (unit, scale) {
        ("generic", _) => word.to_owned(),
        (unit, 1) => format!("{word}[{unit}]"),
        (unit, scale) => format!("{word}[{scale}{unit}]"),
    })
}

/// Returns the display name.
pub(in crate::data_type) fn numpy_name(data_type: &DataType) -> Option<String> {
    named(data_type, LONG_POINT, LONG_SPAN)
}

/// Expands a name in v2 form without a byte order: `M8[ns]` becomes `datetime64[ns]`; all other names are unchanged.
pub(in crate::data_type) fn type_string(name: &str) -> Cow<'_, str> {
    let long = [(LONG_POINT, "M8"), (LONG_SPAN, "m8")];
    let short = long.iter().find_map(|(long, short)| Some([short, name.strip_prefix(long)?].concat()));
    short.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Returns true if NumPy prints this element in quotes: for timestamps, and for "not a time".
pub(in crate::data_type) fn is_time(data_type: &DataType, text: &str) -> bool {
    data_type.is_named(POINT) || (data_type.is_named(SPAN) && text == "NaT")
}

impl Family for Times {
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>> {
        if name != POINT && name != SPAN {
            return None;
        }
        let missing =
            |member| Error::metadata(format!("data type '{name}' needs a '{member}' in its configuration"));
        let unit = configuration.get("unit").and_then(Json::as_str).ok_or_else(|| missing("unit"));
        let scale = configuration.get("scale_factor").and_then(Json::as_u64);
        let scale = scale.ok_or_else(|| missing("scale_factor"));
        Some(unit.and_then(|unit| of(name, unit, scale?)))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let name = match dtype.kind {
            'M' => POINT,
            'm' => SPAN,
            _ => return None,
        };
        dtype.endian?;
        let inside = match dtype.rest.strip_prefix('8')? {
            "" => "generic",
            unit => unit.strip_prefix('[')?.strip_suffix(']')?,
        };
        let digits = inside.len() - inside.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (scale, unit) = inside.split_at(digits);
        let scale = if scale.is_empty() { 1 } else { scale.parse().ok()? };
        Some(of(name, unit, scale))
    }

    fn examples(&self) -> Vec<DataType> {
        [of(POINT, "ns", 1), of(SPAN, "s", 25)].into_iter().flatten().collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        parts(data_type).is_some()
    }

    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        let name = named(data_type, "M8", "m8").ok_or_else(|| Error::metadata("not a time type"))?;
        Ok(format!("{}{name}", endian.character()).into())
    }

    fn default_fill(&self, _: &DataType) -> FillValue {
        FillValue::new(NOT_A_TIME.to_ne_bytes())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let count = match json {
            Json::String(text) if text == "NaT" => Some(NOT_A_TIME),
            Json::Number(_) => json.as_i64(),
            Json::String(text) if strictness == Strictness::Lenient => text.parse().ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| bad_fill(data_type, json, "an integer or \"NaT\""))?;
        Ok(FillValue::new(count.to_ne_bytes()))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        match i64::from_ne_bytes(bytes_of(fill.as_bytes())) {
            NOT_A_TIME => "NaT".into(),
            _ => self.fill_to_v2(data_type, fill),
        }
    }

    fn fill_to_v2(&self, _: &DataType, fill: &FillValue) -> Json {
        i64::from_ne_bytes(bytes_of(fill.as_bytes())).into()
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        let count = i64::from_ne_bytes(bytes_of(element));
        match parts(data_type) {
            _ if count == NOT_A_TIME => "NaT".to_owned(),
            Some((POINT, unit, scale)) if unit != "generic" => {
                iso_8601(unit, i128::from(count) * i128::from(scale))
            }
            _ => count.to_string(),
        }
    }
}

/// Formats a count of units since the beginning of 1970 as the calendar date, followed by the time of day if the unit is shorter
/// than a day.
fn iso_8601(unit: &str, count: i128) -> String {
    match unit {
        "Y" => format!("{:04}", 1970 + count),
        "M" => format!("{:04}-{:02}", 1970 + count.div_euclid(12), count.rem_euclid(12) + 1),
        "W" => date(count * 7),
        "D" => date(count),
        _ => {
            // The number of units in a day, and the number of displayed digits of a second.
            let (per_day, digits) = match unit {
                "h" => (24, 0),
                "m" => (24 * 60, 0),
                "s" => (86_400, 0),
                "ms" => (86_400 * 10_i128.pow(3), 3),
                "us" => (86_400 * 10_i128.pow(6), 6),
                "ns" => (86_400 * 10_i128.pow(9), 9),
                "ps" => (86_400 * 10_i128.pow(12), 12),
                "fs" => (86_400 * 10_i128.pow(15), 15),
                _ => (86_400 * 10_i128.pow(18), 18),
            };
            let of_day = count.rem_euclid(per_day);
            let date = date(count.div_euclid(per_day));
            match unit {
                "h" => format!("{date}T{of_day:02}"),
                "m" => format!("{date}T{:02}:{:02}", of_day / 60, of_day % 60),
                _ => format!("{date}T{}", time_of_day(of_day, digits)),
            }
        }
    }
}

fn time_of_day(count: i128, digits: u32) -> String {
    let per_second = 10_i128.pow(digits);
    let (seconds, fraction) = (count / per_second, count % per_second);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let width = digits as usize;
    if digits == 0 { time } else { format!("{time}.{fraction:0width$}") }
}

/// Formats the Gregorian date of a day, which is counted from 1970-01-01. Years begin in March in this computation, so that the
/// leap day is the last day.
fn date(days: i128) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;
    use crate::registry::Registry;

    #[test]
    fn names_and_fill_values_in_both_formats() {
        let registry = Registry::new();
        let cases = [
            ("<M8[ns]", POINT, "ns", 1),
            (">M8[25s]", POINT, "s", 25),
            ("<m8[D]", SPAN, "D", 1),
            ("<m8", SPAN, "generic", 1),
            ("<M8[100as]", POINT, "as", 100),
        ];
        for (v2, name, unit, scale) in cases {
            let (data_type, endian) = registry.data_type_from_v2(&json!(v2)).unwrap();
            let v3 = json!({"name": name, "configuration": {"unit": unit, "scale_factor": scale}});
            assert_eq!(registry.data_type_from_v3(&v3).unwrap(), data_type);
            let family = registry.family(&data_type).unwrap();
            assert_eq!(family.to_v3(&data_type).unwrap(), v3);
            assert_eq!(registry.data_type_to_v2(&data_type, &endian.unwrap()).unwrap(), json!(v2));
            let time = data_type.time().unwrap();
            assert_eq!((time.unit().name(), time.scale()), (unit, scale));
            assert_eq!(DataType::from(time), data_type);
            for (json, v3, v2) in
                [(json!("NaT"), json!("NaT"), json!(i64::MIN)), (json!(5), json!(5), json!(5))]
            {
                let fill = family.fill_from_json(&data_type, &json, Strictness::Strict).unwrap();
                assert_eq!(family.fill_to_v3(&data_type, &fill), v3);
                assert_eq!(family.fill_to_v2(&data_type, &fill), v2);
                assert_eq!(family.fill_from_json(&data_type, &v2, Strictness::Strict).unwrap(), fill);
            }
            assert_eq!(family.fill_to_v3(&data_type, &family.default_fill(&data_type)), json!("NaT"));
        }
        for bad in ["|M8[ns]", "<M8[xx]", "<M8[0s]", "<M8[s", "<M4[s]", "<M8[99999999999s]"] {
            assert!(registry.data_type_from_v2(&json!(bad)).is_err(), "{bad}");
        }
        let micro = json!({"name": POINT, "configuration": {"unit": "μs", "scale_factor": 1}});
        assert!(registry.data_type_from_v3(&micro).is_ok());
        for bad in
            [json!({"unit": "s"}), json!({"scale_factor": 1}), json!({"unit": "s", "scale_factor": -1})]
        {
            assert_eq!(
                registry.data_type_from_v3(&json!({"name": POINT, "configuration": bad})).unwrap_err().kind(),
                crate::ErrorKind::InvalidMetadata
            );
        }
    }

    #[test]
    fn units_have_names_and_types() {
        assert_eq!(TimeUnit::ALL.map(TimeUnit::name), UNITS);
        assert_eq!(TimeUnit::ALL.map(|unit| TimeUnit::parse(unit.name())), TimeUnit::ALL.map(Some));
        assert_eq!(DataType::datetime64(TimeUnit::Day), of(POINT, "D", 1).unwrap());
        assert_eq!(DataType::timedelta64(TimeUnit::Generic), of(SPAN, "generic", 1).unwrap());
        assert_eq!(DataType::Int64.time(), None);
        for scale in [0, 1 << 31] {
            assert_eq!(
                TimeType::new(TimeKind::Span, TimeUnit::Second, scale).unwrap_err().kind(),
                crate::ErrorKind::InvalidArgument
            );
        }
    }

    /// Returns the result of `str(numpy.datetime64(count, unit))` in NumPy 2.5.
    #[test]
    fn points_in_time_print_as_numpy_prints_them() {
        let cases = [
            ("Y", 50, "2020"),
            ("Y", -1971, "-001"),
            ("M", -1, "1969-12"),
            ("W", 1, "1970-01-08"),
            ("D", -1, "1969-12-31"),
            ("D", 11_016, "2000-02-29"),
            ("D", -719_528, "0000-01-01"),
            ("h", -1, "1969-12-31T23"),
            ("m", 61, "1970-01-01T01:01"),
            ("s", 1_700_000_000, "2023-11-14T22:13:20"),
            ("ms", -1, "1969-12-31T23:59:59.999"),
            ("ns", 1, "1970-01-01T00:00:00.000000001"),
            ("as", i64::MAX, "1970-01-01T00:00:09.223372036854775807"),
            ("ns", i64::MAX, "2262-04-11T23:47:16.854775807"),
        ];
        for (unit, count, text) in cases {
            let data_type = of(POINT, unit, 1).unwrap();
            assert_eq!(Times.format(&data_type, &i64::to_ne_bytes(count)), text, "{unit} {count}");
        }
        let data_type = of(POINT, "s", 25).unwrap();
        assert_eq!(Times.format(&data_type, &4_i64.to_ne_bytes()), "1970-01-01T00:01:40");
        assert_eq!(Times.format(&data_type, &NOT_A_TIME.to_ne_bytes()), "NaT");
        assert_eq!(Times.format(&of(SPAN, "s", 1).unwrap(), &7_i64.to_ne_bytes()), "7");
        // Every count can be formatted.
        for unit in UNITS {
            for count in [i64::MIN + 1, i64::MAX] {
                let data_type = of(POINT, unit, 0x7fff_ffff).unwrap();
                assert!(!Times.format(&data_type, &count.to_ne_bytes()).is_empty());
            }
        }
    }
}
