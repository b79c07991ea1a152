//! Times as the types of `jiff` and `chrono`.

#![cfg(all(feature = "jiff", feature = "chrono"))]
#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use jiff::{SignedDuration, Timestamp, civil};
use ndarray::{ArrayD, IxDyn, arr1};
use proptest::prelude::*;
use zarrox::data_type::{TimeKind, TimeType, TimeUnit};
use zarrox::{DataType, DynArray, ErrorKind, FromElement, Registry, Result, ToElement};
use zarrox_testkit::errors::assert_error;

fn named(dtype: &str) -> DataType {
    Registry::new().data_type_from_v2(&dtype.into()).unwrap().0
}

fn read<T: FromElement + 'static>(data_type: &DataType, count: i64) -> Result<Option<T>> {
    let array = DynArray::new(data_type.clone(), vec![], count.to_ne_bytes().to_vec()).unwrap();
    array.to::<ArrayD<Option<T>>>().map(|times| times.into_iter().next().unwrap())
}

fn write<T: ToElement + 'static>(data_type: &DataType, time: Option<T>) -> Result<i64> {
    let times = ArrayD::from_shape_vec(IxDyn(&[]), vec![time]).unwrap();
    Ok(DynArray::from_values(data_type.clone(), &times)?.to::<ArrayD<i64>>().unwrap()[[]])
}

/// Reads a count, compares it with the time, and writes it back.
fn both_ways<T: FromElement + ToElement + PartialEq + std::fmt::Debug + 'static>(
    data_type: &DataType,
    count: i64,
    time: &T,
) {
    assert_eq!(read::<T>(data_type, count).unwrap().as_ref(), Some(time), "{data_type} {count}");
    assert_eq!(write(data_type, Some(time.clone())).unwrap(), count, "{time:?}");
}

/// The unit and its multiple, a count, and the time as NumPy 2.5.5 prints it: by `str(time.astype("M8[ns]"))` if the time is in
/// the range of nanoseconds, otherwise in the unit `s`, `ms` or `us`.
const POINTS: [(&str, i64, &str); 30] = [
    ("Y", 50, "2020-01-01T00:00:00"),
    ("Y", -1970, "0000-01-01T00:00:00"),
    ("Y", -3000, "-1030-01-01T00:00:00"),
    ("M", -1, "1969-12-01T00:00:00"),
    ("M", 361, "2000-02-01T00:00:00"),
    ("7M", -3, "1968-04-01T00:00:00"),
    ("100Y", 1, "2070-01-01T00:00:00"),
    ("W", 1, "1970-01-08T00:00:00"),
    ("W", -104_000, "-024-10-21T00:00:00"),
    ("D", -1, "1969-12-31T00:00:00"),
    ("D", 11_016, "2000-02-29T00:00:00"),
    ("D", -719_528, "0000-01-01T00:00:00"),
    ("D", 2_932_896, "9999-12-31T00:00:00"),
    ("h", -1, "1969-12-31T23:00:00"),
    ("m", 61, "1970-01-01T01:01:00"),
    ("s", 1_700_000_000, "2023-11-14T22:13:20"),
    ("s", -62_135_596_801, "0000-12-31T23:59:59"),
    ("25s", -4, "1969-12-31T23:58:20"),
    ("ms", -1, "1969-12-31T23:59:59.999000000"),
    ("ms", 253_402_214_400_001, "9999-12-31T00:00:00.001"),
    ("us", -62_135_596_800_000_001, "0000-12-31T23:59:59.999999"),
    ("ns", 1, "1970-01-01T00:00:00.000000001"),
    ("ns", -1, "1969-12-31T23:59:59.999999999"),
    ("ns", i64::MAX, "2262-04-11T23:47:16.854775807"),
    ("ns", -i64::MAX, "1677-09-21T00:12:43.145224193"),
    ("ps", 1_000, "1970-01-01T00:00:00.000000001"),
    ("ps", -10_000_000_000_000_000, "1969-12-31T21:13:20.000000000"),
    ("fs", -3_000_000, "1969-12-31T23:59:59.999999997"),
    ("as", 9_000_000_000_000_000_000, "1970-01-01T00:00:09.000000000"),
    ("10as", -100_000_000, "1969-12-31T23:59:59.999999999"),
];

/// Returns the parts of NumPy's output.
fn parts(text: &str) -> (i16, [u32; 6]) {
    let (year, rest) = text.split_at(text[1..].find('-').unwrap() + 1);
    let (time, fraction) = rest.split_once('.').unwrap_or((rest, "0"));
    let numbers: Vec<u32> = time[1..].split(['-', 'T', ':']).map(|n| n.parse().unwrap()).collect();
    let &[month, day, hour, minute, second]: &[u32; 5] = numbers.as_slice().try_into().unwrap();
    (year.parse().unwrap(), [month, day, hour, minute, second, format!("{fraction:0<9}").parse().unwrap()])
}

#[test]
fn points_in_time_agree_with_numpy() {
    for (unit, count, text) in POINTS {
        let data_type = named(&format!("<M8[{unit}]"));
        let (year, [month, day, hour, minute, second, nanosecond]) = parts(text);
        let small = |number: u32| i8::try_from(number).unwrap();
        let time = civil::date(year, small(month), small(day));
        let time = time.at(small(hour), small(minute), small(second), i32::try_from(nanosecond).unwrap());
        both_ways(&data_type, count, &time);
        // The last day of that year exceeds the range of a timestamp in every time zone.
        match jiff::tz::Offset::UTC.to_timestamp(time) {
            Ok(timestamp) => both_ways(&data_type, count, &timestamp),
            Err(_) => {
                assert_eq!(year, 9999);
                let error = read::<Timestamp>(&data_type, count).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            }
        }
        let time = NaiveDate::from_ymd_opt(year.into(), month, day).unwrap();
        let time = time.and_hms_nano_opt(hour, minute, second, nanosecond).unwrap();
        both_ways(&data_type, count, &time);
        both_ways(&data_type, count, &time.and_utc());
    }
}

/// The unit and its multiple, a count, and its number of nanoseconds: `int(span.astype("m8[ns]").view("i8"))` in NumPy 2.5.5.
#[test]
fn spans_agree_with_numpy() {
    let spans = [
        ("W", -2, -1_209_600_000_000_000),
        ("D", 3, 259_200_000_000_000),
        ("h", -25, -90_000_000_000_000),
        ("m", 90, 5_400_000_000_000),
        ("15s", -3, -45_000_000_000),
        ("ms", -1, -1_000_000),
        ("us", 1_500_000, 1_500_000_000),
        ("ns", i64::MAX, i64::MAX),
        ("ps", -1_000, -1),
        ("fs", 1_000_000_000_000_000, 1_000_000_000),
        ("as", -1_000_000_000_000_000_000, -1_000_000_000),
    ];
    for (unit, count, nanoseconds) in spans {
        let data_type = named(&format!("<m8[{unit}]"));
        both_ways(&data_type, count, &SignedDuration::from_nanos(nanoseconds));
        both_ways(&data_type, count, &TimeDelta::nanoseconds(nanoseconds));
    }
}

#[test]
fn not_a_time_is_none() {
    for dtype in ["<M8[Y]", ">M8[ns]"] {
        assert_eq!(read::<civil::DateTime>(&named(dtype), i64::MIN).unwrap(), None);
        assert_eq!(write::<DateTime<Utc>>(&named(dtype), None).unwrap(), i64::MIN);
    }
    assert_eq!(read::<TimeDelta>(&named("<m8[as]"), i64::MIN).unwrap(), None);
    assert_eq!(write::<SignedDuration>(&named("<m8[as]"), None).unwrap(), i64::MIN);
}

#[test]
fn nothing_is_rounded() {
    let kind = |result: Result<i64>| result.unwrap_err().kind();
    for (dtype, count) in [("<M8[ps]", 1_001), ("<M8[as]", -1), ("<M8[3fs]", 1), ("<M8[Y]", 100_000_000)] {
        let error = read::<Timestamp>(&named(dtype), count).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(read::<NaiveDateTime>(&named(dtype), count).is_err(), "{dtype}");
    }
    let noon = civil::date(2024, 5, 1).at(12, 0, 0, 1);
    for dtype in ["<M8[us]", "<M8[D]", "<M8[M]", "<M8[Y]", "<M8[7ns]"] {
        assert_eq!(kind(write(&named(dtype), Some(noon))), ErrorKind::InvalidArgument, "{dtype}");
    }
    // 9000 years exceed a count of nanoseconds, and the lowest count is "not a time".
    let far = civil::date(9999, 1, 1).at(0, 0, 0, 0);
    assert!(write(&named("<M8[ns]"), Some(far)).unwrap_err().to_string().contains("outside of the range"));
    let lowest = SignedDuration::from_nanos(i64::MIN);
    assert_eq!(kind(write(&named("<m8[ns]"), Some(lowest))), ErrorKind::InvalidArgument);
    let leap = NaiveDate::from_ymd_opt(2016, 12, 31).unwrap();
    let leap = leap.and_time(NaiveTime::from_hms_nano_opt(23, 59, 59, 1_500_000_000).unwrap());
    assert_eq!(kind(write(&named("<M8[ns]"), Some(leap))), ErrorKind::InvalidArgument);
    assert_error(
        write(&named("<m8[s]"), Some(SignedDuration::MIN)),
        ErrorKind::InvalidArgument,
        "the element: ",
    );
    for dtype in ["<m8[Y]", "<m8[M]", "<m8"] {
        assert_eq!(read::<TimeDelta>(&named(dtype), 1).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
        assert_eq!(kind(write(&named(dtype), Some(TimeDelta::zero()))), ErrorKind::DataTypeMismatch);
    }
}

#[test]
fn arrays_keep_their_shape() {
    let data_type = DataType::datetime64(TimeUnit::Hour);
    let times = arr1(&[None, Some(Timestamp::UNIX_EPOCH)]).into_shape_with_order((2, 1)).unwrap().into_dyn();
    let array = DynArray::from_values(data_type, &times).unwrap();
    assert_eq!(array.to::<ArrayD<Option<Timestamp>>>().unwrap(), times);
}

/// The units of fixed length: their nanoseconds, or the number of units in a nanosecond.
const FIXED: [(TimeUnit, i128, i128); 11] = [
    (TimeUnit::Week, 604_800_000_000_000, 1),
    (TimeUnit::Day, 86_400_000_000_000, 1),
    (TimeUnit::Hour, 3_600_000_000_000, 1),
    (TimeUnit::Minute, 60_000_000_000, 1),
    (TimeUnit::Second, 1_000_000_000, 1),
    (TimeUnit::Millisecond, 1_000_000, 1),
    (TimeUnit::Microsecond, 1_000, 1),
    (TimeUnit::Nanosecond, 1, 1),
    (TimeUnit::Picosecond, 1, 1_000),
    (TimeUnit::Femtosecond, 1, 1_000_000),
    (TimeUnit::Attosecond, 1, 1_000_000_000),
];

/// Checks that the time has this number of nanoseconds. There is no such time if the number is not an integer, or exceeds the
/// range.
fn agrees<T: FromElement + ToElement + 'static>(
    time: TimeType,
    count: i64,
    exact: Option<i128>,
    last: i128,
    nanoseconds: impl Fn(&T) -> i128,
) {
    let data_type = DataType::from(time);
    match read::<T>(&data_type, count) {
        Ok(read) => {
            let read = read.unwrap();
            assert_eq!(Some(nanoseconds(&read)), exact, "{data_type} {count}");
            assert_eq!(write(&data_type, Some(read)).unwrap(), count);
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(exact.is_none_or(|exact| exact.abs() > last), "{data_type} {count}: {error}");
        }
    }
}

proptest! {
    #[test]
    fn counts_of_fixed_units_agree_with_plain_arithmetic(
        unit in 0..FIXED.len(),
        // Every magnitude is as likely.
        count in (any::<i64>(), 0..63_u32).prop_map(|(bits, shift)| bits >> shift),
        whole in any::<bool>(),
        scale in prop_oneof![Just(1_u32), 1..1000_u32],
    ) {
        let (unit, nanoseconds, parts) = FIXED[unit];
        let whole = i64::try_from(parts).unwrap() * i64::from(whole);
        let count = if whole > 1 { count / whole * whole } else { count };
        prop_assume!(count != i64::MIN);
        let units = i128::from(count) * i128::from(scale);
        let exact = (units % parts == 0).then(|| units / parts * nanoseconds);
        let point = TimeType::new(TimeKind::Point, unit, scale).unwrap();
        // Within these years, every type can represent every time.
        let year = 366 * 86_400 * 1_000_000_000_i128;
        agrees(point, count, exact, 8_000 * year, |time: &Timestamp| time.as_nanosecond());
        let epoch = civil::date(1970, 1, 1).at(0, 0, 0, 0);
        agrees(point, count, exact, 8_000 * year, |time: &civil::DateTime| time.duration_since(epoch).as_nanos());
        let of_chrono = |time: &DateTime<Utc>| {
            i128::from(time.timestamp()) * 1_000_000_000 + i128::from(time.timestamp_subsec_nanos())
        };
        agrees(point, count, exact, 200_000 * year, of_chrono);
        agrees(point, count, exact, 200_000 * year, |time: &NaiveDateTime| of_chrono(&time.and_utc()));
        let span = TimeType::new(TimeKind::Span, unit, scale).unwrap();
        agrees(span, count, exact, i128::from(i64::MAX) * 1_000_000_000, SignedDuration::as_nanos);
        agrees(span, count, exact, i128::from(i64::MAX) * 1_000_000, |span: &TimeDelta| {
            i128::from(span.num_seconds()) * 1_000_000_000 + i128::from(span.subsec_nanos())
        });
    }

    #[test]
    fn months_and_years_agree_with_adding_months(count in -90_000_i64..90_000, scale in 1..30_u32, years in any::<bool>()) {
        let unit = if years { TimeUnit::Year } else { TimeUnit::Month };
        let data_type = DataType::from(TimeType::new(TimeKind::Point, unit, scale).unwrap());
        let months = count * i64::from(scale) * if years { 12 } else { 1 };
        let epoch = civil::date(1970, 1, 1).at(0, 0, 0, 0);
        let wanted = jiff::Span::new().try_months(months).ok().and_then(|months| epoch.checked_add(months).ok());
        let read = read::<civil::DateTime>(&data_type, count);
        prop_assert_eq!(read.ok().flatten(), wanted);
        if let Some(time) = wanted {
            prop_assert_eq!(write(&data_type, Some(time)).unwrap(), count);
            let date = NaiveDate::from_ymd_opt(time.year().into(), u32::try_from(time.month()).unwrap(), 1).unwrap();
            both_ways(&data_type, count, &date.and_time(NaiveTime::MIN));
        }
    }
}
