//! Benchmarks of a store on S3: a connection with high latency, and a connection with high bandwidth.
//!
//! `cargo xtask bench stores [--require]` starts the server. Zarrox and the bare client take turns; the ratio of their medians is
//! compared with a limit. `--require` fails if a ratio is above its limit.

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
use zarrox::codecs::Bytes;
use zarrox::prelude::*;
use zarrox::{Array, OpenOptions};
use zarrox_testkit::proxy::Proxy;

/// The number of concurrent requests of the bare client: as many as Zarrox sends.
const IN_FLIGHT: usize = 64;

/// The number of chunks that are read with high latency; `LATENCY` is the added latency of a request.
const CHUNKS: u64 = 1_000;
const LATENCY: Duration = Duration::from_millis(50);

/// The number of objects that are read with high bandwidth; `SIZE` is the size of an object in bytes.
const OBJECTS: u64 = 100;
const SIZE: u64 = 4 << 20;

const ROUNDS: usize = 7;

fn main() {
    let required = std::env::args().any(|argument| argument == "--require");
    let endpoint = std::env::var("ZARROX_TEST_S3").unwrap();
    let [into_known, into_new] = wide_line(&endpoint);
    let rows = [long_line(&endpoint), into_known, into_new];
    println!("| case | ours | limit | ours / limit | at most |\n|---|---|---|---|---|");
    for row in &rows {
        let [ours, limit] = [row.ours, row.limit].map(|time| time.as_secs_f64() * 1e3);
        let most = row.most.map_or(String::new(), |most| format!("{most:.2}"));
        println!("| {} | {ours:.0} ms | {limit:.0} ms | {:.2} | {most} |", row.case, row.ratio());
    }
    let missed = rows.iter().filter(|row| row.most.is_some_and(|most| row.ratio() > most)).count();
    assert!(!required || missed == 0, "{missed} rows are above their limit");
}

struct Row {
    case: &'static str,
    ours: Duration,
    limit: Duration,
    most: Option<f64>,
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
    array.write(.., Array1::from_shape_fn(length, |index| u8::try_from(index % 251).unwrap() + 1)).unwrap();
    array
}

/// Measures reading many chunks with a latency of 50 ms per request. The limit is the latency of the minimum number of rounds.
fn long_line(endpoint: &str) -> Row {
    create(endpoint, "long", CHUNKS, 1);
    let proxy = Proxy::new(endpoint).unwrap();
    let array = options(proxy.url()).open("s3://zarrox/long.zarr").unwrap().into_array().unwrap();
    proxy.set_delay(LATENCY);
    let read = || time(|| assert_eq!(array.read::<ArrayD<u8>>(..).unwrap().len(), 1_000));
    let rounds = CHUNKS as f64 / IN_FLIGHT as f64;
    let ours = median((0..ROUNDS).map(|_| read()).collect());
    Row { case: "1,000 chunks, 50 ms away", ours, limit: LATENCY.mul_f64(rounds), most: Some(1.5) }
}

/// Measures reading large objects. The limit is the time of the bare client, which gets as many objects concurrently and discards
/// them. Zarrox reads the objects into existing memory, and into new memory, whose pages the system must allocate first.
fn wide_line(endpoint: &str) -> [Row; 2] {
    let array = create(endpoint, "wide", OBJECTS * SIZE, SIZE);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = bare_client(endpoint);
    let mut known = Array1::<u8>::zeros(usize::try_from(OBJECTS * SIZE).unwrap());
    let [mut into_known, mut into_new, mut bare] = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        into_known.push(time(|| {
            array.read_into(.., &mut known).unwrap();
            assert_eq!(known[0], 1);
        }));
        bare.push(time(|| assert_eq!(runtime.block_on(get_all(&client)), OBJECTS * SIZE)));
        into_new.push(time(|| assert_eq!(array.read::<ArrayD<u8>>(..).unwrap()[0], 1)));
    }
    let [into_known, into_new, limit] = [into_known, into_new, bare].map(median);
    [
        Row { case: "100 objects of 4 MiB", ours: into_known, limit, most: Some(1.0 / 0.9) },
        Row { case: "the same into new memory", ours: into_new, limit, most: None },
    ]
}

fn bare_client(endpoint: &str) -> Arc<dyn ObjectStore> {
    let client =
        AmazonS3Builder::new().with_bucket_name("zarrox").with_endpoint(endpoint).with_allow_http(true);
    let client = client.with_access_key_id("AKIAEXAMPLE").with_secret_access_key("secretkey");
    Arc::new(client.build().unwrap())
}

/// Gets all objects, and returns their total size in bytes.
async fn get_all(client: &Arc<dyn ObjectStore>) -> u64 {
    let get = |index: u64| {
        let client = Arc::clone(client);
        let path = Path::from(format!("wide.zarr/c/{index}"));
        tokio::spawn(async move { client.get(&path).await.unwrap().bytes().await.unwrap().len() as u64 })
    };
    let sizes = stream::iter(0..OBJECTS).map(get).buffer_unordered(IN_FLIGHT);
    sizes.map(Result::unwrap).fold(0, |sum, size| async move { sum + size }).await
}

fn time(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
