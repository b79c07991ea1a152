//! Reductions of blocks of elements to one: mean, minimum, maximum.

use std::fmt;

use serde::{Deserialize, Serialize};
use zarrox::data_type::{Casting, Storage};
use zarrox::internals::data_type::Primitive;
use zarrox::{ArrayView, DataType, DimSelection, DynArray, Registry};

use super::selection::{count, thinned};
use crate::failure::{Answer, Failure};

/// The most elements that are read for one reduction.
pub(crate) const MOST_REDUCED: u128 = 1 << 28;

/// The elements that are read at a time.
const AT_ONCE: u64 = 1 << 21;

/// The element that stands for a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Reduction {
    /// The first one.
    #[default]
    Nearest,
    /// The mean of those that are not NaN.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Blocks with the extremes and the mean of each.
pub(crate) struct Blocks {
    pub(crate) min: DynArray,
    pub(crate) max: DynArray,
    pub(crate) mean: DynArray,
}

impl Blocks {
    /// The elements that a reduction makes.
    pub(crate) fn take(self, reduction: Reduction) -> DynArray {
        match reduction {
            Reduction::Min => self.min,
            Reduction::Max => self.max,
            Reduction::Mean | Reduction::Nearest => self.mean,
        }
    }
}

/// Reduces blocks of these lengths along each axis of a view. NaN is not counted, and neither are the numbers that mean missing.
pub(crate) fn reduce(
    view: &ArrayView<'_>,
    steps: &[u64],
    missing: &[f64],
    registry: &Registry,
) -> Answer<Blocks> {
    let own = view.data_type();
    match own.storage() {
        Storage::Bool | Storage::Uint(_) => blocks::<u64>(view, steps, missing, &DataType::UInt64, registry),
        Storage::Int(_) => blocks::<i64>(view, steps, missing, &DataType::Int64, registry),
        Storage::Float(_) => blocks::<f64>(view, steps, missing, &DataType::Float64, registry),
        _ => Err(Failure::unsupported(format!(
            "elements of {own} have no mean and no order; use reduce=nearest"
        ))),
    }
}

/// The state of all blocks.
struct State<T> {
    missing: Vec<T>,
    min: Vec<T>,
    max: Vec<T>,
    sum: Vec<f64>,
    count: Vec<u64>,
    strides: Vec<usize>,
}

fn blocks<T: Primitive>(
    view: &ArrayView<'_>,
    steps: &[u64],
    missing: &[f64],
    wide: &DataType,
    registry: &Registry,
) -> Answer<Blocks> {
    let shape = view.shape()?;
    let out = thinned(&shape, steps);
    let too_many = || Failure::too_much("the result is too large", "ask for fewer elements");
    let length = usize::try_from(count(&out)).map_err(|_| too_many())?;
    let lengths: Vec<usize> = out.iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
    let strides = (0..lengths.len()).map(|dim| lengths[dim + 1..].iter().product()).collect();
    let missing =
        DynArray::nearest(view.data_type(), missing, registry)?.cast(wide, Casting::Lossy, registry)?;
    let mut state = State {
        missing: missing.as_bytes().chunks_exact(8).map(T::of_bytes).collect(),
        min: vec![T::default(); length],
        max: vec![T::default(); length],
        sum: vec![0.0; length],
        count: vec![0; length],
        strides,
    };
    for ranges in view.parts(AT_ONCE, zarrox::Order::RowMajor)? {
        let items: Vec<DimSelection> = ranges.iter().cloned().map(DimSelection::from).collect();
        let values = view.slice(items).read::<DynArray>()?.cast(wide, Casting::Lossy, registry)?;
        let begin: Vec<u64> = ranges.iter().map(|range| range.start).collect();
        let extent: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        state.add(values.as_bytes(), &begin, &extent, steps);
    }
    state.finish(view.data_type(), wide, &lengths, registry)
}

impl<T: Primitive> State<T> {
    /// Adds the elements of a box, whose bytes are in row-major order.
    fn add(&mut self, values: &[u8], begin: &[u64], extent: &[u64], steps: &[u64]) {
        let place =
            |dim: usize, position: u64| usize::try_from(position / steps[dim].max(1)).unwrap_or(usize::MAX);
        let Some((last, outer)) = extent.split_last() else {
            values.chunks_exact(8).for_each(|item| self.add_one(0, item));
            return;
        };
        let inner = begin.len() - 1;
        let places: Vec<usize> = (0..*last).map(|n| place(inner, begin[inner] + n)).collect();
        let mut index = vec![0; outer.len()];
        for row in values.chunks_exact(8 * places.len().max(1)) {
            let base: usize = index
                .iter()
                .enumerate()
                .map(|(dim, n): (usize, &u64)| place(dim, begin[dim] + n) * self.strides[dim])
                .sum();
            for (item, place) in row.chunks_exact(8).zip(&places) {
                self.add_one(base + place, item);
            }
            for dim in (0..outer.len()).rev() {
                index[dim] += 1;
                if index[dim] < outer[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
    }

    #[inline]
    fn add_one(&mut self, at: usize, item: &[u8]) {
        let value = T::of_bytes(item);
        if value.is_nan() || at >= self.count.len() || self.missing.contains(&value) {
            return;
        }
        let is_first = self.count[at] == 0;
        if is_first || value < self.min[at] {
            self.min[at] = value;
        }
        if is_first || value > self.max[at] {
            self.max[at] = value;
        }
        self.count[at] += 1;
        self.sum[at] += value.to_f64();
    }

    /// The blocks: extremes in the elements' own type, means as floats. A block without numbers is NaN, or what means missing.
    #[expect(clippy::cast_precision_loss, reason = "the divisor of a mean")]
    fn finish(
        self,
        own: &DataType,
        wide: &DataType,
        lengths: &[usize],
        registry: &Registry,
    ) -> Answer<Blocks> {
        let shape = lengths.to_vec();
        let means = self.sum.iter().zip(&self.count).map(|(sum, count)| match count {
            0 => f64::NAN,
            count => sum / *count as f64,
        });
        let means: Vec<u8> = means.flat_map(f64::to_ne_bytes).collect();
        let means = DynArray::new(DataType::Float64, shape.clone(), means)?;
        let is_float = matches!(wide, DataType::Float64);
        let mean_type = if is_float && own.size() <= 4 { DataType::Float32 } else { DataType::Float64 };
        let typed = |values: &[T]| -> Answer<DynArray> {
            let mut bytes = Vec::with_capacity(size_of_val(values));
            for (&value, count) in values.iter().zip(&self.count) {
                match count {
                    0 => T::NAN.or(self.missing.first().copied()).unwrap_or(value).append_to(&mut bytes),
                    _ => value.append_to(&mut bytes),
                }
            }
            Ok(DynArray::new(wide.clone(), shape.clone(), bytes)?.cast(own, Casting::Lossy, registry)?)
        };
        Ok(Blocks {
            min: typed(&self.min)?,
            max: typed(&self.max)?,
            mean: means.cast(&mean_type, Casting::Lossy, registry)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox::stores::MemoryStore;
    use zarrox::{Array, OpenOptions, s};

    use super::*;

    fn array(data_type: &DataType, values: &[f64], shape: [u64; 2]) -> Array {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let array = builder.shape(shape).chunks([2, 3]).data_type(data_type.clone()).create().unwrap();
        let registry = zarrox::codecs::registry();
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let lengths = shape.map(|n| usize::try_from(n).unwrap()).to_vec();
        let values = DynArray::new(DataType::Float64, lengths, bytes).unwrap();
        array.write(.., values.cast(data_type, Casting::Lossy, &registry).unwrap()).unwrap();
        array
    }

    fn text(values: &DynArray) -> String {
        format!("{} {}", values.data_type(), values.to_json(&zarrox::codecs::registry()).unwrap())
    }

    #[test]
    fn blocks_have_the_extremes_and_means_of_their_elements() {
        let nan = f64::NAN;
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, nan, nan, 8.0, 9.0, nan, 11.0, nan, nan, nan, 15.0];
        let array = array(&DataType::Float32, &values, [3, 5]);
        let blocks = reduce(&array.slice(s![..]), &[2, 2], &[], &zarrox::codecs::registry()).unwrap();
        assert_eq!(text(&blocks.min), r#"float32 [[1.0,3.0,5.0],[11.0,"NaN",15.0]]"#);
        assert_eq!(text(&blocks.max), r#"float32 [[2.0,9.0,5.0],[11.0,"NaN",15.0]]"#);
        assert_eq!(text(&blocks.mean), r#"float32 [[1.5,6.0,5.0],[11.0,"NaN",15.0]]"#);
    }

    #[test]
    fn extremes_of_whole_numbers_are_exact() {
        let array = array(&DataType::Int64, &[-5.0, 7.0, 1.0, 2.0], [2, 2]);
        array.write(s![0, 0], i64::MIN + 1).unwrap();
        let blocks = reduce(&array.slice(s![..]), &[2, 2], &[], &zarrox::codecs::registry()).unwrap();
        assert_eq!(text(&blocks.min), format!("int64 [[{}]]", i64::MIN + 1));
        assert_eq!(text(&blocks.max), "int64 [[7]]");
        let rows = reduce(&array.slice(s![1]), &[1], &[], &zarrox::codecs::registry()).unwrap();
        assert_eq!(text(&rows.mean), "float64 [1.0,2.0]");
    }

    #[test]
    fn numbers_that_mean_missing_are_not_counted() {
        let registry = zarrox::codecs::registry();
        let floats = array(&DataType::Float32, &[1e20, 2.0, 4.0, 1e20, 1e20, 1e20], [2, 3]);
        let missing = [1e20, 1e300];
        let blocks = reduce(&floats.slice(s![..]), &[2, 2], &missing, &registry).unwrap();
        assert_eq!(text(&blocks.mean), r#"float32 [[2.0,4.0]]"#);
        assert_eq!(text(&blocks.max), r#"float32 [[2.0,4.0]]"#);
        let whole = array(&DataType::Int16, &[-999.0, 2.0, 4.0, -999.0, -999.0, -999.0], [2, 3]);
        let blocks = reduce(&whole.slice(s![..]), &[1, 2], &[-999.0, 0.5], &registry).unwrap();
        assert_eq!(text(&blocks.mean), r#"float64 [[2.0,4.0],["NaN","NaN"]]"#);
        assert_eq!(text(&blocks.min), "int16 [[2,4],[-999,-999]]");
    }

    #[test]
    fn what_has_no_order_is_refused() {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let array = builder.shape([4]).data_type(DataType::Complex64).create().unwrap();
        assert!(reduce(&array.slice(s![..]), &[2], &[], &zarrox::codecs::registry()).is_err());
    }
}
