//! Appends in stores without a lock that excludes all writers: atomic, also when a writer dies.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::process::Command;
use std::sync::Arc;

use ndarray::{Array2, arr1};
use serde_json::{Value, json};
use tempfile::TempDir;
use zarrox::stores::{Condition, Key, Prefix, Store, StoreExt};
use zarrox::{Array, ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::remote::Remote;
use zarrox_tools::check::{Check, Repair};

/// The environment variable with the URL of the array to which another process appends until it
/// dies.
const CHILD: &str = "ZARROX_TEST_DYING_APPEND";

/// The object in which rows are reserved.
const RESERVED: &str = "a/.zarrox-unfinished-appends.json";

/// Another process of the tests, which dies while it appends.
#[test]
fn child() {
    let Some(url) = std::env::var_os(CHILD) else { return };
    let mut array = OpenOptions::new().open(url.to_str().unwrap()).unwrap().into_array().unwrap();
    let died = array.append_with(&[8, 3], 0, |grown, _| {
        grown.write(s![3..7, ..], Array2::from_elem((4, 3), 9_i8))?;
        std::process::abort()
    });
    died.unwrap();
}

fn dies_while_it_appends(url: &str) {
    let directory = TempDir::new().unwrap();
    let url = url.replace("ROOT", directory.path().to_str().unwrap());
    let builder = OpenOptions::new().create_array(format!("{url}/a")).data_type(DataType::Int8);
    let array = builder.shape([3, 3]).chunks([4, 3]).create().unwrap();
    array.write(.., 5_i8).unwrap();
    array.flush().unwrap();
    // Some databases only let one process write at a time.
    drop(array);
    let url = format!("{url}/a");
    for _ in 0..2 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let run = command.args(["--exact", "stores::appends::child"]).env(CHILD, &url).output().unwrap();
        assert!(!run.status.success(), "it has not died");
        let array = OpenOptions::new().open(&url).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<i8>>(..).unwrap(), Array2::from_elem((3, 3), 5).into_dyn(), "{url}");
    }
    let mut array = OpenOptions::new().open(&url).unwrap().into_array().unwrap();
    // Growing exposes none of the written rows.
    array.append(Array2::from_elem((1, 3), 7_i8), 0).unwrap();
    array.resize([8, 3]).unwrap();
    let rows = array.read::<ArrayD<i8>>(s![.., 0]).unwrap().into_raw_vec_and_offset().0;
    assert_eq!(rows, [5, 5, 5, 7, 0, 0, 0, 0], "{url}");
    assert_eq!(array.read::<ArrayD<i8>>(s![.., 2]).unwrap().into_raw_vec_and_offset().0, rows, "{url}");
}

#[test]
#[cfg(feature = "sqlite")]
fn a_writer_that_dies_while_it_appends_to_sqlite_leaves_no_rows() {
    dies_while_it_appends("sqlite://ROOT/data.sqlite");
}

#[test]
#[cfg(feature = "lmdb")]
fn a_writer_that_dies_while_it_appends_to_lmdb_leaves_no_rows() {
    dies_while_it_appends("lmdb://ROOT/data.lmdb");
}

#[test]
#[cfg(feature = "redb")]
fn a_writer_that_dies_while_it_appends_to_redb_leaves_no_rows() {
    dies_while_it_appends("redb://ROOT/data.redb");
}

#[test]
fn a_writer_that_dies_while_it_appends_to_a_directory_leaves_no_rows() {
    dies_while_it_appends("ROOT/data.zarr");
}

fn far(shape: u64) -> (Remote, Array) {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a"));
    let array = builder.shape([shape]).chunks([4]).data_type(DataType::Int32).create().unwrap();
    (remote, array)
}

fn opened(remote: &Remote) -> Array {
    OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_array().unwrap()
}

fn values(remote: &Remote) -> Vec<i32> {
    opened(remote).read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0
}

/// Returns the content of a store at a moment, with all running appends marked as dead.
fn when_all_died(remote: &Remote) -> Remote {
    let died = Remote::default();
    let mut keys = Vec::new();
    let all = Prefix::root();
    remote
        .memory()
        .list_prefix(&all, &mut |key, _| {
            keys.push(key);
            ControlFlow::Continue(())
        })
        .unwrap();
    for key in keys {
        let mut value = remote.memory().get(&key).unwrap().unwrap().to_vec();
        if key.as_str() == RESERVED {
            let mut document: Value = serde_json::from_slice(&value).unwrap();
            for rows in document["reserved"].as_array_mut().unwrap() {
                if !rows["owner"].is_null() {
                    (rows["owner"]["machine"], rows["owner"]["heard"]) = (json!("another"), json!(0));
                }
            }
            value = document.to_string().into_bytes();
        }
        died.memory().set(&key, &value, Condition::Always).unwrap();
    }
    died
}

fn reserved(remote: &Remote) -> usize {
    let value = remote.memory().get(&Key::new(RESERVED).unwrap()).unwrap();
    let document = value.map(|value| serde_json::from_slice::<Value>(&value).unwrap());
    document.map_or(0, |document| document["reserved"].as_array().unwrap().len())
}

#[test]
fn rows_that_are_written_are_not_seen_before_the_shape_and_then_all_at_once() {
    let (remote, mut array) = far(2);
    array
        .append_with(&[3], 0, |grown, place| {
            grown.write(place, arr1(&[1, 2, 3]))?;
            assert_eq!(values(&remote), [0, 0]);
            assert_eq!(reserved(&remote), 1);
            Ok(())
        })
        .unwrap();
    assert_eq!(values(&remote), [0, 0, 1, 2, 3]);
    assert_eq!(reserved(&remote), 0, "nothing is reserved any more");
}

#[test]
fn rows_of_a_dead_writer_are_cleared_and_taken_by_the_next_append() {
    let (remote, mut array) = far(2);
    let mut died = None;
    array
        .append_with(&[7], 0, |grown, place| {
            grown.write(place, 9)?;
            died = Some(when_all_died(&remote));
            Ok(())
        })
        .unwrap();
    let died = died.unwrap();
    assert_eq!(values(&died), [0, 0]);
    let mut next = opened(&died);
    next.append_with(&[1], 0, |_, _| {
        // Rows that another append makes visible were cleared before.
        opened(&died).append(arr1(&[4]), 0)?;
        assert_eq!(values(&died), [0, 0, 0, 4]);
        Err(zarrox::Error::new(ErrorKind::Interrupted, "stopped"))
    })
    .unwrap_err();
    // The row of the failed append is free.
    next.append(arr1(&[3]), 0).unwrap();
    assert_eq!(values(&died), [0, 0, 3, 4]);
    assert_eq!(reserved(&died), 0);
    next.resize([9]).unwrap();
    assert_eq!(values(&died), [0, 0, 3, 4, 0, 0, 0, 0, 0]);
}

#[test]
fn rows_of_a_dead_writer_between_other_rows_are_found_and_reused() {
    let (remote, mut array) = far(2);
    let mut died = None;
    array
        .append_with(&[3], 0, |grown, _| {
            grown.write(s![2..4], 9)?;
            opened(&remote).append(arr1(&[8]), 0)?;
            died = Some(when_all_died(&remote));
            Ok(())
        })
        .unwrap();
    let died = died.unwrap();
    let check = |remote: &Remote| Check::open_with(&OpenOptions::new(), (remote.blocking(), "a")).unwrap();
    let found = |check: Check| {
        let mut found = Vec::new();
        check
            .run(|finding| {
                found.push(finding.to_string());
                Ok(())
            })
            .unwrap();
        found
    };
    let findings = found(check(&died));
    assert!(findings[0].contains("positions 2 to 5 along axis 0"), "{findings:?}");
    // A repair clears the rows.
    let copy = when_all_died(&died);
    found(check(&copy).repair(Repair::default()));
    assert_eq!(values(&copy), [0, 0, 0, 0, 0, 8]);

    // The next append clears the rows as well. It does not fit into them.
    opened(&died).append(arr1(&[1, 2, 3, 4]), 0).unwrap();
    assert_eq!(values(&died), [0, 0, 0, 0, 0, 8, 1, 2, 3, 4]);
    opened(&died).append(arr1(&[5, 6]), 0).unwrap();
    assert_eq!(values(&died), [0, 0, 5, 6, 0, 8, 1, 2, 3, 4]);
    opened(&died).append(arr1(&[7, 7]), 0).unwrap();
    opened(&died).append(arr1(&[7]), 0).unwrap();
    assert_eq!(values(&died), [0, 0, 5, 6, 7, 8, 1, 2, 3, 4, 7, 7]);
    assert_eq!(found(check(&died)), Vec::<String>::new());
}

#[test]
fn a_writer_that_dies_after_it_has_stored_the_shape_has_appended() {
    let (remote, mut array) = far(0);
    array.append(arr1(&[1, 2]), 0).unwrap();
    let stale = json!({"reserved": [{
        "axis": 0, "start": 0, "end": 2, "seen": false, "alone": false,
        "owner": {"token": "t", "machine": "another", "process": 1, "started": 1, "heard": 0},
    }]});
    let key = Key::new(RESERVED).unwrap();
    remote.memory().set(&key, stale.to_string().as_bytes(), Condition::Always).unwrap();
    array.append(arr1(&[3]), 0).unwrap();
    assert_eq!(values(&remote), [1, 2, 3]);
    assert_eq!(reserved(&remote), 0);
}

#[test]
fn an_append_beside_a_program_that_reserves_nothing_is_undone() {
    let (remote, mut array) = far(2);
    let error = array
        .append_with(&[2], 0, |grown, place| {
            grown.write(place, 1)?;
            let key = Key::new("a/zarr.json").unwrap();
            let document = remote.memory().get(&key).unwrap().unwrap();
            let mut document: Value = serde_json::from_slice(&document).unwrap();
            document["shape"] = json!([3]);
            Ok(remote.memory().set(&key, document.to_string().as_bytes(), Condition::Always)?)
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("append again"), "{error}");
    assert_eq!(opened(&remote).shape(), [3]);
    assert_eq!(reserved(&remote), 0);
}

#[test]
fn appends_along_two_axes_wait_for_each_other() {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a"));
    builder.shape([0, 1]).chunks([4, 4]).data_type(DataType::Int32).create().unwrap();
    let store: Arc<dyn Store> = remote.elsewhere(1).blocking();
    let (begun, wait) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let node = OpenOptions::new().open((store, "a")).unwrap();
            wait.recv().unwrap();
            node.into_array().unwrap().append(Array2::<i32>::ones((2, 1)), 1).unwrap();
        });
        opened(&remote)
            .append_with(&[2, 1], 0, |grown, place| {
                begun.send(()).unwrap();
                grown.write(place, 3)
            })
            .unwrap();
    });
    assert_eq!(values(&remote), [3, 1, 3, 1]);
}
