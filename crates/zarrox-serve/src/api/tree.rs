//! `tree`: the nodes below another one, in pages or as far as their names match.

use std::time::{Duration, Instant};

use zarrox::json::{Json, json};
use zarrox::stores::Prefix;
use zarrox::{Child, Error, ErrorKind, Group, Interrupt, Node};
use zarrox_tools::Glob;

use crate::address::Query;
use crate::failure::{Answer, Failure};
use crate::root::{Opened, Root};

/// The nodes of a page unless a request says otherwise, and in any case.
const PAGE: u64 = 200;
const LARGEST_PAGE: u64 = 2000;

/// The most nodes that a search visits, and the longest time that it takes.
const MOST_VISITED: usize = 100_000;
const LONGEST: Duration = Duration::from_secs(10);

/// The nodes directly below a path whose names come after a name, or all below it that a search finds.
pub(super) fn answer(root: &Root, path: &str, query: &Query, interrupt: &Interrupt) -> Answer<Json> {
    query.only(&["after", "limit", "search"])?;
    let after = query.text("after").unwrap_or_default();
    let limit = query.count("limit", LARGEST_PAGE)?.unwrap_or(PAGE);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let opened = match root.node(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return folder(root, path, after, limit, error),
        Err(error) => return Err(error.into()),
    };
    let Node::Group(group) = &opened.node else {
        return Ok(
            json!({"path": path, "node": described(path, &opened.node), "children": [], "next": null}),
        );
    };
    if let Some(search) = query.text("search") {
        return found(path, group, search, limit, interrupt);
    }
    let page = group.children_after(after, limit)?;
    let next = page.last().filter(|_| page.len() == limit).map(|child| child.name.clone());
    let children: Json = page.into_iter().map(|child| listed(root, path, child, &opened)).collect();
    let node = described(path, &opened.node);
    Ok(json!({"path": path, "node": node, "children": children, "next": next}))
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

/// A child as an entry of a page. It stays open, since who lists it often looks at it next.
fn listed(root: &Root, above: &str, child: Child, like: &Opened) -> Json {
    let path = joined(above, &child.name);
    match child.node {
        Ok(node) => described(&path, &root.keep(&path, node, like).node),
        Err(error) => damaged(&path, &error),
    }
}

fn damaged(path: &str, error: &Error) -> Json {
    json!({"name": name_of(path), "path": path, "kind": "damaged", "error": error.to_string()})
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// A node in short.
fn described(path: &str, node: &Node) -> Json {
    match node {
        Node::Group(group) => json!({
            "name": name_of(path),
            "path": path,
            "kind": "group",
            "format": group.metadata().format.to_string(),
            "attributes": group.attributes().len(),
        }),
        Node::Array(array) => json!({
            "name": name_of(path),
            "path": path,
            "kind": "array",
            "format": array.metadata().format.to_string(),
            "attributes": array.attributes().len(),
            "shape": array.shape(),
            "data_type": array.data_type().to_string(),
            "chunk_shape": array.chunk_shape(),
            "bytes": array.nbytes(),
            "unreadable": array.unreadable().map(str::to_owned),
        }),
    }
}

/// The pattern of a search: a glob, or a part of the name in any case.
enum Pattern {
    Glob(Glob),
    Part(String),
}

impl Pattern {
    fn new(text: &str) -> Answer<Self> {
        if !text.contains(['*', '?', '[']) {
            return Ok(Self::Part(text.to_lowercase()));
        }
        let glob = text.parse().map_err(|error| Failure::bad(format!("search: {error}")))?;
        Ok(Self::Glob(glob))
    }

    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(path) || glob.matches(name_of(path)),
            Self::Part(part) => path.to_lowercase().contains(part),
        }
    }
}

/// The nodes below a group that a search finds.
fn found(at: &str, group: &Group, search: &str, limit: usize, interrupt: &Interrupt) -> Answer<Json> {
    let pattern = Pattern::new(search)?;
    let (start, mut visited, mut matches) = (Instant::now(), 0, Vec::new());
    let enough = || Error::new(ErrorKind::LimitExceeded, "enough was seen");
    let walked = group.visit(&mut |path, node| {
        visited += 1;
        if pattern.matches(path) {
            let path = joined(at, path);
            matches.push(match node {
                Ok(node) => described(&path, node),
                Err(error) => damaged(&path, error),
            });
        }
        let is_over = matches.len() >= limit || visited >= MOST_VISITED || start.elapsed() > LONGEST;
        if is_over || interrupt.is_raised() { Err(enough()) } else { Ok(()) }
    });
    let complete = match walked {
        Err(error) if error.kind() == ErrorKind::LimitExceeded => false,
        walked => walked.map(|()| true)?,
    };
    Ok(
        json!({"path": at, "search": search, "matches": matches.as_slice(), "visited": visited, "complete": complete}),
    )
}

/// The entries of a place that is no node, but may hold hierarchies.
fn folder(root: &Root, path: &str, after: &str, limit: usize, error: Error) -> Answer<Json> {
    let prefix = if path.is_empty() { Prefix::root() } else { Prefix::new(format!("{path}/"))? };
    if !root.store.capabilities().listable {
        return Err(error.into());
    }
    let listing = root.store.list_dir(&prefix)?;
    let archives = listing.keys.iter().map(zarrox::stores::Key::name).filter(|name| name.ends_with(".zip"));
    let mut names: Vec<&str> = listing.prefixes.iter().map(Prefix::name).chain(archives).collect();
    if names.is_empty() {
        return Err(error.into());
    }
    names.retain(|name| *name > after);
    names.sort_unstable();
    let rest = names.len().saturating_sub(limit);
    names.truncate(limit);
    let next = names.last().filter(|_| rest > 0).map(|name| (*name).to_owned());
    let entry = |name: &&str| {
        let path = joined(path, name);
        match root.node(&path) {
            Ok(opened) => described(&path, &opened.node),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                json!({"name": *name, "path": path, "kind": "folder"})
            }
            Err(error) => damaged(&path, &error),
        }
    };
    let children: Json = names.iter().map(entry).collect();
    let node = json!({"name": name_of(path), "path": path, "kind": "folder"});
    Ok(json!({"path": path, "node": node, "children": children, "next": next}))
}
