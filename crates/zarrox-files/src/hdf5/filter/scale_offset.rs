//! Scale-offset: stores the differences between the elements and the smallest element in the minimum number of bits.
//! Floats are first rounded to a given number of decimals.
//!
//! The parameters are the method, the number of decimals or bits, the number of elements, their class, size, sign and
//! byte order, 1 if a fill value follows, and the bytes of the fill value. A chunk begins with the number of bits and the
//! smallest element.

use zarrox::Result;

use super::bits::Bits;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, unsupported, zeroed};

/// The length of the header in bytes: 4 for the number of bits, 1 for the size of the smallest element, and 16 for the smallest
/// element.
const HEADER: usize = 21;

#[derive(Debug)]
struct ScaleOffset {
    /// The number of decimals for floats; `None` for integers.
    decimals: Option<i32>,
    /// True if chunks are stored unchanged because the requested number of bits is the full width of the integers.
    is_unchanged: bool,
    count: usize,
    size: usize,
    is_big: bool,
    /// The bytes of the fill value, interpreted as a little-endian integer.
    fill: Option<u64>,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let [method, count, class, size] = [
        super::undo::required(filter, 0)?,
        super::undo::required(filter, 2)?,
        super::undo::required(filter, 3)?,
        super::undo::required(filter, 4)?,
    ];
    let [order, filled] = [super::undo::required(filter, 6)?, super::undo::required(filter, 7)?];
    let decimals = match (class, method, size) {
        (0, _, 1 | 2 | 4 | 8) => None,
        (1, 0, 4 | 8) => filter.parameters.get(1).map(|decimals| decimals.cast_signed()),
        (1, 1, _) => {
            return Err(unsupported(
                "the filter scale-offset with a variable exponent, which no version of HDF5 decodes",
            ));
        }
        _ => {
            return Err(corrupt(format!(
                "the filter scale-offset with elements of class {class} and {size} bytes"
            )));
        }
    };
    let bits = super::undo::required(filter, 1)?;
    let is_unchanged = class == 0 && bits == size * 8;
    let fill = (filled == 1).then(|| {
        let words = filter.parameters.iter().skip(8).copied().chain([0, 0]);
        let value =
            words.take(2).zip([0, 32]).fold(0, |value, (word, shift)| value | u64::from(word) << shift);
        value & ones(size * 8)
    });
    Ok(Box::new(ScaleOffset { decimals, is_unchanged, count, size, is_big: order == 1, fill }))
}

/// Returns an integer whose lowest `bits` bits are set.
fn ones(bits: usize) -> u64 {
    u32::try_from(bits).ok().and_then(|bits| 1_u64.checked_shl(bits)).map_or(u64::MAX, |bit| bit - 1)
}

impl Undo for ScaleOffset {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let size = self.count.checked_mul(self.size);
        let size = given
            .announced(size.ok_or_else(|| corrupt("a chunk of the filter scale-offset is too large"))?)?;
        let cut = || corrupt("a chunk of the filter scale-offset is truncated");
        if self.is_unchanged {
            return (bytes.len() == size).then_some(bytes).ok_or_else(cut);
        }
        let (header, packed) = bytes.split_at_checked(HEADER).ok_or_else(cut)?;
        let width = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let least = header[5..].iter().take(usize::from(header[4]).min(8)).rev();
        let least = least.fold(0, |number: u64, &byte| number << 8 | u64::from(byte));
        let all = self.size * 8;
        let mut decoded = match usize::try_from(width).map_err(|_| cut())? {
            // The elements are stored unchanged.
            width if width == all => packed.get(..size).ok_or_else(cut)?.to_vec(),
            // If the first float of a chunk is NaN, HDF5 writes this width and stores no elements.
            width if width > all => {
                return Err(corrupt(format!(
                    "a chunk of the filter scale-offset has {width} bits for elements of {all} bits, and so no elements"
                )));
            }
            _ => {
                let mut decoded = zeroed(size)?;
                self.unpack(packed, width, least, &mut decoded).ok_or_else(cut)?;
                decoded
            }
        };
        if self.is_big {
            decoded.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
        }
        Ok(decoded)
    }
}

impl ScaleOffset {
    fn unpack(&self, packed: &[u8], width: u32, least: u64, decoded: &mut [u8]) -> Option<()> {
        let mut bits = Bits::new(packed);
        let filled = ones(usize::try_from(width).ok()?);
        let restored: &dyn Fn(u64) -> u64 = match self.decimals {
            None => &|stored| stored.wrapping_add(least),
            Some(decimals) if self.size == 4 => {
                let (power, least) = (10_f32.powf(decimals as f32), f32::from_bits(low_half(least)));
                &move |stored| u64::from((low_half(stored).cast_signed() as f32 / power + least).to_bits())
            }
            Some(decimals) => {
                let (power, least) = (10_f64.powf(f64::from(decimals)), f64::from_bits(least));
                &move |stored| (stored.cast_signed() as f64 / power + least).to_bits()
            }
        };
        for element in decoded.chunks_exact_mut(self.size) {
            let stored = bits.take_wide(width)?;
            let value = self.fill.filter(|_| stored == filled).unwrap_or_else(|| restored(stored));
            element.copy_from_slice(&value.to_le_bytes()[..self.size]);
        }
        Some(())
    }
}

/// Returns the lower 32 bits.
fn low_half(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
}
