//! The subcommands of `zarrox attrs` that edit, copy and compare attributes.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

use zarrox::json::{self, Json, Map};
use zarrox::{Error, ErrorKind, Node, Result};

use crate::args::Global;
use crate::exit::{Failure, printable, usage};
use crate::files::failed;
use crate::opening;

/// Opens all attributes in an editor, and stores the edited text unless another process has changed the attributes in the
/// meantime.
pub(super) fn edit(global: &Global, path: &str) -> Result<()> {
    let mut node = opening::open(&global.without_elements(), path)?;
    let before = node.attributes().clone();
    let file = tempfile::Builder::new().prefix("zarrox-").suffix(".json").tempfile();
    let mut file = file.map_err(|error| failed("making a temporary file", error))?;
    let text = format!("{:#}\n", Json::Object(before.clone()));
    file.write_all(text.as_bytes()).map_err(|error| failed("writing a temporary file", error))?;
    let kept = file.into_temp_path();
    run_editor(&kept)?;
    let edited = std::fs::read(&kept).map_err(|error| failed("reading the edited file", error))?;
    let after = json::parse_object(&edited).map_err(|error| {
        // The edited text is kept, so that a syntax error does not discard the user's work.
        let place = kept.keep().map(|path| path.display().to_string()).unwrap_or_default();
        usage(format!(
            "the attributes are not a JSON object: {error}; nothing was changed, and the text is in '{place}'"
        ))
    })?;
    if after == before {
        return Ok(());
    }
    let mut conflict = false;
    node.update_attributes(|map| {
        conflict = *map != before;
        if !conflict {
            map.clone_from(&after);
        }
    })?;
    if conflict {
        let message =
            format!("another process changed the attributes of '{path}' meanwhile; nothing was changed");
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    node.flush()
}

fn run_editor(file: &std::path::Path) -> Result<()> {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(file).status();
    let status = status.map_err(|error| failed(&format!("starting the editor '{editor}'"), error))?;
    if status.success() {
        Ok(())
    } else {
        Err(usage(format!("the editor '{editor}' failed; nothing was changed")))
    }
}

/// Copies the named attributes, or all of them, to another node.
pub(super) fn copy(global: &Global, from: &str, to: &str, keys: &[String]) -> Result<()> {
    let source = global.look(from)?;
    let attributes = source.attributes();
    if let Some(missing) = keys.iter().find(|key| !attributes.contains_key(key)) {
        return Err(Error::new(ErrorKind::NotFound, format!("'{from}' has no attribute '{missing}'")));
    }
    let chosen: Map = attributes
        .iter()
        .filter(|(key, _)| keys.is_empty() || keys.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut node: Node = opening::open(&global.without_elements(), to)?;
    node.update_attributes(|map| map.extend(chosen.iter().map(|(key, value)| (key.clone(), value.clone()))))?;
    node.flush()
}

/// Prints the attributes that differ.
pub(super) fn diff(global: &Global, a: &str, b: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let (left, right) = match (global.look(a), global.look(b)) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => return Err(Failure::Trouble(error)),
    };
    let (left, right) = (left.attributes(), right.attributes());
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let mut same = true;
    for name in names {
        let (left, right) = (left.get(name), right.get(name));
        if left == right {
            continue;
        }
        same = false;
        let shown = |value: Option<&Json>| value.map_or_else(|| "none".to_owned(), ToString::to_string);
        writeln!(out, "{}: {} and {}", printable(name), printable(&shown(left)), printable(&shown(right)))?;
    }
    if same { Ok(()) } else { Err(Failure::Different) }
}
