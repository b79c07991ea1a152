//! Berkeley DB's B-trees, in which keys are sorted by their bytes, and each key is followed by its value.

use super::pages::{Item, Page, Pages, Visit, kind, unsupported};
use zarrox_stores::StoreError;

/// The flags of files with unsupported features: several values under one key, numbers as keys, several databases in the file, or
/// compression.
const DUPLICATES: u32 = 0x01 | 0x40;
const NUMBERS: u32 = 0x02 | 0x08 | 0x10;
const DATABASES: u32 = 0x20;
const COMPRESSION: u32 = 0x80;

/// The types of items.
const BYTES: u8 = 1;
const OVERFLOW: u8 = 3;
/// The bit in the type of an item that has been erased but whose bytes are still in the page.
const ERASED: u8 = 0x80;

/// The offset of the key within an item of an internal page; the number of the child page precedes it.
const INTERNAL_KEY: usize = 12;

#[derive(Debug)]
pub(super) struct Tree {
    root: u32,
}

impl Tree {
    pub(super) fn new(first: &Page) -> Result<Self, StoreError> {
        let flags = first.word(48)?;
        let refused = [
            (DUPLICATES, "several values under one key"),
            (NUMBERS, "numbers as keys"),
            (DATABASES, "several databases"),
            (COMPRESSION, "compressed keys"),
        ];
        match refused.iter().find(|(flag, _)| flags & flag != 0) {
            Some((_, what)) => Err(unsupported(what)),
            None => Ok(Self { root: first.word(88)? }),
        }
    }

    pub(super) fn find(&self, pages: &Pages, key: &[u8]) -> Result<Option<Item>, StoreError> {
        let leaf = self.leaf(pages, key)?;
        for index in (1..leaf.items()?).step_by(2) {
            let Some((own, value)) = pair(&leaf, index)? else { continue };
            if own.size() == key.len() as u64 && pages.bytes(own)? == key {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Visits all keys that begin with `prefix`, with the sizes of their values.
    pub(super) fn walk(&self, pages: &Pages, prefix: &[u8], visit: &mut Visit<'_>) -> Result<(), StoreError> {
        let mut leaf = self.leaf(pages, prefix)?;
        for _ in 0..pages.count() {
            for index in (1..leaf.items()?).step_by(2) {
                let Some((key, value)) = pair(&leaf, index)? else { continue };
                let key = pages.bytes(key)?;
                let is_below = key.starts_with(prefix);
                if !is_below && key.as_slice() > prefix {
                    return Ok(());
                }
                if is_below && visit(key, value.size())?.is_break() {
                    return Ok(());
                }
            }
            match leaf.next()? {
                0 => return Ok(()),
                next => leaf = leaf_page(pages.page(next)?)?,
            }
        }
        Err(leaf.damaged("the leaves of the tree form a cycle"))
    }

    /// Returns the leaf that contains a key, if any leaf does.
    fn leaf(&self, pages: &Pages, key: &[u8]) -> Result<Page, StoreError> {
        let mut page = pages.page(self.root)?;
        while page.kind()? == kind::TREE_INTERNAL {
            let below = pages.page(child(pages, &page, key)?)?;
            // Levels must decrease, so that the loop ends even if the file is damaged.
            if below.level()? >= page.level()? {
                return Err(below.damaged("it has the wrong level in the tree"));
            }
            page = below;
        }
        leaf_page(page)
    }
}

fn leaf_page(page: Page) -> Result<Page, StoreError> {
    if page.kind()? == kind::TREE_LEAF { Ok(page) } else { Err(page.damaged("it is not a leaf of a tree")) }
}

/// Returns the child page whose range of keys includes `key`: the last child whose first key is not greater than `key`.
fn child(pages: &Pages, page: &Page, key: &[u8]) -> Result<u32, StoreError> {
    if page.items()? == 0 {
        return Err(page.damaged("it has no children"));
    }
    let mut found = page.word(page.place(0)? + 4)?;
    // The first child covers all keys before the first key of the second child.
    for index in 1..page.items()? {
        let place = page.place(index)?;
        let first = match page.byte(place + 2)? & !ERASED {
            BYTES => Item::Here(page.part(place + INTERNAL_KEY, page.half(place)?)?.to_vec()),
            OVERFLOW => overflow(page, place + INTERNAL_KEY)?,
            _ => return Err(page.damaged("an item has an unknown type")),
        };
        if pages.bytes(first)?.as_slice() > key {
            break;
        }
        found = page.word(place + 4)?;
    }
    Ok(found)
}

/// Returns the pair whose value is at `index`; `None` if it has been erased.
fn pair(page: &Page, index: usize) -> Result<Option<(Item, Item)>, StoreError> {
    if page.byte(page.place(index)? + 2)? & ERASED != 0 {
        return Ok(None);
    }
    Ok(Some((item(page, index - 1)?, item(page, index)?)))
}

fn item(page: &Page, index: usize) -> Result<Item, StoreError> {
    let place = page.place(index)?;
    match page.byte(place + 2)? & !ERASED {
        BYTES => Ok(Item::Here(page.part(place + 3, page.half(place)?)?.to_vec())),
        OVERFLOW => overflow(page, place),
        _ => Err(page.damaged("an item has an unknown type")),
    }
}

fn overflow(page: &Page, place: usize) -> Result<Item, StoreError> {
    Ok(Item::Overflow { first: page.word(place + 4)?, length: page.word(place + 8)? })
}
