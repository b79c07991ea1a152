//! URLs of databases in files: where the file ends in the path, and the node begins.

use std::path::{Path, PathBuf};

use zarrox_stores::StoreUrl;

/// The file that a URL leads to or through, and the rest of its path: the outermost that is a database; else the outermost with one of
/// the extensions, which will be made; else all of the path.
pub(super) fn split(url: &StoreUrl<'_>, extensions: &[&str], exists: fn(&Path) -> bool) -> (PathBuf, String) {
    // Of its components: a separator at the end would make a directory of a file.
    let path: PathBuf = Path::new(&url.rest()).components().collect();
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    let named = |path: &&&Path| {
        path.extension().is_some_and(|own| extensions.iter().any(|extension| own == *extension))
    };
    let file = above.iter().find(|path| exists(path)).or_else(|| above.iter().find(named));
    let file = file.map_or_else(|| path.clone(), |path| path.to_path_buf());
    let rest = path.strip_prefix(&file).ok().and_then(Path::to_str).unwrap_or_default().to_owned();
    (file, rest)
}
