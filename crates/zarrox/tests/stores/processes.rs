//! Concurrent processes that write to an array in a database: no data are lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Child, Command, Stdio};

use ndarray::{Array2, Array3};
use tempfile::TempDir;
use zarrox::{Array, OpenOptions};
use zarrox::{prelude::*, s};

/// The environment variable with the URL of the database and the number of a process: `URL number`.
const CHILD: &str = "ZARROX_TEST_PROCESSES";

const PROCESSES: usize = 4;

/// The shape of the array, the shape of its chunks, and the length of the blocks that are written.
const SHAPE: [u64; 3] = [100; 3];
const CHUNKS: [u64; 3] = [50; 3];
const BLOCK: usize = 25;

/// The number of appends of each process.
const APPENDS: usize = 10;

fn options() -> OpenOptions {
    OpenOptions::new().storage_option("sync", "false")
}

fn array(url: &str, name: &str) -> Array {
    options().open(format!("{url}/{name}")).unwrap().into_array().unwrap()
}

/// Returns the elements of a block, which differ from all other elements of the array.
fn block(index: usize) -> Array3<u32> {
    let first = u32::try_from(index * BLOCK.pow(3)).unwrap();
    Array3::from_shape_fn([BLOCK; 3], |(z, y, x)| {
        first + 1 + u32::try_from((z * BLOCK + y) * BLOCK + x).unwrap()
    })
}

/// Returns the region of a block in the array.
fn corner(index: usize) -> [usize; 3] {
    [index / 16, index / 4 % 4, index % 4].map(|place| place * BLOCK)
}

fn work(url: &str, writer: usize) {
    for name in ["chunks", "shards"] {
        let array = array(url, name);
        // All processes write to the same chunk.
        for index in (0..64).filter(|index| index % PROCESSES == writer) {
            let [z, y, x] = corner(index);
            array.write(s![z..z + BLOCK, y..y + BLOCK, x..x + BLOCK], block(index)).unwrap();
        }
    }
    let mut rows = array(url, "rows");
    for number in 0..APPENDS {
        let row = u32::try_from(writer * APPENDS + number).unwrap();
        rows.append(Array2::from_elem((1, 3), row), 0).unwrap();
    }
}

fn start(test: &str, url: &str, writer: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(CHILD, format!("{url} {writer}"));
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn finish(process: Child) {
    let output = process.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

/// Another process of the tests.
#[test]
fn child() {
    let Some(arguments) = std::env::var_os(CHILD) else { return };
    let arguments = arguments.into_string().unwrap();
    let (url, writer) = arguments.split_once(' ').unwrap();
    work(url, writer.parse().unwrap());
}

fn check(url: &str) {
    let directory = TempDir::new().unwrap();
    let url = url.replace("ROOT", directory.path().to_str().unwrap());
    options().create_group(&url).unwrap();
    let create = |name: &str| options().create_array(format!("{url}/{name}")).data_type(DataType::UInt32);
    create("chunks").shape(SHAPE).chunks(CHUNKS).create().unwrap();
    create("shards").shape(SHAPE).shards(CHUNKS).chunks([10, 25, 25]).create().unwrap();
    create("rows").shape([0, 3]).chunks([7, 3]).create().unwrap();

    let others =
        (1..PROCESSES).map(|writer| start("stores::processes::child", &url, writer)).collect::<Vec<_>>();
    work(&url, 0);
    others.into_iter().for_each(finish);

    for name in ["chunks", "shards"] {
        let read = array(&url, name).read::<ArrayD<u32>>(..).unwrap();
        let lost = (0..64).map(|index| {
            let [z, y, x] = corner(index);
            let part = read.slice(ndarray::s![z..z + BLOCK, y..y + BLOCK, x..x + BLOCK]);
            part.iter().zip(&block(index)).filter(|(read, written)| read != written).count()
        });
        assert_eq!(lost.sum::<usize>(), 0, "elements of the {name} are lost");
    }
    let rows = array(&url, "rows").read::<ArrayD<u32>>(..).unwrap();
    let mut found: Vec<u32> = rows.iter().copied().collect();
    found.sort_unstable();
    let expected: Vec<u32> =
        (0..PROCESSES * APPENDS).flat_map(|row| [u32::try_from(row).unwrap(); 3]).collect();
    assert_eq!(found, expected, "rows are lost");
}

#[test]
#[cfg(feature = "sqlite")]
fn nothing_is_lost_in_sqlite() {
    check("sqlite://ROOT/data.sqlite");
}

#[test]
#[cfg(feature = "lmdb")]
fn nothing_is_lost_in_lmdb() {
    check("lmdb://ROOT/data.lmdb");
}

#[test]
#[cfg(unix)]
fn nothing_is_lost_in_a_directory() {
    check("file://ROOT/data.zarr");
}
