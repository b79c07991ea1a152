//! Transfers of elements between files and arrays: the number of passes over each chunk, leftovers of failures, and messages.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use base64::Engine as _;
use serde_json::json;

use crate::common::{Sandbox, golden};

/// Returns an `.npy` file of consecutive 4-byte integers, in column-major order if `column_major` is set.
fn npy(shape: &[u64], column_major: bool) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    let order = if column_major { "True" } else { "False" };
    let mut text =
        format!("{{'descr': '<i4', 'fortran_order': {order}, 'shape': ({},), }}", lengths.join(", "));
    text.push_str(&" ".repeat((64 - (text.len() + 11) % 64) % 64));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.into_bytes());
    let count: u64 = shape.iter().product();
    bytes.extend((0..i32::try_from(count).unwrap()).flat_map(i32::to_le_bytes));
    bytes
}

/// Checks how often chunks were stored by the size of the archive: it grows even if a chunk is replaced.
fn stored_once(place: &Sandbox, archive: &str, chunks: u64, bytes: u64) {
    let size = std::fs::metadata(place.path(archive)).unwrap().len();
    let names = chunks * 250 + 2000;
    assert!((bytes..bytes + names).contains(&size), "{archive} has {size} bytes, of {bytes}");
}

#[test]
fn a_file_is_imported_with_each_chunk_encoded_once_at_any_memory() {
    let place = Sandbox::new();
    let chunks = ["--chunks", "10,16", "--compressor", "none", "--fill-value", "-1"];
    for column_major in [false, true] {
        place.write("a.npy", npy(&[60, 80], column_major));
        let mut dumps = Vec::new();
        // Memory for less than a chunk, for one chunk, for several, for less than a row of chunks, and for all.
        for memory in ["1", "640", "1500", "3000", "1MiB"] {
            let _ = std::fs::remove_file(place.path("a.zip"));
            for name in ["a.zip", "b.zarr"] {
                let line = ["import", "a.npy", name, "--force", "--memory", memory];
                place.ok(&[&line[..], &chunks].concat());
            }
            stored_once(&place, "a.zip", 30, 60 * 80 * 4);
            dumps.push((place.ok(&["dump", "--csv", "a.zip"]), place.ok(&["dump", "--csv", "b.zarr"])));
        }
        assert!(dumps.iter().all(|dump| *dump == dumps[0]) && dumps[0].0 == dumps[0].1);
        let first = if column_major { "0,60,120," } else { "0,1,2," };
        assert!(dumps[0].0.starts_with(first));
    }
    // An append that begins within chunks still processes each chunk once.
    place.write("more.npy", npy(&[25, 80], false));
    place.ok(&[&["import", "more.npy", "c.zip"], &chunks[..]].concat());
    place.ok(&["import", "a.npy", "c.zip", "--append", "--memory", "640"]);
    // The five chunks that contain rows of both files are stored twice.
    stored_once(&place, "c.zip", 50, 90 * 80 * 4 + 5 * 640);
    // Raw elements after a header, and an uncompressed member of an archive.
    let raw = ["--dtype", "<i4", "--shape", "-1,80", "--offset", "128", "--memory", "640"];
    place.ok(&[&["import", "a.npy", "d.zip"], &raw[..], &chunks].concat());
    stored_once(&place, "d.zip", 30, 60 * 80 * 4);
    place.ok(&["export", "d.zip", "d.npz"]);
    place.ok(&[&["import", "d.npz", "e.zip", "--member", "arr_0", "--memory", "640"], &chunks[..]].concat());
    stored_once(&place, "e.zip", 30, 60 * 80 * 4);
    assert_eq!(place.ok(&["dump", "--csv", "d.zip"]), place.ok(&["dump", "--csv", "e.zip"]));
    // Shards that do not fit into memory are divided at the inner chunks.
    let shards = ["--chunks", "10,16", "--shards", "20,80", "--compressor", "none"];
    place.ok(&[&["import", "a.npy", "f.zarr", "--memory", "640"], &shards[..]].concat());
    assert_eq!(place.ok(&["dump", "--csv", "f.zarr"]), place.ok(&["dump", "--csv", "b.zarr"]));
}

#[test]
fn a_stream_says_beforehand_what_will_be_encoded_again() {
    let place = Sandbox::new();
    let input = npy(&[60, 80], false);
    let line = |memory| ["import", "-", "a.zarr", "--chunks", "10,16", "--force", "--memory", memory];
    let run = place.run_with(&line("1600"), &input);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("note: the standard input") && run.err.contains("--memory 4KiB"), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1);
    let run = place.run_with(&line("4KiB"), &input);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let run = place.run(&["export", "a.zarr", "-", "--memory", "1600"]);
    assert!(run.err.contains("each chunk is read and decoded"), "{}", run.err);
    let elements = &input[input.len() - 60 * 80 * 4..];
    assert!(run.out.ends_with(elements));
    for memory in ["1", "640", "1500", "1MiB"] {
        place.ok(&["export", "a.zarr", "a.npy", "--force", "--memory", memory]);
        assert!(place.read("a.npy") == run.out, "{memory}");
    }
}

/// Stores that keep all values in one file or directory: the scheme and the name of the file.
const FILES: [(&str, &str); 6] = [
    ("", "new.zip"),
    ("sqlite://", "new.db"),
    ("redb://", "new.redb"),
    ("lmdb://", "new.lmdb"),
    ("lmdb://", "new"),
    ("gdbm://", "new.gdbm"),
];

#[test]
fn a_file_that_was_made_for_a_store_is_removed_when_an_import_fails() {
    let place = Sandbox::new();
    let input: Vec<u8> = npy(&[600, 80], false);
    for (scheme, name) in FILES {
        let url = |node: &str| {
            let file =
                if scheme.is_empty() { name.to_owned() } else { place.path(name).display().to_string() };
            format!("{scheme}{file}{node}")
        };
        for node in ["", "/g/a"] {
            let cut = place.run_with(&["import", "-", &url(node)], &input[..input.len() - 1]);
            assert_eq!(cut.code, 5, "{name}: {}", cut.err);
            assert_eq!(place.names(), [] as [String; 0], "{name}");
            let line = ["import", "-", &url(node), "--chunks", "10,80", "--memory", "3200"];
            let interrupted = place.interrupt(&line, &input[..100_000], &input[100_000..150_000]);
            assert_eq!((interrupted.code, interrupted.err.as_str()), (130, "zarrox: error: interrupted\n"));
            assert_eq!(place.names(), [] as [String; 0], "{name}");
            place.fails(
                6,
                &["create", &url(node), "--shape", "3", "--dtype", "i4", "--codecs", r#"["none"]"#],
            );
            assert_eq!(place.names(), [] as [String; 0], "{name}");
        }
        // A file that contains other nodes is kept.
        assert_eq!(place.run_with(&["import", "-", &url("/mine")], &input).code, 0, "{name}");
        assert_eq!(place.run_with(&["import", "-", &url("/g/a")], &input[..input.len() - 1]).code, 5);
        assert_eq!(place.json(&["info", &url("/mine"), "--json"])["shape"], json!([600, 80]));
        let path = place.path(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
        let _ = std::fs::remove_file(place.path(&format!("{name}-lock")));
    }
}

#[test]
fn an_import_with_force_replaces_a_node_of_a_database_only_when_it_is_complete() {
    let place = Sandbox::new();
    let (first, second) = (npy(&[600, 80], false), npy(&[7, 80], false));
    for (scheme, name) in FILES {
        let file = if scheme.is_empty() { name.to_owned() } else { place.path(name).display().to_string() };
        let url = format!("{scheme}{file}/g/a");
        assert_eq!(place.run_with(&["import", "-", &url], &first).code, 0, "{name}");
        if (scheme, name) == ("lmdb://", "new") {
            // The whole path is the directory of the database, which has nothing beside it.
            let run = place.run_with(&["import", "-", &url, "--force"], &second);
            assert_eq!(run.code, 4, "{}", run.err);
            assert!(run.err.contains("is the root of a store"), "{}", run.err);
            continue;
        }
        let cut = place.run_with(&["import", "-", &url, "--force"], &second[..second.len() - 1]);
        assert_eq!(cut.code, 5, "{name}: {}", cut.err);
        assert_eq!(place.json(&["info", &url, "--json"])["shape"], json!([600, 80]), "{name}");
        let run = place.run_with(&["import", "-", &format!("{url}/"), "--force"], &second);
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert_eq!(place.json(&["info", &url, "--json"])["shape"], json!([7, 80]), "{name}");
        assert_eq!(place.ok(&["ls", &format!("{scheme}{file}/g")]), "a\n", "{name}");
    }
}

#[test]
fn a_failed_import_gives_its_room_back_or_says_how() {
    let place = Sandbox::new();
    let input = npy(&[60_000, 80], false);
    let small = npy(&[4, 80], false);
    let raw = ["--compressor", "none", "--chunks", "100,80", "--memory", "64KiB"];
    assert_eq!(place.run_with(&["import", "-", "a.zip/a"], &small).code, 0);
    let size = || std::fs::metadata(place.path("a.zip")).unwrap().len();
    let before = size();
    let cut = &input[..input.len() - 1];
    let run = place.run_with(&[&["import", "-", "a.zip/b"], &raw[..]].concat(), cut);
    assert_eq!((run.code, run.err.lines().count()), (5, 1), "{}", run.err);
    assert!(size() < before + 1000, "{} after {before}", size());
    assert_eq!(place.ok(&["ls", "a.zip"]), "a\n");
    let url = |node: &str| format!("sqlite://{}/{node}", place.path("a.db").display());
    assert_eq!(place.run_with(&["import", "-", &url("a")], &small).code, 0);
    let run = place.run_with(&[&["import", "-", &url("b")], &raw[..]].concat(), cut);
    assert!(run.err.contains("a.db' VACUUM` frees it"), "{}", run.err);
    assert_eq!(run.code, 5);
    assert_eq!(place.ok(&["ls", &url("")]), "a\n");
}

#[test]
fn a_conversion_that_fails_leaves_no_hierarchy_and_says_how_it_continues() {
    let place = Sandbox::new();
    place.write("a.npy", npy(&[8, 6], false));
    place.ok(&["create", "h.zarr", "--group"]);
    for name in ["a", "b", "c"] {
        place.ok(&["import", "a.npy", &format!("h.zarr/g/{name}"), "--chunks", "4,3", "--shards", "8,3"]);
    }
    let shard = place.read("h.zarr/g/b/c/0/1");
    for (to, name) in [("n5", "new.n5"), ("n5", "plain"), ("v2", "new.zarr"), ("v2", "new.zip")] {
        place.write("h.zarr/g/b/c/0/1", "no shard");
        let command = ["convert", "h.zarr", name, "--to", to, "--verify"];
        let said = place.fails(5, &command);
        assert!(said.contains("run the same command again to continue"), "{said}");
        for line in [["tree", name], ["ls", name], ["info", name]] {
            let said = place.fails(3, &line);
            assert!(said.contains("was interrupted") && said.contains("run it again"), "{said}");
        }
        if name != "new.zip" {
            place.fails(3, &["info", &format!("{name}/g")]);
            place.fails(3, &["info", &format!("{name}/g/a")]);
        }
        place.write("h.zarr/g/b/c/0/1", &shard);
        place.ok(&command);
        for array in ["a", "b", "c"] {
            let path = format!("{name}/g/{array}");
            assert_eq!(place.ok(&["dump", &path]), place.ok(&["dump", "h.zarr/g/a"]), "{path}");
        }
        assert!(place.ok(&["tree", name]).contains("── b"));
    }
}

#[test]
fn verbose_commands_say_what_is_done_and_how_much() {
    let place = Sandbox::new();
    place.write("a.npy", npy(&[600, 800], false));
    let said = place.run(&["import", "a.npy", "a.zarr", "-v", "--chunks", "100,200"]).err;
    assert!(said.contains("int32 [600, 800] becomes int32 in chunks of [100, 200]"), "{said}");
    let last = said.lines().rfind(|line| line.contains(" s")).unwrap();
    assert!(last.contains("1.83 MiB → ") && last.ends_with(" s"), "{said}");
    let said = place.run(&["convert", "a.zarr", "b.zarr", "--to", "v2", "-v"]).err;
    assert!(said.contains("/ (array): copy bytes, 24 chunks") && said.contains(" s\n"), "{said}");
    let said = place.run(&["export", "a.zarr", "b.npy", "-v"]).err;
    assert!(said.contains("b.npy: 1.83 MiB, "), "{said}");
}

#[test]
fn raw_files_are_imported_behind_a_header_and_to_their_end() {
    let place = Sandbox::new();
    let mut bytes = b"header".to_vec();
    bytes.extend((0..40_u16).flat_map(u16::to_be_bytes));
    place.write("a.bin", &bytes);
    let line = |shape, offset| {
        ["import", "a.bin", "a.zarr", "--force", "--dtype", ">u2", "--shape", shape, "--offset", offset]
    };
    place.ok(&line("-1,4,5", "6"));
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["shape"], json!([2, 4, 5]));
    assert_eq!(place.json(&["dump", "a.zarr[1,3,4]", "--json"]), json!(39));
    place.ok(&line("2,-1,5", "46"));
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["shape"], json!([2, 2, 5]));
    assert!(place.fails(5, &line("-1,4,5", "0")).contains("not a multiple of the row size of 40 bytes"));
    assert!(place.fails(2, &line("-1,0", "0")).contains("-1 is ambiguous"));
    assert!(place.fails(5, &line("-1", "87")).contains("--offset 87"));
    assert!(place.fails(2, &line("-1,-1", "0")).contains("only one length can be -1"));
    place.fails(2, &["import", "a.bin", "b.zarr", "--offset", "6"]);
    let piped = |shape| ["import", "-", "b.zarr", "--dtype", ">u2", "--shape", shape, "--offset", "6"];
    assert!(place.run_with(&piped("-1,5"), &bytes).err.contains("-1 works only for files"));
    assert_eq!(place.run_with(&piped("8,5"), &bytes).code, 0);
    assert_eq!(place.json(&["dump", "b.zarr[7,4]", "--json"]), json!(39));
}

#[test]
fn a_data_type_casts_what_is_imported_and_loses_nothing_unasked() {
    let place = Sandbox::new();
    let file = golden("float32.npy");
    place.ok(&["import", &file, "a.zarr", "--dtype", "f8"]);
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["data_type"], json!("float64"));
    assert_eq!(
        place.json(&["dump", "a.zarr[0, :3]", "--json"]),
        json!([0.0, 0.1428571492433548, 0.2857142984867096])
    );
    let said = place.fails(2, &["import", &file, "b.zarr", "--dtype", "i2"]);
    assert!(said.contains("cannot be represented as int16") && said.contains("--lossy"), "{said}");
    assert!(!place.path("b.zarr").exists());
    place.ok(&["import", &golden("float64_plain.npy"), "b.zarr", "--dtype", "i2", "--lossy"]);
    assert_eq!(place.json(&["info", "b.zarr", "--json"])["data_type"], json!("int16"));
    // Appending converts elements only if `--dtype` requests it.
    place.fails(2, &["import", &file, "a.zarr", "--append"]);
    place.fails(2, &["import", &file, "a.zarr", "--append", "--dtype", "i4"]);
    place.ok(&["import", &file, "a.zarr", "--append", "--dtype", "f8"]);
    place.fails(2, &["import", &golden("text.npy"), "c.zarr", "--dtype", "f8"]);
}

#[test]
fn the_axis_to_append_along_is_a_word_of_its_own_or_not_said() {
    let place = Sandbox::new();
    let raw = |more: &[&str], shape: &str| {
        let line = [&["import", "-", "a.zarr", "--dtype", "u1", "--shape", shape], more].concat();
        place.run_with(&line, &[1; 6]).code
    };
    assert_eq!(raw(&[], "2,3"), 0);
    assert_eq!(raw(&["--append", "1"], "2,3"), 0);
    assert_eq!(raw(&["--append=1"], "2,3"), 0);
    assert_eq!(raw(&["--append", "--memory", "1"], "1,6"), 2);
    place.write("x.bin", [2; 9]);
    place.ok(&["import", "--append", "x.bin", "a.zarr", "--dtype", "u1", "--shape", "1,9"]);
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["shape"], json!([3, 9]));
}

#[test]
fn bytes_without_a_meaning_are_told_of_with_the_option_that_gives_them_one() {
    let place = Sandbox::new();
    for (size, stored, way) in [(10, "r80", "--format v2"), (2, "r16", "such as --dtype bfloat16")] {
        let data_type = format!("|V{size}");
        place.ok(&["create", "v.zarr", "--force", "--shape", "2", "--dtype", &data_type, "--format", "v2"]);
        place.ok(&["export", "v.zarr", "v.npy", "--force"]);
        let run = place.run(&["import", "v.npy", "a.zarr", "--force"]);
        assert_eq!(run.code, 0);
        assert!(
            run.err.contains(&data_type) && run.err.contains(stored) && run.err.contains(way),
            "{}",
            run.err
        );
        place.ok(&["import", "v.npy", "b.zarr", "--force", "--format", "v2"]);
        place.ok(&["import", "v.npy", "b.zarr", "--force", "--dtype", &data_type]);
    }
    place.ok(&["import", "v.npy", "c.zarr", "--dtype", "bfloat16"]);
}

#[test]
fn a_panic_of_a_library_at_a_damaged_file_is_only_an_error() {
    // A column of pyarrow 26.0 whose second text has a length of 63 instead of 1.
    const DAMAGED: &str = "UEFSMRUAFRoVGiwVBBUMFQYVBhwAAACAAQQCfgIAAAAAeHl5FQQZLDUAGAZzY2hlbWEVAgAVDCUAGAFzJQBMHAAAABYE\
        GRwZHCYAHBUMGSUGDBkYAXMVABYEFkAWQCYISRwVABUMFQIAPBYGGQYZBgAAABZAFgQmCBZAACggcGFycXVldC1jcHAtYXJyb3cg\
        dmVyc2lvbiAyNi4wLjEZHBwAAACAAAAAUEFSMQ==";
    let place = Sandbox::new();
    place.write("a.parquet", base64::engine::general_purpose::STANDARD.decode(DAMAGED).unwrap());
    let message = place.fails(5, &["import", "a.parquet", "a.zarr"]);
    assert!(message.contains("the file is damaged") && !message.contains("panicked"), "{message}");
}
