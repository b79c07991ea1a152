//! The stored values, by their keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::Result;
use zarrox::stores::{Condition, Key, MemoryStore, Prefix, Store, StoreExt};

/// Values by their keys.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

/// Returns a store with these values, except values with invalid keys.
pub(crate) fn store_of(contents: &Contents) -> Result<Arc<dyn Store>> {
    let store = MemoryStore::new();
    for (key, value) in contents {
        if let Ok(key) = Key::new(key.as_str()) {
            store.set(&key, value, Condition::Always)?;
        }
    }
    Ok(Arc::new(store))
}

/// Returns the whole content of a store.
pub(crate) fn contents_of(store: &dyn Store) -> Result<Contents> {
    let mut keys = Vec::new();
    store.list_prefix(&Prefix::new("")?, &mut |key, _| {
        keys.push(key);
        ControlFlow::Continue(())
    })?;
    let mut contents = Contents::new();
    for key in keys {
        if let Some(value) = store.get(&key)? {
            contents.insert(key.to_string(), value.to_vec());
        }
    }
    Ok(contents)
}

/// Describes the keys whose values differ.
pub(crate) fn difference(before: &Contents, after: &Contents) -> String {
    let mut text = String::new();
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        let _ = writeln!(text, "- {key}");
    }
    for (key, value) in after.iter().filter(|(key, value)| before.get(*key) != Some(value)) {
        let sign = if before.contains_key(key) { '~' } else { '+' };
        let _ = writeln!(text, "{sign} {key}: {} bytes: {}", value.len(), value.escape_ascii());
    }
    text
}
