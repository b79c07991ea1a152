//! One program, run inside and outside Tokio, on runtimes of both kinds, and on a blocking and an asynchronous store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ndarray::Array2;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{AccessOptions, ErrorKind, Interrupt, OpenOptions, asynchronous};
use zarrox::{prelude::*, s};
use zarrox_testkit::remote::Remote;

/// Returns a store of each kind.
fn stores() -> [Arc<dyn Store>; 2] {
    [Arc::new(MemoryStore::new()), Remote::new(Duration::from_millis(1)).blocking()]
}

fn values() -> Array2<i32> {
    Array2::from_shape_fn((20, 30), |(y, x)| i32::try_from(y * 100 + x).unwrap())
}

fn create(store: &Arc<dyn Store>) -> zarrox::Result<zarrox::Array> {
    let root = OpenOptions::new().create_group((store.clone(), ""))?;
    root.create_array("a").shape([20, 30]).chunks([5, 10]).data_type(DataType::Int32).create()
}

/// Runs the program with blocking calls.
fn blocking_program(store: &Arc<dyn Store>) {
    let array = create(store).unwrap();
    array.write(.., values()).unwrap();
    array.write(s![3, ..], ndarray::arr0(-1)).unwrap();
    check(&array.read(..).unwrap());
    assert_eq!(array.read::<ArrayD<f64>>(..).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
}

/// Runs the program with asynchronous calls.
async fn program(store: Arc<dyn Store>) {
    let array = asynchronous::run(move || create(&store)).await.unwrap();
    let array = asynchronous::AsyncArray::from(array);
    array.write(.., values()).await.unwrap();
    array.run(|array| array.write(s![3, ..], -1)).await.unwrap();
    check(&array.read(..).await.unwrap());
    assert_eq!(array.read::<DynArray>(s![1, 2]).await.unwrap().to::<ArrayD<i32>>().unwrap().sum(), 102);
    assert_eq!(array.read::<ArrayD<f64>>(..).await.unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    let many = (0..20).map(|row| {
        let array = array.clone();
        tokio::spawn(async move { array.read::<ArrayD<i32>>(s![row, ..]).await.unwrap().len() })
    });
    for row in many.collect::<Vec<_>>() {
        assert_eq!(row.await.unwrap(), 30);
    }
}

fn check(read: &Array2<i32>) {
    let mut expected = values();
    expected.row_mut(3).fill(-1);
    assert_eq!(read, expected);
}

fn on_both_runtimes<F: Future<Output = ()>>(program: impl Fn() -> F) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(program());
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(program());
}

#[test]
fn outside_of_a_runtime() {
    stores().iter().for_each(blocking_program);
}

#[test]
fn waiting_inside_of_a_runtime() {
    on_both_runtimes(|| async { stores().iter().for_each(blocking_program) });
}

#[test]
fn awaiting_inside_of_a_runtime() {
    on_both_runtimes(|| async {
        for store in stores() {
            program(store).await;
        }
    });
}

#[test]
fn no_thread_of_the_program_waits() {
    let remote = Remote::new(Duration::from_secs(1));
    let near: Arc<dyn Store> = Arc::new(remote.memory().clone());
    create(&near).unwrap().write(.., values()).unwrap();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let store = remote.blocking();
        let array = asynchronous::run(|| OpenOptions::new().open((store, "a"))).await.unwrap();
        let array = asynchronous::AsyncArray::from(array.into_array().unwrap());
        let ticks = async {
            let mut ticks = 0;
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                ticks += 1;
                if ticks == 10 {
                    return;
                }
            }
        };
        let read = tokio::spawn(async move { array.read::<ArrayD<i32>>(..).await.unwrap().sum() });
        ticks.await;
        assert!(!read.is_finished(), "the runtime's only thread was kept waiting");
        assert_eq!(read.await.unwrap(), values().sum());
    });
}

#[test]
fn dropping_a_future_cancels_its_work() {
    let remote = Remote::new(Duration::from_millis(20));
    let near: Arc<dyn Store> = Arc::new(remote.memory().clone());
    let array = OpenOptions::new().create_array((near, "a")).shape([2_000]).chunks([1]);
    array.data_type(DataType::UInt8).create().unwrap().write(.., 1_u8).unwrap();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let array = OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_array().unwrap();
        let array = asynchronous::AsyncArray::from(array);
        remote.take_requests();
        let read = array.read::<ArrayD<u8>>(..);
        assert!(tokio::time::timeout(Duration::from_millis(50), read).await.is_err());
        tokio::time::sleep(Duration::from_millis(200)).await;
        let asked = remote.take_requests().len();
        assert!(asked < 500, "{asked} chunks were read after the future was dropped");
    });
}

#[test]
fn the_interrupt_of_the_options_cancels_asynchronous_work() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let interrupt = Interrupt::new();
    let access = AccessOptions::new().interrupt(&interrupt);
    runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        create(&store).unwrap();
        let options = OpenOptions::new().access(&access);
        let mut opened = options.open_array_async((store.clone(), "a")).await.unwrap();
        let array = opened.with_options(&access);
        array.write(.., values()).await.unwrap();
        interrupt.raise();
        for array in [&array, &opened] {
            let kind = |error: zarrox::Error| error.kind();
            assert_eq!(array.read::<Array2<i32>>(..).await.map_err(kind), Err(ErrorKind::Interrupted));
            assert_eq!(array.write(.., 1).await.map_err(kind), Err(ErrorKind::Interrupted));
        }
        let error = opened.append(values(), 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    });
}
