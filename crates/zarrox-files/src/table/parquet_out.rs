//! Writes columns to Parquet files.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{
    Compression, LogicalType, Repetition, TimeUnit as StoredUnit, Type as Physical, ZstdLevel,
};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as Stored, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use zarrox::data_type::{Casting, NOT_A_TIME, Storage, TimeKind, TimeUnit};
use zarrox::internals::data_type::VARIABLE_BYTES;
use zarrox::{DataType, DynArray, Error, Registry, Result};

use super::columns::{Column, Part};
use crate::input::{failed, unsupported};

/// The maximum number of digits of decimals that are stored as 32-bit integers, and as 64-bit integers.
const SHORT_DIGITS: u32 = 9;
const LONG_DIGITS: u32 = 18;

/// The conversion from elements to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Truth,
    /// Integers of at most 32 bits.
    Short,
    Long,
    /// Decimals of at most 9 digits, which are stored as 32-bit integers.
    ShortDecimal,
    /// Decimals of at most 18 digits, which are stored as 64-bit integers.
    LongDecimal,
    Single,
    Double,
    /// Half-precision floats.
    Half,
    /// Timestamps. One unit of the file equals the given number of units of the column.
    Days(i64),
    Time(i64),
    Text,
    Bytes,
    Fixed,
}

/// A column of the file.
#[derive(Debug)]
struct Target {
    way: Way,
    /// The numeric type to which elements are converted before they are written.
    wide: Option<DataType>,
    is_optional: bool,
    /// The number of values in each row, if rows are lists.
    list: Option<u64>,
    schema: TypePtr,
}

/// A Parquet writer that receives rows in groups.
pub(super) struct Writer<W: Write + Send> {
    out: SerializedFileWriter<W>,
    targets: Vec<Target>,
    registry: Registry,
}

impl<W: Write + Send> Writer<W> {
    /// Starts a file.
    pub(super) fn new(out: W, columns: &[Column]) -> Result<Self> {
        let targets = columns.iter().map(Target::of).collect::<Result<Vec<_>>>()?;
        let fields = targets.iter().map(|target| Arc::clone(&target.schema)).collect();
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(not_written)?;
        let level = ZstdLevel::try_new(3).map_err(not_written)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(concat!("zarrox ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let out =
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(not_written)?;
        Ok(Self { out, targets, registry: zarrox::codecs::registry() })
    }

    /// Writes a row group. The parts are requested one at a time, so that only one part is in memory.
    pub(super) fn push(&mut self, mut part: impl FnMut(usize) -> Result<Part>) -> Result<()> {
        let mut group = self.out.next_row_group().map_err(not_written)?;
        for (number, target) in self.targets.iter().enumerate() {
            let Some(mut column) = group.next_column().map_err(not_written)? else { break };
            target.write(&part(number)?, &mut column, &self.registry)?;
            column.close().map_err(not_written)?;
        }
        group.close().map(drop).map_err(not_written)
    }

    pub(super) fn finish(self) -> Result<()> {
        self.out.close().map(drop).map_err(not_written)
    }
}

impl Target {
    fn of(column: &Column) -> Result<Self> {
        let no_form = || {
            unsupported(format!("column '{}': Parquet does not support {}", column.name, column.data_type))
        };
        let decimals = column.decimals().map(|decimals| decimal(&column.data_type, decimals));
        let (way, physical, logical) = decimals.or_else(|| kind(&column.data_type)).ok_or_else(no_form)?;
        let (precision, scale) = match &logical {
            Some(LogicalType::Decimal(of)) => (of.precision, of.scale),
            _ => (-1, -1),
        };
        let is_time = matches!(way, Way::Days(_) | Way::Time(_));
        let is_optional = is_time || column.can_miss();
        let length = match way {
            Way::Half => 2,
            Way::Fixed => i32::try_from(column.data_type.size()).map_err(|_| no_form())?,
            _ => -1,
        };
        let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let name = if column.list.is_some() { "element" } else { &column.name };
        let schema = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_length(length)
            .with_precision(precision)
            .with_scale(scale)
            .build()
            .map_err(not_written)?;
        let schema = match column.list {
            Some(_) => list_of(&column.name, schema).map_err(not_written)?,
            None => schema,
        };
        let wide = match way {
            Way::Short | Way::Long | Way::ShortDecimal | Way::LongDecimal
                if column.data_type != DataType::UInt64 =>
            {
                Some(DataType::Int64)
            }
            Way::Single => Some(DataType::Float32),
            _ => None,
        };
        Ok(Self { way, wide, is_optional, list: column.list, schema: Arc::new(schema) })
    }

    fn write(&self, part: &Part, column: &mut SerializedColumnWriter<'_>, registry: &Registry) -> Result<()> {
        let cast;
        let is_time = part.elements.data_type().time().is_some();
        let elements: &DynArray = match &self.wide {
            Some(wide) if !is_time && part.elements.data_type() != wide => {
                cast = part.elements.cast(wide, Casting::Lossy, registry)?;
                &cast
            }
            _ => &part.elements,
        };
        let long = |element: &[u8]| i64::from_ne_bytes(element.try_into().unwrap_or_default());
        #[expect(
            clippy::cast_possible_truncation,
            reason = "integers of at most 32 bits, whose bits are kept"
        )]
        match self.way {
            Way::Truth => self.put::<BoolType>(part, elements, column, |element| Ok(Some(element != [0]))),
            Way::Short => {
                self.put::<Int32Type>(part, elements, column, |element| Ok(Some(long(element) as i32)))
            }
            Way::ShortDecimal => self.put::<Int32Type>(part, elements, column, |element| {
                Ok(Some(self.digits(long(element), i64::MIN, SHORT_DIGITS)? as i32))
            }),
            Way::LongDecimal => {
                let lowest = if *elements.data_type() == DataType::UInt64 { 0 } else { i64::MIN };
                self.put::<Int64Type>(part, elements, column, |element| {
                    self.digits(long(element), lowest, LONG_DIGITS).map(Some)
                })
            }
            Way::Long => self.put::<Int64Type>(part, elements, column, |element| Ok(Some(long(element)))),
            Way::Single => self.put::<FloatType>(part, elements, column, |element| {
                Ok(Some(f32::from_ne_bytes(element.try_into().unwrap_or_default())))
            }),
            Way::Double => self.put::<DoubleType>(part, elements, column, |element| {
                Ok(Some(f64::from_ne_bytes(element.try_into().unwrap_or_default())))
            }),
            Way::Half => self.put::<FixedLenByteArrayType>(part, elements, column, |element| {
                let half = u16::from_ne_bytes(element.try_into().unwrap_or_default());
                Ok(Some(FixedLenByteArray::from(half.to_le_bytes().to_vec())))
            }),
            Way::Days(length) => self.put::<Int32Type>(part, elements, column, |element| {
                let days = counted(long(element), length)?;
                days.map(i32::try_from).transpose().map_err(|_| too_far())
            }),
            Way::Time(length) => {
                self.put::<Int64Type>(part, elements, column, |element| counted(long(element), length))
            }
            Way::Text if elements.data_type().is_named("string") => {
                self.put::<ByteArrayType>(part, elements, column, |element| {
                    Ok(Some(ByteArray::from(element.to_vec())))
                })
            }
            Way::Text => {
                let texts = elements.to::<Vec<String>>()?;
                let texts = texts.iter().map(|text| ByteArray::from(text.as_bytes().to_vec()));
                self.put_all::<ByteArrayType>(part, texts.map(|text| Ok(Some(text))), column)
            }
            Way::Bytes => self.put::<ByteArrayType>(part, elements, column, |element| {
                Ok(Some(ByteArray::from(element.to_vec())))
            }),
            Way::Fixed => self.put::<FixedLenByteArrayType>(part, elements, column, |element| {
                Ok(Some(FixedLenByteArray::from(element.to_vec())))
            }),
        }
    }

    /// Checks that the unscaled integer of a decimal has at most `digits` digits, and returns it.
    ///
    /// # Errors
    /// If the integer has more digits, or is below the minimum of its type.
    fn digits(&self, whole: i64, lowest: i64, digits: u32) -> Result<i64> {
        if whole >= lowest && whole.unsigned_abs() < 10_u64.pow(digits) {
            return Ok(whole);
        }
        let name = self.schema.name();
        Err(unsupported(format!(
            "column '{name}': a value has more than {digits} digits, the maximum of this decimal type; copy to another type with zarrox cp --dtype, or export to .csv"
        )))
    }

    fn put<T: Stored>(
        &self,
        part: &Part,
        elements: &DynArray,
        column: &mut SerializedColumnWriter<'_>,
        value: impl Fn(&[u8]) -> Result<Option<T::T>>,
    ) -> Result<()> {
        self.put_all::<T>(part, elements.elements().map(value), column)
    }

    /// Writes values. Values that are masked in the part, and values that are `None`, become nulls.
    fn put_all<T: Stored>(
        &self,
        part: &Part,
        all: impl Iterator<Item = Result<Option<T::T>>>,
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<()> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let of_list = i16::from(self.list.is_some());
        for (at, value) in all.enumerate() {
            let value = if part.is_missing(at) { None } else { value? };
            levels.push(of_list + i16::from(self.is_optional && value.is_some()));
            values.extend(value);
        }
        let rows = part.elements.shape().first().copied().unwrap_or(0);
        let repeated: Option<Vec<i16>> = self.list.map(|list| match list {
            // An empty list also has a level.
            0 => vec![0; rows],
            list => (0..levels.len() as u64).map(|at| i16::from(at % list > 0)).collect(),
        });
        if self.list == Some(0) {
            levels = vec![0; rows];
        }
        let levels = (self.is_optional || self.list.is_some()).then_some(levels.as_slice());
        column.typed::<T>().write_batch(&values, levels, repeated.as_deref()).map(drop).map_err(not_written)
    }
}

/// Returns the type of a column of lists.
fn list_of(name: &str, element: Type) -> Result<Type, ParquetError> {
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let list = list.with_fields(vec![Arc::new(element)]).build()?;
    let column = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
    column.with_logical_type(Some(LogicalType::List)).with_fields(vec![Arc::new(list)]).build()
}

/// Returns the conversion for decimals and the type of the column.
fn decimal(data_type: &DataType, decimals: u32) -> (Way, Physical, Option<LogicalType>) {
    let is_short = matches!(data_type.storage(), Storage::Int(..=4) | Storage::Uint(..=2));
    let (way, physical, digits) = match is_short && decimals <= SHORT_DIGITS {
        true => (Way::ShortDecimal, Physical::INT32, SHORT_DIGITS),
        false => (Way::LongDecimal, Physical::INT64, LONG_DIGITS),
    };
    let number = |digits: u32| i32::try_from(digits).unwrap_or_default();
    (way, physical, Some(LogicalType::decimal(number(decimals), number(digits))))
}

/// Returns the conversion for a data type and the type of the column.
fn kind(data_type: &DataType) -> Option<(Way, Physical, Option<LogicalType>)> {
    let integer = |bits, is_signed| Some(LogicalType::integer(bits, is_signed));
    let stamp = |unit| Some(LogicalType::timestamp(false, unit));
    if let Some(time) = data_type.time() {
        let scale = i64::from(time.scale());
        if time.kind() == TimeKind::Span {
            // Durations are stored as integers, since Parquet times are times of day.
            return Some((Way::Time(1), Physical::INT64, None));
        }
        return match time.unit() {
            TimeUnit::Day => Some((Way::Days(scale), Physical::INT32, Some(LogicalType::Date))),
            TimeUnit::Week => Some((Way::Days(7 * scale), Physical::INT32, Some(LogicalType::Date))),
            TimeUnit::Hour => {
                Some((Way::Time(3_600_000 * scale), Physical::INT64, stamp(StoredUnit::MILLIS)))
            }
            TimeUnit::Minute => Some((Way::Time(60_000 * scale), Physical::INT64, stamp(StoredUnit::MILLIS))),
            TimeUnit::Second => Some((Way::Time(1000 * scale), Physical::INT64, stamp(StoredUnit::MILLIS))),
            TimeUnit::Millisecond => Some((Way::Time(scale), Physical::INT64, stamp(StoredUnit::MILLIS))),
            TimeUnit::Microsecond => Some((Way::Time(scale), Physical::INT64, stamp(StoredUnit::MICROS))),
            TimeUnit::Nanosecond => Some((Way::Time(scale), Physical::INT64, stamp(StoredUnit::NANOS))),
            _ => None,
        };
    }
    let bytes = Physical::BYTE_ARRAY;
    Some(match data_type {
        DataType::Bool => (Way::Truth, Physical::BOOLEAN, None),
        DataType::Float16 => (Way::Half, Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)),
        DataType::Float64 => (Way::Double, Physical::DOUBLE, None),
        _ if data_type.is_named("string") || matches!(data_type.storage(), Storage::Utf32(_)) => {
            (Way::Text, bytes, Some(LogicalType::String))
        }
        _ if data_type.is_named("null_terminated_bytes") => (Way::Text, bytes, Some(LogicalType::String)),
        _ if data_type.is_named(VARIABLE_BYTES) => (Way::Bytes, bytes, None),
        _ => match data_type.storage() {
            Storage::Int(8) => (Way::Long, Physical::INT64, integer(64, true)),
            Storage::Uint(8) => (Way::Long, Physical::INT64, integer(64, false)),
            Storage::Int(size @ (1 | 2 | 4)) => (Way::Short, Physical::INT32, integer(bits(size), true)),
            Storage::Uint(size @ (1 | 2 | 4)) => (Way::Short, Physical::INT32, integer(bits(size), false)),
            Storage::Float(..=4) => (Way::Single, Physical::FLOAT, None),
            Storage::Raw(_) if matches!(data_type, DataType::RawBits(_)) => {
                (Way::Fixed, Physical::FIXED_LEN_BYTE_ARRAY, None)
            }
            _ => return None,
        },
    })
}

fn bits(size: usize) -> i8 {
    i8::try_from(size * 8).unwrap_or(64)
}

/// Converts a count to the unit of the file; `None` for NaT.
fn counted(count: i64, length: i64) -> Result<Option<i64>> {
    if count == NOT_A_TIME {
        return Ok(None);
    }
    count.checked_mul(length).map(Some).ok_or_else(too_far)
}

fn too_far() -> Error {
    unsupported("a timestamp is outside the range of Parquet timestamps")
}

fn not_written(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => failed("writing the table", *error),
            Err(error) => unsupported(format!("the table cannot be written: {error}")),
        },
        error => unsupported(format!("the table cannot be written: {error}")),
    }
}
