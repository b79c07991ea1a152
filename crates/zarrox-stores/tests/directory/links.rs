//! The directory store among symbolic links, pipes, sockets and devices.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use zarrox_stores::{Condition, DirectoryStore, Key, Prefix, Store, StoreError, StoreErrorKind, StoreExt};
use zarrox_testkit::errors::assert_error;
#[cfg(all(target_os = "linux", not(zarrox_portable_fs)))]
use zarrox_testkit::other_process;
use zarrox_testkit::store::{key, list, prefix};

/// Returns a directory `outside` with a secret, and a store beside it with one value, `data/v`.
fn inside_and_outside() -> (TempDir, DirectoryStore) {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("outside")).unwrap();
    fs::write(directory.path().join("outside/secret"), "secret").unwrap();
    let store = DirectoryStore::create(directory.path().join("inside")).unwrap();
    store.set(&key("data/v"), b"value", Condition::Always).unwrap();
    (directory, store)
}

fn forbidden<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(error.to_string().contains("symbolic link leads out of the store"), "{error}");
    assert!(error.to_string().contains("inside/"), "{error}");
}

fn secret(directory: &TempDir) -> String {
    fs::read_to_string(directory.path().join("outside/secret")).unwrap()
}

#[test]
fn links_that_lead_out_are_refused() {
    let (directory, store) = inside_and_outside();
    let absolute = directory.path().join("outside");
    for (target, name) in [(Path::new("../outside"), "relative"), (&absolute, "absolute")] {
        symlink(target, store.path().join(name)).unwrap();
        symlink(target.join("secret"), store.path().join(format!("{name}-file"))).unwrap();
        for name in [format!("{name}/secret"), format!("{name}-file")] {
            forbidden(store.get(&key(&name)));
            forbidden(store.size(&key(&name)));
            forbidden(store.open(&key(&name)).map(drop));
        }
        forbidden(store.set(&key(&format!("{name}/new")), b"x", Condition::Always));
        forbidden(store.set(&key(&format!("{name}/secret")), b"x", Condition::Absent));
        forbidden(store.erase(&key(&format!("{name}/secret"))));
        forbidden(store.erase_prefix(&prefix(&format!("{name}/secret/"))));
        forbidden(store.list_dir(&prefix(&format!("{name}/"))));
        forbidden(store.list_prefix(&Prefix::root(), &mut |_, _| std::ops::ControlFlow::Continue(())));
        forbidden(store.rename_prefix(&prefix("data/"), &prefix(&format!("{name}/data/"))));
    }
    // Siblings stay visible, and the links are shown.
    let listing = store.list_dir(&Prefix::root()).unwrap();
    assert_eq!(listing.keys, [key("absolute-file"), key("relative-file")]);
    assert_eq!(listing.prefixes, [prefix("absolute/"), prefix("data/"), prefix("relative/")]);
    assert_eq!(secret(&directory), "secret");
    assert_eq!(fs::read_dir(directory.path().join("outside")).unwrap().count(), 1);
}

#[test]
fn writing_and_erasing_touch_the_link_and_not_its_target() {
    let (directory, store) = inside_and_outside();
    for name in ["a", "b"] {
        symlink("../outside/secret", store.path().join(name)).unwrap();
    }
    symlink("../outside", store.path().join("tree")).unwrap();
    store.set(&key("a"), b"mine", Condition::Always).unwrap();
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "mine");
    assert_error(store.set(&key("b"), b"x", Condition::Absent), StoreErrorKind::AlreadyExists, "inside/b");
    assert!(store.erase(&key("b")).unwrap());
    assert!(!store.erase(&key("tree")).unwrap());
    store.erase_prefix(&prefix("tree/")).unwrap();
    assert!(!store.path().join("tree").exists());

    symlink("../../outside", store.path().join("data/tree")).unwrap();
    store.erase_prefix(&prefix("data/")).unwrap();
    symlink("../outside", store.path().join("tree")).unwrap();
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(fs::read_dir(store.path()).unwrap().count(), 0);
    assert_eq!(secret(&directory), "secret");
}

#[test]
fn links_that_stay_inside_are_followed() {
    let (_directory, store) = inside_and_outside();
    symlink("data", store.path().join("relative")).unwrap();
    symlink(store.path().join("data"), store.path().join("absolute")).unwrap();
    symlink("../data/v", store.path().join("data/again")).unwrap();
    for name in ["relative/v", "absolute/v", "data/again", "relative/again"] {
        assert_eq!(store.get(&key(name)).unwrap().unwrap(), "value", "{name}");
        assert_eq!(store.size(&key(name)).unwrap(), Some(5));
    }
    store.set(&key("absolute/new/w"), b"1", Condition::Always).unwrap();
    assert_eq!(store.get(&key("data/new/w")).unwrap().unwrap(), "1");
    let names: Vec<String> = list(&store, "").into_iter().map(|(name, _)| name).collect();
    let expected = ["absolute", "data", "relative"]
        .map(|name| [("again", 5), ("new/w", 1), ("v", 5)].map(|(leaf, _)| format!("{name}/{leaf}")));
    assert_eq!(names, expected.concat());

    // A moved link may change its meaning, so the values are moved.
    store.rename_prefix(&prefix("relative/"), &prefix("moved/deeper/")).unwrap();
    assert_eq!(store.get(&key("moved/deeper/v")).unwrap().unwrap(), "value");
    assert_eq!(store.get(&key("data/v")).unwrap().unwrap(), "value");
    assert_eq!(store.get(&key("relative/v")).unwrap(), None);
}

#[test]
fn links_that_lead_out_are_followed_when_asked_for() {
    let (directory, store) = inside_and_outside();
    let store = store.follow_links(true);
    symlink("../outside", store.path().join("disk")).unwrap();
    assert_eq!(store.get(&key("disk/secret")).unwrap().unwrap(), "secret");
    store.set(&key("disk/a/b"), b"1", Condition::Always).unwrap();
    assert_eq!(fs::read(directory.path().join("outside/a/b")).unwrap(), b"1");
    let names = ["data/v", "disk/a/b", "disk/secret"];
    assert!(list(&store, "").iter().map(|(name, _)| name.as_str()).eq(names));
    assert!(store.erase(&key("disk/a/b")).unwrap());
    assert!(!directory.path().join("outside/a").exists());
}

#[test]
fn links_to_nothing_and_round_links() {
    let (_directory, store) = inside_and_outside();
    symlink("nothing", store.path().join("dangling")).unwrap();
    symlink("self", store.path().join("self")).unwrap();
    symlink(".", store.path().join("data/here")).unwrap();
    symlink("..", store.path().join("data/up")).unwrap();
    for store in [store.clone(), store.follow_links(true)] {
        for name in ["dangling", "dangling/x"] {
            dangling(store.get(&key(name)));
            dangling(store.size(&key(name)));
            dangling(store.open(&key(name)).map(drop));
        }
        dangling(store.list_dir(&prefix("dangling/")));
        dangling(store.set(&key("dangling/x"), b"", Condition::Always));
        assert_error(store.get(&key("self")), StoreErrorKind::Other, "inside/self");
        assert_eq!(store.get(&key("data/here/here/v")).unwrap().unwrap(), "value");
        for missing in ["data/here/missing", "data/here/missing/x", "data/missing"] {
            assert_eq!(store.get(&key(missing)).unwrap(), None, "{missing}");
        }
        // Each directory is visited once on every path, and no path is endless. Unreadable entries are listed as well.
        assert_eq!(
            list(&store, ""),
            [("dangling", 0), ("data/v", 5), ("self", 0)].map(|(name, size)| (name.to_owned(), size))
        );
        let listing = store.list_dir(&Prefix::root()).unwrap();
        assert_eq!(
            (listing.keys, listing.prefixes),
            (vec![key("dangling"), key("self")], vec![prefix("data/")])
        );
    }
}

fn dangling<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(
        error.to_string().contains("the symbolic link 'dangling' leads to 'nothing', which does not exist"),
        "{error}"
    );
}

#[test]
fn a_link_to_nothing_is_neither_merged_nor_copied_and_can_be_replaced_and_erased() {
    let (directory, store) = inside_and_outside();
    let links = ["one", "two", "three"];
    for name in links {
        symlink("../outside/gone", store.path().join(name)).unwrap();
    }
    let guard = store.lock(&key("one")).unwrap();
    assert_error(store.open(&key("one")), StoreErrorKind::Unreachable, "link 'one'");
    drop(guard);
    store.set(&key("one"), b"new", Condition::Always).unwrap();
    assert_eq!(store.get(&key("one")).unwrap().unwrap(), "new");
    assert_error(
        store.set(&key("two"), b"new", Condition::Absent),
        StoreErrorKind::AlreadyExists,
        "inside/two",
    );
    assert!(store.erase(&key("two")).unwrap());
    assert_eq!(store.get(&key("two")).unwrap(), None);
    assert!(!directory.path().join("outside/gone").exists());
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(fs::read_dir(store.path()).unwrap().count(), 0);
}

/// The environment variable with the directory for a process that reads missing values, and with the option to follow
/// links.
#[cfg(all(target_os = "linux", not(zarrox_portable_fs)))]
const READER: &str = "ZARROX_TEST_MISSING";

/// The traced process.
#[test]
#[cfg(all(target_os = "linux", not(zarrox_portable_fs)))]
fn reads_missing_values() {
    let Some(setting) = std::env::var_os(READER) else { return };
    let setting = setting.into_string().unwrap();
    let (path, follow) = setting.split_once(", ").unwrap();
    let store = DirectoryStore::open(path).unwrap().follow_links(follow == "true");
    for number in 0..100 {
        assert_eq!(store.get(&key(&format!("data/missing-{number}"))).unwrap(), None);
        assert!(store.get(&key("data/v")).unwrap().is_some());
    }
}

/// Most chunks of sparse arrays are missing.
/// The portable files resolve each path before they open it.
#[test]
#[cfg(all(target_os = "linux", not(zarrox_portable_fs)))]
fn to_find_out_that_a_value_is_missing_or_there_costs_no_further_calls() {
    let (_directory, store) = inside_and_outside();
    let trace = store.path().with_extension("trace");
    for (follow, calls) in [("false", 100), ("true", 200)] {
        let strace = |command: &mut std::process::Command| {
            command.args(["-e", "trace=file", "-o"]).arg(&trace);
        };
        let setting = format!("{}, {follow}", store.path().display());
        let test = "directory::links::reads_missing_values";
        let Some(reader) = other_process::start_traced(strace, test, READER, &setting) else { return };
        other_process::finish(reader);
        let traced = fs::read_to_string(&trace).unwrap();
        let count = |name: &str| traced.lines().filter(|line| line.contains(name)).count();
        assert_eq!((count("data/missing-"), count("data/v\"")), (calls, 100), "{traced}");
    }
}

#[test]
fn threads_that_reach_a_value_by_different_names_take_turns() {
    let (directory, store) = inside_and_outside();
    let store = store.follow_links(true);
    symlink("data", store.path().join("link")).unwrap();
    symlink("../inside/data", directory.path().join("outside/data")).unwrap();
    symlink("../outside", store.path().join("around")).unwrap();
    let names = ["data/v", "link/v", "around/data/v"];
    store.set(&key("data/v"), &[0; 96], Condition::Always).unwrap();
    let add = |first: usize, name: &str| {
        for place in (first..96).step_by(names.len()) {
            loop {
                let mut guard = store.lock(&key(name)).unwrap();
                let opened = guard.take_value().or_else(|| store.open(&key(name)).unwrap());
                let value = opened.unwrap();
                let mut bytes = value.read(0, 96).unwrap().to_vec();
                bytes[place] += 1;
                match store.set(&key(name), &bytes, Condition::Locked(&guard)) {
                    Err(error) if error.kind() == StoreErrorKind::Conflict => {}
                    done => break done.unwrap(),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for (first, name) in names.into_iter().enumerate() {
            let add = &add;
            scope.spawn(move || add(first, name));
        }
    });
    assert_eq!(store.get(&key("data/v")).unwrap().unwrap(), [1; 96].as_slice());
}

/// The portable files check a path before they use it, and another process can change it in between.
#[test]
#[cfg(not(zarrox_portable_fs))]
fn a_link_that_is_swapped_in_while_reading_never_shows_the_outside() {
    let (directory, store) = inside_and_outside();
    fs::write(directory.path().join("outside/v"), "outside").unwrap();
    let place = store.path().join("data");
    let aside = store.path().join("aside");
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            for _ in 0..2_000 {
                fs::rename(&place, &aside).unwrap();
                symlink("../outside", &place).unwrap();
                fs::remove_file(&place).unwrap();
                fs::rename(&aside, &place).unwrap();
            }
        });
        while !swapper.is_finished() {
            match store.get(&key("data/v")) {
                Ok(seen) => assert!(seen.is_none_or(|seen| seen == "value")),
                Err(error) => {
                    let kinds = [StoreErrorKind::Forbidden, StoreErrorKind::Other];
                    assert!(kinds.contains(&error.kind()), "{error}");
                }
            }
        }
    });
}

fn obstructed(store: &DirectoryStore, key: &Key) {
    let errors = [
        store.get(key).unwrap_err(),
        store.size(key).unwrap_err(),
        store.set(key, b"", Condition::Always).unwrap_err(),
        store.set(key, b"", Condition::Absent).unwrap_err(),
        store.erase(key).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{error}");
        assert!(error.to_string().contains("a value is a regular file"), "{error}");
    }
}

#[test]
fn pipes_and_sockets_do_not_hang_and_are_listed() {
    let (_directory, store) = inside_and_outside();
    mknodat(CWD, store.path().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    let _socket = UnixListener::bind(store.path().join("socket")).unwrap();
    for name in ["pipe", "socket"] {
        obstructed(&store, &key(name));
        assert_eq!(store.get(&key(&format!("{name}/below"))).unwrap(), None);
    }
    let listed = [("data/v", 5), ("pipe", 0), ("socket", 0)];
    assert_eq!(list(&store, ""), listed.map(|(name, size)| (name.to_owned(), size)));
    assert_eq!(store.list_dir(&Prefix::root()).unwrap().keys, [key("pipe"), key("socket")]);
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(fs::read_dir(store.path()).unwrap().count(), 0);
}

#[test]
fn devices_are_not_values() {
    let store = DirectoryStore::open("/dev").unwrap();
    for name in ["null", "zero", "full"] {
        obstructed(&store, &key(name));
    }
    assert!(store.list_dir(&Prefix::root()).unwrap().keys.contains(&key("zero")));
}
