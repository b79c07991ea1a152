//! Damaged files give errors: nothing panics, and memory stays bounded.

use std::path::Path;
use std::sync::Arc;

use zarrox::{Node, OpenOptions};
use zarrox_files::open_file;

use crate::data;

/// Opens a file, and reads all that can be read.
fn read_all(path: &Path) {
    let Ok(store) = open_file(path) else { return };
    let Ok(Node::Group(root)) = OpenOptions::new().open_in(Arc::new(store), "") else { return };
    let _ = root.visit(&mut |_, node| {
        if let Ok(Node::Array(array)) = node
            && array
                .shape()
                .iter()
                .try_fold(array.data_type().size() as u64, |size, &n| size.checked_mul(n))
                .is_some_and(|size| size < 1 << 24)
        {
            let _ = array.read_dyn(..);
        }
        Ok(())
    });
}

/// Numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn files_that_are_cut_off_or_changed_do_not_panic() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let files = [
        "types-latest.h5",
        "scales.h5",
        "nc4.nc",
        "user.h5",
        "netcdf3_classic.nc",
        "netcdf3_64bit_data.nc",
        "types-earliest.h5",
    ];
    for file in files {
        let bytes = std::fs::read(data().join(file)).unwrap();
        let path = directory.path().join(file);
        for round in 0..40 {
            let mut damaged = bytes.clone();
            if round % 4 == 0 {
                damaged.truncate(random.below(bytes.len()));
            } else {
                for _ in 0..1 + random.below(8) {
                    // Most structures are near the beginning.
                    let limit = if round % 2 == 0 { damaged.len() } else { damaged.len().min(4096) };
                    let at = random.below(limit);
                    damaged[at] =
                        [0, 1, 0x7f, 0x80, 0xff, u8::try_from(random.below(256)).unwrap()][random.below(6)];
                }
            }
            std::fs::write(&path, &damaged).unwrap();
            read_all(&path);
        }
    }
}

#[test]
fn a_file_of_another_kind_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    std::fs::write(&path, "text").unwrap();
    assert!(open_file(&path).unwrap_err().to_string().contains("a.txt"));
    assert!(open_file(directory.path()).is_err());
    assert!(open_file(directory.path().join("nothing")).is_err());
}
