//! The digest of decoded elements and metadata.

use blake3::Hasher;
use zarrox_core::strided::{Dims, Span, View};
use zarrox_core::{Error, Result};

use super::canonical::{Form, array_text, check_readable, group_text, is_repeated};
use super::set_hash::{SetHash, update_framed};
use crate::rechunk::{Cells, selection};
use zarrox::internals::Boxes;
use zarrox::internals::Task;
use zarrox::{AccessOptions, Array, DynArray, Group, Node};

/// The contexts of the hashes, which separate the hash functions of boxes, arrays and groups.
const BOX: &str = "zarrox digest 1: box of elements";
const ARRAY: &str = "zarrox digest 1: array";
const GROUP: &str = "zarrox digest 1: group";

/// The maximum number of bytes of a box. It is large enough that hashing boxes has little overhead, and that box boundaries split
/// few chunks.
const BOX_BYTES: usize = 1 << 16;

/// The maximum number of regions in which an array is read, since the list of them is held in memory.
const MOST_REGIONS: usize = 1 << 24;

/// Returns the hash of a node and of all nodes below it.
pub(super) fn node_hash(node: &Node, work: &Task) -> Result<[u8; 32]> {
    match node {
        Node::Array(array) => array_hash(array, work),
        Node::Group(group) => group_hash(group, work),
    }
}

fn group_hash(group: &Group, work: &Task) -> Result<[u8; 32]> {
    let mut hasher = Hasher::new_derive_key(GROUP);
    update_framed(&mut hasher, group_text(group.attributes()).as_bytes());
    group.each_child(&mut |child| {
        let node = child.node.map_err(|error| error.at(format!("node '{}'", child.name)))?;
        update_framed(&mut hasher, child.name.as_bytes());
        hasher.update(&node_hash(&node, work)?);
        Ok(())
    })?;
    Ok(hasher.finalize().into())
}

fn array_hash(array: &Array, work: &Task) -> Result<[u8; 32]> {
    let place = |error: Error| error.at(format!("the digest of array '{}'", array.path()));
    check_readable(array).map_err(place)?;
    let form = Form::new(array.data_type());
    let mut hasher = Hasher::new_derive_key(ARRAY);
    update_framed(&mut hasher, array_text(array, &form).map_err(place)?.as_bytes());
    let elements = Elements::new(array, form, work.memory)?;
    elements.sum(work).map_err(place)?.update(&mut hasher);
    Ok(hasher.finalize().into())
}

/// The elements of an array, divided into boxes that depend only on its shape and data type.
struct Elements {
    array: Array,
    form: Form,
    /// The canonical bytes of the fill value.
    fill: Vec<u8>,
    /// The shape of a box that is not truncated at the edge of the array.
    lengths: Vec<u64>,
    /// An empty hasher.
    hasher: Hasher,
    /// The memory limit for a region that is read at once, in bytes.
    room: usize,
}

impl Elements {
    fn new(array: &Array, form: Form, memory: usize) -> Result<Self> {
        let fill = form.fill(array)?;
        let lengths = box_lengths(array.shape(), form.item());
        let room = memory / 2;
        let array = array.with_options(&AccessOptions::new().memory(memory - room));
        Ok(Self { array, form, fill, lengths, hasher: Hasher::new_derive_key(BOX), room })
    }

    /// Returns the sum of the hashes of all boxes with an element that is not the fill value.
    fn sum(&self, work: &Task) -> Result<SetHash> {
        let mut sum = SetHash::default();
        if self.array.shape().contains(&0) {
            return Ok(sum);
        }
        let boxes = Cells::new(self.array.shape(), self.lengths.clone());
        let in_box = boxes.elements();
        let (regions, numbers) = self.regions().stored_or(boxes, &[&self.array], MOST_REGIONS)?;
        let are_boxes = regions.elements() == in_box;
        let regions: Vec<_> = numbers.into_iter().map(|number| regions.region(number)).collect();
        work.expect(regions.iter().map(|region| self.bytes_of(region)).fold(0, u64::saturating_add));
        if are_boxes {
            // Several regions of a sparse array are read concurrently, each with small requests.
            let array = self.array.on_one_thread();
            let hashed = self.array.pool().map(regions, BOX_BYTES, self.room / BOX_BYTES, |region| {
                self.hash(&array, &region, &mut None, work)
            })?;
            hashed.iter().for_each(|other| sum.join(other));
            return Ok(sum);
        }
        let mut memory = None;
        for region in &regions {
            sum.join(&self.hash(&self.array, region, &mut memory, work)?);
        }
        Ok(sum)
    }

    /// Reads a region, and returns the sum of the hashes of its boxes.
    fn hash(
        &self,
        array: &Array,
        region: &[(u64, u64)],
        memory: &mut Option<DynArray>,
        work: &Task,
    ) -> Result<SetHash> {
        work.advance(0)?;
        let part = array.read_again(&selection(region).into_iter().collect(), memory)?;
        let sum = self.sum_of_region(region, part)?;
        work.advance(self.bytes_of(region))?;
        Ok(sum)
    }

    fn bytes_of(&self, region: &[(u64, u64)]) -> u64 {
        region.iter().fold(self.form.item() as u64, |size, (begin, end)| size.saturating_mul(end - begin))
    }

    /// Returns the regions of whole boxes that are read at once: as large as the memory allows, so that chunks are rarely decoded
    /// twice.
    fn regions(&self) -> Cells {
        let (shape, item) = (self.array.shape(), self.form.in_memory() as u64);
        let boxes = Boxes::new(shape, &self.array.unit_shape(), &self.lengths, item, self.room as u64);
        Cells::new(shape, boxes.lengths().to_vec())
    }

    fn sum_of_region(&self, region: &[(u64, u64)], part: &DynArray) -> Result<SetHash> {
        let shape: Vec<u64> = part.shape().iter().map(|&length| length as u64).collect();
        let boxes = Cells::new(&shape, self.lengths.clone());
        let count = boxes.count().and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| zarrox::internals::too_many("the boxes"))?;
        let pool = self.array.cores();
        // Each thread gets several batches, since boxes of fill values take less time.
        let share = count.div_ceil(pool.threads() * 4).max(1);
        let shares: Vec<usize> = (0..count).step_by(share).collect();
        let sums = pool.map(shares, share * BOX_BYTES, usize::MAX, |first| {
            let mut sum = SetHash::default();
            let mut bytes = Vec::new();
            for number in first..count.min(first + share) {
                let inner = boxes.region(number as u128);
                let coordinates = region.iter().zip(&inner).zip(&self.lengths);
                let coordinates: Vec<u64> =
                    coordinates.map(|((outer, inner), length)| (outer.0 + inner.0) / length).collect();
                self.add_box(&mut sum, &coordinates, &part.view().region(&spans(&inner)?), &mut bytes)?;
            }
            Ok(sum)
        })?;
        let mut sum = SetHash::default();
        sums.iter().for_each(|other| sum.join(other));
        Ok(sum)
    }

    fn add_box(
        &self,
        sum: &mut SetHash,
        coordinates: &[u64],
        elements: &View<'_>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        bytes.clear();
        self.form.append(elements, bytes)?;
        if is_repeated(bytes, &self.fill, elements.shape().iter().product()) {
            return Ok(());
        }
        let mut hasher = self.hasher.clone();
        for coordinate in coordinates {
            hasher.update(&coordinate.to_le_bytes());
        }
        sum.add(hasher.update(bytes));
        Ok(())
    }
}

fn spans(region: &[(u64, u64)]) -> Result<Dims<Span>> {
    let length = |n: u64| usize::try_from(n).map_err(|_| zarrox::internals::too_many("the elements"));
    let span =
        |&(begin, end): &(u64, u64)| Ok(Span { start: length(begin)?, step: 1, count: length(end - begin)? });
    region.iter().map(span).collect()
}

/// Returns the shape of the boxes of an array: powers of two, which are doubled in turn, from the last dimension to the first, as
/// long as they are less than the array's lengths and a box has at most 64 KiB, with `item` bytes for each element.
fn box_lengths(shape: &[u64], item: usize) -> Vec<u64> {
    let most = (BOX_BYTES / item.max(1)) as u64;
    let (mut lengths, mut elements, mut grows) = (vec![1_u64; shape.len()], 1_u64, true);
    while grows {
        grows = false;
        for (length, &whole) in lengths.iter_mut().zip(shape).rev() {
            if *length < whole && elements * 2 <= most {
                (*length, elements, grows) = (*length * 2, elements * 2, true);
            }
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_the_lengths_of_the_definition() {
        for (shape, item, lengths) in [
            (&[1_000_000_u64][..], 8, &[8192_u64][..]),
            (&[1000, 1000], 4, &[128, 128]),
            (&[1000, 1000, 1000], 1, &[32, 32, 64]),
            (&[5, 1_000_000], 1, &[8, 8192]),
            (&[1, 7, 1], 8, &[1, 8, 1]),
            (&[], 8, &[]),
            (&[10, 10], 1 << 20, &[1, 1]),
            (&[u64::MAX, u64::MAX], 3, &[128, 128]),
            (&[0, 10], 4, &[1, 16]),
        ] {
            assert_eq!(box_lengths(shape, item), lengths, "{shape:?} {item}");
        }
    }
}
