//! Files that are not databases, and damaged databases.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use zarrox_stores::{Store, StoreError, StoreErrorKind};
use zarrox_testkit::store::{key, prefix};

/// A function that opens a store.
type Open<'a> = &'a dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError>;

/// Checks that empty files, truncated files and files of other formats are errors, and never crash. If a part of a file is
/// enough to open it, reads return values or errors.
pub(crate) fn check_damaged(open: Open<'_>, whole: &[u8]) {
    let directory = TempDir::new().unwrap();
    let name = "damaged.database";
    let path = directory.path().join(name);
    let others: [&[u8]; 4] = [b"", b"{\"zarr_format\": 2}", b"PK\x03\x04 and no more", &[0xff; 20_000]];
    for content in others {
        fs::write(&path, content).unwrap();
        let error = open(&path).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(fs::read(&path).unwrap(), content, "a file of another kind was changed");
    }
    let mut refused = 0;
    for length in (1..32).map(|n| whole.len() * n / 32) {
        fs::write(&path, &whole[..length]).unwrap();
        refused += usize::from(!read_everything(open, &path));
    }
    assert!(refused > 0);
    for position in (0..whole.len()).step_by((whole.len() / 300).max(1)) {
        let mut flipped = whole.to_vec();
        flipped[position] ^= 0xff;
        fs::write(&path, &flipped).unwrap();
        read_everything(open, &path);
    }
}

/// Returns true if everything could be read.
fn read_everything(open: Open<'_>, path: &Path) -> bool {
    let Ok(store) = open(path) else { return false };
    let mut fine = true;
    let listed = store.list_prefix(&prefix(""), &mut |name, _| {
        fine &= store.get(&name).is_ok();
        std::ops::ControlFlow::Continue(())
    });
    fine & listed.is_ok() & store.get(&key("group/counts/1.0")).is_ok()
}
