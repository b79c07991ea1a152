//! Listings in databases with sorted keys.

use std::ops::ControlFlow;

use zarrox_stores::internals::support::valid;
use zarrox_stores::{DirListing, Key, Prefix, StoreError, StoreErrorKind};

/// The maximum number of keys that a listing reads at a time.
const PAGE: usize = 1024;

/// The number of keys that a listing of a directory reads first, since most directories of a hierarchy have few keys.
const FIRST_PAGE: usize = 16;

/// A range of keys in a database whose keys are sorted by their bytes.
#[derive(Clone, Debug)]
pub(crate) struct KeyRange {
    /// The first key, or bytes that sort before it.
    pub(crate) from: Vec<u8>,
    /// The smallest byte string that sorts after all keys of the range; `None` if no keys follow.
    pub(crate) before: Option<Vec<u8>>,
}

impl KeyRange {
    /// Returns the range of all keys below a prefix.
    pub(crate) fn below(prefix: &Prefix) -> Self {
        let before = (!prefix.is_root()).then(|| after(prefix.as_str().as_bytes()));
        Self { from: prefix.as_str().into(), before }
    }
}

/// Returns the smallest byte string that sorts after every one with this prefix. The prefix ends in `/`, whose successor is `0`.
fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        *last = b'0';
    }
    end
}

/// Keys in ascending order, with the sizes of their values.
pub(crate) type Page = Vec<(Vec<u8>, u64)>;

/// A database whose keys are sorted by their bytes.
pub(crate) trait Ordered {
    /// Returns at most `limit` keys from the start of a range.
    fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, StoreError>;

    /// Lists keys. See [`Store::list_prefix`](zarrox_stores::Store::list_prefix). No transaction is open while the visitor is
    /// called.
    fn list_keys(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut range = KeyRange::below(prefix);
        loop {
            let page = self.page(&range, PAGE)?;
            let Some(next) = next(&page, &range)? else { return Ok(()) };
            range.from = next;
            for (key, size) in page {
                let Some(key) = valid(key) else { continue };
                if visit(key, size).is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// Lists a single directory. See [`Store::list_dir`](zarrox_stores::Store::list_dir). Keys below a child are skipped without
    /// being visited.
    fn list_directory(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = DirListing::default();
        let mut range = KeyRange::below(prefix);
        let mut limit = FIRST_PAGE;
        loop {
            let page = self.page(&range, limit)?;
            let Some(mut next) = next(&page, &range)? else { return Ok(listing.sorted()) };
            limit = (limit * 2).min(PAGE);
            for (key, _) in page {
                if key < range.from {
                    continue;
                }
                let Some(name) = key.get(prefix.as_str().len()..) else { continue };
                let Some(slash) = name.iter().position(|byte| *byte == b'/') else {
                    listing.keys.extend(valid(key));
                    continue;
                };
                let child = &key[..=prefix.as_str().len() + slash];
                range.from = after(child);
                listing
                    .prefixes
                    .extend(std::str::from_utf8(child).ok().and_then(|text| Prefix::new(text).ok()));
            }
            if range.from > next {
                next = std::mem::take(&mut range.from);
                limit = FIRST_PAGE;
            }
            range.from = next;
        }
    }
}

/// Returns the start of the next page; `None` if this page is empty. Returns an error if keys are out of order, as in a damaged
/// database, in which a listing might never end.
fn next(page: &Page, range: &KeyRange) -> Result<Option<Vec<u8>>, StoreError> {
    let Some((last, _)) = page.last() else { return Ok(None) };
    if *last < range.from {
        let message = "the database is damaged: its keys are not in order";
        return Err(StoreError::new(StoreErrorKind::Corrupt, "listing", message));
    }
    Ok(Some([last, &[0][..]].concat()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use super::*;

    /// A database that counts the keys that were read.
    struct Counted(BTreeMap<Vec<u8>, u64>, Cell<usize>);

    impl Ordered for Counted {
        fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, StoreError> {
            let keys = self.0.range(range.from.clone()..);
            let inside = keys.take_while(|(key, _)| range.before.as_ref().is_none_or(|before| *key < before));
            let page: Page = inside.take(limit).map(|(key, size)| (key.clone(), *size)).collect();
            self.1.set(self.1.get() + page.len());
            Ok(page)
        }
    }

    fn counted(keys: impl Iterator<Item = String>) -> Counted {
        Counted(keys.map(|key| (key.into_bytes(), 1)).collect(), Cell::new(0))
    }

    #[test]
    fn a_directory_is_listed_without_what_lies_below() {
        let below = (0..3).flat_map(|a| (0..5_000).map(move |b| format!("g/{a}/{b}")));
        let beside = (0..100).map(|n| format!("g/k{n}")).chain(["a".to_owned(), "h/0".to_owned()]);
        let store = counted(below.chain(beside));
        let listing = store.list_directory(&Prefix::new("g/").unwrap()).unwrap();
        assert_eq!(listing.keys.len(), 100);
        assert_eq!(listing.prefixes.iter().map(Prefix::as_str).collect::<Vec<_>>(), ["g/0/", "g/1/", "g/2/"]);
        assert!(store.1.get() < 1_000, "{} keys were taken", store.1.get());
        assert_eq!(store.list_directory(&Prefix::root()).unwrap().prefixes.len(), 2);
    }

    #[test]
    fn names_that_are_not_keys_are_ignored() {
        let mut store = counted(["a", "a//b", "/c", "d\\e", "f/g"].map(str::to_owned).into_iter());
        store.0.insert(vec![0xff, b'/', 0xff], 1);
        store.0.insert(vec![0xff], 1);
        let mut keys = Vec::new();
        let mut visit = |key: Key, _| {
            keys.push(key.to_string());
            ControlFlow::Continue(())
        };
        store.list_keys(&Prefix::root(), &mut visit).unwrap();
        assert_eq!(keys, ["a", "f/g"]);
        let listing = store.list_directory(&Prefix::root()).unwrap();
        assert_eq!((listing.keys.len(), listing.prefixes.len()), (1, 2));
    }

    /// A database that always returns the same key.
    struct Damaged;

    impl Ordered for Damaged {
        fn page(&self, _range: &KeyRange, _limit: usize) -> Result<Page, StoreError> {
            Ok(vec![(b"a/b".to_vec(), 1)])
        }
    }

    #[test]
    fn keys_in_disorder_end_a_listing() {
        let mut visit = |_, _| ControlFlow::Continue(());
        let error = Damaged.list_keys(&Prefix::root(), &mut visit).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        assert_eq!(Damaged.list_directory(&Prefix::root()).unwrap_err().kind(), StoreErrorKind::Corrupt);
    }
}
