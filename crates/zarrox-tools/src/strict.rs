//! Rewriting metadata documents in the strict form of their format, which all readers accept.

use zarrox_core::internals::metadata::{Layout, ReadContext, Source};
use zarrox_core::json::{self, Json};
use zarrox_core::{Error, ErrorKind, Format, NodeMetadata, Result, Strictness};

use zarrox::Node;
use zarrox::internals::{DOCUMENT_LIMIT, Location, format_of, needed, until_unchanged};

/// The member of a group's document that holds the consolidated metadata.
const COPIES: &str = "consolidated_metadata";

/// A document that is not in the strict form of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentFix {
    /// The key in the store.
    pub key: String,
    /// The stored bytes; `None` if the document is missing.
    pub before: Option<Vec<u8>>,
    /// The strict form.
    pub after: Vec<u8>,
}

/// Returns the strict form of each document of a node that only a lenient reader accepts. The result is empty if all documents
/// follow the specification. Nothing is written.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] if a document has no strict form with the same meaning, or if the store cannot be read.
pub fn strict_documents(node: &Node) -> Result<Vec<DocumentFix>> {
    let (place, node) = node.as_read()?;
    let format = format_of(&node);
    let layout = place.layout_for(format)?;
    let documents = needed(format, layout.keys(&place.path), |key| {
        let key = zarrox_stores::Key::new(key)?;
        Ok(place.bytes(&key, DOCUMENT_LIMIT)?.map(|bytes| bytes.to_vec()))
    })?;
    let Some((stored, true)) = place.node_of(format, &layout, &Source::stored(&documents))? else {
        return Ok(Vec::new());
    };
    fixes(place, &stored, &node, format, &layout, &documents)
}

/// Replaces each document of a node that only a lenient reader accepts with its strict form, which has the same meaning. Returns
/// the replaced documents. Each document is replaced atomically; if this fails, the document is unchanged.
///
/// # Errors
/// The errors of [`strict_documents`], and those of writing.
pub fn make_strict(node: &Node) -> Result<Vec<DocumentFix>> {
    if strict_documents(node)?.is_empty() {
        return Ok(Vec::new());
    }
    let (place, node) = node.as_read()?;
    let format = format_of(&node);
    until_unchanged(|| {
        place.rewritten(format, |stored, documents, write| {
            let layout = place.layout_for(format)?;
            let fixes = fixes(place, stored, &node, format, &layout, documents)?;
            let names = layout.documents();
            let named = |fix: &DocumentFix| {
                let name = names.iter().find(|name| layout.key(&place.path, name) == fix.key)?;
                Some((*name, fix.after.clone()))
            };
            write(fixes.iter().filter_map(named).collect())?;
            Ok(fixes)
        })
    })
}

fn fixes(
    place: &Location,
    stored: &NodeMetadata,
    opened: &NodeMetadata,
    format: Format,
    layout: &Layout,
    documents: &[Option<Vec<u8>>],
) -> Result<Vec<DocumentFix>> {
    if strict_node(place, format, documents).is_ok() {
        return Ok(Vec::new());
    }
    let node = complete(stored, opened);
    let made = format.def().to_documents(&place.path, &node, &place.context.registry)?;
    let keys = layout.keys(&place.path);
    let (mut after, mut fixes) = (documents.to_vec(), Vec::new());
    for (name, bytes) in made {
        let key = layout.key(&place.path, name);
        let Some(at) = keys.iter().position(|known| *known == key) else { continue };
        let before = documents.get(at).cloned().flatten();
        let bytes = with_copies(before.as_deref(), bytes)?;
        if means_same(before.as_deref(), &bytes) {
            continue;
        }
        after[at] = Some(bytes.clone());
        fixes.push(DocumentFix { key, before, after: bytes });
    }
    let unclear = |why: String| {
        let message =
            format!("the documents of '{}' have no strict form that means the same: {why}", place.path);
        Error::new(ErrorKind::InvalidMetadata, message)
    };
    let again = strict_node(place, format, &after).map_err(|error| unclear(error.to_string()))?;
    if !are_same(place, &node, &again)? {
        return Err(unclear("read again, they describe another node".to_owned()));
    }
    Ok(fixes)
}

/// Returns the node that the documents describe.
///
/// # Errors
/// If the documents violate the specification.
fn strict_node(place: &Location, format: Format, documents: &[Option<Vec<u8>>]) -> Result<NodeMetadata> {
    let context = ReadContext::new(&place.context.registry, Strictness::Strict);
    let node = format.def().from_documents(&Source::stored(documents), &context)?;
    let node = node.ok_or_else(|| Error::new(ErrorKind::NotFound, "the node does not exist"))?;
    if let NodeMetadata::Array(array) = &node {
        // Unknown codecs are not checked.
        match array.chain(&place.context.registry, Strictness::Strict, usize::MAX) {
            Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
            _ => {}
        }
    }
    Ok(node)
}

fn are_same(place: &Location, one: &NodeMetadata, two: &NodeMetadata) -> Result<bool> {
    match (one, two) {
        (NodeMetadata::Array(one), NodeMetadata::Array(two)) => {
            one.is_same(two, &place.context.registry, usize::MAX)
        }
        _ => Ok(one == two),
    }
}

/// Fills in the members that the stored documents omit, from the opened node.
fn complete(stored: &NodeMetadata, opened: &NodeMetadata) -> NodeMetadata {
    match (stored, opened) {
        (NodeMetadata::Array(stored), NodeMetadata::Array(opened)) if !stored.separator_declared => {
            let mut array = stored.clone();
            array.chunk_key_encoding = opened.chunk_key_encoding;
            array.separator_declared = true;
            NodeMetadata::Array(array)
        }
        _ => stored.clone(),
    }
}

/// Copies the consolidated metadata of the stored document to the new one.
fn with_copies(before: Option<&[u8]>, after: Vec<u8>) -> Result<Vec<u8>> {
    let before = before.and_then(|bytes| json::parse_object(bytes).ok());
    let Some(copies @ Json::Object(_)) = before.as_ref().and_then(|map| map.get(COPIES)) else {
        return Ok(after);
    };
    let mut map = json::parse_object(&after)?;
    map.insert(COPIES.to_owned(), copies.clone());
    Ok(format!("{:#}", Json::Object(map)).into_bytes())
}

/// Returns true if both documents are the same JSON value, or if the old one is missing and the new one is an empty object.
fn means_same(before: Option<&[u8]>, after: &[u8]) -> bool {
    let Ok(after) = json::parse(after) else { return false };
    match before.map(json::parse) {
        None => after.as_object().is_some_and(|map| map.is_empty()),
        Some(Ok(before)) => before == after,
        Some(Err(_)) => false,
    }
}
