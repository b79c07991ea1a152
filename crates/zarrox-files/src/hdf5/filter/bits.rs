//! [`Bits`]: a reader for integers of any bit width, most significant bit first.

/// Reads integers of any bit width, most significant bit first.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The position of the next byte to load into `word`.
    at: usize,
    /// The next bits, starting at the most significant bit. Bits after the first `count` belong to the next byte, or are 0.
    word: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, word: 0, count: 0 }
    }

    /// Fills the word with at least 56 bits, or with all remaining bits if there are fewer.
    fn refill(&mut self) {
        if let Some(next) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            self.word |= u64::from_be_bytes(*next) >> self.count;
            self.at += ((63 - self.count) / 8) as usize;
            self.count |= 56;
            return;
        }
        while let (0..56, Some(&byte)) = (self.count, self.bytes.get(self.at)) {
            self.word |= u64::from(byte) << (56 - self.count);
            self.at += 1;
            self.count += 8;
        }
    }

    /// Reads an integer of up to 56 bits; `None` if fewer bits remain.
    pub(super) fn take(&mut self, width: u32) -> Option<u64> {
        if width == 0 {
            return Some(0);
        }
        if self.count < width {
            self.refill();
        }
        if self.count < width {
            return None;
        }
        let value = self.word >> (64 - width);
        self.word <<= width;
        self.count -= width;
        Some(value)
    }

    /// Reads an integer of up to 64 bits; `None` if fewer bits remain.
    pub(super) fn take_wide(&mut self, width: u32) -> Option<u64> {
        if width <= 32 {
            return self.take(width);
        }
        let high = self.take(width - 32)?;
        Some(high << 32 | self.take(32)?)
    }

    /// Reads a unary code: consumes all bits up to and including the next 1 bit, and returns the number of 0 bits before
    /// it. Returns `None` if no 1 bit follows.
    pub(super) fn unary(&mut self) -> Option<u32> {
        let mut zeros: u32 = 0;
        loop {
            let found = self.word.leading_zeros();
            if found < self.count {
                self.word = self.word << found << 1;
                self.count -= found + 1;
                return zeros.checked_add(found);
            }
            zeros = zeros.checked_add(self.count)?;
            (self.word, self.count) = (0, 0);
            self.refill();
            if self.count == 0 {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_width_follow_one_another() {
        let bytes: Vec<u8> = (0..40).map(|n: u8| n.wrapping_mul(37) ^ 0x5a).collect();
        let bit = |at: usize| u64::from(bytes[at / 8] >> (7 - at % 8) & 1);
        let mut bits = Bits::new(&bytes);
        let mut at = 0;
        for width in [1, 7, 13, 56, 0, 3, 31, 55, 8, 9, 40, 56] {
            let wanted = (at..at + width).fold(0, |number, at| number << 1 | bit(at));
            assert_eq!(bits.take(u32::try_from(width).unwrap()), Some(wanted), "{width} at {at}");
            at += width;
        }
        let left = u32::try_from(bytes.len() * 8 - at).unwrap();
        assert_eq!(bits.take(left + 1), None);
        assert!(bits.take(left).is_some());
        assert_eq!(bits.take(1), None);
        assert_eq!(Bits::new(&[0xff; 9]).take_wide(64), Some(u64::MAX));
    }

    #[test]
    fn zeros_are_counted_over_any_number_of_bytes() {
        let mut bytes = vec![0; 30];
        bytes[20] = 0x11;
        let mut bits = Bits::new(&bytes);
        assert_eq!(bits.take(3), Some(0));
        assert_eq!((bits.unary(), bits.unary(), bits.unary()), (Some(160), Some(3), None));
    }
}
