//! Data that other programs wrote: each writer's data are in an archive, `data.tar.xz`, beside the README about their origin.
//! `crates/zarrox/tests/corpus/pack.py` creates these archives.

#![expect(clippy::panic, reason = "a test without data fails")]

use std::collections::BTreeMap;
use std::env;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Error, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use liblzma::read::XzDecoder;
use tar::Archive;

/// The name of every archive.
const ARCHIVE: &str = "data.tar.xz";
/// The directory in an archive that contains everything else.
const DATA: &str = "data";

/// Returns the directory that contains a directory for each writer.
#[must_use]
pub fn root() -> PathBuf {
    repository().join("crates/zarrox/tests/corpus")
}

/// Returns the directory of the unpacked data of a writer of the corpus, such as `numcodecs/0.15` or `n5/java`. All tests read
/// the same files: a test that changes them must copy them first.
///
/// # Panics
///
/// When the archive is missing or damaged.
#[must_use]
pub fn directory(writer: &str) -> PathBuf {
    unpacked(&root().join(writer))
}

/// Returns the directory of the unpacked data of the archive in this directory, as [`directory`] does for the corpus.
///
/// # Panics
///
/// When the archive is missing or damaged.
#[must_use]
pub fn unpacked(writer: &Path) -> PathBuf {
    /// The archives that this process has unpacked, or found unpacked. Other threads wait while an archive is unpacked.
    static PLACES: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(place) = places.get(writer) {
        return place.clone();
    }
    match unpack_below(&target().join("corpus"), writer) {
        Ok(place) => places.entry(writer.to_owned()).or_insert(place).clone(),
        Err(error) => panic!("{}: {error}", writer.join(ARCHIVE).display()),
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// Returns Cargo's target directory.
fn target() -> PathBuf {
    repository().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Unpacks an archive into a new directory below `places`, unless that was done before.
fn unpack_below(places: &Path, writer: &Path) -> io::Result<PathBuf> {
    let packed = std::fs::read(writer.join(ARCHIVE))?;
    let name = writer.file_name().unwrap_or_default().to_string_lossy();
    // Another archive has another directory, so that unpacked data are never stale.
    let place = places.join(format!("{name}-{:016x}", checksum(&packed)));
    if place.exists() {
        return Ok(place);
    }
    std::fs::create_dir_all(places)?;
    let fresh = tempfile::tempdir_in(places)?;
    unpack(&packed, fresh.path())?;
    match std::fs::rename(fresh.path().join(DATA), &place) {
        // Another process was faster.
        Err(_) if place.exists() => Ok(place),
        renamed => renamed.map(|()| place),
    }
}

/// The hash may differ between versions of Rust: another version unpacks once more.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn unpack(packed: &[u8], directory: &Path) -> io::Result<()> {
    // The checksum is at the end, and the data are used only if it is right.
    let mut unpacked = Vec::new();
    XzDecoder::new(packed).read_to_end(&mut unpacked)?;
    let mut archive = Archive::new(unpacked.as_slice());
    archive.set_preserve_mtime(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        // `unpack_in` writes nothing outside the directory: it skips `..`, and returns an error for a link out of it.
        if !entry.unpack_in(directory)? {
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            return Err(Error::other(format!("the entry '{path}' leads out of the archive")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::thread;

    use liblzma::write::XzEncoder;
    use tar::{Builder, EntryType, Header};
    use tempfile::TempDir;

    use super::*;

    /// Returns a writer's directory with an archive of these entries, and a directory to unpack into.
    fn archive(entries: &[(EntryType, &[u8], &[u8])]) -> (TempDir, PathBuf, PathBuf) {
        let mut tar = Builder::new(Vec::new());
        for &(kind, path, content) in entries {
            let mut header = Header::new_ustar();
            header.set_entry_type(kind);
            header.set_mode(0o755);
            // Written directly: the crate's own functions reject paths out of the archive.
            header.as_old_mut().name[..path.len()].copy_from_slice(path);
            if kind.is_symlink() {
                header.as_old_mut().linkname[..content.len()].copy_from_slice(content);
                header.set_size(0);
            } else {
                header.set_size(content.len() as u64);
            }
            header.set_cksum();
            tar.append(&header, if kind.is_symlink() { &[] } else { content }).unwrap();
        }
        let mut packed = XzEncoder::new(Vec::new(), 6);
        packed.write_all(&tar.into_inner().unwrap()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let writer = directory.path().join("writer");
        fs::create_dir(&writer).unwrap();
        fs::write(writer.join(ARCHIVE), packed.finish().unwrap()).unwrap();
        let places = directory.path().join("target/corpus");
        (directory, writer, places)
    }

    const FILE: EntryType = EntryType::Regular;
    const DIRECTORY: EntryType = EntryType::Directory;

    #[test]
    fn every_kind_of_file_is_unpacked() {
        let name = "data/ a*\\b\"é日.ZARR".as_bytes();
        let (_kept, writer, places) = archive(&[
            (DIRECTORY, b"data/empty/", b""),
            (FILE, name, b"bytes\r\n\0"),
            (FILE, b"data/a.zarr/.zgroup", b""),
        ]);
        let place = unpack_below(&places, &writer).unwrap();
        assert_eq!(fs::read(place.join(" a*\\b\"é日.ZARR")).unwrap(), b"bytes\r\n\0");
        assert_eq!(fs::read(place.join("a.zarr/.zgroup")).unwrap(), b"");
        assert!(place.join("empty").is_dir());
        assert_eq!(fs::read_dir(&place).unwrap().count(), 3);
        assert_eq!(fs::read_dir(&places).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn an_archive_is_unpacked_once_by_many_at_a_time_and_another_one_anew() {
        let files: Vec<String> = (0..50).map(|number| format!("data/x/{number}")).collect();
        let files: Vec<_> = files.iter().map(|name| (FILE, name.as_bytes(), &b"1"[..])).collect();
        let (_kept, writer, places) = archive(&files);
        let found = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| unpack_below(&places, &writer).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for place in &found {
            assert_eq!((place, fs::read_dir(place.join("x")).unwrap().count()), (&found[0], 50));
        }
        assert_eq!(fs::read_dir(&places).unwrap().count(), 1);
        fs::write(found[0].join("kept"), "").unwrap();
        assert!(unpack_below(&places, &writer).unwrap().join("kept").exists(), "it is not unpacked again");
        let (_kept, other, _) = archive(&[(FILE, b"data/x/0", b"2")]);
        let place = unpack_below(&places, &other).unwrap();
        assert_eq!(fs::read(place.join("x/0")).unwrap(), b"2");
        assert_ne!(place, found[0]);
    }

    #[test]
    fn missing_or_damaged_files_are_errors_and_leave_nothing() {
        let (_kept, writer, places) = archive(&[(FILE, b"data/x", b"1"), (FILE, b"data/y", b"2")]);
        let path = writer.join(ARCHIVE);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(unpack_below(&places, &writer).is_err(), "of {} bytes the first {length}", whole.len());
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, damaged).unwrap();
            assert!(unpack_below(&places, &writer).is_err(), "another byte at {at}");
        }
        assert_eq!(fs::read_dir(&places).unwrap().count(), 0);
        fs::remove_file(&path).unwrap();
        let panic = thread::spawn(move || unpacked(&writer)).join().unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.starts_with(path.to_str().unwrap()), "{message}");
    }

    #[test]
    fn nothing_is_written_outside() {
        for path in [&b"../out"[..], b"data/../../out", b"data/x/../../../out"] {
            let (kept, writer, places) = archive(&[(FILE, b"data/x", b"1"), (FILE, path, b"2")]);
            let error = unpack_below(&places, &writer).unwrap_err();
            assert!(error.to_string().contains("leads out of the archive"), "{error}");
            assert!(!kept.path().join("target/out").exists() && !places.join("out").exists());
            assert_eq!(fs::read_dir(&places).unwrap().count(), 0);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_kept_and_lead_no_entry_out() {
        let (_kept, writer, places) =
            archive(&[(FILE, b"data/x", b"1"), (EntryType::Symlink, b"data/link", b"x")]);
        let place = unpack_below(&places, &writer).unwrap();
        assert_eq!(fs::read_link(place.join("link")).unwrap(), Path::new("x"));
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().to_str().unwrap();
        let (_kept, writer, places) =
            archive(&[(EntryType::Symlink, b"data/link", target.as_bytes()), (FILE, b"data/link/x", b"1")]);
        assert!(unpack_below(&places, &writer).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
