//! Measurements: the sizes are exact, and the times are plausible.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::time::Duration;

use ndarray::Array2;
use zarrox::ErrorKind;
use zarrox::codecs::Zstd;
use zarrox::{Array, prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::bench::Bench;
use zarrox_tools::copy::Copier;

fn array(directory: &tempfile::TempDir) -> Array {
    let array = zarrox::create_array(directory.path().join("a")).shape([600, 400]).data_type(DataType::Int32);
    let array = array.chunks([50, 40]).shards([200, 200]).compressor(Zstd::level(1)).create().unwrap();
    array
        .write(.., Array2::from_shape_fn((600, 400), |(y, x)| i32::try_from(y * x % 1000).unwrap()))
        .unwrap();
    array
}

#[test]
fn a_candidate_has_the_size_that_a_copy_would_have() {
    let directory = tempfile::tempdir().unwrap();
    let array = array(&directory);
    let copier = Copier::new().chunks([100, 100]).no_compressor();
    let report = Bench::new().turns(2).candidate("plain", copier).run(&array).unwrap();
    assert_eq!(report.sample, [(0, 600), (0, 400)]);
    assert_eq!((report.sample_bytes, report.bytes, report.objects), (960_000, 960_000, 6));
    let stored = array.info().unwrap().chunk_bytes_stored;
    let own = report.candidates[0].as_ref().unwrap();
    assert_eq!((report.bytes_fetched, own.bytes_stored, own.chunks), (stored, stored, 120));
    assert_eq!(
        (own.chunk_shape.as_slice(), own.shard_shape.as_deref()),
        (&[50, 40][..], Some(&[200, 200][..]))
    );
    let plain = report.candidates[1].as_ref().unwrap();
    assert_eq!((plain.bytes_stored, plain.chunks, plain.shard_shape.as_ref()), (960_000, 24, None));
    assert!(!own.is_cut && !plain.is_cut);
    for time in [own.encode, own.decode, own.read_chunk, own.read_element, report.fetch, report.read] {
        assert!(time > Duration::ZERO && time < Duration::from_secs(60));
    }
    assert!(plain.decode < own.decode * 10);
}

#[test]
fn a_sample_is_bounded_and_lies_where_something_is_stored() {
    let directory = tempfile::tempdir().unwrap();
    let array = array(&directory);
    // The shards are larger than the sample, so the chunks of the sample are fetched as byte
    // ranges.
    let report = Bench::new().turns(1).sample(40_000).run(&array).unwrap();
    assert_eq!(report.sample_bytes, 32_000);
    let own = report.candidates[0].as_ref().unwrap();
    assert!(
        own.is_cut && report.bytes_fetched > 1000 && report.bytes_fetched <= own.bytes_stored,
        "{report:?}"
    );
    let wide = Copier::new().chunks([600, 400]).shards([600, 400]);
    let report = Bench::new().turns(1).sample(40_000).candidate("wide", wide).run(&array).unwrap();
    let wide = report.candidates[1].as_ref().unwrap();
    assert!(wide.is_cut && wide.chunks == 1, "{wide:?}");

    let sparse = zarrox::create_array(directory.path().join("b")).shape([1 << 40]).data_type(DataType::UInt8);
    let sparse = sparse.chunks([1000]).create().unwrap();
    sparse.write(s![70_500], 1_u8).unwrap();
    let report = Bench::new().turns(1).sample(5000).run(&sparse).unwrap();
    assert!(report.sample[0].0 <= 70_500 && report.sample[0].1 > 70_500, "{:?}", report.sample);
    assert!(report.whole(report.read) > report.read.as_secs_f64());
}

#[test]
fn candidates_can_lie_in_a_place_of_which_nothing_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let array = array(&directory);
    let place = directory.path().join("place");
    let bad = Copier::new().chunks([7, 7]).shards([10, 10]);
    let report = Bench::new().turns(1).place(&place).candidate("bad", bad).run(&array).unwrap();
    assert!(report.candidates[0].is_ok());
    let refused = report.candidates[1].as_ref().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert!(refused.to_string().contains("'chunk_shape' is 7"), "{refused}");
    assert!(!place.exists());
    let stopped = Bench::new()
        .place(&place)
        .on_progress(|_| Err(zarrox::Error::new(zarrox::ErrorKind::Interrupted, "enough")));
    assert_eq!(stopped.run(&array).unwrap_err().kind(), zarrox::ErrorKind::Interrupted);
    assert!(!place.exists());
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("zarr.json"), "{\"zarr_format\": 3, \"node_type\": \"group\"}").unwrap();
    assert_eq!(Bench::new().place(&place).run(&array).unwrap_err().kind(), zarrox::ErrorKind::AlreadyExists);
    assert!(place.join("zarr.json").exists());
}

#[test]
fn an_array_without_elements_cannot_be_measured() {
    let directory = tempfile::tempdir().unwrap();
    let empty = zarrox::create_array(directory.path().join("a")).shape([0, 3]).data_type(DataType::Int8);
    assert_error(Bench::new().run(&empty.create().unwrap()), ErrorKind::InvalidArgument, "no elements");
    let scalar = zarrox::create_array(directory.path().join("b")).shape([]).data_type(DataType::Int8);
    let report = Bench::new().turns(1).run(&scalar.create().unwrap()).unwrap();
    assert_eq!((report.sample_bytes, report.bytes_fetched), (1, 0));
}
