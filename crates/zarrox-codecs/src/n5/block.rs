//! N5 blocks: a header with the shape of the block, and its elements.

use zarrox_core::codec::CodecError;

use crate::error::truncated;

/// The modes of blocks, which determine how their number of elements is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum N5BlockMode {
    /// The number of elements is that of the block's shape.
    Default,
    /// The header contains the number of elements, regardless of the shape.
    VarLength,
}

/// A decoded block. It may have fewer or more elements than its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct N5Block {
    /// The mode of the block.
    pub mode: N5BlockMode,
    /// The shape in the header of the block, in the order of the array's axes.
    pub shape: Vec<u64>,
    /// All stored elements, in native byte order.
    pub elements: Vec<u8>,
}

/// The header of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) mode: N5BlockMode,
    /// The shape in row-major order. N5 stores the fastest-varying dimension first.
    pub(crate) shape: Vec<u64>,
    /// The number of stored elements.
    pub(crate) count: u64,
    /// The length of the header.
    pub(crate) length: usize,
}

/// Returns the maximum length of the header of a block with `ndim` dimensions.
pub(crate) fn longest_header(ndim: usize) -> usize {
    8 + 4 * ndim
}

impl Header {
    /// Reads the header of a block with `ndim` dimensions.
    pub(crate) fn parse(encoded: &[u8], ndim: usize) -> Result<Self, CodecError> {
        let mut rest = encoded;
        let mode = match u16::from_be_bytes(take(&mut rest, encoded)?) {
            0 => N5BlockMode::Default,
            1 => N5BlockMode::VarLength,
            2 => {
                let message = "the block is a serialised Java object (mode 2), which only Java can read";
                return Err(CodecError::unsupported(message));
            }
            mode => {
                return Err(CodecError::corrupt(format!(
                    "the mode of the block is {mode}; expected 0, 1 or 2"
                )));
            }
        };
        let stored = u16::from_be_bytes(take(&mut rest, encoded)?);
        if usize::from(stored) != ndim {
            return Err(CodecError::corrupt(format!(
                "the block has {stored} dimensions, but the array has {ndim}"
            )));
        }
        let mut shape = Vec::with_capacity(ndim);
        for _ in 0..ndim {
            shape.push(u64::from(u32::from_be_bytes(take(&mut rest, encoded)?)));
        }
        shape.reverse();
        let count = match mode {
            N5BlockMode::Default => shape.iter().fold(1, |count: u64, &n| count.saturating_mul(n)),
            N5BlockMode::VarLength => u32::from_be_bytes(take(&mut rest, encoded)?).into(),
        };
        Ok(Self { mode, shape, count, length: encoded.len() - rest.len() })
    }

    /// Appends the header of a complete block.
    pub(crate) fn append(shape: &[u32], encoded: &mut Vec<u8>) {
        let ndim = u16::try_from(shape.len()).unwrap_or(u16::MAX);
        encoded.extend(0_u16.to_be_bytes());
        encoded.extend(ndim.to_be_bytes());
        encoded.extend(shape.iter().rev().flat_map(|length| length.to_be_bytes()));
    }

    /// Returns true if the number of elements is that of the block's shape.
    pub(crate) fn is_box(&self) -> bool {
        self.shape.iter().try_fold(1, |count: u64, &n| count.checked_mul(n)) == Some(self.count)
    }
}

/// Takes the next bytes of a header.
fn take<const N: usize>(rest: &mut &[u8], encoded: &[u8]) -> Result<[u8; N], CodecError> {
    let (bytes, behind) = rest.split_first_chunk().ok_or_else(|| truncated(encoded.len()).at("header"))?;
    *rest = behind;
    Ok(*bytes)
}
