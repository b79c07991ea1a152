//! Checks that every stored object belongs to a node.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use zarrox::stores::Prefix;
use zarrox::{Array, Node};

use crate::fault::{Fault, Faults};
use crate::place::Opened;

/// The names of metadata documents, in every format.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];

/// The prefix of the quarantine of repairs in a store with nothing beside it.
const QUARANTINE: &str = ".zarrox-quarantine/";

/// The reservations of rows by appends. The next append removes the reservations of a killed append, and some stores keep the
/// empty object.
const RESERVATIONS: &str = "/.zarrox-unfinished-appends.json";

/// Finds keys that are neither documents of nodes nor chunks inside their arrays' shapes.
pub(crate) fn check_keys(at: &Opened, faults: &mut Faults) {
    match (known_keys(at), stored_keys(at)) {
        (Ok(known), Ok(stored)) => {
            let unknown: Vec<&String> = stored.difference(&known).collect();
            if let Some(first) = unknown.first() {
                let message = format!("{} keys that belong to no node, the first '{first}'", unknown.len());
                faults.add(Fault::Left, message);
            }
        }
        (Err(error), _) | (_, Err(error)) => faults.add(Fault::Unreadable, error.to_string()),
    }
}

fn stored_keys(at: &Opened) -> zarrox::Result<BTreeSet<String>> {
    let mut keys = BTreeSet::new();
    let prefix = Prefix::root();
    at.store.list_prefix(&prefix, &mut |key, _| {
        // The quarantine of a repair is kept.
        if !key.as_str().starts_with(QUARANTINE) && !key.as_str().ends_with(RESERVATIONS) {
            keys.insert(key.as_str().to_owned());
        }
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}

/// Returns the keys that nodes can have.
fn known_keys(at: &Opened) -> zarrox::Result<BTreeSet<String>> {
    let mut known: BTreeSet<String> = DOCUMENTS.map(str::to_owned).into();
    at.root()?.visit(&mut |path, node| {
        known.extend(DOCUMENTS.map(|name| format!("{path}/{name}")));
        if let Ok(Node::Array(array)) = node {
            known.extend(chunk_keys(array)?);
        }
        Ok(())
    })?;
    Ok(known)
}

fn chunk_keys(array: &Array) -> zarrox::Result<Vec<String>> {
    let grid = array.grid_shape();
    let chunks = (0..grid.iter().product::<u64>()).map(|mut rest| {
        let mut chunk = vec![0; grid.len()];
        for dim in (0..grid.len()).rev() {
            chunk[dim] = rest % grid[dim];
            rest /= grid[dim];
        }
        array.raw().key(&chunk)
    });
    chunks.collect()
}

/// Finds files that writers leave in a directory or beside it: temporary files, nodes in quarantine, locks and journals.
pub(crate) fn check_files(directory: &Path, faults: &mut Faults) {
    let above = directory.parent().unwrap_or(directory);
    let name = directory.to_string_lossy();
    let is_near = |path: &String| path.starts_with(&*name);
    let left: Vec<String> = files(above).into_iter().filter(is_near).filter(|name| is_left(name)).collect();
    if let Some(first) = left.first() {
        faults.add(Fault::Left, format!("{} files of killed writers, the first '{first}'", left.len()));
    }
}

/// Returns the number of files with the names that implementations give to temporary files.
pub(crate) fn temporary_files(directory: &Path) -> usize {
    let is_temporary = |name: &String| {
        let name = name.rsplit('/').next().unwrap_or_default();
        is_left(name) || name.ends_with(".partial") || name.ends_with(".__lock") || name.contains(".tmp")
    };
    files(directory).iter().filter(|name| is_temporary(name)).count()
}

fn is_left(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_own = name.starts_with(".zarrox-") || name.contains(".zarrox-");
    is_own || name.contains(".replaced") || name.ends_with(".lock")
}

/// Returns all files and directories below a directory.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            found.push(path.to_string_lossy().into_owned());
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use zarrox::{DataType, OpenOptions};

    use super::*;
    use crate::place::{Kind, Site};

    #[test]
    fn leftovers_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let at = Site::new(directory.path(), "t").place(Kind::Directory, "a").unwrap().open().unwrap();
        let root = OpenOptions::new().create_group((at.store.clone(), "")).unwrap();
        let array =
            root.create_array("a").shape([4]).chunks([2]).data_type(DataType::UInt64).create().unwrap();
        array.write(.., 1_u64).unwrap();
        let faults = || {
            let mut faults = Faults::default();
            check_keys(&at, &mut faults);
            check_files(&directory.path().join("a.zarr"), &mut faults);
            faults.list().len()
        };
        assert_eq!(faults(), 0);
        let inside = directory.path().join("a.zarr/a/c");
        fs::copy(inside.join("0"), inside.join("2")).unwrap();
        assert_eq!(faults(), 1, "a chunk outside of the shape");
        fs::write(inside.join(".zarrox-1-2.tmp"), "").unwrap();
        assert_eq!(faults(), 2, "a temporary file");
        assert_eq!(temporary_files(directory.path()), 1);
    }
}
