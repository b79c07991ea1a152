//! Documents that are asked for while nodes are opened or created: none twice, and from a store far away together with others that
//! will be needed, where one after the other would take as many round trips.
//!
//! The documents that most nodes have are asked for first; the rest only for those nodes that have none of these.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::HashMap;
use zarrox_core::metadata::Layout;
use zarrox_core::{Format, NodePath, Result};
use zarrox_stores::{Bytes, Key, StoreError};

use crate::error::from_store;
use crate::hierarchy::{DOCUMENT_LIMIT, Location};

/// The documents of some nodes, as far as they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// The documents that are asked for together. Those of the whole hierarchy come last, as if they were a node of their own.
    nodes: Vec<Vec<Wanted>>,
    /// Which of them has a document, and its stage.
    places: HashMap<Key, (usize, usize)>,
    answers: Mutex<HashMap<Key, Answer>>,
    /// That nothing is stored at all, where it is worth knowing; after the first stage, one request tells that.
    is_empty: Option<OnceLock<bool>>,
}

/// `None` for documents that are not there.
type Answer = std::result::Result<Option<Bytes>, StoreError>;

#[derive(Debug)]
struct Wanted {
    key: Key,
    stage: usize,
    /// Set for one that makes a node, so that no others need be looked for.
    decides: bool,
}

/// The purpose of asking for documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To open the nodes.
    Open,
    /// To open the nodes, by consolidated metadata if it is there.
    OpenByCopy,
    /// To open them by consolidated metadata, and in no other way.
    OpenOnlyByCopy,
    /// To create something below them.
    Create,
}

impl Purpose {
    /// When a document is asked for: in v3 and v2 first, and of these only what arrays have.
    fn stage_of(self, format: Format, is_of_group: bool) -> usize {
        match (self, format) {
            (_, Format::V3) | (Self::OpenOnlyByCopy, Format::V2) => 0,
            (Self::Create, Format::V2) => 1,
            (_, Format::V2) => usize::from(is_of_group),
            _ => LAST,
        }
    }
}

/// The stage of all that nothing else is known of.
const LAST: usize = 2;

impl Probe {
    /// Nothing has been asked for yet.
    fn new(location: &Location, paths: &[NodePath], purpose: Purpose) -> Self {
        let mut probe = Self::default();
        let by_copy = matches!(purpose, Purpose::OpenByCopy | Purpose::OpenOnlyByCopy);
        probe.is_empty = (purpose == Purpose::Create).then(OnceLock::new);
        probe.nodes.resize_with(paths.len() + 1, Vec::new);
        for format in location.formats() {
            let def = format.def();
            let layout = location.known_layout(format).unwrap_or_else(|| def.layout());
            for (node, path) in paths.iter().enumerate() {
                probe.want_node(node, path, format, &layout, purpose);
                let copy = def.consolidation().filter(|_| by_copy).and_then(|copy| copy.key(&layout, path));
                let stage = purpose.stage_of(format, true);
                copy.into_iter().for_each(|key| probe.want(node, key, stage, false));
            }
            let entry = def.entry_key().map(str::to_owned);
            entry.into_iter().for_each(|key| probe.want(paths.len(), key, LAST, false));
        }
        probe
    }

    fn want_node(&mut self, node: usize, path: &NodePath, format: Format, layout: &Layout, purpose: Purpose) {
        let group = format.def().group_document();
        for (index, document) in layout.documents().iter().enumerate() {
            let is_of_group = group == Some(index);
            let stage = purpose.stage_of(format, is_of_group);
            self.want(node, layout.key(path, document), stage, index == 0 || is_of_group);
        }
    }

    fn want(&mut self, node: usize, key: String, stage: usize, decides: bool) {
        let Ok(key) = Key::new(key) else { return };
        if !self.places.contains_key(&key) {
            self.places.insert(key.clone(), (node, stage));
            self.nodes[node].push(Wanted { key, stage, decides });
        }
    }

    /// A document that was asked for already. An error is told once: whoever asks again, asks the store.
    fn known(&self, key: &Key) -> Option<Answer> {
        let mut answers = self.answers();
        match answers.get(key) {
            Some(Ok(document)) => Some(Ok(document.clone())),
            Some(Err(_)) => answers.remove(key),
            None if self.is_empty() => Some(Ok(None)),
            None => None,
        }
    }

    /// True when nothing is stored at all, as far as that is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty.as_ref().and_then(OnceLock::get).is_some_and(|is_empty| *is_empty)
    }

    /// The documents that are asked for together with one; at least that one.
    fn together_with(&self, key: &Key) -> Vec<Key> {
        let Some(&(own, stage)) = self.places.get(key) else { return vec![key.clone()] };
        let answers = self.answers();
        let is_there = |wanted: &Wanted| matches!(answers.get(&wanted.key), Some(Ok(Some(_))));
        let is_decided = |node: &[Wanted]| node.iter().any(|wanted| wanted.decides && is_there(wanted));
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(node, wanted)| *node == own || !is_decided(wanted));
        let wanted = nodes.flat_map(|(_, wanted)| wanted);
        let wanted = wanted.filter(|wanted| wanted.stage == stage && !answers.contains_key(&wanted.key));
        wanted.map(|wanted| wanted.key.clone()).collect()
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Key, Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Location {
    /// Returns the place, about to be opened: its documents are asked for as they are needed, and kept meanwhile.
    pub(crate) fn probed(&self, purpose: Purpose) -> Self {
        match self.is_remote() {
            true => self.probed_for(std::slice::from_ref(&self.path), purpose),
            false => Self { probe: Some(Arc::default()), ..self.clone() },
        }
    }

    /// Returns the place, about to open several nodes of this store, where it is far away.
    pub(crate) fn probed_for(&self, paths: &[NodePath], purpose: Purpose) -> Self {
        if !self.is_remote() || self.copy().is_some() {
            return self.clone();
        }
        Self { probe: Some(Probe::new(self, paths, purpose).into()), ..self.clone() }
    }

    /// Returns the place, where something is about to be created: what is learned of the nodes above is kept meanwhile. These can be
    /// of any format.
    pub(crate) fn probed_above(&self) -> Self {
        if self.probe.is_some() {
            return self.clone();
        }
        let any = Self { format: None, ..self.clone() };
        Self { probe: any.probed_for(&self.path.ancestors(), Purpose::Create).probe, ..self.clone() }
    }

    /// Returns the place, of which these documents are asked for together; those that were asked for before are not.
    pub(crate) fn probed_keys(&self, keys: impl IntoIterator<Item = String>) -> Self {
        if !self.is_remote() {
            return self.clone();
        }
        let mut probe = Probe { nodes: vec![Vec::new()], ..Probe::default() };
        keys.into_iter().for_each(|key| probe.want(0, key, 0, true));
        if let Some(before) = &self.probe {
            let known = |key: &Key| before.known(key).map(|answer| (key.clone(), answer));
            let known = probe.places.keys().filter_map(known).collect();
            probe.answers = Mutex::new(known);
        }
        Self { probe: Some(probe.into()), ..self.clone() }
    }

    /// The document as it is stored, whatever consolidated metadata says.
    pub(crate) fn stored_document(&self, key: String) -> Result<Option<Vec<u8>>> {
        let key = Key::new(key).map_err(from_store)?;
        let document = match &self.probe {
            Some(probe) => self.asked(probe, &key)?,
            None => self.bytes(&key, DOCUMENT_LIMIT)?,
        };
        Ok(document.map(Vec::from))
    }

    fn asked(&self, probe: &Probe, key: &Key) -> Result<Option<Bytes>> {
        if let Some(answer) = probe.known(key) {
            return answer.map_err(from_store);
        }
        let is_later = probe.places.get(key).is_none_or(|(_, stage)| *stage > 0);
        if let Some(is_empty) = probe.is_empty.as_ref().filter(|_| is_later)
            && *is_empty.get_or_init(|| self.any_below("").is_ok_and(|any| !any))
        {
            return Ok(None);
        }
        let keys = probe.together_with(key);
        if keys.len() == 1 {
            let document = self.bytes(key, DOCUMENT_LIMIT)?;
            probe.answers().insert(key.clone(), Ok(document.clone()));
            return Ok(document);
        }
        self.store.get_many(&keys, &|index, answer| {
            probe.answers().insert(keys[index].clone(), answer);
        });
        match probe.known(key) {
            Some(answer) => answer.map_err(from_store),
            None => self.bytes(key, DOCUMENT_LIMIT),
        }
    }

    /// True when there is a value of this key.
    pub(crate) fn has(&self, key: String) -> Result<bool> {
        let key = Key::new(key).map_err(from_store)?;
        match self.probe.as_ref().and_then(|probe| probe.known(&key)) {
            Some(answer) => Ok(answer.map_err(from_store)?.is_some()),
            None => self.store.contains(&key).map_err(from_store),
        }
    }
}
