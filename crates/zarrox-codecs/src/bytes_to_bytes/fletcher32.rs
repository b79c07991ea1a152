//! `numcodecs.fletcher32`: stores HDF5's Fletcher checksum after the bytes.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/checksum32.html>
//!
//! It has no configuration.
//!
//! Names: `numcodecs.fletcher32` in v3, `fletcher32` in v2.
//!
//! Encoded bytes: the bytes themselves, followed by a little-endian `u32`. Its lower half is the sum of the bytes, interpreted as
//! big-endian `u16` words. Its upper half is the sum of the cumulative sums. Both are modulo 65535. If the number of bytes is
//! odd, a zero byte is appended for the computation. A sum is 0 only if all words are 0; any other sum that is congruent to 0 is
//! 65535.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{CodecDef, CodecKind};
use zarrox_core::json::Map;

use crate::bytes_to_bytes::checksum::{self, Checked, Checksum, ChecksumLocation};
use crate::config;

/// The definition of `numcodecs.fletcher32`.
pub(crate) static DEF: CodecDef =
    CodecDef::new("numcodecs.fletcher32", CodecKind::BytesToBytes, |configuration, context| {
        config::read(configuration, context, &[])?;
        Ok(Checked::codec(Fletcher32))
    })
    .aliases(&["fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"])
    .v2_id("fletcher32")
    .with_from_v2(|_, _| Ok(Map::default()));

/// Stores a Fletcher checksum after the bytes, as in HDF5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fletcher32;

impl Fletcher32 {
    /// Returns the checksum of the bytes as HDF5 stores it.
    #[must_use]
    #[doc(hidden)]
    pub fn checksum(self, bytes: &[u8]) -> u32 {
        self.compute(bytes)
    }
}

impl From<Fletcher32> for CodecSpec {
    fn from(fletcher32: Fletcher32) -> Self {
        checksum::spec(DEF.name, &fletcher32)
    }
}

impl Checksum for Fletcher32 {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn location(&self) -> ChecksumLocation {
        ChecksumLocation::End
    }

    fn compute(&self, bytes: &[u8]) -> u32 {
        let [first, second] = sums(bytes);
        u32::from(second.swap_bytes()) << 16 | u32::from(first.swap_bytes())
    }
}

/// The number of words that are summed in parallel, which allows the compiler to vectorise the loop.
const LANES: usize = 16;
/// The number of rounds for which the sums of a lane cannot overflow.
const ROUNDS: usize = 256;

/// Returns both sums of the little-endian words. Modulo 65535, swapping the bytes of a word is the same as multiplying it by 256.
/// So these sums are the byte-swapped sums of the big-endian words.
fn sums(bytes: &[u8]) -> [u16; 2] {
    let (mut first, mut second) = (0_u64, 0_u64);
    for run in bytes.chunks(2 * LANES * ROUNDS) {
        let (rounds, rest) = run.as_chunks();
        let [plain, weighted] = sum_rounds(rounds);
        second += first * (rounds.len() * LANES) as u64 + weighted;
        first += plain;
        for word in rest.chunks(2) {
            first += u64::from(word[0]) | word.get(1).map_or(0, |&high| u64::from(high) << 8);
            second += first;
        }
        (first, second) = (reduced(first), reduced(second));
    }
    [first, second].map(|sum| u16::try_from(sum).unwrap_or(u16::MAX))
}

/// Returns the sum of some words, and the sum of the cumulative sums.
fn sum_rounds(rounds: &[[u8; 2 * LANES]]) -> [u64; 2] {
    let (mut plain, mut weighted) = ([0_u32; LANES], [0_u32; LANES]);
    for round in rounds {
        let (words, _) = round.as_chunks::<2>();
        for ((word, plain), weighted) in words.iter().zip(&mut plain).zip(&mut weighted) {
            *plain += u32::from(u16::from_le_bytes(*word));
            *weighted += *plain;
        }
    }
    // The cumulative sums of a lane are taken over rounds, not over words. Taken over words, a word in lane `l` is in `LANES`
    // times as many cumulative sums, minus `l`.
    let mut sums = [0; 2];
    for (lane, (plain, weighted)) in plain.iter().zip(&weighted).enumerate() {
        sums[0] += u64::from(*plain);
        sums[1] += u64::from(*weighted) * LANES as u64 - u64::from(*plain) * lane as u64;
    }
    sums
}

/// Returns the sum modulo 65535, but 65535 for a non-zero sum that is congruent to 0.
fn reduced(sum: u64) -> u64 {
    if sum == 0 { 0 } else { (sum - 1) % 65535 + 1 }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, Random, bytes_to_bytes_suite};

    use super::*;
    use crate::bytes_to_bytes::checksum::tests::golden;
    use crate::registry;
    use crate::testing::{configured, steps, through_v2};

    #[test]
    fn suite() {
        bytes_to_bytes_suite(&registry(), &Fletcher32.into(), Integrity::Checked);
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.Fletcher32().encode(np.frombuffer(…, 'u1'))`, which has given the same result since version 0.12.0.
        let golden = |bytes: &[u8], stored| golden(DEF.name, json!({}), bytes, stored, ChecksumLocation::End);
        golden(&[0, 1, 2, 3], "04020502");
        golden(b"abc", "62c4c525");
        golden(&steps(), "1194c747");
        golden(&steps()[..1999], "1194c747");
        // Sums that are 0 modulo 65535.
        golden(&[0; 7], "00000000");
        golden(&[255; 6], "ffffffff");
        golden(&[255; 100_000], "ffffffff");
        golden(&[255; 100_001], "00ff00ff");
        let squares: Vec<u8> = (0..100_003_u64).map(|i| (i * i / 7).to_le_bytes()[0]).collect();
        golden(&squares, "1d42ec1a");
        golden(&squares[..100_002], "1ce6ced8");
    }

    /// Returns HDF5's checksum, computed word by word.
    fn by_words(bytes: &[u8]) -> u32 {
        let (mut first, mut second) = (0_u32, 0_u32);
        for word in bytes.chunks(2) {
            let word = [word[0], word.get(1).copied().unwrap_or(0)];
            let add = |sum: u32, more: u32| (sum + more - 1) % 65535 + 1;
            let word = u32::from(u16::from_be_bytes(word));
            first = if word == 0 { first } else { add(first, word) };
            second = if first == 0 { second } else { add(second, first) };
        }
        second << 16 | first
    }

    #[test]
    fn vectors_sum_up_as_single_words_do() {
        let mut random = Random::new(3);
        for length in [1, 2, 31, 32, 33, 63, 64, 8191, 8192, 8193, 16384, 16_450, 70_001] {
            for bytes in [random.bytes(length), vec![255; length], vec![0; length]] {
                assert_eq!(Fletcher32.compute(&bytes), by_words(&bytes), "{length} bytes");
            }
        }
    }

    #[test]
    fn configurations() {
        assert_eq!(configured(DEF.name, json!({}), Strictness::Strict).unwrap(), json!({}));
        let error = configured(DEF.name, json!({"location": "end"}), Strictness::Lenient).unwrap_err();
        assert!(error.contains("no configuration"), "{error}");
        assert_eq!(through_v2("fletcher32", json!({}), 4), (json!({}), json!({})));
    }
}
