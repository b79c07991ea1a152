//! The run: all stores, one after the other, and the results.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use fastrand::Rng;

use crate::kills::campaign;
use crate::options::Options;
use crate::outcome::Outcome;
use crate::parallel::{Crowd, Mode, Shown, Stored};
use crate::peers;
use crate::place::{Kind, Site};
use crate::process::Launcher;
use crate::report::{Cell, Report, StoreReport};

/// Tests all stores of the options. Faults are printed as they are found, and are an error in the end.
#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
pub(crate) fn run(options: &Options) -> Outcome {
    println!("seed {} ({} kills a store)", options.seed, options.kills);
    let mut report = Report { seed: options.seed, ..Report::default() };
    for store in all_stores(options) {
        report.stores.push(store?);
    }
    if let Some(python) = &options.python {
        let site = site(options, "peers")?;
        report.peers = peers::compare(python, &site, options.seed)?;
    }
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    write(options, "results.json", &text)?;
    write(options, "table.md", &report.table())?;
    println!("\n{}", report.table());
    match report.faults() {
        0 => Ok(()),
        count => Err(format!("{count} faults; repeat the plan with --seed {}", options.seed)),
    }
}

/// Returns the results of all stores. Two stores are tested in parallel, since processes wait for each other and for servers.
#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
fn all_stores(options: &Options) -> Vec<Outcome<StoreReport>> {
    let next = Mutex::new(options.stores.iter().enumerate());
    let reports = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let Some((index, kind)) = locked(&next).next() else { return };
            let report = site(options, kind.name()).and_then(|site| torture(*kind, &site, options));
            if let Ok(report) = &report {
                println!("{}", report.summary());
            }
            locked(&reports).insert(index, report);
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    reports.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn site(options: &Options, name: &str) -> Outcome<Site> {
    let directory = options.directory.join(name);
    let fail = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(fail)?;
    }
    fs::create_dir_all(&directory).map_err(fail)?;
    let directory = fs::canonicalize(&directory).map_err(fail)?;
    Ok(Site::new(&directory, &format!("torture-{}-{}", options.seed, std::process::id())))
}

fn write(options: &Options, name: &str, text: &str) -> Outcome {
    let path = options.directory.join(name);
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn torture(kind: Kind, site: &Site, options: &Options) -> Outcome<StoreReport> {
    let mut report = StoreReport { store: kind.name().to_owned(), ..StoreReport::default() };
    if !options.only_writers {
        let tally = campaign(kind, site, options.seed, options.kills)?;
        report.kills = tally.kills;
        report.rounds = tally.rounds;
        report.interrupted =
            tally.interrupted.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        report.found = tally.faults.counts();
        report.faults = tally
            .faults
            .list()
            .iter()
            .map(|(fault, message)| format!("{}: {message}", fault.name()))
            .collect();
    }
    if !options.only_kills {
        let launcher = Launcher::zarrox()?;
        for mode in Mode::of(kind) {
            writers(kind, site, *mode, &launcher, options.seed, &mut report)?;
        }
    }
    Ok(report)
}

/// Runs four concurrent writers, with and without kills.
fn writers(
    kind: Kind,
    site: &Site,
    mode: Mode,
    launcher: &Launcher,
    seed: u64,
    report: &mut StoreReport,
) -> Outcome {
    let mut rng = Rng::with_seed(seed);
    for kills in [false, true] {
        let suffix = if kills { "-killed" } else { "" };
        let mut scene = |name: &str, work: &dyn Fn(&Crowd<'_>, &mut Rng) -> Outcome<Shown>| {
            let place = site.place(kind, &format!("{name}-{}{suffix}", mode.name()))?;
            let crowd = Crowd { launcher, place, mode, kills };
            let shown = work(&crowd, &mut rng)?;
            report.cells.push(Cell::new(name, mode, kills, shown));
            Ok::<(), String>(())
        };
        scene("chunks", &|crowd, rng| crowd.blocks(Stored::Chunks, rng))?;
        scene("shards", &|crowd, rng| crowd.blocks(Stored::Shards, rng))?;
        scene("appends", &|crowd, rng| crowd.appends(rng))?;
        scene("attributes", &|crowd, rng| crowd.attributes(rng))?;
        scene("nodes", &|crowd, rng| crowd.nodes(rng))?;
    }
    Ok(())
}
