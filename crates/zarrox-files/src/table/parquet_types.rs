//! The types of Parquet columns.

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::schema::types::ColumnDescriptor;
use zarrox::data_type::TimeUnit;
use zarrox::json::Json;
use zarrox::{DataType, Result};

use crate::input::{corrupt, unsupported};

/// The bound up to which floats represent all integers exactly.
pub(super) const EXACT: i128 = 1 << 53;

/// The kind of values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Truth,
    /// Signed integers with the given number of bits.
    Signed(u8),
    Unsigned(u8),
    /// Timestamps. The smallest integer is NaT.
    Time,
    Single,
    Double,
    Text,
    Bytes,
    /// Fixed-length bytes.
    Fixed,
}

/// The Zarr data type of a column.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    pub(super) kind: Kind,
    pub(super) data_type: DataType,
    /// The number of decimal places of decimals, which are stored as integers.
    pub(super) decimals: i32,
    /// The length in nanoseconds of the unit of 96-bit timestamps.
    pub(super) unit: i128,
}

impl Mapped {
    fn new(kind: Kind, data_type: DataType) -> Self {
        Self { kind, data_type, decimals: 0, unit: 1 }
    }

    /// Returns the type of a column.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self> {
        let logical = column.logical_type_ref();
        let converted = column.converted_type();
        if matches!(logical, Some(LogicalType::Decimal(_))) || converted == ConvertedType::DECIMAL {
            return Self::decimal(column);
        }
        if converted == ConvertedType::INTERVAL {
            return Err(unsupported("Zarr has no data type for intervals"));
        }
        let (signed, unsigned) = (Self::signed, Self::unsigned);
        let time = |data_type| Ok(Self::new(Kind::Time, data_type));
        match (column.physical_type(), logical) {
            (Physical::BOOLEAN, _) => Ok(Self::new(Kind::Truth, DataType::Bool)),
            (Physical::INT32, Some(LogicalType::Date)) => time(DataType::datetime64(TimeUnit::Day)),
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Timestamp(of))) => {
                time(DataType::datetime64(unit(&of.unit)))
            }
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Time(of))) => {
                time(DataType::timedelta64(unit(&of.unit)))
            }
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(of))) => {
                let bits = u8::try_from(of.bit_width).unwrap_or(0);
                if of.is_signed { signed(bits) } else { unsigned(bits) }
            }
            (Physical::INT32 | Physical::INT64, None) => match converted {
                ConvertedType::DATE => time(DataType::datetime64(TimeUnit::Day)),
                ConvertedType::TIMESTAMP_MILLIS => time(DataType::datetime64(TimeUnit::Millisecond)),
                ConvertedType::TIMESTAMP_MICROS => time(DataType::datetime64(TimeUnit::Microsecond)),
                ConvertedType::TIME_MILLIS => time(DataType::timedelta64(TimeUnit::Millisecond)),
                ConvertedType::TIME_MICROS => time(DataType::timedelta64(TimeUnit::Microsecond)),
                ConvertedType::INT_8 => signed(8),
                ConvertedType::INT_16 => signed(16),
                ConvertedType::UINT_8 => unsigned(8),
                ConvertedType::UINT_16 => unsigned(16),
                ConvertedType::UINT_32 => unsigned(32),
                ConvertedType::UINT_64 => unsigned(64),
                _ if column.physical_type() == Physical::INT32 => signed(32),
                _ => signed(64),
            },
            (Physical::INT32, _) => signed(32),
            (Physical::INT64, _) => signed(64),
            // Old programs store 96-bit timestamps. Their unit is chosen according to the values.
            (Physical::INT96, _) => time(DataType::datetime64(TimeUnit::Nanosecond)),
            (Physical::FLOAT, _) => Ok(Self::new(Kind::Single, DataType::Float32)),
            (Physical::DOUBLE, _) => Ok(Self::new(Kind::Double, DataType::Float64)),
            (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
                Ok(text())
            }
            (Physical::BYTE_ARRAY, None)
                if matches!(converted, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) =>
            {
                Ok(text())
            }
            (Physical::BYTE_ARRAY, _) => Ok(Self::new(Kind::Bytes, DataType::bytes())),
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) => {
                Ok(Self::new(Kind::Fixed, DataType::Float16))
            }
            (Physical::FIXED_LEN_BYTE_ARRAY, _) => match usize::try_from(column.type_length()) {
                Ok(length) if (1..=1 << 20).contains(&length) => {
                    Ok(Self::new(Kind::Fixed, DataType::RawBits(length)))
                }
                _ => Err(unsupported("the elements have no length")),
            },
        }
    }

    /// Returns the type of a column of 96-bit timestamps, in a unit of `nanoseconds` nanoseconds.
    pub(super) fn instants((unit, nanoseconds): (TimeUnit, i128)) -> Self {
        Self { unit: nanoseconds, ..Self::new(Kind::Time, DataType::datetime64(unit)) }
    }

    fn signed(bits: u8) -> Result<Self> {
        let data_type = match bits {
            8 => DataType::Int8,
            16 => DataType::Int16,
            32 => DataType::Int32,
            64 => DataType::Int64,
            _ => return Err(unsupported(format!("integers of {bits} bits are not supported"))),
        };
        Ok(Self::new(Kind::Signed(bits), data_type))
    }

    fn unsigned(bits: u8) -> Result<Self> {
        let data_type = match bits {
            8 => DataType::UInt8,
            16 => DataType::UInt16,
            32 => DataType::UInt32,
            64 => DataType::UInt64,
            _ => return Err(unsupported(format!("integers of {bits} bits are not supported"))),
        };
        Ok(Self::new(Kind::Unsigned(bits), data_type))
    }

    /// Returns the integer type of a column of decimals, which are multiples of a power of ten.
    fn decimal(column: &ColumnDescriptor) -> Result<Self> {
        let (precision, scale) = match column.logical_type_ref() {
            Some(LogicalType::Decimal(of)) => (of.precision, of.scale),
            _ => (column.type_precision(), column.type_scale()),
        };
        let mapped = match (column.physical_type(), precision) {
            (Physical::INT64, 1..=18) | (_, 10..=18) => Self::signed(64)?,
            (_, 1..=9) => Self::signed(32)?,
            _ => {
                return Err(unsupported(format!(
                    "Zarr has no integer type for decimals of {precision} digits"
                )));
            }
        };
        match scale {
            0..=18 => Ok(Self { decimals: scale, ..mapped }),
            _ => Err(unsupported(format!("decimals with {scale} decimal places"))),
        }
    }

    /// Returns the CF attribute `scale_factor` for decimals; `None` for other types.
    pub(super) fn scale_factor(&self) -> Option<Json> {
        let power = format!("1e-{}", self.decimals);
        (self.decimals > 0).then(|| power.parse::<f64>().ok()).flatten().map(Json::from)
    }

    /// Converts a stored value to an integer of the type.
    ///
    /// # Errors
    /// If the type cannot represent the value.
    pub(super) fn whole(&self, value: i64) -> Result<i128> {
        let (whole, lowest, highest) = match self.kind {
            Kind::Signed(bits) => {
                let half = 1_i128 << (bits.clamp(1, 64) - 1);
                (i128::from(value), -half, half - 1)
            }
            Kind::Unsigned(bits) => {
                // Parquet stores unsigned integers as signed integers with the same bits. They have 32 bits for all types
                // except the largest.
                let whole = match (bits, i32::try_from(value)) {
                    (64, _) => i128::from(value.cast_unsigned()),
                    (_, Ok(value)) => i128::from(value.cast_unsigned()),
                    (_, Err(_)) => i128::from(value),
                };
                (whole, 0, (1_i128 << bits.min(64)) - 1)
            }
            _ => return Ok(i128::from(value)),
        };
        if whole < lowest || whole > highest {
            return Err(corrupt(format!("the integer {whole} is outside the range of its type")));
        }
        Ok(whole)
    }
}

/// Decodes the unscaled integer of a decimal, which is big-endian.
pub(super) fn decimal(bytes: &[u8]) -> Result<i64> {
    let (first, rest) = bytes.split_first().ok_or_else(|| corrupt("a decimal has no bytes"))?;
    let start = i128::from(first.cast_signed());
    let whole = rest
        .iter()
        .try_fold(start, |whole, &byte| whole.checked_mul(256).map(|whole| whole | i128::from(byte)));
    let whole = whole.and_then(|whole| i64::try_from(whole).ok());
    whole.ok_or_else(|| corrupt("a decimal has more digits than its type"))
}

fn text() -> Mapped {
    Mapped::new(Kind::Text, DataType::string())
}

fn unit(unit: &parquet::basic::TimeUnit) -> TimeUnit {
    match unit {
        parquet::basic::TimeUnit::MILLIS => TimeUnit::Millisecond,
        parquet::basic::TimeUnit::MICROS => TimeUnit::Microsecond,
        parquet::basic::TimeUnit::NANOS => TimeUnit::Nanosecond,
    }
}
