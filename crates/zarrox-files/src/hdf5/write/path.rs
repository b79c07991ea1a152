//! Paths of nodes.

/// Returns the path of the parent group of a node; `None` for the root.
pub(super) fn parent(path: &str) -> Option<&str> {
    if path.is_empty() { None } else { Some(path.rsplit_once('/').map_or("", |(above, _)| above)) }
}

/// Returns the last component of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
