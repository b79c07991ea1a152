//! A hash of a set that does not depend on the order of its members: LtHash, by Bellare and Micciancio (1997), with the
//! parameters of Lewi et al. (<https://eprint.iacr.org/2019/227>).

use blake3::Hasher;

/// The number of 16-bit numbers in the sum: finding two sets with equal sums then takes about 2^200 steps.
const NUMBERS: usize = 1024;

/// The number of bytes of the sum.
const BYTES: usize = 2 * NUMBERS;

/// The sum of the hashes of the members: each hash is extended to 1,024 numbers, which are added separately modulo 2^16. Members
/// can thus be hashed in any order and by any number of threads, and the sum takes 2 KiB for any set.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SetHash(Box<[u16; NUMBERS]>);

impl Default for SetHash {
    fn default() -> Self {
        Self(Box::new([0; NUMBERS]))
    }
}

impl SetHash {
    /// Adds the member whose bytes this hasher contains. A member must not be added twice.
    pub(crate) fn add(&mut self, member: &Hasher) {
        let mut bytes = [0; BYTES];
        member.finalize_xof().fill(&mut bytes);
        let numbers = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
        self.0.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = sum.wrapping_add(number));
    }

    /// Adds all members of another set, which must be disjoint from this one.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(sum, number)| *sum = sum.wrapping_add(*number));
    }

    /// Appends the sum to the input of a hasher, as little-endian numbers.
    pub(crate) fn update(&self, hasher: &mut Hasher) {
        let bytes: Vec<u8> = self.0.iter().flat_map(|number| number.to_le_bytes()).collect();
        hasher.update(&bytes);
    }
}

/// Appends bytes of any length to the input of a hasher, preceded by their number, so that their end is unambiguous.
pub(crate) fn update_framed(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(members: &[&[u8]]) -> SetHash {
        let mut sum = SetHash::default();
        members.iter().for_each(|member| sum.add(Hasher::new().update(member)));
        sum
    }

    #[test]
    fn the_order_does_not_matter_and_each_member_does() {
        let all = sum(&[b"a", b"b", b"c"]);
        assert!(all == sum(&[b"c", b"a", b"b"]));
        let mut joined = sum(&[b"b"]);
        joined.join(&sum(&[b"a", b"c"]));
        assert!(all == joined);
        let others: [&[&[u8]]; 4] = [&[], &[b"a", b"b"], &[b"a", b"b", b"d"], &[b"ab", b"c"]];
        for other in others {
            assert!(all != sum(other));
        }
    }

    #[test]
    fn the_sum_is_that_of_the_definition() {
        let mut expected = [0_u16; NUMBERS];
        for member in [&b"a"[..], b"b"] {
            let mut bytes = [0; BYTES];
            Hasher::new().update(member).finalize_xof().fill(&mut bytes);
            for (index, number) in expected.iter_mut().enumerate() {
                let own = u32::from(bytes[2 * index]) + 256 * u32::from(bytes[2 * index + 1]);
                *number = u16::try_from((u32::from(*number) + own) % 65536).unwrap();
            }
        }
        assert_eq!(*sum(&[b"a", b"b"]).0, expected);
    }
}
