//! `zarrox meta fix`: rewrites documents in the strict form of their format.

use std::io::Write;

use zarrox::json::{Json, json};
use zarrox::{Error, ErrorKind, Node, Result};
use zarrox_tools::{DocumentFix, make_strict, strict_documents};

use crate::args::Global;
use crate::exit::{Failure, note, printable};
use crate::interrupt;
use crate::opening;
use crate::print::{changed_lines, print_json};

/// The path of a node, and its fixes or an error.
type Done = (String, Result<Vec<DocumentFix>>);

/// Fixes the documents of a node and of all nodes below it. Without `write`, only reports the fixes.
pub(crate) fn fix(
    global: &Global,
    path: &str,
    write: bool,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    interrupt::catch();
    let node = opening::open(&global.without_elements(), path)?;
    let mut done: Vec<Done> = Vec::new();
    let mut work = |path: &str, node: &Node| {
        let fixed = if write { make_strict(node) } else { strict_documents(node) };
        done.push((path.to_owned(), fixed));
        interrupt::check()
    };
    work("/", &node)?;
    if let Node::Group(group) = &node {
        let mut unreadable: Vec<Done> = Vec::new();
        group.visit(&mut |path, node| match node {
            Ok(node) => work(path, node),
            Err(error) => {
                let error = Error::new(error.kind(), error.to_string());
                unreadable.push((path.to_owned(), Err(error)));
                Ok(())
            }
        })?;
        done.extend(unreadable);
    }
    if write {
        node.flush()?;
    }
    if json {
        print_json(out, &Json::Array(done.iter().flat_map(to_json).collect()))?;
    } else {
        print(&done, write, out)?;
    }
    let failed = done.iter().find_map(|(_, fixed)| fixed.as_ref().err());
    failed.map_or(Ok(()), |error| {
        let kind =
            if error.kind() == ErrorKind::Interrupted { error.kind() } else { ErrorKind::InvalidMetadata };
        Err(Failure::Reported(kind))
    })
}

fn print(done: &[Done], write: bool, out: &mut dyn Write) -> Result<(), Failure> {
    for (path, fixed) in done {
        match fixed {
            Ok(fixes) => {
                for fix in fixes {
                    print_fix(fix, write, out)?;
                }
            }
            Err(error) => {
                out.flush()?;
                note(&format!("'{path}' is unchanged: {error}"));
            }
        }
    }
    Ok(())
}

fn print_fix(fix: &DocumentFix, write: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if write {
        return Ok(writeln!(out, "fixed {}", printable(&fix.key))?);
    }
    writeln!(out, "==> {} <==", printable(&fix.key))?;
    let shown = |bytes: &[u8]| match zarrox::json::parse(bytes) {
        Ok(json) => format!("{json:#}"),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    };
    let before = fix.before.as_deref().map(shown).unwrap_or_default();
    for (sign, line) in changed_lines(&before, &shown(&fix.after)) {
        writeln!(out, "{sign} {}", printable(&line))?;
    }
    Ok(())
}

fn to_json((path, fixed): &Done) -> Vec<Json> {
    match fixed {
        Ok(fixes) => fixes
            .iter()
            .map(|fix| {
                let parsed = |bytes: &[u8]| zarrox::json::parse(bytes).unwrap_or(Json::Null);
                let before = fix.before.as_deref().map_or(Json::Null, parsed);
                json!({"path": path.as_str(), "key": fix.key.as_str(), "before": before, "after": parsed(&fix.after)})
            })
            .collect(),
        Err(error) => vec![json!({"path": path.as_str(), "error": error.to_string()})],
    }
}
