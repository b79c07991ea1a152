//! Images of nibabel keep their elements and their spatial coordinates.

use std::fs;
use std::path::{Path, PathBuf};

use zarrox::json::Json;
use zarrox::{Array, DynArray, ErrorKind};
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
    assert!(all.len() > 50, "{}", all.len());
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

/// Returns the attribute for properties that only NIfTI has.
fn header(file: &str) -> Json {
    image(&data().join(file)).attributes()["nifti"].clone()
}

#[test]
fn headers_are_attributes() {
    let extended = header("extended.nii");
    assert_eq!(header("extended.hdr").to_string(), extended.to_string());
    assert_eq!(extended["version"], Json::from(1));
    assert_eq!(extended["intent_code"], Json::from(3));
    assert_eq!(extended["intent_name"], Json::from("by hand"));
    assert_eq!(numbers(&extended["intent_parameters"]), [12.5, 0.0, 0.0]);
    assert_eq!((extended["cal_max"].as_f64(), extended["cal_min"].as_f64()), (Some(250.0), Some(-3.0)));
    assert_eq!(extended["slice_code"], Json::from(2));
    assert_eq!((&extended["sform_code"], &extended["qform_code"]), (&Json::from(2), &Json::from(1)));
    assert_eq!(extended["qfac"], Json::from(-1));
    let extensions = extended["extensions"].as_array().unwrap();
    assert_eq!(extensions[0].to_string(), r#"{"code":6,"text":"Grüße"}"#);
    assert!(extensions[1]["base64"].as_str().unwrap().starts_with("//4AAQ"), "{}", extensions[1]);
    assert_eq!(header("second-i2.nii")["version"], Json::from(2));
    assert_eq!(header("spm.hdr")["version"], Json::from("analyze"));
    let units = image(&data().join("second-i2.nii")).attributes()["spacing_units"].clone();
    assert_eq!(units.to_string(), r#"["ms","um","um","um"]"#);
    let cifti = image(&data().join("cifti.dtseries.nii"));
    assert_eq!(cifti.shape(), [18, 5]);
    let xml = cifti.attributes()["nifti"]["extensions"][0].clone();
    assert_eq!(xml["code"], Json::from(32));
    assert!(xml["text"].as_str().unwrap().contains("CIFTI_STRUCTURE_THALAMUS_LEFT"), "{xml}");
}

#[test]
fn pairs_are_found_by_either_file_and_only_beside_it() {
    for (elements, header) in
        [("pair.img", "pair.hdr"), ("packed.img.gz", "packed.hdr.gz"), ("analyze.img", "analyze.hdr")]
    {
        let (one, other) = (image(&data().join(elements)), image(&data().join(header)));
        assert_eq!(
            one.read::<DynArray>(..).unwrap().into_bytes(),
            other.read::<DynArray>(..).unwrap().into_bytes()
        );
    }
    let directory = tempfile::tempdir().unwrap();
    fs::copy(data().join("pair.hdr"), directory.path().join("pair.hdr")).unwrap();
    let alone = open_file(directory.path().join("pair.hdr")).unwrap_err();
    assert_eq!(alone.kind(), ErrorKind::NotFound, "{alone}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(data().join("pair.img"), directory.path().join("pair.img")).unwrap();
        let elsewhere = open_file(directory.path().join("pair.hdr")).unwrap_err();
        assert_eq!(elsewhere.kind(), ErrorKind::Forbidden, "{elsewhere}");
    }
}

#[test]
fn damaged_extensions_are_left_out_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.nii");
    let mut bytes = fs::read(data().join("extended.nii")).unwrap();
    bytes[352..356].copy_from_slice(&1_000_000_i32.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let store = open_file(&path).unwrap();
    let [found] = store.left_out() else { panic!("{:?}", store.left_out()) };
    assert!(found.is_damaged() && found.to_string().contains("extension 1 (code 6)"), "{found}");
    Import::new().run(&path, directory.path().join("a.zarr")).unwrap_err();
}

#[test]
fn bytes_behind_what_is_compressed_are_ignored_and_checksums_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.nii.gz");
    let packed = fs::read(data().join("f4-big.nii.gz")).unwrap();
    fs::write(&path, [packed.as_slice(), b"anything"].concat()).unwrap();
    check(&image(&path), &expected(&data())["f4-big.nii.gz"], "with bytes behind it");
    let mut wrong = packed;
    let sum = wrong.len() - 8;
    wrong[sum] ^= 1;
    fs::write(&path, wrong).unwrap();
    assert_eq!(open_file(&path).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn others_and_damaged_files_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let second = fs::read(data().join("second.nii")).unwrap();
    let path = directory.path().join("second.nii");
    let mut as_text = second.clone();
    as_text[8] = b'\n';
    for bytes in [&second[..500], &second[..second.len() - 1], &as_text] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(open_file(&path).unwrap_err().kind(), ErrorKind::Corrupt);
    }
    let whole = fs::read(data().join("f4.nii")).unwrap();
    let path = directory.path().join("a.nii");
    let changed = |at: usize, bytes: &[u8]| {
        let mut whole = whole.clone();
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        whole
    };
    let cases = [
        ("truncated", whole[..whole.len() - 1].to_vec(), ErrorKind::Corrupt),
        ("another file", changed(344, b"ni1\0"), ErrorKind::NotFound),
        ("elements of a bit", changed(70, &[1, 0]), ErrorKind::Unsupported),
        ("no type", changed(70, &[0, 0]), ErrorKind::Corrupt),
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
