//! Ranges of a stored object that are read together: all that decides it is here.
//!
//! A codec whose elements lie at regular places makes one range of pieces with little between them ([`GAP`]), as long as the range
//! still fits into a core's cache ([`BLOCK`]). The driver then puts ranges of any codecs together ([`Coalesce::group`]).

/// Unneeded bytes between two needed ranges that are read along, since another request would take longer.
pub const GAP: usize = 8 << 10;

/// Elements that form no box are read as boxes of their own only if these are fewer than the bounding box has times this many bytes.
pub const BYTES_PER_BOX: usize = 4 << 10;

/// The most bytes of a range that is scattered to several places: it should still be in the L2 cache then.
pub const BLOCK: usize = 256 << 10;

/// The most bytes of a range that is scattered to memory whose axes are in another order: only a large range has rows of some length
/// there.
pub const BLOCK_TRANSPOSED: usize = 8 << 20;

/// The most bytes of a range that goes straight into the output.
pub const STRAIGHT_MOST: usize = 8 << 20;

/// From this many bytes on, a range that goes straight into the output is read on its own: a copy would cost more than another
/// request.
pub const STRAIGHT: usize = 32 << 10;

/// The limits of putting ranges of a stored object together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coalesce {
    /// The most bytes between two ranges that are read along.
    pub gap: u64,
    /// The most bytes of all ranges that are read together.
    pub together: u64,
}

impl Coalesce {
    /// For a store on this machine: ranges together should still fit into a core's own cache. The gap is smaller than [`GAP`], since
    /// joined ranges are copied apart again, which a codec that knows where its elements lie need not do.
    pub const LOCAL: Self = Self { gap: 4 << 10, together: 512 << 10 };

    /// For a store to which every request is a round trip: so many bytes arrive in the time that another request would take.
    pub const REMOTE: Self = Self { gap: 512 << 10, together: 8 << 20 };

    /// Puts ranges together that lie close to each other, unless `alone` says that one is read on its own. Each range is an offset,
    /// a length and whatever belongs to it.
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

    /// Returns true if a range that begins no earlier is close enough to a group, and both together are not too long.
    fn joins<T>(self, group: &CoalescedRanges<T>, offset: u64, length: u64) -> bool {
        offset <= group.offset + group.length + self.gap && offset + length - group.offset <= self.together
    }
}

/// Ranges that are read together as one.
#[derive(Debug)]
pub struct CoalescedRanges<T> {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// The ranges inside.
    pub ranges: Vec<(u64, u64, T)>,
}
