//! The rounds of requests that operations on hierarchies take in a remote store. Each round takes the latency of the store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{OpenOptions, s};
use zarrox_testkit::remote::{IN_FLIGHT, Remote};
use zarrox_tools::Copier;
use zarrox_tools::diff::Diff;
use zarrox_tools::stats;
use zarrox_tools::usage::Usage;

/// The number of arrays: a few waves of requests.
const ARRAYS: usize = 3 * IN_FLIGHT;

/// The latency of a request, which is long enough for all requests of a wave to begin.
const LATENCY: Duration = Duration::from_millis(30);

/// Creates a group of small arrays, each with one stored chunk.
fn group_of_arrays() -> (Remote, Group) {
    let remote = Remote::new(LATENCY);
    let near: Arc<dyn Store> = Arc::new(remote.memory().clone());
    let root = OpenOptions::new().create_group((near, "")).unwrap();
    for index in 0..ARRAYS {
        let array =
            root.create_array(format!("a{index:03}")).shape([4]).chunks([2]).data_type(DataType::Int16);
        array.create().unwrap().write(s![..2], 1_i16).unwrap();
    }
    let root = OpenOptions::new().open_group((remote.blocking(), "")).unwrap();
    let _ = (remote.take_requests(), remote.take_rounds());
    (remote, root)
}

/// Checks that the requests since the last check took at most `most` rounds.
fn check_rounds(remote: &Remote, most: usize) {
    let (rounds, requests) = (remote.take_rounds(), remote.take_requests());
    assert!(rounds <= most, "{rounds} rounds, not {most}: {requests:#?}");
}

#[test]
fn children_are_opened_in_waves_by_the_documents_of_the_group_s_format() {
    let (remote, root) = group_of_arrays();
    assert_eq!(root.children().unwrap().len(), ARRAYS);
    let requests = remote.take_requests();
    let documents = requests.keys().filter(|request| request.starts_with("read")).count();
    assert_eq!(documents, ARRAYS, "{requests:#?}");
    check_rounds(&remote, 8);
}

#[test]
fn consolidating_reads_the_documents_in_waves() {
    let (remote, root) = group_of_arrays();
    root.consolidate_metadata().unwrap();
    check_rounds(&remote, 20);
}

#[test]
fn the_usage_of_arrays_is_measured_in_waves() {
    let (remote, root) = group_of_arrays();
    let mut chunks = 0;
    Usage::new()
        .run(&root.into(), |node| {
            chunks += node.chunks.map_or(0, |chunks| chunks.stored);
            Ok(())
        })
        .unwrap();
    assert_eq!(chunks, ARRAYS as u64);
    check_rounds(&remote, 20);
}

#[test]
fn small_arrays_are_copied_in_waves() {
    let (remote, _root) = group_of_arrays();
    let near: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let report = Copier::new().plan((remote.blocking(), ""), (near.clone(), "")).unwrap().run().unwrap();
    assert_eq!(report.nodes.len(), ARRAYS + 1);
    check_rounds(&remote, 40);

    let target = Remote::new(LATENCY);
    let _ = Copier::new().plan((near, ""), (target.blocking(), "")).unwrap().run().unwrap();
    check_rounds(&target, 40);
}

#[test]
fn metadata_is_compared_in_waves() {
    let (remote, root) = group_of_arrays();
    let found = &mut 0;
    Diff::new()
        .metadata_only(true)
        .run(&root.clone().into(), &root.into(), |_| {
            *found += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(*found, 0);
    check_rounds(&remote, 20);
}

#[test]
fn statistics_of_a_sparse_array_request_its_stored_chunks_alone() {
    let remote = Remote::default();
    let array = OpenOptions::new().create_array((remote.blocking(), "a")).shape([100_000, 100_000]);
    let array = array.chunks([10, 10]).data_type(DataType::Int16).create().unwrap();
    for index in 0..50 {
        let at = index * 1_990 + 3;
        array.write(s![at..at + 1, at..at + 1], 7_i16).unwrap();
    }
    remote.take_requests();
    let stats = stats(&array).unwrap();
    assert_eq!((stats.count, stats.max.map(|max| max.to_f64())), (10_000_000_000, Some(7.0)));
    let requests = remote.take_requests();
    assert!(requests.len() < 60, "{} requests", requests.len());

    let found = &mut Vec::new();
    let other = array.clone();
    Diff::new()
        .run(&array.into(), &other.into(), |difference| {
            found.push(difference);
            Ok(())
        })
        .unwrap();
    assert!(found.is_empty(), "{found:?}");
    assert!(remote.take_requests().len() < 60);
}
