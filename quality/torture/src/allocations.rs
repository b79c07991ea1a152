//! Failing allocations: `--allocations`.
//!
//! Each operation runs in separate processes, in which the first, the second, … large allocation fails, until all have succeeded.
//! A failed allocation is an error of the operation: it must not abort the process or tear a chunk.

use ndarray::ArrayD;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use zarrox::stores::{DirectoryStore, Store};
use zarrox::{Array, DataType, OpenOptions, Result};
use zarrox_testkit::allocator::Refusing;
use zarrox_tools::Copier;
use zarrox_tools::check::{Check, Repair};

use crate::outcome::Outcome;

/// The size from which allocations fail, in bytes.
const LARGE: usize = 64 << 10;
/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: Refusing = Refusing::new(LARGE);

/// The length of the array and of its chunks along each of two axes: chunks have 256 KiB.
const LENGTHS: (u64, u64) = (1024, 512);
/// The number of large allocations after which an operation counts as endless.
const MOST: u32 = 500;

/// The operations.
const OPERATIONS: [&str; 7] = ["read", "read-part", "write", "write-part", "check", "repair", "copy"];

/// The end of an operation with a failed allocation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The operation returned an error.
    Error(String),
    /// The operation succeeded without the memory.
    Done,
    /// The process was aborted.
    Aborted,
}

/// Runs all operations, and reports how they end. Fails if one aborts.
#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
pub(crate) fn run() -> Outcome {
    let mut aborted = Vec::new();
    for operation in OPERATIONS {
        let ends = ends(operation)?;
        let counts = ends.iter().map(|(end, count)| format!("{count} × {end:?}"));
        println!("{operation}: {}", counts.collect::<Vec<_>>().join(", "));
        if ends.contains_key(&End::Aborted) {
            aborted.push(operation);
        }
    }
    if aborted.is_empty() {
        Ok(())
    } else {
        Err(format!("these abort without memory: {}", aborted.join(", ")))
    }
}

/// Returns the ends of an operation, and the number of each.
fn ends(operation: &str) -> Outcome<BTreeMap<End, u32>> {
    let mut ends = BTreeMap::new();
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    for number in 1..=MOST {
        let child = Command::new(&program).args(["refuse", operation, &number.to_string()]).output();
        let child = child.map_err(|error| error.to_string())?;
        let output = String::from_utf8_lossy(&child.stdout).trim().to_owned();
        let end = match (child.status.success(), output.split_once(' ')) {
            (true, _) if output == "enough" => return Ok(ends),
            (true, Some(("error", kind))) => End::Error(kind.to_owned()),
            (true, _) if output == "done" => End::Done,
            (false, _) if child.status.code().is_none() => End::Aborted,
            _ => {
                let error = String::from_utf8_lossy(&child.stderr);
                return Err(format!("{operation}, large piece {number}: {output} {error}"));
            }
        };
        *ends.entry(end).or_default() += 1;
    }
    Err(format!("{operation} takes more than {MOST} large pieces of memory"))
}

/// Runs an operation in this process, in which the n-th large allocation fails. Prints how it ended.
///
/// # Errors
/// When an element has neither its old nor its new value afterwards.
#[expect(clippy::print_stdout, reason = "the driver reads it")]
pub(crate) fn refuse(operation: &str, number: &str) -> Outcome {
    let number = number.parse().map_err(|_| format!("'{number}' is not a number"))?;
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let array = prepare(operation, directory.path()).map_err(|error| error.to_string())?;
    let values = vec![2_u8; usize::try_from(LENGTHS.0 * LENGTHS.0).unwrap_or(0)];
    ALLOCATOR.refuse(number);
    let done = act(operation, &array, directory.path(), &values);
    let is_enough = ALLOCATOR.is_waiting();
    ALLOCATOR.refuse(0);
    judge(operation, &array).map_err(|error| format!("afterwards: {error}"))?;
    match done {
        Err(error) if is_enough => Err(error.to_string()),
        Ok(()) if is_enough => {
            println!("enough");
            Ok(())
        }
        Ok(()) => {
            println!("done");
            Ok(())
        }
        Err(error) => {
            println!("error {:?}", error.kind());
            Ok(())
        }
    }
}

fn options() -> OpenOptions {
    OpenOptions::new().threads(1)
}

fn store(directory: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(DirectoryStore::open(directory.join("a.zarr"))?))
}

/// Creates an array of ones; before a repair, with a damaged chunk.
fn prepare(operation: &str, directory: &Path) -> Result<Array> {
    let array = options().create_array((store(directory)?, "")).data_type(DataType::UInt8);
    let array = array.shape([LENGTHS.0; 2]).chunks([LENGTHS.1 / 4; 2]).shards([LENGTHS.1; 2]).create()?;
    array.write(.., 1_u8)?;
    if operation == "repair" {
        let path = directory.join("a.zarr").join(array.raw().key(&[1, 1])?);
        let damaged = std::fs::read(&path).and_then(|mut shard| {
            shard[..8].fill(0xff);
            std::fs::write(&path, shard)
        });
        damaged.map_err(|error| zarrox::Error::new(zarrox::ErrorKind::Unreachable, error.to_string()))?;
    }
    Ok(array)
}

fn act(operation: &str, array: &Array, directory: &Path, values: &[u8]) -> Result<()> {
    let part = crate::element::selection(&[100, 100], &[300, 600]);
    let length = usize::try_from(LENGTHS.0).unwrap_or(0);
    match operation {
        "read" => array.read::<ArrayD<u8>>(..).map(drop),
        "read-part" => array.read::<ArrayD<u8>>(part).map(drop),
        "write" => {
            let values = ndarray::ArrayView2::from_shape((length, length), values);
            array.write(
                ..,
                values.map_err(|error| {
                    zarrox::Error::new(zarrox::ErrorKind::InvalidArgument, error.to_string())
                })?,
            )
        }
        "write-part" => array.write(part, 2_u8),
        "check" => Check::open_with(&options(), (store(directory)?, ""))?.run(|_| Ok(())).map(drop),
        "repair" => {
            let check = Check::open_with(&options(), (store(directory)?, ""))?;
            check.repair(Repair::default()).run(|_| Ok(())).map(drop)
        }
        _ => {
            let copier = Copier::new().open_options(options()).chunks([300, 300]).no_shards();
            copier.run(directory.join("a.zarr"), directory.join("b.zarr")).map(drop)
        }
    }
}

/// Checks that every element has its old or its new value; a repair may lose a damaged chunk.
fn judge(operation: &str, array: &Array) -> Result<()> {
    let values = match array.read::<ArrayD<u8>>(..) {
        Err(_) if operation == "repair" => return Ok(()),
        values => values?,
    };
    let lost = if operation == "repair" { 0 } else { 1 };
    match values.iter().find(|value| ![lost, 1, 2].contains(*value)) {
        None => Ok(()),
        Some(value) => {
            Err(zarrox::Error::new(zarrox::ErrorKind::Corrupt, format!("the unexpected element {value}")))
        }
    }
}
