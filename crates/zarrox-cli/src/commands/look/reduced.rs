//! Downsampled views for plots: each point is the mean of its elements, or a single one of them.

use clap::ValueEnum;
use zarrox::data_type::Casting;
use zarrox::{ArrayView, DataType, DimSelection, DynArray, Result};
use zarrox_files::picture::{Scaling, missing_values};
use zarrox_tools::reduce::{Division, Measure, Reducer};

/// The downsampling method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Reduce {
    /// The mean of all elements of a point
    Mean,
    /// The element in the middle of a point; only its chunk is read
    Nearest,
}

/// A downsampled view.
pub(super) struct Reduced {
    /// The mean of each point, and its smallest and largest element; `None` if all its elements are missing.
    points: Vec<Option<(f64, [f64; 2])>>,
    reduce: Reduce,
    /// True if each point is one element.
    is_exact: bool,
    /// True if the view has one dimension.
    is_line: bool,
}

impl Reduced {
    /// Returns the mean of each point; `None` if all its elements are missing.
    pub(super) fn means(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.points.iter().map(|point| point.map(|(mean, _)| mean))
    }

    /// Returns the smallest and the largest element of a point.
    pub(super) fn range(&self, point: usize) -> Option<(f64, f64)> {
        let (_, [low, high]) = (*self.points.get(point)?)?;
        Some((low, high))
    }

    /// Returns the smallest and the largest finite value that are drawn. A heat map draws means, and a line plot draws elements.
    pub(super) fn extremes(&self) -> Option<(f64, f64)> {
        let drawn = |&(mean, range): &(f64, [f64; 2])| if self.is_line { range } else { [mean; 2] };
        let values = self.points.iter().flatten().flat_map(drawn);
        Scaling::Linear.range_of(values)
    }

    /// Describes the downsampling in a few words.
    pub(super) fn says(&self) -> &'static str {
        match self.reduce {
            _ if self.is_exact => "every element",
            Reduce::Mean if self.is_line => "extremes",
            Reduce::Mean => "means",
            Reduce::Nearest => "single elements",
        }
    }
}

/// Downsamples a view of one or two dimensions to `points` along each dimension.
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
    let reducer = field.into_iter().fold(Reducer::new().missing(missing), Reducer::field);
    let reducer = reducer.at_once(memory / view.data_type().size().max(8) as u64);
    let along = |(&axis, &blocks): (&u64, &usize)| Division::Count { blocks: blocks as u64, axis };
    let divisions: Vec<Division> = shape.iter().zip(points).map(along).collect();
    let mut blocks = match reduce {
        Reduce::Nearest => {
            let middles = |(&length, &points): (&u64, &usize)| {
                let middle = |n: usize| middle_of(n as u64, length, points as u64);
                DimSelection::from((0..points).map(middle).collect::<Vec<u64>>())
            };
            let middles: Vec<DimSelection> = shape.iter().zip(points).map(middles).collect();
            reducer.blocks(&view.oindex(middles), &vec![Division::Length(1); points.len()])?
        }
        Reduce::Mean => reducer.blocks(view, &divisions)?,
    };
    let floats = |values: DynArray| -> Result<Vec<f64>> {
        let floats = values.cast(&DataType::Float64, Casting::Lossy, &registry)?;
        Ok(floats.to::<zarrox::prelude::ArrayD<f64>>()?.into_iter().collect())
    };
    let (counts, means) = (floats(blocks.get(Measure::Count)?)?, floats(blocks.get(Measure::Mean)?)?);
    let (low, high) = (floats(blocks.get(Measure::Min)?)?, floats(blocks.get(Measure::Max)?)?);
    let ranges = low.into_iter().zip(high).map(|(low, high)| [low, high]);
    let points_of = counts.iter().zip(means.into_iter().zip(ranges));
    Ok(Reduced {
        points: points_of.map(|(&count, point)| (count > 0.0).then_some(point)).collect(),
        reduce,
        is_exact: shape.iter().zip(points).all(|(&length, &points)| length == points as u64),
        is_line: points.len() == 1,
    })
}

/// Returns the index of the element in the middle of a point.
fn middle_of(point: u64, length: u64, points: u64) -> u64 {
    let element = (2 * u128::from(point) + 1) * u128::from(length) / (2 * u128::from(points.max(1)));
    u64::try_from(element).unwrap_or(0).min(length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_point_belongs_to_it() {
        for (length, points) in [(10, 3), (7, 7), (1000, 1), (5, 2)] {
            let division = Division::Count { blocks: points, axis: length };
            for point in 0..points {
                assert_eq!(division.block(middle_of(point, length, points)), point, "{length} {points}");
            }
        }
    }
}
