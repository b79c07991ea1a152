//! Reads and appends in an asynchronous program, with a time limit.

use std::time::Duration;

use futures_util::TryStreamExt;
use zarrox::{asynchronous, prelude::*, s};

async fn program() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let root = asynchronous::create_group(directory.path().join("station.zarr")).await?;
    let builder = root.create_array("log").shape([0, 2]).chunks([2, 2]).data_type(DataType::Float64);
    let mut log = builder.create_async().await?;
    log.append(arr2(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 0).await?;

    // Dropping a future cancels its work.
    let read = log.read::<Array1<f64>>(s![.., 1]);
    let column = tokio::time::timeout(Duration::from_secs(10), read).await??;
    assert_eq!(column, arr1(&[2.0, 4.0, 6.0]));

    let chunks = log.chunks::<Array2<f64>>()?;
    let sums: Vec<f64> = chunks.map_ok(|(_, chunk)| chunk.sum()).try_collect().await?;
    assert_eq!(sums, [10.0, 11.0]);
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_time().build()?.block_on(program())
}
