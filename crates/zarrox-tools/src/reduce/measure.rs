//! [`Measure`]: a statistic of the elements of a block.

use std::fmt;
use std::str::FromStr;

use zarrox_core::{DataType, Error, Result};

use super::Reduction;
use zarrox::internals::argument;

/// A statistic of the elements of a block, or along axes of an array. Only [`Nan`](Self::Nan) counts NaN; all other statistics
/// ignore it.
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
    /// All statistics.
    pub const ALL: [Self; 6] = [Self::Count, Self::Nan, Self::Min, Self::Max, Self::Mean, Self::Std];

    /// Returns the name: `mean`, `std` ….
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

    /// Returns the data type of the result for elements of a data type: the same type for extremes, `uint64` for counts, and
    /// `float64` otherwise.
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
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) if the statistic is unknown.
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == text).ok_or_else(|| {
            argument(format!("unknown statistic '{text}'; expected count, nan, min, max, mean or std"))
        })
    }
}
