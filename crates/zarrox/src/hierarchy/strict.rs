//! Documents in the strict form of their format, which all readers accept.

use zarrox_core::internals::metadata::{Layout, ReadContext, Source};
use zarrox_core::json::{self, Json};
use zarrox_core::{Error, ErrorKind, Format, NodeMetadata, Result, Strictness};

use super::format_of;
use crate::guarded::until_unchanged;
use crate::location::Location;

/// The member of a group's document that holds copies of other documents.
const COPIES: &str = "consolidated_metadata";

/// A document that is not in the strict form of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentFix {
    /// Its key in the store.
    pub key: String,
    /// The stored bytes; `None` if the document is missing.
    pub before: Option<Vec<u8>>,
    /// The strict form.
    pub after: Vec<u8>,
}

impl Location {
    /// The documents of a node that are not in the strict form, in which they mean the same. Nothing is written.
    pub(crate) fn strict_form(&self, node: &NodeMetadata) -> Result<Vec<DocumentFix>> {
        let format = format_of(node);
        let layout = self.layout_for(format)?;
        let documents = super::needed(format, layout.keys(&self.path), |key| {
            let key = zarrox_stores::Key::new(key)?;
            Ok(self.bytes(&key, super::DOCUMENT_LIMIT)?.map(|bytes| bytes.to_vec()))
        })?;
        let Some((stored, true)) = self.node_of(format, &layout, &Source::stored(&documents))? else {
            return Ok(Vec::new());
        };
        self.fixes(&stored, node, format, &layout, &documents)
    }

    /// Writes the documents of a node that are not in the strict form, and returns what was written. Each is replaced as a whole.
    pub(crate) fn make_strict(&self, node: &NodeMetadata) -> Result<Vec<DocumentFix>> {
        let format = format_of(node);
        if self.strict_form(node)?.is_empty() {
            return Ok(Vec::new());
        }
        until_unchanged(|| {
            self.rewritten(format, |stored, documents, write| {
                let layout = self.layout_for(format)?;
                let fixes = self.fixes(stored, node, format, &layout, documents)?;
                let names = layout.documents();
                let named = |fix: &DocumentFix| {
                    let name = names.iter().find(|name| layout.key(&self.path, name) == fix.key)?;
                    Some((*name, fix.after.clone()))
                };
                write(fixes.iter().filter_map(named).collect())?;
                Ok(fixes)
            })
        })
    }

    fn fixes(
        &self,
        stored: &NodeMetadata,
        opened: &NodeMetadata,
        format: Format,
        layout: &Layout,
        documents: &[Option<Vec<u8>>],
    ) -> Result<Vec<DocumentFix>> {
        if self.is_strict(format, documents).is_ok() {
            return Ok(Vec::new());
        }
        let node = complete(stored, opened);
        let made = format.def().to_documents(&self.path, &node, &self.context.registry)?;
        let keys = layout.keys(&self.path);
        let (mut after, mut fixes) = (documents.to_vec(), Vec::new());
        for (name, bytes) in made {
            let key = layout.key(&self.path, name);
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
                format!("the documents of '{}' have no strict form that means the same: {why}", self.path);
            Error::new(ErrorKind::InvalidMetadata, message)
        };
        let again = self.is_strict(format, &after).map_err(|error| unclear(error.to_string()))?;
        if !self.are_same(&node, &again)? {
            return Err(unclear("read again, they describe another node".to_owned()));
        }
        Ok(fixes)
    }

    /// The node that documents describe, if they follow the specification.
    fn is_strict(&self, format: Format, documents: &[Option<Vec<u8>>]) -> Result<NodeMetadata> {
        let context = ReadContext::new(&self.context.registry, Strictness::Strict);
        let node = format.def().from_documents(&Source::stored(documents), &context)?;
        let node = node.ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no node"))?;
        if let NodeMetadata::Array(array) = &node {
            // Codecs that are unknown here are not judged.
            match array.chain(&self.context.registry, Strictness::Strict, usize::MAX) {
                Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
                _ => {}
            }
        }
        Ok(node)
    }

    fn are_same(&self, one: &NodeMetadata, two: &NodeMetadata) -> Result<bool> {
        match (one, two) {
            (NodeMetadata::Array(one), NodeMetadata::Array(two)) => {
                one.is_same(two, &self.context.registry, usize::MAX)
            }
            _ => Ok(one == two),
        }
    }
}

/// The node with what its documents leave open, and what was found out when it was opened.
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

/// A document with the copies of other documents that the stored one has.
fn with_copies(before: Option<&[u8]>, after: Vec<u8>) -> Result<Vec<u8>> {
    let before = before.and_then(|bytes| json::parse_object(bytes).ok());
    let Some(copies @ Json::Object(_)) = before.as_ref().and_then(|map| map.get(COPIES)) else {
        return Ok(after);
    };
    let mut map = json::parse_object(&after)?;
    map.insert(COPIES.to_owned(), copies.clone());
    Ok(format!("{:#}", Json::Object(map)).into_bytes())
}

/// Returns true if both are the same JSON, or nothing and an empty object.
fn means_same(before: Option<&[u8]>, after: &[u8]) -> bool {
    let Ok(after) = json::parse(after) else { return false };
    match before.map(json::parse) {
        None => after.as_object().is_some_and(|map| map.is_empty()),
        Some(Ok(before)) => before == after,
        Some(Err(_)) => false,
    }
}
