//! `zarrox attrs`: shows and changes the attributes of a node.

use std::io::Write;

use clap::{Args, Subcommand};
use zarrox::json::{self, Json};
use zarrox::{Error, ErrorKind, Node, Result};

use super::attrs_more;
use crate::args::Global;
use crate::exit::{Failure, usage};
use crate::opening;
use crate::print::print_json;

/// Show and change attributes
#[derive(Debug, Args)]
pub(crate) struct Attrs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print one or all attributes in their stored form: JSON, with bare NaN and Infinity if Python wrote them
    Get {
        /// The array or group
        path: String,
        /// The name of the attribute [default: all]
        key: Option<String>,
        /// Print strict JSON, in which NaN and Infinity are strings
        #[arg(long)]
        json: bool,
    },
    /// Set an attribute
    Set {
        /// The array or group
        path: String,
        /// The name of the attribute
        #[arg(required_unless_present = "all")]
        key: Option<String>,
        /// The value as JSON; NaN, Infinity and -Infinity are allowed, and stored as zarr-python stores them
        #[arg(required_unless_present = "all", allow_hyphen_values = true)]
        value: Option<String>,
        /// Store the value as a string instead of parsing it as JSON
        #[arg(long, conflicts_with = "all")]
        string: bool,
        /// Replace all attributes with the members of this JSON object
        #[arg(long, value_name = "JSON", conflicts_with_all = ["key", "value"])]
        all: Option<String>,
    },
    /// Edit all attributes in $VISUAL or $EDITOR
    Edit {
        /// The array or group
        path: String,
    },
    /// Copy attributes to another node, and keep the other attributes of that node
    Cp {
        /// The source array or group
        from: String,
        /// The destination array or group
        to: String,
        /// The names of the attributes [default: all]
        keys: Vec<String>,
    },
    /// Print the attributes that differ; exit codes: 0 if all are equal, 1 if any differ, 2 if they cannot be compared, 8 if
    /// memory, input or output failed
    Diff {
        /// The first array or group
        a: String,
        /// The second array or group
        b: String,
    },
    /// Remove attributes
    Rm {
        /// The array or group
        path: String,
        /// The names of the attributes
        #[arg(required_unless_present = "all")]
        keys: Vec<String>,
        /// Remove all attributes
        #[arg(long, conflicts_with = "keys")]
        all: bool,
    },
}

impl Attrs {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        match &self.action {
            Action::Get { path, key, json } => get(&global.look(path)?, key.as_deref(), *json, out)?,
            Action::Set { path, all: Some(text), .. } => {
                let attributes =
                    json::parse_object(text.as_bytes()).map_err(|error| usage(error.to_string()))?;
                change(global, path, |node| node.set_attributes(attributes))?;
            }
            Action::Set { path, key, value, string, .. } => {
                let (key, value) = (key.clone().unwrap_or_default(), value.as_deref().unwrap_or_default());
                let value = if *string { Json::from(value) } else { parse(value)? };
                change(global, path, |node| {
                    node.update_attributes(|attributes| drop(attributes.insert(key.clone(), value.clone())))
                })?;
            }
            Action::Edit { path } => attrs_more::edit(global, path)?,
            Action::Cp { from, to, keys } => attrs_more::copy(global, from, to, keys)?,
            Action::Diff { a, b } => attrs_more::diff(global, a, b, out)?,
            Action::Rm { path, all: true, .. } => {
                change(global, path, |node| node.update_attributes(json::Map::clear))?;
            }
            Action::Rm { path, keys, .. } => change(global, path, |node| remove(node, keys))?,
        }
        Ok(())
    }
}

fn change(global: &Global, path: &str, change: impl FnOnce(&mut Node) -> Result<()>) -> Result<()> {
    let mut node = opening::open(&global.without_elements(), path)?;
    change(&mut node)?;
    node.flush()
}

fn parse(text: &str) -> Result<Json> {
    json::parse(text.as_bytes()).map_err(|error| {
        usage(format!("the value '{text}' is not JSON: {error}; --string stores it as a string"))
    })
}

fn get(node: &Node, key: Option<&str>, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let attributes = node.attributes();
    let value = match key {
        None => Json::Object(attributes.clone()),
        Some(key) => attributes.get(key).cloned().ok_or_else(|| missing(node, key))?,
    };
    if json {
        return Ok(print_json(out, &value)?);
    }
    Ok(writeln!(out, "{value:#}")?)
}

fn remove(node: &mut Node, keys: &[String]) -> Result<()> {
    if let Some(key) = keys.iter().find(|key| !node.attributes().contains_key(key)) {
        return Err(missing(node, key));
    }
    node.update_attributes(|attributes| keys.iter().for_each(|key| drop(attributes.remove(key))))
}

fn missing(node: &Node, key: &str) -> Error {
    let names: Vec<&str> = node.attributes().keys().map(String::as_str).collect();
    let names =
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    Error::new(ErrorKind::NotFound, format!("'{}' has no attribute '{key}'; {names}", node.path()))
}
