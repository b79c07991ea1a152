//! [`Reduction`]: the element that a block becomes.

use std::fmt;
use std::str::FromStr;

use zarrox_core::data_type::Storage;
use zarrox_core::{DataType, Error, ErrorKind, Result};

use zarrox::internals::argument;

/// The element that a block of elements becomes. Blocks at the end of an axis have fewer elements; only those count.
///
/// In the levels of an image, the result is NaN if an element is, unless NaN is left out. [`Nearest`](Self::Nearest) takes its element
/// as it is, and [`Mode`](Self::Mode) takes NaN for a value like others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reduction {
    /// The arithmetic mean. In the levels of an image, that of integers is exact and rounded to the nearest, halves to the even one,
    /// and floats are added as `float64`: first the elements along the last dimension, then these sums in row-major order.
    #[default]
    Mean,
    /// The element that is most frequent; of several, the smallest. This is the method for labels.
    Mode,
    /// The first element.
    Nearest,
    /// The smallest element; `false` if there is one.
    Min,
    /// The largest element; `true` if there is one.
    Max,
    /// The median. Of an even number of elements, it is the mean of the middle two, rounded as means are.
    Median,
}

impl Reduction {
    /// All reductions.
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

    /// Returns true if the result lies in the centre of its block, and false if it lies where the first element is.
    pub fn is_centred(self) -> bool {
        self != Self::Nearest
    }

    /// Checks that elements of a type have an order if this needs one.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when they have none.
    pub fn check_order(self, data_type: &DataType) -> Result<()> {
        let has_order = !matches!(data_type.storage(), Storage::Complex(_));
        if has_order || !matches!(self, Self::Min | Self::Max | Self::Median) {
            return Ok(());
        }
        let message = format!("elements of {data_type} have no order, so that they have no {self}");
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// Returns true if blocks of one and the same element become that element in all circumstances.
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
    /// [`ErrorKind::InvalidArgument`] when there is no such reduction.
    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|reduction| reduction.name() == text);
        found.ok_or_else(|| argument(format!("the reductions are {names}, and not '{text}'")))
    }
}
