//! Other implementations, writing to a directory.

use std::path::Path;

use fastrand::Rng;

use crate::leftovers::temporary_files;
use crate::outcome::Outcome;
use crate::parallel::{Crowd, Mode, Shown, Stored};
use crate::place::{Kind, Site};
use crate::process::Launcher;
use crate::report::PeerReport;

/// The number of kills for each implementation.
const KILLS: usize = 30;
/// The largest number of scenes until the number of kills is reached.
const SCENES: usize = 20;

/// An implementation.
struct Peer {
    name: &'static str,
    launcher: Launcher,
    /// False if the implementation has neither groups nor attributes.
    has_attributes: bool,
}

/// Runs the same work with all implementations.
#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
pub(crate) fn compare(python: &str, site: &Site, seed: u64) -> Outcome<Vec<PeerReport>> {
    let script = |name: &str| Launcher {
        program: python.to_owned(),
        arguments: vec![format!("quality/torture/{name}.py")],
    };
    let peers = [
        Peer { name: "zarrox", launcher: Launcher::zarrox()?, has_attributes: true },
        Peer { name: "zarr-python 3", launcher: script("work_zarr"), has_attributes: true },
        Peer { name: "tensorstore", launcher: script("work_tensorstore"), has_attributes: false },
    ];
    let mut reports = Vec::new();
    for peer in peers {
        let report = measure(&peer, site, seed)?;
        println!("{}:", report.name);
        report.results.iter().for_each(|(work, result)| println!("  {work}: {result}"));
        reports.push(report);
    }
    Ok(reports)
}

fn measure(peer: &Peer, site: &Site, seed: u64) -> Outcome<PeerReport> {
    let mut results = Vec::new();
    let mut rng = Rng::with_seed(seed);
    for mode in Mode::ALL {
        for (stored, name) in [(Stored::Chunks, "chunks"), (Stored::Shards, "shards")] {
            let shown = crowd(peer, site, mode, false)?.blocks(stored, &mut rng)?;
            let work = format!("elements lost of 10⁶, blocks of 25³ in {name} of 50³, {}", mode.name());
            results.push((work, summary(&shown)));
        }
    }
    let shown = crowd(peer, site, Mode::Processes, false)?.appends(&mut rng)?;
    results.push(("rows lost of 400, four processes append".to_owned(), summary(&shown)));
    let attributes = match peer.has_attributes {
        true => summary(&crowd(peer, site, Mode::Processes, false)?.attributes(&mut rng)?),
        false => "no attributes".to_owned(),
    };
    results.push(("attributes lost of 400, four processes".to_owned(), attributes));
    results.extend(killed(peer, site, &mut rng)?);
    Ok(PeerReport { name: peer.name.to_owned(), results })
}

fn crowd<'a>(peer: &'a Peer, site: &Site, mode: Mode, kills: bool) -> Outcome<Crowd<'a>> {
    let place = site.place(Kind::Directory, peer.name)?;
    Ok(Crowd { launcher: &peer.launcher, place, mode, kills })
}

/// Runs four writers that are killed repeatedly.
fn killed(peer: &Peer, site: &Site, rng: &mut Rng) -> Outcome<Vec<(String, String)>> {
    let (mut kills, mut lost, mut left, mut unreadable) = (0, 0, 0, 0);
    for scene in 0..SCENES {
        let stored = if scene % 2 == 0 { Stored::Chunks } else { Stored::Shards };
        let crowd = crowd(peer, site, Mode::Processes, true)?;
        let shown = crowd.blocks(stored, rng)?;
        kills += shown.kills;
        lost += shown.lost;
        unreadable += usize::from(!shown.problems.is_empty());
        left += temporary_files(Path::new(&crowd.place.url));
        if kills >= KILLS {
            break;
        }
    }
    let after = |what: &str| format!("{what}, four processes that are killed at least {KILLS} times");
    Ok(vec![
        (after("elements lost"), lost.to_string()),
        (after("arrays that cannot be read, or commands that fail when given again"), unreadable.to_string()),
        (after("temporary files left after the next writes"), left.to_string()),
    ])
}

fn summary(shown: &Shown) -> String {
    match shown.problems.as_slice() {
        [] => shown.lost.to_string(),
        [first, ..] if shown.lost == 0 => first.clone(),
        [_, ..] => format!("{} ({} errors)", shown.lost, shown.problems.len()),
    }
}
