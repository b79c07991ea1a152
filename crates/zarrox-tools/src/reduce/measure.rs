//! [`Measure`]: a statistic of the elements of a block.

use std::fmt;
use std::str::FromStr;

use zarrox_core::{DataType, Error, Result};

use super::Reduction;
use zarrox::internals::argument;

/// A statistic of the elements of a block, or of those along axes of an array. NaN counts for [`Nan`](Self::Nan) alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// The number of elements that are not NaN.
    Count,
    /// The number of elements that are NaN.
    Nan,
    /// The smallest element.
    Min,
    /// The largest element.
    Max,
    /// The mean.
    Mean,
    /// The standard deviation of the population.
    Std,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Count, Self::Nan, Self::Min, Self::Max, Self::Mean, Self::Std];

    /// The name: `mean`, `std` ….
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Nan => "nan",
            Self::Min => Reduction::Min.name(),
            Self::Max => Reduction::Max.name(),
            Self::Mean => Reduction::Mean.name(),
            Self::Std => "std",
        }
    }

    /// The type of its results for elements of a type: that type for extremes, `uint64` for numbers of elements, and else `float64`.
    pub fn data_type(self, of: &DataType) -> DataType {
        match self {
            Self::Count | Self::Nan => DataType::UInt64,
            Self::Min | Self::Max => of.clone(),
            Self::Mean | Self::Std => DataType::Float64,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) when there is no such statistic.
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|measure| measure.name() == text)
            .ok_or_else(|| argument(format!("'{text}' is not one of count, nan, min, max, mean and std")))
    }
}
