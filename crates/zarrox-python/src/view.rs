//! zarr-python 2's views: arrays that use the chunks of another array, but have separate metadata in memory.

use std::sync::Arc;

use zarrox::internals::json::to_bytes;
use zarrox::json::{Json, Map, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store};
use zarrox::{Array, Error, ErrorKind, Format, Node, Result};

use crate::split::SplitStore;

/// Returns a view of an array with changes to `shape`, `chunks`, `dtype`, `fill_value` or `filters`, and the store of the view.
/// This store contains the document of the view, and all other keys of `chunks`.
pub(crate) fn of(array: &Array, chunks: &Arc<dyn Store>, changes: Map) -> Result<(Array, Arc<dyn Store>)> {
    let format = array.metadata().format;
    if !matches!(format, Format::V2 | Format::V3) {
        let name = format.def().name();
        return Err(unsupported(&format!(
            "views with other metadata need an array of version 2 or 3, not of format {name}"
        )));
    }
    let mut document = array.document()?;
    for (name, value) in changes {
        let (member, value) = member(format, name, value)?;
        document.insert(member, value);
    }
    let documents = MemoryStore::new();
    for key in format.def().layout().keys(array.path()).into_iter().take(1) {
        documents.put(&Key::new(key)?, to_bytes(&document)?.as_slice().into(), Condition::Always)?;
    }
    let store: Arc<dyn Store> = Arc::new(SplitStore::new(Arc::new(documents), chunks.clone()));
    let options = crate::context::open_options().format(format);
    let view = options.open((store.clone(), array.path().as_str())).and_then(Node::into_array)?;
    Ok((view, store))
}

/// Returns a change as a member of the document in a format. v2 members already have the names that Python uses.
fn member(format: Format, name: String, value: Json) -> Result<(String, Json)> {
    Ok(match (format, name.as_str()) {
        (Format::V3, "chunks") => {
            let grid = json!({"name": "regular", "configuration": {"chunk_shape": value}});
            ("chunk_grid".to_owned(), grid)
        }
        (Format::V3, "dtype") => ("data_type".to_owned(), value),
        (Format::V3, "filters") => {
            return Err(unsupported("views with other filters need an array of version 2"));
        }
        _ => (name, value),
    })
}

fn unsupported(message: &str) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}
