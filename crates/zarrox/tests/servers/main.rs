//! Arrays in stores on servers, by their URLs. `cargo xtask test --stores` starts the servers; without servers these tests do
//! nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod http;
mod s3;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use ndarray::Array2;
use zarrox::codecs::Zstd;
use zarrox::{ErrorKind, OpenMode, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::servers::address;

/// Returns a unique name.
fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
    format!("{time}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn values() -> Array2<f32> {
    Array2::from_shape_fn((30, 40), |(y, x)| f32::from(u16::try_from(y * 40 + x).unwrap()))
}

/// Writes and reads below an unused URL, as a program would.
fn check(options: &OpenOptions, url: &str) {
    let missing = options.open(url).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{url}: {missing}");
    let root = options.create_group(url).unwrap();
    let array = root.create_array("g/a").shape([30, 40]).chunks([8, 10]).shards([16, 40]);
    let array = array.data_type(DataType::Float32).compressor(Zstd::level(1)).create().unwrap();
    array.write(.., values()).unwrap();
    array.write(s![3..5, 20..22], ndarray::arr0(-1_f32)).unwrap();
    let mut expected = values();
    expected.slice_mut(ndarray::s![3..5, 20..22]).fill(-1.0);

    let reading = options.clone().mode(OpenMode::Read);
    let array = reading.open(format!("{url}/g/a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<Array2<f32>>(..).unwrap(), expected, "{url}");
    assert_eq!(array.vindex((vec![29, 0], vec![39, 1])).read::<ArrayD<f32>>().unwrap().sum(), 1_199.0 + 1.0);
    let group = reading.open(url).unwrap().into_group().unwrap();
    assert_eq!(group.tree().unwrap().to_string().lines().count(), 3, "{url}");
    options.delete(format!("{url}/g")).unwrap();
    assert_eq!(options.open(format!("{url}/g/a")).unwrap_err().kind(), ErrorKind::NotFound, "{url}");
}

#[test]
fn azure() {
    let Some(endpoint) = address("AZURE") else { return };
    let key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    let options = OpenOptions::new().storage_option("account", "devstoreaccount1");
    let options = options.storage_option("access_key", key).storage_option("endpoint", endpoint);
    check(&options.storage_option("allow_http", "true"), &format!("az://zarrox/{}.zarr", unique()));
}

#[test]
fn redis() {
    let Some(server) = address("REDIS") else { return };
    check(&OpenOptions::new().storage_option("prefix", unique()), &format!("{server}/3"));
}

#[test]
fn gcs() {
    let Some(endpoint) = address("GCS") else { return };
    let options = OpenOptions::new().storage_option("endpoint", endpoint).storage_option("anonymous", "true");
    check(&options, &format!("gs://zarrox/{}.zarr", unique()));
}

#[test]
fn ftp() {
    let Some(server) = address("FTP") else { return };
    check(&OpenOptions::new(), &format!("{server}/{}.zarr", unique()));
}

#[test]
fn webdav() {
    let Some(server) = address("WEBDAV") else { return };
    check(&OpenOptions::new(), &format!("{}/{}.zarr", server.replacen("http", "webdav", 1), unique()));
}
