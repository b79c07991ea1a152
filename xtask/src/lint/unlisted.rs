//! Files that no target compiles: a test in such a file never runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{ItemMod, LitStr, Macro};

use super::targets;
use zarrox_runner::run::{self, Outcome};

/// Reports every Rust file that no `mod` and no `include!` refers to.
pub(crate) fn check() -> Outcome {
    println!("$ unlisted");
    let mut listed = BTreeSet::new();
    for root in targets::roots()? {
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        list(&root, &folder, &mut listed)?;
    }
    let unlisted = run::files(&["rs"])?.into_iter().filter(|file| !listed.contains(file));
    let unlisted: Vec<String> = unlisted
        .map(|file| format!("{}: no `mod` refers to this file, so it is not compiled", file.display()))
        .collect();
    if unlisted.is_empty() { Ok(()) } else { Err(format!("unlisted:\n{}", unlisted.join("\n"))) }
}

/// Lists a file and all files that it refers to; the files of its modules are in a folder.
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

/// The files that a file refers to.
struct Links<'a> {
    file: &'a Path,
    /// The folder with the files of the visited module's children.
    folder: PathBuf,
    /// Paths of files. A file that is itself a module comes with the folder for its modules.
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
        let path = targets::file_of(&name, &module.attrs, self.file, &self.folder);
        self.found.extend(path.map(|path| (path, Some(below))));
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if call.path.is_ident("include")
            && let Ok(path) = call.parse_body::<LitStr>()
        {
            self.found.push((targets::beside(self.file, &path.value()), None));
        }
    }
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
