//! Files that no target compiles: a test in such a file never runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, ItemMod, Lit, LitStr, Macro, Meta};

use crate::run::{self, Outcome, cargo};

/// The manifests of all packages: those that are apart from the workspace have a list of packages of their own.
const MANIFESTS: [&str; 4] = [
    "Cargo.toml",
    "quality/fuzz/Cargo.toml",
    "quality/bench/zarrs/Cargo.toml",
    "quality/conformance/zarrs/Cargo.toml",
];

/// Names every Rust file that no `mod` and no `include!` leads to.
pub(crate) fn check() -> Outcome {
    println!("$ unlisted");
    let mut listed = BTreeSet::new();
    for manifest in MANIFESTS {
        for root in roots(manifest)? {
            let folder = root.parent().unwrap_or(Path::new("")).to_owned();
            list(&root, &folder, &mut listed)?;
        }
    }
    let unlisted = run::files(&["rs"])?.into_iter().filter(|file| !listed.contains(file));
    let unlisted: Vec<String> = unlisted
        .map(|file| format!("{}: no `mod` leads here, so that nothing compiles it", file.display()))
        .collect();
    if unlisted.is_empty() { Ok(()) } else { Err(format!("unlisted:\n{}", unlisted.join("\n"))) }
}

/// The root files of all targets, relative to the repository.
fn roots(manifest: &str) -> Outcome<Vec<PathBuf>> {
    let metadata = cargo(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
    let metadata = metadata.with([manifest]).printed()?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.filter_map(|package| package["targets"].as_array()).flatten();
    let paths = targets.filter_map(|target| target["src_path"].as_str());
    Ok(paths.filter_map(|path| Some(Path::new(path).strip_prefix(&here).ok()?.to_owned())).collect())
}

/// Lists a file and all that it leads to; the files of its modules are in a folder.
fn list(file: &Path, folder: &Path, listed: &mut BTreeSet<PathBuf>) -> Outcome {
    let parsed =
        syn::parse_file(&run::read(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
    listed.insert(file.to_owned());
    let mut links = Links { file, folder: folder.to_owned(), found: Vec::new() };
    links.visit_file(&parsed);
    for (path, below) in links.found {
        match below {
            Some(below) => list(&path, &below, listed)?,
            None => drop(listed.insert(path)),
        }
    }
    Ok(())
}

/// The files that a file leads to.
struct Links<'a> {
    file: &'a Path,
    /// The folder with the files of the modules of the module that is visited.
    folder: PathBuf,
    /// Paths of files, with the folder for the modules of those that are modules themselves.
    found: Vec<(PathBuf, Option<PathBuf>)>,
}

impl<'ast> Visit<'ast> for Links<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let name = module.ident.to_string();
        let below = self.folder.join(&name);
        if module.content.is_some() {
            let above = std::mem::replace(&mut self.folder, below);
            visit::visit_item_mod(self, module);
            self.folder = above;
            return;
        }
        let named = module.attrs.iter().find_map(path_of).map(|path| self.beside(&path));
        let usual = [self.folder.join(format!("{name}.rs")), below.join("mod.rs")];
        let path = named.into_iter().chain(usual).find(|path| path.exists());
        self.found.extend(path.map(|path| (path, Some(below))));
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if call.path.is_ident("include")
            && let Ok(path) = call.parse_body::<LitStr>()
        {
            self.found.push((self.beside(&path.value()), None));
        }
    }
}

impl Links<'_> {
    /// A path that is given from the folder of the file.
    fn beside(&self, path: &str) -> PathBuf {
        let mut found = self.file.parent().unwrap_or(Path::new("")).to_owned();
        for part in Path::new(path) {
            if part != ".." {
                found.push(part);
            } else if !found.pop() {
                found.push("..");
            }
        }
        found
    }
}

/// The path in `#[path = "…"]`.
fn path_of(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) = &pair.value else { return None };
    pair.path.is_ident("path").then(|| path.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_lead_to_their_files() {
        let folder = run::empty_directory(std::env::temp_dir().join("zarrox-unlisted")).unwrap();
        let files = [
            ("lib.rs", "mod a; mod inner { mod c; } #[cfg(test)] #[path = \"else.rs\"] mod d;"),
            ("a/list.rs", ""),
            ("a/mod.rs", "mod b;"),
            ("a/b.rs", "const LIST: [u8; 1] = include!(\"../a/list.rs\");"),
            ("inner/c.rs", ""),
            ("else.rs", ""),
            ("forgotten.rs", ""),
        ];
        files.iter().for_each(|(path, text)| run::write(folder.join(path), text).unwrap());
        let mut listed = BTreeSet::new();
        list(&folder.join("lib.rs"), &folder, &mut listed).unwrap();
        let expected: BTreeSet<PathBuf> = files[..6].iter().map(|(path, _)| folder.join(path)).collect();
        assert_eq!(listed, expected);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
