//! Stores with `sync`: every write that has returned is on the disk.
//!
//! [`check`] traces the system calls of a process that writes, and records what a power failure would lose: bytes of files that
//! were written and not flushed, and names in directories that were changed and not flushed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use zarrox_stores::{Condition, Store, StoreExt};

use crate::other_process;
use crate::store::{key, prefix};

/// The variable with the store of the traced process: the URL of the store, and the value of the option `sync`, true or false.
const CHILD: &str = "ZARROX_TEST_DURABILITY";

/// The calls that change or flush a file or a directory; `statx` marks the end of an operation.
const CALLS: &str = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,write,writev,pwrite64,\
                     pwritev,pwritev2,truncate,ftruncate,fallocate,fsync,fdatasync,sync_file_range,msync,close,statx";

/// The prefix of the paths that mark the end of an operation.
const MARK: &str = "/zarrox-mark/";

/// A record of everything that a power failure would lose.
#[derive(Default)]
struct Disk {
    root: String,
    files: BTreeSet<String>,
    directories: BTreeSet<String>,
    /// Files whose writes are durable when they return, by descriptor.
    synchronous: BTreeSet<String>,
    /// The lengths of files.
    lengths: BTreeMap<String, u64>,
    /// Findings, each with its operation.
    wrong: Vec<String>,
    marks: usize,
}

impl Disk {
    /// Processes one line of strace's output.
    fn take(&mut self, line: &str) {
        let Some((call, rest)) = line.split_once('(') else { return };
        let call = call.rsplit(' ').next().unwrap_or(call);
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
        if let Some((_, mark)) = arguments.split_once(MARK) {
            return self.mark(mark.split('"').next().unwrap_or_default());
        }
        if result.starts_with('-') {
            return;
        }
        let on_open_file =
            ["write", "pwrite", "sync", "truncate", "fallocate"].iter().any(|kind| call.contains(kind));
        let arguments =
            if on_open_file { arguments.split('"').next().unwrap_or_default() } else { arguments };
        let paths = paths(arguments);
        match (call, &paths[..]) {
            ("open" | "openat" | "creat", [path, ..]) => {
                let is_new = call == "creat" || arguments.contains("O_CREAT") && arguments.contains("O_EXCL");
                if is_new {
                    self.change_names(path);
                }
                if arguments.contains("SYNC") {
                    self.synchronous.insert(descriptor(result));
                }
            }
            ("mkdir" | "mkdirat", [path, ..]) => self.change_names(path),
            ("rename" | "renameat" | "renameat2" | "link" | "linkat", [from, to, ..]) => {
                if self.files.contains(from) {
                    self.wrong.push(format!("{from} became {to} before it was flushed"));
                }
                self.change_names(to);
            }
            ("unlink" | "unlinkat", [path, ..]) => {
                self.files.remove(path);
                self.directories.remove(path);
                if !arguments.contains("AT_REMOVEDIR") {
                    self.change_names(path);
                }
            }
            ("fsync" | "fdatasync", [path, ..]) => {
                self.files.remove(path);
                self.directories.remove(path);
            }
            ("ftruncate", [path, ..]) => {
                let length =
                    arguments.rsplit(", ").next().and_then(|length| length.parse().ok()).unwrap_or(0);
                // A truncation loses nothing if it is undone.
                if self.lengths.insert(path.clone(), length).is_none_or(|before| before < length) {
                    self.files.insert(path.clone());
                }
            }
            ("close", _) => drop(self.synchronous.remove(&descriptor(arguments))),
            ("sync_file_range" | "msync" | "statx", _) => {}
            (_, [path, ..]) if path.starts_with(&self.root) && !self.is_synchronous(arguments) => {
                self.files.insert(path.clone());
            }
            _ => {}
        }
    }

    fn is_synchronous(&self, arguments: &str) -> bool {
        self.synchronous.contains(&descriptor(arguments))
    }

    fn change_names(&mut self, path: &str) {
        let Some((directory, _)) = path.rsplit_once('/') else { return };
        // Locks and indexes of shared memory are created again.
        let is_lost = !["lock.mdb", "-shm"].iter().any(|end| path.ends_with(end));
        // Losing a file without a final name is harmless.
        if directory.starts_with(&self.root) && is_lost && !path.ends_with(".tmp") {
            self.directories.insert(directory.to_owned());
        }
    }

    fn mark(&mut self, operation: &str) {
        self.marks += 1;
        let lost = |path: &&String| {
            !path.ends_with(".tmp") && !path.ends_with("lock.mdb") && !path.ends_with("-shm")
        };
        let files = self.files.iter().filter(lost).map(|path| format!("{operation}: bytes of {path}"));
        let names = self.directories.iter().map(|path| format!("{operation}: names in {path}"));
        self.wrong.extend(files.chain(names));
    }
}

/// Returns the full paths in the arguments of a call: `3</dir>, "name"` is `/dir/name`.
fn paths(arguments: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut directory: Option<String> = None;
    let mut rest = arguments;
    while let Some(at) = rest.find(['<', '"']) {
        let end = if rest.as_bytes()[at] == b'<' { '>' } else { '"' };
        let Some((text, after)) = rest[at + 1..].split_once(end) else { break };
        rest = after;
        if end == '>' {
            paths.extend(directory.replace(text.to_owned()));
        } else {
            let above = directory.take();
            paths.push(match above {
                Some(above) if !text.starts_with('/') => format!("{above}/{text}").replace("/./", "/"),
                _ => text.to_owned(),
            });
        }
    }
    paths.extend(directory);
    paths
}

/// Returns the file descriptor at the beginning of a text.
fn descriptor(text: &str) -> String {
    text.chars().take_while(char::is_ascii_digit).collect()
}

/// The test in the traced process, and the number of its [`mark`]s.
pub type Child<'a> = (&'a str, usize);

/// Checks that a store of this URL, where `ROOT` is a new directory, loses no completed write, and that the check finds the
/// losses of a store without `sync`.
pub fn check(child: Child<'_>, url: &str) {
    if let Some(losses) = losses(child, url, true) {
        assert!(losses.is_empty(), "{url}: {losses:#?}");
    }
    // The check must be able to find losses.
    if let Some(losses) = losses(child, url, false) {
        assert!(!losses.is_empty(), "{url} flushes without `sync`, or the check finds nothing");
    }
}

/// Returns the losses by a power failure among the completed operations of a process that runs this test with this store, and
/// makes this number of marks.
fn losses((test, marks): Child<'_>, url: &str, sync: bool) -> Option<Vec<String>> {
    let directory = TempDir::new().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let trace = root.with_extension("trace");
    let calls = format!("trace={CALLS}");
    let strace = |command: &mut Command| {
        command.args(["-y", "-s", "0", "-e", &calls, "-o"]).arg(&trace);
    };
    let setting = format!("{}, {sync}", url.replace("ROOT", root.to_str().unwrap()));
    other_process::finish(other_process::start_traced(strace, test, CHILD, &setting)?);
    let mut disk = Disk { root: root.to_str().unwrap().to_owned(), ..Disk::default() };
    let calls = std::fs::read_to_string(&trace).unwrap();
    std::fs::remove_file(trace).unwrap();
    calls.lines().for_each(|line| disk.take(line));
    assert_eq!(disk.marks, marks, "the process has not finished its work");
    Some(disk.wrong)
}

/// In the traced process: the URL of its store, and the value of the option `sync`.
#[must_use]
pub fn traced_store() -> Option<(String, String)> {
    let setting = std::env::var_os(CHILD)?.into_string().unwrap();
    let (url, sync) = setting.split_once(", ").unwrap();
    Some((url.to_owned(), sync.to_owned()))
}

/// Marks the end of an operation in the trace.
pub fn mark(operation: &str) {
    assert!(!Path::new(&format!("{MARK}{operation}")).exists());
}

/// The work of the traced process, with five marks.
pub fn write_all(store: &dyn Store) {
    // Only an archive must be finished.
    let done = |operation: &str| {
        store.flush().unwrap();
        mark(operation);
    };
    let set = |name: &str, value: &[u8]| store.set(&key(name), value, Condition::Always).unwrap();
    set("group/array/0", &[1; 100]);
    done("creating");
    set("group/array/0", &[2; 200_000]);
    done("replacing");
    store.set(&key("group/array/1"), &[3; 10], Condition::Absent).unwrap();
    done("adding");
    assert!(store.erase(&key("group/array/0")).unwrap());
    done("erasing");
    store.erase_prefix(&prefix("group/")).unwrap();
    done("erasing all");
}
