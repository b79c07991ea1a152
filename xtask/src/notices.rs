//! The licences of the libraries that a program links: their texts must be shipped with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use zarrox_runner::run::{Outcome, cargo};

/// The beginnings of the names of files with licences.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The libraries in C are in folders of their crates.
const DEPTH: usize = 2;

/// Returns the names of all libraries that a package of the workspace links for a target, and the texts of their licences.
pub(crate) fn text(package: &str, target: &str) -> Outcome<String> {
    let metadata = cargo(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let metadata = metadata.output().ok_or("`cargo metadata` failed")?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let linked = linked(&metadata, package)?;
    let all = members(&metadata["packages"]);
    let mut libraries: Vec<&Value> =
        all.filter(|library| linked.contains(id(library)) && !library["source"].is_null()).collect();
    libraries.sort_by_key(|library| title(library));
    let mut page = "The licences of the libraries that Zarrox links.\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in libraries {
        let title = title(library);
        // Writing to memory does not fail.
        let _ = writeln!(page, "{title}: {}", library["license"].as_str().unwrap_or("see below"));
        let root = Path::new(library["manifest_path"].as_str().unwrap_or_default()).parent();
        let found = root.map(|root| licences(root, DEPTH)).unwrap_or_default();
        found.into_iter().for_each(|text| texts.entry(text).or_default().push(title.clone()));
    }
    for (text, mut titles) in texts {
        titles.dedup();
        let _ = write!(page, "\n{}\n{}\n\n{text}\n", "-".repeat(80), titles.join(", "));
    }
    Ok(page)
}

/// Returns the packages that a package links, with all features of the workspace. Macros are not linked.
fn linked<'m>(metadata: &'m Value, package: &str) -> Outcome<BTreeSet<&'m str>> {
    let is_macro =
        |package: &&Value| members(&package["targets"]).any(|target| target["kind"][0] == "proc-macro");
    let macros: BTreeSet<&str> = members(&metadata["packages"]).filter(is_macro).map(id).collect();
    let root =
        members(&metadata["packages"]).find(|found| found["name"] == package && found["source"].is_null());
    let nodes: BTreeMap<&str, &Value> =
        members(&metadata["resolve"]["nodes"]).map(|node| (id(node), node)).collect();
    let mut open = vec![id(root.ok_or_else(|| format!("no package {package}"))?)];
    let mut linked = BTreeSet::new();
    while let Some(next) = open.pop() {
        if macros.contains(next) || !linked.insert(next) {
            continue;
        }
        let dependencies = nodes.get(next).into_iter().flat_map(|node| members(&node["deps"]));
        let normal = dependencies
            .filter(|dependency| members(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()));
        open.extend(normal.filter_map(|dependency| dependency["pkg"].as_str()));
    }
    Ok(linked)
}

/// Returns the texts of the licences in a directory, and in its subdirectories down to a depth.
fn licences(directory: &Path, depth: usize) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if path.is_dir() {
            if depth > 0 {
                texts.extend(licences(&path, depth - 1));
            }
        } else if NAMES.iter().any(|begin| name.starts_with(begin)) && !name.ends_with(".RS") {
            texts.extend(std::fs::read_to_string(path).ok().map(|text| text.trim().replace('\r', "")));
        }
    }
    texts
}

fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap_or_default()
}

fn title(library: &Value) -> String {
    let text = |member: &str| library[member].as_str().unwrap_or_default();
    format!("{} {}", text("name"), text("version"))
}
