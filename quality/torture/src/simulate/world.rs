//! The initial hierarchy of a simulated run: [`World`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ndarray::ArrayD;
use zarrox::stores::Store;
use zarrox::{Array, Format, Group, OpenOptions};
use zarrox_testkit::simulation::{Contents, Kind, Schedule, SimStore, Stage};

use crate::element::elements;
pub(super) use crate::world::{DAMAGED, DAMAGED_SHAPE};
use crate::world::{LOG, NOTES, damage, of_numbers};

/// The array that all tasks write.
pub(super) const BOARD: &str = "a";
/// The path to which the board is moved.
pub(super) const MOVED: &str = "b";
/// The shape of the board.
pub(super) const SHAPE: [u64; 2] = [6, 4];
/// The array that one task resizes.
pub(super) const PULSE: &str = "pulse";
/// The length of the array that one task resizes, and the length of its chunks.
pub(super) const PULSE_LENGTH: (u64, u64) = (8, 2);
/// The array that is copied.
pub(super) const SOURCE: &str = "source";
/// The shape of the array that is copied.
pub(super) const SOURCE_SHAPE: [u64; 2] = [4, 4];
/// The group whose arrays are appended to together.
pub(super) const DATASET: &str = "dataset";
/// The arrays of the group that are appended to together.
pub(super) const VARIABLES: [&str; 2] = ["x", "y"];
/// The operation that has written the initial data.
pub(super) const FIRST: u64 = 1;

/// An initial hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct World {
    pub(super) v2: bool,
    /// True if the board's chunks are in one shard.
    pub(super) sharded: bool,
    pub(super) consolidated: bool,
    /// True if an array has a damaged chunk.
    pub(super) damaged: bool,
    /// True if the hierarchy has a dataset.
    pub(super) dataset: bool,
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.v2 { "v2" } else { "v3" })?;
        let words = [
            (self.sharded, ", shards"),
            (self.consolidated, ", consolidated"),
            (self.damaged, ", damaged"),
            (self.dataset, ", a dataset"),
        ];
        words.into_iter().filter(|(is, _)| *is).try_for_each(|(_, word)| f.write_str(word))
    }
}

/// Returns the options for opening everything: no threads besides the tasks.
pub(super) fn options() -> OpenOptions {
    OpenOptions::new().threads(1)
}

impl World {
    /// Returns the contents of the first and the second disk.
    pub(super) fn contents(self) -> zarrox::Result<(Contents, Contents)> {
        static MADE: Mutex<BTreeMap<World, (Contents, Contents)>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(contents) = made.get(&self) {
            return Ok(contents.clone());
        }
        let stage = Stage::new(Schedule::given(BTreeMap::new()), false);
        let disks = [(); 2].map(|()| stage.add_disk(Kind::Directory, true, &Contents::default()));
        let stores = disks.map(|disk| Arc::new(SimStore::new(&stage, disk, 0)) as Arc<dyn Store>);
        self.create(&stores[0])?;
        options().format(self.format()).create_group((stores[1].clone(), ""))?;
        let contents = (stage.contents(disks[0]), stage.contents(disks[1]));
        made.insert(self, contents.clone());
        Ok(contents)
    }

    pub(super) fn format(self) -> Format {
        if self.v2 { Format::V2 } else { Format::V3 }
    }

    fn create(self, store: &Arc<dyn Store>) -> zarrox::Result<()> {
        let root = options().format(self.format()).create_group((store.clone(), ""))?;
        self.board(&root)?.write(.., first(&SHAPE))?;
        of_numbers(root.create_array(LOG)).shape([0, 2]).chunks([2, 2]).create()?;
        let (length, chunk) = PULSE_LENGTH;
        let pulse = of_numbers(root.create_array(PULSE)).shape([length]).chunks([chunk]).create()?;
        pulse.write(.., first(&[length]))?;
        root.create_group(NOTES)?;
        let source = of_numbers(root.create_array(SOURCE)).shape(SOURCE_SHAPE).chunks([2, 2]).create()?;
        source.write(.., first(&SOURCE_SHAPE))?;
        if self.damaged {
            let array = of_numbers(root.create_array(DAMAGED)).shape(DAMAGED_SHAPE).chunks([2, 2]);
            let array = array.shards(DAMAGED_SHAPE).create()?;
            array.write(.., first(&DAMAGED_SHAPE))?;
            damage(&**store, &array)?;
        }
        if self.dataset {
            let group = root.create_group(DATASET)?;
            for name in VARIABLES {
                of_numbers(group.create_array(name)).shape([0, 2]).chunks([2, 2]).create()?;
            }
        }
        if self.consolidated {
            root.consolidate_metadata()?;
        }
        Ok(())
    }

    /// Returns the board in its initial state.
    pub(super) fn board(self, root: &Group) -> zarrox::Result<Array> {
        let array = of_numbers(root.create_array(BOARD)).shape(SHAPE).chunks([2, 2]).overwrite(true);
        if self.sharded { array.shards(SHAPE).create() } else { array.create() }
    }
}

/// Returns the initial elements of an array.
pub(super) fn first(shape: &[u64]) -> ArrayD<u64> {
    elements(FIRST, &vec![0; shape.len()], shape, shape)
}
