//! The directory store on full disks, on read-only disks, and on disks that report errors.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use zarrox_stores::{Condition, DirectoryStore, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::needs;
use zarrox_testkit::store::{key, list, prefix};

/// A separate small file system, which is unmounted when it is dropped.
struct Disk(TempDir);

impl Disk {
    /// Mounts a file system. If mounting is not permitted, reports that the test did not run, and returns `None`.
    fn mount() -> Option<Self> {
        let directory = TempDir::new().unwrap();
        if mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"], directory.path()) {
            return Some(Self(directory));
        }
        needs::missing("mounting", "run the tests as root");
        None
    }

    fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.0.path()));
    }

    fn store(&self) -> DirectoryStore {
        DirectoryStore::open(self.0.path().join("data.zarr")).unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The file system is unmounted lazily, since a process that another test starts keeps the open files until it executes
        // its own program.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    let done = Command::new("mount").args(arguments).arg(path).output();
    done.is_ok_and(|output| output.status.success())
}

fn files(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_the_previous_value() {
    let Some(disk) = Disk::mount() else { return };
    let store = disk.store();
    store.set(&key("a"), b"previous", Condition::Always).unwrap();
    let large = vec![1; 2 << 20];
    for (name, condition) in [("a", Condition::Always), ("b", Condition::Absent)] {
        let error = store.set(&key(name), &large, condition).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::StorageFull, "{error}");
        assert!(error.to_string().contains("no space left on device"), "{error}");
        assert!(error.to_string().contains("previous value is untouched"), "{error}");
        assert!(error.to_string().contains("data.zarr"), "{error}");
    }
    assert_eq!(files(store.path()), ["a"]);
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "previous");
    // The space of the failed writes is free again after a short time: a process that another test starts keeps the open files
    // until it executes its own program.
    let freed = || store.set(&key("c"), &large[..700_000], Condition::Always).is_ok();
    assert!((0..100).any(|_| {
        thread::sleep(Duration::from_millis(10));
        freed()
    }));
}

#[test]
fn a_read_only_disk_refuses_writes() {
    let Some(disk) = Disk::mount() else { return };
    let store = disk.store();
    store.set(&key("a/b"), b"value", Condition::Always).unwrap();
    disk.make_read_only();
    let errors = [
        store.set(&key("a/b"), b"x", Condition::Always).unwrap_err(),
        store.set(&key("new/c"), b"x", Condition::Absent).unwrap_err(),
        store.erase(&key("a/b")).unwrap_err(),
        store.erase_prefix(&prefix("a/")).unwrap_err(),
        store.rename_prefix(&prefix("a/"), &prefix("b/")).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::ReadOnly, "{error}");
        assert!(error.to_string().contains("read-only file system"), "{error}");
    }
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    assert!(!store.erase(&key("missing")).unwrap());
}

#[test]
fn renaming_to_another_disk_copies() {
    let Some(disk) = Disk::mount() else { return };
    let directory = TempDir::new().unwrap();
    let store = DirectoryStore::open(directory.path()).unwrap().follow_links(true);
    store.set(&key("a/b/v"), b"value", Condition::Always).unwrap();
    std::os::unix::fs::symlink(disk.0.path(), directory.path().join("disk")).unwrap();
    store.rename_prefix(&prefix("a/"), &prefix("disk/a/")).unwrap();
    assert_eq!(fs::read(disk.0.path().join("a/b/v")).unwrap(), b"value");
    assert_eq!(list(&store, "a/"), []);
}

#[test]
fn a_directory_that_takes_no_files() {
    if !Path::new("/proc/self/status").exists() {
        return needs::missing("/proc", "mount it");
    }
    let store = DirectoryStore::open("/proc/self").unwrap();
    let error = store.set(&key("new"), b"", Condition::Always).unwrap_err();
    assert!(error.to_string().contains("/new'"), "{error}");
    assert_error(
        store.set(&key("new/value"), b"", Condition::Always),
        StoreErrorKind::Obstructed,
        "/new/value",
    );
}

#[test]
fn forbidden_is_not_missing() {
    let directory = TempDir::new().unwrap();
    let store = DirectoryStore::open(directory.path()).unwrap();
    store.set(&key("closed/v"), b"value", Condition::Always).unwrap();
    store.set(&key("v"), b"value", Condition::Always).unwrap();
    let permit =
        |name, mode| fs::set_permissions(directory.path().join(name), fs::Permissions::from_mode(mode));
    permit("closed", 0).unwrap();
    permit("v", 0).unwrap();
    if fs::read(directory.path().join("v")).is_ok() {
        return needs::missing("permissions that bind the user", "run the tests as another user than root");
    }
    let errors = [
        store.get(&key("v")).unwrap_err(),
        store.get(&key("closed/v")).unwrap_err(),
        store.size(&key("closed/v")).unwrap_err(),
        store.set(&key("closed/v"), b"", Condition::Always).unwrap_err(),
        store.erase(&key("closed/v")).unwrap_err(),
        store.list_dir(&prefix("closed/")).unwrap_err(),
        store.list_prefix(&prefix(""), &mut |_, _| ControlFlow::Continue(())).unwrap_err(),
    ];
    permit("closed", 0o777).unwrap();
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
        assert!(error.to_string().starts_with("permission denied while "), "{error}");
        assert!(error.to_string().ends_with("; check the permissions"), "{error}");
        assert!(error.key().is_some_and(|key| key == "v" || key.starts_with("closed/")), "{error}");
    }
}

/// This test needs no privileges: a limit on the size of files makes a write fail midway, as a quota does.
#[test]
fn a_write_that_fails_midway_leaves_the_previous_value() {
    let directory = TempDir::new().unwrap();
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact --nocapture directory::disk::limited_writes";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("ZARROX_TEST_DIRECTORY", directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(directory.path()), ["a"]);
    assert_eq!(fs::read(directory.path().join("a")).unwrap(), b"previous");
}

/// The part of the test above that runs in a process with a limit on the size of files; does nothing on its own.
#[test]
fn limited_writes() {
    let Some(directory) = std::env::var_os("ZARROX_TEST_DIRECTORY") else { return };
    let store = DirectoryStore::open(directory).unwrap();
    store.set(&key("a"), b"previous", Condition::Always).unwrap();
    for name in ["a", "b"] {
        let error = store.set(&key(name), &[1; 100_000], Condition::Always).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::TooLarge, "{error}");
    }
}
