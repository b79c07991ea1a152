//! An import detects damaged chunks, even if their bytes are copied unchanged, and keeps all other elements.

use std::path::{Path, PathBuf};

use zarrox::ErrorKind;
use zarrox::codecs::Zlib;
use zarrox::prelude::*;
use zarrox_files::{Import, export_file};

/// Makes a file of four times in two chunks. `first` is the first time.
fn file(directory: &Path, first: i32) -> PathBuf {
    let group = directory.join(format!("{first}.zarr"));
    let root = zarrox::create_group(&group).unwrap();
    for (name, factor) in [("time", 1), ("v", 100)] {
        let array = root.create_array(name).shape([4]).data_type(DataType::Int32).dimension_names(["time"]);
        let array = if name == "v" { array.chunks([2]).compressor(Zlib::level(5)) } else { array };
        let values = ndarray::Array1::from_shape_fn(4, |at| factor * (first + i32::try_from(at).unwrap()));
        array.create().unwrap().write(.., &values).unwrap();
    }
    let path = directory.join(format!("{first}.h5"));
    export_file(&group, &path).unwrap();
    path
}

/// Flips a bit in the stored bytes of a chunk of `v`.
fn damage(path: &Path, chunk: u64) {
    let store = std::sync::Arc::new(zarrox_files::open_file(path).unwrap());
    let array = zarrox::OpenOptions::new().mode(zarrox::OpenMode::Read).open((store, "v")).unwrap();
    let encoded = array.into_array().unwrap().raw().read(&[chunk]).unwrap().unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.windows(encoded.len()).position(|part| part == &encoded[..]).unwrap();
    bytes[at + encoded.len() - 1] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn values(path: &Path) -> Vec<i32> {
    zarrox::open_array(path.join("v")).unwrap().read::<ArrayD<i32>>(..).unwrap().iter().copied().collect()
}

#[test]
fn chunks_that_are_passed_on_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), 1);
    damage(&path, 1);
    let target = directory.path().join("a");
    let error = Import::new().run(&path, &target).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let import = Import::new().skip_damaged(true);
    let imported = import.plan(&path, directory.path().join("b")).unwrap().run_counted().unwrap();
    assert_eq!(imported.left_out.len(), 1, "{:?}", imported.left_out);
    assert!(imported.left_out[0].is_damaged() && imported.left_out[0].path == "/v/c/1");
    assert_eq!(values(&directory.path().join("b")), [100, 200, 0, 0]);
}

#[test]
fn a_damaged_chunk_costs_no_elements_of_other_files() {
    let directory = tempfile::tempdir().unwrap();
    let paths = [1, 5, 9].map(|first| file(directory.path(), first));
    damage(&paths[1], 1);
    let target = directory.path().join("all");
    // Chunks of three times have elements of more than one file.
    let import = Import::new().concat("time").skip_damaged(true);
    let copier = zarrox_tools::copy::Copier::new().chunks([3]);
    let imported = import.copier(copier).plan_all(&paths, &target).unwrap().run_counted().unwrap();
    assert_eq!(values(&target), [100, 200, 300, 400, 500, 600, 0, 0, 900, 1000, 1100, 1200]);
    assert_eq!(imported.left_out.len(), 1, "{:?}", imported.left_out);
}
