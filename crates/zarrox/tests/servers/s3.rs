//! S3: by URLs, over a connection with high latency, and over one that breaks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndarray::Array1;
use zarrox::codecs::Bytes;
use zarrox::prelude::*;
use zarrox::{Consolidated, ErrorKind, OpenMode, OpenOptions};
use zarrox_testkit::proxy::{After, Proxy};
use zarrox_testkit::servers::address;

use super::{check, unique};

const LATENCY: Duration = Duration::from_millis(50);

fn options(endpoint: &str) -> OpenOptions {
    let said = [
        ("endpoint", endpoint),
        ("access_key_id", "AKIAEXAMPLE"),
        ("secret_access_key", "secretkey"),
        ("allow_http", "true"),
    ];
    said.into_iter().fold(OpenOptions::new(), |options, (name, value)| options.storage_option(name, value))
}

/// Returns the options for the server, and an unused URL.
fn place() -> Option<(String, OpenOptions, String)> {
    let endpoint = address("S3")?;
    let direct = options(&endpoint);
    Some((endpoint, direct, format!("s3://zarrox/{}.zarr", unique())))
}

fn counts(requests: Vec<String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    requests.into_iter().for_each(|request| *counts.entry(request).or_default() += 1);
    counts
}

#[test]
fn urls() {
    let Some((_, direct, url)) = place() else { return };
    check(&direct, &url);
    check(&direct, &format!("s3://zarrox/{}/without/a/name", unique()));
}

#[test]
fn a_cache_on_disk_requests_each_object_once() {
    let Some((endpoint, direct, url)) = place() else { return };
    let array =
        direct.create_array(&url).shape([100]).chunks([10]).data_type(DataType::Int32).create().unwrap();
    array.write(.., Array1::from_iter(0..100)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let proxy = Proxy::new(&endpoint).unwrap();
    let cached = options(proxy.url()).storage_option("cache_directory", directory.path().to_str().unwrap());
    for round in 0..2 {
        let array = cached.open(format!("simplecache::{url}")).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 4950);
        let chunks = proxy.requests().iter().filter(|request| request.contains("/c/")).count();
        assert_eq!(chunks, 10, "in round {round}: {:?}", proxy.requests());
    }
}

#[test]
fn many_chunks_are_requested_in_parallel_over_a_slow_connection() {
    let Some((endpoint, direct, url)) = place() else { return };
    let array =
        direct.create_array(&url).shape([1_000]).chunks([1]).data_type(DataType::Int32).create().unwrap();
    array.write(.., Array1::from_iter(1..=1_000)).unwrap();
    let proxy = Proxy::new(&endpoint).unwrap();
    let array = options(proxy.url()).open(&url).unwrap().into_array().unwrap();
    proxy.set_delay(LATENCY);
    proxy.reset();
    let started = Instant::now();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 500_500);
    let taken = started.elapsed();
    let requests = counts(proxy.requests());
    assert_eq!(requests.len(), 1_000, "{requests:?}");
    assert!(requests.values().all(|&count| count == 1), "{requests:?}");
    // One after the other, the requests would take 50 seconds. In rounds of 64 requests they take less than one second,
    // which `cargo xtask bench stores` checks.
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}

#[test]
fn a_consolidated_hierarchy_is_opened_by_one_request() {
    let Some((endpoint, direct, url)) = place() else { return };
    let proxy = Proxy::new(&endpoint).unwrap();
    for (format, document) in [(Format::V3, "zarr.json"), (Format::V2, ".zmetadata")] {
        let url = format!("{url}/{format}");
        let root = direct.clone().format(format).create_group(&url).unwrap();
        for index in 0..20 {
            let array = root.create_array(format!("g{}/a{index}", index % 3));
            array.shape([4]).data_type(DataType::Int32).create().unwrap();
        }
        root.consolidate_metadata().unwrap();
        proxy.reset();
        let options = options(proxy.url()).mode(OpenMode::Read).consolidated(Consolidated::Require);
        let root = options.format(format).open(&url).unwrap().into_group().unwrap();
        let arrays: usize = root.groups().unwrap().iter().map(|group| group.arrays().unwrap().len()).sum();
        assert_eq!(arrays, 20);
        let requests = proxy.requests();
        assert!(requests.iter().all(|request| request.starts_with("GET ")), "{requests:?}");
        let of_copy = requests.iter().filter(|request| request.contains(document)).count();
        assert_eq!(of_copy, 1, "{requests:?}");
        let most = if format == Format::V3 { 1 } else { 4 };
        assert!(requests.len() <= most, "all chunks are requested at once: {requests:?}");
    }
}

#[test]
fn requests_over_broken_connections_are_retried() {
    let Some((endpoint, direct, url)) = place() else { return };
    let array = direct.create_array(&url).shape([100_000]).chunks([10_000]).data_type(DataType::Int32);
    let array = array.codecs([Bytes::little().into()]).create().unwrap();
    array.write(.., Array1::from_iter(0..100_000)).unwrap();
    let proxy = Proxy::new(&endpoint).unwrap();
    let array = options(proxy.url()).open(&url).unwrap().into_array().unwrap();
    proxy.cut(After::Bytes(20_000), 3);
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), Array1::from_iter(0..100_000).into_dyn());
    proxy.cut(After::Answers(2), 2);
    array.write(.., Array1::from_elem(100_000, 5)).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 500_000);
}

#[test]
fn forbidden_chunks_are_not_read_as_fill_values() {
    let Some((endpoint, direct, url)) = place() else { return };
    let array = direct.create_array(&url).shape([4]).data_type(DataType::Int32).create().unwrap();
    array.write(.., Array1::from_elem(4, 5)).unwrap();
    let wrong = options(&endpoint).storage_option("secret_access_key", "not-the-secret");
    let error = wrong.open(&url).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("not-the-secret") && !text.contains("Signature="), "{text}");
    let missing = direct.open("s3://no-such-bucket/a.zarr").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{missing}");
}
