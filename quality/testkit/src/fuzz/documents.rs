//! Metadata documents of all formats: the first byte chooses the format, the second the kind of the documents; the rest are the
//! documents, separated by a zero byte.

use std::collections::BTreeMap;

use zarrox_core::Strictness;
use zarrox_core::internals::json::to_bytes;
use zarrox_core::internals::metadata::{Change, Consolidation, FormatDef, ReadContext, Source};
use zarrox_core::json::{Map, json};
use zarrox_core::{ArrayMetadata, Format, GroupMetadata, NodeMetadata, NodePath, Registry};

use crate::codec::Random;
use crate::examples::{EXAMPLES, Example};
use crate::specimen::{LIMIT, Specimen};

/// The largest chunk that is decoded here.
const SMALL: usize = 1 << 12;

/// The choices of the second byte; the third choice is the entry document of a hierarchy.
const NODE: u8 = 0;
const CONSOLIDATED: u8 = 1;
const ENTRY: u8 = 2;

pub(super) fn run(registry: &Registry, input: &[u8]) {
    let [format, choice, text @ ..] = input else { return };
    let Some(format) = Format::all().nth(usize::from(*format) % Format::all().count()) else { return };
    let def = format.def();
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let context = ReadContext {
            data_type_fallback: strictness == Strictness::Lenient,
            ..ReadContext::new(registry, strictness)
        };
        match choice % 3 {
            NODE => node(def, text, &context),
            CONSOLIDATED => consolidated(def, text, strictness),
            _ => drop(def.entry_from_document(Some(text), &context)),
        }
    }
}

fn node(def: &dyn FormatDef, text: &[u8], context: &ReadContext<'_>) {
    let mut documents: Vec<Option<Vec<u8>>> =
        text.split(|&byte| byte == 0).map(|text| (!text.is_empty()).then(|| text.to_vec())).collect();
    documents.resize(def.layout().documents().len(), None);
    let _ = def.implicit_group(&Source::stored(&documents), context);
    let attributes = Map::from_iter([("a".to_owned(), json!([1]))]);
    let _ = def.patch(&documents, Change::Attributes(&attributes));
    let Ok(Some(node)) = def.from_documents(&Source::stored(&documents), context) else { return };
    written(&node, context);
    let NodeMetadata::Array(array) = node else { return };
    let shape: Vec<u64> = array.shape.iter().map(|length| length / 2).collect();
    let _ = def.patch(&documents, Change::Shape(&shape));
    if array.validate().is_err() {
        return;
    }
    let Ok(chain) = array.chain(context.registry, context.strictness, LIMIT) else { return };
    if chain.chunk().size() <= SMALL && array.fill_element(context.registry).is_ok() {
        Specimen::of_chain(array.data_type, chain).examine(
            context.registry,
            text,
            &mut Random::of_input(text),
        );
    }
}

/// Checks that a node is read back unchanged from its own format. Other formats are not checked here, but in the tests of
/// conversions.
fn written(node: &NodeMetadata, context: &ReadContext<'_>) {
    let own = match node {
        NodeMetadata::Array(array) => array.format,
        NodeMetadata::Group(group) => group.format,
    };
    for format in Format::all() {
        let def = format.def();
        let Ok(documents) = def.to_documents(&NodePath::root(), node, context.registry) else { continue };
        let find =
            |name: &&str| documents.iter().find(|(there, _)| there == name).map(|(_, text)| text.clone());
        let documents: Vec<_> = def.layout().documents().iter().map(find).collect();
        let again = def.from_documents(&Source::stored(&documents), context);
        if format == own {
            assert!(
                matches!(again, Ok(Some(_))),
                "{format} does not read what it writes: {again:?}, {node:?}"
            );
        }
    }
}

fn consolidated(def: &dyn FormatDef, text: &[u8], strictness: Strictness) {
    let Some(consolidation) = def.consolidation() else { return };
    let _ = consolidation.documents_in(&def.layout(), &NodePath::root(), text, strictness);
    let _ = consolidation.without(text);
    let nodes = BTreeMap::from([(NodePath::root(), vec![Some(text.to_vec()), None])]);
    let _ = consolidation.document_of(&def.layout(), &NodePath::root(), Some(text), None, &nodes);
}

pub(super) fn seeds(registry: &Registry) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (format, number) in Format::all().zip(0_u8..) {
        let def = format.def();
        let arrays = EXAMPLES.iter().filter_map(|example| array(registry, example));
        let arrays = arrays.map(NodeMetadata::Array);
        let groups = [NodeMetadata::Group(GroupMetadata::new(format))];
        let mut nodes = BTreeMap::new();
        for node in groups.into_iter().chain(arrays) {
            let Ok(path) = NodePath::new(&format!("n{}", nodes.len())) else { continue };
            let Ok(documents) = def.to_documents(&path, &node, registry) else { continue };
            let find =
                |name: &&str| documents.iter().find(|(there, _)| there == name).map(|(_, text)| text.clone());
            let documents: Vec<Option<Vec<u8>>> = def.layout().documents().iter().map(find).collect();
            let texts: Vec<_> = documents.iter().map(|text| text.clone().unwrap_or_default()).collect();
            seeds.push([vec![number, NODE], texts.join(&0)].concat());
            nodes.insert(path, documents);
        }
        let entry = def.new_entry().ok().flatten();
        seeds.extend(entry.map(|entry| [vec![number, ENTRY], entry].concat()));
        seeds.extend(
            def.consolidation()
                .and_then(|c| all(def, c, nodes))
                .map(|all| [vec![number, CONSOLIDATED], all].concat()),
        );
    }
    seeds
}

/// Checks the consolidated metadata of the first few nodes.
fn all(
    def: &dyn FormatDef,
    consolidation: Consolidation,
    mut nodes: BTreeMap<NodePath, Vec<Option<Vec<u8>>>>,
) -> Option<Vec<u8>> {
    let group = nodes.first_key_value()?.1.iter().flatten().next()?.clone();
    nodes = nodes.into_iter().take(3).collect();
    consolidation.document_of(&def.layout(), &NodePath::root(), Some(&group), None, &nodes).ok()
}

/// Returns an array of the example's chunks.
fn array(registry: &Registry, example: &Example) -> Option<ArrayMetadata> {
    let data_type = example.data_type(registry).ok()?;
    let family = registry.family(&data_type).ok()?;
    let template = json!({
        "zarr_format": 3, "node_type": "array", "shape": example.shape, "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": example.shape}},
        "chunk_key_encoding": {"name": "default"}, "codecs": ["bytes"], "attributes": {"units": "m"},
    });
    let document = to_bytes(template.as_object()?).ok()?;
    let context = ReadContext::new(registry, Strictness::Lenient);
    let Ok(Some(NodeMetadata::Array(array))) =
        Format::V3.def().from_documents(&[Some(Source::Bytes(&document))], &context)
    else {
        return None;
    };
    let fill_value = Some(family.default_fill(&data_type));
    let codecs = example.specs(registry).ok()?;
    Some(ArrayMetadata { fill_value, codecs, data_type: data_type.clone(), ..array })
}
