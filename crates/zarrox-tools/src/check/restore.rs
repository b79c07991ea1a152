//! Restoration of lost documents from the consolidated metadata of a group above.

use zarrox_core::internals::metadata::{Layout, Source};
use zarrox_core::json::{self, Json};
use zarrox_core::{ArrayMetadata, Format, NodeMetadata, Result};
use zarrox_stores::{Condition, Key, StoreExt};

use super::repair;
use super::session::Session;
use zarrox::StaleNode;
use zarrox::internals::{ConsolidatedMetadata, Location, format_of};
use zarrox::{Group, Node};

/// The lost documents of a node.
pub(super) struct Lost {
    documents: Vec<Document>,
    /// The keys of all possible documents of a node of this format.
    keys: Vec<String>,
    /// The node that the documents describe.
    node: Box<NodeMetadata>,
    layout: Layout,
}

/// A document to write.
#[derive(PartialEq, Eq)]
struct Document {
    key: Key,
    /// The stored bytes that the document replaces.
    stored: Option<Vec<u8>>,
    text: Vec<u8>,
}

impl Lost {
    /// Looks for the documents of a node that are missing or invalid. Returns `None` if no consolidated metadata contains them,
    /// or if they do not describe a node together with the stored documents.
    pub(super) fn find(place: &Location) -> Option<Self> {
        let place = place.as_stored();
        let mut formats = Format::all().filter(|format| format.def().consolidation().is_some());
        formats.find_map(|format| {
            let above = place.path.ancestors().into_iter().rev();
            let mut copies = above.filter_map(|path| place.at(path).copy_of(format).ok().flatten());
            copies.find_map(|copy| Self::of(&place, format, &copy.layout, &|key| copy.document(key)))
        })
    }

    fn of(
        place: &Location,
        format: Format,
        layout: &Layout,
        copy: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Option<Self> {
        let keys = layout.keys(&place.path);
        let copied: Vec<_> = keys.iter().map(|key| copy(key)).collect();
        let found: Vec<_> =
            keys.iter().map(|key| place.stored_document(key.clone()).ok().flatten()).collect();
        let mut stored = found.clone();
        let mut lost = vec![false; keys.len()];
        let node = |documents: &[Option<Vec<u8>>]| {
            let node = place.node_of(format, layout, &Source::stored(documents)).ok().flatten();
            node.filter(|(node, explicit)| *explicit && format_of(node) == format).map(|(node, _)| node)
        };
        // If these documents describe a node, it cannot be opened for another reason, such as a document of another format.
        if node(&stored).is_some() {
            return None;
        }
        // The first attempt restores only invalid documents, and the second one also the document that defines the kind of the
        // node.
        for attempt in 0..2 {
            for (index, copied) in copied.iter().enumerate().filter(|(_, copied)| copied.is_some()) {
                let is_broken = stored[index].as_ref().is_none_or(|text| json::parse_object(text).is_err());
                let is_first = attempt == 1 && !lost.contains(&true);
                if !lost[index] && (is_broken || is_first) {
                    stored[index].clone_from(copied);
                    lost[index] = true;
                }
            }
            if lost.contains(&true)
                && let Some(node) = node(&stored)
            {
                let document = |index: usize| {
                    let key = Key::new(keys[index].as_str()).ok()?;
                    Some(Document { key, stored: found[index].clone(), text: stored[index].clone()? })
                };
                let written = (0..keys.len()).filter(|&index| lost[index]).filter_map(document).collect();
                return Some(Self { documents: written, keys, node: node.into(), layout: layout.clone() });
            }
        }
        None
    }

    /// Returns the document of a copy, which gives the array the metadata of the copy. The attributes of the array's own
    /// documents are kept, since they may be newer.
    pub(super) fn of_copy(
        place: &Location,
        copy: &ConsolidatedMetadata,
        said: &ArrayMetadata,
    ) -> Option<Self> {
        let keys = copy.layout.keys(&place.path);
        let stored: Vec<_> =
            keys.iter().map(|key| place.stored_document(key.clone()).ok().flatten()).collect();
        (0..keys.len()).find_map(|index| {
            let own = json::parse_object(stored[index].as_ref()?).ok()?;
            let mut text = copy.get(&keys[index])?.as_object()?.clone();
            if let Some(attributes) = own.get("attributes") {
                text.insert("attributes".to_owned(), attributes.clone());
            }
            let text = Json::from(text).to_string().into_bytes();
            let mut documents = stored.clone();
            documents[index] = Some(text.clone());
            match place.node_of(copy.format, &copy.layout, &Source::stored(&documents)) {
                Ok(Some((NodeMetadata::Array(array), _))) if place.is_same_array(&array, said).ok()? => {}
                _ => return None,
            }
            let node = NodeMetadata::Array(said.clone()).into();
            let document =
                Document { key: Key::new(keys[index].as_str()).ok()?, stored: stored[index].clone(), text };
            Some(Self { documents: vec![document], keys: keys.clone(), node, layout: copy.layout.clone() })
        })
    }

    /// Returns the node that the documents describe.
    pub(super) fn node(&self, place: &Location) -> Result<Node> {
        Node::new(place.as_stored(), (*self.node).clone())
    }

    /// Returns true if a document belongs to this node in this format. A document of another format would remain.
    pub(super) fn is_beside(&self, document: &str) -> bool {
        self.keys.iter().any(|key| key == document)
    }

    /// Writes the documents of a node, if it still lacks them and is not being moved or deleted.
    pub(super) fn restore_at(&self, session: &Session<'_>, place: &Location) -> Result<()> {
        let place = place.as_stored();
        Session::repair_alone(&place, &self.layout, || self.is_lost(&place), || self.restore(session))
    }

    /// Returns true if the documents are still lost, and were not deleted with their node.
    fn is_lost(&self, place: &Location) -> Result<bool> {
        // A deleted directory cannot be locked: its deletion updates consolidated metadata before it erases the mark.
        let mut marked = place.path.ancestors().into_iter().chain([place.path.clone()]);
        let is_deleted = marked.try_fold(false, |is_deleted, path| {
            place.at(path).mark().map(|mark| is_deleted || mark.is_some())
        })?;
        // The mark is erased last: if there is no mark, a complete deletion has left nothing, even if it could not update the
        // copy.
        Ok(!is_deleted
            && self.has_remains(place)?
            && Self::find(place).is_some_and(|now| now.documents == self.documents))
    }

    /// Returns true if any object of the node is stored: a document, a chunk or a node below it. If nothing is stored, the copy
    /// is out of date.
    fn has_remains(&self, place: &Location) -> Result<bool> {
        for key in &self.keys {
            // A document is found without a listing.
            if place.has(key.clone())? {
                return Ok(true);
            }
        }
        Ok(!place.is_free(&self.layout.extent(&place.path))?)
    }

    /// Writes the documents. The objects that the documents replace are moved to the quarantine.
    pub(super) fn restore(&self, session: &Session<'_>) -> Result<()> {
        let store = &session.start.store;
        self.documents.iter().try_for_each(|Document { key, stored, text }| match stored {
            Some(stored) => repair::replace(session, key, stored, Some(text)),
            None if store.capabilities().set_if_absent => Ok(store.set(key, text, Condition::Absent)?),
            None => Ok(store.set(key, text, Condition::Always)?),
        })
    }
}

/// Returns true if consolidated metadata may be the last copy of a node's documents.
pub(super) fn is_last_copy(group: &Group, difference: &StaleNode) -> bool {
    let Ok(path) = group.path().join(&difference.path) else { return false };
    let place = group.location().as_stored().at(path);
    let is_found = matches!(place.find(), Ok(Some(found)) if found.explicit || is_group(&found.node));
    !is_found && Lost::find(&place).is_some_and(|lost| lost.has_remains(&place).unwrap_or(true))
}

fn is_group(node: &NodeMetadata) -> bool {
    matches!(node, NodeMetadata::Group(_))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_core::{DataType, ErrorKind};
    use zarrox_stores::{MemoryStore, Store};

    use super::*;
    use crate::check::{Check, FindingKind, Repair};
    use zarrox::OpenOptions;

    /// Returns, for each format that supports consolidated metadata, an array of ones that is listed in it.
    fn copied_arrays() -> impl Iterator<Item = (Format, Location)> {
        let formats = Format::all().filter(|format| format.def().consolidation().is_some());
        formats.map(|format| {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let root = OpenOptions::new().format(format).create_group((Arc::clone(&store), "")).unwrap();
            let array = root.create_array("a").shape([2]).chunks([1]).data_type(DataType::Int32);
            array.create().unwrap().write(.., 1).unwrap();
            root.consolidate_metadata().unwrap();
            (format, OpenOptions::new().location(store, "a").unwrap())
        })
    }

    fn erase_documents(format: Format, place: &Location) {
        place
            .layout_for(format)
            .unwrap()
            .keys(&place.path)
            .into_iter()
            .for_each(|key| place.erase(key).unwrap());
    }

    fn repaired(place: &Location) -> Vec<FindingKind> {
        let mut found = Vec::new();
        let check = Check::open_with(&OpenOptions::new(), (Arc::clone(&place.store), "")).unwrap();
        let summary = check.repair(Repair::default()).run(|finding| {
            found.push(finding.kind);
            Ok(())
        });
        assert!(summary.unwrap().is_clean(), "{found:?}");
        found
    }

    #[test]
    fn a_document_is_restored_where_chunks_are_left() {
        for (format, place) in copied_arrays() {
            erase_documents(format, &place);
            assert!(Lost::find(&place).unwrap().is_lost(&place).unwrap(), "{format}");
            assert_eq!(repaired(&place), [FindingKind::ChunksWithoutArray], "{format}");
            let array =
                OpenOptions::new().open((Arc::clone(&place.store), "a")).unwrap().into_array().unwrap();
            assert_eq!(
                array.read::<ndarray::ArrayD<i32>>(..).unwrap(),
                ndarray::arr1(&[1, 1]).into_dyn(),
                "{format}"
            );
        }
    }

    #[test]
    fn an_array_of_which_only_the_copy_is_left_was_removed() {
        for (format, place) in copied_arrays() {
            erase_documents(format, &place);
            let lost = Lost::find(&place).unwrap();
            place.erase_all(place.layout_for(format).unwrap().extent(&place.path)).unwrap();
            assert!(!lost.is_lost(&place).unwrap(), "{format}");
            assert_eq!(repaired(&place), [FindingKind::StaleConsolidated], "{format}");
            let error = OpenOptions::new().open((Arc::clone(&place.store), "a")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{format}");
        }
    }

    #[test]
    fn a_document_is_not_restored_where_a_deletion_is_under_way_or_done() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let root = OpenOptions::new().create_group((Arc::clone(&store), "")).unwrap();
        let array = root.create_array("a").shape([2]).chunks([1]).data_type(DataType::Int32);
        array.create().unwrap().write(.., 1).unwrap();
        root.consolidate_metadata().unwrap();
        let place = OpenOptions::new().location(store, "a").unwrap();
        assert!(Lost::find(&place).is_none());
        let deleted = || place.erase("a/zarr.json".to_owned()).unwrap();

        let document = place.store.get(&Key::new("a/zarr.json").unwrap()).unwrap().unwrap();
        deleted();
        let lost = Lost::find(&place).unwrap();
        assert!(lost.is_lost(&place).unwrap());
        place.put("a/zarr.json".to_owned(), &document, Condition::Always).unwrap();
        place.begin_deletion().unwrap();
        deleted();
        assert!(!lost.is_lost(&place).unwrap());
        place.delete().unwrap();
        root.consolidate_metadata().unwrap();
        assert!(!lost.is_lost(&place).unwrap());
    }
}
