//! Copying and moving nodes.

use serde_json::json;

use crate::common::Sandbox;

/// Returns a group with two arrays.
fn sea() -> Sandbox {
    let place = Sandbox::new();
    place.ok(&["create", "sea.zarr/depth", "--shape", "6,8", "--dtype", "<i2", "--chunks", "2,4"]);
    place.write("values.raw", (0..48_i16).flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
    let shape = ["--dtype", "<i2", "--shape", "6,8", "--chunks", "3,2", "--shards", "6,4"];
    place.ok(&[&["import", "values.raw", "sea.zarr/winds/u"], &shape[..]].concat());
    place
}

#[test]
fn a_copy_is_whole_and_nothing_is_printed() {
    let place = sea();
    assert_eq!(place.ok(&["cp", "sea.zarr", "copy.zarr", "--verify", "stored"]), "");
    assert_eq!(place.ok(&["digest", "--stored", "copy.zarr"]), place.ok(&["digest", "--stored", "sea.zarr"]));
    let message = place.fails(4, &["cp", "sea.zarr", "copy.zarr"]);
    assert!(message.contains("copying ") && message.contains("--force replaces it"), "{message}");
    place.ok(&["cp", "sea.zarr", "copy.zarr", "--force"]);
    place.fails(3, &["cp", "nothing.zarr", "a.zarr"]);
    place.fails(2, &["cp", "sea.zarr", "sea.zarr/inside"]);
    place.fails(2, &["cp", "sea.zarr", "a.zarr", "--include", "a[b"]);
    assert_eq!(place.names(), ["copy.zarr", "sea.zarr", "values.raw"]);
}

#[test]
fn a_dry_run_has_an_exact_tally() {
    let place = sea();
    let text = place.ok(&["cp", "sea.zarr", "copy.zarr", "--dry-run"]);
    let size: usize =
        ["0/0", "0/1"].iter().map(|key| place.read(&format!("sea.zarr/winds/u/c/{key}")).len()).sum();
    assert!(text.contains(&format!("/winds/u (array): copy bytes, 2 chunks, {size} bytes\n")), "{text}");
    assert!(text.ends_with(&format!("total: 4 nodes, 2 chunks, {size} bytes\n")), "{text}");
    let told = place.json(&["cp", "sea.zarr", "copy.zarr", "--dry-run", "--json"]);
    assert_eq!((&told["chunks"], &told["bytes"]), (&json!(2), &json!(size)));
    assert_eq!(told["nodes"][1]["path"], "/depth");
    assert!(!place.path("copy.zarr").exists());
}

#[test]
fn parts_are_copied_into_other_chunks_codecs_types_and_formats() {
    let place = sea();
    let to = ["--chunks", "2,-1", "--compressor", "gzip:3", "--dtype", "f4", "--format", "v2"];
    place.ok(&[&["cp", "sea.zarr/winds/u[1:, ::3]", "part.zarr"], &to[..]].concat());
    let info = place.json(&["info", "part.zarr", "--json"]);
    assert_eq!((&info["shape"], &info["chunk_shape"]), (&json!([5, 3]), &json!([2, 3])));
    assert_eq!((&info["format"], &info["data_type"]), (&json!("v2"), &json!("float32")));
    assert_eq!(place.ok(&["dump", "part.zarr[0]"]), "[ 8. 11. 14.]\n");
    place.ok(&["cp", "sea.zarr/winds/u", "row.zarr", "--select", "[-1]"]);
    assert_eq!(place.ok(&["dump", "row.zarr"]), "[40 41 42 43 44 45 46 47]\n");
    place.ok(&["cp", "sea.zarr/winds/u", "plain.zarr", "--shards", "none", "--separator", "."]);
    assert!(place.path("plain.zarr/c.0.0").exists());
    let message = place.fails(6, &["cp", "sea.zarr/winds/u", "x.zarr", "--chunks", "4,4", "--shards", "6,6"]);
    assert!(message.contains("/: refused (codecs): "), "{message}");
    let message = place.fails(2, &["cp", "sea.zarr/winds/u", "x.zarr", "--dtype", "int4"]);
    assert!(message.contains("--lossy takes the nearest value"), "{message}");
}

#[test]
fn several_sources_go_into_a_group_and_one_failure_does_not_stop_the_others() {
    let place = sea();
    let run = place.run(&["cp", "sea.zarr/nothing", "sea.zarr/depth", "sea.zarr/winds", "all.zarr"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(place.ok(&["ls", "all.zarr"]).lines().count(), 2);
    let run = place.run(&["cp", "--fail-fast", "sea.zarr/nothing", "sea.zarr/depth", "none.zarr"]);
    assert_eq!((run.code, place.path("none.zarr").exists()), (3, false), "{}", run.err);
    place.ok(&["cp", "sea.zarr/depth", "sea.zarr/winds/"]);
    assert_eq!(place.ok(&["ls", "sea.zarr/winds"]).lines().count(), 2);
}

#[test]
fn existing_nodes_are_skipped_or_brought_up_to_date() {
    let place = sea();
    place.ok(&["cp", "sea.zarr", "copy.zip", "--exclude", "depth", "--consolidate"]);
    place.ok(&["attrs", "set", "sea.zarr", "title", "sea", "--string"]);
    place.ok(&["cp", "sea.zarr", "copy.zip", "--if-exists", "skip", "--quiet"]);
    assert_eq!(place.ok(&["ls", "copy.zip"]).lines().count(), 2);
    assert_eq!(place.json(&["attrs", "get", "copy.zip"]), json!({}));
    place.ok(&["cp", "sea.zarr", "copy.zip", "--if-exists", "update"]);
    assert_eq!(place.json(&["attrs", "get", "copy.zip"]), json!({"title": "sea"}));
    assert_eq!(place.ok(&["digest", "copy.zip"]), place.ok(&["digest", "sea.zarr"]));
}

#[test]
fn damaged_chunks_that_are_left_out_are_listed() {
    let place = sea();
    place.write("sea.zarr/winds/u/c/0/1", vec![7; 100]);
    let copy = ["cp", "sea.zarr/winds/u", "copy.zarr", "--chunks", "6,4"];
    let message = place.fails(5, &copy);
    assert!(message.contains("run the same command again to continue"), "{message}");
    let run = place.run(&[&copy[..], &["--skip-damaged", "--verify", "none"]].concat());
    assert_eq!(run.code, 5);
    assert!(run.err.contains("note: /winds/u[0:6, 4:8]: left out: "), "{}", run.err);
    assert_eq!(place.ok(&["dump", "copy.zarr[5]"]), "[40 41 42 43  0  0  0  0]\n");
}

#[test]
fn a_move_to_another_store_leaves_nothing_behind() {
    let place = sea();
    let digest = place.ok(&["digest", "sea.zarr/winds"]);
    place.ok(&["mv", "sea.zarr/winds", "winds.zip"]);
    assert_eq!(place.ok(&["digest", "winds.zip"]), digest);
    assert_eq!(place.ok(&["ls", "sea.zarr"]).lines().count(), 1);
    place.fails(4, &["mv", "sea.zarr/depth", "winds.zip"]);
    place.ok(&["mv", "--force", "sea.zarr/depth", "winds.zip"]);
    assert_eq!(place.json(&["info", "winds.zip", "--json"])["shape"], json!([6, 8]));
}

/// A copy that is killed and started again several times is complete at the end.
#[cfg(unix)]
#[test]
fn a_killed_copy_is_continued() {
    let place = Sandbox::new();
    let shape = ["--shape", "600,600", "--dtype", "int32", "--chunks", "10,10", "--compressor", "none"];
    place.ok(&[&["create", "a.zarr/x", "--fill-value", "7"], &shape[..]].concat());
    place.write("values.raw", vec![3; 4 * 600 * 600]);
    place.ok(&[&["import", "--force", "values.raw", "a.zarr/x"], &shape[..]].concat());
    for copy in [&["cp", "a.zarr", "b.zarr"][..], &["cp", "a.zarr", "b.zarr", "--chunks", "60,60"]] {
        let mut killed = 0;
        for wait in (10..).step_by(10) {
            let mut child = place.command(copy).stderr(std::process::Stdio::null()).spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(wait));
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                break;
            }
            killed += 1;
            let shown = place.run(&["info", "b.zarr"]);
            // All documents are stored; the journal may still exist.
            assert!(shown.code == 3 || place.ok(&["digest", "b.zarr"]) == place.ok(&["digest", "a.zarr"]));
            if shown.code == 0 {
                break;
            }
        }
        assert!(killed > 0);
        assert_eq!(place.ok(&["digest", "b.zarr"]), place.ok(&["digest", "a.zarr"]));
        place.ok(&["rm", "--force", "b.zarr"]);
    }
}
