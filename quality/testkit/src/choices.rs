//! Random decisions that shrink: every generated value follows from a list of numbers. Smaller numbers give simpler values.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::env;
use std::fmt::Debug;
use std::hash::{BuildHasher, RandomState};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The number of random decisions. All later decisions are the simplest ones.
const DECISIONS: usize = 320;

/// The number of random decisions for one step of a sequence.
const DECISIONS_OF_A_STEP: usize = 16;

/// The decisions of one case, in order.
pub struct Choices {
    numbers: Vec<u32>,
    taken: usize,
}

impl Choices {
    /// Returns a number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        let number = self.numbers.get(self.taken).copied().unwrap_or(0);
        self.taken += 1;
        usize::try_from(number).unwrap() % n
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(usize::try_from(high - low + 1).unwrap())).unwrap()
    }

    /// Returns true once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// Returns one of the given values.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Returns distinct numbers below `n`, in no particular order.
    pub fn places(&mut self, n: usize) -> Vec<usize> {
        let mut state = self.below(usize::MAX) as u64;
        let mut places: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            places.swap(last, usize::try_from(state >> 33).unwrap() % (last + 1));
        }
        places
    }
}

/// The environment variable with the factor for the number of cases.
const TIMES: &str = "ZARROX_RANDOM_TIMES";

/// The environment variable with the seed of the random cases.
const SEED: &str = "ZARROX_RANDOM_SEED";

/// Generates `cases` random cases and checks each. The smallest failing case is displayed.
///
/// # Panics
/// When a case fails.
pub fn run<C: Debug>(cases: u32, make: impl Fn(&mut Choices) -> C, check: impl Fn(&C)) {
    let strategy = prop::collection::vec(any::<u32>(), DECISIONS)
        .prop_map(|numbers| make(&mut Choices { numbers, taken: 0 }));
    run_strategy(cases, &strategy, check);
}

/// Generates `cases` random sequences of up to `most` steps and checks each. The smallest failing sequence is displayed, without
/// irrelevant steps.
///
/// # Panics
/// When a sequence fails.
pub fn run_sequences<S: Debug>(
    cases: u32,
    most: usize,
    make: impl Fn(&mut Choices) -> S,
    check: impl Fn(&[S]),
) {
    let step = prop::collection::vec(any::<u32>(), DECISIONS_OF_A_STEP)
        .prop_map(|numbers| make(&mut Choices { numbers, taken: 0 }));
    run_strategy(cases, &prop::collection::vec(step, 1..=most), |steps| check(steps));
}

fn run_strategy<S: Strategy>(cases: u32, strategy: &S, check: impl Fn(&S::Value)) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let times = u32::try_from(number(TIMES).unwrap_or(1)).unwrap();
    let seed = number(SEED).unwrap_or_else(|| RandomState::new().hash_one(0));
    let config = Config {
        cases: cases.saturating_mul(times),
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed.to_le_bytes(); 4].concat());
    let result = TestRunner::new_with_rng(config, rng).run(strategy, |case| {
        check(&case);
        Ok(())
    });
    assert!(result.is_ok(), "{}\nthe seed is {seed}: {SEED}={seed} repeats these cases", result.unwrap_err());
}
