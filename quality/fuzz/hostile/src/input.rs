//! The bytes of an input, which determine choices.

/// The remaining bytes of an input. After its end, each choice is the first one.
#[derive(Debug)]
pub(crate) struct Input<'i>(pub(crate) &'i [u8]);

impl<'i> Input<'i> {
    /// Returns one byte; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// Returns one byte, or a default at the end.
    pub(crate) fn byte_or(&mut self, other: u8) -> u8 {
        self.next().unwrap_or(other)
    }

    /// Returns a number below `limit`, from one byte.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte_or(0)) % limit.max(1)
    }

    /// Returns a number below `limit`, from two bytes.
    pub(crate) fn place(&mut self, limit: usize) -> usize {
        let bytes = [self.byte_or(0), self.byte_or(0)];
        usize::from(u16::from_be_bytes(bytes)) % limit.max(1)
    }

    /// Returns one of several values.
    pub(crate) fn one_of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// Returns `length` bytes, or those that remain.
    pub(crate) fn take(&mut self, length: usize) -> &'i [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
