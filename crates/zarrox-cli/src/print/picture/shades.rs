//! Pictures made of plain characters, for files, pipes, and terminals without colours.

use std::io::{self, Write};

use super::points::{Picture, Point};

/// Characters of increasing density.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// The character for missing values.
const MISSING: char = '?';

/// Prints a character for each point.
pub(super) fn print(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    for row in picture.points.chunks(picture.width) {
        let line: String = row.iter().map(|&point| shade(point)).collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position in a short list"
)]
fn shade(point: Point) -> char {
    match point {
        Point::Empty => ' ',
        Point::Missing => MISSING,
        Point::Level(level) => {
            let last = SHADES.len() - 1;
            SHADES[((level.clamp(0.0, 1.0) * last as f32).round() as usize).min(last)]
        }
    }
}
