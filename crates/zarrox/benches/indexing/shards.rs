//! Lists and points in shards: each shard's index is read once, and each inner chunk decoded once.

use ndarray::{ArrayD, IxDyn};
use zarrox::codecs::Zstd;
use zarrox::{Array, prelude::*, s};

use crate::Scale;
use crate::data::{PLACES, Place};
use crate::report::Report;
use crate::values::{Random, measured};

/// Compares a list of indices with a slice (zarr-python's issue 3829: 1.18 s against 0.1 s).
pub(crate) fn lists(report: &mut Report, scale: Scale) {
    let depth = if scale == Scale::Small { 100 } else { 1000 };
    let shape = [2, depth, 100, 100];
    let (builder, _directory) = Place::Directory.array();
    let [_, inner, ..] = shape.map(|n| n as u64);
    let builder =
        builder.shape(shape.map(|n| n as u64)).chunks([1, inner, 10, 10]).shards([1, inner, 100, 100]);
    let array = builder.data_type(DataType::Float32).create().unwrap();
    let mut random = Random(3);
    // The sum of several uniform numbers is nearly normally distributed.
    let mut normal = || {
        (0..4).map(|_| f32::from(u16::try_from(random.next() >> 48).unwrap())).sum::<f32>() / 37_000.0 - 3.5
    };
    let values = ArrayD::from_shape_simple_fn(IxDyn(&shape), &mut normal);
    array.write(.., &values).unwrap();
    let list = || array.oindex([0]).read::<ArrayD<f32>>().unwrap();
    let slice = || array.read::<ArrayD<f32>>(s![0..1]).unwrap();
    assert!(list() == slice());
    report.ratio("shards of 100 inner chunks, `oindex[[0]]`", "`[0:1]`", 1.1, list, slice);
    let all = || array.read::<ArrayD<f32>>(..).unwrap();
    let turned = || array.oindex([1, 0]).read::<ArrayD<f32>>().unwrap();
    assert!(turned() == values.select(ndarray::Axis(0), &[1, 0]));
    report.ratio("shards of 100 inner chunks, `oindex[[1, 0]]`", "`[:]`", 1.3, turned, all);
    let points = || array.oindex([0, 1, 0]).read::<ArrayD<f32>>().unwrap();
    assert!(points() == values.select(ndarray::Axis(0), &[0, 1, 0]));
    report.ratio("shards of 100 inner chunks, `oindex[[0, 1, 0]]`", "`[:]`", None, points, all);
}

/// Compares random points in one shard, which touch all of its inner chunks, with a read of the
/// whole shard.
pub(crate) fn points(report: &mut Report, _: Scale) {
    const SIDE: usize = 1024;
    const COUNT: usize = 100_000;
    let mut random = Random(4);
    let (rows, columns) = (random.many_below(COUNT, 1024), random.many_below(COUNT, 1024));
    let indices: (zarrox::IndexArray, zarrox::IndexArray) = ((&rows).into(), (&columns).into());
    let values = measured(&[SIDE, SIDE], |n| n);
    let coordinates = || (&indices.0, &indices.1);
    for place in PLACES {
        for zstd in [true, false] {
            let array = |data_type| {
                let (builder, directory) = place.array();
                let builder =
                    builder.shape([1024, 1024]).chunks([64, 64]).shards([1024, 1024]).data_type(data_type);
                let builder = if zstd { builder.compressor(Zstd::level(3)) } else { builder.no_compressor() };
                (builder.create().unwrap(), directory)
            };
            let codec = if zstd { "zstd" } else { "raw" };
            let name =
                |kind: &str| format!("100,000 points in a shard of 1024² {kind}, {codec}, {}", place.name());
            let (small, _first) = array(DataType::UInt16);
            small.write(.., &values).unwrap();
            let found = small.vindex(coordinates()).read::<ArrayD<u16>>().unwrap();
            let place_of = |n: usize| [rows[n], columns[n]].map(|i| usize::try_from(i).unwrap());
            assert!(found.iter().enumerate().all(|(n, &value)| value == values[place_of(n).as_slice()]));
            let (large, _second) = array(DataType::Float32);
            large.write(.., values.mapv(f32::from)).unwrap();
            let small_points = || small.vindex(coordinates()).read::<ArrayD<u16>>().unwrap();
            let large_points = || large.vindex(coordinates()).read::<ArrayD<f32>>().unwrap();
            report.ratio(&name("u2"), "all of it", 1.3, small_points, || {
                small.read::<ArrayD<u16>>(..).unwrap()
            });
            report.ratio(&name("f4"), "all of it", 1.3, large_points, || {
                large.read::<ArrayD<f32>>(..).unwrap()
            });
            if zstd {
                writes(report, place, &small, &large, &indices);
            }
        }
    }
}

fn writes(
    report: &mut Report,
    place: Place,
    small: &Array,
    large: &Array,
    (rows, columns): &(zarrox::IndexArray, zarrox::IndexArray),
) {
    let count = rows.values().len();
    let mut turn = 0_u16;
    // The values are different each time, since an unchanged chunk is not stored.
    let mut points = || {
        turn = turn.wrapping_add(1);
        ndarray::Array1::from_iter((0..count).map(|n| u16::try_from(n % 1000).unwrap().wrapping_add(turn)))
    };
    let mut other = 0_u16;
    let mut all = || {
        other = other.wrapping_add(1);
        measured(&[1024, 1024], |n| n.wrapping_add(other))
    };
    let name = |kind| format!("100,000 points written to a shard of 1024² {kind}, zstd, {}", place.name());
    let (some, whole) = (points(), all());
    let mut flip = false;
    let mut alternating = || {
        flip = !flip;
        u16::from(flip)
    };
    report.ratio(
        &name("u2"),
        "all of it rewritten",
        None,
        || small.vindex((rows, columns)).write(&(&some + alternating())).unwrap(),
        || small.write(.., &whole).unwrap(),
    );
    let (some, whole) = (some.mapv(f32::from), whole.mapv(f32::from));
    let mut flip = false;
    let mut alternating = || {
        flip = !flip;
        f32::from(u8::from(flip))
    };
    report.ratio(
        &name("f4"),
        "all of it rewritten",
        None,
        || large.vindex((rows, columns)).write(&(&some + alternating())).unwrap(),
        || large.write(.., &whole).unwrap(),
    );
}
