//! Samples: their size in bits in the file, and the data type of their elements.

use zarrox::data_type::Endian;
use zarrox::{DataType, Result};

use crate::input::{unsupported, zeroed};

/// The conversion of samples to elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// Samples are stored as elements.
    None,
    /// Packed unsigned integers, most significant bit first. Rows are byte-aligned.
    Bits,
    /// 24-bit floats.
    Float24,
    /// Complex numbers that consist of two integers.
    ComplexIntegers,
}

/// The type of a sample in the file, and the data type of its element.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// The number of bits in a sample in the file.
    pub(super) bits: u64,
    packing: Packing,
    pub(super) data_type: DataType,
}

impl Sample {
    /// Returns the type of samples with `bits` bits and the given TIFF sample format.
    pub(super) fn of(bits: u64, format: u64) -> Result<Self> {
        use DataType as Type;
        let plain = |data_type| (Packing::None, data_type);
        let (packing, data_type) = match (format, bits) {
            (1 | 4, 8) => plain(Type::UInt8),
            (1 | 4, 16) => plain(Type::UInt16),
            (1 | 4, 32) => plain(Type::UInt32),
            (1 | 4, 64) => plain(Type::UInt64),
            (2, 8) => plain(Type::Int8),
            (2, 16) => plain(Type::Int16),
            (2, 32) => plain(Type::Int32),
            (2, 64) => plain(Type::Int64),
            (3, 16) => plain(Type::Float16),
            (3, 32) => plain(Type::Float32),
            (3, 64) => plain(Type::Float64),
            (6, 64) => plain(Type::Complex64),
            (6, 128) => plain(Type::Complex128),
            (3, 24) => (Packing::Float24, Type::Float32),
            (5, 32) => (Packing::ComplexIntegers, Type::Complex64),
            (5, 64) => (Packing::ComplexIntegers, Type::Complex128),
            // Programs disagree about the byte order of these samples.
            (1 | 4, 24) => return Err(unusual(bits, format)),
            (1 | 4, 1..=7) => (Packing::Bits, Type::UInt8),
            (1 | 4, 9..=15) => (Packing::Bits, Type::UInt16),
            (1 | 4, 17..=31) => (Packing::Bits, Type::UInt32),
            _ => return Err(unusual(bits, format)),
        };
        Ok(Self { bits, packing, data_type })
    }

    /// Returns true if samples must be converted to elements.
    pub(super) fn is_packed(&self) -> bool {
        self.packing != Packing::None
    }

    /// Returns the size of a sample in whole bytes.
    pub(super) fn size(&self) -> u64 {
        self.bits.div_ceil(8)
    }

    /// Converts samples to elements, in the byte order of the file. The input consists of whole rows of `in_row` samples.
    pub(super) fn unpacked(&self, bytes: Vec<u8>, in_row: usize, endian: Endian) -> Result<Vec<u8>> {
        match self.packing {
            Packing::None => Ok(bytes),
            Packing::Bits => self.integers(&bytes, in_row, endian),
            Packing::Float24 => Ok(bytes
                .chunks_exact(3)
                .flat_map(|bytes| {
                    let bits = match endian {
                        Endian::Big => [bytes[0], bytes[1], bytes[2]],
                        Endian::Little => [bytes[2], bytes[1], bytes[0]],
                    };
                    ordered(&float24(bits).to_be_bytes(), endian)
                })
                .collect()),
            Packing::ComplexIntegers => Ok(complex(&bytes, self.bits == 32, endian)),
        }
    }

    fn integers(&self, bytes: &[u8], in_row: usize, endian: Endian) -> Result<Vec<u8>> {
        let (bits, size) = (usize::try_from(self.bits).unwrap_or(8), self.data_type.size());
        let row = in_row.saturating_mul(bits).div_ceil(8).max(1);
        let rows = bytes.len() / row;
        let mut out = zeroed(rows.saturating_mul(in_row).saturating_mul(size))?;
        if bits == 1 {
            for (row, out) in bytes.chunks_exact(row).zip(out.chunks_exact_mut(in_row.max(1))) {
                for (byte, out) in row.iter().zip(out.chunks_mut(8)) {
                    for (nth, element) in out.iter_mut().enumerate() {
                        *element = byte >> (7 - nth) & 1;
                    }
                }
            }
            return Ok(out);
        }
        let mask = (1_u64 << bits) - 1;
        for (row, out) in bytes.chunks_exact(row).zip(out.chunks_exact_mut((in_row * size).max(1))) {
            let (mut held, mut count, mut row) = (0_u64, 0, row.iter());
            for element in out.chunks_exact_mut(size) {
                while count < bits {
                    held = held << 8 | u64::from(row.next().copied().unwrap_or(0));
                    count += 8;
                }
                count -= bits;
                let number = (held >> count & mask).to_be_bytes();
                element.copy_from_slice(&number[8 - size..]);
                if endian == Endian::Little {
                    element.reverse();
                }
            }
        }
        Ok(out)
    }
}

fn unusual(bits: u64, format: u64) -> zarrox::Error {
    unsupported(format!("elements of {bits} bits in the format {format} are not supported"))
}

/// Converts the bytes of a big-endian number to the byte order of the file.
fn ordered<const N: usize>(big: &[u8; N], endian: Endian) -> [u8; N] {
    let mut bytes = *big;
    if endian == Endian::Little {
        bytes.reverse();
    }
    bytes
}

/// Decodes a 24-bit float, which has a sign bit, 7 exponent bits and 16 fraction bits.
fn float24([high, middle, low]: [u8; 3]) -> f32 {
    let sign = if high & 0x80 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(high & 0x7f);
    let fraction = f32::from(u16::from_be_bytes([middle, low])) / 65536.0;
    sign * match (exponent, fraction == 0.0) {
        (0, _) => fraction * 2_f32.powi(-62),
        (127, true) => f32::INFINITY,
        (127, false) => f32::NAN,
        _ => (1.0 + fraction) * 2_f32.powi(exponent - 63),
    }
}

/// Converts pairs of integers to complex floats.
fn complex(bytes: &[u8], is_short: bool, endian: Endian) -> Vec<u8> {
    let mut out = Vec::new();
    if is_short {
        for pair in bytes.chunks_exact(2) {
            let number = match endian {
                Endian::Big => i16::from_be_bytes([pair[0], pair[1]]),
                Endian::Little => i16::from_le_bytes([pair[0], pair[1]]),
            };
            out.extend(ordered(&f32::from(number).to_be_bytes(), endian));
        }
        return out;
    }
    for part in bytes.chunks_exact(4) {
        let part = [part[0], part[1], part[2], part[3]];
        let number = match endian {
            Endian::Big => i32::from_be_bytes(part),
            Endian::Little => i32::from_le_bytes(part),
        };
        out.extend(ordered(&f64::from(number).to_be_bytes(), endian));
    }
    out
}

#[cfg(test)]
mod tests {
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    use super::*;

    #[test]
    fn bits_become_integers_row_by_row() {
        let unpacked = |bits, bytes: &[u8], in_row| {
            Sample::of(bits, 1).unwrap().unpacked(bytes.to_vec(), in_row, Endian::Big).unwrap()
        };
        assert_eq!(unpacked(1, &[0b1010_0000, 0b0110_0000], 3), [1, 0, 1, 0, 1, 1]);
        assert_eq!(unpacked(4, &[0x12, 0x30, 0x45, 0x60], 3), [1, 2, 3, 4, 5, 6]);
        assert_eq!(unpacked(12, &[0xab, 0xcd, 0xef], 2), [0x0a, 0xbc, 0x0d, 0xef]);
        assert_eq!(unpacked(20, &[0x12, 0x34, 0x50], 1), [0, 1, 0x23, 0x45]);
        let little = Sample::of(12, 1).unwrap();
        assert_eq!(
            little.unpacked(vec![0xab, 0xcd, 0xef], 2, Endian::Little).unwrap(),
            [0xbc, 0x0a, 0xef, 0x0d]
        );
        for (bits, format) in [(24, 1), (12, 2)] {
            assert_error(
                Sample::of(bits, format),
                ErrorKind::Unsupported,
                &format!("elements of {bits} bits"),
            );
        }
    }

    #[test]
    fn short_floats_and_complex_integers_are_numbers() {
        assert_eq!(float24([0x3f, 0, 0]).to_bits(), 1_f32.to_bits());
        assert_eq!(float24([0xc0, 0x80, 0]).to_bits(), (-3_f32).to_bits());
        assert!(float24([0x7f, 0, 1]).is_nan() && float24([0x7f, 0, 0]).is_infinite());
        let bytes = complex(&[1, 0, 0xfe, 0xff], true, Endian::Little);
        assert_eq!(bytes, [1_f32, -2.0].map(f32::to_le_bytes).concat());
    }
}
