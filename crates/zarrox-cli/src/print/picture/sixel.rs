//! Sixel graphics: bands of six rows, in which each colour is printed separately.

use std::collections::BTreeMap;
use std::io::{self, Write};

use zarrox_files::picture::Colours;

use super::colours::of;
use super::points::{Picture, Point};

/// The number of colours for values; a terminal has 256 colours in total.
const LEVELS: u8 = 240;

/// The number of the colour for missing values.
const MISSING: u8 = LEVELS;

pub(super) fn print(picture: &Picture, map: &Colours, out: &mut dyn Write) -> io::Result<()> {
    // Points that are not drawn keep the background.
    write!(out, "\x1bP0;1q\"1;1;{};{}", picture.width, picture.height())?;
    let levels = (0..LEVELS).map(|n| (n, map.at(f64::from(n) / f64::from(LEVELS - 1))));
    let missing = of(map, Point::Missing).map(|colour| (MISSING, colour));
    for (number, colour) in levels.chain(missing) {
        let [red, green, blue] = colour.map(|part| u16::from(part) * 100 / 255);
        write!(out, "#{number};2;{red};{green};{blue}")?;
    }
    for row in (0..picture.height()).step_by(6) {
        print_band(picture, row, out)?;
        write!(out, "-")?;
    }
    writeln!(out, "\x1b\\")
}

/// Prints six rows. For each colour, a column is printed as six bits: a set bit is a point that has the colour.
fn print_band(picture: &Picture, first: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut colours: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
    for column in 0..picture.width {
        for bit in 0..6 {
            if let Some(colour) = number(picture.at(first + bit, column)) {
                colours.entry(colour).or_insert_with(|| vec![0; picture.width])[column] |= 1 << bit;
            }
        }
    }
    for (nth, (colour, columns)) in colours.into_iter().enumerate() {
        write!(out, "{}#{colour}", if nth == 0 { "" } else { "$" })?;
        for run in columns.chunk_by(|a, b| a == b) {
            let character = char::from(63 + run[0]);
            match run.len() {
                length @ ..=3 => write!(out, "{}", character.to_string().repeat(length))?,
                length => write!(out, "!{length}{character}")?,
            }
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "less than the number of colours"
)]
fn number(point: Point) -> Option<u8> {
    match point {
        Point::Empty => None,
        Point::Missing => Some(MISSING),
        Point::Level(level) => Some((level.clamp(0.0, 1.0) * f32::from(LEVELS - 1)).round() as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_have_the_points_of_each_colour() {
        let mut picture = Picture::new(5, 7);
        (0..5).for_each(|column| picture.set(0, column, Point::Level(0.0)));
        picture.set(5, 1, Point::Level(1.0));
        picture.set(6, 0, Point::Missing);
        let mut out = Vec::new();
        print(&picture, &Colours::named("gray").unwrap(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("\x1bP0;1q\"1;1;5;7#0;2;0;0;0#1;2;0;0;0"), "{text}");
        assert!(text.ends_with("#0!5@$#239?_???-#240@!4?-\x1b\\\n"), "{text}");
    }
}
