//! S3: a long line, and a wide one.
//!
//! `cargo xtask bench stores [--require]` starts the server. Ours and what limits it take turns; the ratio of the medians counts.
//! `--require` fails when a row is above its limit.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at the first failure"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use ndarray::Array1;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use zarrox::prelude::*;
use zarrox::{Array, OpenOptions};
use zarrox_testkit::proxy::Proxy;

/// What the store has under way at the same time, as ours has.
const IN_FLIGHT: usize = 64;

/// How many chunks there are on the long line, and how long it is.
const CHUNKS: u64 = 1_000;
const LATENCY: Duration = Duration::from_millis(50);

/// How many objects of how many bytes go over the wide line.
const OBJECTS: u64 = 100;
const SIZE: u64 = 4 << 20;

const ROUNDS: usize = 7;

fn main() {
    let required = std::env::args().any(|argument| argument == "--require");
    let endpoint = std::env::var("ZARROX_TEST_S3").unwrap();
    let rows = [long_line(&endpoint), wide_line(&endpoint)];
    println!("| case | ours | limit | ours / limit | at most |\n|---|---|---|---|---|");
    for row in &rows {
        let [ours, limit] = [row.ours, row.limit].map(|time| time.as_secs_f64() * 1e3);
        println!("| {} | {ours:.0} ms | {limit:.0} ms | {:.2} | {} |", row.case, row.ratio(), row.most);
    }
    let missed = rows.iter().filter(|row| row.ratio() > row.most).count();
    assert!(!required || missed == 0, "{missed} rows are above their limit");
}

struct Row {
    case: &'static str,
    ours: Duration,
    limit: Duration,
    most: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.ours.as_secs_f64() / self.limit.as_secs_f64()
    }
}

fn options(endpoint: &str) -> OpenOptions {
    let options =
        OpenOptions::new().storage_option("endpoint", endpoint).storage_option("allow_http", "true");
    let options = options.storage_option("access_key_id", "AKIAEXAMPLE");
    options.storage_option("secret_access_key", "secretkey")
}

fn create(endpoint: &str, name: &str, shape: u64, chunk: u64) -> Array {
    let options = options(endpoint).mode(zarrox::OpenMode::Write);
    let array = options.create_array(format!("s3://zarrox/{name}.zarr")).shape([shape]).chunks([chunk]);
    let array = array.data_type(DataType::UInt8).codecs([Bytes::little().into()]).create().unwrap();
    let length = usize::try_from(shape).unwrap();
    array.write(.., &Array1::from_shape_fn(length, |index| u8::try_from(index % 251).unwrap() + 1)).unwrap();
    array
}

/// Many chunks whose requests each take longer by 50 ms, against the time of as many rounds as there must be.
fn long_line(endpoint: &str) -> Row {
    create(endpoint, "long", CHUNKS, 1);
    let proxy = Proxy::new(endpoint).unwrap();
    let array = options(proxy.url()).open("s3://zarrox/long.zarr").unwrap().into_array().unwrap();
    proxy.set_delay(LATENCY);
    let read = || {
        let started = Instant::now();
        assert_eq!(array.read::<u8>(..).unwrap().len(), 1_000);
        started.elapsed()
    };
    let rounds = CHUNKS as f64 / IN_FLIGHT as f64;
    let ours = median((0..ROUNDS).map(|_| read()).collect());
    Row { case: "1,000 chunks, 50 ms away", ours, limit: LATENCY.mul_f64(rounds), most: 1.5 }
}

/// Large objects, against the bare client that gets as many of them at the same time and throws them away.
fn wide_line(endpoint: &str) -> Row {
    let array = create(endpoint, "wide", OBJECTS * SIZE, SIZE);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client =
        AmazonS3Builder::new().with_bucket_name("zarrox").with_endpoint(endpoint).with_allow_http(true);
    let client = client.with_access_key_id("AKIAEXAMPLE").with_secret_access_key("secretkey");
    let client: Arc<dyn ObjectStore> = Arc::new(client.build().unwrap());
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        assert_eq!(array.read::<u8>(..).unwrap()[0], 1);
        ours.push(started.elapsed());
        let started = Instant::now();
        let client = Arc::clone(&client);
        let total: usize = runtime.block_on(async move {
            let get = |index: u64| {
                let client = Arc::clone(&client);
                let path = Path::from(format!("wide.zarr/c/{index}"));
                tokio::spawn(async move { client.get(&path).await.unwrap().bytes().await.unwrap().len() })
            };
            let sizes = stream::iter(0..OBJECTS).map(get).buffer_unordered(IN_FLIGHT);
            sizes.map(Result::unwrap).fold(0, |sum, size| async move { sum + size }).await
        });
        assert_eq!(total as u64, OBJECTS * SIZE);
        bare.push(started.elapsed());
    }
    Row { case: "100 objects of 4 MiB", ours: median(ours), limit: median(bare), most: 1.0 / 0.9 }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
