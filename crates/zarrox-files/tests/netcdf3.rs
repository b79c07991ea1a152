//! Unusual NetCDF-3 files, whose bytes are made here. The expected values are those that netCDF4-python reads,
//! except for damaged files.

use std::path::PathBuf;

use zarrox::json::{Json, json};
use zarrox::{Array, prelude::*};
use zarrox::{ErrorKind, OpenMode, OpenOptions};
use zarrox_files::{FileStore, Import, open_file};

/// The numbers of types.
const BYTE: u32 = 1;
const CHAR: u32 = 2;
const SHORT: u32 = 3;
const INT: u32 = 4;
const FLOAT: u32 = 5;

/// An attribute: its name, its type, its number of elements, and their bytes.
type Attribute<'a> = (&'a [u8], u32, u32, Vec<u8>);

/// A variable: its name, its dimensions, its attributes, its type, and its elements with the number of their
/// bytes in a record.
struct Variable<'a> {
    name: &'a [u8],
    dimensions: &'a [u32],
    attributes: Vec<Attribute<'a>>,
    of: u32,
    data: Vec<u8>,
}

fn variable<'a>(name: &'a [u8], dimensions: &'a [u32], of: u32, data: impl Into<Vec<u8>>) -> Variable<'a> {
    Variable { name, dimensions, attributes: Vec::new(), of, data: data.into() }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap()
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    all.resize(bytes.len().next_multiple_of(4), 0);
    all
}

fn name(bytes: &[u8]) -> Vec<u8> {
    [&count(bytes.len()).to_be_bytes()[..], &padded(bytes)].concat()
}

fn list(tag: u32, entries: &[Vec<u8>]) -> Vec<u8> {
    let tag = if entries.is_empty() { 0 } else { tag };
    [&tag.to_be_bytes()[..], &count(entries.len()).to_be_bytes(), &entries.concat()].concat()
}

fn attributes(all: &[Attribute<'_>]) -> Vec<u8> {
    let entry = |(title, of, number, bytes): &Attribute<'_>| {
        [name(title), of.to_be_bytes().to_vec(), number.to_be_bytes().to_vec(), padded(bytes)].concat()
    };
    list(12, &all.iter().map(entry).collect::<Vec<_>>())
}

/// Returns a file of the classic format, whose variables lie one after another.
fn classic(records: u32, dimensions: &[(&[u8], u32)], variables: &[Variable<'_>]) -> Vec<u8> {
    let dimensions: Vec<Vec<u8>> = dimensions
        .iter()
        .map(|(title, length)| [name(title), length.to_be_bytes().to_vec()].concat())
        .collect();
    let header = |begin: u32| {
        let mut begin = begin;
        let entries: Vec<Vec<u8>> = variables
            .iter()
            .map(|variable| {
                let own: Vec<u8> =
                    variable.dimensions.iter().flat_map(|number| number.to_be_bytes()).collect();
                let size = count(variable.data.len()).next_multiple_of(4);
                let entry = [
                    name(variable.name),
                    count(variable.dimensions.len()).to_be_bytes().to_vec(),
                    own,
                    attributes(&variable.attributes),
                    variable.of.to_be_bytes().to_vec(),
                    size.to_be_bytes().to_vec(),
                    begin.to_be_bytes().to_vec(),
                ];
                begin += size;
                entry.concat()
            })
            .collect();
        let parts = [
            b"CDF\x01".to_vec(),
            records.to_be_bytes().to_vec(),
            list(10, &dimensions),
            list(12, &[]),
            list(11, &entries),
        ];
        parts.concat()
    };
    let length = count(header(0).len());
    let data: Vec<u8> = variables.iter().flat_map(|variable| padded(&variable.data)).collect();
    [header(length), data].concat()
}

struct Opened {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn stored(bytes: &[u8]) -> Opened {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.nc");
    std::fs::write(&path, bytes).unwrap();
    Opened { _directory: directory, path }
}

fn open(bytes: &[u8]) -> (FileStore, Group) {
    let store = open_file(&stored(bytes).path).unwrap();
    let options = OpenOptions::new().mode(OpenMode::Read);
    let root = options.open((std::sync::Arc::new(store.clone()), "")).unwrap().into_group().unwrap();
    (store, root)
}

fn array(root: &Group, name: &str) -> Array {
    root.open(name).unwrap().into_array().unwrap()
}

#[test]
fn floats_of_attributes_keep_their_value() {
    let mut v = variable(b"v", &[], FLOAT, 1.5_f32.to_be_bytes());
    v.attributes = vec![
        (b"missing_value", FLOAT, 1, 1e20_f32.to_be_bytes().to_vec()),
        (b"add_offset", FLOAT, 1, 0.1_f32.to_be_bytes().to_vec()),
        (b"nan", FLOAT, 1, f32::NAN.to_be_bytes().to_vec()),
        (b"count", SHORT, 1, vec![0, 7]),
        (b"text", CHAR, 3, b"\xb0C\0".to_vec()),
    ];
    let (_, root) = open(&classic(0, &[], &[v]));
    let attributes = array(&root, "v").attributes().clone();
    assert_eq!(attributes["missing_value"].as_f64(), Some(f64::from(1e20_f32)));
    assert_eq!(attributes["add_offset"].as_f64(), Some(f64::from(0.1_f32)));
    assert_eq!(attributes["nan"], json!("NaN"));
    assert_eq!(attributes["text"], json!("°C"));
    assert_eq!(attributes["_nc_types"], json!("add_offset: float; nan: float; count: short"));
    assert_eq!(root.attributes()["_nc_kind"], json!("classic"));
}

#[test]
fn names_end_at_nul_and_may_be_latin_1() {
    let file = classic(0, &[(b"plugh\0\0", 2)], &[variable(b"T\xb0\0", &[0], BYTE, [1, 2])]);
    let (_, root) = open(&file);
    let found = array(&root, "T°");
    assert_eq!(found.dimension_names().unwrap(), [Some("plugh".to_owned())]);
    assert_eq!(found.read::<ArrayD<i8>>(..).unwrap().sum(), 3);
}

#[test]
fn missing_values_that_a_type_does_not_have_are_noted() {
    let mut v = variable(b"v", &[], SHORT, [0, 5]);
    v.attributes = vec![(b"_FillValue", FLOAT, 1, f32::NAN.to_be_bytes().to_vec())];
    let (store, root) = open(&classic(0, &[], &[v]));
    assert_eq!(store.notes().len(), 1);
    assert!(store.notes()[0].starts_with("/v: _FillValue"), "{:?}", store.notes());
    assert!(store.left_out().is_empty());
    assert!(!array(&root, "v").attributes().contains_key("_FillValue"));
}

#[test]
fn the_missing_value_of_letters_is_their_fill_value() {
    let mut v = variable(b"v", &[0], CHAR, *b"a-c");
    v.attributes = vec![(b"_FillValue", CHAR, 1, b"-".to_vec())];
    let (_, root) = open(&classic(0, &[(b"x", 3)], &[v]));
    let found = array(&root, "v");
    assert_eq!(found.fill_bytes().as_bytes(), b"-");
    assert!(!found.attributes().contains_key("_FillValue"));
    assert_eq!(found.attributes()["_nc_types"], json!("_FillValue: char"));
}

#[test]
fn a_lone_variable_has_records_without_padding() {
    // Three records of one short, and an unknown record count.
    let data = [0, 1, 0, 2, 0, 3];
    let mut file = classic(u32::MAX, &[(b"t", 0)], &[variable(b"v", &[0], SHORT, data)]);
    file.truncate(file.len() - 2);
    let (_, root) = open(&file);
    assert_eq!(array(&root, "v").read::<ArrayD<i16>>(..).unwrap().into_raw_vec_and_offset().0, [1, 2, 3]);
    assert_eq!(root.attributes()["_nc_dimensions"], json!("t = UNLIMITED (3)"));
    // If there are two variables, each takes a multiple of four bytes in a record.
    let both = [variable(b"v", &[0], SHORT, [0, 1]), variable(b"w", &[0], BYTE, [5])];
    let mut file = classic(2, &[(b"t", 0)], &both);
    file.extend_from_slice(&[0, 2, 0, 0, 6, 0, 0, 0]);
    let (_, root) = open(&file);
    assert_eq!(array(&root, "v").read::<ArrayD<i16>>(..).unwrap().into_raw_vec_and_offset().0, [1, 2]);
    assert_eq!(array(&root, "w").read::<ArrayD<i8>>(..).unwrap().into_raw_vec_and_offset().0, [5, 6]);
}

#[test]
fn files_without_records_have_empty_arrays() {
    let (_, root) = open(&classic(0, &[(b"t", 0), (b"x", 2)], &[variable(b"v", &[0, 1], INT, [])]));
    assert_eq!(array(&root, "v").shape(), [0, 2]);
}

#[test]
fn files_that_are_cut_off_are_damaged() {
    let file = classic(0, &[(b"x", 1000)], &[variable(b"v", &[0], INT, vec![1; 4000])]);
    let whole = file.len();
    let (store, _) = open(&file[..whole - 100]);
    let found = store.left_out().first().unwrap();
    assert_eq!(found.kind, ErrorKind::Corrupt);
    assert!(found.reason.contains(&format!("{} bytes", whole - 100)), "{}", found.reason);
    assert!(found.reason.contains(&whole.to_string()), "{}", found.reason);
    for length in [4, 8, 20, 60] {
        let error = open_file(&stored(&file[..length]).path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error}");
    }
    let records = classic(9, &[(b"t", 0)], &[variable(b"v", &[0], INT, vec![0; 32])]);
    let (store, _) = open(&records);
    assert_eq!(store.left_out()[0].kind, ErrorKind::Corrupt);
}

#[test]
fn headers_that_contradict_themselves_are_damaged() {
    let x: (&[u8], u32) = (b"x", 2);
    let v = || variable(b"v", &[0], BYTE, [1, 2]);
    let (store, root) = open(&classic(0, &[x], &[v(), variable(b"v\0", &[0], BYTE, [3, 4])]));
    assert_eq!(store.left_out()[0].kind, ErrorKind::Corrupt);
    assert_eq!(array(&root, "v").read::<ArrayD<i8>>(..).unwrap().sum(), 3);
    let damaged = [
        classic(0, &[x, x], &[v()]),
        classic(1, &[(b"t", 0), (b"u", 0)], &[]),
        classic(1, &[x, (b"t", 0)], &[variable(b"v", &[0, 1], BYTE, [1, 2])]),
        classic(0, &[(b"", 2)], &[]),
        classic(0, &[x], &[variable(b"v", &[1], BYTE, [1, 2])]),
    ];
    for (number, file) in damaged.iter().enumerate() {
        let error = open_file(&stored(file).path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{number}: {error}");
    }
}

#[test]
fn what_is_told_survives_both_formats() {
    let mut v = variable(b"v", &[0, 1], SHORT, [0, 1, 0, 2, 0, 3, 0, 4]);
    v.attributes = vec![(b"valid_range", INT, 2, vec![0, 0, 0, 0, 0, 0, 0, 9])];
    let variables = [v, variable(b"a", &[1], BYTE, [1, 2])];
    let opened = stored(&classic(2, &[(b"t", 0), (b"x", 2), (b"unused", 9)], &variables));
    for format in [Format::V2, Format::V3] {
        let place = opened.path.with_extension(format.to_string());
        let copier = zarrox_tools::copy::Copier::new().format(format);
        Import::new().copier(copier).run(&opened.path, &place).unwrap();
        let root = zarrox::open_group(&place).unwrap();
        let told = |name: &str| root.attributes().get(name).cloned().unwrap_or(Json::Null);
        assert_eq!(told("_nc_dimensions"), json!("t = UNLIMITED (2); x = 2; unused = 9"));
        assert_eq!(told("_nc_variables"), json!("v a"));
        assert_eq!(array(&root, "v").attributes()["_nc_types"], json!("valid_range: int"));
        // xarray would mask a fill value of Zarr v2.
        assert_eq!(array(&root, "v").metadata().fill_value.is_none(), format == Format::V2);
    }
}

#[test]
fn a_damaged_variable_that_is_asked_for_is_damage_and_not_missing() {
    let whole =
        classic(0, &[(b"x", 4)], &[variable(b"a", &[0], INT, [0; 16]), variable(b"b", &[0], INT, [1; 16])]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.nc");
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let run = |import: Import| import.run(&path, directory.path().join("a.zarr"));
    for import in [Import::new().node("b"), Import::new().node("a").node("b")] {
        let error = run(import).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("truncated"), "{error}");
    }
    assert_eq!(run(Import::new().node("c")).unwrap_err().kind(), ErrorKind::NotFound);
    run(Import::new().node("a")).unwrap();
}
