//! Work that is interrupted at any point, and started again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarrox::prelude::*;
use zarrox::{Error, ErrorKind};
use zarrox_images::pyramid::Downsample;

use super::values::Numbers;

fn image(path: &Path) {
    let mut numbers = Numbers(3);
    let values = ndarray::Array2::from_shape_simple_fn((4000, 4000), || numbers.next().to_le_bytes()[0]);
    let array = zarrox::create_array(path).shape([4000, 4000]).data_type(DataType::UInt8).chunks([256, 256]);
    array.no_compressor().create().unwrap().write(.., &values).unwrap();
}

fn maker() -> Downsample {
    Downsample::new().axes(["y".parse().unwrap(), "x".parse().unwrap()]).scale([0.5, 0.25])
}

/// Returns an error from the n-th progress report.
fn failing(n: usize) -> Downsample {
    let heard = Arc::new(AtomicUsize::new(0));
    maker().on_progress(move |_| match heard.fetch_add(1, Ordering::Relaxed) == n {
        true => Err(Error::new(ErrorKind::Interrupted, "enough")),
        false => Ok(()),
    })
}

fn content(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => files.push((path.to_str().unwrap().to_owned(), std::fs::read(&path).unwrap())),
            }
        }
    }
    let root = path.to_str().unwrap().len();
    files.iter_mut().for_each(|(path, _)| drop(path.drain(..root)));
    files.sort();
    files
}

#[test]
fn levels_beside_an_array_are_continued() {
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("whole.zarr");
    image(&whole.join("0"));
    maker().run(whole.join("0")).unwrap();
    let expected = content(&whole);
    for n in (0..50).step_by(3) {
        let path = directory.path().join(format!("image{n}.zarr"));
        image(&path.join("0"));
        let broken = failing(n).name("whole").run(path.join("0"));
        if broken.is_ok() {
            assert!(n > 9, "{n}");
            return;
        }
        let image = zarrox::open_group(&path).unwrap();
        assert!(image.attributes().is_empty(), "{n}");
        assert_eq!(zarrox::open(path.join("1")).unwrap_err().kind(), ErrorKind::NotFound, "{n}");
        // A call with other options does not continue the work.
        let other = maker().levels(1).run(path.join("0")).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::AlreadyExists, "{other}");
        if n % 2 == 1 {
            // The remains of other work are replaced if the options say so.
            let _ = failing(n).levels(3).factors([3]).overwrite(true).run(path.join("0"));
            maker().name("whole").overwrite(true).run(path.join("0")).unwrap();
        }
        let again = maker().name("whole").run(path.join("0"));
        assert!(again.is_ok() || n % 2 == 1);
        assert!(content(&path) == expected, "{n}");
    }
}

#[test]
fn a_new_group_is_continued() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("source.zarr");
    image(&source);
    let whole = directory.path().join("whole.zarr");
    maker().run_into(&source, &whole).unwrap();
    let expected = content(&whole);
    for n in (0..50).step_by(3) {
        let path = directory.path().join(format!("image{n}.zarr"));
        if failing(n).name("whole").run_into(&source, &path).is_ok() {
            assert!(n > 9, "{n}");
            return;
        }
        assert_eq!(zarrox::open(&path).unwrap_err().kind(), ErrorKind::NotFound, "{n}");
        maker().name("whole").run_into(&source, &path).unwrap();
        assert!(content(&path) == expected, "{n}");
    }
}

#[test]
fn only_named_levels_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    image(&path.join("0"));
    image(&path.join("2"));
    let before = content(&path);
    let error = maker().run(path.join("0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    assert!(content(&path) == before);
    maker().overwrite(true).run(path.join("0")).unwrap();
    assert_eq!(zarrox::open_array(path.join("2")).unwrap().shape(), [1000, 1000]);
    // A second run finds existing levels.
    assert_eq!(maker().run(path.join("0")).unwrap_err().kind(), ErrorKind::AlreadyExists);
    maker().levels(2).overwrite(true).run(path.join("0")).unwrap();
    let error = maker().run_into(path.join("0"), directory.path().join("image.zarr/0/inside")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}
