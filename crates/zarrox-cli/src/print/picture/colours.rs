//! Colour maps: colours for levels from 0 to 1.

use super::points::Point;

/// The red, green and blue parts of a colour.
pub(crate) type Colour = [u8; 3];

/// The colour of what is missing.
const MISSING: Colour = [255, 0, 255];

/// The colours of maps at equal distances.
const MAPS: [(&str, &[Colour]); 7] = [
    (
        "viridis",
        &[
            [68, 1, 84],
            [72, 40, 120],
            [62, 74, 137],
            [49, 104, 142],
            [38, 130, 142],
            [31, 158, 137],
            [53, 183, 121],
            [109, 205, 89],
            [180, 222, 44],
            [253, 231, 37],
        ],
    ),
    (
        "magma",
        &[
            [0, 0, 4],
            [28, 16, 68],
            [79, 18, 123],
            [129, 37, 129],
            [181, 54, 122],
            [229, 80, 100],
            [251, 135, 97],
            [254, 194, 135],
            [252, 253, 191],
        ],
    ),
    (
        "inferno",
        &[
            [0, 0, 4],
            [31, 12, 72],
            [85, 15, 109],
            [136, 34, 106],
            [186, 54, 85],
            [227, 89, 51],
            [249, 140, 10],
            [249, 201, 50],
            [252, 255, 164],
        ],
    ),
    (
        "plasma",
        &[
            [13, 8, 135],
            [84, 2, 163],
            [139, 10, 165],
            [185, 50, 137],
            [219, 92, 104],
            [244, 136, 73],
            [254, 188, 43],
            [240, 249, 33],
        ],
    ),
    ("gray", &[[0, 0, 0], [255, 255, 255]]),
    ("gray_r", &[[255, 255, 255], [0, 0, 0]]),
    (
        "coolwarm",
        &[
            [59, 76, 192],
            [124, 159, 249],
            [192, 212, 245],
            [221, 221, 221],
            [245, 196, 173],
            [238, 132, 104],
            [180, 4, 38],
        ],
    ),
];

/// The names of all maps.
pub(crate) const NAMES: [&str; MAPS.len()] = {
    let mut names = [""; MAPS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MAPS[at].0;
        at += 1;
    }
    names
};

/// Colours for levels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColourMap(&'static [Colour]);

impl ColourMap {
    /// The usual map.
    pub(crate) const USUAL: Self = Self(MAPS[0].1);

    /// A map by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        MAPS.iter().find(|(known, _)| *known == name).map(|(_, colours)| Self(colours))
    }

    /// The colour of a level, between those of its neighbours.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a position in a short list"
    )]
    pub(crate) fn colour(&self, level: f32) -> Colour {
        let last = self.0.len() - 1;
        let place = level.clamp(0.0, 1.0) * last as f32;
        let at = (place as usize).min(last.saturating_sub(1));
        let part = place - at as f32;
        let (one, two) = (self.0[at], self.0[(at + 1).min(last)]);
        let mix = |n: usize| {
            let (from, to) = (f32::from(one[n]), f32::from(two[n]));
            (from + (to - from) * part).round() as u8
        };
        [mix(0), mix(1), mix(2)]
    }

    /// The colour of a point; `None` if nothing is drawn.
    pub(super) fn of(&self, point: Point) -> Option<Colour> {
        match point {
            Point::Empty => None,
            Point::Missing => Some(MISSING),
            Point::Level(level) => Some(self.colour(level)),
        }
    }
}

/// The colour of the usual 256 that is nearest.
pub(super) fn nearest_of_256(colour: Colour) -> u8 {
    const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |part: u8| (0..6_u8).min_by_key(|&n| CUBE[usize::from(n)].abs_diff(part)).unwrap_or(0);
    let in_cube = colour.map(nearest);
    let cube = in_cube.map(|n| CUBE[usize::from(n)]);
    let mean = colour.iter().map(|&part| u16::from(part)).sum::<u16>() / 3;
    let gray = (0..24_u8).min_by_key(|&n| (8 + 10 * u16::from(n)).abs_diff(mean)).unwrap_or(0);
    let apart = |other: Colour| -> u32 {
        colour.iter().zip(other).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    if apart([8 + 10 * gray; 3]) < apart(cube) {
        return 232 + gray;
    }
    16 + 36 * in_cube[0] + 6 * in_cube[1] + in_cube[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lie_between_the_colours_of_a_map() {
        let gray = ColourMap::named("gray").unwrap();
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(|level| gray.colour(level)[0]), [0, 128, 255, 255]);
        for name in NAMES {
            let map = ColourMap::named(name).unwrap();
            assert_ne!(map.colour(0.0), map.colour(1.0), "{name}");
        }
        assert!(ColourMap::named("rainbow").is_none());
    }

    #[test]
    fn the_nearest_of_256_colours() {
        let colours = [[0, 0, 0], [255, 255, 255], [255, 0, 0], [128, 128, 128], [95, 135, 175]];
        assert_eq!(colours.map(nearest_of_256), [16, 231, 196, 244, 67]);
    }
}
