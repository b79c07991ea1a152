//! Random arrays, chains and selections of every kind against a naive model: an array in memory, touched element by element.
//!
//! A case is an array with up to four selections, which are written and read, or with eight invalid selections. There are
//! 59,500 cases in all: 42,000 of numbers in memory and 500 on disk, 9,000 of selections from selections, 4,000 of structures,
//! 2,000 of text, and 2,000 of mistakes. They are generated in each run; a failing case is shrunk and displayed, with the seed
//! that reproduces it. `ZARROX_RANDOM_TIMES=100` makes 100 times as many.
//!
//! - `plan`: the storage of an array
//! - `chosen`: selections of every kind that fit an array
//! - `oracle`: the meaning of selections
//! - `steps`: values that are written, read and compared; `fields` and `text` do the same with elements of other types
//! - `errors`: selections and values that do not fit
//! - `hierarchies`: sequences of operations on whole hierarchies, by two handles

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod chosen;
mod errors;
#[cfg(feature = "derive")]
mod fields;
mod hierarchies;
mod oracle;
mod plan;
mod steps;
mod text;

use ndarray::ArrayD;
use std::fmt::Debug;
use std::sync::Arc;

use num_complex::Complex;
use zarrox::stores::{DirectoryStore, MemoryStore, Store};
use zarrox::{DataType, DynArray, Element, OpenOptions};

use chosen::Kind;
use plan::Elements;
use steps::{Case, check};
use zarrox_testkit::choices::{Choices, run};

/// The number of random cases of each kind of selection (basic, orthogonal, mixed, coordinates, masks, blocks).
const CASES: [u32; 6] = [8000, 9000, 10_000, 7000, 4000, 4000];
const VIEWS: u32 = 9000;
const FIELDS: u32 = 4000;
const TEXTS: u32 = 2000;
const MISTAKES: u32 = 2000;
const CASES_ON_DISK: u32 = 500;

/// Tries selections of a kind with elements of a type in memory.
fn in_memory<T: Element + PartialEq + Debug>(cases: u32, kind: Kind, fill: T, value: impl Fn(usize) -> T) {
    run(
        cases,
        |choices: &mut Choices| Case::choose(choices, Elements::Numbers, &[kind], false),
        |case| check(case, &(Arc::new(MemoryStore::new()) as Arc<dyn Store>), fill, &value),
    );
}

fn small(number: usize) -> u16 {
    u16::try_from(number % 65521).unwrap()
}

#[test]
fn basic() {
    in_memory::<i32>(CASES[0], Kind::Basic, -7, |i| i32::try_from(i).unwrap());
}

#[test]
fn orthogonal() {
    in_memory::<f64>(CASES[1], Kind::Orthogonal, 0.0, |i| f64::from(small(i)) / 3.0);
}

#[test]
fn mixed() {
    in_memory::<u16>(CASES[2], Kind::Mixed, 65535, small);
}

#[test]
fn coordinates() {
    let complex = |i| Complex::new(f32::from(small(i)), -f32::from(small(i)));
    in_memory::<Complex<f32>>(CASES[3], Kind::Coordinates, Complex::new(1.0, -1.0), complex);
}

#[test]
fn masks() {
    in_memory::<u8>(CASES[4], Kind::Mask, 1, |i| small(i).to_le_bytes()[0]);
}

#[test]
fn blocks() {
    in_memory::<u32>(CASES[5], Kind::Blocks, 1, |i| u32::from(small(i)) << 8);
}

#[test]
fn selections_of_selections() {
    run(
        VIEWS,
        |choices: &mut Choices| Case::choose(choices, Elements::Numbers, &Kind::ALL, true),
        |case| {
            check::<i64>(case, &(Arc::new(MemoryStore::new()) as Arc<dyn Store>), 3, |i| {
                i64::from(small(i)) - 9
            });
        },
    );
}

#[test]
fn in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let choose = |choices: &mut Choices| {
        let views = choices.one_in(4);
        Case::choose(choices, Elements::Numbers, &Kind::ALL, views)
    };
    run(CASES_ON_DISK, choose, |case| {
        let next = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = directory.path().join(next.to_string());
        let store: Arc<dyn Store> = Arc::new(DirectoryStore::open(&path).unwrap());
        check::<i16>(case, &store, 3, |i| i16::try_from(i % 30011).unwrap());
        std::fs::remove_dir_all(&path).unwrap();
    });
}

#[test]
fn booleans_are_booleans_whatever_was_stored() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = OpenOptions::new()
        .create_array((store, "b"))
        .shape([4])
        .chunks([4])
        .data_type(DataType::Bool)
        .no_compressor()
        .create()
        .unwrap();
    array.raw().write(&[0], &[0, 1, 2, 255]).unwrap();
    assert_eq!(
        array.read::<ArrayD<bool>>(..).unwrap().into_raw_vec_and_offset().0,
        [false, true, true, true]
    );
    assert_eq!(array.read::<DynArray>(..).unwrap().as_bytes(), [0, 1, 1, 1]);
}
