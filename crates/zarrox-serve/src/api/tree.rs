//! `tree`: the nodes below a node, in pages, or the nodes that match a search.

use std::time::{Duration, Instant};

use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::json::Json;
use zarrox::stores::Prefix;
use zarrox::{Child, Error, ErrorKind, Group, Interrupt, Node};
use zarrox_tools::Glob;

use crate::content::Wanted;
use crate::failure::{Answer, Failure};
use crate::place::Place;
use crate::query::{Count, Query};
use crate::root::{Opened, Root};

/// The default and the maximum number of nodes in a page.
const PAGE: u64 = 200;
const LARGEST_PAGE: u64 = 2000;

/// The maximum number of nodes that a search visits, and its maximum duration.
const MOST_VISITED: usize = 100_000;
const LONGEST: Duration = Duration::from_secs(10);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TreeQuery {
    /// The name after which the page begins.
    after: String,
    limit: Option<Count<LARGEST_PAGE>>,
    search: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Tree {
    Page(Box<Page>),
    Found(Found),
}

/// A node, and a page of the nodes directly below.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Page {
    path: String,
    node: Entry,
    /// Sorted by name.
    children: Vec<Entry>,
    /// The name after which the next page begins.
    next: Option<String>,
}

/// The result of a search.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Found {
    path: String,
    search: String,
    matches: Vec<Entry>,
    /// The number of visited nodes.
    visited: usize,
    /// False if the search stopped early.
    complete: bool,
}

/// The summary of a node.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Entry {
    name: String,
    path: String,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EntryKind"))]
enum Kind {
    Group {
        format: String,
        /// The number of attributes.
        attributes: usize,
        /// The attribute `title`.
        title: Option<String>,
    },
    Array {
        format: String,
        /// The number of attributes.
        attributes: usize,
        /// The attribute `long_name`, or else `standard_name`.
        title: Option<String>,
        units: Option<String>,
        shape: Vec<u64>,
        data_type: String,
        chunk_shape: Vec<u64>,
        /// The size of all elements in memory, in bytes.
        bytes: Option<u64>,
        /// The reason why elements cannot be read.
        unreadable: Option<String>,
    },
    /// A directory that is not a node, but may contain hierarchies.
    Folder,
    /// A node that cannot be opened.
    Damaged { error: String },
}

impl Entry {
    fn new(path: &str, kind: Kind) -> Self {
        Self { name: name_of(path).to_owned(), path: path.to_owned(), kind }
    }

    fn of(path: &str, node: &Node) -> Self {
        let (format, attributes) = (node.format().to_string(), node.attributes().len());
        let text = |name: &str| node.attributes().get(name).and_then(Json::as_str).map(str::to_owned);
        let kind = match node {
            Node::Group(_) => Kind::Group { format, attributes, title: text("title") },
            Node::Array(array) => Kind::Array {
                format,
                attributes,
                title: text("long_name").or_else(|| text("standard_name")),
                units: text("units"),
                shape: array.shape().to_vec(),
                data_type: array.data_type().to_string(),
                chunk_shape: array.unit_shape(),
                bytes: array.nbytes(),
                unreadable: array.unreadable().map(str::to_owned),
            },
        };
        Self::new(path, kind)
    }

    fn damaged(path: &str, error: &Error) -> Self {
        Self::new(path, Kind::Damaged { error: error.to_string() })
    }
}

pub(super) async fn answer(place: Place, Query(query): Query<TreeQuery>, wanted: Wanted) -> Answer<Response> {
    place.json(wanted, move |root, path, interrupt| tree(root, path, &query, interrupt)).await
}

/// Returns the nodes directly below a path whose names come after a name, or all nodes below it that match a search.
fn tree(root: &Root, path: &str, query: &TreeQuery, interrupt: &Interrupt) -> Answer<Tree> {
    let limit = query.limit.map_or(PAGE, Count::get);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if let Some(search) = &query.search {
        return found(root, path, search, limit, interrupt).map(Tree::Found);
    }
    let opened = match root.node(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return folder(root, path, &query.after, limit, error).map(|page| Tree::Page(Box::new(page)));
        }
        Err(error) => return Err(error.into()),
    };
    let mut page =
        Page { path: path.to_owned(), node: Entry::of(path, &opened.node), children: Vec::new(), next: None };
    let Node::Group(group) = &opened.node else { return Ok(Tree::Page(Box::new(page))) };
    let children = group.children_after(&query.after, limit)?;
    page.next = children.last().filter(|_| children.len() == limit).map(|child| child.name.clone());
    page.children = children.into_iter().map(|child| listed(root, path, child, &opened)).collect();
    Ok(Tree::Page(Box::new(page)))
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

/// Returns a child as an entry of a page. The child is cached, since clients often request it next.
fn listed(root: &Root, above: &str, child: Child, like: &Opened) -> Entry {
    let path = joined(above, &child.name);
    match child.node {
        Ok(node) => Entry::of(&path, &root.keep(&path, node, like).node),
        Err(error) => Entry::damaged(&path, &error),
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The attributes that describe a node in words.
const TITLES: [&str; 3] = ["long_name", "standard_name", "title"];

/// The pattern of a search: a glob, or a case-insensitive part of the path or of a descriptive attribute.
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

    /// Returns true for nodes whose path or descriptive attributes match.
    fn matches(&self, path: &str, node: Option<&Node>) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(path) || glob.matches(name_of(path)),
            Self::Part(part) => {
                let has = |name: &&str| {
                    let value = node.and_then(|node| node.attributes().get(name)).and_then(Json::as_str);
                    value.is_some_and(|value| value.to_lowercase().contains(part))
                };
                path.to_lowercase().contains(part) || TITLES.iter().any(has)
            }
        }
    }
}

/// A search for nodes, which ends when its limits are reached.
struct Search<'r> {
    root: &'r Root,
    pattern: Pattern,
    interrupt: &'r Interrupt,
    limit: usize,
    start: Instant,
    visited: usize,
    matches: Vec<Entry>,
}

/// The maximum depth of directories that are not nodes.
const DEEPEST: usize = 8;

impl Search<'_> {
    /// Notes a node if it matches. Returns false when the search is over.
    fn visit(&mut self, path: &str, node: std::result::Result<&Node, &Error>) -> bool {
        self.visited += 1;
        if self.pattern.matches(path, node.ok()) {
            self.matches.push(match node {
                Ok(node) => Entry::of(path, node),
                Err(error) => Entry::damaged(path, error),
            });
        }
        let is_full = self.matches.len() >= self.limit || self.visited >= MOST_VISITED;
        !(is_full || self.start.elapsed() > LONGEST || self.interrupt.is_raised())
    }

    /// Visits all nodes below a group. Returns false when the search is over.
    fn below(&mut self, at: &str, group: &Group) -> Answer<bool> {
        let enough = || Error::new(ErrorKind::LimitExceeded, "the limit of the search is reached");
        let walked = group.visit(&mut |path, node| {
            if self.visit(&joined(at, path), node.as_ref()) { Ok(()) } else { Err(enough()) }
        });
        match walked {
            Err(error) if error.kind() == ErrorKind::LimitExceeded => Ok(false),
            walked => Ok(walked.map(|()| true)?),
        }
    }

    /// Visits the hierarchies in a directory that is not a node. Returns false when the search is over.
    fn folder(&mut self, at: &str, names: Vec<String>, depth: usize) -> Answer<bool> {
        for name in names {
            let path = joined(at, &name);
            let goes_on = match self.root.node(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let names = names_in(self.root, &path).unwrap_or_default();
                    depth >= DEEPEST || self.folder(&path, names, depth + 1)?
                }
                Err(error) => self.visit(&path, Err(&error)),
                Ok(opened) => {
                    let goes_on = self.visit(&path, Ok(&opened.node));
                    match &opened.node {
                        Node::Group(group) if goes_on => self.below(&path, group)?,
                        _ => goes_on,
                    }
                }
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the nodes below a path that match a search.
fn found(root: &Root, at: &str, search: &str, limit: usize, interrupt: &Interrupt) -> Answer<Found> {
    let (pattern, start) = (Pattern::new(search)?, Instant::now());
    let mut nodes = Search { root, pattern, interrupt, limit, start, visited: 0, matches: Vec::new() };
    let complete = match root.node(at) {
        Err(error) if error.kind() == ErrorKind::NotFound => match names_in(root, at)? {
            names if names.is_empty() => return Err(error.into()),
            names => nodes.folder(at, names, 0)?,
        },
        opened => match &opened?.node {
            Node::Group(group) => nodes.below(at, group)?,
            Node::Array(_) => true,
        },
    };
    let Search { visited, matches, .. } = nodes;
    Ok(Found { path: at.to_owned(), search: search.to_owned(), matches, visited, complete })
}

/// Returns the sorted names of the directories and archives in a directory; empty if the store cannot list keys.
fn names_in(root: &Root, path: &str) -> Answer<Vec<String>> {
    let prefix = if path.is_empty() { Prefix::root() } else { Prefix::new(format!("{path}/"))? };
    if !root.store.capabilities().listable {
        return Ok(Vec::new());
    }
    let listing = root.store.list_dir(&prefix)?;
    let archives = listing.keys.iter().map(zarrox::stores::Key::name).filter(|name| name.ends_with(".zip"));
    let mut names: Vec<String> =
        listing.prefixes.iter().map(Prefix::name).chain(archives).map(str::to_owned).collect();
    names.sort_unstable();
    Ok(names)
}

/// Returns the entries of a directory that is not a node, but may contain hierarchies.
fn folder(root: &Root, path: &str, after: &str, limit: usize, error: Error) -> Answer<Page> {
    let mut names = names_in(root, path)?;
    if names.is_empty() {
        return Err(error.into());
    }
    names.retain(|name| name.as_str() > after);
    let rest = names.len().saturating_sub(limit);
    names.truncate(limit);
    let next = names.last().filter(|_| rest > 0).cloned();
    let entry = |name: &String| {
        let path = joined(path, name);
        match root.node(&path) {
            Ok(opened) => Entry::of(&path, &opened.node),
            Err(error) if error.kind() == ErrorKind::NotFound => Entry::new(&path, Kind::Folder),
            Err(error) => Entry::damaged(&path, &error),
        }
    };
    let children = names.iter().map(entry).collect();
    Ok(Page { path: path.to_owned(), node: Entry::new(path, Kind::Folder), children, next })
}
