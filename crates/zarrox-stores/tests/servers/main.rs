//! Stores on servers, which `cargo xtask test --stores` starts. Without servers these tests report that they did not run.

#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "gcs")]
mod gcs;
#[cfg(feature = "http")]
mod http;
#[cfg(any(feature = "azure", feature = "http", feature = "s3"))]
mod remote;
#[cfg(feature = "s3")]
mod s3;

use std::net::TcpStream;
use std::path::Path;

use zarrox_testkit::servers::{address, started};

#[test]
fn all_started_servers_are_reachable() {
    for name in started() {
        let address = address(&name).unwrap();
        let Some((_scheme, rest)) = address.split_once("://") else {
            assert!(Path::new(&address).exists(), "{name}: {address} does not exist");
            continue;
        };
        let authority = rest.split('/').next().unwrap();
        let host = authority.rsplit('@').next().unwrap();
        TcpStream::connect(host).unwrap_or_else(|error| panic!("{name}: {host}: {error}"));
    }
}
