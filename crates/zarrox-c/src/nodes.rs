//! Opens, creates, lists, closes and deletes nodes.

use std::ffi::c_char;
use std::ptr;

use zarrox::{Group, Node, OpenOptions, Result};

use crate::arguments::{OutPointer, object, text};
use crate::block::Block;
use crate::options::options as parse_options;
use crate::settings;
use crate::status::guard;
use crate::table::{self, as_group, zarrox_node};

/// The kind of a node.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A node that cannot be opened.
    Unknown = 0,
    /// An array.
    Array = 1,
    /// A group.
    Group = 2,
}

impl NodeKind {
    pub(crate) fn of(node: &Node) -> Self {
        match node {
            Node::Array(_) => Self::Array,
            Node::Group(_) => Self::Group,
        }
    }
}

/// A node directly below a group.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zarrox_child {
    /// The name of the node.
    pub name: *const c_char,
    /// The kind of the node, a `zarrox_kind`.
    pub kind: i32,
    /// The reason why the node cannot be opened; null if it can be opened.
    pub error: *const c_char,
}

/// Opens the array or group at a path or URL. `options` is a JSON object or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_open(
    place: *const c_char,
    options: *const c_char,
    node: *mut zarrox_node,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        unsafe { add_at(place, node, |place| options_of(options)?.open(place)) }
    })
}

/// Opens the array or group at a path below a group, with the options of the group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_open_in(
    group: zarrox_node,
    path: *const c_char,
    node: *mut zarrox_node,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        unsafe { add_in(group, path, node, |group, path| group.open(path)) }
    })
}

/// Creates a group at a path or URL. An existing node is an error, unless the option "mode" is "w". `options` is a JSON object or
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_create_group(
    place: *const c_char,
    options: *const c_char,
    node: *mut zarrox_node,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        unsafe { add_at(place, node, |place| Ok(Node::Group(options_of(options)?.create_group(place)?))) }
    })
}

/// Creates a group at a path below a group, with the missing groups between them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_create_group_in(
    group: zarrox_node,
    path: *const c_char,
    node: *mut zarrox_node,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        unsafe { add_in(group, path, node, |group, path| group.create_group(path).map(Node::Group)) }
    })
}

/// Creates an array at a path or URL. `array` is a JSON object with at least "shape" and "data_type", and `options` a JSON object
/// or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_create_array(
    place: *const c_char,
    array: *const c_char,
    options: *const c_char,
    node: *mut zarrox_node,
) -> i32 {
    guard(|| {
        let create = |place: &str| {
            // SAFETY: the caller guarantees it.
            let (array, options) = unsafe { (object(array, "array")?, options_of(options)?) };
            Ok(Node::Array(settings::apply(options.create_array(place), array)?.create()?))
        };
        // SAFETY: the caller guarantees it.
        unsafe { add_at(place, node, create) }
    })
}

/// Creates an array at a path below a group. `array` is a JSON object with at least "shape" and "data_type".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_create_array_in(
    group: zarrox_node,
    path: *const c_char,
    array: *const c_char,
    node: *mut zarrox_node,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let (node, path) = unsafe { (OutPointer::new(node, "node")?, text(path, "path")?) };
        // SAFETY: the caller guarantees it.
        let array = unsafe { object(array, "array") }?;
        let above = table::opened(group)?;
        let builder = settings::apply(as_group(&above.node())?.create_array(path), array)?;
        node.set(table::add(Node::Array(builder.create()?), above.cancel()));
        Ok(())
    })
}

/// Closes a node. Operations of other threads that use the node continue to their end.
#[unsafe(no_mangle)]
pub extern "C" fn zarrox_close(node: zarrox_node) -> i32 {
    guard(|| table::remove(node))
}

/// Lists the nodes directly below a group, sorted by name. `children` becomes a table of `count` entries, which the caller frees by a
/// single `zarrox_free`. A damaged node does not hide the others: its entry has the reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_children(
    group: zarrox_node,
    children: *mut *mut zarrox_child,
    count: *mut usize,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let (children, count) =
            unsafe { (OutPointer::new(children, "children")?, OutPointer::new(count, "count")?) };
        let found = as_group(&table::opened(group)?.node())?.children()?;
        let found: Vec<(String, Result<NodeKind, String>)> = found
            .into_iter()
            .map(|child| {
                (child.name, child.node.map(|node| NodeKind::of(&node)).map_err(|error| error.to_string()))
            })
            .collect();
        let lengths =
            found.iter().flat_map(|(name, kind)| [Some(name.len()), kind.as_ref().err().map(String::len)]);
        let mut block = Block::<zarrox_child>::new(found.len(), lengths.flatten())?;
        for (name, kind) in &found {
            let name = block.add_text(name.as_bytes());
            let error = kind.as_ref().err().map_or(ptr::null(), |error| block.add_text(error.as_bytes()));
            let kind = *kind.as_ref().unwrap_or(&NodeKind::Unknown) as i32;
            block.add_entry(zarrox_child { name, kind, error });
        }
        children.set(block.into_raw());
        count.set(found.len());
        Ok(())
    })
}

/// Deletes the node at a path or URL with everything below it. `options` is a JSON object or null; the mode "r" is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_delete(place: *const c_char, options: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let (place, options) = unsafe { (text(place, "place")?, options_of(options)?) };
        options.delete(place)
    })
}

/// Adds the node at a path or URL to the table, and stores its number.
///
/// # Safety
/// As for [`text`] and [`OutPointer::new`].
unsafe fn add_at(
    place: *const c_char,
    node: *mut zarrox_node,
    open: impl FnOnce(&str) -> Result<Node>,
) -> Result<()> {
    // SAFETY: the caller guarantees it.
    let (node, place) = unsafe { (OutPointer::new(node, "node")?, text(place, "place")?) };
    node.set(table::add(open(place)?, None));
    Ok(())
}

/// Adds the node at a path below a group to the table, and stores its number.
///
/// # Safety
/// As for [`text`] and [`OutPointer::new`].
unsafe fn add_in(
    group: zarrox_node,
    path: *const c_char,
    node: *mut zarrox_node,
    open: impl FnOnce(&Group, &str) -> Result<Node>,
) -> Result<()> {
    // SAFETY: the caller guarantees it.
    let (node, path) = unsafe { (OutPointer::new(node, "node")?, text(path, "path")?) };
    let above = table::opened(group)?;
    node.set(table::add(open(as_group(&above.node())?, path)?, above.cancel()));
    Ok(())
}

/// Parses the argument `options`.
///
/// # Safety
/// As for [`object`].
unsafe fn options_of(options: *const c_char) -> Result<OpenOptions> {
    // SAFETY: the caller guarantees it.
    parse_options(unsafe { object(options, "options") }?)
}
