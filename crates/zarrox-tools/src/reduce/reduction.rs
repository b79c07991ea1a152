//! [`Reduction`]: methods of reducing a block to one element.

use std::fmt;
use std::str::FromStr;

use zarrox_core::data_type::Storage;
use zarrox_core::{DataType, Error, ErrorKind, Result};

use zarrox::internals::argument;

/// A method of reducing a block to one element. Blocks at the end of an axis may have fewer elements.
///
/// In pyramid levels, the result is NaN if an element is NaN, unless NaN is ignored. [`Nearest`](Self::Nearest) returns its element
/// unchanged, and [`Mode`](Self::Mode) treats NaN like other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reduction {
    /// The arithmetic mean. In pyramid levels, the mean of integers is exact and rounded to nearest, ties to even, and floats are
    /// added as `float64`: first the elements along the last dimension, then these sums in row-major order.
    #[default]
    Mean,
    /// The most frequent element; if several are equally frequent, the smallest of them. Use this method for labels.
    Mode,
    /// The first element.
    Nearest,
    /// The smallest element; for booleans, `false` if any element is `false`.
    Min,
    /// The largest element; for booleans, `true` if any element is `true`.
    Max,
    /// The median. For an even number of elements, it is the mean of the two middle ones, rounded like the mean.
    Median,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Self; 6] = [Self::Mean, Self::Mode, Self::Nearest, Self::Min, Self::Max, Self::Median];

    /// Returns the name: `mean`, `mode`, `nearest`, `min`, `max`, or `median`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Mode => "mode",
            Self::Nearest => "nearest",
            Self::Min => "min",
            Self::Max => "max",
            Self::Median => "median",
        }
    }

    /// Returns true if the result is at the centre of its block, and false if it is at the first element.
    pub fn is_centred(self) -> bool {
        self != Self::Nearest
    }

    /// Checks that the elements of a data type are ordered, if this reduction requires an order.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if they have no order.
    pub fn check_order(self, data_type: &DataType) -> Result<()> {
        let has_order = !matches!(data_type.storage(), Storage::Complex(_));
        if has_order || !matches!(self, Self::Min | Self::Max | Self::Median) {
            return Ok(());
        }
        let message = format!("elements of {data_type} have no order, so their {self} is undefined");
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// Returns true if blocks of equal elements are always reduced to that element.
    pub fn keeps_equal(self, element: &[u8], data_type: &DataType) -> bool {
        let is_float = matches!(data_type.storage(), Storage::Float(_) | Storage::Complex(_));
        !is_float || element.iter().all(|byte| *byte == 0)
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reduction {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the reduction is unknown.
    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|reduction| reduction.name() == text);
        found.ok_or_else(|| argument(format!("unknown reduction '{text}'; expected one of {names}")))
    }
}
