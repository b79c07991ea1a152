//! Work in other processes: each runs this program again, with the single test that does such work.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

use ndarray::Array;
use zarrox::json::Json;
use zarrox::s;

/// The environment variable with the work of the process.
const WORK: &str = "ZARROX_TEST_INCIDENT";

/// The work of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Writes a quarter of the blocks of 25³ of an array of 100³.
    Blocks,
    /// Appends 100 rows, two at a time.
    Append,
    /// Writes columns that are not aligned with chunks.
    Columns,
    /// Sets 50 attributes.
    Attributes,
    /// Writes all of an array until it is killed.
    Forever,
}

/// The number of processes that share the work.
pub(crate) const PROCESSES: u32 = 4;

/// Returns the element that a writer writes at a position.
pub(crate) fn element(writer: u32, place: u32) -> u32 {
    (writer + 1) << 24 | place
}

impl Work {
    const ALL: [Self; 5] = [Self::Blocks, Self::Append, Self::Columns, Self::Attributes, Self::Forever];

    /// Starts a process that does this work as one of several writers.
    pub(crate) fn start(self, path: &Path, writer: u32) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "incidents::other_process::work"]).stdout(Stdio::piped());
        command.env(WORK, format!("{self:?}|{writer}|{}", path.display())).spawn().unwrap()
    }

    /// Lets four processes do this work at the same time.
    pub(crate) fn by_four_processes(self, path: &Path) {
        let processes: Vec<Child> = (0..PROCESSES).map(|writer| self.start(path, writer)).collect();
        for process in processes {
            let output = process.wait_with_output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
        }
    }

    fn run(self, path: &Path, writer: u32) {
        match self {
            Self::Blocks => blocks(path, writer),
            Self::Append => append(path, writer),
            Self::Columns => columns(path, writer),
            Self::Attributes => attributes(path, writer),
            Self::Forever => forever(path, writer),
        }
    }
}

/// The entry point of the other process. Without work in the environment, this test does nothing.
#[test]
fn work() {
    let Ok(text) = std::env::var(WORK) else { return };
    let mut parts = text.splitn(3, '|');
    let name = parts.next().unwrap();
    let writer = parts.next().unwrap().parse().unwrap();
    let work = Work::ALL.into_iter().find(|work| format!("{work:?}") == name).unwrap();
    work.run(Path::new(parts.next().unwrap()), writer);
}

/// Returns the corners of all blocks, in an order in which neighbours are consecutive.
pub(crate) fn corners() -> impl Iterator<Item = [u64; 3]> {
    (0..64_u64).map(|index| {
        // The lowest bits are those of the block inside its chunk.
        let axis = |dim: u64| (index >> (dim + 3) & 1) * 50 + (index >> dim & 1) * 25;
        [axis(0), axis(1), axis(2)]
    })
}

/// Returns the values of the block at a corner.
pub(crate) fn block(writer: u32, corner: [u64; 3]) -> ndarray::Array3<u32> {
    Array::from_shape_fn((25, 25, 25), |(z, y, x)| {
        let [z, y, x] = [z as u64 + corner[0], y as u64 + corner[1], x as u64 + corner[2]];
        element(writer, u32::try_from((z * 100 + y) * 100 + x).unwrap())
    })
}

fn blocks(path: &Path, writer: u32) {
    let array = zarrox::open_array(path).unwrap();
    for (index, corner) in (0..).zip(corners()) {
        if index % PROCESSES == writer {
            let [z, y, x] = corner;
            array.write(s![z..z + 25, y..y + 25, x..x + 25], block(writer, corner)).unwrap();
        }
    }
}

fn append(path: &Path, writer: u32) {
    let mut array = zarrox::open_array(path).unwrap();
    for pair in 0..50 {
        let rows =
            Array::from_shape_fn((2, 10), |(row, _)| element(writer, pair * 2 + u32::try_from(row).unwrap()));
        array.append(&rows, 0).unwrap();
    }
}

fn columns(path: &Path, writer: u32) {
    let array = zarrox::open_array(path).unwrap();
    for column in 0..100 {
        if column % PROCESSES == writer {
            array.write(s![.., u64::from(column)], element(writer, column)).unwrap();
        }
    }
}

fn attributes(path: &Path, writer: u32) {
    let mut group = zarrox::open_group(path).unwrap();
    for index in 0..50 {
        let set =
            |map: &mut zarrox::json::Map| drop(map.insert(format!("{writer}-{index}"), Json::from(index)));
        group.update_attributes(set).unwrap();
    }
}

fn forever(path: &Path, writer: u32) {
    let array = zarrox::open_array(path).unwrap();
    for round in 0.. {
        array.write(.., element(writer, round)).unwrap();
    }
}
