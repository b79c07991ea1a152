//! The elements that every implementation generates independently: the counterpart of `quality/conformance/common.py`, which
//! describes them.

use zarrox::DataType;
use zarrox::data_type::Storage;

/// Floats that formats and casts often get wrong, by the size of a float in bytes.
fn special(size: usize, which: usize) -> u64 {
    let table: [u64; 8] = match size {
        2 => [0x7e00, 0x7c00, 0xfc00, 0x8000, 0x0001, 0x7bff, 0xfe2a, 0x3c00],
        4 => [
            0x7fc0_0000,
            0x7f80_0000,
            0xff80_0000,
            0x8000_0000,
            0x0000_0001,
            0x7f7f_ffff,
            0xffc0_002a,
            0x3f80_0000,
        ],
        _ => [
            0x7ff8_0000_0000_0000,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x8000_0000_0000_0000,
            0x0000_0000_0000_0001,
            0x7fef_ffff_ffff_ffff,
            0xfff8_0000_0000_002a,
            0x3ff0_0000_0000_0000,
        ],
    };
    table[which % 8]
}

/// Fills a buffer with alternating runs of 16 small numbers and of noise (SplitMix64).
pub(crate) fn word(seed: u64, index: u64) -> u64 {
    if (index / 16).is_multiple_of(2) {
        return index % 128;
    }
    let z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed.wrapping_mul(0xd1b5_4a32_d192_ed03));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the parts of an element that are separate numbers or characters, and the size of each.
pub(crate) fn parts(storage: &Storage) -> (usize, usize) {
    match storage {
        Storage::Complex(size) => (2, size / 2),
        Storage::Utf32(size) => (size / 4, 4),
        Storage::Raw(size) => (*size, 1),
        other => (1, other.size()),
    }
}

/// Returns the elements of a whole array, in this machine's endianness; numbers use only the bits of the mask. A field of a
/// structure is generated like an array, with its own seed.
pub(crate) fn elements(data_type: &DataType, mask: u64, count: usize, seed: u64) -> Vec<u8> {
    let storage = data_type.storage();
    if let Some(structure) = data_type.fields() {
        let mut bytes = vec![0; count * data_type.size()];
        for (number, field) in (1..).zip(structure.fields()) {
            let mask = if field.data_type == DataType::Bool { 1 } else { u64::MAX };
            let values = elements(&field.data_type, mask, count * field.count(), seed * 16 + number);
            let records = bytes.chunks_exact_mut(data_type.size());
            for (record, value) in records.zip(values.chunks_exact(field.size())) {
                record[field.offset..][..field.size()].copy_from_slice(value);
            }
        }
        return bytes;
    }
    let (parts, size) = parts(&storage);
    let mut bytes = Vec::with_capacity(count * storage.size());
    for index in 0..count * parts {
        let bits = word(seed, index as u64) & mask;
        let bits = match storage {
            Storage::Float(_) | Storage::Complex(_) if index % 11 == 5 => special(size, index / 11),
            Storage::Int(_) if index % 11 == 5 => signed(1 << (u64::BITS - 1), mask, size),
            Storage::Int(_) => signed(bits << mask.leading_zeros(), mask, 8),
            Storage::Raw(_) | Storage::Utf32(_) if index % 8 >= 5 => 0,
            Storage::Utf32(_) => code_point(bits),
            _ => bits,
        };
        bytes.extend(native(&bits.to_le_bytes()[..size], &storage));
    }
    bytes
}

/// Returns floats with the values of integers of this number of bits.
#[expect(clippy::cast_precision_loss, reason = "so few bits fit into every float")]
pub(crate) fn whole(data_type: &DataType, mask: u64, count: usize, seed: u64) -> Vec<u8> {
    let integers = elements(&DataType::Int64, mask, count, seed);
    let (integers, _) = integers.as_chunks::<8>();
    let floats = integers.iter().map(|bytes| i64::from_ne_bytes(*bytes));
    match data_type.size() {
        4 => floats.flat_map(|number| (number as f32).to_ne_bytes()).collect(),
        _ => floats.flat_map(|number| (number as f64).to_ne_bytes()).collect(),
    }
}

/// Returns the upper bits as a signed integer of `size` bytes, restricted to the bits of the mask.
fn signed(upper: u64, mask: u64, size: usize) -> u64 {
    let width = mask.count_ones().min(8 * u32::try_from(size).unwrap_or(8));
    (upper.cast_signed() >> (u64::BITS - width)).cast_unsigned()
}

/// Returns one of the code points, which have a gap in between.
pub(crate) fn code_point(bits: u64) -> u64 {
    let point = bits % (0x11_0000 - 0x800);
    if point < 0xd800 { point } else { point + 0x800 }
}

/// Converts little-endian bytes of a number to this machine's endianness.
pub(crate) fn native(little: &[u8], storage: &Storage) -> Vec<u8> {
    let mut bytes = little.to_vec();
    if cfg!(target_endian = "big") && storage.word() > 1 {
        bytes.reverse();
    }
    bytes
}
