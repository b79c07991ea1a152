//! The mapping from a region of a chunk to the region of the reshaped chunk with the same elements.
//!
//! Both shapes are split into independent groups of axes, at the positions where the products of the leading lengths agree.
//! Within a group, the axis lengths of both shapes are written as products of common factors, if such factors exist. A span along
//! an axis is split into spans along its factors, which are then merged into spans along the axes of the other shape.

use std::ops::Range;

use zarrox_core::strided::{Dims, Span};

/// The mapping between the axes of two shapes with the same number of elements.
#[derive(Debug)]
pub(crate) struct Reshaping {
    groups: Vec<Group>,
    to: Dims<usize>,
}

/// A group of axes that maps to other axes independently of all other groups.
#[derive(Debug)]
struct Group {
    from: Range<usize>,
    to: Range<usize>,
    lengths: Dims<usize>,
    /// The factors of the first and of the second shape, or `None` if only the whole group can be mapped.
    factors: Option<[Factors; 2]>,
}

/// The factors of the length of each axis of a shape.
type Factors = Vec<Dims<usize>>;

impl Reshaping {
    /// Creates the mapping between two shapes with the same number of elements.
    pub(crate) fn new(from: &[usize], to: &[usize]) -> Self {
        let mut groups = Vec::new();
        let (mut i, mut j) = (0, 0);
        let empty = from.contains(&0) || to.contains(&0);
        while !empty && (i < from.len() || j < to.len()) {
            let (first, second) = (i, j);
            let (mut before, mut after) = (take(from, &mut i), take(to, &mut j));
            while before != after && (i < from.len() || j < to.len()) {
                if before < after {
                    before *= take(from, &mut i);
                } else {
                    after *= take(to, &mut j);
                }
            }
            groups.push(Group::new(from, first..i, to, second..j));
        }
        Self { groups, to: to.into() }
    }

    /// Returns the region of the second shape that has the same elements, in the same order, as a region of the first shape.
    /// Returns `None` if these elements do not form a region of the second shape.
    pub(crate) fn map(&self, region: &[Span]) -> Option<Dims<Span>> {
        if self.to.contains(&0) || region.iter().any(|span| span.count == 0) {
            return None;
        }
        let mut mapped = Dims::new();
        for group in &self.groups {
            let spans = &region[group.from.clone()];
            if spans.iter().zip(&group.lengths).all(|(span, &length)| span.covers(length)) {
                mapped.extend(self.to[group.to.clone()].iter().map(|&length| Span::all(length)));
                continue;
            }
            mapped.extend(group.map(spans)?);
        }
        Some(mapped)
    }
}

/// Returns the next length, or 1 after the last length.
fn take(shape: &[usize], next: &mut usize) -> usize {
    let length = shape.get(*next).copied();
    *next += usize::from(length.is_some());
    length.unwrap_or(1)
}

impl Group {
    fn new(from: &[usize], first: Range<usize>, to: &[usize], second: Range<usize>) -> Self {
        let (lengths, others) = (&from[first.clone()], &to[second.clone()]);
        let mut bounds: Vec<usize> = products(lengths).chain(products(others)).chain([1]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let common = bounds.windows(2).all(|pair| pair[1] % pair[0] == 0);
        let factors = common.then(|| [lengths, others].map(|lengths| factors(lengths, &bounds)));
        Self { from: first, to: second, lengths: lengths.into(), factors }
    }

    fn map(&self, spans: &[Span]) -> Option<Dims<Span>> {
        let [from, to] = self.factors.as_ref()?;
        let mut split = Dims::new();
        for (&span, factors) in spans.iter().zip(from) {
            push_split(span, factors, &mut split)?;
        }
        let mut rest = &split[..];
        to.iter()
            .map(|factors| {
                let (now, later) = rest.split_at(factors.len());
                rest = later;
                merged(now, factors)
            })
            .collect()
    }
}

/// Returns the cumulative products of the lengths.
fn products(lengths: &[usize]) -> impl Iterator<Item = usize> {
    lengths.iter().scan(1, |product, &length| {
        *product *= length;
        Some(*product)
    })
}

/// Returns the factors of each length, given the bounds at which lengths may be split.
fn factors(lengths: &[usize], bounds: &[usize]) -> Factors {
    let mut before = 1;
    products(lengths)
        .map(|product| {
            let inside = bounds.windows(2).filter(|pair| pair[0] >= before && pair[1] <= product);
            let factors = inside.map(|pair| pair[1] / pair[0]).collect();
            before = product;
            factors
        })
        .collect()
}

/// Splits `span` into one span for each factor, and appends them. Together, they cover the positions of `span`. Without factors,
/// there is only one position.
fn push_split(span: Span, factors: &[usize], split: &mut Dims<Span>) -> Option<()> {
    let inner: usize = match factors {
        [] => return Some(()),
        [_] => {
            split.push(span);
            return Some(());
        }
        [_, rest @ ..] => rest.iter().product(),
    };
    let one = |start| Span { start, step: 1, count: 1 };
    let (outer, within) = (span.start / inner, span.start % inner);
    let last = span.start + (span.count - 1) * span.step;
    let (first, below) = if last / inner == outer {
        (one(outer), Span { start: within, ..span })
    } else if span.step.is_multiple_of(inner) {
        (Span { start: outer, step: span.step / inner, ..span }, one(within))
    } else {
        let each = inner / span.step;
        if !inner.is_multiple_of(span.step) || within >= span.step || !span.count.is_multiple_of(each) {
            return None;
        }
        (
            Span { start: outer, step: 1, count: span.count / each },
            Span { start: within, count: each, ..span },
        )
    };
    split.push(first);
    push_split(below, &factors[1..], split)
}

/// Merges the spans of the factors into one span with the same positions. Without factors, there is only one position.
fn merged(spans: &[Span], factors: &[usize]) -> Option<Span> {
    let mut parts = spans.iter().zip(factors);
    let Some((&first, _)) = parts.next() else { return Some(Span::all(1)) };
    parts.try_fold(first, |outer, (inner, length)| {
        let start = outer.start * length + inner.start;
        if outer.count == 1 {
            return Some(Span { start, ..*inner });
        }
        if inner.count == 1 {
            return Some(Span { start, step: outer.step * length, count: outer.count });
        }
        let even = outer.step * length == inner.step * inner.count;
        even.then(|| Span { start, step: inner.step, count: outer.count * inner.count })
    })
}

#[cfg(test)]
mod tests {
    use zarrox_core::internals::selection::partition::positions;
    use zarrox_testkit::codec::Random;

    use super::*;

    fn span(start: usize, step: usize, count: usize) -> Span {
        Span { start, step, count }
    }

    #[test]
    fn a_mapped_region_has_the_same_elements_in_the_same_order() {
        let mut random = Random::new(7);
        let shapes: [(&[usize], &[usize]); 12] = [
            (&[4, 6], &[24]),
            (&[24], &[4, 6]),
            (&[4, 6], &[8, 3]),
            (&[4, 6], &[3, 8]),
            (&[2, 3, 4, 5], &[6, 20]),
            (&[2, 3, 4, 5], &[2, 12, 5]),
            (&[5, 1, 7, 1], &[5, 7]),
            (&[5, 7], &[1, 5, 1, 7, 1]),
            (&[1, 1], &[]),
            (&[], &[1]),
            (&[6, 35], &[2, 3, 5, 7]),
            (&[30, 4], &[10, 12]),
        ];
        let mut found = 0;
        for (from, to) in shapes {
            let reshaping = Reshaping::new(from, to);
            let all: Dims<Span> = from.iter().map(|&length| Span::all(length)).collect();
            assert_eq!(positions(&reshaping.map(&all).unwrap(), to), positions(&all, from));
            for _ in 0..2000 {
                let region: Dims<Span> =
                    from.iter().map(|&length| random_span(length, &mut random)).collect();
                let Some(mapped) = reshaping.map(&region) else { continue };
                assert!(mapped.iter().zip(to).all(|(s, &n)| s.start + (s.count - 1) * s.step < n));
                assert_eq!(positions(&mapped, to), positions(&region, from), "{from:?} {to:?} {region:?}");
                found += 1;
            }
        }
        assert!(found > 8000, "{found}");
    }

    fn random_span(length: usize, random: &mut Random) -> Span {
        if random.below(3) == 0 {
            return Span::all(length);
        }
        let start = random.below(length);
        let step = 1 + random.below(length);
        let most = (length - start).div_ceil(step);
        span(start, step, 1 + random.below(most))
    }

    #[test]
    fn rows_planes_and_columns_are_found() {
        let map = |from: &[usize], to: &[usize], region: &[Span]| {
            Reshaping::new(from, to).map(region).map(|mapped| mapped.to_vec())
        };
        // Whole rows of merged axes, single rows, and a column.
        assert_eq!(map(&[4, 6], &[24], &[span(1, 1, 2), span(0, 1, 6)]), Some(vec![span(6, 1, 12)]));
        assert_eq!(map(&[4, 6], &[24], &[span(2, 1, 1), span(1, 2, 3)]), Some(vec![span(13, 2, 3)]));
        assert_eq!(map(&[4, 6], &[24], &[span(0, 1, 4), span(5, 1, 1)]), Some(vec![span(5, 6, 4)]));
        assert_eq!(map(&[4, 6], &[24], &[span(0, 1, 4), span(0, 1, 5)]), None);
        // Unchanged axes next to merged axes.
        let region = [span(0, 1, 2), span(0, 1, 3), span(1, 3, 2)];
        assert_eq!(map(&[2, 3, 9], &[6, 9], &region), Some(vec![span(0, 1, 6), span(1, 3, 2)]));
        // An axis that is split.
        assert_eq!(map(&[24], &[4, 6], &[span(6, 1, 12)]), Some(vec![span(1, 1, 2), span(0, 1, 6)]));
        assert_eq!(map(&[24], &[4, 6], &[span(1, 1, 3)]), Some(vec![span(0, 1, 1), span(1, 1, 3)]));
        assert_eq!(map(&[24], &[4, 6], &[span(5, 1, 3)]), None);
        // Without common factors, only the whole shape can be mapped.
        assert_eq!(map(&[4, 6], &[3, 8], &[span(0, 1, 1), span(0, 1, 6)]), None);
        assert_eq!(map(&[0, 6], &[6, 0], &[span(0, 1, 0), span(0, 1, 6)]), None);
    }
}
