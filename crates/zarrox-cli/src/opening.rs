//! Functions that open nodes, and errors for paths that are not nodes.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use zarrox::stores::StorageOptions;
use zarrox::stores::internals::{is_url, strip_file_scheme};
use zarrox::{Array, Child, Error, ErrorKind, Format, Group, Node, NodePath, OpenOptions, Result};
use zarrox_tools::Glob;
use zarrox_tools::copy::JOURNAL;

use crate::exit::usage;
use crate::files::failed;
use crate::magic;
use crate::names::listed;

/// The content of a path: a node, or several hierarchies.
#[derive(Debug)]
pub(crate) enum Content {
    /// An array.
    Array(Box<Array>),
    /// A group.
    Group(Box<Group>),
    /// A directory or bucket that contains hierarchies but is not a node.
    Hierarchies(Vec<Child>),
}

impl Content {
    /// Returns the nodes directly below. For an array, it returns the array itself, with the given name.
    pub(crate) fn children(self, given: &str) -> Result<Vec<Child>> {
        match self {
            Self::Array(array) => Ok(vec![Child { name: given.to_owned(), node: Ok(Node::Array(*array)) }]),
            Self::Group(group) => group.children(),
            Self::Hierarchies(children) => Ok(children),
        }
    }
}

/// The maximum number of directories that [`hierarchies`] lists.
const DIRECTORIES: usize = 1000;

/// Returns the hierarchies at a path that is not a node: those directly below it or, if there are none, those at any depth, with
/// their paths. Arrays may be at any depth, since v2 groups may lack documents.
pub(crate) fn hierarchies(options: &OpenOptions, path: &str) -> Result<Vec<Child>> {
    let mut found = options.hierarchies(path)?;
    if !found.is_empty() || is_url(path) {
        return Ok(found);
    }
    let mut waiting = VecDeque::from(directories(path, ""));
    for _ in 0..DIRECTORIES {
        let Some(below) = waiting.pop_front() else { break };
        let inside = options.hierarchies(Path::new(path).join(&below)).unwrap_or_default();
        let names: Vec<String> = inside.iter().map(|child| child.name.clone()).collect();
        waiting.extend(
            directories(path, &below)
                .into_iter()
                .filter(|directory| !names.iter().any(|name| *directory == format!("{below}/{name}"))),
        );
        found.extend(
            inside.into_iter().map(|child| Child { name: format!("{below}/{}", child.name), ..child }),
        );
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns the directories directly below a subdirectory. Symbolic links are excluded, since they may form cycles.
fn directories(path: &str, below: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(path).join(below)).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = directories.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| !name.starts_with('.'))
        .map(|name| if below.is_empty() { name } else { format!("{below}/{name}") })
        .collect();
    names.sort();
    names
}

/// Opens a node, given its path or the path of one of its documents. The error for any other path says what is at that path.
pub(crate) fn open(options: &OpenOptions, path: &str) -> Result<Node> {
    let error = match options.open(path) {
        Ok(node) => return Ok(node),
        Err(error) => error,
    };
    if let Some(Ok(node)) = holder_of(path).map(|holder| options.open(holder)) {
        return Ok(node);
    }
    let error = explained(options, path, error);
    Err(match similar(options, path).filter(|_| error.kind() == ErrorKind::NotFound) {
        Some(name) => Error::new(ErrorKind::NotFound, format!("{error}; did you mean '{name}'?")),
        None => error,
    })
}

/// Returns the paths, with patterns (`*` and `?`) replaced by the matching nodes. Shells cannot expand such patterns within a
/// store.
pub(crate) fn expanded(options: &OpenOptions, paths: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for path in paths {
        // The text after a bracket is a selection.
        let (name, selection) = path.find('[').map_or((path.as_str(), ""), |at| path.split_at(at));
        let first = name.find(['*', '?']).filter(|_| !Path::new(path).exists());
        let Some((root, pattern)) = first.and_then(|at| Some(name.split_at(name[..at].rfind('/')? + 1)))
        else {
            all.push(path.clone());
            continue;
        };
        let glob: Glob = pattern.parse()?;
        let mut found = Vec::new();
        options.open(root.trim_end_matches('/'))?.into_group()?.visit(&mut |below, _| {
            let below = below.trim_start_matches('/');
            if glob.matches(below) {
                found.push(format!("{root}{below}{selection}"));
            }
            Ok(())
        })?;
        if found.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("no node matches '{path}'")));
        }
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

/// Returns the path of a sibling of the missing node, if its name is similar.
fn similar(options: &OpenOptions, path: &str) -> Option<String> {
    // Remote stores are not searched, since requests would delay the error.
    local(path)?;
    let (above, name) = path.trim_end_matches('/').rsplit_once('/')?;
    let group = options.open(above).ok()?.into_group().ok()?;
    let names = group.children().ok()?.into_iter().map(|child| child.name);
    let most = (name.chars().count() / 3).max(1);
    let near = names.map(|other| (distance(name, &other), other)).filter(|(distance, _)| *distance <= most);
    near.min().map(|(_, other)| format!("{above}/{other}"))
}

/// Returns the edit distance: the number of characters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, own) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = at + 1;
        for (column, other) in b.iter().enumerate() {
            let changed = before + usize::from(own != *other);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

/// Returns the node whose metadata document has this path.
fn holder_of(path: &str) -> Option<&str> {
    let is_local = local(path).is_some();
    if local(path).is_some_and(|file| !file.is_file()) {
        return None;
    }
    let holder = |key: &str| match path.strip_suffix(key)? {
        "" => Some("."),
        "/" => Some("/"),
        above => above.strip_suffix('/'),
    };
    // On a server, files with the names of documents of old formats may be something else.
    let documents = Format::all().flat_map(documents).filter(|key| is_local || key.contains('.'));
    documents.into_iter().find_map(|key| holder(&key))
}

/// Returns the keys of all documents that the root of a hierarchy can have.
fn documents(format: Format) -> Vec<String> {
    let (def, root) = (format.def(), NodePath::root());
    let layout = def.layout();
    let entry = def.entry_key().map(str::to_owned);
    let copy = def.consolidation().and_then(|copy| copy.key(&layout, &root));
    layout.keys(&root).into_iter().chain(entry).chain(copy).collect()
}

/// Returns the path on a local disk, if it is local.
pub(crate) fn local(path: &str) -> Option<&Path> {
    let plain = strip_file_scheme(path).unwrap_or(path);
    (!is_url(plain)).then(|| Path::new(plain))
}

/// Returns the error for a path that is not a node: a different kind of file or directory, or a missing path.
fn explained(options: &OpenOptions, path: &str, error: Error) -> Error {
    let Some(place) = local(path) else { return error };
    // The error for an unfinished conversion already says how to continue.
    let is_missing = error.kind() == ErrorKind::NotFound && !place.join(JOURNAL).exists();
    match fs::metadata(place) {
        Ok(found) if found.is_file() => of_file(place).unwrap_or(error),
        Ok(_) if is_missing && is_root(path) => of_directory(options, path, &error),
        Err(_) if is_missing && !hierarchy_exists(path) => {
            Error::new(ErrorKind::NotFound, format!("'{path}' does not exist"))
        }
        _ => error,
    }
}

/// Returns true if a path would be the root of a hierarchy.
fn is_root(path: &str) -> bool {
    zarrox::internals::locate(path, &StorageOptions::new()).is_ok_and(|(_, node)| node.is_root())
}

/// Returns true if the hierarchy exists, so that the error should name the missing node.
fn hierarchy_exists(path: &str) -> bool {
    zarrox::internals::locate(path, &StorageOptions::new())
        .is_ok_and(|(store, _)| Path::new(&store.location()).exists())
}

/// Returns the error for a file that is not a node; `None` for an archive, which may be a hierarchy.
fn of_file(file: &Path) -> Option<Error> {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|open| open.take(magic::LENGTH).read_to_end(&mut head));
    if let Err(error) = read {
        return Some(failed(&format!("reading '{}'", file.display()), error));
    }
    let is_archive = file.extension().is_some_and(|extension| extension == "zip");
    let says = match magic::kind_of(&head, file) {
        Some(kind) if is_archive && kind.is_archive => return None,
        Some(kind) => kind.says,
        None if is_archive => return None,
        None => "a file, not a Zarr array or group, which are directories or archives named *.zip".to_owned(),
    };
    Some(usage(format!("'{}' is {says}", file.display())))
}

fn of_directory(options: &OpenOptions, path: &str, error: &Error) -> Error {
    let children = options.hierarchies(path).unwrap_or_default();
    let names: Vec<String> = children.into_iter().map(|child| child.name).collect();
    let message = if names.is_empty() {
        let tried =
            error.message().rsplit_once(" (looked for ").map_or("", |(_, tried)| tried.trim_end_matches(')'));
        format!("'{path}' is a directory, but not a Zarr array or group (looked for {tried})")
    } else {
        let names = listed(&names, "");
        format!("'{path}' is not a Zarr array or group, but contains {names} (zarrox ls lists them)")
    };
    Error::new(ErrorKind::NotFound, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_by_the_characters_that_differ() {
        for (a, b, expected) in
            [("depth", "depth", 0), ("detph", "depth", 2), ("dept", "depth", 1), ("", "ab", 2)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn arrays_in_groups_without_documents_are_found_at_any_depth() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a/b/c", "a/d", "e/f/g/h"] {
            let array = directory.path().join("z.zarr").join(name);
            let format = OpenOptions::new().format(Format::V2);
            format.create_array(array).shape([2]).data_type(zarrox::DataType::Int8).create().unwrap();
        }
        for document in ["", "a/", "a/b/", "e/", "e/f/", "e/f/g/"] {
            let _ = fs::remove_file(directory.path().join("z.zarr").join(document).join(".zgroup"));
        }
        let place = directory.path().join("z.zarr");
        let found = hierarchies(&OpenOptions::new(), place.to_str().unwrap()).unwrap();
        let names: Vec<&str> = found.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(names, ["a/b/c", "a/d", "e/f/g/h"]);
        assert!(found.iter().all(|child| matches!(child.node, Ok(Node::Array(_)))));
        fs::create_dir_all(directory.path().join("no/thing")).unwrap();
        assert!(
            hierarchies(&OpenOptions::new(), directory.path().join("no").to_str().unwrap())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn documents_lead_to_the_node_that_has_them() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().to_str().unwrap();
        for name in ["zarr.json", ".zarray", ".zgroup", ".zmetadata", "attributes.json", "meta"] {
            let path = format!("{place}/{name}");
            assert_eq!(holder_of(&path), None, "{name} is not there");
            fs::write(&path, "").unwrap();
            assert_eq!(holder_of(&path), Some(place), "{name}");
        }
        assert_eq!(holder_of("s3://b/a.zarr/zarr.json"), Some("s3://b/a.zarr"));
        assert_eq!(holder_of("s3://b/a.zarr/meta"), None);
        assert_eq!(holder_of("s3://b/azarr.json"), None);
    }
}
