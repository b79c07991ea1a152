//! Paths with a given prefix, for shell completions: nodes in hierarchies, and files and directories elsewhere.

use std::fs;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use zarrox::{Node, OpenMode, OpenOptions};

use crate::exit::Failure;
use crate::opening;

/// The hidden command with which shell completions request paths.
pub(super) const WORD: &str = "__paths";

/// The timeout for requests to a server.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Prints the paths that begin with a word, one per line. Paths that are not found before the timeout are omitted.
pub(super) fn print(word: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let (above, begin) = word.rfind('/').map_or(("", word), |at| word.split_at(at + 1));
    let place = if above.is_empty() { "." } else { above.trim_end_matches('/') };
    let place = if place.is_empty() { "/" } else { place }.to_owned();
    let names = match opening::local(&place) {
        Some(_) => below(&place),
        None => in_time(move || below(&place)),
    };
    for name in names.iter().filter(|name| name.starts_with(begin)) {
        writeln!(out, "{above}{name}")?;
    }
    Ok(())
}

/// Runs `work` on another thread, and returns its result, or an empty list after the timeout; the thread then continues detached.
fn in_time(work: impl FnOnce() -> Vec<String> + Send + 'static) -> Vec<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(work()));
    receive.recv_timeout(TIMEOUT).unwrap_or_default()
}

/// Returns the names of the nodes below a path, with a slash after those that may have children.
fn below(place: &str) -> Vec<String> {
    let options = OpenOptions::new().mode(OpenMode::Read).metadata_only(true).chunk_limit(usize::MAX);
    let children = match options.open(place) {
        Ok(Node::Array(_)) => return Vec::new(),
        Ok(Node::Group(group)) => group.children(),
        Err(_) => match opening::local(place) {
            Some(directory) => return entries(directory),
            None => options.hierarchies(place),
        },
    };
    let name = |child: zarrox::Child| match child.node {
        Ok(Node::Array(_)) => child.name,
        _ => format!("{}/", child.name),
    };
    children.unwrap_or_default().into_iter().map(name).collect()
}

/// Returns the entries of a directory that is not a node.
fn entries(directory: &std::path::Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let is_directory = fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
        Some(if is_directory { format!("{name}/") } else { name })
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
    names.sort();
    names
}
