//! Packing numbers of few bits each without gaps: the loops of `packbits`.
//!
//! The first number is in the lowest bits of the first byte. Eight numbers of `B` bits take `B` bytes. So numbers of up to 8 bits
//! are packed eight at a time in one register, and wider numbers one by one in a 128-bit register.

use multiversion::multiversion;

/// The parameters of the packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    /// The size of a number in memory, in bytes: 1, 2, 4 or 8.
    pub(crate) bytes: usize,
    /// The lowest bit to pack.
    pub(crate) first: u32,
    /// The number of bits to pack: 1 to 64. `first + bits` is at most the number of bits of a number.
    pub(crate) bits: u32,
    /// True if the highest packed bit is the sign bit.
    pub(crate) signed: bool,
}

impl Packing {
    /// Returns true if packed numbers are simply all bytes of the numbers in little-endian order.
    pub(crate) fn is_whole(&self) -> bool {
        self.bits as usize == 8 * self.bytes
    }

    /// Returns true if packed numbers have the same bytes as numbers in memory.
    fn matches_memory(&self) -> bool {
        self.is_whole() && (cfg!(target_endian = "little") || self.bytes == 1)
    }

    /// Returns the number of bytes that this many packed numbers take, or `None` on overflow.
    pub(crate) fn packed_size(&self, numbers: usize) -> Option<usize> {
        numbers.checked_mul(self.bits as usize).map(|bits| bits.div_ceil(8))
    }

    /// Packs native-endian numbers. `packed` must have exactly the required length. The unused bits of the last byte are zero.
    pub(crate) fn pack(&self, numbers: &[u8], packed: &mut [u8]) {
        if self.matches_memory() {
            return packed.copy_from_slice(numbers);
        }
        match (self.bytes, self.bits) {
            (1, 1) => self.pack_octets::<1>(numbers, packed),
            (1, 2) => self.pack_octets::<2>(numbers, packed),
            (1, 3) => self.pack_octets::<3>(numbers, packed),
            (1, 4) => self.pack_octets::<4>(numbers, packed),
            (1, 5) => self.pack_octets::<5>(numbers, packed),
            (1, 6) => self.pack_octets::<6>(numbers, packed),
            (1, 7) => self.pack_octets::<7>(numbers, packed),
            (1, _) => self.pack_words::<1>(numbers, packed),
            (2, _) => self.pack_words::<2>(numbers, packed),
            (4, _) => self.pack_words::<4>(numbers, packed),
            _ => self.pack_words::<8>(numbers, packed),
        }
    }

    /// Unpacks as many numbers as fit in `numbers`. The first number begins at bit `skip` of `packed`.
    pub(crate) fn unpack(&self, packed: &[u8], skip: usize, numbers: &mut [u8]) {
        if self.matches_memory() {
            return numbers.copy_from_slice(packed);
        }
        match (self.bytes, self.bits) {
            (1, 1) => self.unpack_octets::<1>(packed, skip, numbers),
            (1, 2) => self.unpack_octets::<2>(packed, skip, numbers),
            (1, 3) => self.unpack_octets::<3>(packed, skip, numbers),
            (1, 4) => self.unpack_octets::<4>(packed, skip, numbers),
            (1, 5) => self.unpack_octets::<5>(packed, skip, numbers),
            (1, 6) => self.unpack_octets::<6>(packed, skip, numbers),
            (1, 7) => self.unpack_octets::<7>(packed, skip, numbers),
            (1, _) => self.unpack_words::<1>(packed, skip, numbers),
            (2, _) => self.unpack_words::<2>(packed, skip, numbers),
            (4, _) => self.unpack_words::<4>(packed, skip, numbers),
            _ => self.unpack_words::<8>(packed, skip, numbers),
        }
    }

    /// Packs numbers that take one byte in memory and `B` bits when packed: eight of them are packed into `B` bytes.
    fn pack_octets<const B: usize>(&self, numbers: &[u8], packed: &mut [u8]) {
        let (octets, rest) = numbers.as_chunks::<8>();
        let (groups, end) = packed.split_at_mut(octets.len() * B);
        gather(octets, groups.as_chunks_mut::<B>().0, self.first);
        self.pack_words::<1>(rest, end);
    }

    fn unpack_octets<const B: usize>(&self, packed: &[u8], skip: usize, numbers: &mut [u8]) {
        // Among eight consecutive numbers, one begins at a byte boundary.
        let head = (0..8).find(|n| (skip + n * B).is_multiple_of(8)).unwrap_or(0).min(numbers.len());
        let (head, numbers) = numbers.split_at_mut(head);
        self.unpack_words::<1>(packed, skip, head);
        let packed = &packed[(skip + head.len() * B) / 8..];
        let (octets, rest) = numbers.as_chunks_mut::<8>();
        let (groups, end) = packed.split_at(octets.len() * B);
        let sign = if self.signed { EACH << (B - 1) } else { 0 };
        scatter(groups.as_chunks::<B>().0, octets, self.first, sign);
        self.unpack_words::<1>(end, 0, rest);
    }

    fn pack_words<const N: usize>(&self, numbers: &[u8], packed: &mut [u8]) {
        let mask = u64::MAX >> (64 - self.bits);
        let (mut held, mut count) = (0_u128, 0);
        let mut packed = packed;
        for number in numbers.as_chunks::<N>().0 {
            held |= u128::from((widened(*number) >> self.first) & mask) << count;
            count += self.bits;
            if count >= 64 {
                let (now, later) = packed.split_at_mut(8);
                now.copy_from_slice(&held.to_le_bytes()[..8]);
                (held, count, packed) = (held >> 64, count - 64, later);
            }
        }
        packed.copy_from_slice(&held.to_le_bytes()[..packed.len()]);
    }

    fn unpack_words<const N: usize>(&self, packed: &[u8], skip: usize, numbers: &mut [u8]) {
        let unused = 64 - self.bits;
        let mut rest = packed;
        let (mut held, mut count) = (0_u128, 0);
        let mut refill = |held: u128, count: u32| match rest.split_first_chunk::<8>() {
            Some((word, later)) => {
                rest = later;
                (held | u128::from(u64::from_le_bytes(*word)) << count, count + 64)
            }
            None => {
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                rest = &[];
                (held | u128::from(u64::from_le_bytes(word)) << count, count + 64)
            }
        };
        if skip > 0 {
            (held, count) = refill(held, count);
            (held, count) = (held >> skip, count - u32::try_from(skip).unwrap_or(0));
        }
        for number in numbers.as_chunks_mut::<N>().0 {
            if count < self.bits {
                (held, count) = refill(held, count);
            }
            #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
            let high = (held as u64) << unused;
            let value =
                if self.signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused };
            *number = narrowed(value << self.first);
            (held, count) = (held >> self.bits, count - self.bits);
        }
    }
}

/// Packs groups of eight numbers. `first` is the lowest bit to pack.
#[multiversion(targets("x86_64+avx2"))]
fn gather<const B: usize>(octets: &[[u8; 8]], groups: &mut [[u8; B]], first: u32) {
    for (octet, group) in octets.iter().zip(groups) {
        *group = gathered::<B>(u64::from_le_bytes(*octet) >> first);
    }
}

/// The inverse of [`gather`]. `sign` is as in [`extended`].
#[multiversion(targets("x86_64+avx2"))]
fn scatter<const B: usize>(groups: &[[u8; B]], octets: &mut [[u8; 8]], first: u32, sign: u64) {
    if (first, sign) == (0, 0) {
        for (group, octet) in groups.iter().zip(octets) {
            *octet = spread::<B>(*group).to_le_bytes();
        }
        return;
    }
    let kept = (EACH * (0xff >> first)) << first;
    for (group, octet) in groups.iter().zip(octets) {
        let extended = extended(spread::<B>(*group), sign);
        *octet = (extended << first & kept).to_le_bytes();
    }
}

/// The lowest bit of each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Copies the bits at `sign`, which are the highest packed bits, to all higher bits of their bytes. For unsigned numbers, `sign`
/// is 0, and there are no bits to copy.
#[inline(always)]
fn extended(octet: u64, sign: u64) -> u64 {
    // Sign extension by flipping the sign bit and subtracting it. Bit 7 is set first, so that no byte borrows from the next.
    (((octet ^ sign) | EACH << 7) - sign) ^ EACH << 7
}

/// Widens a native-endian number.
fn widened<const N: usize>(number: [u8; N]) -> u64 {
    let mut bytes = [0; 8];
    if cfg!(target_endian = "big") {
        bytes[8 - N..].copy_from_slice(&number);
    } else {
        bytes[..N].copy_from_slice(&number);
    }
    u64::from_ne_bytes(bytes)
}

/// Returns the lowest bytes of a number, in native endianness.
fn narrowed<const N: usize>(value: u64) -> [u8; N] {
    let bytes = value.to_ne_bytes();
    let start = if cfg!(target_endian = "big") { 8 - N } else { 0 };
    std::array::from_fn(|i| bytes[start + i])
}

/// Concatenates the lower `B` bits of each byte.
#[inline(always)]
fn gathered<const B: usize>(octet: u64) -> [u8; B] {
    let lowest = octet & (EACH * ((1 << B) - 1));
    let bits = match B {
        // The partial product of each bit has its own place in the highest byte.
        1 => lowest.wrapping_mul(0x0102_0408_1020_4080) >> 56,
        _ => {
            let pairs = joined(lowest, 0x0001_0001_0001_0001 * ((1 << B) - 1), 8 - B);
            let fours = joined(pairs, 0x0000_0001_0000_0001 * ((1 << (2 * B)) - 1), 16 - 2 * B);
            joined(fours, (1 << (4 * B)) - 1, 32 - 4 * B)
        }
    };
    let bytes = bits.to_le_bytes();
    std::array::from_fn(|i| bytes[i])
}

/// Joins adjacent fields at `places` by moving the upper fields down over `unused` bits.
#[inline(always)]
fn joined(parts: u64, places: u64, unused: usize) -> u64 {
    (parts & places) | (parts & !places) >> unused
}

/// Separates fields by moving the bits outside `places` up by `unused` bits. This is the inverse of [`joined`].
#[inline(always)]
fn parted(bits: u64, places: u64, unused: usize) -> u64 {
    (bits & places) | (bits & !places) << unused
}

/// Spreads a group over eight bytes, with the next `B` bits of the group in the lower bits of each byte. This is the inverse of
/// [`gathered`].
#[inline(always)]
fn spread<const B: usize>(group: [u8; B]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..B].copy_from_slice(&group);
    let bits = u64::from_le_bytes(bytes);
    match B {
        1 => {
            // One multiplication moves each bit to the highest bit of a separate byte, in reverse order.
            (bits.wrapping_mul(0x8040_2010_0804_0201) >> 7 & EACH).swap_bytes()
        }
        _ => {
            let fours = parted(bits, (1 << (4 * B)) - 1, 32 - 4 * B);
            let pairs = parted(fours, 0x0000_0001_0000_0001 * ((1 << (2 * B)) - 1), 16 - 2 * B);
            parted(pairs, 0x0001_0001_0001_0001 * ((1 << B) - 1), 8 - B)
        }
    }
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::Random;

    use super::*;

    /// The reference implementation: packs bit by bit.
    fn naive(packing: &Packing, numbers: &[u64]) -> Vec<u8> {
        let bits = numbers
            .iter()
            .flat_map(|number| (0..packing.bits).map(move |bit| number >> (packing.first + bit) & 1 == 1));
        let mut packed = vec![0; packing.packed_size(numbers.len()).unwrap()];
        for (place, _) in bits.enumerate().filter(|(_, bit)| *bit) {
            packed[place / 8] |= 1 << (place % 8);
        }
        packed
    }

    /// Returns the number reduced to its packed bits and sign-extended.
    fn kept(packing: &Packing, number: u64) -> u64 {
        let high = number >> packing.first << (64 - packing.bits);
        let low = match packing.signed {
            true => (high.cast_signed() >> (64 - packing.bits)).cast_unsigned(),
            false => high >> (64 - packing.bits),
        };
        low << packing.first
    }

    fn to_memory(numbers: &[u64], bytes: usize) -> Vec<u8> {
        let narrow = |number: &u64| match bytes {
            1 => narrowed::<1>(*number).to_vec(),
            2 => narrowed::<2>(*number).to_vec(),
            4 => narrowed::<4>(*number).to_vec(),
            _ => narrowed::<8>(*number).to_vec(),
        };
        numbers.iter().flat_map(narrow).collect()
    }

    #[test]
    fn every_width_is_packed_and_unpacked_from_anywhere() {
        let mut random = Random::new(4);
        for (bytes, signed) in [1, 2, 4, 8].into_iter().flat_map(|bytes| [(bytes, false), (bytes, true)]) {
            let most = 8 * u32::try_from(bytes).unwrap();
            for bits in 1..=most {
                let first = u32::try_from(random.below((most - bits + 1) as usize)).unwrap();
                for first in [0, first, most - bits] {
                    let packing = Packing { bytes, first, bits, signed };
                    check(&packing, &mut random);
                }
            }
        }
    }

    fn check(packing: &Packing, random: &mut Random) {
        let numbers: Vec<u64> = (0..61).map(|_| random.number()).collect();
        let memory = to_memory(&numbers, packing.bytes);
        let mut packed = vec![0xff; packing.packed_size(61).unwrap()];
        packing.pack(&memory, &mut packed);
        assert_eq!(packed, naive(packing, &numbers), "{packing:?}");
        let kept: Vec<u64> = numbers.iter().map(|&number| kept(packing, number)).collect();
        for start in 0..20 {
            for count in [0, 1, 5, 8, 33, 61 - start] {
                let bit = start * packing.bits as usize;
                let end = (bit + count * packing.bits as usize).div_ceil(8);
                let mut found = vec![0xff; count * packing.bytes];
                packing.unpack(&packed[bit / 8..end.max(bit / 8)], bit % 8, &mut found);
                let wanted = to_memory(&kept[start..start + count], packing.bytes);
                assert_eq!(found, wanted, "{packing:?} from {start}, {count} of them");
            }
        }
    }
}
