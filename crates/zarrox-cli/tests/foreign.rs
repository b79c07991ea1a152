//! Hierarchies of other implementations: the command describes each one as its implementation does.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::common::Sandbox;

/// Returns the path of a hierarchy of another implementation, and that implementation's description of the arrays.
fn foreign(name: &str) -> (PathBuf, Map<String, Value>) {
    let writer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name);
    let directory = zarrox_testkit::corpus::unpacked(&writer);
    let said = std::fs::read_to_string(directory.join("expected.json")).unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    (directory.join("data.zarr"), said.as_object().unwrap().clone())
}

/// Returns true if two values are equal. Numbers are compared by value, and `float32` numbers after narrowing.
fn same(ours: &Value, theirs: &Value, float32: bool) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b, float32))
        }
        (Value::Number(ours), Value::Number(theirs)) if ours.is_f64() || theirs.is_f64() => {
            let (ours, theirs) = (ours.as_f64().unwrap(), theirs.as_f64().unwrap());
            let (ours32, theirs32) = (narrow(ours), narrow(theirs));
            if float32 { ours32.to_bits() == theirs32.to_bits() } else { ours == theirs }
        }
        _ => ours == theirs,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "narrowing is what this is for")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Returns a codec's name and configuration, with an absent configuration as an empty one.
fn codec(json: &Value) -> (String, Value) {
    let configuration = json.get("configuration").cloned().unwrap_or_else(|| json!({}));
    (json["name"].as_str().unwrap().to_owned(), configuration)
}

fn check_codecs(info: &Value, said: &Value) {
    let ours: Vec<_> = info["codecs"].as_array().unwrap().iter().map(codec).collect();
    if let Some(codecs) = said["codecs"].as_array() {
        let theirs: Vec<_> = codecs.iter().map(codec).collect();
        assert_eq!(names(&ours), names(&theirs));
        for ((name, ours), (_, theirs)) in ours.iter().zip(&theirs) {
            check_members(name, ours, theirs);
        }
        return;
    }
    // Format 2 has separate members for the compressor, if there is one, and for the order of the axes.
    let transposed = ours.iter().any(|(name, _)| name == "transpose");
    let ndim = said["shape"].as_array().unwrap().len();
    assert_eq!(transposed, said["order"] == "F" && ndim > 1);
    let (name, configuration) = ours.last().unwrap();
    let Some(compressor) = said["compressor"].as_object() else {
        assert_eq!(name, "bytes");
        return;
    };
    assert_eq!(name.trim_start_matches("numcodecs."), compressor["id"].as_str().unwrap());
    let mut members = compressor.clone();
    members.retain(|member, _| member != "id" && member != "shuffle");
    check_members(name, configuration, &members.into());
}

fn names(codecs: &[(String, Value)]) -> Vec<&str> {
    codecs.iter().map(|(name, _)| name.as_str()).collect()
}

/// Checks that each member of `theirs` has the same value in `ours`.
fn check_members(codec: &str, ours: &Value, theirs: &Value) {
    for (member, value) in theirs.as_object().unwrap() {
        if member == "codecs" || member == "index_codecs" {
            let (ours, theirs) = (ours[member].as_array().unwrap(), value.as_array().unwrap());
            let list = |codecs: &[Value]| codecs.iter().map(self::codec).collect::<Vec<_>>();
            assert_eq!(names(&list(ours)), names(&list(theirs)), "{codec} {member}");
        } else {
            assert_eq!(&ours[member], value, "{codec} {member}");
        }
    }
}

fn check(name: &str) {
    let place = Sandbox::new();
    let (path, said) = foreign(name);
    assert!(said.len() >= 7, "the corpus is there");
    for (array, said) in &said {
        let path = path.join(array);
        let path = path.to_str().unwrap();
        let info: Value = serde_json::from_str(&place.ok(&["info", "--json", path])).unwrap();
        let float32 = said["dtype"] == "float32";
        assert_eq!(info["shape"], said["shape"], "{array}");
        assert_eq!(info["data_type"], said["dtype"], "{array}");
        assert_eq!(info["chunk_shape"], said["chunks"], "{array}");
        assert_eq!(info["attributes"], said["attributes"], "{array}");
        assert!(same(&info["fill_value"], &said["fill_value"], float32), "{array}: {info} {said}");
        for member in ["shards", "dimension_names"] {
            let ours = if member == "shards" { "shard_shape" } else { member };
            assert_eq!(&info[ours], said.get(member).unwrap_or(&Value::Null), "{array}");
        }
        // zarr-python 2 counts every key of an array without dimensions as a chunk.
        let counted = said["shape"] != json!([]);
        if let Some(initialised) = said.get("initialised").filter(|count| counted && !count.is_null()) {
            assert_eq!(&info["chunks_stored"], initialised, "{array}");
        }
        check_codecs(&info, said);
        let values: Value = serde_json::from_str(&place.ok(&["dump", "--json", path])).unwrap();
        assert!(same(&values, &said["values"], float32), "{array}: {values} is not {}", said["values"]);
    }
}

#[test]
fn zarr_python_2() {
    check("zarr2");
}

#[test]
fn zarr_python_3() {
    check("zarr3");
}

#[test]
fn tensorstore() {
    check("tensorstore");
}

#[test]
fn trees_name_every_array_with_its_shape_and_type() {
    let place = Sandbox::new();
    for name in ["zarr2", "zarr3"] {
        let (path, said) = foreign(name);
        let tree = place.ok(&["tree", path.to_str().unwrap()]);
        for (array, said) in &said {
            let shape: Vec<String> = said["shape"].as_array().unwrap().iter().map(Value::to_string).collect();
            let comma = if shape.len() == 1 { "," } else { "" };
            let own = array.rsplit('/').next().unwrap();
            let line = format!("{own} ({}{comma}) {}", shape.join(", "), said["dtype"].as_str().unwrap());
            assert!(tree.lines().any(|found| found.ends_with(&line)), "{line} is not in\n{tree}");
        }
        let attributes: Value =
            serde_json::from_str(&place.ok(&["attrs", "get", path.to_str().unwrap()])).unwrap();
        assert_eq!(attributes, json!({"title": "élan"}));
    }
}

/// `dump` prints the text that NumPy prints, also for a partial chunk that was never written.
#[test]
fn dump_prints_what_numpy_prints() {
    let place = Sandbox::new();
    let path = foreign("zarr2").0.join("partial");
    let text = place.ok(&["dump", path.to_str().unwrap()]);
    assert_eq!(text.trim_end(), "[[9 9 9 9]\n [1 9 9 9]\n [1 9 9 9]\n [9 9 9 9]]");
}
