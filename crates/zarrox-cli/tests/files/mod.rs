//! Importing and exporting files.

#[cfg(feature = "images")]
mod images;
mod joining;

use serde_json::json;

use crate::common::{Sandbox, golden};

const ARRAYS: &[&str] = &[
    "bool",
    "int16_cube",
    "uint64",
    "int64_scalar",
    "int8_empty",
    "float16",
    "float32",
    "float64_plain",
    "complex64",
    "text",
    "text_scalar",
    "bytes",
    "times",
    "spans",
];

#[test]
fn npy_files_come_back_byte_for_byte() {
    let place = Sandbox::new();
    for name in ARRAYS {
        let file = golden(&format!("{name}.npy"));
        for memory in ["100", "1GiB"] {
            place.ok(&["import", &file, "a.zarr", "--force", "--memory", memory]);
            place.ok(&["export", "a.zarr", "a.npy", "--force", "--memory", memory]);
            assert_eq!(place.read("a.npy"), std::fs::read(&file).unwrap(), "{name}");
        }
    }
}

#[test]
fn other_orders_are_brought_into_ours() {
    let place = Sandbox::new();
    for memory in ["8", "40", "1GiB"] {
        let file = golden("int32_fortran.npy");
        place.ok(&["import", &file, "f.zarr", "--force", "--chunks", "2,2,2", "--memory", memory]);
        let wanted: Vec<u8> = (0..24_i32).flat_map(i32::to_ne_bytes).collect();
        let run = place.run(&["export", "f.zarr", "-", "--to", "raw", "--memory", memory]);
        assert_eq!(run.out, wanted);
    }
    place.ok(&["import", &golden("float32_big.npy"), "b.zarr", "--endian", "big", "--compressor", "none"]);
    assert_eq!(place.read("b.zarr/c/0")[..8], [0x3f, 0xc0, 0, 0, 0xc0, 0x10, 0, 0]);
    assert_eq!(place.json(&["dump", "b.zarr[:2]", "--json"]), json!([1.5, -2.25]));
}

#[test]
fn imports_take_all_options_of_arrays() {
    let place = Sandbox::new();
    place.ok(&[
        "import",
        &golden("float32.npy"),
        "h.zarr/a",
        "--format",
        "v2",
        "--chunks",
        "2,3",
        "--order",
        "F",
        "--compressor",
        "gzip:1",
        "--attrs",
        r#"{"u": "K"}"#,
    ]);
    let info = place.json(&["info", "h.zarr/a", "--json"]);
    assert_eq!(
        (&info["format"], &info["order"], &info["chunk_shape"]),
        (&json!("v2"), &json!("F"), &json!([2, 3]))
    );
    assert_eq!(place.ok(&["dump", "h.zarr/a"]), std::fs::read_to_string(golden("float32.txt")).unwrap());
    place.fails(4, &["import", &golden("float32.npy"), "h.zarr/a"]);
    place.ok(&["import", &golden("float32.npy"), "s.zarr", "--chunks", "1,2", "--shards", "2,4"]);
    assert_eq!(place.json(&["info", "s.zarr", "--json"])["shard_shape"], json!([2, 4]));
}

#[test]
fn raw_elements_come_from_files_and_pipes() {
    let place = Sandbox::new();
    let bytes: Vec<u8> = (0..12_u16).flat_map(u16::to_be_bytes).collect();
    place.write("a.bin", &bytes);
    let raw = ["--dtype", ">u2", "--shape", "3,4"];
    place.ok(&[&["import", "a.bin", "a.zarr"], &raw[..]].concat());
    let run = place.run_with(&[&["import", "-", "b.zarr"], &raw[..]].concat(), &bytes);
    assert_eq!(run.code, 0, "{}", run.err);
    for name in ["a.zarr", "b.zarr"] {
        assert_eq!(
            place.json(&["dump", name, "--json"]),
            json!([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
        );
    }
    let npy = std::fs::read(golden("float32.npy")).unwrap();
    assert_eq!(place.run_with(&["import", "-", "c.zarr"], &npy).code, 0);
    assert_eq!(place.run(&["export", "c.zarr", "-"]).out, npy);
    // Too few and too many bytes, from a file of known size and from a stream.
    let line = |input, shape| ["import", input, "d.zarr", "--dtype", ">u2", "--shape", shape];
    for shape in ["3,5", "3,3"] {
        place.fails(5, &line("a.bin", shape));
        assert_eq!(place.run_with(&line("-", shape), &bytes).code, 5);
        assert!(!place.path("d.zarr").exists(), "no half an array is left");
    }
    place.fails(5, &["import", "a.bin", "d.zarr", "--dtype", ">u2"]);
    place.fails(2, &["import", "a.bin", "d.zarr", "--shape", "3"]);
    assert!(place.fails(5, &["import", "a.bin", "d.zarr"]).contains("--dtype and --shape"));
}

#[test]
fn npz_files_are_groups() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("stored.npz"), "s.zarr"]);
    assert_eq!(place.json(&["dump", "s.zarr/deep/y", "--json"]), json!([[1.0, 0.0], [0.0, 1.0]]));
    place.ok(&["import", &golden("deflated.npz"), "h.zarr/d", "--format", "v2"]);
    assert_eq!(place.json(&["dump", "h.zarr/d/x", "--json"]), json!([0, 1, 2, 3, 4]));
    place.ok(&["import", &golden("deflated.npz"), "y.zarr", "--member", "y"]);
    assert_eq!(place.json(&["info", "y.zarr", "--json"])["shape"], json!([2, 2]));
    assert!(place.fails(3, &["import", &golden("deflated.npz"), "z.zarr", "--member", "z"]).contains("x, y"));
    place.fails(4, &["import", &golden("stored.npz"), "s.zarr"]);
    for compress in [&[][..], &["--compress"]] {
        place.ok(&[&["export", "s.zarr", "out.npz", "--force"], compress].concat());
        place.ok(&["import", "out.npz", "again.zarr", "--force"]);
        assert_eq!(place.ok(&["tree", "again.zarr"]), place.ok(&["tree", "s.zarr"]));
        assert_eq!(place.json(&["dump", "again.zarr/x", "--json"]), json!([0, 1, 2, 3, 4]));
    }
    place.ok(&["export", "y.zarr[0]", "one.npz"]);
    place.ok(&["import", "one.npz", "one.zarr", "--member", "arr_0"]);
    assert_eq!(place.json(&["dump", "one.zarr", "--json"]), json!([1.0, 0.0]));
    place.fails(2, &["export", "y.zarr", "-", "--to", "npz"]);
}

#[test]
fn damaged_archives_are_errors_and_leave_nothing() {
    let place = Sandbox::new();
    let good = std::fs::read(golden("stored.npz")).unwrap();
    place.write("cut.npz", &good[..good.len() / 2]);
    place.fails(5, &["import", "cut.npz", "a.zarr"]);
    let mut altered = good;
    // A changed byte in the elements of the first array, which only the checksum detects.
    let at = altered.windows(6).position(|window| window == b"NUMPY\x01").unwrap() + 128 + 5;
    altered[at] ^= 1;
    place.write("altered.npz", &altered);
    place.fails(5, &["import", "altered.npz", "a.zarr"]);
    place.fails(5, &["import", "altered.npz", "a.zarr", "--member", "x"]);
    // A failed import deletes only nodes that it has created.
    place.write("b.zarr/g/mine/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    place.fails(4, &["import", "altered.npz", "b.zarr/g"]);
    assert!(place.path("b.zarr/g/mine/zarr.json").exists() && !place.path("b.zarr/g/x").exists());
    std::fs::remove_dir_all(place.path("b.zarr")).unwrap();
    assert_eq!(place.names(), ["altered.npz", "cut.npz"]);
}

#[test]
fn data_types_that_are_not_there_are_named() {
    let place = Sandbox::new();
    for (name, descr) in [("objects", "|O"), ("structured_objects", "[('a', '<f4'), ('b', '|O')]")] {
        let said = place.fails(6, &["import", &golden(&format!("{name}.npy")), "a.zarr"]);
        assert!(said.contains(descr), "{said}");
    }
    assert_eq!(place.names(), [] as [String; 0]);
}

#[test]
fn files_that_are_no_arrays_are_errors() {
    let place = Sandbox::new();
    let good = std::fs::read(golden("float32.npy")).unwrap();
    place.write("cut.npy", &good[..good.len() - 5]);
    assert!(place.fails(5, &["import", "cut.npy", "a.zarr"]).contains("91 of 96 bytes"));
    assert_eq!(place.run_with(&["import", "-", "a.zarr"], &good[..good.len() - 5]).code, 5);
    for garbage in [&b""[..], b"\x93", b"\x93NUMPY\x01\x00\xff\xff{", b"GIF89a and so on"] {
        place.write("garbage.npy", garbage);
        place.fails(5, &["import", "garbage.npy", "a.zarr"]);
    }
    let text = String::from_utf8_lossy(&good[10..128]).replace("(4, 6), }   ", "(400000000000, 6), }");
    let mut huge = good[..10].to_vec();
    huge.extend(&text.as_bytes()[..118]);
    assert_eq!(place.run_with(&["import", "-", "a.zarr"], &huge).code, 5);
    assert_eq!(place.names(), ["cut.npy", "garbage.npy"]);
}

#[test]
fn arrays_grow_by_what_is_appended() {
    let place = Sandbox::new();
    let raw = |path: &str, shape: &str, more: &[&str], from: u8, count: u8| {
        let bytes: Vec<u8> = (from..from + count).collect();
        let line = [&["import", "-", path, "--dtype", "uint8", "--shape", shape], more].concat();
        place.run_with(&line, &bytes)
    };
    assert_eq!(raw("a.zarr", "2,3", &["--chunks", "4,2"], 0, 6).code, 0);
    assert_eq!(raw("a.zarr", "3,3", &["--append", "--memory", "3"], 6, 9).code, 0);
    let rows = json!([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14]]);
    assert_eq!(place.json(&["dump", "a.zarr", "--json"]), rows);
    assert_eq!(raw("a.zarr", "5,1", &["--append=1"], 90, 5).code, 0);
    assert_eq!(place.json(&["dump", "a.zarr[4]", "--json"]), json!([12, 13, 14, 94]));
    // A failed append leaves the array unchanged.
    assert_eq!(raw("a.zarr", "2,4", &["--append"], 0, 7).code, 5);
    assert_eq!(raw("a.zarr", "2,3", &["--append"], 0, 6).code, 2);
    assert_eq!(raw("a.zarr", "2,4", &["--append=2"], 0, 8).code, 2);
    assert_eq!(raw("a.zarr", "2,4", &["--append", "--chunks", "1,1"], 0, 8).code, 2);
    assert_eq!(raw("none.zarr", "2,4", &["--append"], 0, 8).code, 3);
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["shape"], json!([5, 4]));
    place.fails(2, &["import", &golden("float32.npy"), "a.zarr", "--append"]);
}

#[test]
fn parts_of_arrays_are_exported() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("int16_cube.npy"), "a.zarr", "--chunks", "4,5,6"]);
    let all = place.json(&["dump", "a.zarr", "--json"]);
    for memory in ["10", "200", "1MiB"] {
        place.ok(&["export", "a.zarr[::-3, 2, 1:9:2]", "p.npy", "--force", "--memory", memory]);
        place.ok(&["import", "p.npy", "p.zarr", "--force"]);
        let part = place.json(&["dump", "p.zarr", "--json"]);
        assert_eq!(place.json(&["info", "p.zarr", "--json"])["shape"], json!([4, 4]));
        assert_eq!((&part[0][0], &part[3][3]), (&all[10][2][1], &all[1][2][7]));
    }
    place.fails(2, &["export", "a.zarr[20]", "q.npy"]);
    place.fails(2, &["export", "a.zarr", "q.dat"]);
    place.fails(2, &["export", "a.zarr", "q.npy", "--compress"]);
    place.fails(3, &["export", "a.zarr", "none/q.npy"]);
    assert_eq!(place.names(), ["a.zarr", "p.npy", "p.zarr"]);
}

#[test]
fn files_are_not_overwritten_without_force() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("float32.npy"), "a.zarr"]);
    for name in ["x.npy", "x.npz", "x.raw"] {
        place.write(name, "mine");
        assert!(place.fails(4, &["export", "a.zarr", name]).contains("--force"));
        assert_eq!(place.read(name), b"mine");
        place.ok(&["export", "a.zarr", name, "--force"]);
        assert_ne!(place.read(name), b"mine");
    }
    place.fails(4, &["export", "a.zarr", "a.zarr", "--to", "raw", "--force"]);
    assert_eq!(place.names(), ["a.zarr", "x.npy", "x.npz", "x.raw"]);
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_and_links_are_followed() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("float32.npy"), "a.zarr"]);
    place.ok(&["export", "a.zarr", "/dev/null", "--to", "npy"]);
    place.write("real.npy", "mine");
    std::os::unix::fs::symlink("real.npy", place.path("link.npy")).unwrap();
    place.fails(4, &["export", "a.zarr", "link.npy"]);
    place.ok(&["export", "a.zarr", "link.npy", "--force"]);
    assert_eq!(place.read("real.npy"), std::fs::read(golden("float32.npy")).unwrap());
    assert!(place.path("link.npy").is_symlink());
}

#[test]
fn what_is_replaced_stays_until_the_new_is_complete() {
    let place = Sandbox::new();
    let npy = std::fs::read(golden("float32.npy")).unwrap();
    place.ok(&["import", &golden("int16_cube.npy"), "a.zarr"]);
    place.ok(&["import", &golden("stored.npz"), "h.zarr/g"]);
    let (cube, group) = (place.ok(&["dump", "a.zarr"]), place.ok(&["tree", "h.zarr"]));
    for path in ["a.zarr", "h.zarr/g", "h.zarr/g/x"] {
        assert_eq!(place.run_with(&["import", "-", path, "--force"], &npy[..npy.len() - 1]).code, 5);
        place.fails(2, &["import", &golden("float32.npy"), path, "--force", "--chunks", "1"]);
        let mut altered = std::fs::read(golden("stored.npz")).unwrap();
        let at = altered.windows(6).position(|window| window == b"NUMPY\x01").unwrap() + 128 + 5;
        altered[at] ^= 1;
        place.write("altered.npz", altered);
        place.fails(5, &["import", "altered.npz", path, "--force"]);
        assert_eq!(
            (place.ok(&["dump", "a.zarr"]), place.ok(&["tree", "h.zarr"])),
            (cube.clone(), group.clone())
        );
    }
    assert_eq!(place.names(), ["a.zarr", "altered.npz", "h.zarr"]);
    for path in ["a.zarr/", "./h.zarr/../h.zarr/g", "h.zarr/new"] {
        place.ok(&["import", &golden("float32.npy"), path, "--force"]);
        assert_eq!(place.json(&["info", path, "--json"])["shape"], json!([4, 6]));
    }
    assert_eq!(place.ok(&["ls", "h.zarr"]), "g\nnew\n");
    // A node that can no longer be read is replaced; files that are not a node are kept.
    place.write("a.zarr/zarr.json", "{");
    place.ok(&["import", &golden("stored.npz"), "a.zarr", "--force"]);
    place.write("notes/mine.txt", "mine");
    place.fails(4, &["import", &golden("stored.npz"), "notes", "--force"]);
    assert_eq!(place.names(), ["a.zarr", "altered.npz", "h.zarr", "notes"]);
}

#[test]
fn names_in_archives_do_not_lead_out_of_the_group() {
    let place = Sandbox::new();
    let archive = |name: &str| {
        // An archive in which another name of the same length replaces each occurrence of the first array's name.
        let mut bytes = std::fs::read(golden("stored.npz")).unwrap();
        let old = b"deep/y.npy";
        let at = |bytes: &[u8]| bytes.windows(old.len()).position(|window| window == old);
        while let Some(at) = at(&bytes) {
            bytes[at..at + old.len()].copy_from_slice(name.as_bytes());
        }
        bytes
    };
    for (name, code) in [("../../.npy", 2), ("a/../y.npy", 2), ("//////.npy", 6), ("/////y.npy", 0)] {
        place.write("d/in.npz", archive(name));
        let run = place.run(&["import", "d/in.npz", "d/g.zarr"]);
        assert_eq!(run.code, code, "{name}: {}", run.err);
    }
    assert_eq!(place.names(), ["d"]);
    assert_eq!(place.ok(&["ls", "d/g.zarr"]), "x\ny\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_once_and_by_name() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("float32.npy"), "a.zarr"]);
    for (to, more) in [("npy", None), ("npz", None), ("npz", Some("--compress"))] {
        let mut line = vec!["export", "a.zarr", "/dev/full", "--to", to];
        line.extend(more);
        let said = place.fails(1, &line);
        assert!(said.contains("'/dev/full'") && said.lines().count() == 1, "{said}");
    }
}

#[cfg(unix)]
#[test]
fn interrupted_work_leaves_nothing_behind() {
    let place = Sandbox::new();
    let raw = ["--dtype", "u1", "--shape", "4194304", "--chunks", "65536", "--memory", "64KiB"];
    // The commands expect 4 MiB of input.
    let interrupted = |line: &[&str]| {
        let run = place.interrupt(line, &vec![1; 1 << 20], &vec![1; 1 << 18]);
        assert_eq!((run.code, run.err.as_str()), (130, "zarrox: error: interrupted\n"));
    };
    place.ok(&["import", &golden("uint64.npy"), "old.zarr", "--chunks", "65536"]);
    for path in ["new.zarr", "old.zarr"] {
        interrupted(&[&["import", "-", path, "--force"], &raw[..]].concat());
    }
    assert_eq!(place.names(), ["old.zarr"]);
    let before = place.ok(&["info", "old.zarr"]);
    assert!(before.contains("uint64"), "{before}");
    let raw = ["--dtype", "u8", "--shape", "524288", "--memory", "64KiB"];
    interrupted(&[&["import", "-", "old.zarr", "--append"], &raw[..]].concat());
    assert_eq!(place.ok(&["info", "old.zarr"]), before);
}

#[cfg(unix)]
#[test]
fn a_killed_import_is_completed_by_the_same_command() {
    let place = Sandbox::new();
    let bytes: Vec<u8> = (1..=128_u8).flat_map(|value| [value; 1 << 13]).collect();
    let options = ["--dtype", "u1", "--shape", "1048576", "--chunks", "65536", "--memory", "64KiB"];
    for path in ["a.zarr", "h.zarr/g/a"] {
        let line = [&["import", "-", path], &options[..]].concat();
        place.kill(&line, &bytes[..bytes.len() / 2 + 1000]);
        let message = place.fails(3, &["info", path]);
        assert!(message.contains("an import of the standard input was interrupted"), "{message}");
        let message = place.fails(4, &["create", path, "--shape", "3", "--dtype", "i4"]);
        assert!(message.contains(path.rsplit('/').next().unwrap()), "{message}");
        let other = ["import", &golden("uint64.npy"), path];
        let message = place.fails(4, &other);
        assert!(message.contains("run it again with the same options to continue"), "{message}");
        assert_eq!(place.run_with(&line, &bytes).code, 0);
        place.ok(&["export", path, "out.bin", "--force"]);
        assert_eq!(place.read("out.bin"), bytes);
        assert_eq!(place.run(&["check", path]).code, 0);
    }
    // An existing node stays complete until its replacement is complete.
    let line = [&["import", "-", "a.zarr", "--force"], &options[..]].concat();
    let other: Vec<u8> = bytes.iter().rev().copied().collect();
    place.kill(&line, &other[..bytes.len() / 2 + 1000]);
    place.ok(&["export", "a.zarr", "out.bin", "--force"]);
    assert_eq!(place.read("out.bin"), bytes);
    assert_eq!(place.run_with(&line, &other).code, 0);
    place.ok(&["export", "a.zarr", "out.bin", "--force"]);
    assert_eq!(place.read("out.bin"), other);
    let line = [&["import", "-", "b.zarr"], &options[..]].concat();
    place.kill(&line, &bytes[..bytes.len() / 2]);
    place.ok(&["rm", "--force", "b.zarr"]);
    assert_eq!(place.names(), ["a.zarr", "h.zarr", "out.bin"]);
}
