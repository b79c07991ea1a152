//! Documents, attributes, shapes and data types.

use std::ffi::c_char;

use zarrox::internals::argument;
use zarrox::json::Map;
use zarrox::{Array, Node, Result};

use crate::arguments::{OutPointer, check_place, list, null, object};
use crate::block::returned_text;
use crate::element_type::ElementType;
use crate::nodes::NodeKind;
use crate::status::guard;
use crate::table::{self, as_array, zarrox_node};

/// Returns the kind of a node, a `zarrox_kind`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_node_kind(node: zarrox_node, kind: *mut i32) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let kind = unsafe { OutPointer::new(kind, "kind") }?;
        kind.set(NodeKind::of(&table::opened(node)?.node()) as i32);
        Ok(())
    })
}

/// Returns the metadata document of a node as JSON, in the form of its format: `zarr.json`, `.zarray`. The caller frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_metadata(node: zarrox_node, json: *mut *mut c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let json = unsafe { OutPointer::new(json, "json") }?;
        let document = match table::opened(node)?.node().as_ref() {
            Node::Array(array) => array.document()?,
            Node::Group(group) => group.document()?,
        };
        json.set(text_of(&document)?);
        Ok(())
    })
}

/// Returns the attributes of a node as a JSON object. The caller frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_attributes(node: zarrox_node, json: *mut *mut c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let json = unsafe { OutPointer::new(json, "json") }?;
        json.set(text_of(table::opened(node)?.node().attributes())?);
        Ok(())
    })
}

/// Replaces all attributes of a node by the members of a JSON object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_set_attributes(node: zarrox_node, json: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let attributes = unsafe { attributes(json) }?;
        table::opened(node)?.change(|node| node.set_attributes(attributes))
    })
}

/// Sets the attributes of a node that are members of a JSON object, and keeps all other attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_update_attributes(node: zarrox_node, json: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let attributes = unsafe { attributes(json) }?;
        table::opened(node)?.change(|node| node.update_attributes(|all| all.extend(attributes.clone())))
    })
}

/// Returns the number of dimensions of an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_ndim(node: zarrox_node, ndim: *mut usize) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let ndim = unsafe { OutPointer::new(ndim, "ndim") }?;
        ndim.set(as_array(&table::opened(node)?.node())?.ndim());
        Ok(())
    })
}

/// Returns the shape of an array. `ndim` must be its number of dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_shape(node: zarrox_node, ndim: usize, shape: *mut u64) -> i32 {
    // SAFETY: the caller guarantees it.
    guard(|| unsafe { write_lengths(node, ndim, shape, |array| array.shape().to_vec()) })
}

/// Returns the shape of the chunks of an array; if it has shards, the shape of the inner chunks. Reading regions of whole chunks
/// is fastest. `ndim` must be the number of dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_chunk_shape(node: zarrox_node, ndim: usize, shape: *mut u64) -> i32 {
    // SAFETY: the caller guarantees it.
    guard(|| unsafe { write_lengths(node, ndim, shape, Array::unit_shape) })
}

/// Returns the type of the elements of an array, a `zarrox_type`, and their size in bytes, which is 0 if they have variable
/// length. Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_data_type(node: zarrox_node, r#type: *mut i32, size: *mut usize) -> i32 {
    guard(|| {
        let node = table::opened(node)?.node();
        let data_type = as_array(&node)?.data_type();
        let own = ElementType::of(data_type);
        if !r#type.is_null() {
            // SAFETY: the caller guarantees it.
            unsafe { OutPointer::new(r#type, "type") }?.set(own as i32);
        }
        if !size.is_null() {
            let is_variable = matches!(own, ElementType::String | ElementType::Bytes);
            // SAFETY: the caller guarantees it.
            unsafe { OutPointer::new(size, "size") }?.set(if is_variable { 0 } else { data_type.size() });
        }
        Ok(())
    })
}

/// Returns the name of the data type of an array, such as `float32` or `datetime64[ns]`. The caller frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_data_type_name(node: zarrox_node, name: *mut *mut c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let name = unsafe { OutPointer::new(name, "name") }?;
        name.set(returned_text(&as_array(&table::opened(node)?.node())?.data_type().to_string())?);
        Ok(())
    })
}

/// Changes the shape of an array. Elements outside of the new shape are deleted; new elements have the fill value. `ndim` must be
/// the number of dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_resize(node: zarrox_node, ndim: usize, shape: *const u64) -> i32 {
    guard(|| {
        let opened = table::opened(node)?;
        check_ndim(as_array(&opened.node())?, ndim)?;
        // SAFETY: the caller guarantees it.
        let shape = unsafe { list(shape, ndim, "shape") }?;
        opened.change(|node| match node {
            Node::Array(array) => array.resize(shape),
            other => as_array(other).map(drop),
        })
    })
}

/// Writes one length for each dimension of an array to memory for `ndim` lengths.
///
/// # Safety
/// The pointer is null, or `ndim` lengths can be written to it.
unsafe fn write_lengths(
    node: zarrox_node,
    ndim: usize,
    place: *mut u64,
    lengths: impl FnOnce(&Array) -> Vec<u64>,
) -> Result<()> {
    let node = table::opened(node)?.node();
    let array = as_array(&node)?;
    check_ndim(array, ndim)?;
    if ndim == 0 {
        return Ok(());
    }
    check_place(place, "shape")?;
    for (dim, length) in lengths(array).into_iter().enumerate() {
        // SAFETY: the caller guarantees it, and there is one length for each dimension.
        unsafe { place.add(dim).write(length) };
    }
    Ok(())
}

fn check_ndim(array: &Array, ndim: usize) -> Result<()> {
    if ndim == array.ndim() {
        return Ok(());
    }
    Err(argument(format!("'ndim' is {ndim}, but the array has {} dimensions", array.ndim())))
}

/// Parses attributes. The pointer must not be null.
unsafe fn attributes(json: *const c_char) -> Result<Map> {
    if json.is_null() {
        return Err(null("json"));
    }
    // SAFETY: the caller guarantees it.
    unsafe { object(json, "json") }
}

fn text_of(map: &Map) -> Result<*mut c_char> {
    returned_text(&zarrox::json::Json::Object(map.clone()).to_string())
}
