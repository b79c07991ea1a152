//! The SQLite store: the suite, zarr-python's files, and features of databases.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;
use zarrox_databases::{SqliteOptions, SqliteStore};
use zarrox_stores::{ByteRange, Condition, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::store::{key, list, prefix, store_suite};

use super::damage::check_damaged;
use super::golden::{check_golden, golden};
use super::handles::check_two_handles;
use zarrox_testkit::processes::{self, check_processes};

fn suite(options: &SqliteOptions) {
    let kept = Mutex::new(Vec::new());
    store_suite(|| {
        let directory = TempDir::new().unwrap();
        let store = options.clone().create(directory.path().join("data.sqlite")).unwrap();
        kept.lock().unwrap().push(directory);
        Box::new(store)
    });
}

/// Returns a new database with one value, and its path.
fn temporary() -> (TempDir, std::path::PathBuf, SqliteStore) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data.sqlite");
    let store = SqliteOptions::new().sync(false).create(&path).unwrap();
    store.set(&key("a/b"), b"value", Condition::Always).unwrap();
    (directory, path, store)
}

#[test]
fn passes_the_suite() {
    suite(&SqliteOptions::new().sync(false));
}

#[test]
fn passes_the_suite_with_a_write_ahead_log() {
    suite(&SqliteOptions::new().sync(false).write_ahead_log(true));
}

#[test]
fn a_read_only_database_refuses_only_writes() {
    let (_directory, path, _store) = temporary();
    let store = SqliteOptions::new().read_only(true).open(&path).unwrap();
    store_suite(|| Box::new(store.clone()));
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    let missing = SqliteOptions::new().read_only(true).create(path.with_extension("none"));
    assert_error(missing, StoreErrorKind::NotFound, "none");
    assert!(!path.with_extension("none").exists());
}

#[test]
fn files_of_zarr_python_are_read_and_changed() {
    let (_directory, path) = golden("sqlite");
    let store = SqliteStore::open(&path).unwrap();
    check_golden(&store);
    // zarr-python would find the same table afterwards.
    let connection = Connection::open(&path).unwrap();
    let sql: String = connection.query_row("SELECT sql FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(sql, "CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)");
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(journal, "delete");
}

#[test]
fn new_files_have_zarr_pythons_table() {
    let (_directory, path, store) = temporary();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let sql: String = connection.query_row("SELECT sql FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(sql, "CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)");
    let row = connection.query_row("SELECT k, typeof(k), typeof(v) FROM zarr", [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    });
    assert_eq!(row.unwrap(), ("a/b".into(), "text".into(), "blob".into()));
}

#[test]
fn another_file_is_an_error() {
    let (_directory, path) = golden("sqlite");
    let open = |path: &Path| SqliteStore::open(path).map(|store| Box::new(store) as Box<dyn Store>);
    check_damaged(&open, &fs::read(path).unwrap());
    let directory = TempDir::new().unwrap();
    let missing = SqliteStore::open(directory.path().join("none.sqlite")).unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::NotFound, "{missing}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let directory_itself = SqliteStore::open(directory.path()).unwrap_err();
    assert_eq!(directory_itself.kind(), StoreErrorKind::Obstructed, "{directory_itself}");
}

fn refused(make: &str) -> String {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("odd.sqlite");
    Connection::open(&path).unwrap().execute_batch(make).unwrap();
    SqliteStore::open(&path).unwrap_err().to_string()
}

#[test]
fn databases_with_other_tables_are_refused() {
    assert!(refused("CREATE TABLE other(x)").contains("no table 'zarr'"));
    assert!(refused("CREATE TABLE zarr(a, b)").contains("is not a table"));
    assert!(
        refused("CREATE TABLE t(k, v); CREATE VIEW zarr AS SELECT k, v FROM t").contains("is not a table")
    );
    assert!(
        refused("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID").contains("is not a table")
    );
    assert!(
        refused("PRAGMA encoding = 'UTF-16'; CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)")
            .contains("UTF-16")
    );
}

#[test]
fn values_of_other_types_are_refused_by_name() {
    let (_directory, path, store) = temporary();
    let sql = "INSERT INTO zarr VALUES ('null', NULL), ('number', 1), ('text', 'abc'), (x'6161', x'00'), (NULL, 'x')";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    for (name, kind) in [("null", "null"), ("number", "integer")] {
        let error = store.get(&key(name)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Obstructed);
        assert!(error.to_string().contains(&format!("of the type {kind}")), "{error}");
    }
    assert_eq!(store.get(&key("text")).unwrap().unwrap(), "abc");
    // Keys that are not text are not listed.
    assert_eq!(list(&store, "").len(), 4);
}

#[test]
fn triggers_of_a_file_do_not_run() {
    let (_directory, path, store) = temporary();
    let sql = "CREATE TRIGGER t AFTER INSERT ON zarr BEGIN DELETE FROM zarr; END";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    store.set(&key("c"), b"1", Condition::Always).unwrap();
    assert_eq!(list(&store, "").len(), 2);
}

#[test]
fn wildcards_in_prefixes_are_letters() {
    let (_directory, _path, store) = temporary();
    for name in ["a_b/0", "axb/0", "A_B/0", "a%/0", "ab/0", "a\u{10ffff}/0"] {
        store.set(&key(name), b"v", Condition::Always).unwrap();
    }
    assert_eq!(list(&store, "a_b/").len(), 1);
    store.erase_prefix(&prefix("a_b/")).unwrap();
    store.erase_prefix(&prefix("a%/")).unwrap();
    store.rename_prefix(&prefix("a\u{10ffff}/"), &prefix("z/")).unwrap();
    let names: Vec<_> = list(&store, "").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["A_B/0", "a/b", "ab/0", "axb/0", "z/0"]);
}

#[test]
fn two_handles_are_one_storage() {
    let (_directory, path, store) = temporary();
    check_two_handles(&store, &SqliteStore::open(path).unwrap());
}

#[test]
fn processes_write_together() {
    if processes::is_child() {
        return;
    }
    let (_directory, path, store) = temporary();
    check_processes("databases::sqlite::processes_write_together_child", &path, &store);
}

/// Another process of the test above.
#[test]
fn processes_write_together_child() {
    processes::run_child(&|path: &Path| Box::new(SqliteOptions::new().sync(false).open(path).unwrap()));
}

#[test]
fn a_writer_that_waits_in_vain_says_so() {
    let (_directory, path, _store) = temporary();
    let store = SqliteOptions::new().lock_timeout(Duration::ZERO).open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = store.set(&key("a"), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    assert!(error.to_string().contains("locked"), "{error}");
    assert_eq!(store.get(&key("a/b")).unwrap_err().kind(), StoreErrorKind::Unreachable);
    other.execute_batch("ROLLBACK").unwrap();
    store.set(&key("a"), b"", Condition::Always).unwrap();
}

#[test]
fn parts_of_large_values_are_read() {
    for log in [false, true] {
        let (_directory, path, _store) = temporary();
        let store = SqliteOptions::new().sync(false).write_ahead_log(log).open(&path).unwrap();
        let value: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        store.set(&key("large"), &value, Condition::Always).unwrap();
        let parts = [ByteRange::From { offset: 4_000, length: Some(4) }, ByteRange::Suffix { length: 4 }];
        let parts = store.get_ranges(&key("large"), &parts).unwrap().unwrap();
        assert_eq!(parts, [1_000_u32, 999_999].map(|n| n.to_le_bytes().to_vec()));
        let open = store.open(&key("large")).unwrap().unwrap();
        assert_eq!(open.as_bytes().is_none(), log);
        store.set(&key("large"), b"new", Condition::Always).unwrap();
        assert_eq!(open.read(4_000, 4).unwrap(), 1_000_u32.to_le_bytes()[..]);
    }
}

/// On Linux, file locks belong to the process: closing a file releases all its locks in the process.
#[test]
#[cfg(target_os = "linux")]
fn another_handle_leaves_the_locks_of_the_first() {
    use std::os::unix::fs::MetadataExt;

    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data.sqlite");
    let options = SqliteOptions::new().write_ahead_log(true);
    let store = options.clone().create(&path).unwrap();
    store.set(&key("a"), &[1; 100_000], Condition::Always).unwrap();
    let _reading = store.open(&key("a")).unwrap().unwrap();
    let file = format!(":{} ", std::fs::metadata(&path).unwrap().ino());
    let locks = || {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        all.lines().filter(|lock| lock.contains("POSIX") && lock.contains(&file)).count()
    };
    let before = locks();
    assert!(before > 0, "a database with a write-ahead log is locked while it is open");
    let _other = options.open(&path).unwrap();
    assert!(locks() >= before, "opening another handle released locks");
}
