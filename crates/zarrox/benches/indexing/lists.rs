//! Long lists of indices, sorted and not.

use zarrox::codecs::Zstd;
use zarrox::{AccessOptions, IndexArray};
use zarrox::{Array, prelude::*};
use zarrox_core::Selection;
use zarrox_core::internals::selection::{Grouped, PlacedPoints, ResolvedAxis, ResolvedSelection};

use crate::Scale;
use crate::data::{in_memory, with_new_threads};
use crate::report::Report;
use crate::values::{Random, measured};

pub(crate) fn run(report: &mut Report, scale: Scale) {
    let (length, count) =
        if scale == Scale::Small { (2_000_000, 1_190_000) } else { (20_000_000, 11_900_000) };
    let array = in_memory().shape([length]).chunks([100_000]).data_type(DataType::Float32);
    let array = array.compressor(Zstd::level(1)).create().unwrap();
    let elements = usize::try_from(length).unwrap();
    let values = measured(&[elements], f32::from);
    array.write(.., &values).unwrap();
    let mut random = Random(6);
    let mut missing = count;
    let chosen = (0..length).filter(|n| {
        let take = random.below((length - n).cast_signed()) < missing;
        missing -= i64::from(take);
        take
    });
    let sorted: Vec<i64> = chosen.map(u64::cast_signed).collect();
    let shuffled: Vec<i64> = random.many_below(sorted.len(), length.cast_signed());
    // The limit applies to the number of indices in the issue.
    let limit = if scale == Scale::Small { 10.0 } else { 100.0 };
    for (name, list, limit) in [("sorted", sorted, Some(limit)), ("random", shuffled, None)] {
        let name = format!("{:.1} M {name} indices", crate::report::real(list.len()) / 1e6);
        let read = array.oindex(&list).read::<ArrayD<f32>>().unwrap();
        assert!(read.iter().zip(&list).all(|(&read, &i)| read == values[usize::try_from(i).unwrap()]));
        let index = IndexArray::from(list);
        report.time(&format!("{name}: the shape"), limit, || array.oindex(&index).shape().unwrap());
        report.time(&format!("{name}: resolved and grouped by chunks"), limit, || grouped(&array, &index));
        let case = format!("{name}: read");
        let output = index.values().len() * size_of::<f32>();
        report.ratio(
            &case,
            "all of the array",
            None,
            || array.oindex(&index).read::<ArrayD<f32>>().unwrap(),
            || array.read::<ArrayD<f32>>(..).unwrap(),
        );
        let limit = output + 4 * index.values().len() * size_of::<usize>();
        let fresh = with_new_threads(&array, AccessOptions::new());
        report.memory(&format!("{case}: memory"), limit, || {
            fresh.oindex(&index).read::<ArrayD<f32>>().unwrap()
        });
    }
}

/// Resolves a selection, without reading a chunk.
fn grouped(array: &Array, index: &IndexArray) -> (ResolvedSelection, Vec<Grouped>) {
    let resolved = Selection::orthogonal(index).resolve(array.shape()).unwrap();
    let group = |axis: &ResolvedAxis| match axis {
        ResolvedAxis::Points(points) => {
            Some(PlacedPoints::group(points.coordinates.clone(), &[array.chunk_grid().runs(points.dims[0])]))
        }
        _ => None,
    };
    let groups = resolved.axes.iter().filter_map(group).collect();
    (resolved, groups)
}
