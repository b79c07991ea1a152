//! Sinks for the values of a column of Parquet.

use zarrox::Result;

use super::instants::Units;
use super::lists::Length;
use super::parquet_types::{Mapped, decimal};

/// A receiver of values of any type; `None` for missing values.
pub(super) trait Sink {
    /// Receives the start of a list.
    fn list(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives the presence of a value, if its content is irrelevant.
    fn value(&mut self, _is_missing: bool) -> Result<()> {
        Ok(())
    }

    /// Receives a timestamp of 96 bits, in nanoseconds since 1970.
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

/// A sink that finds the units that represent all timestamps.
pub(super) struct Instants<'u>(pub(super) &'u mut Units);

impl Sink for Instants<'_> {
    fn instant(&mut self, value: Option<i128>) -> Result<()> {
        value.into_iter().for_each(|nanoseconds| self.0.add(nanoseconds));
        Ok(())
    }
}

/// A sink that counts the values of lists.
pub(super) struct Counted<'l>(pub(super) &'l mut Length);

impl Sink for Counted<'_> {
    fn list(&mut self) -> Result<()> {
        self.0.begin();
        Ok(())
    }

    fn value(&mut self, _: bool) -> Result<()> {
        self.0.value();
        Ok(())
    }
}

/// A sink that finds the lowest and the highest integer.
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

/// A sink that drops the candidates that are values.
pub(super) struct Unused<'c>(pub(super) &'c mut Vec<Vec<u8>>);

impl Sink for Unused<'_> {
    fn bytes(&mut self, value: Option<&[u8]>) -> Result<()> {
        if let Some(value) = value {
            self.0.retain(|candidate| candidate != value);
        }
        Ok(())
    }
}
