//! The header of a whole hierarchy, like the output of `ncdump -h`: dimensions, arrays with their data types, and attributes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use zarrox::json::Map;
use zarrox::{Array, Group, Node, Result};

use super::describe::unreadable;
use crate::exit::{Failure, printable};

/// Prints the header of a node.
pub(super) fn print_header(node: &Node, name: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let name = printable(name.trim_end_matches('/').rsplit('/').next().unwrap_or(name));
    match node {
        Node::Group(group) => print_group(group, &name, "", out),
        Node::Array(array) => {
            writeln!(out, "array {name} {{")?;
            print_dimensions(std::slice::from_ref(array), "", out)?;
            writeln!(out, "variables:")?;
            print_array(array, &name, "", out)?;
            Ok(writeln!(out, "}}")?)
        }
    }
}

fn print_group(group: &Group, name: &str, indent: &str, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{indent}group {name} {{")?;
    let (mut arrays, mut groups) = (Vec::new(), Vec::new());
    for child in group.children()? {
        match child.node {
            Ok(Node::Array(array)) => arrays.push(array),
            Ok(Node::Group(group)) => groups.push(group),
            Err(error) => {
                writeln!(out, "{indent}  // {}: {}", printable(&child.name), printable(&error.to_string()))?;
            }
        }
    }
    print_dimensions(&arrays, indent, out)?;
    if !arrays.is_empty() {
        writeln!(out, "{indent}variables:")?;
    }
    for array in &arrays {
        print_array(array, &printable(array.path().name()), indent, out)?;
    }
    if !group.attributes().is_empty() {
        writeln!(out, "{indent}// attributes:")?;
        print_attributes(group.attributes(), "", indent, out)?;
    }
    let inner = format!("{indent}  ");
    for group in &groups {
        print_group(group, &printable(group.path().name()), &inner, out)?;
    }
    Ok(writeln!(out, "{indent}}}")?)
}

/// Prints the named dimensions of arrays with their lengths. If arrays differ, a dimension has several lengths.
fn print_dimensions(arrays: &[Array], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut lengths: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for array in arrays {
        for (name, length) in names(array).into_iter().zip(array.shape()) {
            let known = name.map(|name| lengths.entry(name).or_default());
            if let Some(known) = known.filter(|known| !known.contains(length)) {
                known.push(*length);
            }
        }
    }
    if !lengths.is_empty() {
        writeln!(out, "{indent}dimensions:")?;
    }
    for (name, lengths) in lengths {
        let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        writeln!(out, "{indent}    {} = {} ;", printable(&name), lengths.join(" or "))?;
    }
    Ok(())
}

fn print_array(array: &Array, name: &str, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    let dimension = |(name, length): (Option<String>, &u64)| name.unwrap_or_else(|| length.to_string());
    let dimensions: Vec<String> = names(array).into_iter().zip(array.shape()).map(dimension).collect();
    let dimensions = printable(&dimensions.join(", "));
    let unreadable = printable(&unreadable(array));
    writeln!(out, "{indent}    {} {name}({dimensions}) ;{unreadable}", array.data_type())?;
    print_attributes(array.attributes(), name, &format!("{indent}    "), out)
}

fn print_attributes(attributes: &Map, name: &str, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    let shown = attributes.iter().filter(|(key, _)| *key != "_ARRAY_DIMENSIONS");
    for (key, value) in shown {
        writeln!(out, "{indent}    {name}:{} = {} ;", printable(key), printable(&value.to_string()))?;
    }
    Ok(())
}

/// Returns the names of an array's dimensions, from xarray's attribute if the metadata has none.
fn names(array: &Array) -> Vec<Option<String>> {
    if let Some(names) = array.dimension_names() {
        return names.to_vec();
    }
    let told = array.attributes().get("_ARRAY_DIMENSIONS").and_then(|names| names.as_array());
    let told = told.filter(|names| names.len() == array.ndim());
    let name = |index: usize| told.and_then(|names| names[index].as_str()).map(str::to_owned);
    (0..array.ndim()).map(name).collect()
}
