//! [`Block`]: an array in memory that is assembled from parts.

use zarrox::data_type::Storage;
use zarrox::{DataType, DynArray, Result};

use crate::input::{corrupt, zeroed};

/// An array that is assembled from parts. Elements that no part provides have the fill value.
pub(crate) struct Block {
    data_type: DataType,
    shape: Vec<usize>,
    elements: BlockElements,
}

/// The elements of a block.
enum BlockElements {
    /// Fixed-size elements, with the element size in bytes.
    Fixed(usize, Vec<u8>),
    /// Variable-length elements.
    Variable(Vec<Box<[u8]>>),
}

impl Block {
    /// Creates a block that is filled with the fill value.
    pub(crate) fn new(data_type: &DataType, shape: &[u64], fill: &[u8]) -> Result<Self> {
        let shape = lengths(shape)?;
        let too_large = || corrupt("a chunk is too large");
        let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        let count = count.ok_or_else(too_large)?;
        let elements = if data_type.storage() == Storage::Variable {
            BlockElements::Variable(vec![fill.into(); count])
        } else {
            let item = data_type.size();
            let mut bytes = zeroed(count.checked_mul(item).ok_or_else(too_large)?)?;
            if fill.len() == item && item > 0 && fill.iter().any(|&byte| byte != 0) {
                bytes.chunks_exact_mut(item).for_each(|element| element.copy_from_slice(fill));
            }
            BlockElements::Fixed(item, bytes)
        };
        Ok(Self { data_type: data_type.clone(), shape, elements })
    }

    /// Copies a part to position `at`.
    pub(crate) fn put(&mut self, at: &[u64], part_lengths: &[u64], part: &DynArray) -> Result<()> {
        let (at, part_lengths) = (lengths(at)?, lengths(part_lengths)?);
        let misfit = || corrupt("a part does not fit into its chunk");
        let is_inside = at.len() == self.shape.len()
            && part_lengths.len() == self.shape.len()
            && at
                .iter()
                .zip(&part_lengths)
                .zip(&self.shape)
                .all(|((at, length), shape)| at + length <= *shape);
        let count = part_lengths.iter().product::<usize>();
        if !is_inside || *part.data_type() != self.data_type {
            return Err(misfit());
        }
        let elements: Vec<&[u8]> = match self.elements {
            BlockElements::Fixed(..) => Vec::new(),
            BlockElements::Variable(_) => part.elements().collect(),
        };
        let mut put_row = |target, from, count| match &mut self.elements {
            BlockElements::Fixed(item, bytes) => {
                copy_bytes(bytes, part.as_bytes(), *item, [target, from, count])
            }
            BlockElements::Variable(own) => copy_elements(own, &elements, [target, from, count]),
        };
        let Some((&row, outer)) = part_lengths.split_last() else {
            return put_row(0, 0, 1).ok_or_else(misfit);
        };
        if count == 0 {
            return Ok(());
        }
        let mut position = vec![0; outer.len()];
        for number in 0..count / row {
            let mut rest = number;
            for (index, length) in position.iter_mut().zip(outer).rev() {
                (*index, rest) = (rest % length, rest / length);
            }
            let index = |start: usize, (dim, shape): (usize, &usize)| {
                let inner = position.get(dim).copied().unwrap_or(0);
                start * shape + at.get(dim).copied().unwrap_or(0) + inner
            };
            let target = self.shape.iter().enumerate().fold(0, index);
            put_row(target, number * row, row).ok_or_else(misfit)?;
        }
        Ok(())
    }

    /// Returns the assembled array.
    pub(crate) fn finish(self) -> Result<DynArray> {
        match self.elements {
            BlockElements::Fixed(_, bytes) => DynArray::new(self.data_type, self.shape, bytes),
            BlockElements::Variable(elements) => {
                DynArray::from_elements(self.data_type, self.shape, elements)
            }
        }
    }
}

/// Copies fixed-size elements. The last argument contains the index in the target, the index in the source, and the
/// number of elements.
fn copy_bytes(target: &mut [u8], source: &[u8], item: usize, [to, from, count]: [usize; 3]) -> Option<()> {
    let source = source.get(from * item..(from + count) * item)?;
    target.get_mut(to * item..(to + count) * item)?.copy_from_slice(source);
    Some(())
}

/// Copies variable-length elements.
fn copy_elements(target: &mut [Box<[u8]>], source: &[&[u8]], [to, from, count]: [usize; 3]) -> Option<()> {
    let targets = target.get_mut(to..to + count)?;
    let source = source.get(from..from + count)?;
    targets.iter_mut().zip(source).for_each(|(target, element)| *target = (*element).into());
    Some(())
}

fn lengths(lengths: &[u64]) -> Result<Vec<usize>> {
    let lengths = lengths.iter().map(|&length| usize::try_from(length)).collect::<Result<_, _>>();
    lengths.map_err(|_| corrupt("a chunk is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_where_they_are_put() {
        let mut block = Block::new(&DataType::UInt8, &[3, 4], &[9]).unwrap();
        let part = DynArray::new(DataType::UInt8, vec![2, 2], vec![1, 2, 3, 4]).unwrap();
        block.put(&[1, 1], &[2, 2], &part).unwrap();
        assert!(block.put(&[2, 0], &[2, 2], &part).is_err());
        assert_eq!(block.finish().unwrap().as_bytes(), [9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9]);
        let text = DataType::string();
        let mut block = Block::new(&text, &[3], b"-").unwrap();
        let part = DynArray::from_elements(text, vec![1], [b"abc"]).unwrap();
        block.put(&[1], &[1], &part).unwrap();
        let elements: Vec<Vec<u8>> = block.finish().unwrap().elements().map(<[u8]>::to_vec).collect();
        assert_eq!(elements, [&b"-"[..], b"abc", b"-"]);
    }
}
