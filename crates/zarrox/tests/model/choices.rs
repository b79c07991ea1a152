//! Random decisions that shrink: whatever is generated is made from a list of numbers, of which smaller ones mean something
//! simpler.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// So many decisions are random; what is decided after them is the simplest.
const DECISIONS: usize = 320;

/// The decisions of one case, taken one after the other.
pub(crate) struct Choices {
    numbers: Vec<u32>,
    taken: usize,
}

impl Choices {
    /// A number below `n`, which is not zero.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let number = self.numbers.get(self.taken).copied().unwrap_or(0);
        self.taken += 1;
        usize::try_from(number).unwrap() % n
    }

    /// A number from one to another, inclusive.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(usize::try_from(high - low + 1).unwrap())).unwrap()
    }

    /// Something that is true once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Distinct places below `n`, in no order.
    pub(crate) fn places(&mut self, n: usize) -> Vec<usize> {
        let mut state = self.below(usize::MAX) as u64;
        let mut places: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            places.swap(last, usize::try_from(state >> 33).unwrap() % (last + 1));
        }
        places
    }
}

/// Makes so many random cases and checks each. The smallest that is found to fail is displayed.
pub(crate) fn run<C: Debug>(cases: u32, make: impl Fn(&mut Choices) -> C, check: impl Fn(&C)) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let strategy = prop::collection::vec(any::<u32>(), DECISIONS)
        .prop_map(|numbers| make(&mut Choices { numbers, taken: 0 }));
    TestRunner::new(config)
        .run(&strategy, |case| {
            check(&case);
            Ok(())
        })
        .unwrap();
}
