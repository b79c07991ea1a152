//! A view reduced to few points, by the mean of the elements of each, or by one of them.

use clap::ValueEnum;
use zarrox::data_type::Casting;
use zarrox::{ArrayView, DataType, DimSelection, DynArray, Result};
use zarrox_files::picture::missing_values;

/// The elements that a point stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Reduce {
    /// The mean of all elements of a point
    Mean,
    /// The element in the middle of a point; only its chunk is read
    Nearest,
}

/// The elements of a point.
#[derive(Debug, Clone, Copy)]
struct Cell {
    sum: f64,
    count: u64,
    low: f64,
    high: f64,
}

/// Points, each with the elements that it stands for.
pub(super) struct Reduced {
    cells: Vec<Cell>,
    reduce: Reduce,
    /// True if each point is one element.
    is_exact: bool,
    /// True if there is one dimension.
    is_line: bool,
}

impl Reduced {
    /// The mean of each point; `None` where all is missing.
    pub(super) fn means(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        #[expect(clippy::cast_precision_loss, reason = "the divisor of a mean")]
        self.cells.iter().map(|cell| (cell.count > 0).then(|| cell.sum / cell.count as f64))
    }

    /// The smallest and the largest element of a point.
    pub(super) fn range(&self, point: usize) -> Option<(f64, f64)> {
        self.cells.get(point).filter(|cell| cell.count > 0).map(|cell| (cell.low, cell.high))
    }

    /// The smallest and the largest finite value that is drawn: means of a heat map, elements of a line.
    pub(super) fn extremes(&self) -> Option<(f64, f64)> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (cell, mean) in self.cells.iter().zip(self.means()) {
            let Some(mean) = mean else { continue };
            for value in if self.is_line { [cell.low, cell.high] } else { [mean, mean] } {
                if value.is_finite() {
                    (low, high) = (low.min(value), high.max(value));
                }
            }
        }
        (low <= high).then_some((low, high))
    }

    /// A few words about the reduction.
    pub(super) fn says(&self) -> &'static str {
        match self.reduce {
            _ if self.is_exact => "every element",
            Reduce::Mean if self.is_line => "extremes",
            Reduce::Mean => "means",
            Reduce::Nearest => "single elements",
        }
    }
}

/// Reduces a view of one or two dimensions to this many points along each.
pub(super) fn reduced(
    view: &ArrayView<'_>,
    field: Option<&str>,
    points: &[usize],
    reduce: Reduce,
    memory: u64,
) -> Result<Reduced> {
    let shape = view.shape()?;
    let registry = zarrox::codecs::registry();
    let missing = missing_values(view.array(), field, &registry);
    let count = points.iter().product();
    let cell = Cell { sum: 0.0, count: 0, low: f64::INFINITY, high: f64::NEG_INFINITY };
    let mut all = Reduced {
        cells: vec![cell; count],
        reduce,
        is_exact: shape.iter().zip(points).all(|(&length, &points)| length == points as u64),
        is_line: points.len() == 1,
    };
    let mut add = |values: &DynArray, begins: &[u64], stretched: bool| -> Result<()> {
        let numbers = values
            .cast(&DataType::Float64, Casting::Lossy, &registry)?
            .to::<zarrox::prelude::ArrayD<f64>>()?;
        // The points of the block along each dimension.
        let along = |dim: usize| -> Vec<usize> {
            let places = (begins[dim]..).take(numbers.shape()[dim]);
            let point = |place| if stretched { place } else { point_of(place, shape[dim], points[dim]) };
            places.map(|place| usize::try_from(point(place)).unwrap_or(0)).collect()
        };
        let last = points.len() - 1;
        let (rows, columns) = (if last == 0 { vec![0] } else { along(0) }, along(last));
        for (row, values) in rows.iter().zip(numbers.rows()) {
            for (column, &value) in columns.iter().zip(values) {
                if value.is_nan() || missing.contains(&value) {
                    continue;
                }
                let cell = &mut all.cells[row * points[last] + column];
                (cell.sum, cell.count) = (cell.sum + value, cell.count + 1);
                (cell.low, cell.high) = (cell.low.min(value), cell.high.max(value));
            }
        }
        Ok(())
    };
    let read = |view: &ArrayView<'_>| match field {
        Some(name) => view.field(name).read::<DynArray>(),
        None => view.read::<DynArray>(),
    };
    match reduce {
        Reduce::Nearest => {
            let middles = |(&length, &points): (&u64, &usize)| {
                let middle = |n: usize| middle_of(n as u64, length, points as u64);
                DimSelection::from((0..points).map(middle).collect::<Vec<u64>>())
            };
            let middles: Vec<DimSelection> = shape.iter().zip(points).map(middles).collect();
            add(&read(&view.oindex(middles))?, &vec![0; points.len()], true)?;
        }
        Reduce::Mean => {
            let most = memory / view.data_type().size().max(8) as u64;
            for block in view.parts(most.max(1), zarrox::Order::RowMajor)? {
                let begins: Vec<u64> = block.iter().map(|range| range.start).collect();
                let part: Vec<DimSelection> = block.into_iter().map(DimSelection::from).collect();
                add(&read(&view.slice(part))?, &begins, false)?;
            }
        }
    }
    Ok(all)
}

/// The point that an element belongs to.
fn point_of(element: u64, length: u64, points: usize) -> u64 {
    let point = u128::from(element) * points as u128 / u128::from(length.max(1));
    u64::try_from(point).unwrap_or(0).min(points as u64 - 1)
}

/// The element in the middle of a point.
fn middle_of(point: u64, length: u64, points: u64) -> u64 {
    let element = (2 * u128::from(point) + 1) * u128::from(length) / (2 * u128::from(points.max(1)));
    u64::try_from(element).unwrap_or(0).min(length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_belongs_to_a_point_in_whose_range_its_middle_is() {
        for (length, points) in [(10, 3), (7, 7), (1000, 1), (5, 2)] {
            let of: Vec<u64> = (0..length).map(|n| point_of(n, length, points)).collect();
            assert!(of.is_sorted() && of[0] == 0 && of[of.len() - 1] == points as u64 - 1);
            for point in 0..points as u64 {
                let middle = middle_of(point, length, points as u64);
                assert_eq!(of[usize::try_from(middle).unwrap()], point, "{length} {points}");
            }
        }
    }
}
