//! N5: every command works on it, and a directory called `*.n5` is N5 unless another format is named.

use serde_json::json;

use crate::common::Sandbox;

fn corpus(writer: &str, path: &str) -> String {
    let directory = zarrox_testkit::corpus::directory(&format!("n5/{writer}"));
    directory.join("data.n5").join(path).to_string_lossy().into_owned()
}

#[test]
fn what_others_wrote_is_shown() {
    let place = Sandbox::new();
    let info = place.json(&["info", &corpus("z5py", "types/int8"), "--json"]);
    assert_eq!(
        (&info["format"], &info["shape"], &info["chunk_shape"]),
        (&json!("n5"), &json!([5, 7]), &json!([3, 4]))
    );
    assert_eq!(info["attributes"], json!({"of": "int8"}));
    let text = place.ok(&["info", &corpus("java", "images/lz4")]);
    assert!(text.lines().any(|line| line == "chunks stored  9 of 9"), "{text}");
    assert!(text.contains("n5_lz4"), "{text}");
    let tree = place.ok(&["tree", &corpus("java", "")]);
    assert_eq!(tree.lines().count(), 7, "{tree}");
    assert!(tree.contains("noise (5, 7) uint64"), "{tree}");
    let dump = place.ok(&["dump", &format!("{}[0, 4:]", corpus("zarr2", "types/float32"))]);
    assert_eq!(dump.trim(), "[ 1.4427191 -4.668737   5.2198067]");
}

#[test]
fn a_directory_of_the_name_is_created_as_n5() {
    let place = Sandbox::new();
    place.ok(&[
        "create",
        "new.n5/a/b",
        "--shape",
        "4,6",
        "--chunks",
        "2,3",
        "--dtype",
        "u2",
        "--compressor",
        "xz:1",
    ]);
    let info = place.json(&["info", "new.n5/a/b", "--json"]);
    assert_eq!((&info["format"], &info["data_type"]), (&json!("n5"), &json!("uint16")));
    place.ok(&["create", "new.n5/g", "--group", "--attrs", r#"{"units": ["nm"]}"#]);
    assert_eq!(place.json(&["info", "new.n5/g", "--json"])["attributes"], json!({"units": ["nm"]}));
    place.ok(&["mv", "new.n5/a/b", "new.n5/g/c"]);
    let tree = place.ok(&["tree", "new.n5"]);
    assert!(tree.contains("c (4, 6) uint16"), "{tree}");
    place.ok(&["create", "other.n5", "--shape", "2", "--dtype", "u1", "--format", "v2"]);
    assert_eq!(place.json(&["info", "other.n5", "--json"])["format"], json!("v2"));
    place.ok(&["create", "plain", "--shape", "2", "--dtype", "u1", "--format", "n5"]);
    assert_eq!(place.json(&["info", "plain", "--json"])["format"], json!("n5"));
    place.ok(&["rm", "--force", "new.n5"]);
    assert!(!place.path("new.n5").exists());
    let refused = place.run(&["create", "x.n5", "--shape", "2", "--dtype", "bool"]);
    assert!(refused.code != 0 && refused.err.contains("N5 has no data type 'bool'"), "{}", refused.err);
}

#[test]
fn arrays_go_in_and_out() {
    let place = Sandbox::new();
    for compressor in ["none", "gzip", "zlib", "bz2", "xz", "lz4", "blosc", "zstd"] {
        let (array, out) = (format!("x.n5/{compressor}"), format!("{compressor}.npy"));
        let source = corpus("zarr2", "types/uint64");
        place.ok(&["export", &source, "source.npy", "--force"]);
        place.ok(&["import", "source.npy", &array, "--chunks", "2,4", "--compressor", compressor]);
        place.ok(&["export", &array, &out]);
        assert_eq!(
            std::fs::read(place.path(&out)).ok(),
            std::fs::read(place.path("source.npy")).ok(),
            "{compressor}"
        );
    }
}
