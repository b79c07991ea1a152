//! The stored values, and which of them survive a crash of the machine: [`Disk`].

use std::collections::BTreeMap;

use zarrox_stores::Bytes;

use super::schedule::Random;

/// A kind of store, with the guarantees of such stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory: file locks exclude all other processes, names are renamed in one step, and versions are not compared.
    Directory,
    /// A database: versions are compared, and several values are renamed in one step.
    Database,
    /// A bucket: only versions are compared.
    Bucket,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Directory, Self::Database, Self::Bucket];

    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Database => "database",
            Self::Bucket => "bucket",
        }
    }
}

/// A value, and the file that contains it.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) bytes: Bytes,
    /// A unique number of the file.
    pub(super) inode: u64,
    /// The modification time, in milliseconds.
    pub(super) modified: i64,
}

pub(super) type Objects = BTreeMap<String, Object>;

/// A change of the stored values.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Put(String, Object),
    Erase(String),
    Rename(String, String),
    Exchange(String, String),
}

impl Change {
    fn apply(self, objects: &mut Objects) {
        match self {
            Self::Put(key, object) => drop(objects.insert(key, object)),
            Self::Erase(key) => drop(objects.remove(&key)),
            Self::Rename(from, to) => move_all(&take_all(objects, &from), &from, &to, objects),
            Self::Exchange(one, other) => {
                let (of_one, of_other) = (take_all(objects, &one), take_all(objects, &other));
                move_all(&of_one, &one, &other, objects);
                move_all(&of_other, &other, &one, objects);
            }
        }
    }

    /// Returns the keys or prefixes that change.
    fn names(&self) -> [&str; 2] {
        match self {
            Self::Put(key, _) | Self::Erase(key) => [key, key],
            Self::Rename(from, to) | Self::Exchange(from, to) => [from, to],
        }
    }

    /// Returns true if the other change concerns the same names, so that file systems preserve their order.
    fn depends_on(&self, other: &Self) -> bool {
        let overlap = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
        self.names().iter().any(|own| other.names().iter().any(|name| overlap(own, name)))
    }
}

/// Removes and returns all values below a prefix.
fn take_all(objects: &mut Objects, prefix: &str) -> Objects {
    let keys: Vec<String> = below(objects, prefix).map(|(key, _)| key.clone()).collect();
    keys.into_iter().filter_map(|key| objects.remove_entry(&key)).collect()
}

/// Moves values from below one prefix to another prefix.
fn move_all(taken: &Objects, from: &str, to: &str, objects: &mut Objects) {
    let moved = taken.iter().map(|(key, object)| (format!("{to}{}", &key[from.len()..]), object.clone()));
    objects.extend(moved);
}

/// Returns the values below a prefix.
pub(super) fn below<'a>(
    objects: &'a Objects,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a String, &'a Object)> {
    objects.range(prefix.to_owned()..).take_while(move |(key, _)| key.starts_with(prefix))
}

/// A disk with a volatile cache.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    pub(super) kind: Kind,
    /// True if each change is flushed before it counts as done.
    sync: bool,
    /// The values that processes see.
    pub(super) objects: Objects,
    /// The values on the disk.
    durable: Objects,
    /// The changes that are not on the disk yet, in the order of the calls.
    pending: Vec<Change>,
}

impl Disk {
    pub(super) fn new(kind: Kind, sync: bool, objects: Objects) -> Self {
        Self {
            kind,
            sync: sync || kind != Kind::Directory,
            durable: objects.clone(),
            objects,
            pending: Vec::new(),
        }
    }

    pub(super) fn change(&mut self, change: Change) {
        change.clone().apply(&mut self.objects);
        match self.sync {
            true => change.apply(&mut self.durable),
            false => self.pending.push(change),
        }
    }

    /// Loses some of the changes that are not on the disk. The remaining changes may have been done in another order, except
    /// changes of the same names.
    pub(super) fn crash(&mut self, random: &mut Random) {
        let kept = random.pick(&[100, 500, 900]).unwrap_or(500);
        let mut lost: Vec<Change> = Vec::new();
        for change in std::mem::take(&mut self.pending) {
            if random.chance(kept) && !lost.iter().any(|earlier| change.depends_on(earlier)) {
                change.apply(&mut self.durable);
            } else {
                lost.push(change);
            }
        }
        self.objects = self.durable.clone();
    }
}
