//! Colormaps, which map values from 0 to 1 to colours.

/// The red, green and blue components of a colour.
pub type Colour = [u8; 3];

/// A colormap: evenly spaced colours from the lowest value to the highest. Colours in between are interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours(&'static [Colour]);

/// All colormaps, by name. The last three are diverging colormaps for signed values.
pub const MAPS: [(&str, Colours); 10] = [
    ("viridis", Colours(VIRIDIS)),
    ("gray", Colours(GRAY)),
    ("gray_r", Colours(GRAY_REVERSED)),
    ("magma", Colours(MAGMA)),
    ("inferno", Colours(INFERNO)),
    ("plasma", Colours(PLASMA)),
    ("cividis", Colours(CIVIDIS)),
    ("rdbu", Colours(RED_BLUE)),
    ("prgn", Colours(PURPLE_GREEN)),
    ("coolwarm", Colours(COOL_WARM)),
];

/// The names of all colormaps.
pub const NAMES: [&str; MAPS.len()] = {
    let mut names = [""; MAPS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MAPS[at].0;
        at += 1;
    }
    names
};

impl Default for Colours {
    /// Returns viridis.
    fn default() -> Self {
        Self(VIRIDIS)
    }
}

impl Colours {
    /// Returns the colormap with the given name.
    pub fn named(name: &str) -> Option<Self> {
        MAPS.iter().find(|(known, _)| *known == name).map(|(_, colours)| *colours)
    }

    /// Returns the evenly spaced colours.
    pub fn list(&self) -> &'static [Colour] {
        self.0
    }

    /// Returns the interpolated colour for a value from 0 to 1.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a position in a short list"
    )]
    pub fn at(&self, place: f64) -> Colour {
        let last = self.0.len().saturating_sub(1);
        let place = place.clamp(0.0, 1.0) * last as f64;
        let first = (place as usize).min(last.saturating_sub(1));
        let part = place - first as f64;
        let (low, high) = (self.0[first], self.0[(first + 1).min(last)]);
        let mix = |n: usize| (f64::from(low[n]) * (1.0 - part) + f64::from(high[n]) * part).round() as u8;
        [mix(0), mix(1), mix(2)]
    }
}

const GRAY: &[Colour] = &[[0, 0, 0], [255, 255, 255]];
const GRAY_REVERSED: &[Colour] = &[[255, 255, 255], [0, 0, 0]];
const VIRIDIS: &[Colour] = &[
    [68, 1, 84],
    [72, 40, 120],
    [62, 73, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];
const MAGMA: &[Colour] = &[
    [0, 0, 4],
    [24, 15, 61],
    [68, 15, 118],
    [114, 31, 129],
    [158, 47, 127],
    [205, 64, 113],
    [241, 96, 93],
    [253, 150, 104],
    [254, 202, 141],
    [252, 253, 191],
];
const INFERNO: &[Colour] = &[
    [0, 0, 4],
    [27, 12, 65],
    [74, 12, 107],
    [120, 28, 109],
    [165, 44, 96],
    [207, 68, 70],
    [237, 105, 37],
    [251, 155, 6],
    [247, 209, 61],
    [252, 255, 164],
];
const PLASMA: &[Colour] = &[
    [13, 8, 135],
    [71, 3, 159],
    [115, 1, 168],
    [156, 23, 158],
    [189, 55, 134],
    [216, 87, 107],
    [237, 121, 83],
    [250, 158, 59],
    [253, 201, 38],
    [240, 249, 33],
];
const CIVIDIS: &[Colour] = &[
    [0, 32, 77],
    [0, 51, 111],
    [57, 72, 107],
    [87, 92, 109],
    [112, 113, 115],
    [138, 135, 121],
    [166, 157, 117],
    [196, 181, 108],
    [228, 207, 91],
    [255, 234, 70],
];
const RED_BLUE: &[Colour] = &[
    [5, 48, 97],
    [33, 102, 172],
    [67, 147, 195],
    [146, 197, 222],
    [209, 229, 240],
    [247, 247, 247],
    [253, 219, 199],
    [244, 165, 130],
    [214, 96, 77],
    [178, 24, 43],
    [103, 0, 31],
];
const PURPLE_GREEN: &[Colour] = &[
    [64, 0, 75],
    [118, 42, 131],
    [153, 112, 171],
    [194, 165, 207],
    [231, 212, 232],
    [247, 247, 247],
    [217, 240, 211],
    [166, 219, 160],
    [90, 174, 97],
    [27, 120, 55],
    [0, 68, 27],
];
const COOL_WARM: &[Colour] = &[
    [59, 76, 192],
    [124, 159, 249],
    [192, 212, 245],
    [221, 221, 221],
    [245, 196, 173],
    [238, 132, 104],
    [180, 4, 38],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_between_the_colours_of_a_map() {
        let gray = Colours::named("gray").unwrap();
        assert_eq!([0.0, 0.5, 1.0, 7.0, f64::NAN].map(|place| gray.at(place)[0]), [0, 128, 255, 255, 0]);
        for (name, map) in MAPS {
            assert_eq!((map.at(0.0), map.at(1.0)), (map.list()[0], *map.list().last().unwrap()), "{name}");
        }
        assert!(Colours::named("rainbow").is_none());
        assert_eq!(NAMES[0], "viridis");
    }
}
