//! Loops over the numbers in slices of bytes.
//!
//! Each loop is over elements of one type, without a branch for each element, so that the compiler vectorises it. It is compiled
//! once with the baseline instructions of the architecture, and again with AVX2, which is detected at run time.

use std::ops::BitOr;

use multiversion::multiversion;

use super::Plain;

/// The number of elements that are processed at once, so that their memory stays in the core's cache.
pub const BLOCK: usize = 1024;

/// Maps each element.
#[multiversion(targets("x86_64+avx2"))]
pub fn map<S: Plain, T: Plain>(from: &[u8], to: &mut [u8], mut map: impl FnMut(S) -> T) {
    for (from, to) in S::elements(from).iter().zip(T::elements_mut(to)) {
        *to = map(S::get(*from)).put();
    }
}

/// Maps each element, and returns false if any element needs special treatment. `map` also returns a mark, which is nonzero or
/// true for such an element. The marks are written to `bad`, unless `bad` is empty.
#[multiversion(targets("x86_64+avx2"))]
pub fn for_each<S: Plain, T: Plain, M: Copy + Default + PartialEq + BitOr<Output = M>>(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    make: impl Fn(S) -> (T, M),
) -> bool {
    let (mut any, none) = (M::default(), M::default());
    for (from, to) in S::elements(from).iter().zip(T::elements_mut(to)) {
        let (made, mark) = make(S::get(*from));
        *to = made.put();
        any = any | mark;
    }
    // Writing marks whose size differs from that of the numbers is expensive, so they are written only if any element is marked.
    if any != none {
        S::elements(from).iter().zip(bad).for_each(|(from, bad)| *bad |= make(S::get(*from)).1 != none);
    }
    any == none
}

/// Runs two loops in sequence, block by block, so that the elements stay in the core's cache. Both write their marks.
pub(super) fn in_two_steps<S: Plain, W: Plain, T: Plain>(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    first: impl Fn(&[u8], &mut [u8], &mut [bool]) -> bool,
    then: impl Fn(&[u8], &mut [u8], &mut [bool]) -> bool,
) -> bool {
    let mut way = [0; BLOCK * 8];
    let blocks = from.chunks(BLOCK * size_of::<S>()).zip(to.chunks_mut(BLOCK * size_of::<T>()));
    let mut all_good = true;
    for (index, (from, to)) in blocks.enumerate() {
        let bad = bad.get_mut(index * BLOCK..).unwrap_or_default();
        let way = &mut way[..from.len() / size_of::<S>() * size_of::<W>()];
        all_good &= first(from, way, bad) & then(way, to, bad);
    }
    all_good
}

/// Returns true if the predicate holds for all numbers.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn all<S: Plain>(numbers: &[u8], is: impl Fn(S) -> bool) -> bool {
    let mut all = true;
    for number in S::elements(numbers) {
        all &= is(S::get(*number));
    }
    all
}
