//! Where the servers are that stores are tested against.
//!
//! `cargo xtask test --stores` starts them and says so in environment variables. A test that finds none says that it does not run, so
//! that `cargo test` passes without servers; but where a server was started, its tests cannot miss it.

use std::env;
#[cfg(feature = "stores")]
use std::time::{Duration, Instant};

#[cfg(feature = "stores")]
use zarrox_stores::{StorageOptions, StoreErrorKind, StoreRegistry};

use crate::needs;

/// The beginning of the name of every variable.
const PREFIX: &str = "ZARROX_TEST_";

/// Returns the value of `ZARROX_TEST_<name>`, such as the URL of the server `REDIS`; `None` when the servers were not started, or
/// only others.
///
/// | name | value |
/// |---|---|
/// | `REDIS` | `redis://127.0.0.1:PORT` |
/// | `MONGODB` | `mongodb://127.0.0.1:PORT/?directConnection=true` |
/// | `S3` | `http://127.0.0.1:PORT`; access key `AKIAEXAMPLE`, secret key `secretkey`, bucket `zarrox` |
/// | `AZURE` | `http://127.0.0.1:PORT/devstoreaccount1`; the key that every emulator has, container `zarrox` |
/// | `GCS` | `http://127.0.0.1:PORT`; anybody may do anything, bucket `zarrox` |
/// | `HTTP` | `http://127.0.0.1:PORT`: lists directories as JSON, and forbids `/private/` |
/// | `HTTP_ROOT` | the path of the directory that it serves |
/// | `HTTPS` | the same with TLS |
/// | `HTTPS_CA` | the path of the authority's certificate, as PEM |
/// | `WEBDAV` | `http://127.0.0.1:PORT`, Apache: anybody may do anything, and nobody anything below `/private/` |
/// | `WSGIDAV` | `http://127.0.0.1:PORT`, WsgiDAV: anybody may do anything |
/// | `FTP` | `ftp://u:p@127.0.0.1:PORT` |
/// | `HDFS` | `hdfs://127.0.0.1:PORT`, the NameNode's RPC; whoever started it may do anything, others may only read |
///
/// # Panics
///
/// When `ZARROX_TEST_SERVERS`, the list of what must be there, has the name, but there is no such variable.
#[must_use]
pub fn address(name: &str) -> Option<String> {
    let address = env::var(format!("{PREFIX}{name}")).ok();
    assert!(address.is_some() || !started().iter().any(|each| each == name), "{PREFIX}{name} is not set");
    let server = server(name);
    match address {
        Some(_) => needs::met(&server),
        None => needs::missing(&server, &format!("`cargo xtask test --stores {server}` starts it")),
    }
    address
}

/// Returns the server that gives a variable, as `cargo xtask test --stores` knows it.
fn server(name: &str) -> String {
    match name {
        "HTTP_ROOT" | "HTTPS" | "HTTPS_CA" => "http".to_owned(),
        "WSGIDAV" => "webdav".to_owned(),
        name => name.to_lowercase(),
    }
}

/// Returns the names of all that must be there.
#[must_use]
pub fn started() -> Vec<String> {
    let names = env::var(format!("{PREFIX}SERVERS")).unwrap_or_default();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Checks that the first request to each URL, where `HOST` is one at which nobody listens, fails soon.
///
/// # Panics
///
/// When it does not, or fails in another way.
#[cfg(feature = "stores")]
#[expect(clippy::unwrap_used, reason = "a suite panics where a promise is broken")]
pub fn check_no_server(stores: &StoreRegistry, urls: &[&str]) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = free.local_addr().unwrap().to_string();
    drop(free);
    let options = StorageOptions::new().with("endpoint", format!("http://{host}")).with("anonymous", "true");
    let options = options.with("allow_http", "true").with("region", "eu");
    std::thread::scope(|scope| {
        for url in urls {
            let (url, options) = (url.replace("HOST", &host), &options);
            scope.spawn(move || {
                let begin = Instant::now();
                let located = stores.open(&url, options);
                let asked = located.and_then(|located| located.store.get(&crate::store::key("a")));
                let error = asked.unwrap_err();
                let found = (error.kind(), error.is_no_server());
                assert_eq!(found, (StoreErrorKind::Unreachable, true), "{url}: {error}");
                // Two seconds, and what a machine needs that has much to do.
                assert!(begin.elapsed() < Duration::from_secs(10), "{url}: {:?}", begin.elapsed());
            });
        }
    });
}
