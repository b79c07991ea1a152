//! Seeds, inputs that fuzzing once found, and random inputs.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use zarrox_hostile::{Hierarchy, NAME, READERS, Urls, urls};
use zarrox_testkit::fuzz;

/// The number of random inputs, unless `ZARROX_RANDOM_TIMES` multiplies it.
const RANDOM: u64 = 300;

#[test]
fn promises_are_kept_where_fuzzing_begins() {
    let hierarchy = Hierarchy::new().unwrap();
    let seeds = hierarchy.seeds();
    assert!(seeds.len() > 100, "{}", seeds.len());
    seeds.iter().for_each(|seed| demand(&hierarchy, seed, "a seed"));
}

#[test]
fn promises_are_kept_where_they_were_once_broken() {
    let hierarchy = Hierarchy::new().unwrap();
    each_regression(NAME, |name, input| demand(&hierarchy, input, name));
}

#[test]
fn files_that_were_once_too_much_are_read() {
    for reader in READERS {
        each_regression(reader.name, |name, input| {
            let run = catch_unwind(AssertUnwindSafe(|| reader.run(input)));
            assert!(run.is_ok(), "{name}");
        });
    }
}

#[test]
fn requests_are_answered_where_fuzzing_begins_and_where_it_found_something() {
    let server = Urls::new().unwrap();
    let seeds = Urls::seeds();
    assert!(seeds.len() > 200, "{}", seeds.len());
    let understood = seeds.iter().filter(|seed| server.run(seed) < 400).count();
    assert!(4 * understood > 3 * seeds.len(), "{understood} of {}", seeds.len());
    each_regression(urls::NAME, |_, input| _ = server.run(input));
}

#[test]
fn a_million_million_elements_are_thinned_or_refused() {
    let server = Urls::new().unwrap();
    let status = |call: &str| {
        let begun = Instant::now();
        let status = server.run(format!("/api/v1/{call}").as_bytes());
        assert!(begun.elapsed() < Duration::from_secs(30), "{call}: {:?}", begun.elapsed());
        status
    };
    for call in
        ["slice/huge/cube?select=:,:,0&max_elements=50", "slice/huge/cube?select=9&as=png&width=30&height=20"]
    {
        assert_eq!(status(call), 200, "{call}");
    }
    for call in [
        "slice/huge/cube",
        "slice/huge/cube?reduce=mean&max_elements=8",
        "slice/huge/thick?select=0,0,0",
        "chunks/huge/cube",
    ] {
        assert_eq!(status(call), 413, "{call}");
    }
}

/// Reads the inputs that fuzzing once found for a target.
fn each_regression(target: &str, mut work: impl FnMut(&str, &[u8])) {
    for file in fuzz::regressions(target) {
        work(&file.display().to_string(), &std::fs::read(&file).unwrap());
    }
}

#[test]
fn every_regression_is_that_of_a_target_and_every_reader_has_seeds() {
    let readers = READERS.map(|reader| reader.name.to_owned());
    let known = [fuzz::names(), readers.to_vec(), vec![NAME.to_owned(), urls::NAME.to_owned()]].concat();
    for folder in fuzz::folders_of_regressions() {
        assert!(known.iter().any(|name| folder.ends_with(name)), "no target reads {}", folder.display());
    }
    for reader in READERS {
        assert!(!reader.seeds().is_empty(), "{} has nothing to begin with", reader.name);
    }
}

#[test]
fn promises_are_kept_of_random_damage() {
    let hierarchy = Hierarchy::new().unwrap();
    let number = |name: &str| std::env::var(name).map_or(1, |text| text.parse().unwrap());
    let mut state: u64 = number("ZARROX_RANDOM_SEED");
    for execution in 0..RANDOM * number("ZARROX_RANDOM_TIMES") {
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        };
        let length = 4 + byte() % 40;
        let input: Vec<u8> = (0..length).map(|_| byte()).collect();
        demand(&hierarchy, &input, &format!("random input {execution}"));
    }
}

/// Runs the target, and describes the damage if a guarantee is violated.
fn demand(hierarchy: &Hierarchy, input: &[u8], name: &str) {
    let run = catch_unwind(AssertUnwindSafe(|| hierarchy.run(input)));
    assert!(run.is_ok(), "{name}: {input:?}\n{}", hierarchy.describe(input));
}
