//! Ranges of missing chunks. The memory is independent of the size of the grid and of the store.

use zarrox_core::Result;

use super::finding::{Finding, FindingKind, Remedy};
use super::session::Session;
use zarrox::Array;

/// The maximum number of stored chunks held in memory. If there are more, the store is listed again.
const KNOWN: usize = 1 << 20;

/// Reports all missing chunks of an array.
pub(super) fn check(session: &Session<'_>, array: &Array) -> Result<()> {
    let grid = array.grid_shape();
    let Some(count) = grid.iter().try_fold(1_u128, |count, &n| count.checked_mul(n.into())) else {
        let why = Remedy::Nothing("it is not damage".to_owned());
        let message = "the grid has more chunks than can be counted";
        return session.report(Finding::new(FindingKind::MissingChunks, array.path().as_str(), message, why));
    };
    ranges(count, KNOWN, &mut |known| stored(array, &grid, known), &mut |first, last| {
        report(session, array, &grid, first, last)
    })
}

/// Adds the numbers of the stored chunks to `known`, which keeps only the smallest numbers from its `from` on.
fn stored(array: &Array, grid: &[u64], known: &mut Known) -> Result<()> {
    array.visit_stored(&mut |chunk, _| {
        if let Some(chunk) = chunk {
            let number = chunk
                .iter()
                .zip(grid)
                .fold(0, |number, (&index, &n)| number * u128::from(n) + u128::from(index));
            known.add(number);
        }
    })
}

fn report(session: &Session<'_>, array: &Array, grid: &[u64], first: u128, last: u128) -> Result<()> {
    let count = last - first + 1;
    let message = match count {
        1 => "it is not stored".to_owned(),
        _ => format!("{count} chunks in row-major order are not stored"),
    };
    let why = Remedy::Nothing("chunks that are not stored are the fill value".to_owned());
    let finding = Finding::new(FindingKind::MissingChunks, array.path().as_str(), message, why);
    let finding = finding.of_chunk(&indices(first, grid));
    let last_chunk = (count > 1).then(|| indices(last, grid));
    session.report(Finding { last_chunk, ..finding })
}

/// Returns the index of the `number`-th chunk in row-major order.
#[expect(clippy::cast_possible_truncation, reason = "a remainder of a division by a u64")]
fn indices(mut number: u128, grid: &[u64]) -> Vec<u64> {
    let mut indices = vec![0; grid.len()];
    for (index, &count) in indices.iter_mut().zip(grid).rev() {
        *index = (number % u128::from(count.max(1))) as u64;
        number /= u128::from(count.max(1));
    }
    indices
}

/// The smallest of the added numbers that are not below a first number.
struct Known {
    from: u128,
    limit: usize,
    numbers: Vec<u128>,
    /// True if larger numbers were dropped.
    more: bool,
}

impl Known {
    fn add(&mut self, number: u128) {
        if number < self.from {
            return;
        }
        self.numbers.push(number);
        if self.numbers.len() >= self.limit.saturating_mul(2) {
            self.tidy();
        }
    }

    fn tidy(&mut self) {
        self.numbers.sort_unstable();
        self.numbers.dedup();
        self.more |= self.numbers.len() > self.limit;
        self.numbers.truncate(self.limit);
    }
}

/// Visits the ranges of numbers below `count` that `list` does not add. A range is passed as its first and last number.
fn ranges(
    count: u128,
    limit: usize,
    list: &mut dyn FnMut(&mut Known) -> Result<()>,
    visit: &mut dyn FnMut(u128, u128) -> Result<()>,
) -> Result<()> {
    let mut next = 0;
    while next < count {
        let mut known = Known { from: next, limit, numbers: Vec::new(), more: false };
        list(&mut known)?;
        known.tidy();
        for number in known.numbers {
            if number > next {
                visit(next, number - 1)?;
            }
            next = number + 1;
        }
        if !known.more {
            if next < count {
                visit(next, count - 1)?;
            }
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_the_same_with_any_memory() {
        let stored: [u128; 8] = [9, 3, 4, 0, 12, 5, 9, 17];
        for limit in 1..10 {
            let (mut found, mut most) = (Vec::new(), 0);
            let mut list = |known: &mut Known| {
                for number in stored {
                    known.add(number);
                    most = most.max(known.numbers.len());
                }
                Ok(())
            };
            ranges(20, limit, &mut list, &mut |first, last| {
                found.push((first, last));
                Ok(())
            })
            .unwrap();
            assert_eq!(found, [(1, 2), (6, 8), (10, 11), (13, 16), (18, 19)], "limit {limit}");
            assert!(most <= limit * 2, "limit {limit}: {most}");
        }
        let mut none = 0;
        ranges(0, 4, &mut |_| Ok(()), &mut |_, _| {
            none += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(none, 0, "an array without chunks");
    }

    #[test]
    fn numbers_are_indices_in_row_major_order() {
        assert_eq!(indices(7, &[3, 4]), [1, 3]);
        assert_eq!(indices(0, &[]), Vec::<u64>::new());
    }
}
