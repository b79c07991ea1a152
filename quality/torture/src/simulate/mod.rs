//! Simulated runs: `--simulate N`. Tasks race over stores in memory, with one seed each.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | the acts of a run, which follow from its seed |
//! | `world` | the initial hierarchies of runs |
//! | `act` | the implementation of acts |
//! | `history` | the acts that were begun and done, their results and times |
//! | `judge` | the check of the results |
//! | `shrink` | shrinking of failing runs |

mod act;
mod history;
mod judge;
mod plan;
mod play;
mod shrink;
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zarrox_testkit::simulation::Schedule;

use crate::options::Options;
use crate::outcome::Outcome;

use self::plan::{Act, Plan};
use self::play::{Shown, play};

/// Seeds whose runs have failed once. Every run of several seeds begins with them. Their effect changes with the steps of the
/// library, so that each has a test beside the code as well.
#[rustfmt::skip]
const FOUND: [u64; 11] = [
    // A repair deleted an array that was created again while the repair examined the mark of its deletion.
    1_048_521,
    // A replaced array that could not be put back was lost.
    1_118_041,
    // The next append skipped rows that an append had reserved by an old shape; they kept fill values.
    1_118_009, 278_636,
    // A repair rewrote the document of an array that was being moved to another store.
    2_032_825,
    // An append returned although its reservation still existed, and the next append cleared its rows.
    3_031_223,
    // A deletion on a full disk failed to write its mark again, and left chunks without a document.
    5_379_994,
    // A repair rewrote the document of an array that had been moved away, since the consolidated metadata still contained it.
    80_167_022,
    // A deletion on a full disk, without a mark, could not erase all documents, and left chunks without one.
    80_314_351, 80_837_017, 80_966_206,
];

/// The number of failing runs that are shrunk and printed.
const MOST_PRINTED: usize = 5;

/// The counts of all runs.
#[derive(Default)]
struct Tally {
    steps: u64,
    /// The failing runs by their reasons: the number, and the first seed.
    reasons: BTreeMap<String, (u64, u64)>,
}

/// Runs the number of seeds in the options, or until the time is over.
#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
pub(crate) fn run(options: &Options) -> Outcome {
    // A single seed runs alone.
    let found = if options.simulate == Some(1) { &[] } else { FOUND.as_slice() };
    let count = options.simulate.unwrap_or(u64::MAX).saturating_add(found.len() as u64);
    let seed_at = |index: u64| {
        let is_found = usize::try_from(index).ok().and_then(|index| found.get(index));
        is_found.copied().unwrap_or_else(|| options.seed.wrapping_add(index - found.len() as u64))
    };
    let (begun, next, tally) = (Instant::now(), AtomicU64::new(0), Mutex::new(Tally::default()));
    let stopped = AtomicBool::new(false);
    let until = options.seconds.map(Duration::from_secs);
    let work = || -> Outcome {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let is_late = until.is_some_and(|until| begun.elapsed() >= until);
            if index >= count || is_late || stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let done = one(seed_at(index), options, &tally);
            if let Err(message) = done {
                stopped.store(true, Ordering::Relaxed);
                return Err(message);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let done: Vec<Outcome> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let panicked = |_| Err("a thread panicked".to_owned());
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(panicked)).collect()
    });
    done.into_iter().collect::<Outcome>()?;
    let runs = next.load(Ordering::Relaxed).saturating_sub(threads as u64).max(1);
    let time = begun.elapsed().as_secs_f64();
    let tally = locked(&tally);
    #[expect(clippy::cast_precision_loss, reason = "a rounded number for a message")]
    let rate = runs as f64 / time;
    println!(
        "{runs} runs, {} of them of seeds from {}, in {time:.1} s, {rate:.0} a second, {} steps",
        runs.saturating_sub(found.len() as u64),
        options.seed,
        tally.steps
    );
    for (reason, (count, seed)) in &tally.reasons {
        println!("  {count} × {reason} (seed {seed})");
    }
    match tally.reasons.values().map(|(count, _)| count).sum::<u64>() {
        0 => Ok(()),
        failed => Err(format!("{failed} runs failed; repeat one with --simulate 1 --seed SEED")),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one seed. A failing run is shrunk and printed, if its reason is new.
#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
fn one(seed: u64, options: &Options, tally: &Mutex<Tally>) -> Outcome {
    let plan = Plan::new(seed, &options.without);
    let schedule = Schedule::random(seed, plan.odds);
    let shown = play(&plan, schedule, false).map_err(|error| format!("{plan}\n{error}"))?;
    let reason = shown.reason();
    let is_new = {
        let mut tally = locked(tally);
        tally.steps += shown.ended.steps;
        let Some(reason) = &reason else { return Ok(()) };
        let (count, _) = tally.reasons.entry(format!("{reason} [{}]", blamed(&plan))).or_insert((0, seed));
        *count += 1;
        !options.only_count && *count == 1 && tally.reasons.len() <= MOST_PRINTED
    };
    if is_new {
        let (plan, shown) = shrink::shrink(plan, shown);
        println!("{}", described(&plan, &shown));
    }
    Ok(())
}

/// Returns the names of the most suspect acts of a plan.
fn blamed(plan: &Plan) -> String {
    let acts = plan.hands.iter().flat_map(|hand| &hand.acts);
    let suspects = acts.filter(|act| act.is_structural() || matches!(act, Act::Repair | Act::Consolidate));
    let mut names: Vec<&str> = suspects.map(|act| act.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

fn described(plan: &Plan, shown: &Shown) -> String {
    let mut text = format!("\n{plan}\n");
    for line in &shown.ended.trace {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    for (fault, message) in shown.faults.list() {
        text.push_str(&format!("  {}: {message}\n", fault.name()));
    }
    text
}
