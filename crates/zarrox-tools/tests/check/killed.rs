//! Moves and rechunking in place that are killed at each of their changes, over a store that cannot rename: a repair finishes or
//! undoes the operation, and the same call leaves one node with all elements.

use std::sync::Arc;

use ndarray::Array1;
use zarrox::stores::{MemoryStore, Operation, Prefix, Store, StoreErrorKind};
use zarrox::{DataType, ErrorKind, Format, OpenOptions};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_tools::check::{Check, Repair};
use zarrox_tools::copy::Copier;

/// The operations that change a store.
const CHANGES: [Operation; 3] = [Operation::Set, Operation::Erase, Operation::ErasePrefix];

/// Returns a store with the array `a` in the group `g`.
fn with_array(format: Format) -> Arc<FaultyStore> {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())).without_rename());
    let options = OpenOptions::new().format(format);
    options.create_group((store.clone() as Arc<dyn Store>, "")).unwrap();
    let array = options.create_array((store.clone() as Arc<dyn Store>, "g/a")).shape([6]).chunks([2]);
    array.data_type(DataType::Int32).create().unwrap().write(.., elements()).unwrap();
    store
}

fn elements() -> Array1<i32> {
    (1..7).collect()
}

/// Runs `work` as if its process were killed at the n-th change; returns false if it makes fewer changes.
fn killed_at<T>(store: &FaultyStore, n: u64, work: impl FnOnce() -> zarrox::Result<T>) -> bool {
    store.inject(Fault::fail(StoreErrorKind::Unreachable).on(&CHANGES).since(n));
    let is_killed = work().is_err();
    store.heal();
    is_killed
}

fn repair(store: &Arc<FaultyStore>) -> Vec<String> {
    let check = Check::open_with(&OpenOptions::new(), (store.clone() as Arc<dyn Store>, "")).unwrap();
    let mut found = Vec::new();
    check
        .repair(Repair::default())
        .run(|finding| {
            found.push(finding.to_string());
            Ok(())
        })
        .unwrap();
    found
}

fn read(store: &Arc<FaultyStore>, path: &str) -> zarrox::Result<Array1<i32>> {
    OpenOptions::new().open_array((store.clone() as Arc<dyn Store>, path))?.read(..)
}

/// Asserts that the array is at one path alone, and that nothing is left of the operation.
fn assert_only_at(store: &Arc<FaultyStore>, path: &str, other: &str, when: &str) {
    assert_eq!(read(store, path).unwrap(), elements(), "{when}");
    assert_eq!(read(store, other).unwrap_err().kind(), ErrorKind::NotFound, "{when}");
    let mut left = Vec::new();
    let keys = &mut |key: zarrox::stores::Key, _| {
        let is_left = key.as_str().contains(other) || key.name().starts_with(".zarrox-");
        left.extend(Some(key).filter(|key| is_left && !key.as_str().starts_with(".zarrox-quarantine")));
        std::ops::ControlFlow::Continue(())
    };
    store.list_prefix(&Prefix::root(), keys).unwrap();
    assert!(left.is_empty(), "{when}: {left:?}");
}

#[test]
fn a_killed_move_is_finished_by_the_same_move_with_a_repair_between_and_without() {
    for format in [Format::V2, Format::V3] {
        for repairs in [false, true] {
            for n in 1.. {
                let store = with_array(format);
                let move_node = || {
                    let place = |path: &'static str| (store.clone() as Arc<dyn Store>, path);
                    OpenOptions::new().move_node(place("g/a"), place("g/b"))
                };
                let is_killed = killed_at(&store, n, move_node);
                let when = format!("{format}, killed at change {n}, repaired: {repairs}");
                if repairs {
                    repair(&store);
                    assert_eq!(repair(&store), Vec::<String>::new(), "{when}");
                }
                match move_node() {
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    moved => moved.unwrap_or_else(|error| panic!("{when}: {error}")),
                }
                assert_only_at(&store, "g/b", "g/a", &when);
                if !is_killed {
                    assert!(n > 5, "the move makes several changes");
                    break;
                }
            }
        }
    }
}

#[test]
fn rechunking_in_place_goes_on_after_it_was_killed_while_it_discarded_an_earlier_output() {
    let mut second_kills = 0;
    for first in (2..14).step_by(3) {
        for second in 1.. {
            let store = with_array(Format::V2);
            let rechunk = |length: u64| {
                Copier::new().chunks([length]).run_in_place((store.clone() as Arc<dyn Store>, "g/a"))
            };
            let is_begun = killed_at(&store, first, || rechunk(3));
            // Another chunk shape: what the first run has written is discarded.
            let is_killed = is_begun && killed_at(&store, second, || rechunk(4));
            let when = format!("killed at change {first}, and again at change {second}");
            rechunk(4).unwrap_or_else(|error| panic!("{when}: {error}"));
            assert_only_at(&store, "g/a", "g/a.rechunked", &when);
            if !is_killed {
                break;
            }
            second_kills += 1;
        }
    }
    assert!(second_kills > 10, "{second_kills}");
}
