//! Images of nibabel have their elements and their place in space.

use std::fs;
use std::path::{Path, PathBuf};

use zarrox::json::Json;
use zarrox::{Array, ErrorKind};
use zarrox_files::{Import, Kind, open_file};

use crate::expected::{self, check, expected, numbers, opened};

fn data() -> PathBuf {
    expected::data("nifti")
}

fn image(path: &Path) -> Array {
    opened(path).into_array().unwrap()
}

#[test]
fn every_type_has_its_elements() {
    let all = expected(&data());
    for (file, said) in &all {
        let path = data().join(file);
        assert_eq!(Kind::of(&path).unwrap(), Some(Kind::Nifti), "{file}");
        check(&image(&path), said, file);
    }
    assert!(all.len() > 30);
}

#[test]
fn dimensions_and_places_have_names() {
    let array = image(&data().join("dimensions-7.nii"));
    let names: Vec<&str> = array.dimension_names().unwrap().iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["dim_7", "dim_6", "dim_5", "t", "z", "y", "x"]);
    let units = image(&data().join("f4.nii")).attributes()["spacing_units"].clone();
    assert_eq!(units.to_string(), r#"["mm","mm","mm"]"#);
    let scaled = image(&data().join("scaled.nii"));
    assert_eq!(scaled.attributes()["description"], Json::from("made by hand"));
    for (file, said) in &expected(&data()) {
        let array = image(&data().join(file));
        assert_eq!(numbers(&array.attributes()["spacing"]), numbers(&said["spacing"]), "{file}");
        let affine = array.attributes().get("affine").map(numbers);
        let of_nibabel = said.get("affine").map(numbers);
        assert_eq!(affine.is_some(), of_nibabel.is_some(), "{file}");
        for (own, other) in affine.into_iter().flatten().zip(of_nibabel.into_iter().flatten()) {
            assert!((own - other).abs() < 1e-5 * (1.0 + other.abs()), "{file}: {own} and {other}");
        }
        let scaling = ["scale_factor", "add_offset"].map(|name| array.attributes().get(name).map(numbers));
        let of_nibabel = said["scaling"].as_array().unwrap();
        if of_nibabel[0] == Json::Null || numbers(&said["scaling"]) == [1.0, 0.0] {
            assert_eq!(scaling, [None, None], "{file}");
        } else {
            assert_eq!(scaling.map(Option::unwrap).concat(), numbers(&said["scaling"]), "{file}");
        }
    }
}

#[test]
fn an_import_has_the_elements_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("brain.zarr");
    Import::new().run(data().join("anatomical.nii"), &target).unwrap();
    let array = zarrox::open_array(&target).unwrap();
    check(&array, &expected(&data())["anatomical.nii"], "the import");
}

#[test]
fn others_and_damaged_files_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let second = open_file(data().join("second.nii")).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Unsupported);
    assert!(second.to_string().contains("NIfTI-2"), "{second}");
    let whole = fs::read(data().join("f4.nii")).unwrap();
    let path = directory.path().join("a.nii");
    let changed = |at: usize, bytes: &[u8]| {
        let mut whole = whole.clone();
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        whole
    };
    let cases = [
        ("cut off", whole[..whole.len() - 1].to_vec(), ErrorKind::Corrupt),
        ("another file", changed(344, b"ni1\0"), ErrorKind::Unsupported),
        ("no dimension", changed(40, &[0, 0]), ErrorKind::Corrupt),
        ("too many dimensions", changed(40, &[9, 9]), ErrorKind::Corrupt),
        ("a length of zero", changed(42, &[0, 0]), ErrorKind::Corrupt),
        ("larger than the file", changed(42, &[0xff, 0x7f]), ErrorKind::Corrupt),
        ("an unknown type", changed(70, &[99, 0]), ErrorKind::Unsupported),
        ("long floats", changed(70, &[0, 6]), ErrorKind::Unsupported),
        ("an offset that is NaN", changed(108, &f32::NAN.to_le_bytes()), ErrorKind::Corrupt),
        ("an offset before the file", changed(108, &(-8_f32).to_le_bytes()), ErrorKind::Corrupt),
        ("an offset behind the file", changed(108, &1e6_f32.to_le_bytes()), ErrorKind::Corrupt),
    ];
    for (case, bytes, kind) in cases {
        fs::write(&path, bytes).unwrap();
        let found = open_file(&path).expect_err(case);
        assert_eq!(found.kind(), kind, "{case}: {found}");
        assert!(found.to_string().contains("a.nii"), "{case}: {found}");
    }
    let packed = fs::read(data().join("f4-big.nii.gz")).unwrap();
    let path = directory.path().join("a.nii.gz");
    for end in [2, 20, packed.len() / 2, packed.len() - 20] {
        fs::write(&path, &packed[..end]).unwrap();
        assert_eq!(open_file(&path).unwrap_err().kind(), ErrorKind::Corrupt, "{end} of {}", packed.len());
    }
}
