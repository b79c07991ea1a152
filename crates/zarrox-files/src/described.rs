//! Metadata documents of arrays whose chunks are encoded on each read.

use std::sync::Arc;

use zarrox::json::{Json, Map};
use zarrox::stores::MemoryStore;
use zarrox::{DataType, Format, OpenOptions, Result};

use crate::chunks::{Chunks, Elements, EncodedOnRead};

/// The properties from which the metadata document of an array is created.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) path: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) data_type: DataType,
    pub(crate) attributes: Map,
    /// The dimension names; empty if there are none.
    pub(crate) names: Vec<Option<String>>,
    /// The fill value, as written in the metadata document.
    pub(crate) fill: Option<Json>,
}

impl Described {
    /// Creates the metadata document of an array with the given elements, and the object that reads its chunks. The
    /// chunks are uncompressed if `is_plain` is true.
    pub(crate) fn create(
        self,
        documents: &MemoryStore,
        elements: Box<dyn Elements>,
        is_plain: bool,
    ) -> Result<Box<dyn Chunks>> {
        let options = OpenOptions::new().format(Format::V3);
        let builder = options.create_array((Arc::new(documents.clone()), &self.path));
        let builder = builder.shape(self.shape).chunks(elements.chunk_shape()).data_type(self.data_type);
        let builder = builder.attributes(self.attributes);
        let builder =
            if self.names.is_empty() { builder } else { builder.optional_dimension_names(self.names) };
        let builder = self.fill.into_iter().fold(builder, |builder, fill| builder.fill_value_json(fill));
        let array = if is_plain { builder.no_compressor() } else { builder }.create()?;
        Ok(Box::new(EncodedOnRead::new(&array, elements)?))
    }
}

/// Creates the root group, which contains all arrays.
pub(crate) fn root(attributes: Map) -> Result<MemoryStore> {
    let documents = MemoryStore::new();
    let options = OpenOptions::new().format(Format::V3);
    options.create_group((Arc::new(documents.clone()), ""))?.set_attributes(attributes)?;
    Ok(documents)
}
