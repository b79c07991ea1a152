//! `cargo xtask bench --guard`: the number of instructions of hot paths, compared with accepted numbers.
//!
//! Callgrind counts the same on an idle machine and on a busy machine. Times differ by more than the effect of most changes.
//! But its counts depend on the compiler and the processor: libraries choose their loops by the processor's features. Long copies
//! are repeated instructions, which count for each byte: so a superfluous copy is detected.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::json;

use zarrox_runner::debian;
use zarrox_runner::run::{self, Outcome, program};

/// The number of instructions of each case.
type Counts = BTreeMap<String, u64>;

/// The accepted numbers.
const ACCEPTED: &str = "crates/zarrox/benches/guard/counts.json";

/// The path of Callgrind's output. `callgrind_annotate` shows the functions of the instructions.
const OUTPUT: &str = "target/bench/guard";

/// The function of the bench target that is counted, with everything that it calls.
const COUNTED: &str = "guard::counted";

/// The largest fraction of the accepted number that counts as no change.
const TOLERANCE: f64 = 0.03;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (options, names): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with('-'));
    if let Some(unknown) = options.iter().find(|option| **option != "--accept") {
        return Err(format!("unknown option '{unknown}'; expected --accept"));
    }
    require_valgrind()?;
    let guard = run::bench_target("zarrox", "guard")?;
    let list = program::<&str>(&*guard, []).printed()?;
    let cases = chosen(&list, &names)?;
    let accepted = accepted()?;
    let counts = count_all(&guard, &cases)?;
    println!("{}", table(&accepted, &counts));
    if !options.is_empty() {
        return accept(if names.is_empty() { Counts::new() } else { accepted }, counts);
    }
    for (name, count, before) in changed(&accepted, &counts, |ratio| ratio < 1.0 - TOLERANCE) {
        println!("{name} takes {count} instructions instead of {before}: accept that with --accept");
    }
    judge(&accepted, &counts)
}

fn require_valgrind() -> Outcome {
    match program("valgrind", ["--version"]).output() {
        Some(_) => Ok(()),
        None => debian::install(&["valgrind"]),
    }
}

/// Returns the cases with these names; all cases if no names are given.
fn chosen(list: &str, names: &[&String]) -> Outcome<Vec<String>> {
    let all: Vec<&str> = list.lines().collect();
    if let Some(unknown) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(format!("unknown case '{unknown}'; expected one of {}", all.join(", ")));
    }
    let is_chosen = |name: &&str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    Ok(all.into_iter().filter(is_chosen).map(str::to_owned).collect())
}

fn accepted() -> Outcome<Counts> {
    if !std::path::Path::new(ACCEPTED).exists() {
        return Ok(Counts::new());
    }
    serde_json::from_str(&run::read(ACCEPTED)?).map_err(|error| format!("{ACCEPTED}: {error}"))
}

/// Writes the counts as accepted counts, and keeps the accepted counts of other cases.
fn accept(mut others: Counts, counts: Counts) -> Outcome {
    others.extend(counts);
    run::write(ACCEPTED, &format!("{:#}\n", json!(others)))?;
    println!("written: {ACCEPTED}");
    Ok(())
}

fn count_all(guard: &str, cases: &[String]) -> Outcome<Counts> {
    run::empty_directory(OUTPUT)?;
    let counts = Mutex::new(Vec::new());
    run::each_in_parallel(cases, |case| {
        let count = count(guard, case).map(|count| (case.clone(), count));
        counts.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(count);
    });
    counts.into_inner().map_err(|error| error.to_string())?.into_iter().collect()
}

/// Runs a case under Callgrind.
fn count(guard: &str, case: &str) -> Outcome<u64> {
    let output = format!("{OUTPUT}/{case}.out");
    let callgrind = program("valgrind", ["--tool=callgrind", "--quiet"])
        .with([format!("--callgrind-out-file={output}"), format!("--toggle-collect={COUNTED}")])
        .with([guard, case]);
    let (succeeded, log) = callgrind.log()?;
    if !succeeded {
        return Err(format!("failed: {callgrind}\n{log}"));
    }
    total(&run::read(&output)?).ok_or_else(|| format!("{output} does not contain a count of {COUNTED}"))
}

/// Parses the total number of instructions in Callgrind's output.
fn total(output: &str) -> Option<u64> {
    let total = output.lines().find_map(|line| line.strip_prefix("totals: "))?;
    total.trim().parse().ok().filter(|&count| count > 0)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
fn ratio(count: u64, before: u64) -> f64 {
    count as f64 / before as f64
}

/// Returns the cases whose ratio of counts satisfies `is_changed`, with their counts now and before.
fn changed<'a>(
    accepted: &'a Counts,
    counts: &'a Counts,
    is_changed: impl Fn(f64) -> bool + 'a,
) -> impl Iterator<Item = (&'a str, u64, u64)> {
    let both = counts.iter().filter_map(|(name, &count)| Some((name.as_str(), count, *accepted.get(name)?)));
    both.filter(move |&(_, count, before)| is_changed(ratio(count, before)))
}

/// Fails for a case with more instructions than accepted, or without an accepted number.
fn judge(accepted: &Counts, counts: &Counts) -> Outcome {
    let costlier = changed(accepted, counts, |ratio| ratio > 1.0 + TOLERANCE).map(|(name, count, before)| {
        format!("{name} takes {count} instructions instead of {before}: {:.3}", ratio(count, before))
    });
    let unknown = counts.keys().filter(|name| !accepted.contains_key(*name));
    let unknown = unknown.map(|name| format!("{name} has no accepted number: --accept gives it one"));
    let wrong: Vec<String> = costlier.chain(unknown).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Returns a table of all counts beside the accepted ones.
fn table(accepted: &Counts, counts: &Counts) -> String {
    let line = |(name, &count): (&String, &u64)| match accepted.get(name) {
        Some(&before) => format!("{name:<24} {count:>12} {before:>12} {:>8.3}", ratio(count, before)),
        None => format!("{name:<24} {count:>12} {:>12} {:>8}", "-", "-"),
    };
    let head = format!("{:<24} {:>12} {:>12} {:>8}", "case", "instructions", "accepted", "ratio");
    std::iter::once(head).chain(counts.iter().map(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Counts {
        counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn the_total_is_found_and_zero_is_not_a_count() {
        let output =
            "version: 1\ncreator: callgrind\nevents: Ir\nsummary: 7\n\nfn=(1) a\n12 4\n\ntotals: 4711\n";
        assert_eq!(total(output), Some(4711));
        // The function to count was not found.
        assert_eq!(total("events: Ir\ntotals: 0\n"), None);
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn cases_are_chosen_by_their_names() {
        let (list, name) = ("read\nwrite\n", "write".to_owned());
        assert_eq!(chosen(list, &[]).unwrap(), ["read", "write"]);
        assert_eq!(chosen(list, &[&name]).unwrap(), ["write"]);
        let error = chosen(list, &[&"wri".to_owned()]).unwrap_err();
        assert!(error.contains("'wri'") && error.contains("read, write"));
    }

    #[test]
    fn a_higher_cost_is_an_error_with_the_ratio() {
        let accepted = counts(&[("a", 1000), ("b", 1000), ("c", 1000)]);
        assert_eq!(judge(&accepted, &counts(&[("a", 1030), ("b", 970), ("c", 10)])), Ok(()));
        let error = judge(&accepted, &counts(&[("a", 1031), ("b", 1000), ("c", 2000)])).unwrap_err();
        let expected = "a takes 1031 instructions instead of 1000: 1.031\n\
            c takes 2000 instructions instead of 1000: 2.000";
        assert_eq!(error, expected);
    }

    #[test]
    fn a_case_without_an_accepted_count_is_an_error() {
        let error = judge(&Counts::new(), &counts(&[("a", 1)])).unwrap_err();
        assert!(error.starts_with("a has no accepted number"));
    }

    #[test]
    fn a_cheaper_case_is_reported() {
        let (accepted, counts) = (counts(&[("a", 1000), ("b", 1000)]), counts(&[("a", 970), ("b", 969)]));
        let cheaper: Vec<_> = changed(&accepted, &counts, |ratio| ratio < 1.0 - TOLERANCE).collect();
        assert_eq!(cheaper, [("b", 969, 1000)]);
    }

    #[test]
    fn counts_stand_beside_those_accepted() {
        let table = table(&counts(&[("a", 1000)]), &counts(&[("a", 1010), ("b", 5)]));
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1..], [["a", "1010", "1000", "1.010"], ["b", "5", "-", "-"]]);
    }
}
