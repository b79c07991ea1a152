//! Circles among the source files of a crate or of the Python package: files that need one another can only be understood together.

mod graph;
mod python;
mod rust;

use std::path::{Path, PathBuf};

use crate::run::Outcome;
use python::Package;
use rust::Crate;

/// The Python package.
const PACKAGE: &str = "crates/zarrox-python/python/zarrox";

/// Fails with a circle of each knot of files of a crate, and of the Python package.
pub(crate) fn check() -> Outcome {
    println!("$ circles");
    let mut knots = Vec::new();
    for root in roots()? {
        let read = Crate::read(&root)?;
        knots.extend(graph::knots(&read.files, &read.needs()));
    }
    let package = Package::read(Path::new(PACKAGE))?;
    knots.extend(graph::knots(&package.files, &package.needs()));
    let mut told: Vec<String> = knots
        .iter()
        .map(|knot| format!("{} files need one another: {}", knot.files, knot.circle.join(" -> ")))
        .collect();
    told.extend(package.hidden());
    if told.is_empty() { Ok(()) } else { Err(format!("circles:\n{}", told.join("\n"))) }
}

/// The files that crates begin with.
fn roots() -> Outcome<Vec<PathBuf>> {
    let mut crates = vec![PathBuf::from("xtask")];
    for directory in ["crates", "examples"] {
        let entries = std::fs::read_dir(directory).map_err(|error| format!("{directory}: {error}"))?;
        for entry in entries {
            crates.push(entry.map_err(|error| error.to_string())?.path());
        }
    }
    crates.sort();
    let roots = crates.iter().flat_map(|path| ["src/lib.rs", "src/main.rs"].map(|root| path.join(root)));
    Ok(roots.filter(|root| root.exists()).collect())
}
