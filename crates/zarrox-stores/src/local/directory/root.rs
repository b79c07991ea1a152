//! The root of a directory store, and how the files below it are found, listed, moved and removed.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use crate::local::durable::create_directories;
use crate::local::fault::Fault;
use crate::local::files::{
    ATTEMPTS, Directory, DirectoryRef, Entry, Found, Identity, Kind, Listing, Target, Tree, facts, not_a_file,
};
use crate::temporary::is_temporary;
use crate::{DirListing, Key, Prefix, Stamp};

/// The root directory, with the rules that apply below it.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The absolute path without links.
    pub(super) path: PathBuf,
    pub(super) follow_links: bool,
    pub(super) sync: bool,
    /// True if files are locked against other writers.
    pub(super) locks: bool,
    /// The timeout of a lock that another process holds.
    pub(super) lock_timeout: Duration,
    /// True on file systems that report a failed write only when the file is closed. It is determined on the first write.
    late: OnceLock<bool>,
}

/// The result of looking up a key.
pub(super) enum Lookup {
    Missing,
    /// An open file, and its length.
    File(File, u64),
    Directory,
}

impl Root {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            follow_links: false,
            sync: false,
            locks: true,
            lock_timeout: crate::local::held::LOCK_TIMEOUT,
            late: OnceLock::new(),
        }
    }

    /// Returns the files below the root.
    pub(super) fn tree(&self) -> Tree<'_> {
        Tree { path: &self.path, follow_links: self.follow_links }
    }

    /// Opens the file of a value, and returns it with its length.
    pub(super) fn open_value(&self, key: &str) -> Result<Lookup, Fault> {
        let file = match self.tree().open_file(key) {
            Err(fault) if fault.is_missing() => return Ok(Lookup::Missing),
            opened => opened?,
        };
        let facts = facts(&file)?;
        match facts.kind {
            Kind::Directory => Ok(Lookup::Directory),
            Kind::Odd(what) => Err(not_a_file(what)),
            Kind::File | Kind::Other => Ok(Lookup::File(file, facts.size)),
        }
    }

    pub(super) fn size(&self, key: &str) -> Result<Option<u64>, Fault> {
        let facts = match self.tree().examine(key) {
            Err(fault) if fault.is_missing() => return Ok(None),
            examined => examined?,
        };
        match facts.kind {
            Kind::Directory => Ok(None),
            Kind::Odd(what) => Err(not_a_file(what)),
            Kind::File | Kind::Other => Ok(Some(facts.size)),
        }
    }

    /// Returns the stamp of a value.
    pub(super) fn stamp(&self, key: &str) -> Result<Stamp, Fault> {
        self.tree().stamp(key)
    }

    /// Removes everything in a directory, and the directory itself unless it is the root.
    pub(super) fn erase_tree(&self, path: &str) -> Result<(), Fault> {
        if path.is_empty() {
            return self.erase_everything();
        }
        let (parent, name) = split(path);
        let directory = match self.tree().open_directory(parent) {
            Err(fault) if fault.is_missing() => return Ok(()),
            other => other?,
        };
        let directory = directory.get();
        match directory.entry(name)? {
            Entry::Directory => directory.remove_tree(name)?,
            Entry::Link if leads_to_directory(directory, name) => directory.unlink_directory(name)?,
            _ => return Ok(()),
        }
        self.flush(directory)?;
        self.prune(parent);
        Ok(())
    }

    fn erase_everything(&self) -> Result<(), Fault> {
        let Some(listing) = self.open_listing("")? else { return Ok(()) };
        let directory = listing.directory()?;
        // Repeated until nothing is left, since a listing may miss entries while others are being removed.
        for _ in 0..ATTEMPTS {
            if !directory.remove_content()? {
                break;
            }
        }
        self.flush(directory)
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), Fault> {
        let (from_parent, from_name) = split(from);
        let (to_parent, to_name) = split(to);
        self.tree().check(to)?;
        let source = self.tree().open_directory(from_parent)?;
        match source.get().entry(from_name)? {
            Entry::Directory => {}
            // A link may have a different target after it is moved.
            Entry::Link => return Err(Fault::OtherDevice),
            _ => return Err(io::Error::from(io::ErrorKind::NotFound).into()),
        }
        let renamed = again_when_missing(|| {
            let (target, _) = self.make_directory(to_parent)?;
            source.get().rename_directory(from_name, target.get(), to_name)?;
            self.flush(target.get())
        });
        if let Err(fault) = renamed {
            self.prune(to_parent);
            return Err(fault);
        }
        self.flush(source.get())?;
        self.prune(from_parent);
        Ok(())
    }

    /// Lists the entries of a directory.
    pub(super) fn list(&self, prefix: &Prefix) -> Result<DirListing, Fault> {
        let mut listing = DirListing::default();
        let Some(mut entries) = self.open_listing(prefix.segments())? else { return Ok(listing) };
        while let Some(found) = entries.next() {
            let found = found?;
            let Some(name) = key_name(&found) else { continue };
            match found.kind() {
                Kind::File => listing.keys.extend(prefix.key(name)),
                Kind::Directory => listing.prefixes.extend(prefix.child(name)),
                Kind::Other | Kind::Odd(_) => match entries.directory()?.target(name)? {
                    Target::File(_) => listing.keys.extend(prefix.key(name)),
                    Target::Directory => listing.prefixes.extend(prefix.child(name)),
                    Target::Gone => {}
                },
            }
        }
        Ok(listing)
    }

    /// Visits every file below a directory.
    pub(super) fn walk(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let Some(listing) = self.open_listing(prefix.segments())? else { return Ok(()) };
        Walk { root: self, above: Vec::new(), visit }.directory(listing, prefix).map(drop)
    }

    fn open_listing(&self, path: &str) -> Result<Option<Listing>, Fault> {
        match self.tree().open_listing(path) {
            Err(fault) if fault.is_missing() => Ok(None),
            other => other.map(Some),
        }
    }

    /// Opens a directory below the root, creating it and its parents if they are missing. Also returns whether the directory was
    /// created.
    pub(super) fn make_directory(&self, path: &str) -> Result<(Directory, bool), Fault> {
        match self.tree().open_directory(path) {
            Err(fault) if fault.is_not_found() => {}
            Err(fault) if fault.is_missing() => return Err(self.value_above(path).unwrap_or(fault)),
            other => return Ok((other?, false)),
        }
        if path.is_empty() {
            create_directories(&self.path, self.sync)?;
            return Ok((self.tree().open_directory(path)?, false));
        }
        let (parent, name) = split(path);
        let (directory, _) = self.make_directory(parent)?;
        let made = directory.get().make(name)?;
        if made {
            self.flush(directory.get())?;
        }
        Ok((self.tree().open_directory(path)?, made))
    }

    /// Returns the failure that names the part of the path at which a value is in place of a directory.
    fn value_above(&self, path: &str) -> Option<Fault> {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let value = ends.map(|end| &path[..end]).find(|parent| self.path.join(parent).is_file())?;
        Some(Fault::Obstructed(format!("'{value}' is a file, where a directory is needed,")))
    }

    /// Removes a directory and the directories above it, up to the root, as long as they are empty.
    pub(super) fn prune(&self, path: &str) {
        let mut path = path;
        while !path.is_empty() {
            let (parent, name) = split(path);
            let Ok(directory) = self.tree().open_directory(parent) else { return };
            // The reason why a directory stays does not matter: it may contain a new value, or be a mount point, or permissions
            // may be missing.
            if directory.get().remove_empty(name).is_err() {
                return;
            }
            path = parent;
        }
    }

    /// Returns true if a failed write is only reported when the file is closed or flushed, as on network file systems.
    pub(super) fn tells_errors_late(&self, directory: DirectoryRef<'_>) -> bool {
        *self.late.get_or_init(|| directory.is_served())
    }
}

/// A recursive walk over all files below a directory.
struct Walk<'a> {
    root: &'a Root,
    /// The directories that are being visited. Following a link to one of them would cause an infinite loop.
    above: Vec<Identity>,
    visit: &'a mut dyn FnMut(Key, u64) -> ControlFlow<()>,
}

impl Walk<'_> {
    fn directory(&mut self, mut listing: Listing, prefix: &Prefix) -> Result<ControlFlow<()>, Fault> {
        let at = |fault| Fault::At(prefix.as_str().to_owned(), Box::new(fault));
        let identity = listing.directory().map_err(at)?.identity().map_err(|error| at(error.into()))?;
        if self.above.contains(&identity) {
            return Ok(ControlFlow::Continue(()));
        }
        self.above.push(identity);
        while let Some(found) = listing.next() {
            let found = found.map_err(|error| at(error.into()))?;
            let Some(name) = key_name(&found) else { continue };
            let parent = listing.directory().map_err(at)?;
            if self.entry(parent, found.kind(), prefix, name)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.above.pop();
        Ok(ControlFlow::Continue(()))
    }

    fn entry(
        &mut self,
        parent: DirectoryRef<'_>,
        kind: Kind,
        prefix: &Prefix,
        name: &str,
    ) -> Result<ControlFlow<()>, Fault> {
        let goes_on = Ok(ControlFlow::Continue(()));
        let at = |fault| Fault::At(format!("{prefix}{name}"), Box::new(fault));
        if kind == Kind::Directory {
            return self.child(parent, prefix, name).unwrap_or(goes_on);
        }
        match parent.target(name).map_err(at)? {
            Target::Directory => self.child(parent, prefix, name).unwrap_or(goes_on),
            Target::File(size) => match prefix.key(name) {
                Ok(key) => Ok((self.visit)(key, size)),
                Err(_) => goes_on,
            },
            Target::Gone => goes_on,
        }
    }

    /// Opens a subdirectory. Returns `None` if it was removed, or if its name is not valid in a key.
    fn child(
        &mut self,
        parent: DirectoryRef<'_>,
        prefix: &Prefix,
        name: &str,
    ) -> Option<Result<ControlFlow<()>, Fault>> {
        let child = prefix.child(name).ok()?;
        let opened = match parent.child(name) {
            // The name is a link, so the rules for links apply.
            Ok(None) => self.root.tree().open_listing(child.segments()),
            Ok(Some(listing)) => Ok(listing),
            Err(fault) => Err(fault),
        };
        match opened {
            Ok(listing) => Some(self.directory(listing, &child)),
            Err(fault) if fault.is_missing() => None,
            Err(fault) => Some(Err(Fault::At(child.as_str().to_owned(), Box::new(fault)))),
        }
    }
}

pub(super) fn leads_to_directory(directory: DirectoryRef<'_>, name: &str) -> bool {
    matches!(directory.target(name), Ok(Target::Directory))
}

/// Retries an operation if a directory that it needs is removed concurrently.
pub(super) fn again_when_missing(mut operation: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
    for _ in 0..ATTEMPTS {
        match operation() {
            Err(fault) if fault.is_not_found() => {}
            done => return done,
        }
    }
    Err(Fault::Obstructed(
        "a directory of the path is removed again and again, or is a dangling link,".into(),
    ))
}

/// Returns the name of a directory entry if it is valid in a key.
fn key_name(found: &Found) -> Option<&str> {
    found.name().filter(|name| !is_temporary(name))
}

/// Splits a path into its directory and its file name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
