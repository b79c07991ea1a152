//! The layout of a hierarchy: the keys of its documents and chunks.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::path::NodePath;

/// The layout of a hierarchy: the keys of its documents and chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    nodes: Nodes,
    implicit_groups: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Nodes {
    /// A node is a prefix with its documents, its chunks and its children.
    Together(&'static [&'static str]),
    /// Documents are below `meta/`, chunks below `data/`.
    Apart {
        /// The name of the root in these keys; empty if the root has no name.
        root: &'static str,
        /// The suffix of the keys of documents.
        suffix: String,
    },
}

/// The documents of a node in hierarchies whose documents are separate from the chunks.
const APART: [&str; 2] = ["array", "group"];

impl Layout {
    /// Returns a layout in which a node is a prefix, with documents of these names, chunks and child nodes. If a node has several
    /// documents, the last one contains only attributes.
    pub const fn together(documents: &'static [&'static str]) -> Self {
        Self { nodes: Nodes::Together(documents), implicit_groups: false }
    }

    /// Returns a layout in which documents, named `array` and `group`, are below `meta/`, and chunks are below `data/`. A
    /// prefix below `meta/` without a document is a group.
    pub fn apart(root: &'static str, suffix: impl Into<String>) -> Self {
        Self { nodes: Nodes::Apart { root, suffix: suffix.into() }, implicit_groups: true }
    }

    /// Sets [implicit groups](Self::implicit_groups).
    #[must_use]
    pub const fn with_implicit_groups(mut self, implicit_groups: bool) -> Self {
        self.implicit_groups = implicit_groups;
        self
    }

    /// Returns true if the root and every non-empty prefix without a document are groups. All nodes of the hierarchy then have
    /// the same format.
    pub const fn implicit_groups(&self) -> bool {
        self.implicit_groups
    }

    /// Returns the names of all documents that a node can have.
    pub fn documents(&self) -> &[&'static str] {
        match &self.nodes {
            Nodes::Together(documents) => documents,
            Nodes::Apart { .. } => &APART,
        }
    }

    /// Returns true if a document with this name makes its prefix a node, that is, if it contains more than attributes. Returns
    /// false for all names if documents are separate from chunks.
    pub fn makes_node(&self, name: &str) -> bool {
        let Nodes::Together(documents) = &self.nodes else { return false };
        let deciding = documents.len().saturating_sub(1).max(1);
        documents.iter().take(deciding).any(|document| *document == name)
    }

    /// Returns the key of a node's document.
    pub fn key(&self, path: &NodePath, document: &str) -> String {
        match &self.nodes {
            Nodes::Together(_) => path.key(document),
            Nodes::Apart { root, suffix } => match joined(root, path).as_str() {
                "" => format!("meta/{document}{suffix}"),
                path => format!("meta/{path}.{document}{suffix}"),
            },
        }
    }

    /// Returns the key of the first document that a node can have: the document of an array.
    pub fn first_key(&self, path: &NodePath) -> Option<String> {
        self.documents().first().map(|document| self.key(path, document))
    }

    /// Returns the keys of all documents that a node can have.
    pub fn keys(&self, path: &NodePath) -> Vec<String> {
        self.documents().iter().map(|document| self.key(path, document)).collect()
    }

    /// Returns the prefix of an array's chunks, which is empty or ends in `/`.
    pub fn chunks(&self, path: &NodePath) -> String {
        match &self.nodes {
            Nodes::Together(_) => path.prefix(),
            Nodes::Apart { root, .. } => prefix("data", root, path),
        }
    }

    /// Returns the prefix to list for the children of a group.
    pub fn below(&self, path: &NodePath) -> String {
        match &self.nodes {
            Nodes::Together(_) => path.prefix(),
            Nodes::Apart { root, .. } => prefix("meta", root, path),
        }
    }

    /// Returns the names of the nodes in a listing, given the last segments of its keys and of its prefixes.
    pub fn children<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a str>,
        prefixes: impl IntoIterator<Item = &'a str>,
    ) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = prefixes.into_iter().map(str::to_owned).collect();
        names.extend(keys.into_iter().filter_map(|key| self.named_by(key)).map(str::to_owned));
        names
    }

    /// Returns the name of the node whose document has this name in the listing of the parent.
    fn named_by<'a>(&self, key: &'a str) -> Option<&'a str> {
        let Nodes::Apart { suffix, .. } = &self.nodes else { return None };
        let document = key.strip_suffix(suffix.as_str())?;
        let name = APART.iter().find_map(|kind| document.strip_suffix(kind)?.strip_suffix('.'))?;
        (!name.is_empty()).then_some(name)
    }

    /// Returns all keys and prefixes of a node and of its descendants. The entry document of a hierarchy belongs to no node.
    pub fn extent(&self, path: &NodePath) -> Extent {
        match &self.nodes {
            Nodes::Together(_) => Extent { keys: Vec::new(), prefixes: vec![path.prefix()] },
            Nodes::Apart { .. } => {
                Extent { keys: self.keys(path), prefixes: vec![self.below(path), self.chunks(path)] }
            }
        }
    }

    /// Rejects a name that a new node cannot have in this hierarchy.
    pub fn check_name(&self, name: &str) -> Result<()> {
        let document = match &self.nodes {
            Nodes::Together(documents) => documents.contains(&name),
            Nodes::Apart { suffix, .. } => {
                let is_document = |kind: &&str| name == format!("{kind}{suffix}");
                APART.iter().any(is_document) || self.named_by(name).is_some()
            }
        };
        if document {
            return Err(Error::argument(format!(
                "'{name}' cannot be the name of a node: it is the name of a metadata document"
            )));
        }
        let portable = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        match &self.nodes {
            Nodes::Apart { .. } if !name.chars().all(portable) => Err(Error::argument(format!(
                "'{name}' cannot be the name of a node: in this format, names are made of a-z, A-Z, 0-9, '-', '_' and '.'"
            ))),
            _ => Ok(()),
        }
    }
}

/// The keys and prefixes of a node and its descendants, with the documents before the chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The keys of single objects.
    pub keys: Vec<String>,
    /// The prefixes: all keys below them belong to the node.
    pub prefixes: Vec<String>,
}

impl Extent {
    /// Returns true if all keys and prefixes are below the path of the node.
    pub fn is_below(&self, path: &NodePath) -> bool {
        self.keys.is_empty() && self.prefixes == [path.prefix()]
    }

    /// Returns true if a key belongs to the node or to a descendant.
    pub fn contains(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key) || self.prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}

fn joined(root: &str, path: &NodePath) -> String {
    match (root, path.as_str()) {
        (root, "") => root.to_owned(),
        ("", path) => path.to_owned(),
        (root, path) => format!("{root}/{path}"),
    }
}

fn prefix(top: &str, root: &str, path: &NodePath) -> String {
    match joined(root, path).as_str() {
        "" => format!("{top}/"),
        path => format!("{top}/{path}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> NodePath {
        NodePath::new(text).unwrap()
    }

    #[test]
    fn attributes_alone_make_no_node() {
        let v2 = Layout::together(&[".zarray", ".zgroup", ".zattrs"]);
        assert!(v2.makes_node(".zarray") && v2.makes_node(".zgroup") && !v2.makes_node(".zattrs"));
        let v3 = Layout::together(&["zarr.json"]);
        assert!(v3.makes_node("zarr.json") && !v3.makes_node("c"));
    }

    #[test]
    fn keys_are_those_of_the_specifications() {
        let v2 = Layout::together(&[".zarray", ".zattrs"]);
        assert_eq!(v2.keys(&path("a/b")), ["a/b/.zarray", "a/b/.zattrs"]);
        assert_eq!(v2.first_key(&path("a/b")).as_deref(), Some("a/b/.zarray"));
        assert_eq!((v2.chunks(&path("a")), v2.below(&path(""))), ("a/".into(), String::new()));
        let draft = Layout::apart("", ".json");
        assert_eq!(draft.keys(&path("foo/bar")), ["meta/foo/bar.array.json", "meta/foo/bar.group.json"]);
        assert_eq!(draft.keys(&path("")), ["meta/array.json", "meta/group.json"]);
        assert_eq!(
            (draft.chunks(&path("foo/baz")), draft.chunks(&path(""))),
            ("data/foo/baz/".into(), "data/".into())
        );
        let experimental = Layout::apart("root", ".json");
        assert_eq!(experimental.keys(&path("")), ["meta/root.array.json", "meta/root.group.json"]);
        assert_eq!(experimental.keys(&path("a"))[0], "meta/root/a.array.json");
        assert_eq!(experimental.below(&path("")), "meta/root/");
        assert_eq!(
            experimental.extent(&path("a")).prefixes,
            ["meta/root/a/".to_owned(), "data/root/a/".to_owned()]
        );
    }

    #[test]
    fn listings_name_children() {
        let draft = Layout::apart("", ".json");
        let keys = [
            "a.array.json",
            "b.group.json",
            "array.json",
            "group.json",
            "x.txt",
            ".array.json",
            "a.b.array.json",
        ];
        let names: Vec<_> = draft.children(keys, ["c", "b"]).into_iter().collect();
        assert_eq!(names, ["a", "a.b", "b", "c"]);
        let v3 = Layout::together(&["zarr.json"]);
        let names: Vec<_> = v3.children(["zarr.json", "x.array.json"], ["b", "a"]).into_iter().collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn names_that_would_hide_documents_or_are_not_portable_are_refused() {
        let draft = Layout::apart("", ".json");
        for bad in ["array.json", "group.json", "x.array.json", "é", "a b", "a:b"] {
            assert!(draft.check_name(bad).is_err(), "{bad}");
        }
        for good in ["array", "a.json", "A-_.9"] {
            assert!(draft.check_name(good).is_ok(), "{good}");
        }
        let v3 = Layout::together(&["zarr.json"]);
        assert!(v3.check_name("zarr.json").is_err() && v3.check_name("é").is_ok());
    }
}
