//! Faults of connections: when they are cut.

/// The amount of data from a server before a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// A number of bytes.
    Bytes(u64),
    /// A number of responses, each being the data that a server sends between two messages of the client. The next response is
    /// lost as a whole, although the server has processed the request.
    Answers(u64),
}

/// The current cut, the number of its remaining repetitions, and the amount of data since the last cut.
#[derive(Debug, Default)]
pub(super) struct Faults {
    after: Option<After>,
    times: u64,
    passed: u64,
}

impl Faults {
    pub(super) fn set(&mut self, after: After, times: u64) {
        *self = Self { after: Some(after), times, passed: 0 };
    }

    /// Returns how many of the next bytes from a server pass before the connection is cut; `None` if the connection is not cut.
    /// `begins` is true if a response begins with these bytes.
    pub(super) fn cut(&mut self, length: usize, begins: bool) -> Option<usize> {
        let after = self.after.filter(|_| self.times > 0)?;
        let (amount, limit) = match after {
            After::Bytes(limit) => (length as u64, limit),
            After::Answers(limit) => (u64::from(begins), limit),
        };
        let rest = limit - self.passed;
        if amount <= rest {
            self.passed += amount;
            return None;
        }
        self.times -= 1;
        self.passed = 0;
        Some(if matches!(after, After::Bytes(_)) { usize::try_from(rest).unwrap_or(length) } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_counted_from_the_one_before() {
        let mut faults = Faults::default();
        assert_eq!(faults.cut(1_000, true), None);
        faults.set(After::Bytes(10), 2);
        assert_eq!([10, 4, 14, 1].map(|length| faults.cut(length, false)), [None, Some(0), Some(10), None]);
        faults.set(After::Answers(1), 1);
        assert_eq!(
            [true, false, true, true].map(|begins| faults.cut(9, begins)),
            [None, None, Some(0), None]
        );
    }
}
