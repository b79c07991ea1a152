//! The targets of all packages, and the files of modules.

use std::path::{Path, PathBuf};

use serde_json::Value;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use zarrox_runner::run::{Outcome, cargo};

/// The manifests of all packages: those outside the workspace have their own list of packages.
const MANIFESTS: [&str; 4] = [
    "Cargo.toml",
    "quality/fuzz/Cargo.toml",
    "quality/bench/zarrs/Cargo.toml",
    "quality/conformance/zarrs/Cargo.toml",
];

/// Returns the root files of all targets, relative to the repository.
pub(super) fn roots() -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for manifest in MANIFESTS {
        found.extend(roots_of(manifest)?);
    }
    Ok(found)
}

fn roots_of(manifest: &str) -> Outcome<Vec<PathBuf>> {
    let metadata = cargo(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
    let metadata = metadata.with([manifest]).printed()?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.filter_map(|package| package["targets"].as_array()).flatten();
    let paths = targets.filter_map(|target| target["src_path"].as_str());
    let relative = |path| Some(plain(Path::new(path)).strip_prefix(&here).ok()?.to_owned());
    Ok(paths.filter_map(relative).collect())
}

/// Returns the file of a module without a body: the file of its attribute `path`, or one of the two usual files in the folder of
/// its parent's modules.
pub(super) fn file_of(name: &str, attributes: &[Attribute], parent: &Path, folder: &Path) -> Option<PathBuf> {
    let named = attributes.iter().find_map(path_of).map(|path| beside(parent, &path));
    let usual = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    named.into_iter().chain(usual).find(|path| path.exists())
}

/// Returns a path relative to the folder of a file.
pub(super) fn beside(file: &Path, path: &str) -> PathBuf {
    plain(&file.parent().unwrap_or(Path::new("")).join(path))
}

/// Returns the path with `..` resolved, except those at the beginning.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path {
        if part != ".." {
            found.push(part);
        } else if !found.pop() {
            found.push("..");
        }
    }
    found
}

/// Returns the path in `#[path = "…"]`.
fn path_of(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) = &pair.value else { return None };
    pair.path.is_ident("path").then(|| path.value())
}
