//! Pictures, independent of the protocol.

/// A point of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Point {
    /// An empty point.
    Empty,
    /// A missing value.
    Missing,
    /// A value between 0 and 1.
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

    /// Returns the point at a position. Outside the picture, points are empty.
    pub(super) fn at(&self, row: usize, column: usize) -> Point {
        self.points.get(row * self.width + column).copied().unwrap_or(Point::Empty)
    }
}
