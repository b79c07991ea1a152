//! `attrs`, and other commands that show attributes: attributes keep their stored form.

use serde_json::json;

use crate::common::Sandbox;

/// Attributes as zarr-python writes them, with the tokens `NaN` and `-Infinity`, which strict JSON does not have.
const PYTHONS: &str = r#"{"missing": NaN, "range": [1.0, -Infinity], "large": 12345678901234567890123, "text": "NaN", "short": 1.50}"#;

#[test]
fn tokens_and_large_numbers_stay_when_other_attributes_are_set() {
    for format in ["v2", "v3"] {
        let place = Sandbox::new();
        place.ok(&["create", "h.zarr", "--group", "--format", format, "--attrs", PYTHONS]);
        let path = if format == "v2" { "h.zarr/.zattrs" } else { "h.zarr/zarr.json" };
        let document = || {
            let text = String::from_utf8(place.read(path)).unwrap();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        place.ok(&["attrs", "set", "h.zarr", "n", "NaN"]);
        place.ok(&["attrs", "set", "h.zarr", "list", "[Infinity, 1]"]);
        for member in [
            "\"missing\": NaN",
            "\"range\": [ 1.0, -Infinity ]",
            "\"large\": 12345678901234567890123",
            "\"text\": \"NaN\"",
            "\"short\": 1.50",
            "\"n\": NaN",
            "\"list\": [ Infinity, 1 ]",
        ] {
            assert!(document().contains(member), "{member}: {}", document());
        }
        // The printed value can be set again.
        let printed = place.ok(&["attrs", "get", "h.zarr", "range"]);
        assert_eq!(printed.split_whitespace().collect::<String>(), "[1.0,-Infinity]");
        place.ok(&["attrs", "set", "h.zarr", "again", &printed]);
        assert!(document().contains("\"again\": [ 1.0, -Infinity ]"));
        place.ok(&["convert", "h.zarr", "o.zarr", "--to", if format == "v2" { "v3" } else { "v2" }]);
        let attributes = |path| place.ok(&["attrs", "get", path]);
        assert_eq!(attributes("o.zarr"), attributes("h.zarr"));
    }
}

#[test]
fn what_programs_are_given_is_nothing_but_json() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr", "--group", "--attrs", PYTHONS]);
    place.ok(&[
        "create",
        "h.zarr/a",
        "--shape",
        "2",
        "--dtype",
        "f8",
        "--fill-value",
        "NaN",
        "--attrs",
        PYTHONS,
    ]);
    assert!(place.ok(&["attrs", "get", "h.zarr/a"]).contains("\"missing\": NaN"));
    for line in [
        &["attrs", "get", "--json", "h.zarr/a"][..],
        &["info", "--json", "h.zarr/a"],
        &["info", "--json", "h.zarr"],
        &["ls", "--json", "h.zarr"],
        &["tree", "--json", "h.zarr"],
        &["dump", "--json", "h.zarr/a"],
    ] {
        place.json(line);
    }
    let attributes = place.json(&["attrs", "get", "--json", "h.zarr/a"]);
    assert_eq!((&attributes["missing"], &attributes["range"][1]), (&json!("NaN"), &json!("-Infinity")));
    assert!(place.ok(&["info", "--json", "h.zarr/a"]).contains("12345678901234567890123"));
}

#[test]
fn a_fill_value_of_negative_zero_keeps_its_sign() {
    for (format, name) in [("v2", ".zarray"), ("v3", "zarr.json")] {
        let place = Sandbox::new();
        let create = ["create", "--format", format, "--shape", "2"];
        place.ok(&[&create[..], &["f", "--dtype", "f8", "--fill-value", "-0.0"]].concat());
        place.ok(&[&create[..], &["c", "--dtype", "c16", "--fill-value", "[-0.0, 0.0]"]].concat());
        for path in ["f", "c"] {
            let document = String::from_utf8(place.read(&format!("{path}/{name}"))).unwrap();
            assert!(document.contains("-0.0"), "{document}");
            assert!(place.ok(&["dump", "--json", path]).contains("-0.0"));
        }
    }
}
