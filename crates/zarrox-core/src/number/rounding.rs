//! The rules for numbers that a type cannot represent: they are rounded, or out of its range.

/// The rule by which a number that a type cannot represent becomes one that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounding {
    /// The nearest; of two, the even one.
    #[default]
    NearestEven,
    /// The next one that is not further from zero.
    TowardsZero,
    /// The next one above.
    TowardsPositive,
    /// The next one below.
    TowardsNegative,
    /// The nearest; of two, the one further from zero.
    NearestAway,
}

/// The rule for numbers beyond a type's first and last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfRange {
    /// An error.
    Refuse,
    /// The first or last one; infinity where there is one.
    Clamp,
    /// Of integers, the lowest bits.
    Wrap,
}

/// The rules of a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// One rule for rounding, and one for the range. An integer type has no counterpart of NaN and of infinities.
    Exact(Rounding, OutOfRange),
    /// NumPy's `astype`: integers keep their lowest bits, floats are rounded to the nearest float, or lose their fraction. Where NumPy
    /// leaves the result to the machine, floats beyond an integer's range become its last one, and NaN 0.
    Lossy,
    /// The same for whole numbers; the cast reports whether they all stayed what they were.
    Checked,
    /// The same, but floats wrap as integers do: what most machines do for NumPy.
    Wrapping,
}

/// Makes a closure for each rounding mode, so that the loop does not branch on the mode.
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

/// The reason why a type has no element for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It is NaN, which the type does not have.
    NotANumber,
    /// It is infinite, which no number of the type is.
    Infinity,
    /// It is beyond the first or the last one of the type.
    OutOfRange,
}
