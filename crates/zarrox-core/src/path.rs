//! The path of a node in its hierarchy.

use std::fmt;

use crate::error::{Error, Result};

/// A normalised path of a node: names joined by `/`, without a slash at either end. The path of the root is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodePath(String);

impl NodePath {
    /// Returns the root of the hierarchy.
    pub fn root() -> Self {
        Self::default()
    }

    /// Normalises a path as in the v2 specification ("Logical storage paths"): backslashes become slashes, leading and trailing
    /// slashes are stripped, runs of slashes are collapsed. A name that is `.` or `..` is an error.
    pub fn new(path: &str) -> Result<Self> {
        let names = || path.split(['/', '\\']).filter(|name| !name.is_empty());
        let count = names().count();
        if count > MAX_DEPTH {
            let message = format!("the path has {count} names; at most {MAX_DEPTH} are supported");
            return Err(Error::argument(message));
        }
        let mut normal = String::with_capacity(path.len());
        for name in names() {
            check_name(name).map_err(|error| error.at(format!("path '{}'", path.replace('\\', "/"))))?;
            if !normal.is_empty() {
                normal.push('/');
            }
            normal.push_str(name);
        }
        Ok(Self(normal))
    }

    /// Returns the path of a node below this one.
    pub fn join(&self, path: &str) -> Result<Self> {
        Self::new(&[self.0.as_str(), "/", path].concat())
    }

    /// Returns the path without the leading slash of `Display`; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last name; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns true if this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the parent; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(Self(self.0.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned())))
    }

    /// Returns all ancestors, from the root down.
    #[doc(hidden)]
    pub fn ancestors(&self) -> Vec<Self> {
        let mut above: Vec<_> = std::iter::successors(self.parent(), Self::parent).collect();
        above.reverse();
        above
    }

    /// Returns true if `other` is this node or a descendant.
    #[doc(hidden)]
    pub fn contains(&self, other: &Self) -> bool {
        self.is_root()
            || other.0.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the key of a document of this node: the path followed by `name`.
    #[doc(hidden)]
    pub fn key(&self, name: &str) -> String {
        if self.is_root() { name.to_owned() } else { [self.0.as_str(), "/", name].concat() }
    }

    /// Returns the prefix of all keys of this node, ending in `/`; empty for the root.
    #[doc(hidden)]
    pub fn prefix(&self) -> String {
        if self.is_root() { String::new() } else { [self.0.as_str(), "/"].concat() }
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.0)
    }
}

/// The maximum number of names in a path. Traversals of a hierarchy are recursive, so the depth must be limited.
const MAX_DEPTH: usize = 256;

fn check_name(name: &str) -> Result<()> {
    if name.chars().all(|c| c == '.') {
        return Err(Error::argument(format!(
            "'{name}' is not a node name: names of only periods are not allowed"
        )));
    }
    if name.contains('\0') {
        return Err(Error::argument("a node name cannot contain a NUL character"));
    }
    if name.len() > 255 {
        return Err(Error::argument("a node name is longer than 255 bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_as_the_v2_specification_says() {
        for (raw, normal) in
            [("", ""), ("/", ""), ("foo\\bar", "foo/bar"), ("//foo//bar/", "foo/bar"), ("é x", "é x")]
        {
            assert_eq!(NodePath::new(raw).unwrap().as_str(), normal);
        }
        for bad in [".", "..", "a/../b", "a/./b", "a/...", "a\0b", &"x".repeat(256)] {
            assert!(NodePath::new(bad).is_err(), "{bad}");
        }
        assert!(NodePath::new(&"a/".repeat(256)).is_ok());
        assert!(NodePath::new(&"a/".repeat(257)).unwrap_err().to_string().contains("257 names"));
    }

    #[test]
    fn relatives() {
        let path = NodePath::new("a/b/c").unwrap();
        assert_eq!(path.parent().unwrap().as_str(), "a/b");
        assert_eq!(path.name(), "c");
        let above: Vec<_> = path.ancestors().iter().map(ToString::to_string).collect();
        assert_eq!(above, ["/", "/a", "/a/b"]);
        assert!(NodePath::new("a").unwrap().contains(&path));
        assert!(!NodePath::new("a/b2").unwrap().contains(&path));
        assert_eq!(NodePath::root().key("zarr.json"), "zarr.json");
    }
}
