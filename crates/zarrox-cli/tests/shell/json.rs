//! The JSON of each command has the form that the guide shows.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first failure")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::common::Sandbox;

/// Returns the JSON form in each section of the page, by the heading of the section.
fn forms() -> BTreeMap<String, Value> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sections = page.split("\n## ").skip(1);
    let form = |section: &str| {
        let (heading, rest) = section.split_once('\n').unwrap();
        let form = rest.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
        (heading.to_owned(), serde_json::from_str(form).unwrap())
    };
    sections.map(form).collect()
}

/// Compares a value with its form, and names the member in which they differ.
fn check(form: &Value, value: &Value, place: &str) -> Result<(), String> {
    let wrong = || Err(format!("{place}: {value} is not {form}"));
    match (form, value) {
        (Value::String(types), _) => {
            if types.split('|').any(|name| is_of(name, value)) {
                Ok(())
            } else {
                wrong()
            }
        }
        (Value::Array(items), Value::Array(values)) => values
            .iter()
            .enumerate()
            .try_for_each(|(n, value)| check(&items[0], value, &format!("{place}[{n}]"))),
        (Value::Object(members), Value::Object(values)) => {
            let any = members.get("*");
            for (name, value) in values {
                let optional = format!("{name}?");
                let form = members.get(name).or(members.get(&optional)).or(any);
                let form = form.ok_or_else(|| format!("{place}: the guide has no member '{name}'"))?;
                check(form, value, &format!("{place}.{name}"))?;
            }
            let mut needed = members.keys().filter(|name| !name.ends_with('?') && *name != "*");
            let missing = needed.find(|name| !values.contains_key(*name));
            missing.map_or(Ok(()), |name| Err(format!("{place} has no member '{name}'")))
        }
        _ => wrong(),
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "any" => true,
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type '{other}'"),
    }
}

/// A command line for each section. The exit code is 0, or 1 or 5 if the command is expected to find something.
const LINES: &[(&str, &str)] = &[
    ("info", "info sea.zarr/depth --json"),
    ("info of a group", "info sea.zarr --json"),
    ("tree", "tree sea.zarr --json"),
    ("ls", "ls sea.zarr --json"),
    ("du", "du sea.zarr --json"),
    ("stats", "stats sea.zarr/depth --json --histogram 2 --percentiles 5,50 --unique"),
    ("stats along axes", "stats sea.zarr/depth --axis 0 --measure mean,max --json"),
    ("bench", "bench sea.zarr/depth --turns 1 --try none --shards 7,7 --json"),
    ("chunks", "chunks sea.zarr/wind --inner --json"),
    ("chunks that are missing", "chunks sea.zarr/wind --missing --json"),
    ("dump", "dump sea.zarr/depth --json"),
    ("dump of columns", "dump sea.zarr --columns one --json"),
    ("find", "find sea.zarr --json"),
    ("meta show", "meta show sea.zarr/depth --json"),
    ("meta validate", "meta validate damaged.zarr --json"),
    ("meta fix", "meta fix damaged.zarr --dry-run --json"),
    ("attrs get", "attrs get sea.zarr/depth"),
    ("digest", "digest sea.zarr sea.zarr/depth --json"),
    ("diff", "diff sea.zarr other.zarr --json"),
    ("cp", "cp sea.zarr copy.zarr --json"),
    ("cp", "rechunk sea.zarr/depth columns.zarr --chunks=-1,1 --json"),
    ("cp", "reshard sea.zarr/depth shards.zarr --shards=-1,-1 --json"),
    ("cp", "convert sea.zarr old.zarr --to v2 --json --lossy"),
    ("rechunk plan", "rechunk sea.zarr/depth plan.zarr --chunks=-1,1 --dry-run --json"),
    ("consolidate", "consolidate damaged.zarr --check --json"),
];

fn sea() -> Sandbox {
    let place = Sandbox::new();
    place.ok(&[
        "create",
        "sea.zarr/depth",
        "--shape",
        "4,6",
        "--dtype",
        "int16",
        "--chunks",
        "2,2",
        "--attrs",
        r#"{"a": 1}"#,
    ]);
    place.ok(&["set", "sea.zarr/depth[0]", "[1, 2, 3, 4, 5, 6]"]);
    place.ok(&[
        "create",
        "sea.zarr/wind",
        "--shape",
        "8,8",
        "--dtype",
        "f4",
        "--chunks",
        "2,2",
        "--shards",
        "4,4",
    ]);
    place.ok(&["fill", "sea.zarr/wind[0]", "1"]);
    place.ok(&["create", "sea.zarr/one", "--shape", "3", "--dtype", "i4"]);
    place.ok(&["cp", "sea.zarr", "other.zarr"]);
    place.ok(&["fill", "other.zarr/depth[1]", "9"]);
    place.ok(&["cp", "sea.zarr", "damaged.zarr"]);
    place.ok(&["consolidate", "damaged.zarr"]);
    let document = String::from_utf8(place.read("damaged.zarr/one/zarr.json")).unwrap();
    place.write("damaged.zarr/one/zarr.json", document.replacen('{', "{\"storage_transformers\": null,", 1));
    place.write("damaged.zarr/wind/zarr.json", "{}");
    place
}

#[test]
fn every_output_has_the_form_that_the_guide_shows() {
    let (forms, place) = (forms(), sea());
    let listed: std::collections::BTreeSet<&str> = LINES.iter().map(|(heading, _)| *heading).collect();
    assert_eq!(forms.keys().map(String::as_str).collect::<Vec<_>>(), listed.into_iter().collect::<Vec<_>>());
    for (heading, line) in LINES {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        assert!(matches!(run.code, 0..=2 | 5), "{line}: {} {}", run.code, run.err);
        let values = serde_json::Deserializer::from_slice(&run.out).into_iter::<Value>();
        let values: Vec<Value> =
            values.map(|value| value.unwrap_or_else(|why| panic!("{line}: {why}"))).collect();
        assert!(!values.is_empty(), "{line}: {}", run.err);
        for value in values {
            check(&forms[*heading], &value, heading).unwrap_or_else(|why| panic!("{line}: {why}"));
        }
    }
}
