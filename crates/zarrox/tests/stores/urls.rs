//! Nodes by their URLs: written nodes are read back, in every kind of store on this machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use ndarray::arr1;
use zarrox::prelude::*;
use zarrox::{Consolidated, ErrorKind, OpenMode, OpenOptions};

/// Writes and reads below an unused URL.
fn check(url: &str) {
    let missing = zarrox::open(url).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{url}: {missing}");
    let root = zarrox::create_group(url).unwrap();
    let array = root.create_array("g/a").shape([4]).chunks([2]).data_type(DataType::Int32).create().unwrap();
    array.write(.., arr1(&[1, 2, 3, 4])).unwrap();
    root.flush().unwrap();
    drop((root, array));
    let array = zarrox::open_array(format!("{url}/g/a")).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().as_slice().unwrap(), [1, 2, 3, 4], "{url}");
    // If no name implies the root, it is the URL itself.
    let path = if url.contains("/without/") { "" } else { "g/a" };
    assert_eq!(array.path().as_str(), path, "{url}");
    let group = OpenOptions::new().mode(OpenMode::Read).open(url).unwrap().into_group().unwrap();
    assert_eq!(group.children().unwrap().len(), 1, "{url}");
    OpenOptions::new().delete(format!("{url}/g")).unwrap();
    assert_eq!(zarrox::open(format!("{url}/g/a")).unwrap_err().kind(), ErrorKind::NotFound, "{url}");
}

fn temporary(name: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name).to_str().unwrap().to_owned();
    (directory, path)
}

#[test]
fn memory() {
    check("memory://urls/a.zarr");
    check("memory://urls/without/a/name");
}

#[test]
fn directories() {
    let (_directory, path) = temporary("a.zarr");
    check(&format!("file://{path}"));
    zarrox::open(path).unwrap();
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite() {
    let (_directory, path) = temporary("a.db");
    check(&format!("sqlite://{path}"));
}

#[cfg(feature = "lmdb")]
#[test]
fn lmdb() {
    let (_directory, path) = temporary("a.lmdb");
    check(&format!("lmdb://{path}"));
}

#[cfg(feature = "redb")]
#[test]
fn redb() {
    let (_directory, path) = temporary("a.redb");
    check(&format!("redb://{path}"));
}

#[cfg(feature = "gdbm")]
#[test]
fn gdbm() {
    let (_directory, path) = temporary("a.gdbm");
    check(&format!("gdbm://{path}"));
}

#[cfg(feature = "sqlite")]
#[test]
fn opening_makes_no_database() {
    let (_directory, path) = temporary("typo.db");
    assert_eq!(zarrox::open(format!("sqlite://{path}/a")).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!std::path::Path::new(&path).exists());
}

#[cfg(feature = "zip")]
#[test]
fn archives_in_any_store() {
    use zarrox::stores::StoreExt;

    let (_directory, path) = temporary("a.zip");
    check(&format!("{path}|zip:"));
    let root = zarrox::create_group(format!("{path}|zip:deep/down")).unwrap();
    root.create_array("a").shape([1]).data_type(DataType::UInt8).create().unwrap().write(.., 7_u8).unwrap();
    root.flush().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let memory = zarrox::stores::open_url("memory://", &zarrox::stores::StorageOptions::new()).unwrap();
    let key = zarrox::stores::Key::new("archives/b.zip").unwrap();
    memory.store.set(&key, &bytes, zarrox::stores::Condition::Always).unwrap();
    for url in [
        format!("file://{path}|zip:deep/down/a"),
        format!("zip://deep/down/a::file://{path}"),
        "memory://archives/b.zip|zip:deep/down/a".to_owned(),
        "zip://deep/down/a::memory://archives/b.zip".to_owned(),
        "memory://archives/b.zip/deep/down/a".to_owned(),
        "memory://archives/b.zip|zip:deep|zarr3:down/a".to_owned(),
    ] {
        let array = OpenOptions::new().mode(OpenMode::Read).open(&url).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<u8>>(..).unwrap().as_slice().unwrap(), [7], "{url}");
    }
}

#[cfg(feature = "cache")]
#[test]
fn a_cache_on_disk() {
    let (_directory, path) = temporary("cache");
    let options = OpenOptions::new().storage_option("cache_directory", &path);
    zarrox::create_array("memory://cached/a").shape([1]).data_type(DataType::UInt8).create().unwrap();
    let array = options.open("simplecache::memory://cached/a").unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap().as_slice().unwrap(), [0]);
    assert!(std::fs::read_dir(&path).unwrap().next().is_some(), "nothing was kept");
}

#[test]
fn errors_of_opening_name_the_reason_without_secrets() {
    let refused = |url: &str, kind: ErrorKind, word: &str| {
        let error = zarrox::open(url).unwrap_err();
        let text = format!("{error} {error:?}");
        assert_eq!(error.kind(), kind, "{url}: {text}");
        assert!(text.contains(word) && !text.contains("secret"), "{url}: {text}");
    };
    refused("gopher://me:secret@host/a?token=secret", ErrorKind::Unsupported, "gopher");
    refused("memory://a|tar:b", ErrorKind::Unsupported, "'zip'");
    refused("memory://../a", ErrorKind::InvalidArgument, "..");
    refused("memory://a/../../b", ErrorKind::InvalidArgument, "..");
    let options = OpenOptions::new().storage_option("password", "secret").consolidated(Consolidated::Never);
    assert!(!format!("{options:?}").contains("secret"));
}
