//! Conversion between elements and byte planes: the first bytes of all elements, then all second bytes, and so on.
//!
//! The bytes are transposed in steps. Each step uses a vector instruction that interleaves the bytes of two vectors. Interleaving
//! the two halves of a block rotates the index of each byte by one bit: the highest bit becomes the lowest, and all other bits
//! move up. Four steps move the upper four bits of the index to its lower end. These four bits are the number of an element among
//! sixteen elements, or the number of a byte among sixteen bytes.

use std::array;

use wide::u8x16;

/// The number of bytes in a vector.
const LANES: usize = 16;
/// The number of vectors per plane that are processed together. Whole cache lines are thus read and written even if the planes of
/// large chunks evict each other from the cache.
const GROUP: usize = 8;

type Lane = [u8; LANES];

/// Converts elements of `item` bytes to planes. Both slices have the same length, which is a whole number of elements.
pub(crate) fn split(elements: &[u8], planes: &mut [u8], item: usize) {
    let done = match item {
        2 => split_by::<2>(elements, planes),
        4 => split_by::<4>(elements, planes),
        8 => split_by::<8>(elements, planes),
        16 => split_by::<16>(elements, planes),
        _ => split_any(elements, planes, item),
    };
    let count = elements.len() / item;
    for element in done..count {
        for byte in 0..item {
            planes[byte * count + element] = elements[element * item + byte];
        }
    }
}

/// Converts planes to elements of `item` bytes. Both slices have the same length, which is a whole number of elements.
pub(crate) fn join(planes: &[u8], elements: &mut [u8], item: usize) {
    let done = match item {
        2 => join_by::<2>(planes, elements),
        4 => join_by::<4>(planes, elements),
        8 => join_by::<8>(planes, elements),
        16 => join_by::<16>(planes, elements),
        _ => join_any(planes, elements, item),
    };
    let count = elements.len() / item;
    for element in done..count {
        for byte in 0..item {
            elements[element * item + byte] = planes[byte * count + element];
        }
    }
}

/// Interleaves the bytes of the first half of the vectors with those of the second half.
#[inline]
fn zip<const N: usize>(block: [u8x16; N]) -> [u8x16; N] {
    let mut zipped = block;
    let (low, high) = block.split_at(N / 2);
    for ((low, high), pair) in low.iter().zip(high).zip(zipped.as_chunks_mut().0) {
        *pair = [u8x16::unpack_low(*low, *high), u8x16::unpack_high(*low, *high)];
    }
    zipped
}

/// Converts sixteen elements of `N` bytes to `N` vectors, one for each byte of the elements.
#[inline]
fn split_block<const N: usize>(elements: &[Lane; N]) -> [u8x16; N] {
    zip(zip(zip(zip(elements.map(u8x16::new)))))
}

/// The inverse of [`split_block`], if `N` is a power of two.
#[inline]
fn join_block<const N: usize>(mut block: [u8x16; N]) -> [Lane; N] {
    for _ in 0..N.trailing_zeros() {
        block = zip(block);
    }
    block.map(u8x16::to_array)
}

/// Splits elements of `N` bytes in blocks, and returns the number of elements that were processed.
fn split_by<const N: usize>(elements: &[u8], planes: &mut [u8]) -> usize {
    let count = elements.len() / N;
    let groups = elements.as_chunks().0.as_chunks::<N>().0.as_chunks::<GROUP>().0;
    let mut lines = [[[0; LANES]; GROUP]; N];
    for (group, at) in groups.iter().zip((0..).step_by(GROUP * LANES)) {
        for (index, block) in group.iter().enumerate() {
            for (line, vector) in lines.iter_mut().zip(split_block(block)) {
                line[index] = vector.to_array();
            }
        }
        for (plane, line) in lines.iter().enumerate() {
            planes[plane * count + at..][..GROUP * LANES].copy_from_slice(line.as_flattened());
        }
    }
    groups.len() * GROUP * LANES
}

/// Joins elements of `N` bytes in blocks, and returns the number of elements that were processed.
fn join_by<const N: usize>(planes: &[u8], elements: &mut [u8]) -> usize {
    let count = elements.len() / N;
    let groups = elements.as_chunks_mut().0.as_chunks_mut::<N>().0.as_chunks_mut::<GROUP>().0;
    let done = groups.len() * GROUP * LANES;
    let mut lines = [[[0; LANES]; GROUP]; N];
    for (group, at) in groups.iter_mut().zip((0..).step_by(GROUP * LANES)) {
        for (plane, line) in lines.iter_mut().enumerate() {
            line.as_flattened_mut().copy_from_slice(&planes[plane * count + at..][..GROUP * LANES]);
        }
        for (index, block) in group.iter_mut().enumerate() {
            *block = join_block(array::from_fn(|plane| u8x16::new(lines[plane][index])));
        }
    }
    done
}

/// Returns the first columns of the squares of 16 × 16 bytes into which elements of any size are divided. The last square may
/// overlap the previous one.
fn columns(item: usize) -> impl Iterator<Item = usize> {
    (0..item).step_by(LANES).map(move |column| column.min(item.saturating_sub(LANES)))
}

/// Returns the number of elements of `item` bytes that can be processed in whole groups of squares. If elements are short, the
/// row of an element extends into the following elements.
fn in_squares(length: usize, item: usize) -> usize {
    let beyond = LANES.saturating_sub(item);
    length.saturating_sub(beyond) / item / (GROUP * LANES) * (GROUP * LANES)
}

/// Splits elements of any size in squares, and returns the number of elements that were processed.
fn split_any(elements: &[u8], planes: &mut [u8], item: usize) -> usize {
    let count = elements.len() / item;
    let done = in_squares(elements.len(), item);
    let mut lines = [[[0; LANES]; GROUP]; LANES];
    for at in (0..done).step_by(GROUP * LANES) {
        for column in columns(item) {
            let squares = (at * item + column..).step_by(LANES * item).take(GROUP);
            for (index, first) in squares.enumerate() {
                let mut rows = [[0; LANES]; LANES];
                for (number, row) in rows.iter_mut().enumerate() {
                    row.copy_from_slice(&elements[first + number * item..][..LANES]);
                }
                for (line, vector) in lines.iter_mut().zip(split_block(&rows)) {
                    line[index] = vector.to_array();
                }
            }
            for (plane, line) in (column..item).zip(&lines) {
                planes[plane * count + at..][..GROUP * LANES].copy_from_slice(line.as_flattened());
            }
        }
    }
    done
}

/// Joins elements of any size in squares, and returns the number of elements that were processed.
fn join_any(planes: &[u8], elements: &mut [u8], item: usize) -> usize {
    let count = elements.len() / item;
    let done = in_squares(elements.len(), item);
    let mut lines = [[[0; LANES]; GROUP]; LANES];
    for at in (0..done).step_by(GROUP * LANES) {
        for column in columns(item) {
            for (plane, line) in (column..item).zip(&mut lines) {
                line.as_flattened_mut().copy_from_slice(&planes[plane * count + at..][..GROUP * LANES]);
            }
            let squares = (at * item + column..).step_by(LANES * item).take(GROUP);
            for (index, first) in squares.enumerate() {
                let rows = join_block(array::from_fn::<_, LANES, _>(|plane| u8x16::new(lines[plane][index])));
                // If elements are short, the excess bytes of a row are overwritten by later elements.
                for (number, row) in rows.iter().enumerate() {
                    elements[first + number * item..][..LANES].copy_from_slice(row);
                }
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::Random;

    use super::*;

    #[test]
    fn as_byte_by_byte() {
        let mut random = Random::new(5);
        let items = (1..=40).chain([63, 64, 65, 255, 1000]);
        for item in items {
            for count in [0, 1, 2, 15, 16, 17, 31, 33, 127, 128, 129, 300] {
                let elements = random.bytes(item * count);
                let mut planes = vec![0xa5; elements.len()];
                split(&elements, &mut planes, item);
                let right = |at: usize| elements[at % count * item + at / count];
                let same = planes.iter().enumerate().all(|(at, &byte)| byte == right(at));
                assert!(same, "splitting {count} elements of {item} bytes");
                let mut joined = vec![0xa5; elements.len()];
                join(&planes, &mut joined, item);
                assert!(joined == elements, "joining {count} elements of {item} bytes");
            }
        }
    }
}
