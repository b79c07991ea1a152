//! Archives whose writer died while reserving space.
//!
//! The reserved space is a hole after the directory: at least one mebibyte of zeros, followed by a new directory. A writer that
//! dies while writing the new directory leaves only part of it. The bytes before the hole are a complete archive.

use super::format;
use super::source::Source;
use crate::StoreError;

/// A block of zeros of this length, aligned to this length, is part of a hole.
const BLOCK: u64 = 256 << 10;
/// The maximum length of a torn directory that is searched for.
const LONGEST: u64 = 1 << 30;

/// Returns the offset of the hole before the torn directory at the end of a file, if there is a torn directory. If the previous
/// archive ends in zeros, they count as part of the hole. Only files have torn ends, since archives in other stores are complete.
pub(super) fn hole_before_torn_end(source: &Source, size: u64) -> Result<Option<u64>, StoreError> {
    let Source::File(_) = source else { return Ok(None) };
    let lowest = size.saturating_sub(LONGEST);
    let mut block = size / BLOCK * BLOCK;
    while block > lowest && block >= BLOCK {
        block -= BLOCK;
        if !is_zero(&source.read(block, BLOCK)?) {
            continue;
        }
        let torn = first_other(source, block + BLOCK, size)?;
        let length = (size - torn).min(format::CENTRAL.len() as u64);
        let is_directory = length > 0 && format::CENTRAL.starts_with(&source.read(torn, length)?);
        return if is_directory { last_other(source, block).map(Some) } else { Ok(None) };
    }
    Ok(None)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Returns the offset of the first non-zero byte at or after `from`, or the end of the file.
fn first_other(source: &Source, mut from: u64, size: u64) -> Result<u64, StoreError> {
    while from < size {
        let bytes = source.read(from, BLOCK.min(size - from))?;
        match bytes.iter().position(|&byte| byte != 0) {
            Some(index) => return Ok(from + index as u64),
            None => from += bytes.len() as u64,
        }
    }
    Ok(size)
}

/// Returns the offset after the last non-zero byte before `before`, or 0 if all bytes before it are zero.
fn last_other(source: &Source, mut before: u64) -> Result<u64, StoreError> {
    while before > 0 {
        let length = BLOCK.min(before);
        let bytes = source.read(before - length, length)?;
        match bytes.iter().rposition(|&byte| byte != 0) {
            Some(index) => return Ok(before - length + index as u64 + 1),
            None => before -= length,
        }
    }
    Ok(0)
}
