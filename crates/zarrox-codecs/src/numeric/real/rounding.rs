//! The rules for numbers that a type has not: they are rounded, or out of its range.

/// The rule by which a number that a type has not becomes one that it has.
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
pub(crate) enum OutOfRange {
    Error,
    /// The first or last one; infinity where there is one.
    Clamp,
    /// Of integers, the lowest bits.
    Wrap,
}

/// Makes a closure for each rounding mode, so that the loop does not branch on the mode.
macro_rules! each_rounding {
    ($rounding:expr, $R:ident => $body:expr) => {
        match $rounding {
            Rounding::NearestEven => {
                const $R: Rounding = Rounding::NearestEven;
                $body
            }
            Rounding::TowardsZero => {
                const $R: Rounding = Rounding::TowardsZero;
                $body
            }
            Rounding::TowardsPositive => {
                const $R: Rounding = Rounding::TowardsPositive;
                $body
            }
            Rounding::TowardsNegative => {
                const $R: Rounding = Rounding::TowardsNegative;
                $body
            }
            Rounding::NearestAway => {
                const $R: Rounding = Rounding::NearestAway;
                $body
            }
        }
    };
}
pub(super) use each_rounding;

macro_rules! round {
    ($small:ident, $T:ty) => {
        /// A float of a magnitude that leaves room for a bit of fraction as a whole one; others stay about as large as they are.
        /// There are no branches, which loops over several numbers at once could not have.
        #[inline(always)]
        pub(super) fn $small(number: $T, rounding: Rounding) -> $T {
            // The sum's last place is 1, whatever the sign.
            const SHIFT: $T = 1.5 * (1_u64 << (<$T>::MANTISSA_DIGITS - 1)) as $T;
            let one = |wanted: bool| <$T>::from(u8::from(wanted));
            let magnitude = number.abs();
            let nearest = |number: $T| (number + SHIFT) - SHIFT;
            let down = |number: $T| nearest(number) - one(nearest(number) > number);
            match rounding {
                Rounding::NearestEven => nearest(number),
                Rounding::TowardsZero => down(magnitude).copysign(number),
                Rounding::TowardsPositive => nearest(number) + one(nearest(number) < number),
                Rounding::TowardsNegative => down(number),
                Rounding::NearestAway => {
                    (down(magnitude) + one(magnitude - down(magnitude) >= 0.5)).copysign(number)
                }
            }
        }
    };
}
round!(round_small_f32, f32);
round!(round_small_f64, f64);
