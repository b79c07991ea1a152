//! [`Scale`]: the mapping from values to colours. [`Scaling`]: its norm, which is linear or logarithmic.

use super::colours::Colours;

/// The norm: how values are scaled before they are mapped to colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scaling {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic. Only positive values are mapped to colours.
    Log,
}

impl Scaling {
    /// Returns true if a value can be scaled.
    pub(super) fn has(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }

    /// Returns the smallest and largest values that can be scaled, which are all finite values, or all positive finite
    /// values for the logarithmic norm. Returns `None` if no value can be scaled.
    pub fn range_of(self, values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
        let used = values.into_iter().filter(|&value| self.has(value));
        used.fold(None, |range: Option<(f64, f64)>, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
    }

    /// Returns the range used for a picture without values that can be scaled.
    pub fn usual_range(self) -> (f64, f64) {
        match self {
            Self::Linear => (0.0, 1.0),
            Self::Log => (1.0, 10.0),
        }
    }
}

/// The mapping from values to colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The value that is mapped to the first colour.
    pub low: f64,
    /// The value that is mapped to the last colour.
    pub high: f64,
    /// The norm.
    pub scaling: Scaling,
    /// The colormap.
    pub colours: Colours,
}

impl Scale {
    /// Scales a value to the range from 0 to 1; `None` for values that cannot be scaled, such as NaN.
    fn place(&self, value: f64) -> Option<f64> {
        let is_log = self.scaling == Scaling::Log;
        let along = |value: f64| if is_log { value.ln() } else { value };
        if value.is_nan() || (is_log && value <= 0.0) {
            return None;
        }
        let (low, high) = (along(self.low), along(self.high));
        if high <= low {
            return Some(0.5);
        }
        // The numbers are halved, since the difference between two large numbers can overflow.
        Some(((along(value) / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(0.0, 1.0))
    }

    /// Returns the colour and opacity of a value. Missing values are transparent.
    pub fn colour(&self, value: f64) -> [u8; 4] {
        let Some(place) = self.place(value) else { return [0, 0, 0, 0] };
        let [red, green, blue] = self.colours.at(place);
        [red, green, blue, 255]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_values() {
        let gray = Colours::named("gray").unwrap();
        let scale = Scale { low: 0.0, high: 10.0, scaling: Scaling::Linear, colours: gray };
        assert_eq!(scale.colour(0.0), [0, 0, 0, 255]);
        assert_eq!(scale.colour(5.0), [128, 128, 128, 255]);
        assert_eq!(scale.colour(99.0), [255, 255, 255, 255]);
        assert_eq!(scale.colour(f64::NAN)[3], 0);
        assert_eq!(scale.colour(f64::NEG_INFINITY), [0, 0, 0, 255]);
        let wide = Scale { low: f64::MIN, high: f64::MAX, ..scale };
        assert_eq!(wide.colour(0.0), [128, 128, 128, 255]);
        let log = Scale { low: 1.0, high: 100.0, scaling: Scaling::Log, colours: gray };
        assert_eq!((log.colour(10.0)[0], log.colour(-1.0)[3]), (128, 0));
        assert_eq!(Scale { low: 3.0, high: 3.0, ..scale }.colour(3.0)[0], 128);
    }

    #[test]
    fn a_range_has_finite_values() {
        let values = [f64::NAN, 3.0, f64::INFINITY, -2.0];
        assert_eq!(Scaling::Linear.range_of(values), Some((-2.0, 3.0)));
        assert_eq!(Scaling::Log.range_of(values), Some((3.0, 3.0)));
        assert_eq!(Scaling::Linear.range_of([f64::NAN]), None);
    }
}
