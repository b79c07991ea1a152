//! Coalescing: deciding which byte ranges of a stored object are read together.
//!
//! A codec whose elements are regularly spaced merges ranges with small gaps ([`GAP`]) into one range, as long as the range
//! fits into a core's cache ([`BLOCK`]). The driver then groups the ranges of all codecs ([`Coalesce::group`]).

/// The largest gap between two needed ranges that are read together, in bytes: reading the gap takes less time than another
/// request.
pub const GAP: usize = 8 << 10;

/// The number of bytes of a bounding box for each box inside it that may be read separately. If the elements form more boxes, the
/// whole bounding box is read.
pub const BYTES_PER_BOX: usize = 4 << 10;

/// The maximum size of a range that is scattered to several destinations, in bytes: the range should still be in the L2 cache
/// while it is scattered.
pub const BLOCK: usize = 256 << 10;

/// The maximum size of a range that is scattered to memory with a different order of axes, in bytes. Only a large range has long
/// rows in that order.
pub const BLOCK_TRANSPOSED: usize = 8 << 20;

/// The maximum size of a range that goes directly into the output, in bytes.
pub const DIRECT_MAX: usize = 8 << 20;

/// The minimum size of a range that is read separately because it goes directly into the output, in bytes: a copy would cost more
/// than another request.
pub const DIRECT: usize = 32 << 10;

/// The limits for grouping ranges of a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coalesce {
    /// The largest gap between two ranges that are read together, in bytes.
    pub gap: u64,
    /// The maximum number of bytes of a group.
    pub together: u64,
}

impl Coalesce {
    /// The limits for a local store. A group should fit into a core's cache. The gap is smaller than [`GAP`], because the bytes
    /// of a group are copied to their destinations; a codec that knows the positions of its elements needs no such copy.
    pub const LOCAL: Self = Self { gap: 4 << 10, together: 512 << 10 };

    /// The limits for a remote store: the gap is the number of bytes that arrive during the round trip of a request.
    pub const REMOTE: Self = Self { gap: 512 << 10, together: 8 << 20 };

    /// Groups ranges that are close to each other, except ranges for which `alone` returns true. Each range has an offset, a
    /// length and the caller's data.
    pub fn group<T>(
        self,
        mut ranges: Vec<(u64, u64, T)>,
        alone: impl Fn(u64, &T) -> bool,
    ) -> Vec<CoalescedRanges<T>> {
        ranges.sort_by_key(|(offset, ..)| *offset);
        let mut groups: Vec<CoalescedRanges<T>> = Vec::new();
        for (offset, length, item) in ranges {
            let alone = alone(length, &item);
            match groups.last_mut().filter(|group| !alone && self.joins(group, offset, length)) {
                Some(group) => {
                    group.length = group.length.max(offset + length - group.offset);
                    group.ranges.push((offset, length, item));
                }
                None => groups.push(CoalescedRanges { offset, length, ranges: vec![(offset, length, item)] }),
            }
        }
        groups
    }

    /// Returns true if a range is close enough to the group and fits into it. The range must not begin before the group.
    fn joins<T>(self, group: &CoalescedRanges<T>, offset: u64, length: u64) -> bool {
        offset <= group.offset + group.length + self.gap && offset + length - group.offset <= self.together
    }
}

/// Ranges that are read as one.
#[derive(Debug)]
pub struct CoalescedRanges<T> {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// The ranges inside the group.
    pub ranges: Vec<(u64, u64, T)>,
}
