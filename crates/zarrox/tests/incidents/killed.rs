//! Writers that are killed.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use zarrox::{Array, prelude::*, s};

use super::other_process::Work;

/// Creates an array of shards, and kills `times` writers of the whole array.
fn killed(path: &Path, times: u32) -> Array {
    let array = zarrox::create_array(path).shape([256, 256]).chunks([32, 32]).shards([128, 128]);
    let array = array.data_type(DataType::UInt32).no_compressor().create().unwrap();
    for time in 0..times {
        let mut writer = Work::Forever.start(path, time);
        while array.read::<ArrayD<u32>>(s![0, 0]).unwrap().sum() >> 24 != time + 1 {
            assert!(writer.try_wait().unwrap().is_none(), "the writer ended by itself");
        }
        sleep(Duration::from_micros(u64::from(time) * 313 % 5_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
    array
}

#[test]
fn incident_03_a_job_killed_in_the_middle_of_a_shard() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = killed(&path, 10);
    for (y, x) in [(0, 0), (0, 128), (128, 0), (128, 128)] {
        let shard = array.read::<ArrayD<u32>>(s![y..y + 128, x..x + 128]).unwrap();
        let first = shard[[0, 0]];
        assert!(shard.iter().all(|element| *element == first), "the shard at {y}, {x} is torn");
    }
    array.write(s![100..200, 100..200], 7_u32).unwrap();
    let values = zarrox::open_array(&path).unwrap().read::<ArrayD<u32>>(s![100..200, 100..200]).unwrap();
    assert!(values.iter().all(|element| *element == 7));
}

#[test]
fn thirty_killed_writers_leave_nothing_after_the_next_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    drop(killed(&path, 30));
    // The last writer is a process that has not written here yet.
    let mut last = Work::Forever.start(&path, 30);
    let array = zarrox::open_array(&path).unwrap();
    while array.read::<ArrayD<u32>>(s![-1, -1]).unwrap().sum() >> 24 != 31 {}
    let left: Vec<String> = files(&path).into_iter().filter(|name| name.contains(".zarrox-")).collect();
    last.kill().unwrap();
    last.wait().unwrap();
    // The running writer has at most a few temporary files.
    assert!(left.len() <= 8, "{left:?}");
    array.write(.., 1_u32).unwrap();
    let left: Vec<String> = files(&path).into_iter().filter(|name| name.contains(".zarrox-")).collect();
    assert_eq!(left, [""; 0]);
}

/// Returns the names of all files below a directory.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.display().to_string());
            }
        }
    }
    found
}
