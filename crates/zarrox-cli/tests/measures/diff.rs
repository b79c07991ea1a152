//! Comparing nodes.

use serde_json::json;

use crate::common::Sandbox;

fn two() -> Sandbox {
    let place = Sandbox::new();
    place.write("values.raw", (0..48_i16).flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
    let shape = ["--dtype", "<i2", "--shape", "6,8"];
    place.ok(&[&["import", "values.raw", "a.zarr/t", "--chunks", "2,4"], &shape[..]].concat());
    place
        .ok(&[&["import", "values.raw", "b.zarr/t", "--chunks", "6,3", "--format", "v2"], &shape[..]]
            .concat());
    place
}

#[test]
fn exit_codes_say_same_different_and_trouble() {
    let place = two();
    assert_eq!(place.ok(&["diff", "a.zarr", "b.zarr"]), "");
    assert_eq!(place.json(&["diff", "a.zarr", "b.zarr", "--json"]), json!({"same": true, "differences": []}));
    place.ok(&["attrs", "set", "a.zarr/t", "units", "m", "--string"]);
    let run = place.run(&["diff", "a.zarr", "b.zarr"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(String::from_utf8(run.out).unwrap(), "/t: attribute \"units\": \"m\" and none\n");
    place.fails(2, &["diff", "a.zarr", "nothing.zarr"]);
    place.fails(2, &["diff", "a.zarr", "b.zarr", "--rtol", "-1"]);
    std::fs::write(place.path("a.zarr/t/c/0/0"), "no chunk").unwrap();
    place.fails(2, &["diff", "a.zarr", "b.zarr"]);
    assert_eq!(place.run(&["diff", "a.zarr", "b.zarr", "--metadata-only"]).code, 1);
}

#[test]
fn differing_values_are_listed_up_to_a_number() {
    let place = two();
    let values: Vec<u8> =
        (0..48_i16).map(|n| if n % 8 == 3 { n + n / 8 } else { n }).flat_map(i16::to_le_bytes).collect();
    place.write("other.raw", values);
    place.ok(&["import", "other.raw", "c.zarr/t", "--dtype", "<i2", "--shape", "6,8", "--chunks", "4,4"]);
    let printed = |line: &[&str]| {
        let run = place.run(&[&["diff", "a.zarr", "c.zarr"], line].concat());
        assert_eq!((run.code, run.err.as_str()), (1, ""));
        String::from_utf8(run.out).unwrap()
    };
    let head = "/t: values: 5 differ, by at most 5 at [5, 3]\n";
    assert_eq!(printed(&["--stat"]), head);
    assert_eq!(
        printed(&["--max", "2"]),
        format!("{head}  [1, 3]: 11 and 12\n  [2, 3]: 19 and 21\n  and 3 more\n")
    );
    assert_eq!(printed(&["--stat", "--atol", "3"]), "/t: values: 2 differ, by at most 5 at [5, 3]\n");
    assert_eq!(place.ok(&["diff", "a.zarr", "c.zarr", "--atol", "5"]), "");
    let run = place.run(&["diff", "a.zarr/t", "c.zarr/t", "--json", "--max", "1", "--stored"]);
    let found: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(
        found["differences"][0],
        json!({"path": "/", "property": "values", "count": 5, "largest": 5.0, "largest_at": [5, 3],
            "first": [{"index": [1, 3], "left": "11", "right": "12"}]})
    );
}
