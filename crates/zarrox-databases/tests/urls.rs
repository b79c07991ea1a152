//! URLs of databases and servers.

use zarrox_databases::registry;
use zarrox_stores::{StorageOptions, StoreErrorKind};
#[cfg(all(feature = "trees", feature = "redis", feature = "mongodb"))]
use zarrox_testkit::servers::check_no_server;

#[test]
#[cfg(all(feature = "webdav", feature = "ftp", feature = "hdfs", feature = "redis", feature = "mongodb"))]
fn where_no_server_is_the_first_request_fails_soon() {
    let urls =
        ["webdav://HOST/0/a", "ftp://HOST/0/a", "hdfs://HOST/0/a", "redis://HOST/0/a", "mongodb://HOST/0/a"];
    check_no_server(&registry(), &urls);
}

#[test]
#[cfg(feature = "hdfs")]
fn settings_of_hadoop_have_a_dot_in_their_names() {
    let check = |name: &str| registry().check(&StorageOptions::new().with(name, "true"));
    assert!(check("dfs.client.use.datanode.hostname").is_ok());
    assert_eq!(check("datanode").unwrap_err().kind(), StoreErrorKind::InvalidKey);
}

/// The file of a database is the outermost existing database, and otherwise the outermost component with a
/// matching extension.
#[test]
#[cfg(all(feature = "sqlite", feature = "lmdb"))]
fn the_file_of_a_url_is_known_before_it_exists() {
    let file_of = |url: &str| registry().file_of(url);
    assert_eq!(file_of("sqlite:///no/data.db/group/a.db"), Some("/no/data.db".into()));
    assert_eq!(file_of("lmdb:///no/data/group"), Some("/no/data/group".into()));
    for url in ["bdb:///no/data.bdb", "redis://host/0/a", "file:///no/data.db", "no/data.db"] {
        assert_eq!(file_of(url), None, "{url}");
    }
}

#[test]
#[cfg(all(feature = "sqlite", feature = "lmdb", feature = "redb", feature = "gdbm"))]
fn databases_take_the_same_options() {
    let directory = tempfile::tempdir().unwrap();
    let options = StorageOptions::new().create(true).with("sync", "false").with("lock_timeout", "0.5");
    for scheme in ["sqlite", "lmdb", "redb", "gdbm"] {
        let url = format!("{scheme}://{}/below/data.{scheme}/group", directory.path().display());
        let located = registry().open(&url, &options).unwrap();
        assert_eq!((located.path.as_str(), located.whole), ("group", true));
        let wrong = StorageOptions::new().with("lock_timeout", "long");
        let error = registry().open(&url, &wrong).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
        assert!(error.to_string().contains("'long' is not a number of seconds"), "{error}");
    }
}
