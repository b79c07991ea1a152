//! Sinks for the values of a Parquet column.

use zarrox::Result;

use super::instants::Units;
use super::lists::Length;
use super::parquet_types::{Mapped, decimal};
use crate::input::corrupt;

/// A receiver of values of any type. Missing values are passed as `None`.
pub(super) trait Sink {
    /// Receives the start of a list.
    fn list(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives the information that the current list is null.
    fn null_list(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives the information that the next value is missing because its parent structure is null.
    fn null_structure(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives a value of any type, for sinks that only need to know whether it is missing.
    fn value(&mut self, _is_missing: bool) -> Result<()> {
        Ok(())
    }

    /// Receives a 96-bit timestamp, converted to nanoseconds since 1970.
    fn instant(&mut self, value: Option<i128>) -> Result<()> {
        self.value(value.is_none())
    }

    fn integer(&mut self, value: Option<i64>) -> Result<()> {
        self.value(value.is_none())
    }

    fn single(&mut self, value: Option<f32>) -> Result<()> {
        self.value(value.is_none())
    }

    fn double(&mut self, value: Option<f64>) -> Result<()> {
        self.value(value.is_none())
    }

    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        self.value(value.is_none())
    }
}

/// A sink that detects whether any value is null.
pub(super) struct Missing<'f>(pub(super) &'f mut bool);

impl Sink for Missing<'_> {
    fn value(&mut self, is_missing: bool) -> Result<()> {
        *self.0 |= is_missing;
        Ok(())
    }
}

/// A sink that detects whether the parent structure of any value is null.
pub(super) struct NullStructure(pub(super) bool);

impl Sink for NullStructure {
    fn null_structure(&mut self) -> Result<()> {
        self.0 = true;
        Ok(())
    }
}

/// A sink that determines the units that represent all timestamps.
pub(super) struct Instants<'u>(pub(super) &'u mut Units);

impl Sink for Instants<'_> {
    fn instant(&mut self, value: Option<i128>) -> Result<()> {
        value.into_iter().for_each(|nanoseconds| self.0.add(nanoseconds));
        Ok(())
    }
}

/// A sink that counts the values in lists.
pub(super) struct Counted<'l>(pub(super) &'l mut Length);

impl Sink for Counted<'_> {
    fn list(&mut self) -> Result<()> {
        self.0.begin();
        Ok(())
    }

    fn null_list(&mut self) -> Result<()> {
        self.0.null();
        Ok(())
    }

    fn value(&mut self, _: bool) -> Result<()> {
        self.0.value();
        Ok(())
    }
}

/// A sink that determines the lowest and highest integers.
pub(super) struct Extent<'m> {
    pub(super) mapped: &'m Mapped,
    pub(super) lowest: i128,
    pub(super) highest: i128,
}

impl Sink for Extent<'_> {
    fn integer(&mut self, value: Option<i64>) -> Result<()> {
        if let Some(value) = value {
            let whole = self.mapped.whole(value)?;
            (self.lowest, self.highest) = (self.lowest.min(whole), self.highest.max(whole));
        }
        Ok(())
    }

    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        self.integer(value.map(decimal).transpose()?)
    }
}

/// A sink that drops the candidates that occur as values.
pub(super) struct Unused<'c>(pub(super) &'c mut Vec<Vec<u8>>);

impl Sink for Unused<'_> {
    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        if let Some(value) = value {
            self.0.retain(|candidate| candidate != value);
        }
        Ok(())
    }
}

/// A sink that detects NaN among floats and drops the candidates that occur as values.
pub(super) struct Floats {
    pub(super) has_nan: bool,
    pub(super) unused: Vec<f64>,
}

impl Sink for Floats {
    fn single(&mut self, value: Option<f32>) -> Result<()> {
        self.double(value.map(f64::from))
    }

    #[expect(clippy::float_cmp, reason = "the candidates are exact")]
    fn double(&mut self, value: Option<f64>) -> Result<()> {
        if let Some(value) = value {
            self.has_nan |= value.is_nan();
            self.unused.retain(|&candidate| candidate != value);
        }
        Ok(())
    }

    /// Receives half-precision floats, which are little-endian.
    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        let Some(bytes) = value else { return Ok(()) };
        let bits = <[u8; 2]>::try_from(bytes).map(u16::from_le_bytes);
        let bits = bits.map_err(|_| corrupt("the length of a half float is not 2 bytes"))?;
        self.double(Some(half::f16::from_bits(bits).to_f64()))
    }
}
