//! Writing and erasing values. Files are replaced under locks.
//!
//! # The protocol
//!
//! A name refers to a file or to none. It can only change in three ways:
//!
//! - from none to a file, by a rename without replacement, which fails if a file was created in the meantime;
//! - from one file to another, by a rename;
//! - from a file to none, by an unlink.
//!
//! A writer that replaces or unlinks a file holds the file's lock, and has checked under the lock that the name still refers to
//! the file. So while a process holds the lock of a file to which the name refers, no other process replaces or unlinks the file,
//! and a value that is read under the lock can be changed and written back. Once the name no longer refers to the file, its lock
//! protects nothing: the holder starts again with the file to which the name refers now.
//!
//! Files are written under a temporary name ([`TemporaryFile`]) before they get their final name, and are locked from the
//! beginning. So when a guard replaces a file, it holds the lock of the new file without a gap.

use std::fs::{File, Permissions};
use std::io::Write;
use std::sync::Arc;

use super::root::{Root, again_when_missing, leads_to_directory, split};
use super::temporary_file::TemporaryFile;
use crate::PartSource;
use crate::fork::delay_fork;
use crate::local::fault::Fault;
use crate::local::files::{DirectoryRef, Entry, Identity, Kind, Lockable, Opening, facts, not_a_file};
use crate::local::held::{Attempt, Claim, HeldLock};
use crate::sync::{Mutex, MutexGuard, unpoisoned};

/// The condition under which the file of a value is replaced or removed.
#[derive(Clone, Copy)]
pub(super) enum Rule<'g> {
    Always,
    /// The file must not exist.
    Absent,
    /// The file must be the one that a guard has locked.
    Locked(&'g FileGuard),
}

impl Rule<'_> {
    /// Returns the permissions of the file that a guard has locked.
    fn permissions(self) -> Option<Permissions> {
        match self {
            Rule::Locked(guard) => guard.permissions(),
            Rule::Always | Rule::Absent => None,
        }
    }
}

/// The file that was locked by the holder of a key's lock.
#[derive(Debug)]
pub(super) struct FileGuard(Mutex<Guarded>);

/// An open file, and its size.
type Opened = (Arc<File>, u64);

#[derive(Debug)]
enum Guarded {
    /// No file existed.
    Missing,
    /// The lock and the permissions of the file.
    File(HeldLock, Permissions),
    /// The store is exclusive, or this process may not read the file and therefore cannot lock it.
    Unlocked,
}

impl FileGuard {
    fn new(guarded: Guarded) -> Self {
        Self(Mutex::new(guarded))
    }

    fn get(&self) -> MutexGuard<'_, Guarded> {
        unpoisoned(&self.0)
    }

    /// Returns the permissions of the locked file.
    fn permissions(&self) -> Option<Permissions> {
        match &*self.get() {
            Guarded::File(_, permissions) => Some(permissions.clone()),
            Guarded::Missing | Guarded::Unlocked => None,
        }
    }
}

/// The file to which a name refers.
enum Old {
    Missing,
    File {
        file: File,
        identity: Identity,
        permissions: Option<Permissions>,
    },
    /// A file that was not opened, or a link.
    Closed(Option<Permissions>),
    Directory,
    DirectoryLink,
}

impl Old {
    /// Returns the permissions of the file; `None` for a link.
    fn permissions(&self) -> Option<&Permissions> {
        match self {
            Self::File { permissions, .. } | Self::Closed(permissions) => permissions.as_ref(),
            Self::Missing | Self::Directory | Self::DirectoryLink => None,
        }
    }
}

/// The name of a value in an open directory.
struct Slot<'a> {
    root: &'a Root,
    directory: DirectoryRef<'a>,
    key: &'a str,
    name: &'a str,
}

impl Root {
    pub(super) fn write(&self, key: &str, parts: &PartSource<'_>, rule: Rule<'_>) -> Result<(), Fault> {
        let (parent, name) = split(key);
        self.tree().check(key)?;
        again_when_missing(|| {
            let (directory, made) = self.make_directory(parent)?;
            let directory = directory.get();
            self.sweep(parent, directory, made);
            self.flush_way(parent, directory)?;
            Slot { root: self, directory, key, name }.replace(parts, rule)
        })
    }

    pub(super) fn erase(&self, key: &str, rule: Rule<'_>) -> Result<bool, Fault> {
        let (parent, name) = split(key);
        let checked = self.tree().check(key);
        let directory = match checked.and_then(|()| self.tree().open_directory(parent)) {
            Err(fault) if fault.is_missing() => return Ok(false),
            other => other?,
        };
        let directory = directory.get();
        self.sweep(parent, directory, false);
        let erased = Slot { root: self, directory, key, name }.erase(rule)?;
        if erased {
            self.flush(directory)?;
            self.prune(parent);
        }
        Ok(erased)
    }

    /// Locks the file of a value, if it exists. Also returns the file and its size, which do not change while the lock is held.
    pub(super) fn lock(&self, key: &str) -> Result<(FileGuard, Option<Opened>), Fault> {
        let without_file = |guarded| Ok((FileGuard::new(guarded), None));
        if !self.locks {
            return without_file(Guarded::Unlocked);
        }
        loop {
            let file = match self.tree().open_file(key) {
                Ok(file) => file,
                Err(fault) if fault.is_missing() => return without_file(Guarded::Missing),
                // A file that cannot be read cannot be merged either, but it can be replaced.
                Err(_) => return without_file(Guarded::Unlocked),
            };
            let facts = facts(&file)?;
            if facts.kind != Kind::File {
                return without_file(Guarded::Unlocked);
            }
            let (lockable, file) = self.tree().lockable(key, file, facts.identity);
            let lock = self.wait(key, &lockable, (facts.identity, Claim::Merge))?;
            // The rules for links were checked when the file was opened. Now it is enough that the path still leads to the same
            // file.
            if self.tree().identity(key)? == Some(facts.identity) {
                let guard = FileGuard::new(Guarded::File(lock, facts.permissions));
                return Ok((guard, file.map(|file| (file, facts.size))));
            }
        }
    }

    /// Waits for the lock of a file.
    fn wait(&self, key: &str, file: &Lockable, claim: (Identity, Claim)) -> Result<HeldLock, Fault> {
        let say = || {
            tracing::info!("'{key}' in {} is locked by another process; waiting for it", self.path.display());
        };
        match HeldLock::wait(file, claim, self.lock_timeout, say)? {
            Attempt::Locked(lock) => Ok(lock),
            Attempt::Taken => Err(Fault::Taken(self.lock_timeout)),
            Attempt::Unsupported(error) => Err(Fault::NoLocks(error)),
        }
    }
}

impl Slot<'_> {
    fn replace(&self, parts: &PartSource<'_>, rule: Rule<'_>) -> Result<(), Fault> {
        let old = match (rule, rule.permissions()) {
            (Rule::Always, _) => self.old()?,
            // The file that has the name is compared with the locked file later.
            (Rule::Locked(_), Some(permissions)) => Old::Closed(Some(permissions)),
            // These rules need no lock.
            (Rule::Absent | Rule::Locked(_), _) => self.old_unopened()?,
        };
        match (&old, rule) {
            (Old::Directory, _) => {
                return Err(Fault::directory());
            }
            (Old::File { .. } | Old::Closed(_) | Old::DirectoryLink, Rule::Absent) => {
                return Err(Fault::Exists);
            }
            _ => {}
        }
        // A forked process would hold the lock of the new file until it ends.
        let _delay = delay_fork();
        let mut temporary = TemporaryFile::create(self.directory, old.permissions())?;
        parts(&mut |part| (&*temporary.file).write_all(part))?;
        if self.root.sync || self.root.tells_errors_late(self.directory) {
            temporary.file.sync_all()?;
        }
        match rule {
            Rule::Absent => temporary.publish(self.name)?,
            Rule::Always => self.exchange(&mut temporary, old)?,
            Rule::Locked(guard) => self.exchange_locked(temporary, &mut guard.get())?,
        }
        self.root.flush(self.directory)
    }

    /// Renames the new file to the value, replacing an existing file.
    fn exchange(&self, temporary: &mut TemporaryFile<'_>, mut old: Old) -> Result<(), Fault> {
        if !self.root.locks {
            return temporary.replace(self.name);
        }
        loop {
            match old {
                Old::Missing => match temporary.publish(self.name) {
                    Err(Fault::Exists) => {}
                    done => return done,
                },
                Old::File { file, identity, .. } => {
                    let lock = self.lock(file, identity)?;
                    if self.leads_to(identity)? {
                        let done = temporary.replace(self.name);
                        drop(lock);
                        return done;
                    }
                }
                Old::Closed(_) | Old::Directory | Old::DirectoryLink => return temporary.replace(self.name),
            }
            old = self.old()?;
        }
    }

    /// Renames the new file to the value, if the name still refers to the file that the guard has locked. The guard then locks
    /// the new file.
    fn exchange_locked(&self, mut temporary: TemporaryFile<'_>, guarded: &mut Guarded) -> Result<(), Fault> {
        if matches!(guarded, Guarded::Unlocked) {
            return temporary.replace(self.name);
        }
        let (new, permissions) = temporary.lock()?;
        match guarded {
            Guarded::File(lock, _) if self.leads_to(lock.identity())? => temporary.replace(self.name)?,
            Guarded::File(..) => return Err(Fault::Changed),
            Guarded::Missing | Guarded::Unlocked => {
                temporary.publish(self.name).map_err(Fault::or_changed)?;
            }
        }
        *guarded = Guarded::File(new, permissions);
        Ok(())
    }

    fn erase(&self, rule: Rule<'_>) -> Result<bool, Fault> {
        match rule {
            Rule::Always | Rule::Absent => self.erase_any(),
            Rule::Locked(guard) => self.erase_locked(&mut guard.get()),
        }
    }

    fn erase_any(&self) -> Result<bool, Fault> {
        loop {
            match self.old()? {
                Old::Missing | Old::Directory | Old::DirectoryLink => return Ok(false),
                Old::Closed(_) => return self.unlink(),
                Old::File { .. } if !self.root.locks => return self.unlink(),
                Old::File { file, identity, .. } => {
                    let lock = self.lock(file, identity)?;
                    if self.leads_to(identity)? {
                        let erased = self.unlink();
                        drop(lock);
                        return erased;
                    }
                }
            }
        }
    }

    fn erase_locked(&self, guarded: &mut Guarded) -> Result<bool, Fault> {
        match guarded {
            Guarded::Unlocked => self.erase_any(),
            Guarded::Missing => match self.old()? {
                Old::Missing | Old::Directory | Old::DirectoryLink => Ok(false),
                Old::File { .. } | Old::Closed(_) => Err(Fault::Changed),
            },
            Guarded::File(lock, _) if self.leads_to(lock.identity())? => {
                let erased = self.unlink()?;
                *guarded = Guarded::Missing;
                Ok(erased)
            }
            Guarded::File(..) => Err(Fault::Changed),
        }
    }

    fn unlink(&self) -> Result<bool, Fault> {
        self.directory.unlink(self.name)
    }

    /// Locks a file. Returns `None` if the file system does not support locks; no process can merge values on such a file system,
    /// so no update can be lost.
    fn lock(&self, file: File, identity: Identity) -> Result<Option<HeldLock>, Fault> {
        let (lockable, _) = self.root.tree().lockable(self.key, file, identity);
        match self.root.wait(self.key, &lockable, (identity, Claim::Replace)) {
            Err(Fault::NoLocks(_)) => Ok(None),
            lock => lock.map(Some),
        }
    }

    /// Opens the file to which the name currently refers.
    fn old(&self) -> Result<Old, Fault> {
        if !self.root.locks {
            return self.old_unopened();
        }
        match self.directory.open_entry(self.name) {
            Opening::Missing => Ok(Old::Missing),
            Opening::File(file) => self.old_file(file, true),
            // The name is a link. If its target is a file, the target is locked instead.
            Opening::Link if !leads_to_directory(self.directory, self.name) => {
                match self.root.tree().open_file(self.key) {
                    Ok(file) => self.old_file(file, false),
                    Err(_) => Ok(Old::Closed(None)),
                }
            }
            Opening::Link | Opening::Failed => self.old_unopened(),
        }
    }

    fn old_file(&self, file: File, with_permissions: bool) -> Result<Old, Fault> {
        let facts = facts(&file)?;
        match facts.kind {
            Kind::Directory => Ok(Old::Directory),
            Kind::Odd(what) => Err(not_a_file(what)),
            Kind::File | Kind::Other => {
                let permissions = with_permissions.then_some(facts.permissions);
                Ok(Old::File { identity: facts.identity, file, permissions })
            }
        }
    }

    /// Examines the file to which the name refers without opening it.
    fn old_unopened(&self) -> Result<Old, Fault> {
        match self.directory.entry(self.name)? {
            Entry::Missing => Ok(Old::Missing),
            Entry::Directory => Ok(Old::Directory),
            Entry::Link if leads_to_directory(self.directory, self.name) => Ok(Old::DirectoryLink),
            Entry::Link => Ok(Old::Closed(None)),
            Entry::File(permissions) => Ok(Old::Closed(Some(permissions))),
            Entry::Odd(what) => Err(not_a_file(what)),
        }
    }

    /// Returns true if the name refers to this file.
    fn leads_to(&self, identity: Identity) -> Result<bool, Fault> {
        Ok(self.directory.identity_at(self.name)? == Some(identity))
    }
}
