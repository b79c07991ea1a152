//! Reading documents, and requesting many of them in parallel.

use std::sync::Arc;

use zarrox_core::Error;
use zarrox_core::{Format, NodePath, Result};
use zarrox_stores::{Bytes, Key};

use super::DOCUMENT_LIMIT;
use crate::location::{Location, Probe, Purpose};

impl Location {
    /// Returns the location for opening a node. The documents of the node are requested when they are needed, and are cached
    /// while the node is being opened.
    pub fn probed(&self, purpose: Purpose) -> Self {
        match self.is_remote() {
            true => self.probed_for(std::slice::from_ref(&self.path), purpose),
            false => self.clone().with_probe(Some(Arc::default())),
        }
    }

    /// Returns the location for opening several nodes of this store. In a remote store, the documents of the nodes are
    /// requested in parallel.
    pub(crate) fn probed_for(&self, paths: &[NodePath], purpose: Purpose) -> Self {
        if !self.is_remote() || self.copy().is_some() {
            return self.clone();
        }
        let layout = |format: Format| self.known_layout(format).unwrap_or_else(|| format.def().layout());
        let mut probe = Probe::new(self.formats().map(|format| (format, layout(format))), paths, purpose);
        if purpose == Purpose::Create && self.is_guarded() {
            // The mark of a deletion is requested together with documents that are needed anyway.
            probe.queue_also(self.mark_key());
        }
        self.clone().with_probe(Some(probe.into()))
    }

    /// Returns the location for creating a node. The documents of the nodes above, which can have any format, are cached while
    /// the node is being created.
    pub(crate) fn probed_above(&self) -> Self {
        if self.read_ahead.probe.is_some() {
            return self.clone();
        }
        let any = self.clone().of_format(None);
        let probe = any.probed_for(&self.path.ancestors(), Purpose::Create).read_ahead.probe;
        self.clone().with_probe(probe)
    }

    /// Returns the location with these documents, requested in parallel except for those that were requested earlier.
    pub(crate) fn probed_keys(&self, keys: impl IntoIterator<Item = String>) -> Self {
        if !self.is_remote() {
            return self.clone();
        }
        let probe = Probe::of_keys(keys, self.read_ahead.probe.as_deref());
        self.clone().with_probe(Some(probe.into()))
    }

    /// Reads the stored document, not its copy in consolidated metadata.
    pub fn stored_document(&self, key: String) -> Result<Option<Vec<u8>>> {
        let key = Key::new(key)?;
        let document = match &self.read_ahead.probe {
            Some(probe) => self.requested(probe, &key)?,
            None => self.bytes(&key, DOCUMENT_LIMIT)?,
        };
        Ok(document.map(Vec::from))
    }

    fn requested(&self, probe: &Probe, key: &Key) -> Result<Option<Bytes>> {
        if let Some(answer) = probe.known(key) {
            return answer.map_err(Error::from);
        }
        if probe.finds_nothing(key, || self.any_below("").is_ok_and(|any| !any)) {
            return Ok(None);
        }
        let keys = probe.together_with(key);
        if keys.len() == 1 {
            let document = self.bytes(key, DOCUMENT_LIMIT)?;
            probe.keep(key.clone(), Ok(document.clone()));
            return Ok(document);
        }
        self.store.get_many(&keys, &|index, answer| {
            probe.keep(keys[index].clone(), answer);
        });
        match probe.known(key) {
            Some(answer) => answer.map_err(Error::from),
            None => self.bytes(key, DOCUMENT_LIMIT),
        }
    }

    /// Returns true if an object with this key is stored.
    pub fn has(&self, key: String) -> Result<bool> {
        let key = Key::new(key)?;
        match self.read_ahead.probe.as_ref().and_then(|probe| probe.known(&key)) {
            Some(answer) => Ok(answer?.is_some()),
            None => self.store.contains(&key).map_err(Error::from),
        }
    }
}
