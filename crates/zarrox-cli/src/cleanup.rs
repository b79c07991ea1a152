//! Removal of the database files and directories that a failed command created.

use std::fs;
use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use zarrox::{Node, Result};

use crate::args::Global;
use crate::exit::note;
use crate::opening::local;

/// The suffixes of auxiliary files of open databases.
const AUXILIARY: [&str; 4] = ["-lock", "-journal", "-wal", "-shm"];

/// A growth of up to this many bytes is not reported.
const LITTLE: u64 = 1 << 20;

/// The file of a store, and its state before the command.
#[derive(Debug)]
pub(crate) struct StoreFile {
    file: PathBuf,
    /// The size in bytes; `None` if the file did not exist.
    before: Option<u64>,
    /// The missing parent directories, from the innermost outwards.
    missing: Vec<PathBuf>,
}

impl StoreFile {
    /// Runs `work`. After a failure, a new file and new empty directories are removed. If an existing file grew, a note says how
    /// to shrink it.
    pub(crate) fn or_removed<T>(global: &Global, path: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let file = zarrox::internals::store_file(path).map(Self::new);
        let new_directory = local(path).filter(|directory| !directory.exists());
        work().inspect_err(|_| {
            if let Some(directory) = new_directory {
                let _ = fs::remove_dir(directory);
            }
            if let Some(file) = file {
                file.clean_up(global, path);
            }
        })
    }

    fn new(file: PathBuf) -> Self {
        let above =
            file.ancestors().skip(1).take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        Self { before: size(&file), missing: above.map(Path::to_owned).collect(), file }
    }

    fn clean_up(&self, global: &Global, path: &str) {
        match (self.before, size(&self.file)) {
            (None, Some(_)) if !self.holds_arrays(global, path) => self.remove(),
            (Some(before), Some(after)) if after > before + LITTLE => self.note_growth(path, before, after),
            _ => {}
        }
    }

    /// Returns true if the file contains nodes, or cannot be read.
    fn holds_arrays(&self, global: &Global, path: &str) -> bool {
        let root = match path.split_once("://") {
            Some((scheme, _)) if scheme != "file" => format!("{scheme}://{}", self.file.display()),
            _ => self.file.display().to_string(),
        };
        match global.read(&root) {
            Ok(Node::Array(_)) => true,
            Ok(Node::Group(group)) => {
                let mut found = false;
                let visited = group.visit(&mut |_, node| {
                    found |= !matches!(node, Ok(Node::Group(_)));
                    Ok(())
                });
                found || visited.is_err()
            }
            Err(error) => error.kind() != zarrox::ErrorKind::NotFound,
        }
    }

    /// Removes the file and its auxiliary files. Failures are ignored, since the command's own error is more important.
    fn remove(&self) {
        if self.file.is_dir() {
            let inside = ["data.mdb", "lock.mdb"].map(|name| self.file.join(name));
            let _ = inside.map(fs::remove_file);
            let _ = fs::remove_dir(&self.file);
        } else {
            let _ = fs::remove_file(&self.file);
            let name = self.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let _ = AUXILIARY.map(|end| fs::remove_file(self.file.with_file_name(format!("{name}{end}"))));
        }
        // Only empty directories are removed.
        let _ = self.missing.iter().try_for_each(fs::remove_dir);
    }

    fn note_growth(&self, path: &str, before: u64, after: u64) {
        let file = self.file.display();
        let way = match path.split_once("://") {
            Some(("sqlite", _)) => format!("; `sqlite3 '{file}' VACUUM` frees it"),
            Some(("lmdb", _)) => format!("; `mdb_copy -c '{file}'` creates a smaller copy"),
            Some(("gdbm", _)) => format!("; `gdbmtool '{file}' reorganize` frees it"),
            _ => String::new(),
        };
        note(&format!(
            "'{file}' stays {} larger than before; later writes use that space{way}",
            HumanBytes(after - before)
        ));
    }
}

/// Returns the size of a database, which may be a file or an LMDB directory.
fn size(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.is_file() {
        return Some(metadata.len());
    }
    fs::metadata(path.join("data.mdb")).map(|metadata| metadata.len()).ok()
}
