//! The tolerance of comparisons.

/// The tolerance of comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tolerance {
    pub(super) relative: f64,
    pub(super) absolute: f64,
    pub(super) equal_nan: bool,
}

impl Tolerance {
    /// Returns true if numbers must be equal.
    pub(super) fn is_nothing(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }

    /// Returns true if two numbers are equal within the tolerance, as in NumPy's `isclose`.
    pub(super) fn allows(self, a: f64, b: f64) -> bool {
        if a.is_nan() || b.is_nan() {
            return self.equal_nan && a.is_nan() && b.is_nan();
        }
        // An infinity is close only to itself, with any tolerance.
        let difference = (a - b).abs();
        let is_near = difference.is_finite() && difference <= self.absolute + self.relative * b.abs();
        is_near || a.total_cmp(&b).is_eq()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_those_of_numpy() {
        let tolerance = |relative, absolute, equal_nan| Tolerance { relative, absolute, equal_nan };
        let nan = f64::NAN;
        assert!(tolerance(0.0, 0.0, true).allows(nan, nan) && !tolerance(0.0, 0.0, false).allows(nan, nan));
        assert!(!tolerance(1.0, 1.0, true).allows(nan, 1.0));
        assert!(tolerance(0.0, 0.0, true).allows(0.0, -0.0));
        assert!(tolerance(0.01, 0.0, true).allows(100.5, 100.0));
        assert!(!tolerance(0.01, 0.0, true).allows(102.0, 100.0));
        assert!(tolerance(0.0, 2.0, true).allows(102.0, 100.0));
        assert!(tolerance(0.0, 0.0, true).allows(f64::INFINITY, f64::INFINITY));
        assert!(!tolerance(0.5, 9.0, true).allows(1.0, f64::INFINITY));
        assert!(!tolerance(0.5, 9.0, true).allows(f64::NEG_INFINITY, f64::INFINITY));
    }
}
