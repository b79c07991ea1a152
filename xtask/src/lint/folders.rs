//! The size of folders: a reader should see at one glance what a folder of code holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::run::{self, Outcome};

/// The largest number of files and folders that a folder of code may hold.
const LARGEST: usize = 25;

/// Folders whose files are generated, one for each entry of a list.
const GENERATED: [&str; 1] = ["quality/fuzz/fuzz_targets"];

/// Names every folder of Rust or Python files that holds too much.
pub(crate) fn check() -> Outcome {
    println!("$ folders");
    let large = large(&run::files(&["rs", "py"])?);
    if large.is_empty() { Ok(()) } else { Err(format!("folders:\n{}", large.join("\n"))) }
}

fn large(files: &[PathBuf]) -> Vec<String> {
    let mut folders = BTreeMap::<&Path, BTreeSet<&Path>>::new();
    for file in files {
        let mut entry = file.as_path();
        while let Some(folder) = entry.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            folders.entry(folder).or_default().insert(entry);
            entry = folder;
        }
    }
    let is_large = |folder: &Path, entries: &BTreeSet<&Path>| {
        entries.len() > LARGEST && !GENERATED.iter().any(|generated| folder == Path::new(generated))
    };
    let large = folders.into_iter().filter(|(folder, entries)| is_large(folder, entries));
    large
        .map(|(folder, entries)| {
            format!("{}: {} entries are more than {LARGEST}: divide it", folder.display(), entries.len())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_too_much_are_named() {
        let files = |folder: &str, count| -> Vec<PathBuf> {
            (0..count).map(|number| PathBuf::from(format!("{folder}/{number}.rs"))).collect()
        };
        assert_eq!(large(&files("a", LARGEST)), [""; 0]);
        assert_eq!(large(&files(GENERATED[0], LARGEST + 1)), [""; 0]);
        let within = [files("a", LARGEST), files("a/b", 1)].concat();
        assert_eq!(large(&within), ["a: 26 entries are more than 25: divide it"]);
    }
}
