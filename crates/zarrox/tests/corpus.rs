//! Opens the data of other implementations, and compares every value: of whole arrays and of parts of them, read leniently and
//! strictly. `corpus/README.md` describes the data and their creation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first failure")]

mod checked;
pub(crate) mod files;
mod parts;
mod pending;
mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use files::{copy_below, expected, writers};
use parts::{Part, parts};
use pending::{CODECS, LENIENT, PENDING, STRICTLY};
use values::{Kind, Values};
use zarrox::json::{Json, Map, json};
use zarrox::stores::{MemoryStore, Store};
use zarrox::{Array, prelude::*};
use zarrox::{ErrorKind, OpenMode, OpenOptions};
use zarrox_testkit::corpus::directory;

/// A fault of a node.
#[derive(Debug)]
enum Trouble {
    /// The node cannot be opened or read.
    Refused(zarrox::Error),
    /// The node differs from the expected values.
    Wrong(String),
}

impl From<zarrox::Error> for Trouble {
    fn from(error: zarrox::Error) -> Self {
        Self::Refused(error)
    }
}

fn wrong(what: &str, found: impl std::fmt::Debug, expected: impl std::fmt::Debug) -> Result<(), Trouble> {
    Err(Trouble::Wrong(format!("{what}: found {found:?}, expected {expected:?}")))
}

#[test]
fn zarr_python_1_1() {
    check("zarr-python/1.1");
}

#[test]
fn zarr_python_2_2() {
    check("zarr-python/2.2");
}

#[test]
fn zarr_python_2_4() {
    check("zarr-python/2.4");
}

#[test]
fn zarr_python_2_11() {
    check("zarr-python/2.11");
}

#[test]
fn zarr_python_2_18() {
    check("zarr-python/2.18");
}

#[test]
fn zarr_python_2_18_with_experimental_v3() {
    check("zarr-python/2.18-experimental");
}

#[test]
fn zarr_python_3_0() {
    check("zarr-python/3.0");
}

#[test]
fn zarr_python_3_1() {
    check("zarr-python/3.1");
}

#[test]
fn zarr_python_3_4() {
    check("zarr-python/3.4");
}

#[test]
fn numcodecs_0_5() {
    check("numcodecs/0.5");
}

#[test]
fn numcodecs_0_9() {
    check("numcodecs/0.9");
}

#[test]
fn numcodecs_0_12() {
    check("numcodecs/0.12");
}

#[test]
fn numcodecs_0_13() {
    check("numcodecs/0.13");
}

#[test]
fn numcodecs_0_15() {
    check("numcodecs/0.15");
}

#[test]
fn numcodecs_0_15_in_version_3() {
    check("numcodecs/0.15-v3");
}

#[test]
fn numcodecs_0_16_in_version_3() {
    check("numcodecs/0.16-v3");
}

#[test]
fn numcodecs_0_17_in_versions_2_and_3() {
    check("numcodecs/0.17-v3");
}

#[test]
fn cast_value_and_scale_offset() {
    check("casts");
}

#[test]
fn object_codecs() {
    check("objects");
}

#[test]
fn tensorstore() {
    check("tensorstore");
}

#[test]
fn zarrs() {
    check("zarrs");
}

#[test]
fn the_draft_of_2022() {
    check("draft");
}

/// Changes copies: writes every part into zeros, then all old values, and adds an attribute.
#[test]
fn data_of_other_programs_can_be_changed() {
    let writers = writers();
    let problems: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = writers.iter().map(|writer| scope.spawn(|| change_all(writer))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_entry_of_the_lists_is_a_case() {
    let mut cases = BTreeSet::new();
    for writer in writers() {
        for (hierarchy, nodes) in expected(&writer) {
            cases.extend(nodes.as_object().unwrap().keys().map(|path| case(&writer, &hierarchy, path)));
        }
    }
    assert_eq!(cases.len(), 4755, "a change of the corpus changes this number, nothing else does");
    for (entry, _) in PENDING.iter().chain(LENIENT) {
        assert!(cases.iter().any(|case| covers(entry, case)), "no case is called '{entry}'");
    }
}

/// The unknown codecs are exactly those of the list.
#[test]
fn every_codec_of_the_list_is_unknown() {
    let mut missing = BTreeSet::new();
    for writer in writers() {
        for (hierarchy, nodes) in expected(&writer) {
            let root = zarrox::open(directory(&writer).join(hierarchy));
            let arrays = nodes.as_object().unwrap().iter().filter(|(_, node)| node["kind"] == "array");
            let errors = arrays.filter_map(|(path, _)| node_at(&root, path).err());
            missing.extend(errors.filter_map(|error| unknown_codec(&error)));
        }
    }
    assert_eq!(missing, CODECS.iter().copied().map(str::to_owned).collect(), "unknown, and in the list");
}

pub(crate) fn case(writer: &str, hierarchy: &str, path: &str) -> String {
    format!("{writer}/{hierarchy}/{path}").trim_end_matches('/').to_owned()
}

/// Returns true if an entry of the list applies to a case: it is that case, or a path above it, or it ends with `*` and the case
/// begins with the rest.
pub(crate) fn covers(entry: &str, case: &str) -> bool {
    if let Some(beginning) = entry.strip_suffix('*') {
        return case.starts_with(beginning);
    }
    case.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true if a node could not be opened because of a codec of the list.
fn is_pending(error: &zarrox::Error) -> bool {
    unknown_codec(error).is_some_and(|codec| CODECS.contains(&codec.as_str()))
}

/// Returns the reason in the list for which strict reading refuses an array of a writer.
fn is_lenient(writer: &str, error: &zarrox::Error) -> Option<&'static str> {
    let text = error.to_string();
    let mut reasons = STRICTLY.iter().filter(|(of, _)| *of == writer).map(|(_, says)| *says);
    reasons.find(|says| text.contains(says))
}

/// Returns the unknown codec that an error names.
fn unknown_codec(error: &zarrox::Error) -> Option<String> {
    let text = error.to_string();
    let (_, rest) = text.split_once("unknown codec '")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

/// Compares all data of a writer, read leniently and strictly.
fn check(writer: &str) {
    check_as(writer, false, &PENDING.iter().map(|(entry, _)| *entry).collect::<Vec<_>>());
    let both = PENDING.iter().chain(LENIENT).map(|(entry, _)| *entry);
    check_as(writer, true, &both.collect::<Vec<_>>());
}

/// Compares all data of a writer, and reports all faults together. The cases of the list must be refused.
fn check_as(writer: &str, strict: bool, list: &[&str]) {
    let list = || list.iter().filter(|entry| covers(writer, entry));
    let options = OpenOptions::new().data_type_fallback(true).mode(OpenMode::Read).strict(strict);
    let mut problems = Vec::new();
    let (mut refused, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    for (hierarchy, nodes) in expected(writer) {
        let root = options.open(directory(writer).join(&hierarchy));
        for (path, expected) in nodes.as_object().unwrap() {
            let case = case(writer, &hierarchy, path);
            let entry = list().find(|entry| covers(entry, &case));
            match (check_node(&root, path, expected), entry) {
                (Ok(()), None) => {}
                // A group may be readable although its nodes are not.
                (Ok(()), Some(_)) if expected["kind"] == "group" => {}
                (Ok(()), Some(entry)) => {
                    problems.push(format!("{case} opens; remove '{entry}' from the list"));
                }
                (Err(Trouble::Refused(_)), Some(entry)) => drop(refused.insert(entry)),
                (Err(Trouble::Refused(error)), None) if is_pending(&error) => {}
                (Err(Trouble::Refused(error)), None) if strict && is_lenient(writer, &error).is_some() => {
                    reasons.extend(is_lenient(writer, &error));
                }
                (Err(Trouble::Refused(error)), None) => problems.push(format!("{case} fails: {error}")),
                (Err(Trouble::Wrong(what)), _) => problems.push(format!("{case} is wrong: {what}")),
            }
        }
    }
    let stale = list().filter(|entry| !refused.contains(entry));
    problems.extend(stale.map(|entry| format!("nothing of '{entry}' is refused; remove it from the list")));
    let stale = STRICTLY.iter().filter(|reason| strict && reason.0 == writer && !reasons.contains(reason.1));
    problems.extend(
        stale.map(|(_, says)| format!("nothing is refused because it '{says}'; remove it from the list")),
    );
    let how = if strict { "strictly" } else { "leniently" };
    assert!(problems.is_empty(), "{} problems, reading {how}:\n{}", problems.len(), problems.join("\n"));
}

fn node_at(root: &zarrox::Result<Node>, path: &str) -> zarrox::Result<Node> {
    match root {
        Ok(Node::Group(group)) if !path.is_empty() => group.open(path),
        Ok(node) => Ok(node.clone()),
        Err(error) => Err(zarrox::Error::new(error.kind(), error.to_string())),
    }
}

fn check_node(root: &zarrox::Result<Node>, path: &str, expected: &Json) -> Result<(), Trouble> {
    let node = node_at(root, path);
    match (expected["kind"].as_str().unwrap(), node) {
        ("group", node) => check_group(&node?.into_group()?, expected),
        ("array", node) => check_array(&node?.into_array()?, expected),
        ("refused", node) => check_refused(node, expected["says"].as_str().unwrap()),
        (kind, _) => panic!("{kind} is not a kind of node"),
    }
}

fn check_group(group: &Group, expected: &Json) -> Result<(), Trouble> {
    check_attributes(group.attributes(), expected)?;
    let children: Vec<_> = group.children()?.into_iter().map(|child| Json::from(child.name)).collect();
    if Json::from(children.as_slice()) != expected["children"] {
        return wrong("children", children, &expected["children"]);
    }
    Ok(())
}

fn check_attributes(found: &Map, expected: &Json) -> Result<(), Trouble> {
    // The expected attributes are valid JSON.
    if Json::from(found.clone()).without_tokens() != expected["attributes"] {
        return wrong("attributes", found, &expected["attributes"]);
    }
    Ok(())
}

fn check_refused(node: zarrox::Result<Node>, says: &str) -> Result<(), Trouble> {
    match node.and_then(Node::into_array).and_then(|array| array.read::<DynArray>(..)) {
        Ok(read) => wrong("an array that must be refused", read, says),
        Err(error) if error.kind() == ErrorKind::Unsupported && error.to_string().contains(says) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn check_array(array: &Array, expected: &Json) -> Result<(), Trouble> {
    if Json::from(array.shape()) != expected["shape"] {
        return wrong("shape", array.shape(), &expected["shape"]);
    }
    check_attributes(array.attributes(), expected)?;
    let names = json!(array.dimension_names());
    if names != *expected.get("dimension_names").unwrap_or(&Json::Null) {
        return wrong("dimension names", names, &expected["dimension_names"]);
    }
    check_data_type(array, expected)?;
    let values = Values::expected(expected);
    compare(array, &Part::all(array.shape()), &values)?;
    parts(array.shape()).iter().try_for_each(|part| compare(array, part, &values))
}

fn check_data_type(array: &Array, expected: &Json) -> Result<(), Trouble> {
    let registry = zarrox::codecs::registry();
    if !expected["data_type"].is_null() {
        let packed = match array.data_type().fields() {
            Some(structure) => DataType::Struct(structure.without_padding()?.into()),
            None => array.data_type().clone(),
        };
        let name = registry.family(&packed)?.to_v3(&packed)?;
        if name != expected["data_type"] {
            return wrong("data type", name, &expected["data_type"]);
        }
    }
    let fill = vec![values::of_element(array.data_type(), array.fill_bytes().as_bytes())];
    match Values::fill_value(expected) {
        Some(value) if vec![value.clone()] != fill => wrong("fill value", fill, value),
        _ => Ok(()),
    }
}

/// Reads a part of an array, and compares it with the same part of all values.
fn compare(array: &Array, part: &Part, values: &Values) -> Result<(), Trouble> {
    let read = array.read::<DynArray>(part.selection.clone())?;
    let what = || format!("elements of [{}]", part.text());
    if read.shape() != part.shape {
        return wrong(&what(), read.shape(), &part.shape);
    }
    let found = values::of_array(&read, values.kind);
    if found.len() != part.positions.len() {
        return wrong(&what(), found.len(), part.positions.len());
    }
    for (found, &position) in found.iter().zip(&part.positions) {
        if *found != values.elements[position] {
            return wrong(&format!("{}, number {position}", what()), found, &values.elements[position]);
        }
    }
    Ok(())
}

/// Changes copies of all lossless arrays of a writer that are not pending. Returns the faults.
fn change_all(writer: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (hierarchy, nodes) in expected(writer) {
        let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
        copy_below("", &directory(writer).join(&hierarchy), &*copy);
        for (path, expected) in nodes.as_object().unwrap() {
            let case = case(writer, &hierarchy, path);
            let pending = PENDING.iter().any(|(entry, _)| covers(entry, &case));
            if pending || expected["kind"] != "array" || !expected["lossy"].is_null() {
                continue;
            }
            match change(&copy, path, expected) {
                Err(Trouble::Refused(error)) if is_pending(&error) => {}
                Err(trouble) => problems.push(format!("{case}: {trouble:?}")),
                Ok(()) => {}
            }
        }
    }
    problems
}

/// Changes an array: writes every part into zeros, then all old values, and adds an attribute.
fn change(store: &Arc<dyn Store>, path: &str, expected: &Json) -> Result<(), Trouble> {
    let options = OpenOptions::new().data_type_fallback(true);
    let open = || options.open((store.clone(), path))?.into_array();
    let mut array = open()?;
    let values = Values::expected(expected);
    let all = array.read::<DynArray>(..)?;
    for part in parts(array.shape()) {
        if values.kind != Kind::Fixed {
            break;
        }
        let zeros = vec![0; all.as_bytes().len()];
        let written = array.read::<DynArray>(part.selection.clone())?;
        match array.write(.., &DynArray::new(array.data_type().clone(), all.shape().to_vec(), zeros)?) {
            // A codec may not support zeros, such as one that subtracts an offset from unsigned numbers.
            Err(error) if error.to_string().contains("has no result") => break,
            written => written?,
        }
        array.write(part.selection.clone(), &written)?;
        compare(&array, &Part::all(array.shape()), &values.only(&part.positions))?;
        array.write(.., &all)?;
    }
    array.write(.., &all)?;
    array.update_attributes(|attributes| drop(attributes.insert("changed".to_owned(), true.into())))?;
    let mut expected = expected.clone();
    expected["attributes"]["changed"] = true.into();
    check_array(&open()?, &expected)
}
