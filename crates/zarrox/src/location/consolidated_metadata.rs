//! Consolidated metadata in memory: the documents of a group and of all nodes below it.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox_core::internals::metadata::{Documents, Layout};
use zarrox_core::json::Json;
use zarrox_core::{Format, NodePath};

/// The documents of a group and of all nodes below it, in memory.
#[derive(Debug)]
pub struct ConsolidatedMetadata {
    /// The path of the group to which the consolidated metadata belongs.
    pub group: NodePath,
    /// The format of the documents.
    pub format: Format,
    /// The layout of the stored documents.
    pub layout: Layout,
    documents: Documents,
    /// True after a change: from then on, documents are read from the store.
    outdated: AtomicBool,
}

impl ConsolidatedMetadata {
    pub(crate) fn new(group: NodePath, format: Format, layout: Layout, documents: Documents) -> Self {
        Self { group, format, layout, documents, outdated: AtomicBool::new(false) }
    }

    /// Returns the document with this key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.documents.get(key)
    }

    /// Returns the document with this key, serialised.
    pub fn document(&self, key: &str) -> Option<Vec<u8>> {
        self.get(key).map(|document| document.to_string().into_bytes())
    }

    /// Returns true if there is a document below a prefix.
    pub(crate) fn any_below(&self, prefix: &str) -> bool {
        let mut from = self.documents.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        from.next().is_some_and(|(key, _)| key.starts_with(prefix))
    }

    /// Returns the names of the keys and prefixes directly below a prefix. The cost is proportional to the number of names, not
    /// to the number of all nodes below.
    pub(crate) fn list(&self, prefix: &str) -> (Vec<&str>, Vec<&str>) {
        let (mut keys, mut prefixes) = (Vec::new(), Vec::new());
        let mut next = Bound::Included(prefix.to_owned());
        while let Some((key, _)) = self.documents.range::<String, _>((next, Bound::Unbounded)).next() {
            let Some(name) = key.strip_prefix(prefix) else { break };
            match name.split_once('/') {
                None => {
                    keys.push(name);
                    next = Bound::Excluded(key.clone());
                }
                Some((name, _)) => {
                    prefixes.push(name);
                    // `0` is the character after `/`.
                    next = Bound::Included(format!("{prefix}{name}0"));
                }
            }
        }
        (keys, prefixes)
    }

    pub(crate) fn is_in_use(&self) -> bool {
        !self.outdated.load(Ordering::Acquire)
    }

    /// Stops using the consolidated metadata because a change follows: from now on, documents are read from the store.
    pub(crate) fn stop_using(&self) {
        self.outdated.store(true, Ordering::Release);
    }
}
