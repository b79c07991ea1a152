//! The two files of a pair: the header file (`.hdr`) and the image file with the elements (`.img`).

use std::path::{Path, PathBuf};

use zarrox::{Error, ErrorKind, Result};

use super::layout;
use crate::external::External;
use crate::input::Input;

/// The suffixes of header files and image files, in the order in which they are tried.
const HEADERS: [&str; 3] = [".hdr", ".HDR", ".hdr.gz"];
const ELEMENTS: [&str; 4] = [".img", ".IMG", ".img.gz", ".IMG.gz"];

/// Returns the name of a file without its suffix, if the suffix is in `suffixes`.
fn stem<'p>(path: &'p Path, suffixes: &[&str]) -> Option<&'p str> {
    let name = path.file_name()?.to_str()?;
    suffixes.iter().find_map(|suffix| name.strip_suffix(suffix))
}

/// Returns true for the name of a header file.
pub(super) fn is_header(path: &Path) -> bool {
    stem(path, &HEADERS).is_some()
}

/// If the file is an image file, returns the path of the header file next to it.
pub(super) fn header_beside(path: &Path) -> Option<PathBuf> {
    let stem = stem(path, &ELEMENTS)?;
    let beside = |suffix: &&str| path.with_file_name(format!("{stem}{suffix}"));
    let found = HEADERS.iter().map(beside).find(|path| path.is_file())?;
    let start = Input::open(&found).and_then(|input| input.start(4)).ok()?;
    (layout::layout(&start).is_some() || start.starts_with(super::gzip::SIGNATURE)).then_some(found)
}

/// Returns the path of the image file next to a header file.
///
/// # Errors
/// [`ErrorKind::NotFound`] if there is no image file; the errors of [`External::resolve`].
pub(super) fn elements_beside(path: &Path, external: &External) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem(path, &HEADERS).unwrap_or(&name);
    let names = ELEMENTS.map(|suffix| format!("{stem}{suffix}"));
    let is_there = |name: &&String| external.is_closed || path.with_file_name(name).is_file();
    let found = names.iter().find(is_there);
    let found = found.ok_or_else(|| {
        let message =
            format!("the elements are in '{stem}.img' or '{stem}.img.gz', and neither is beside the header");
        Error::new(ErrorKind::NotFound, message)
    })?;
    external.resolve(path, found)
}
