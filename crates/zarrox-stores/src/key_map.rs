//! Listing the keys of an ordered map.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::ops::{Bound, ControlFlow};

use crate::{DirListing, Key, Prefix, StoreError};

/// The number of keys that a listing copies from the map each time it holds the lock.
const BATCH: usize = 1024;

pub(crate) type Map<V> = BTreeMap<Key, V>;

/// Visits keys with their sizes. The keys are copied from the map in batches, so that the map is not locked while the visitor
/// runs. `next` returns the batch that starts at a bound. See [`batch`].
pub(crate) fn visit_batches<E>(
    prefix: &Prefix,
    mut next: impl FnMut(Bound<&str>) -> Result<Vec<(Key, u64)>, E>,
    visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
) -> Result<(), E> {
    let mut batch = next(Bound::Included(prefix.as_str()))?;
    while let Some((last, _)) = batch.last() {
        let last = last.clone();
        for (key, size) in batch {
            if visit(key, size).is_break() {
                return Ok(());
            }
        }
        batch = next(Bound::Excluded(last.as_str()))?;
    }
    Ok(())
}

/// Returns the next keys below the prefix with their sizes: at most [`BATCH`] keys.
pub(crate) fn batch<V>(
    map: &Map<V>,
    start: Bound<&str>,
    prefix: &Prefix,
    size: impl Fn(&V) -> u64,
) -> Vec<(Key, u64)> {
    let below = range_from(map, start).take_while(|(key, _)| prefix.contains(key));
    below.take(BATCH).map(|(key, value)| (key.clone(), size(value))).collect()
}

/// Returns the keys and prefixes directly below a prefix, and skips everything at a greater depth.
pub(crate) fn list_dir<V>(map: &Map<V>, prefix: &Prefix) -> Result<DirListing, StoreError> {
    let mut listing = DirListing::default();
    let mut keys = range_from(map, Bound::Included(prefix.as_str()));
    while let Some((key, _)) = keys.next() {
        let Some(name) = key.as_str().strip_prefix(prefix.as_str()) else { break };
        let Some((child, _)) = name.split_once('/') else {
            listing.keys.push(key.clone());
            continue;
        };
        let child = prefix.child(child)?;
        keys = range_from(map, Bound::Included(&after(&child)));
        listing.prefixes.push(child);
    }
    Ok(listing.sorted())
}

/// Iterates over all entries below a prefix.
#[cfg(feature = "references")]
pub(crate) fn below<'a, V>(map: &'a Map<V>, prefix: &'a Prefix) -> impl Iterator<Item = (&'a Key, &'a V)> {
    range_from(map, Bound::Included(prefix.as_str())).take_while(|(key, _)| prefix.contains(key))
}

/// Returns true if a key lies below the prefix.
pub(crate) fn any_below<V>(map: &Map<V>, prefix: &Prefix) -> bool {
    range_from(map, Bound::Included(prefix.as_str())).next().is_some_and(|(key, _)| prefix.contains(key))
}

/// Removes everything below the prefix from the map and returns it.
pub(crate) fn take_prefix<V>(map: &mut Map<V>, prefix: &Prefix) -> Vec<(Key, V)> {
    let below = range_from(map, Bound::Included(prefix.as_str())).take_while(|(key, _)| prefix.contains(key));
    let keys: Vec<Key> = below.map(|(key, _)| key.clone()).collect();
    keys.iter().filter_map(|key| map.remove_entry(key)).collect()
}

fn range_from<'a, V>(map: &'a Map<V>, start: Bound<&str>) -> Range<'a, Key, V> {
    map.range::<str, _>((start, Bound::Unbounded))
}

/// Returns the smallest string that sorts after everything below the prefix, since `0` follows `/`. The prefix must not be the
/// root.
fn after(prefix: &Prefix) -> String {
    [prefix.segments(), "0"].concat()
}
