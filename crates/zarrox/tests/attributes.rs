//! Attributes keep their stored form when other members change: Python's tokens, and numbers with all their digits.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use proptest::prelude::*;
use zarrox::json::{self, Json, Map};
use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{Consolidated, Node, OpenMode, OpenOptions};
use zarrox_tools::copy::Copier;

/// Values that `json.dumps` writes although JSON does not allow them, and numbers that neither a float nor 64 bits can represent.
const HARD: &str = r#"{"missing_value":NaN,"range":[1.0,Infinity,{"deep":-Infinity}],"text":"NaN","large":12345678901234567890123,"precise":3.14159265358979323846,"huge":1e400,"zeros":[-0.0,-0,1.50,1E+2,-9223372036854775809]}"#;

fn map(text: &str) -> Map {
    json::parse_object(text.as_bytes()).unwrap()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn opened(store: &Arc<dyn Store>, path: &str) -> Node {
    OpenOptions::new().consolidated(Consolidated::Never).open((store.clone(), path)).unwrap()
}

/// Returns the attributes of a node without one of them.
fn without(node: &Node, name: &str) -> String {
    let mut attributes = node.attributes().clone();
    attributes.remove(name).unwrap();
    json::to_line(&attributes)
}

/// Returns an array with attributes; v1 has no groups, so that its array is at the root.
fn create(store: &Arc<dyn Store>, format: Format, attributes: &Map) -> &'static str {
    let path = if format == Format::V1 { "" } else { "a" };
    let builder =
        OpenOptions::new().create_array((store.clone(), path)).format(format).shape([4]).chunks([2]);
    builder.data_type(DataType::Float64).attributes(attributes.clone()).create().unwrap();
    path
}

/// Changes other members of an array of each format, and expects unchanged attributes.
fn assert_unchanged(text: &str) {
    let attributes = map(text);
    for format in Format::all() {
        let store = memory();
        let path = create(&store, format, &attributes);
        let mut node = opened(&store, path);
        assert_eq!(json::to_line(node.attributes()), text, "{format}");
        node.update_attributes(|attributes| drop(attributes.insert("another".to_owned(), 1.into()))).unwrap();
        assert_eq!(without(&opened(&store, path), "another"), text, "{format}");
        opened(&store, path).into_array().unwrap().resize([6]).unwrap();
        assert_eq!(without(&opened(&store, path), "another"), text, "{format}");
    }
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Variable {
    units: String,
    #[serde(rename = "_FillValue")]
    fill: f64,
    valid_range: Option<(f64, f64)>,
}

#[test]
fn attributes_are_read_and_written_as_types_of_serde() {
    let store = memory();
    let variable =
        Variable { units: "K".to_owned(), fill: f64::NAN, valid_range: Some((0.1, f64::INFINITY)) };
    let group = OpenOptions::new().create_group((store.clone(), "")).unwrap();
    let builder = group.create_array("a").shape([4]).data_type(DataType::Float64);
    let array = builder.attributes(json::to_map(&variable).unwrap()).create().unwrap();
    assert_eq!(
        json::to_line(array.attributes()),
        r#"{"units":"K","_FillValue":NaN,"valid_range":[0.1,Infinity]}"#
    );
    let mut node = opened(&store, "a");
    let read: Variable = node.attributes_as().unwrap();
    assert!(read.fill.is_nan());
    assert_eq!(Variable { fill: 0.0, ..read }, Variable { fill: 0.0, ..variable });

    node.set_attributes([("units", 1)]).unwrap();
    let error = node.attributes_as::<Variable>().unwrap_err();
    assert_eq!(error.kind(), zarrox::ErrorKind::InvalidMetadata);
    let (_, message) = error.to_string().split_once(": ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert_eq!(message, "attributes: 'units': invalid type: integer `1`, expected a string");
}

fn any_json() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?";
    let token = prop::sample::select(vec!["NaN", "Infinity", "-Infinity", "null", "true"]);
    let leaf = prop_oneof![
        number,
        token.prop_map(str::to_owned),
        any::<String>().prop_map(|text| Json::from(text).to_string()),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list =
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(",")));
        let object = prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(|members| {
            let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        prop_oneof![list, object]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_attributes_survive_changes_of_other_members_in_every_format(value in any_json(), other in any_json()) {
        assert_unchanged(&format!("{{\"value\":{value},\"list\":[{other},{value}]}}"));
    }
}

#[test]
fn tokens_and_large_numbers_survive_changes_of_other_members_in_every_format() {
    assert_unchanged(HARD);
}

#[test]
fn tokens_and_large_numbers_survive_in_groups_and_consolidated_metadata() {
    for format in Format::all().filter(|format| *format != Format::V1) {
        let store = memory();
        create(&store, format, &map(HARD));
        let mut root = opened(&store, "").into_group().unwrap();
        root.set_attributes(map(HARD)).unwrap();
        assert_eq!(json::to_line(opened(&store, "").attributes()), HARD, "{format}");
        if format.def().consolidation().is_none() {
            continue;
        }
        root.consolidate_metadata().unwrap();
        assert!(root.check_consolidated().unwrap().is_empty(), "{format}");
        let options = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Require);
        let group = options.open((store.clone(), "")).unwrap().into_group().unwrap();
        assert_eq!(json::to_line(group.attributes()), HARD, "{format}");
        assert_eq!(json::to_line(group.open("a").unwrap().attributes()), HARD, "{format}");
        // In v3, a group's own document contains the copy, and is changed outside the copy.
        let mut root = opened(&store, "").into_group().unwrap();
        root.update_attributes(|attributes| drop(attributes.insert("another".to_owned(), 1.into()))).unwrap();
        assert_eq!(without(&opened(&store, ""), "another"), HARD, "{format}");
    }
}

#[test]
fn tokens_and_large_numbers_survive_conversion_from_every_format_into_every_format() {
    for from in Format::all() {
        for to in Format::all() {
            let (source, target) = (memory(), memory());
            let path = create(&source, from, &map(HARD));
            // An array that is at the root in v1 is at the root everywhere.
            let conversion =
                Copier::new().format(to).lossy(true).plan((source, path), (target.clone(), path)).unwrap();
            let done = conversion.run();
            // In v1, only the root can be an array.
            if to == Format::V1 && from != Format::V1 {
                continue;
            }
            done.unwrap();
            assert_eq!(json::to_line(opened(&target, path).attributes()), HARD, "{from} to {to}");
        }
    }
}
