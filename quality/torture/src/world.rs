//! The hierarchy over which processes are killed.

use ndarray::{ArrayD, s};
use zarrox::stores::{Condition, Key, Store, StoreExt};
use zarrox::{Array, ArrayBuilder, DataType, Error, Format, Group, OpenOptions};

use crate::element::elements;
use crate::place::Opened;

/// An array of constant shape, in which every process has its own elements in chunks that others write, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Board {
    pub(crate) name: &'static str,
    /// True for shards, with inner chunks of half of their length.
    sharded: bool,
}

/// The length of a board along each of its two axes.
pub(crate) const SIDE: u64 = 24;
/// The length of a stored object of a board along each axis.
pub(crate) const CHUNK: u64 = 8;
/// The columns of the array that grows by appending.
pub(crate) const COLUMNS: u64 = 6;
/// The array that grows by appending.
pub(crate) const LOG: &str = "log";
/// The array that is shrunk and grown.
pub(crate) const PULSE: &str = "pulse";
/// The length of a chunk of [`PULSE`].
pub(crate) const PULSE_CHUNK: u64 = 7;
/// The group that has attributes.
pub(crate) const NOTES: &str = "notes";
/// The group whose copies are converted and rechunked.
pub(crate) const SOURCE: &str = "source";
/// The array in [`SOURCE`].
const ORIGINAL: &str = "a";
/// The shape of the array in [`SOURCE`].
const ORIGINAL_SHAPE: [u64; 2] = [6, 8];
/// The chunks of the array in [`SOURCE`].
pub(crate) const ORIGINAL_CHUNKS: [u64; 2] = [2, 3];
/// The paths of the array that is moved, rechunked and replaced while others write into it.
pub(crate) const ARENA: [&str; 2] = ["arena", "elsewhere"];
/// The sharded array with a damaged chunk. Hierarchies that were created in another format than v3 have no such array.
pub(crate) const DAMAGED: &str = "damaged";
/// The shape of [`DAMAGED`], which is one shard: the left half is intact.
pub(crate) const DAMAGED_SHAPE: [u64; 2] = [2, 4];
/// The number of lower levels of a pyramid of the source.
pub(crate) const LEVELS: usize = 2;
/// The number of the operation that wrote the source.
pub(crate) const ORIGINAL_NUMBER: u64 = 1;
/// The length of an array that is created and filled.
pub(crate) const PUT_LENGTH: u64 = 6;
/// The length of its chunks.
pub(crate) const PUT_CHUNK: u64 = 2;
/// The attribute with the number of the operation that created an array.
pub(crate) const NUMBER: &str = "number";
/// The attribute that a sweep sets.
pub(crate) const SWEPT: &str = "swept";

/// Returns the boards of a format.
pub(crate) fn boards(format: Format) -> Vec<Board> {
    let chunks = Board { name: "chunks", sharded: false };
    let shards = Board { name: "shards", sharded: true };
    if format == Format::V3 { vec![chunks, shards] } else { vec![chunks] }
}

/// Creates the hierarchy.
pub(crate) fn create(at: &Opened, format: Format) -> zarrox::Result<()> {
    let root = OpenOptions::new().format(format).create_group((at.store.clone(), &at.path))?;
    for board in boards(format) {
        let array = of_numbers(root.create_array(board.name)).shape([SIDE, SIDE]);
        match board.sharded {
            true => array.chunks([CHUNK / 2, CHUNK / 2]).shards([CHUNK, CHUNK]).create()?,
            false => array.chunks([CHUNK, CHUNK]).create()?,
        };
    }
    create_arena(&root, ARENA[0])?;
    of_numbers(root.create_array(LOG)).shape([0, COLUMNS]).chunks([5, COLUMNS]).create()?;
    of_numbers(root.create_array(PULSE)).shape([40]).chunks([PULSE_CHUNK]).create()?;
    root.create_group(NOTES)?;
    let source = root.create_group(SOURCE)?;
    let array =
        of_numbers(source.create_array(ORIGINAL)).shape(ORIGINAL_SHAPE).chunks(ORIGINAL_CHUNKS).create()?;
    array.write(.., original())?;
    if format == Format::V3 {
        create_damaged(at)?;
    }
    at.store.flush()?;
    Ok(())
}

/// Returns the name of an array in the model, independent of its path.
pub(crate) fn known_as(path: &str) -> &str {
    if ARENA.contains(&path) { ARENA[0] } else { path }
}

/// Creates the arena.
pub(crate) fn create_arena(root: &Group, path: &str) -> zarrox::Result<()> {
    let array = of_numbers(root.create_array(path)).shape([SIDE, SIDE]).chunks([CHUNK, CHUNK]);
    array.create().map(drop)
}

/// Creates the array with a damaged chunk, replacing an existing one.
pub(crate) fn create_damaged(at: &Opened) -> zarrox::Result<()> {
    let array = of_numbers(at.root()?.create_array(DAMAGED)).shape(DAMAGED_SHAPE).chunks([2, 2]);
    let array = array.shards(DAMAGED_SHAPE).overwrite(true).create()?;
    array.write(.., elements(ORIGINAL_NUMBER, &[0, 0], &DAMAGED_SHAPE, &DAMAGED_SHAPE))?;
    damage(&*at.store, &array)?;
    at.store.flush()?;
    Ok(())
}

/// Damages the second chunk in the only shard: the index at its end has the offsets of both.
pub(crate) fn damage(store: &dyn Store, array: &Array) -> zarrox::Result<()> {
    let key = Key::new(array.raw().key(&[0, 0])?)?;
    let Some(shard) = store.get(&key)? else { return Ok(()) };
    let mut shard = shard.to_vec();
    let index = shard.len() - 2 * 16 - 4;
    let number = |at: usize| {
        let bytes = shard[at..at + 8].iter().rev();
        bytes.fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    let (start, length) = (number(index + 16), number(index + 24));
    shard[start..start + length].fill(0xff);
    store.set(&key, &shard, Condition::Always)?;
    Ok(())
}

/// Sets the data type of every array.
pub(crate) fn of_numbers(array: ArrayBuilder) -> ArrayBuilder {
    array.data_type(DataType::UInt64)
}

/// Returns the elements of the array in [`SOURCE`].
pub(crate) fn original() -> ArrayD<u64> {
    elements(ORIGINAL_NUMBER, &[0, 0], &ORIGINAL_SHAPE, &ORIGINAL_SHAPE)
}

/// Returns the array in [`SOURCE`].
pub(crate) fn source(root: &Group) -> zarrox::Result<Array> {
    root.open(format!("{SOURCE}/{ORIGINAL}"))?.into_array()
}

/// Checks that a hierarchy is a complete copy of the source, or a complete pyramid of it.
pub(crate) fn check_copy(root: &Group) -> zarrox::Result<()> {
    if root.contains(ORIGINAL)? {
        return check_elements(root, ORIGINAL, &original());
    }
    let mut level = original();
    check_elements(root, "0", &level)?;
    for number in 1..=LEVELS {
        level = level.slice(s![..;2, ..;2]).to_owned().into_dyn();
        check_elements(root, &number.to_string(), &level)?;
    }
    Ok(())
}

fn check_elements(root: &Group, path: &str, expected: &ArrayD<u64>) -> zarrox::Result<()> {
    if root.open(path)?.into_array()?.read::<ArrayD<u64>>(..)? == *expected {
        return Ok(());
    }
    let message = format!("the array '{path}' of the copy has other elements than the source");
    Err(Error::new(zarrox::ErrorKind::Corrupt, message))
}
