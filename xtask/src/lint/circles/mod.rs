//! Cycles among the source files of a target or of the Python package, and among their folders: files in a cycle can only be
//! understood together.

mod graph;
mod known;
mod python;
mod rust;

use std::collections::BTreeSet;
use std::path::Path;

use super::targets;
use crate::run::Outcome;
use graph::Graph;
use python::Package;
use rust::Crate;

/// The Python package.
const PACKAGE: &str = "crates/zarrox-python/python/zarrox";

/// Fails with a cycle of each knot of files and of folders, and with known dependencies that do not close a cycle.
pub(crate) fn check() -> Outcome {
    println!("$ circles");
    let known = known::list()?;
    let mut files = Vec::new();
    for root in targets::roots()? {
        files.push(Crate::read(&root)?.graph());
    }
    files.push(Package::read(Path::new(PACKAGE))?.graph());
    let (of_folders, of_files): (Vec<_>, Vec<_>) = known.into_iter().partition(known::Known::is_of_folders);
    let mut gone = known::cut(&mut files, &of_files);
    let mut folders: Vec<Graph> = files.iter().map(Graph::folders).collect();
    gone.extend(known::cut(&mut folders, &of_folders));

    let circles = [cycles("files", &files), cycles("folders", &folders)].concat();
    let gone =
        gone.iter().map(|known| format!("closes no circle any more, remove it from known.txt: {known}"));
    let failures: BTreeSet<String> = circles.into_iter().chain(gone).collect();
    if failures.is_empty() {
        println!("{} needs are known to close circles", of_files.len() + of_folders.len());
        return Ok(());
    }
    Err(format!("circles:\n{}", failures.into_iter().collect::<Vec<_>>().join("\n")))
}

/// Returns a line for each knot.
fn cycles(what: &str, graphs: &[Graph]) -> Vec<String> {
    let knots = graphs.iter().flat_map(Graph::knots);
    knots.map(|knot| format!("{} {what} need one another: {}", knot.size, knot.circle.join(" -> "))).collect()
}
