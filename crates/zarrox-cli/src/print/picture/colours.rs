//! Colours of points.

use zarrox_files::picture::{Colour, Colours};

use super::points::Point;

/// The colour of missing values.
const MISSING: Colour = [255, 0, 255];

/// Returns the colour of a point; `None` for an empty point.
pub(super) fn of(map: &Colours, point: Point) -> Option<Colour> {
    match point {
        Point::Empty => None,
        Point::Missing => Some(MISSING),
        Point::Level(level) => Some(map.at(level.into())),
    }
}

/// Returns the nearest colour of the 256-colour palette.
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
    fn the_nearest_of_256_colours() {
        let colours = [[0, 0, 0], [255, 255, 255], [255, 0, 0], [128, 128, 128], [95, 135, 175]];
        assert_eq!(colours.map(nearest_of_256), [16, 231, 196, 244, 67]);
    }
}
