//! Progress is reported in bytes, and ends at its total.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::sync::{Arc, Mutex};

use zarrox::{Array, Progress, Result, prelude::*};
use zarrox_tools::bench::Bench;
use zarrox_tools::diff::Diff;
use zarrox_tools::stats::Statistics;

/// Returns the last report of the progress of some work.
fn last(work: impl FnOnce(Box<dyn Fn(Progress) -> Result<()> + Send + Sync>)) -> (u64, u64) {
    let last = Arc::new(Mutex::new((0, 0)));
    let seen = last.clone();
    work(Box::new(move |progress| {
        *seen.lock().unwrap() = (progress.done, progress.total);
        Ok(())
    }));
    let (done, total) = *last.lock().unwrap();
    (done, total)
}

fn array(root: &Group, path: &str) -> Array {
    let array = root.create_array(path).shape([30, 20]).chunks([7, 20]).data_type(DataType::Int32);
    let array = array.create().unwrap();
    array.write(.., 1).unwrap();
    array
}

#[test]
fn progress_is_in_bytes_and_ends_at_its_total() {
    let directory = tempfile::tempdir().unwrap();
    let root = zarrox::create_group(directory.path().join("a.zarr")).unwrap();
    let (array, other) = (array(&root, "a"), array(&root, "b"));
    let bytes = array.nbytes().unwrap();

    let stats = last(|tell| drop(Statistics::new().on_progress(tell).run(&array).unwrap()));
    assert_eq!(stats, (bytes, bytes));
    let percentile = Statistics::new().percentiles([50.0]);
    let stats = last(|tell| drop(percentile.on_progress(tell).run(&array).unwrap()));
    assert_eq!(stats, (2 * bytes, 2 * bytes), "the elements are read twice");

    other.set([29, 19], 2).unwrap();
    let (left, right) = (Node::from(array.clone()), Node::from(other));
    let diff = last(|tell| Diff::new().on_progress(tell).run(&left, &right, |_| Ok(())).unwrap());
    assert_eq!(diff, (2 * bytes, 2 * bytes), "the elements of both arrays");

    let bench = last(|tell| drop(Bench::new().turns(2).on_progress(tell).run(&array).unwrap()));
    assert_eq!(bench, (2 * 2 * bytes, 2 * 2 * bytes), "two measurements in each turn");
}
