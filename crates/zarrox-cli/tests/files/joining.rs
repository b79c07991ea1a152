//! Concatenation of many files into one hierarchy, and imports of parts of files.

#![cfg(feature = "hdf5")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::time::Duration;

use serde_json::json;

use crate::common::Sandbox;

/// Writes a NetCDF file with `count` times from `first` on, and a field that has a row of `width` elements for each time.
fn file(place: &Sandbox, name: &str, first: i32, count: usize, width: usize) {
    let _ = std::fs::remove_dir_all(place.path("made.zarr"));
    place.ok(&[
        "create",
        "made.zarr",
        "--group",
        "--attrs",
        &format!(r#"{{"title": "same", "source": "{name}"}}"#),
    ]);
    let array = |path: &str, shape: &str, names: &str, attrs: &str, values: Vec<u8>| {
        let line = [
            "import",
            "-",
            path,
            "--dtype",
            "int32",
            "--shape",
            shape,
            "--dimension-names",
            names,
            "--attrs",
            attrs,
            "--chunks",
            shape,
            "--compressor",
            "zlib:1",
        ];
        let run = place.run_with(&line, &values);
        assert_eq!(run.code, 0, "{}", run.err);
    };
    let bytes =
        |values: &mut dyn Iterator<Item = i32>| values.flat_map(i32::to_ne_bytes).collect::<Vec<u8>>();
    let last = first + i32::try_from(count).unwrap();
    let units = r#"{"units": "days since 2001-01-01", "calendar": "standard"}"#;
    array("made.zarr/time", &count.to_string(), "time", units, bytes(&mut (first..last)));
    let mut values = (first..last)
        .flat_map(|time| (0..width).map(move |x| time * 1000 + i32::try_from(x % 1000).unwrap()));
    array("made.zarr/t", &format!("{count},{width}"), "time,x", r#"{"_FillValue": -9}"#, bytes(&mut values));
    let mut x = (0..width).map(|x| i32::try_from(x).unwrap());
    array("made.zarr/x", &width.to_string(), "x", "{}", bytes(&mut x));
    place.ok(&["export", "made.zarr", name, "--force"]);
}

#[test]
fn an_import_with_force_begins_anew_where_another_one_failed() {
    let place = Sandbox::new();
    file(&place, "a.nc", 0, 300, 2);
    file(&place, "b.nc", 0, 3, 2);
    place.ok(&["import", "b.nc", "old.zarr"]);
    for target in ["old.zarr", "new.zarr"] {
        let run = place.run(&["import", "a.nc", target, "--force", "--dtype", "int8"]);
        assert_ne!(run.code, 0);
        let left = if target == "old.zarr" { ".importing-old.zarr" } else { target };
        assert!(place.path(left).exists(), "{}", run.err);
        place.ok(&["import", "b.nc", target, "--force"]);
        assert_eq!(place.json(&["dump", &format!("{target}/time"), "--json"]), json!([0, 1, 2]));
        assert!(!place.path(&format!(".importing-{target}")).exists());
    }
}

#[test]
fn files_are_joined_in_the_order_of_their_coordinates() {
    let place = Sandbox::new();
    for (name, first, count) in [("b.nc", 3, 4), ("a.nc", 7, 2), ("c.nc", 0, 3)] {
        file(&place, name, first, count, 2);
    }
    place.ok(&["import", "a.nc", "b.nc", "--concat", "time", "c.nc", "all.zarr"]);
    assert_eq!(place.json(&["dump", "all.zarr/time", "--json"]), json!([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    let column = place.json(&["dump", "all.zarr/t[:, 1]", "--json"]);
    assert_eq!(column, json!([1, 1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001]));
    assert_eq!(place.json(&["info", "all.zarr/t", "--json"])["chunk_shape"], json!([3, 2]));
    // Existing arrays are continued, also in v2, where the fill value is the missing-value marker.
    for format in ["v2", "v3"] {
        place.ok(&["import", "c.nc", "some.zarr", "--concat", "time", "--force", "--format", format]);
        place.ok(&["import", "a.nc", "b.nc", "some.zarr", "--concat", "time", "--append"]);
        assert_eq!(place.json(&["dump", "some.zarr/t[:, 1]", "--json"]), column, "{format}");
        let said = place.fails(6, &["import", "a.nc", "some.zarr", "--concat", "time", "--append"]);
        assert!(said.contains("overlap") && said.contains("'/time'"), "{said}");
        assert!(!place.path("some.zarr/.zarrox-append.json").exists());
    }
    place.fails(2, &["import", "a.nc", "b.nc", "two.zarr"]);
    place.fails(2, &["import", "a.nc"]);
    assert!(!place.path("two.zarr").exists());
}

#[test]
fn a_new_dimension_is_the_first_one_of_what_is_no_coordinate() {
    let place = Sandbox::new();
    for name in ["m2.nc", "m10.nc", "m1.nc"] {
        file(&place, name, 0, 2, 2);
    }
    let said = place.run(&["import", "m1.nc", "m10.nc", "m2.nc", "all.zarr", "--concat", "member"]);
    assert!(said.code == 0 && said.err.contains("new one"), "{}", said.err);
    assert_eq!(place.json(&["info", "all.zarr/t", "--json"])["shape"], json!([3, 2, 2]));
    assert_eq!(place.json(&["info", "all.zarr/time", "--json"])["shape"], json!([2]));
    assert_eq!(place.json(&["attrs", "get", "all.zarr", "source"]), json!("m1.nc"));
}

#[test]
fn ranges_members_and_chunks_have_names() {
    let place = Sandbox::new();
    file(&place, "a.nc", 0, 90, 4);
    place.ok(&["import", "a.nc", "--select", "time=2001-02-01..2001-02-28,x=1:3", "feb.zarr"]);
    assert_eq!(place.json(&["info", "feb.zarr/t", "--json"])["shape"], json!([28, 2]));
    assert_eq!(place.json(&["dump", "feb.zarr/t[0]", "--json"]), json!([31001, 31002]));
    place.ok(&["import", "a.nc", "c.zarr", "--chunks", "time=10,x=-1", "--member", "t", "--member", "time"]);
    assert_eq!(place.ok(&["ls", "c.zarr"]), "t\ntime\n");
    assert_eq!(place.json(&["info", "c.zarr/t", "--json"])["chunk_shape"], json!([10, 4]));
    assert_eq!(place.json(&["info", "c.zarr/time", "--json"])["chunk_shape"], json!([10]));
    place.ok(&["cp", "c.zarr", "d.zarr", "--chunks", "x=2", "--shards", "x=4"]);
    let info = place.json(&["info", "d.zarr/t", "--json"]);
    assert_eq!((&info["chunk_shape"], &info["shard_shape"]), (&json!([10, 2]), &json!([10, 4])));
    assert_eq!(place.json(&["info", "d.zarr/time", "--json"])["chunk_shape"], json!([10]));
    place.ok(&["import", "a.nc", "e.zarr", "--exclude", "t"]);
    assert_eq!(place.ok(&["ls", "e.zarr"]), "time\nx\n");
    assert!(place.fails(2, &["import", "a.nc", "no.zarr", "--chunks", "2,2"]).contains("time=10"));
    place.fails(2, &["import", "a.nc", "no.zarr", "--select", "y=1:2"]);
    place.fails(2, &["import", "a.nc", "no.zarr", "--select", "time"]);
    place.fails(3, &["import", "a.nc", "no.zarr", "--member", "t", "--member", "none"]);
    assert!(!place.path("no.zarr").exists());
}

/// Returns a NetCDF-3 file with a complete variable, and a variable whose end is missing.
fn cut() -> Vec<u8> {
    let mut bytes =
        b"CDF\x01\0\0\0\0\0\0\0\x0a\0\0\0\x01\0\0\0\x01x\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0\x02"
            .to_vec();
    for (name, begin) in [(b'a', 116_u32), (b'b', 120)] {
        bytes.extend([
            0, 0, 0, 1, name, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4,
        ]);
        bytes.extend(begin.to_be_bytes());
    }
    bytes.extend([0, 1, 0, 2, 0, 3]);
    bytes
}

#[test]
fn damage_is_damage_whatever_the_options_are() {
    let place = Sandbox::new();
    place.write("cut.nc", cut());
    for options in [&[][..], &["--skip-unsupported"]] {
        let said = place.fails(5, &[&["import", "cut.nc"], options, &["a.zarr"]].concat());
        assert!(said.contains("/b") && !said.contains("again"), "{said}");
        assert!(!place.path("a.zarr").exists());
    }
    let run = place.run(&["import", "cut.nc", "a.zarr", "--skip-damaged"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines: Vec<&str> = run.err.lines().collect();
    assert!(lines[0].starts_with("zarrox: note: left out: /b: "), "{lines:?}");
    assert_eq!(lines[1..], ["zarrox: note: left out 1 part"]);
    assert_eq!(place.json(&["dump", "a.zarr/a", "--json"]), json!([1, 2]));
    // One of several files is damaged.
    file(&place, "one.nc", 0, 2, 2);
    place.write("two.nc", &place.read("one.nc")[..200]);
    place.fails(5, &["import", "one.nc", "two.nc", "b.zarr", "--concat", "time", "--skip-unsupported"]);
    let run = place.run(&["import", "one.nc", "two.nc", "b.zarr", "--concat", "time", "--skip-damaged"]);
    assert!(
        run.code == 0 && run.err.ends_with("left out 1 part\n") && run.err.contains("two.nc"),
        "{}",
        run.err
    );
}

#[test]
fn kinds_that_are_not_read_are_named() {
    let place = Sandbox::new();
    for (bytes, name) in [
        (&b"GRIB\0\0\0\x02"[..], "GRIB2"),
        (b"\x0e\x03\x13\x01", "HDF4"),
        (b"SIMPLE  =   T", "FITS"),
        (b"\x1f\x8b\x08\0", "gunzip"),
        (b"MATLAB 5.0 MAT-file", "v7.3"),
    ] {
        place.write("x.npy", bytes);
        assert!(place.fails(6, &["import", "x.npy", "x.zarr"]).contains(name), "{name}");
    }
    place.ok(&["create", "z.zarr", "--shape", "2", "--dtype", "int8"]);
    assert!(place.fails(6, &["import", "z.zarr", "x.zarr"]).contains("zarrox cp"));
}

#[test]
fn what_was_killed_goes_on_by_the_same_command() {
    let place = Sandbox::new();
    for (name, first) in [("a.nc", 0), ("b.nc", 7), ("c.nc", 12)] {
        file(&place, name, first, if first == 0 { 7 } else { 5 }, 60_000);
    }
    let files = ["a.nc", "b.nc", "c.nc"];
    let import = |target: &'static str, files: &[&'static str], more: &[&'static str]| {
        [&["import"], files, &[target, "--concat", "time"], more].concat()
    };
    place.ok(&import("whole.zarr", &files, &[]));
    let digest = |path: &str| place.ok(&["digest", path]).split_whitespace().next().unwrap().to_owned();
    let whole = digest("whole.zarr");
    for milliseconds in [1, 5, 12, 25, 45, 70, 110] {
        let killed = |line: &[&str]| {
            let mut child = place.command(line).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(milliseconds));
            let _ = child.kill();
            child.wait().unwrap();
        };
        let _ = std::fs::remove_dir_all(place.path("all.zarr"));
        killed(&import("all.zarr", &files, &[]));
        let run = place.run(&import("all.zarr", &files, &[]));
        assert!(run.code == 0 || run.err.contains("already"), "{}", run.err);
        assert_eq!(digest("all.zarr"), whole, "{milliseconds} ms");
        let _ = std::fs::remove_dir_all(place.path("some.zarr"));
        place.ok(&import("some.zarr", &files[..1], &[]));
        killed(&import("some.zarr", &files[1..], &["--append"]));
        let run = place.run(&import("some.zarr", &files[1..], &["--append"]));
        assert!(run.code == 0 || run.err.contains("overlap"), "{}", run.err);
        assert_eq!(digest("some.zarr"), whole, "{milliseconds} ms, appended");
    }
}

#[test]
fn an_array_that_a_file_lacks_needs_a_missing_value() {
    let place = Sandbox::new();
    file(&place, "b.nc", 3, 3, 2);
    file(&place, "a.nc", 0, 3, 2);
    let count: Vec<u8> = (0..3_i32).flat_map(i32::to_ne_bytes).collect();
    let line =
        ["import", "-", "made.zarr/count", "--dtype", "int32", "--shape", "3", "--dimension-names", "time"];
    assert_eq!(place.run_with(&line, &count).code, 0);
    place.ok(&["export", "made.zarr", "a.nc", "--force"]);
    let joined = ["import", "a.nc", "b.nc", "all.zarr", "--concat", "time"];
    let said = place.fails(6, &joined);
    assert!(said.contains("'/count'") && said.contains("--fill-missing puts missing values there"), "{said}");
    let said = place.fails(6, &[&joined[..], &["--fill-missing"]].concat());
    assert!(said.contains("'/count'") && said.contains("--fill-missing=VALUE gives one"), "{said}");
    place.ok(&[&joined[..], &["--fill-missing=-9"]].concat());
    assert_eq!(place.ok(&["dump", "all.zarr/count"]).trim(), "[ 0  1  2 -9 -9 -9]");
    let said = place.fails(2, &["import", "a.nc", "b.zarr", "--select", "time=0:1,time=1:2"]);
    assert!(said.contains("selected twice"), "{said}");
}

#[test]
fn an_import_names_the_option_for_what_its_format_lacks() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr/x", "--shape", "3", "--dtype", "bfloat16"]);
    place.ok(&["create", "a.zarr/y", "--shape", "3", "--dtype", "int8"]);
    place.ok(&["export", "a.zarr", "a.h5"]);
    let line = ["import", "a.h5", "b.zarr", "--format", "v2"];
    let said = place.fails(6, &line);
    assert!(said.contains("--allow data-types"), "{said}");
    place.ok(&[&line[..], &["--allow", "data-types"]].concat());
    assert_eq!(place.ok(&["ls", "b.zarr"]).trim(), "y");
}
