//! The result of the work, and its report.

use zarrs::array::ArrayBytes;

use crate::outcome::Outcome;

pub(crate) enum Done {
    Nothing,
    Count(u64),
    /// The elements that were read, and their size.
    Values(Vec<ArrayBytes<'static>>, usize),
}

impl Done {
    pub(crate) fn checksum(self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Count(count) => count,
            Self::Values(values, width) => {
                let sums =
                    values.into_iter().map(|bytes| bytes.into_fixed().map_or(0, |bytes| sum(&bytes, width)));
                (1..).zip(sums).fold(0, |total, (factor, sum)| total.wrapping_add(sum.wrapping_mul(factor)))
            }
        }
    }
}

/// Returns the sum of the elements as unsigned integers, which are multiplied by 1 to 251 in turn.
fn sum(bytes: &[u8], width: usize) -> u64 {
    let factors = (1..=251_u64).cycle();
    let terms =
        bytes.chunks_exact(width).zip(factors).map(|(element, factor)| number(element).wrapping_mul(factor));
    terms.fold(0, u64::wrapping_add)
}

fn number(element: &[u8]) -> u64 {
    let mut wide = [0; 8];
    if cfg!(target_endian = "big") {
        wide[8 - element.len()..].copy_from_slice(element);
    } else {
        wide[..element.len()].copy_from_slice(element);
    }
    u64::from_ne_bytes(wide)
}

/// Returns the peak memory of this process, in bytes.
pub(crate) fn peak() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes << 10)
}
