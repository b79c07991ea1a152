//! Where the servers are that stores are tested against.
//!
//! `cargo xtask test --stores` starts them and says so in environment variables. A test that finds none has nothing to do, so that
//! `cargo test` passes without servers; but where a server was started, its tests cannot miss it.

use std::env;

/// The beginning of the name of every variable.
const PREFIX: &str = "ZARROX_TEST_";

/// The value of `ZARROX_TEST_<name>`, such as the URL of the server `REDIS`; `None` when the servers were not started, or only others.
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
    address
}

/// The names of all that must be there.
#[must_use]
pub fn started() -> Vec<String> {
    let names = env::var(format!("{PREFIX}SERVERS")).unwrap_or_default();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
