//! Random sequences of operations on hierarchies of every format, by two independent handles, compared with a model in memory.
//! After each operation the hierarchy is opened again, and must have exactly the nodes, attributes and elements of the model.
//!
//! - `operation`: the operations
//! - `reference`: the model
//! - `world`: a store with two handles, which do what the model does

mod operation;
mod reference;
mod world;

use std::sync::Arc;

use zarrox::Format;
use zarrox::stores::{DirectoryStore, MemoryStore, Store};

use operation::Operation;
use world::World;
use zarrox_testkit::choices::run_sequences;

/// The number of sequences in memory and on disk, and the largest number of operations in each.
const CASES: [u32; 2] = [60, 15];
const LONGEST: usize = 30;

fn check_format(format: Format) {
    let make = |choices: &mut zarrox_testkit::choices::Choices| Operation::choose(choices);
    run_sequences(CASES[0], LONGEST, make, |operations| {
        World::new(Arc::new(MemoryStore::new()), format).check(operations);
    });
    run_sequences(CASES[1], LONGEST, make, |operations| {
        let directory = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(DirectoryStore::open(directory.path().join("h.zarr")).unwrap());
        World::new(store, format).check(operations);
    });
}

#[test]
fn v2() {
    check_format(Format::V2);
}

#[test]
fn v3() {
    check_format(Format::V3);
}

#[test]
fn v3_experimental() {
    check_format(Format::V3Experimental);
}

#[test]
fn v3_draft() {
    check_format(Format::V3Draft);
}

#[test]
fn n5() {
    check_format(Format::N5);
}
