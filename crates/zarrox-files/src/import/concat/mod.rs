//! Concatenates many files into one hierarchy. Arrays with the concatenation dimension are joined along it; all other
//! arrays must be equal in all files.

mod append;
pub(crate) mod block;
mod joined;
mod merge;
mod order;
mod plan;
pub(crate) mod sources;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use zarrox::json::{Json, json};
use zarrox::stores::{Bytes, Condition, Key, MemoryStore, Payload, Store};
use zarrox::{Format, OpenOptions, Result};

use crate::chunks::{Chunks, EncodedOnRead, VisitChunk};
use crate::inventory::{Inventories, Inventory, counted};
use crate::reading::Reading;
use crate::store::FileStore;
use joined::{Joined, JoinedChunks};
use plan::{Plan, Planned};
use sources::Sources;

pub(crate) use append::{Appending, Target};
pub(crate) use joined::Stored;
pub(crate) use plan::Request;

/// Several files as a single Zarr store.
pub(crate) struct Concatenated {
    pub(crate) store: FileStore,
    /// Differences between the files that are lost in the result.
    pub(crate) notes: Vec<String>,
    /// True if no file has the dimension.
    pub(crate) is_new: bool,
}

/// Opens several files as a single Zarr store.
pub(crate) fn open(files: &[PathBuf], request: &Request<'_>, reading: &Reading) -> Result<Concatenated> {
    let files = sources::expanded(files)?;
    let plan = plan::plan(Sources::new(&files, None, reading), request)?;
    let location = files.first().map(|first| first.display().to_string()).unwrap_or_default();
    let (notes, is_new) = (plan.notes.clone(), plan.is_new);
    let store = plan.into_store(format!("{location} and {} more", files.len().saturating_sub(1)))?;
    Ok(Concatenated { store, notes, is_new })
}

impl Plan {
    /// Creates the store.
    fn into_store(self, location: String) -> Result<FileStore> {
        let documents = MemoryStore::new();
        let options = OpenOptions::new().format(Format::V3);
        let mut inventories = Inventories::default();
        for (path, attributes) in &self.groups {
            inventories.add(path, Inventory::group(counted(attributes)));
            let store = Arc::new(documents.clone());
            options.create_group((store, path))?.set_attributes(attributes.clone())?;
        }
        let mut arrays: BTreeMap<String, Box<dyn Chunks>> = BTreeMap::new();
        for (path, planned) in self.arrays {
            let base = self.bases.get(&path).copied().unwrap_or(0);
            let array = self.sources.array(base, &path)?;
            let mut document = array.document()?;
            let mut counted = Inventory::array(counted(array.attributes()), array.shape());
            if let Planned::Joined(joined) = &planned {
                counted.elements = joined.elements();
                describe(&mut document, joined, &self.dimension);
            }
            inventories.add(&path, counted);
            let key = if path.is_empty() { "zarr.json".to_owned() } else { format!("{path}/zarr.json") };
            let bytes = Json::Object(document).to_string().into_bytes();
            documents.put(&Key::new(key)?, Payload::from(bytes.as_slice()), Condition::Always)?;
            let chunks: Box<dyn Chunks> = match planned {
                Planned::Joined(joined) => {
                    let array = options.open((Arc::new(documents.clone()), &path))?.into_array()?;
                    let encoded = EncodedOnRead::new(&array, Box::new(Arc::clone(&joined)))?;
                    Box::new(JoinedChunks { joined, encoded })
                }
                Planned::Same(source, stored) => {
                    let sources = Arc::clone(&self.sources);
                    Box::new(Same { sources, source, path: path.clone(), ndim: array.ndim(), stored })
                }
            };
            arrays.insert(path, chunks);
        }
        Ok(FileStore::counted(location, documents, arrays, self.left_out, inventories))
    }
}

/// Converts the metadata document of an array in the first file to that of the joined array.
fn describe(document: &mut zarrox::json::Map, joined: &Joined, dimension: &str) {
    document.insert("shape".to_owned(), joined.shape.clone().into());
    let chunks = Json::from(joined.chunk_shape.clone());
    let grid = json!({"name": "regular", "configuration": {"chunk_shape": chunks}});
    document.insert("chunk_grid".to_owned(), grid);
    if !joined.is_new {
        return;
    }
    let own = document.get("dimension_names").and_then(|names| names.as_array().cloned());
    let own = own.unwrap_or_else(|| vec![Json::Null; joined.shape.len().saturating_sub(1)]);
    let names: Vec<Json> = std::iter::once(Json::from(dimension)).chain(own).collect();
    document.insert("dimension_names".to_owned(), Json::Array(names));
    if let Some(Json::Array(codecs)) = document.get_mut("codecs") {
        codecs.retain(|codec| codec.get("name").and_then(Json::as_str) != Some("transpose"));
    }
}

/// The chunks of an array that is equal in all files.
#[derive(Debug)]
struct Same {
    sources: Arc<Sources>,
    source: usize,
    path: String,
    ndim: usize,
    stored: Stored,
}

impl Chunks for Same {
    fn ndim(&self) -> usize {
        self.ndim
    }

    fn any(&self) -> bool {
        self.stored.any()
    }

    fn size(&self, chunk: &[u64]) -> Option<u64> {
        self.stored.size(chunk)
    }

    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        self.stored.each(visit)
    }

    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        if self.size(chunk).is_none() {
            return Ok(None);
        }
        self.sources.array(self.source, &self.path)?.raw().read(chunk)
    }
}
