//! The commands on zip archives.

#![cfg(unix)]

use crate::common::Sandbox;

#[test]
fn arrays_in_an_archive() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zip/g/ints", "--shape", "2,3", "--dtype", "int16", "--chunks", "1,3"]);
    let input: Vec<u8> = (0..6_i16).flat_map(i16::to_le_bytes).collect();
    let imported =
        place.run_with(&["import", "-", "a.zip/g/raw", "--dtype", "<i2", "--shape", "2,3"], &input);
    assert_eq!((imported.code, imported.err.as_str()), (0, ""));
    assert!(place.path("a.zip").is_file());
    assert!(place.ok(&["tree", "a.zip"]).contains("raw"));
    assert!(place.ok(&["info", "a.zip/g/raw"]).contains("int16"));
    assert!(place.ok(&["dump", "a.zip/g/raw"]).contains('5'));
    place.ok(&["attrs", "set", "a.zip/g", "unit", "3"]);
    assert_eq!(place.ok(&["attrs", "get", "a.zip/g", "unit"]).trim(), "3");
    place.ok(&["mv", "a.zip/g/raw", "a.zip/moved"]);
    place.ok(&["rm", "--force", "a.zip/g"]);
    let listed = place.ok(&["ls", "a.zip"]);
    assert!(listed.contains("moved") && !listed.contains('g'), "{listed}");
    place.ok(&["consolidate", "a.zip"]);
    place.ok(&["convert", "a.zip", "b.zarr", "--to", "v2"]);
    assert!(place.ok(&["dump", "b.zarr/moved"]).contains('5'));
    place.ok(&["convert", "b.zarr", "c.zip", "--to", "v3"]);
    assert_eq!(place.ok(&["dump", "c.zip/moved"]), place.ok(&["dump", "b.zarr/moved"]));
}

#[test]
fn importing_over_an_archive() {
    let place = Sandbox::new();
    for first in 0..2_u8 {
        let run = place
            .run_with(&["import", "-", "a.zip", "--dtype", "u1", "--shape", "3", "--force"], &[first, 2, 3]);
        assert_eq!((run.code, run.err.as_str()), (0, ""));
        let exported = place.run(&["export", "a.zip", "-", "--raw"]);
        assert!(exported.code != 0 || exported.out == [first, 2, 3]);
        assert!(place.ok(&["dump", "a.zip"]).contains(&first.to_string()));
    }
    assert_eq!(std::fs::read_dir(place.path("")).map(Iterator::count).ok(), Some(1));
}

#[test]
fn what_is_no_archive() {
    let place = Sandbox::new();
    assert_eq!(place.run(&["info", "missing.zip"]).code, 3);
    assert!(!place.path("missing.zip").exists());
    assert!(std::fs::write(place.path("bad.zip"), "no archive").is_ok());
    let run = place.run(&["info", "bad.zip"]);
    assert_eq!(run.code, 5);
    assert!(run.err.contains("this is not a zip archive"), "{}", run.err);
}
