//! The addresses of the servers for tests.
//!
//! `cargo xtask test --stores` starts the servers and sets environment variables. A test without its variable reports that it did
//! not run, so that `cargo test` passes without servers; but the tests of a server that was started must run.

use std::env;
use std::time::Duration;
#[cfg(feature = "stores")]
use std::time::Instant;

#[cfg(feature = "stores")]
use zarrox_stores::{StorageOptions, StoreErrorKind, StoreRegistry};

use crate::needs;

/// The timeout of stores in tests of servers: other programs may keep the machine busy for a long time.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// The prefix of every variable.
const PREFIX: &str = "ZARROX_TEST_";

/// Returns the value of `ZARROX_TEST_<name>`, such as the URL of the server `REDIS`; `None` when the server was not started.
///
/// | name | value |
/// |---|---|
/// | `REDIS` | `redis://127.0.0.1:PORT` |
/// | `MONGODB` | `mongodb://127.0.0.1:PORT/?directConnection=true` |
/// | `S3` | `http://127.0.0.1:PORT`; access key `AKIAEXAMPLE`, secret key `secretkey`, bucket `zarrox` |
/// | `AZURE` | `http://127.0.0.1:PORT/devstoreaccount1`; the public key of every emulator, container `zarrox` |
/// | `GCS` | `http://127.0.0.1:PORT`; no authentication, bucket `zarrox` |
/// | `HTTP` | `http://127.0.0.1:PORT`: lists directories as JSON, and forbids `/private/` |
/// | `HTTP_ROOT` | the path of the directory that it serves |
/// | `HTTPS` | the same with TLS |
/// | `HTTPS_CA` | the path of the authority's certificate, as PEM |
/// | `WEBDAV` | `http://127.0.0.1:PORT`, Apache: no authentication, and no access below `/private/` |
/// | `WSGIDAV` | `http://127.0.0.1:PORT`, WsgiDAV: no authentication |
/// | `FTP` | `ftp://u:p@127.0.0.1:PORT` |
/// | `HDFS` | `hdfs://127.0.0.1:PORT`, the NameNode's RPC; full access for the user who started it, read access for other users |
///
/// # Panics
///
/// When `ZARROX_TEST_SERVERS`, the list of started servers, contains the name, but its variable is missing.
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

/// Returns the server of a variable, by its name in `cargo xtask test --stores`.
fn server(name: &str) -> String {
    match name {
        "HTTP_ROOT" | "HTTPS" | "HTTPS_CA" => "http".to_owned(),
        "WSGIDAV" => "webdav".to_owned(),
        name => name.to_lowercase(),
    }
}

/// Returns the names of all started servers.
#[must_use]
pub fn started() -> Vec<String> {
    let names = env::var(format!("{PREFIX}SERVERS")).unwrap_or_default();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Checks that the first request to each URL, where `HOST` is an address at which no server listens, fails soon.
///
/// # Panics
///
/// When a request does not fail, or fails with another error.
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
                let result = located.and_then(|located| located.store.get(&crate::store::key("a")));
                let error = result.unwrap_err();
                let found = (error.kind(), error.is_no_server());
                assert_eq!(found, (StoreErrorKind::Unreachable, true), "{url}: {error}");
                // Two seconds, and a margin for a busy machine.
                assert!(begin.elapsed() < Duration::from_secs(10), "{url}: {:?}", begin.elapsed());
            });
        }
    });
}
