//! Half blocks: each character shows two points, the upper one in the foreground colour and the lower one in the background
//! colour.

use std::io::{self, Write};

use zarrox_files::picture::{Colour, Colours};

use super::colours::{nearest_of_256, of};
use super::points::{Picture, Point};

pub(super) fn print(picture: &Picture, map: &Colours, is_true: bool, out: &mut dyn Write) -> io::Result<()> {
    for row in (0..picture.height()).step_by(2) {
        let mut last = (None, None);
        for column in 0..picture.width {
            let points = [picture.at(row, column), picture.at(row + 1, column)];
            let (block, text, back) = block(points, map);
            if (text, back) != last {
                write!(out, "\x1b[0m")?;
                text.map_or(Ok(()), |colour| write!(out, "\x1b[38;{}m", code(colour, is_true)))?;
                back.map_or(Ok(()), |colour| write!(out, "\x1b[48;{}m", code(colour, is_true)))?;
                last = (text, back);
            }
            write!(out, "{block}")?;
        }
        writeln!(out, "\x1b[0m")?;
    }
    Ok(())
}

/// Returns the character for two points, and its colours.
fn block([upper, lower]: [Point; 2], map: &Colours) -> (char, Option<Colour>, Option<Colour>) {
    match (of(map, upper), of(map, lower)) {
        (None, None) => (' ', None, None),
        (None, lower) => ('▄', lower, None),
        (upper, lower) => ('▀', upper, lower),
    }
}

fn code(colour: Colour, is_true: bool) -> String {
    let [red, green, blue] = colour;
    if is_true { format!("2;{red};{green};{blue}") } else { format!("5;{}", nearest_of_256(colour)) }
}
