//! Pictures in a terminal: half blocks in colours, shades of text, or the protocols of terminals that show images.

mod blocks;
mod colours;
mod kitty;
mod protocol;
mod shades;
mod sixel;

use std::io::{self, Write};

pub(crate) use colours::{ColourMap, NAMES};
pub(crate) use protocol::Protocol;

/// A point of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Point {
    /// Nothing is drawn.
    Empty,
    /// There is no value.
    Missing,
    /// A value, from 0 to 1.
    Level(f32),
}

/// A picture of points, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) points: Vec<Point>,
}

impl Picture {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width: width.max(1), points: vec![Point::Empty; width.max(1) * height] }
    }

    pub(crate) fn height(&self) -> usize {
        self.points.len() / self.width
    }

    pub(crate) fn set(&mut self, row: usize, column: usize, point: Point) {
        if let Some(place) = self.points.get_mut(row * self.width + column) {
            *place = point;
        }
    }

    /// The point at a place; nothing outside of the picture.
    fn at(&self, row: usize, column: usize) -> Point {
        self.points.get(row * self.width + column).copied().unwrap_or(Point::Empty)
    }

    /// Prints the picture.
    pub(crate) fn print(&self, protocol: Protocol, map: &ColourMap, out: &mut dyn Write) -> io::Result<()> {
        match protocol {
            Protocol::Text => shades::print(self, out),
            Protocol::Colours | Protocol::TrueColours => {
                blocks::print(self, map, protocol == Protocol::TrueColours, out)
            }
            Protocol::Sixel => sixel::print(self, map, out),
            Protocol::Kitty => kitty::print(self, map, out),
        }
    }
}
