//! Nodes and options as text.

use std::error::Error;

use zarrox::codecs::Zstd;
use zarrox::{Array, prelude::*};
use zarrox::{MissingChunks, OpenMode, OpenOptions};

fn nodes() -> Result<(tempfile::TempDir, Array, Group), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let group = zarrox::create_group(directory.path().join("a.zarr"))?;
    let array = group
        .create_array("g/t")
        .shape([6, 10])
        .chunks([3, 5])
        .data_type(DataType::Float32)
        .fill_value(1.5_f32)
        .compressor(Zstd::level(3))
        .create()?;
    Ok((directory, array, group))
}

#[test]
fn nodes_are_one_line() {
    let (directory, array, group) = nodes().unwrap();
    let root = directory.path().join("a.zarr").display().to_string();
    assert_eq!(array.to_string(), format!("<Array {root}/g/t shape=(6, 10) dtype=float32>"));
    assert_eq!(format!("{array:?}"), format!("Array(\"{root}/g/t\", v3, float32, [6, 10])"));
    assert_eq!(format!("{array:#?}"), format!("{array:?}"));
    assert_eq!(group.to_string(), format!("<Group {root}>"));
    assert_eq!(format!("{group:?}"), format!("Group(\"{root}\", v3)"));
    let (one, other) = (Node::Array(array.clone()), Node::Group(group.clone()));
    assert_eq!((one.to_string(), format!("{one:?}")), (array.to_string(), format!("{array:?}")));
    assert_eq!((other.to_string(), format!("{other:?}")), (group.to_string(), format!("{group:?}")));
}

#[test]
fn options_are_one_line() {
    let options = OpenOptions::new().mode(OpenMode::Read).missing_chunks(MissingChunks::Error).threads(3);
    assert_eq!(
        format!("{:?}", options.storage_option("password", "secret")),
        "OpenOptions { mode: Read, format: None, consolidated: Auto, strictness: Lenient, \
         metadata_only: false, threads: 3, storage: {\"password\"}, .. }"
    );
}

#[test]
fn the_description_of_an_array_has_a_line_for_each_fact() {
    let (directory, array, _group) = nodes().unwrap();
    array.write(.., 2.5_f32).unwrap();
    let text = array.info().unwrap().to_string();
    let line = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        line[name.len()..].trim().to_owned()
    };
    assert_eq!(line("path"), "/g/t");
    assert_eq!(line("store"), directory.path().join("a.zarr").display().to_string());
    for (name, value) in [
        ("format", "v3"),
        ("shape", "(6, 10)"),
        ("data type", "float32"),
        ("chunk shape", "(3, 5)"),
        ("fill value", "1.5"),
        ("bytes  ", "240"),
        ("chunks stored", "4 of 4"),
    ] {
        assert_eq!(line(name), value, "{text}");
    }
    assert!(text.contains("zstd"), "{text}");
}
