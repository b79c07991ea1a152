//! MetaMorph stacks (STK), whose planes share a single directory.

use zarrox::Result;

use super::directory::Directory;
use super::image::Axis;
use super::tag;

/// The size in bytes of the metadata of a plane: a distance as a rational number, and two dates with times.
const PLANE: u64 = 24;

/// Returns the dimension of the planes.
pub(super) fn planes(directory: &Directory) -> Result<Option<Vec<Axis>>> {
    let count = directory.count(tag::STACK_PLANES);
    if count <= 1 {
        return Ok(None);
    }
    let position = directory.position(tag::STACK_PLANES);
    let bytes =
        position.zip(count.checked_mul(PLANE)).map(|(at, size)| directory.file().input.read(at, size));
    let bytes = bytes.transpose()?.unwrap_or_default();
    let number =
        |plane: &[u8], at: usize| plane.get(at..at + 4).map_or(0, |bytes| directory.file().number(bytes));
    let mut planes = bytes.chunks_exact(24);
    let is_deep = planes.all(|plane| number(plane, 0) != 0);
    let times: Vec<u64> = bytes.chunks_exact(24).map(|plane| number(plane, 12)).collect();
    let is_timed = times.windows(2).all(|pair| pair[0] != pair[1]);
    let name = match (is_deep, is_timed) {
        (true, _) => "z",
        (false, true) => "t",
        (false, false) => "page",
    };
    Ok(Some(vec![(name.to_owned(), count)]))
}
