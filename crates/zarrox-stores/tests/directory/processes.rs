//! Several processes that write to the same directory.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use zarrox_stores::{Condition, DirectoryStore, Prefix, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::store::key;

use zarrox_testkit::other_process;

const CHILD: &str = "ZARROX_TEST_DIRECTORY";
const COUNTERS: [&str; 2] = ["there", "made/by/all"];
const ROUNDS: u64 = 100;

fn child() -> Option<DirectoryStore> {
    let path = std::env::var_os(CHILD).map(PathBuf::from)?;
    Some(DirectoryStore::open(path).unwrap())
}

/// Increments a number; a missing number is 0.
fn count(store: &DirectoryStore, name: &str) {
    loop {
        let guard = store.lock(&key(name)).unwrap();
        let seen = store.get(&key(name)).unwrap();
        let number = seen.map_or(0, |bytes| u64::from_le_bytes(bytes[..].try_into().unwrap()));
        match store.set(&key(name), &(number + 1).to_le_bytes(), Condition::Locked(&guard)) {
            Err(error) if error.kind() == StoreErrorKind::Conflict => {}
            done => return done.unwrap(),
        }
    }
}

fn count_all(store: &DirectoryStore) {
    (0..ROUNDS).for_each(|_| COUNTERS.iter().for_each(|name| count(store, name)));
}

#[test]
fn processes_that_count_lose_nothing() {
    const OTHERS: u64 = 3;
    const TEST: &str = "directory::processes::processes_that_count_lose_nothing";
    if let Some(store) = child() {
        return count_all(&store);
    }
    let directory = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(directory.path()).unwrap();
    store.set(&key("there"), &0_u64.to_le_bytes(), Condition::Always).unwrap();
    let others: Vec<_> = (0..OTHERS).map(|_| other_process::start(TEST, CHILD, directory.path())).collect();
    count_all(&store);
    others.into_iter().for_each(other_process::finish);
    for name in COUNTERS {
        let number = store.get(&key(name)).unwrap().unwrap();
        assert_eq!(u64::from_le_bytes(number[..].try_into().unwrap()), (OTHERS + 1) * ROUNDS, "{name}");
    }
    assert_eq!(names(directory.path()), ["made", "there"], "no lock file is left");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts another process that runs a test until it prints `ready`.
fn start_until_ready(test: &str, path: &Path) -> Child {
    let mut process = other_process::start(test, CHILD, path);
    let lines = BufReader::new(process.stdout.as_mut().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.ends_with("ready")), "the other process is ready");
    process
}

fn ready_for_ever() {
    // The test harness captures the usual output.
    std::io::stdout().write_all(b"ready\n").unwrap();
    std::thread::sleep(Duration::from_secs(3600));
}

/// Sends a signal to a process.
#[cfg(unix)]
fn signal(process: &Child, name: &str) {
    let status = Command::new("kill").arg(name).arg(process.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// A stopped process that holds a lock makes others wait until their timeout; a killed process holds no lock.
#[test]
#[cfg(unix)]
fn locks_of_stopped_and_of_killed_processes() {
    const TEST: &str = "directory::processes::locks_of_stopped_and_of_killed_processes";
    if let Some(store) = child() {
        let _guard = store.lock(&key("a")).unwrap();
        return ready_for_ever();
    }
    let directory = tempfile::tempdir().unwrap();
    let patient = DirectoryStore::open(directory.path()).unwrap();
    patient.set(&key("a"), b"before", Condition::Always).unwrap();
    let store = patient.lock_timeout(Duration::from_millis(200));
    let mut other = start_until_ready(TEST, directory.path());
    signal(&other, "-STOP");
    let begin = Instant::now();
    let errors = [
        store.lock(&key("a")).map(drop).unwrap_err(),
        store.set(&key("a"), b"after", Condition::Always).unwrap_err(),
        store.erase(&key("a")).map(drop).unwrap_err(),
    ];
    assert!(begin.elapsed() >= Duration::from_millis(600));
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::TimedOut, "{error}");
        let text = error.to_string();
        assert!(text.contains("another process has locked the file for more than 0.2 s"), "{text}");
        assert!(text.contains("lock_timeout") && text.contains("/a'"), "{text}");
    }
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "before");
    store.set(&key("b"), b"of another file", Condition::Always).unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    store.set(&key("a"), b"after", Condition::Always).unwrap();
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "after");
    assert_eq!(names(directory.path()), ["a", "b"]);
}

/// The next writer in a directory removes the temporary file of a killed writer, but not that of a living writer.
#[test]
fn files_of_killed_writers_are_removed() {
    const TEST: &str = "directory::processes::files_of_killed_writers_are_removed";
    if let Some(store) = child() {
        let parts = |write: &mut dyn FnMut(&[u8]) -> std::io::Result<()>| {
            write(b"half")?;
            ready_for_ever();
            Ok(())
        };
        return store.set_parts(&key("a/b"), 8, &parts, Condition::Always).unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(directory.path()).unwrap();
    let mut other = start_until_ready(TEST, directory.path());
    let below = directory.path().join("a");
    let temporary = names(&below);
    assert!(temporary.len() == 1 && temporary[0].starts_with(".zarrox-"), "{temporary:?}");
    assert_eq!(store.remove_leftovers(&Prefix::root()).unwrap(), [""; 0], "its writer lives");
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(store.leftovers(&Prefix::root()).unwrap(), [format!("a/{}", temporary[0])]);
    store.set(&key("a/c"), b"value", Condition::Always).unwrap();
    assert_eq!(names(&below), ["c"]);
}

/// On a file system without locks, parts of values are not changed unless the store is exclusive; here the kernel rejects every
/// lock.
#[test]
#[cfg(target_os = "linux")]
fn a_file_system_without_locks() {
    const TEST: &str = "directory::processes::a_file_system_without_locks";
    if let Some(store) = child() {
        return use_without_locks(&store);
    }
    let directory = tempfile::tempdir().unwrap();
    let refuse = |command: &mut Command| {
        let trace = directory.path().with_extension("trace");
        command.args(["-e", "trace=flock", "-e", "inject=flock:error=ENOLCK", "-o"]).arg(trace);
    };
    let path = directory.path().to_str().unwrap();
    if let Some(process) = other_process::start_traced(refuse, TEST, CHILD, path) {
        other_process::finish(process);
        assert_eq!(names(directory.path()), ["b"]);
    }
    let _ = fs::remove_file(directory.path().with_extension("trace"));
}

#[cfg(target_os = "linux")]
fn use_without_locks(store: &DirectoryStore) {
    for value in [b"1", b"2"] {
        store.set(&key("a"), value, Condition::Always).unwrap();
        assert_eq!(store.get(&key("a")).unwrap().unwrap(), &value[..]);
    }
    let error = store.lock(&key("a")).map(drop).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
    let text = error.to_string();
    assert!(text.contains("cannot lock files") && text.contains("the option `exclusive`"), "{text}");
    let alone = store.clone().exclusive(true);
    let guard = alone.lock(&key("a")).unwrap();
    alone.set(&key("a"), b"3", Condition::Locked(&guard)).unwrap();
    assert!(alone.erase_if(&key("a"), Condition::Locked(&guard)).unwrap());
    store.set(&key("b"), b"4", Condition::Absent).unwrap();
    assert!(!store.erase(&key("a")).unwrap());
}
