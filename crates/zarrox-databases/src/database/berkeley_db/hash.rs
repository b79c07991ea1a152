//! Berkeley DB's hash tables, which have a chain of pages for each bucket.

use super::pages::{Item, Page, Pages, Visit, kind, unsupported};
use zarrox_stores::StoreError;

/// The flags of files with unsupported features: several values under one key, or several databases in the file.
const DUPLICATES: u32 = 0x01 | 0x04;
const DATABASES: u32 = 0x02;

/// The types of items.
const BYTES: u8 = 1;
const OVERFLOW: u8 = 3;

/// The text whose hash is stored in the file. It reveals whether the file uses another hash function.
const PROBE: &[u8] = b"%$sniglet^&\0";

/// The number of offsets for locating buckets: one for each doubling of the table.
const DOUBLINGS: u32 = 32;

#[derive(Debug)]
pub(super) struct Hash {
    last_bucket: u32,
    high_mask: u32,
    low_mask: u32,
    /// For each doubling, the difference between a page number and the number of its bucket.
    offsets: Vec<u32>,
}

impl Hash {
    pub(super) fn new(first: &Page, pages: &Pages) -> Result<Self, StoreError> {
        let flags = first.word(48)?;
        if flags & DUPLICATES != 0 {
            return Err(unsupported("several values under one key"));
        }
        if flags & DATABASES != 0 {
            return Err(unsupported("several databases"));
        }
        if first.word(92)? != hash(PROBE) {
            return Err(unsupported("another hash function"));
        }
        let offsets = (0..DOUBLINGS).map(|doubling| first.word(96 + 4 * doubling as usize));
        let table = Self {
            last_bucket: first.word(72)?,
            high_mask: first.word(76)?,
            low_mask: first.word(80)?,
            offsets: offsets.collect::<Result<_, _>>()?,
        };
        // Each bucket has at least one page.
        if table.last_bucket >= pages.count() {
            return Err(first.damaged("the file has more buckets than pages"));
        }
        Ok(table)
    }

    pub(super) fn find(&self, pages: &Pages, key: &[u8]) -> Result<Option<Item>, StoreError> {
        let mut bucket = hash(key) & self.high_mask;
        if bucket > self.last_bucket {
            bucket &= self.low_mask;
        }
        let mut found = None;
        self.chain(pages, bucket, &mut pages.count(), &mut |own, value| {
            let same = own.size() == key.len() as u64 && pages.bytes(own)? == key;
            if same {
                found = Some(value);
            }
            Ok(!same)
        })?;
        Ok(found)
    }

    /// Visits all keys that begin with `prefix`, with the sizes of their values.
    pub(super) fn walk(&self, pages: &Pages, prefix: &[u8], visit: &mut Visit<'_>) -> Result<(), StoreError> {
        // Each page belongs to a single chain, so all chains together have at most as many pages as the file.
        let mut left = pages.count();
        for bucket in 0..=self.last_bucket {
            let goes_on = self.chain(pages, bucket, &mut left, &mut |key, value| {
                let key = pages.bytes(key)?;
                Ok(!key.starts_with(prefix) || visit(key, value.size())?.is_continue())
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Visits the keys and values of a bucket. Returns false if the visitor breaks. `left` is the maximum number of pages that
    /// this chain and all later chains can have in total.
    fn chain(
        &self,
        pages: &Pages,
        bucket: u32,
        left: &mut u32,
        visit: &mut dyn FnMut(Item, Item) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        // The number of doublings after which this bucket exists.
        let doublings = u32::BITS - bucket.leading_zeros();
        let offset = self.offsets.get(doublings as usize).copied().unwrap_or(u32::MAX);
        let mut page = pages.page(bucket.saturating_add(offset))?;
        loop {
            // A page whose type is invalid has never been written.
            if ![kind::INVALID, kind::HASH, kind::HASH_UNSORTED].contains(&page.kind()?) {
                return Err(page.damaged("it is not a page of a hash table"));
            }
            *left = left.checked_sub(1).ok_or_else(|| page.damaged("the pages form a cycle"))?;
            for index in (1..page.items()?).step_by(2) {
                if !visit(item(&page, index - 1)?, item(&page, index)?)? {
                    return Ok(false);
                }
            }
            match page.next()? {
                0 => return Ok(true),
                next => page = pages.page(next)?,
            }
        }
    }
}

/// Returns an item. The first item ends at the end of the page; each other item ends where the previous one begins.
fn item(page: &Page, index: usize) -> Result<Item, StoreError> {
    let place = page.place(index)?;
    match page.byte(place)? {
        BYTES => {
            let end = if index == 0 { page.size() } else { page.place(index - 1)? };
            let length = end.checked_sub(place + 1).ok_or_else(|| page.damaged("items overlap"))?;
            Ok(Item::Here(page.part(place + 1, length)?.to_vec()))
        }
        OVERFLOW => Ok(Item::Overflow { first: page.word(place + 4)?, length: page.word(place + 8)? }),
        _ => Err(page.damaged("an item has an unknown type")),
    }
}

/// Returns the FNV hash of some bytes, with an initial value of zero as in Berkeley DB.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |hash: u32, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte))
}
