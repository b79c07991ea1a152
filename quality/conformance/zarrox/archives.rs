//! The exchange of zip archives with zarr-python; see `quality/conformance/archives.py`.

use std::path::Path;

use zarrox::stores::{Store, ZipMode, ZipStore};
use zarrox::{Format, OpenOptions};
use zarrox::{prelude::*, s};

use crate::failure::Failure;

const SHAPE: [usize; 2] = [6, 10];

/// Writes or reads the archives of a directory.
pub(crate) fn run(action: &str, directory: &Path) -> Result<(), Failure> {
    if action.starts_with("write") {
        let formats: &[_] = if action == "write-v2" { &[Format::V2] } else { &[Format::V2, Format::V3] };
        for &format in formats {
            let name = if format == Format::V2 { "v2" } else { "v3" };
            for (kind, level) in [("stored", None), ("deflated", Some(6))] {
                write(&directory.join(format!("{name}-{kind}.zip")), format, level)?;
            }
        }
        return Ok(());
    }
    let mut found = 0;
    for entry in std::fs::read_dir(directory)? {
        read(&entry?.path(), action == "changed")?;
        found += 1;
    }
    if found == 0 { Err("no archives were found".into()) } else { Ok(()) }
}

/// Writes a group with an array; the third row is overwritten in an archive that was closed before.
fn write(path: &Path, format: Format, level: Option<u32>) -> Result<(), Failure> {
    let store = ZipStore::open(path, ZipMode::Create)?.deflate(level);
    let options = OpenOptions::new().format(format);
    let root = options.create_group((std::sync::Arc::new(store.clone()), "/"))?;
    let array = root.create_array("g/a").shape([6, 10]).chunks([4, 5]).data_type(DataType::Int32).create()?;
    array.write(.., numbers())?;
    store.flush()?;
    let array = zarrox::open(path.join("g/a"))?.into_array()?;
    array.write(s![2, ..], ndarray::arr1(&[7; 10]))?;
    Ok(array.flush()?)
}

fn read(path: &Path, changed: bool) -> Result<(), Failure> {
    let array = zarrox::open(path.join("g/a"))?.into_array()?;
    let mut expected = numbers();
    expected.row_mut(2).fill(7);
    if changed {
        expected.row_mut(3).fill(8);
    }
    if array.read::<ArrayD<i32>>(..)? == expected.into_dyn() {
        return Ok(());
    }
    Err(format!("{} has other values", path.display()).into())
}

fn numbers() -> ndarray::Array2<i32> {
    let elements = ndarray::Array::from_iter(0..60);
    elements.into_shape_with_order(SHAPE).unwrap_or_default()
}
