//! Recognises other file formats by the first bytes of a file, with advice on opening it.

use std::path::Path;

/// The number of bytes at the beginning of a file that are examined.
pub(crate) const LENGTH: u64 = 512;

/// A recognised file format.
#[derive(Debug)]
pub(crate) struct Kind {
    /// A description of the format, with advice on opening the file.
    pub(crate) says: String,
    /// True for a zip archive, which may contain a hierarchy.
    pub(crate) is_archive: bool,
}

/// Returns advice for the path of a file.
type Advice = fn(&Path) -> String;

/// The offset and the bytes that identify a file format, and the advice for it.
static KINDS: &[(usize, &[u8], Advice)] = &[
    (0, b"\x93NUMPY", |file| imported("a NumPy array", file)),
    (0, b"\x89HDF\r\n\x1a\n", |file| imported("an HDF5 file", file)),
    (0, b"SQLite format 3\0", |file| opened("an SQLite database", "sqlite", file)),
    (0, b"redb\x1a\x0a\xa9\x0d\x0a", |file| opened("a redb database", "redb", file)),
    (16, &[0xde, 0xc0, 0xef, 0xbe], |file| opened("an LMDB database", "lmdb", environment(file))),
    (0, &[0xce, 0x9a, 0x57, 0x13], |file| opened("a GDBM database", "gdbm", file)),
    (0, &[0xcd, 0x9a, 0x57, 0x13], |file| opened("a GDBM database", "gdbm", file)),
    (0, &[0xcf, 0x9a, 0x57, 0x13], |file| opened("a GDBM database", "gdbm", file)),
    (12, &[0x61, 0x15, 0x06, 0x00], |file| opened("a Berkeley DB file", "bdb", file)),
    (12, &[0x62, 0x31, 0x05, 0x00], |file| opened("a Berkeley DB file", "bdb", file)),
    (0, b"CDF\x01", |file| imported("a NetCDF-3 file", file)),
    (0, b"CDF\x02", |file| imported("a NetCDF-3 file", file)),
    (0, b"CDF\x05", |file| imported("a NetCDF-3 file", file)),
    (0, b"GRIB", |_| referred("a file of GRIB")),
    (0, b"II*\0", |file| imported("a TIFF image", file)),
    (0, b"MM\0*", |file| imported("a TIFF image", file)),
    (344, b"n+1\0", |file| imported("a NIfTI image", file)),
    (0, &[0x1f, 0x8b], |_| packed("gzip")),
    (0, &[0x28, 0xb5, 0x2f, 0xfd], |_| packed("zstd")),
    (0, b"BZh", |_| packed("bzip2")),
    (0, b"\xfd7zXZ\0", |_| packed("xz")),
    (257, b"ustar", |_| packed("tar")),
];

/// Returns the format of a file that begins with these bytes, if it is recognised.
pub(crate) fn kind_of(head: &[u8], file: &Path) -> Option<Kind> {
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Some(zipped(head, file));
    }
    let has = |(at, magic, _): &&(usize, &[u8], Advice)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    let says = match KINDS.iter().find(has) {
        Some((_, _, advice)) => advice(file),
        None if is_references(head) => {
            format!(
                "a JSON file, perhaps references by kerchunk; reference://::{} opens these",
                file.display()
            )
        }
        None => return None,
    };
    Some(Kind { says, is_archive: false })
}

/// Returns the format of an archive: a NumPy archive if its first file is an array, or a zip archive.
fn zipped(head: &[u8], file: &Path) -> Kind {
    let length = head.get(26..28).map_or(0, |length| usize::from(u16::from_le_bytes([length[0], length[1]])));
    if head.get(30..30 + length).is_some_and(|name| name.ends_with(b".npy")) {
        return Kind { says: imported("an archive of NumPy arrays", file), is_archive: false };
    }
    let says = format!("a zip archive without the suffix .zip; zip://::{} opens it", file.display());
    Kind { says, is_archive: true }
}

fn is_references(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    text.starts_with(b"{") && text.windows(6).any(|window| window == b"\"refs\"" || window == b".zgrou")
}

fn imported(what: &str, file: &Path) -> String {
    format!("{what}; `zarrox import {} {}` converts it to Zarr", shell(file), shell(Path::new(&target(file))))
}

fn opened(what: &str, scheme: &str, file: &Path) -> String {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    format!("{what}; {scheme}://{} opens it", absolute.display())
}

/// Returns the path that LMDB opens: the file, or its directory if the file has LMDB's name.
fn environment(file: &Path) -> &Path {
    let in_directory = file.file_name().is_some_and(|name| name == "data.mdb");
    match file.parent().filter(|_| in_directory) {
        Some(here) if here.as_os_str().is_empty() => Path::new("."),
        directory => directory.unwrap_or(file),
    }
}

fn referred(what: &str) -> String {
    format!("{what}; references that kerchunk made for it are opened as reference://::references.json")
}

fn packed(how: &str) -> String {
    format!("compressed with {how}; decompress it first")
}

/// Returns a name for the array or group that could be imported from a file.
fn target(file: &Path) -> String {
    format!("{}.zarr", Path::new(file.file_stem().unwrap_or(file.as_os_str())).display())
}

/// Returns the name of a file, quoted for a shell.
fn shell(file: &Path) -> String {
    let name = file.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if name.chars().all(is_plain) { name } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        let says = |head: &[u8], name: &str| kind_of(head, Path::new(name)).map(|kind| kind.says);
        let said = |head: &[u8], name: &str| says(head, name).unwrap();
        assert!(said(b"\x93NUMPY\x01\0", "a b.npy").contains("zarrox import 'a b.npy' 'a b.zarr'"));
        assert!(said(b"SQLite format 3\0....", "/d/x").contains("sqlite:///d/x opens it"));
        assert!(
            said(&[[0; 16].as_slice(), &[0xde, 0xc0, 0xef, 0xbe]].concat(), "/d/data.mdb")
                .contains("lmdb:///d ")
        );
        let entry = |name: &[u8]| [b"PK\x03\x04".as_slice(), &[0; 22], &[5, 0, 0, 0], name].concat();
        assert!(said(&entry(b"x.npy"), "a.npz").contains("zarrox import a.npz a.zarr"));
        assert!(said(&entry(b"a.txt"), "a.dat").contains("zip://::a.dat"));
        assert!(said(br#" {"version": 1, "refs": {}}"#, "r.json").contains("reference://::r.json"));
        assert_eq!(says(b"", "a"), None);
        assert_eq!(says(b"text", "a"), None);
        assert_eq!(says(br#"{"a": 1}"#, "a.json"), None);
    }
}
