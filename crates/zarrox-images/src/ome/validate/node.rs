//! The groups that are visited during validation, and the issues found.

use std::collections::{BTreeSet, VecDeque};

use zarrox_core::json::{Json, Map};
use zarrox_core::{Error, ErrorKind, Format, Result};

use super::issue::{Issue, Severity};
use crate::ome::{v04, v05};
use zarrox::Array;
use zarrox::{Group, Node};

/// The maximum number of visited nodes of one kind, and of issues, since metadata can refer to any number of nodes.
pub(super) const MOST: usize = 100_000;

/// The attributes by which OME-Zarr 0.4 is recognised.
const MEMBERS: [&str; 7] =
    ["multiscales", "plate", "well", "labels", "image-label", "bioformats2raw.layout", "series"];

/// A version of OME-Zarr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V04,
    V05,
}

impl Version {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V04 => v04::VERSION,
            Self::V05 => v05::VERSION,
        }
    }
}

/// A group with OME-Zarr metadata.
pub(super) struct Visited {
    pub(super) group: Group,
    /// The path relative to the validated group.
    pub(super) path: String,
    pub(super) version: Version,
    members: Map,
}

impl Visited {
    /// Returns the group with its metadata; `None` if the group has none.
    pub(super) fn of(group: &Group, path: &str) -> Option<Self> {
        let attributes = group.attributes();
        let (version, members) = match attributes.get(v05::OME) {
            Some(Json::Object(members)) => (Version::V05, members.clone()),
            Some(_) => (Version::V05, Map::default()),
            None if MEMBERS.iter().any(|member| attributes.contains_key(member)) => {
                (Version::V04, attributes.clone())
            }
            None => return None,
        };
        Some(Self { group: group.clone(), path: path.to_owned(), version, members })
    }

    pub(super) fn get(&self, member: &str) -> Option<&Json> {
        self.members.get(member)
    }

    /// Checks the version that a group declares, and whether the version fits the group's format.
    pub(super) fn check_version(&self, report: &mut Report) -> Result<()> {
        let format = self.group.metadata().format;
        let fits = match self.version {
            Version::V04 => format == Format::V2,
            Version::V05 => format == Format::V3,
        };
        if !fits {
            report.error(
                self,
                format!("OME-Zarr {} cannot be used in groups of Zarr {format}", self.version.name()),
            );
        }
        if self.version == Version::V04 {
            return self.check_entries(report);
        }
        if !self.group.attributes().get(v05::OME).is_some_and(Json::is_object) {
            report.error(self, "'ome' must be an object");
            return Ok(());
        }
        match self.get("version").map(Json::as_str) {
            Some(Some(version)) => self.check_name(version, report),
            Some(None) => report.error(self, "'version' must be a string"),
            None if self.path.is_empty() => report.error(self, "'version' is missing in 'ome'"),
            // ome-zarr-py omits the version in the group `labels`.
            None => report.warning(self, "'version' is missing in 'ome'"),
        }
        if report.is_another { Err(self.another()) } else { Ok(()) }
    }

    /// Checks the versions of entries: in OME-Zarr 0.4, each entry of `multiscales` and each other object has its own version.
    fn check_entries(&self, report: &mut Report) -> Result<()> {
        let list = self.get("multiscales").and_then(Json::as_array);
        let objects = ["plate", "well", "image-label"].iter().filter_map(|member| self.get(member));
        let objects: Vec<Json> = list.into_iter().flatten().chain(objects).cloned().collect();
        for object in &objects {
            match object.get("version").map(Json::as_str) {
                Some(Some(version)) => self.check_name(version, report),
                Some(None) => report.error(self, "'version' must be a string"),
                None => report.warning(self, "'version' is missing"),
            }
        }
        if report.is_another { Err(self.another()) } else { Ok(()) }
    }

    fn check_name(&self, version: &str, report: &mut Report) {
        if version == report.version.name() {
            return;
        }
        match self.path.is_empty() {
            // All groups must have the same version as the root.
            true => report.is_another = true,
            false => {
                let own = report.version.name();
                report.error(self, format!("the version is {own} above, and here {version}"));
            }
        }
    }

    fn another(&self) -> Error {
        let message = format!(
            "the metadata of '{}' does not have the version 0.4 or 0.5 of OME-Zarr",
            self.group.path()
        );
        Error::new(ErrorKind::Unsupported, message)
    }

    /// Returns a path below this group, relative to the validated group.
    pub(super) fn below(&self, path: &str) -> String {
        let joined = format!("{}/{path}", self.path);
        joined.trim_matches('/').to_owned()
    }
}

/// The issues found so far, and the groups that are still to be checked.
pub(super) struct Report {
    pub(super) findings: Vec<Issue>,
    pub(super) version: Version,
    /// True if the root declares a version other than 0.4 and 0.5.
    is_another: bool,
    /// The paths of the groups that have been visited, since metadata can contain cycles.
    seen: BTreeSet<String>,
    /// The groups that have not been checked yet.
    open: VecDeque<Visited>,
}

impl Report {
    pub(super) fn new(version: Version) -> Self {
        let seen = BTreeSet::from([String::new()]);
        Self { findings: Vec::new(), version, is_another: false, seen, open: VecDeque::new() }
    }

    fn add(&mut self, path: String, severity: Severity, message: String) {
        if self.findings.len() < MOST {
            self.findings.push(Issue { path, severity, message });
        }
    }

    pub(super) fn error(&mut self, at: &Visited, message: impl Into<String>) {
        self.add(at.path.clone(), Severity::Error, message.into());
    }

    pub(super) fn error_below(&mut self, at: &Visited, path: &str, message: impl Into<String>) {
        self.add(at.below(path), Severity::Error, message.into());
    }

    pub(super) fn warning_below(&mut self, at: &Visited, path: &str, message: impl Into<String>) {
        self.add(at.below(path), Severity::Warning, message.into());
    }

    pub(super) fn warning(&mut self, at: &Visited, message: impl Into<String>) {
        self.add(at.path.clone(), Severity::Warning, message.into());
    }

    /// Returns the group at a path below another group, with its OME-Zarr metadata. `None` if there is a defect, which is
    /// reported, or if the group has already been visited.
    pub(super) fn group(&mut self, above: &Visited, path: &str) -> Result<Option<Visited>> {
        let Some(node) = self.node(above, path)? else { return Ok(None) };
        let Node::Group(group) = node else {
            self.error_below(above, path, "expected a group, found an array");
            return Ok(None);
        };
        let below = above.below(path);
        if !self.seen.insert(below.clone()) {
            return Ok(None);
        }
        let Some(visited) = Visited::of(&group, &below) else {
            self.error_below(above, path, "the group has no OME-Zarr metadata");
            return Ok(None);
        };
        if visited.version != self.version {
            let own = self.version.name();
            self.error_below(above, path, format!("the version is {own} above, and different here"));
            return Ok(None);
        }
        visited.check_version(self)?;
        Ok(Some(visited))
    }

    /// Queues the group at a path below another group to be checked. Reports an error if the group does not have this member.
    pub(super) fn visit(&mut self, above: &Visited, path: &str, member: &str) -> Result<()> {
        let Some(visited) = self.group(above, path)? else { return Ok(()) };
        if visited.get(member).is_none() {
            self.error(&visited, format!("'{member}' is missing"));
        }
        self.open.push_back(visited);
        Ok(())
    }

    /// Removes the next group from the queue.
    pub(super) fn next(&mut self) -> Option<Visited> {
        self.open.pop_front()
    }

    /// Returns the array at a path below a group. `None` if there is a defect, which is reported.
    pub(super) fn array(&mut self, above: &Visited, path: &str) -> Result<Option<Array>> {
        match self.node(above, path)? {
            Some(Node::Array(array)) => Ok(Some(array)),
            Some(Node::Group(_)) => {
                self.error_below(above, path, "expected an array, found a group");
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn node(&mut self, above: &Visited, path: &str) -> Result<Option<Node>> {
        match above.group.open(path) {
            Ok(node) => Ok(Some(node)),
            Err(error) if is_about_node(&error) => {
                let message = match error.kind() {
                    ErrorKind::NotFound => "there is no node here".to_owned(),
                    _ => format!("the node cannot be opened: {error}"),
                };
                self.error_below(above, path, message);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns true if an error concerns a node rather than the store.
fn is_about_node(error: &Error) -> bool {
    use ErrorKind::{Corrupt, InvalidArgument, InvalidMetadata, LimitExceeded, NotFound, Unsupported};
    matches!(
        error.kind(),
        NotFound | InvalidMetadata | InvalidArgument | Unsupported | Corrupt | LimitExceeded
    )
}
