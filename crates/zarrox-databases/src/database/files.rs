//! Splitting URLs of database files into the path of the file and the path of the node.

use std::path::{Path, PathBuf};

use zarrox_stores::StoreUrl;

/// Splits the path of a URL into a database file and the path of a node. The file is the outermost existing database on the path;
/// otherwise the outermost component with one of the extensions, which will be created; otherwise the whole path.
pub(super) fn split(url: &StoreUrl<'_>, extensions: &[&str], exists: fn(&Path) -> bool) -> (PathBuf, String) {
    // The path is rebuilt from its components to drop a trailing separator, which would turn a file into a directory.
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
