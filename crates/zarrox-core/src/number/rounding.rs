//! The rules for numbers that a type cannot represent: rounding, and the treatment of out-of-range numbers.

/// The rounding mode for numbers that a type cannot represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounding {
    /// The nearest number; for ties, the even number.
    #[default]
    NearestEven,
    /// The next number towards zero.
    TowardsZero,
    /// The next number towards positive infinity.
    TowardsPositive,
    /// The next number towards negative infinity.
    TowardsNegative,
    /// The nearest number; for ties, the number further from zero.
    NearestAway,
}

/// The rule for numbers that are outside the range of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfRange {
    /// An error.
    Refuse,
    /// The smallest or the largest number, or an infinity if the type has infinities.
    Clamp,
    /// For integers, the lowest bits.
    Wrap,
}

/// The rules of a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// A rounding mode, and a rule for the range. An integer type cannot represent NaN or infinities.
    Exact(Rounding, OutOfRange),
    /// NumPy's `astype`: integers keep their lowest bits, floats are rounded to the nearest float, or truncated to integers.
    /// Where NumPy's result depends on the machine, floats beyond the range of an integer type are clamped to its limits, and NaN
    /// becomes 0.
    Lossy,
    /// Like [`Lossy`](Self::Lossy) for integral numbers. The cast reports whether all numbers are unchanged.
    Checked,
    /// Like [`Lossy`](Self::Lossy), but floats wrap like integers, as in NumPy on most machines.
    Wrapping,
}

/// Creates a closure for each rounding mode, so that the loop does not branch on the mode.
macro_rules! each_rounding {
    ($rounding:expr, $R:ident => $body:expr) => {
        each_rounding!(@ $rounding, $R => $body,
            NearestEven TowardsZero TowardsPositive TowardsNegative NearestAway)
    };
    (@ $rounding:expr, $R:ident => $body:expr, $($mode:ident)*) => {
        match $rounding {
            $(Rounding::$mode => {
                const $R: Rounding = Rounding::$mode;
                $body
            })*
        }
    };
}
pub(super) use each_rounding;

/// The reason why a type cannot represent a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The number is NaN, which the type cannot represent.
    NotANumber,
    /// The number is infinite, and the type has no infinities.
    Infinity,
    /// The number is outside the range of the type.
    OutOfRange,
}
