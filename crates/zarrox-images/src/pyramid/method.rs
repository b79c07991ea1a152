//! The methods by which cells of elements become one element.

use std::fmt;
use std::str::FromStr;

use zarrox_core::data_type::Storage;
use zarrox_core::{DataType, Error, ErrorKind, Result};

use zarrox::internals::argument;

/// The element that a cell of a finer level becomes in the next coarser one. Cells at the end of a dimension have fewer elements;
/// only those count.
///
/// If an element is NaN, the result is NaN, unless NaN is [skipped](crate::pyramid::Downsample::skip_nan). [`Nearest`](Self::Nearest)
/// takes its element as it is, and [`Mode`](Self::Mode) takes NaN for a value like others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// The arithmetic mean. That of integers is exact and rounded to the nearest, halves to the even one. Floats are added as
    /// `float64`: first the elements along the last dimension, then these sums in row-major order.
    #[default]
    Mean,
    /// The element that is most frequent; of several, the smallest. This is the method for labels.
    Mode,
    /// The first element of the cell.
    Nearest,
    /// The smallest element; `false` if there is one.
    Min,
    /// The largest element; `true` if there is one.
    Max,
    /// The median. Of an even number of elements, it is the mean of the middle two, rounded as means are.
    Median,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 6] = [Self::Mean, Self::Mode, Self::Nearest, Self::Min, Self::Max, Self::Median];

    /// The name: `mean`, `mode`, `nearest`, `min`, `max`, or `median`.
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

    /// Returns true if an element of a coarser level lies in the centre of its cell, and false if it lies where the first element is.
    pub fn is_centred(self) -> bool {
        self != Self::Nearest
    }

    /// Fails if elements of a type cannot be reduced so.
    pub(super) fn check(self, data_type: &DataType) -> Result<()> {
        let has_order = !matches!(data_type.storage(), Storage::Complex(_));
        if has_order || !matches!(self, Self::Min | Self::Max | Self::Median) {
            return Ok(());
        }
        let message = format!("elements of {data_type} have no order, so that they have no {self}");
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// Returns true if cells of one and the same element become that element in all circumstances.
    pub(super) fn keeps_equal(self, element: &[u8], data_type: &DataType) -> bool {
        let is_float = matches!(data_type.storage(), Storage::Float(_) | Storage::Complex(_));
        !is_float || element.iter().all(|byte| *byte == 0)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| argument(format!("the methods are {names}, and not '{text}'")))
    }
}
