//! Selects parts of files: ranges along dimensions, by index or by coordinate value.

mod range;
mod selected;

use std::collections::BTreeMap;
use std::sync::Arc;

use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, MemoryStore, Payload, Store};
use zarrox::{Array, Error, ErrorKind, Format, Node, OpenOptions, Result};

use crate::chunks::{Chunks, EncodedOnRead};
use crate::import::concat::sources::root_of;
use crate::inventory::{Inventories, Inventory, counted};
use crate::store::FileStore;
use range::Span;
use selected::{Selected, SelectedChunks};

pub use range::Select;

/// Returns the part of a file within the given ranges of its dimensions.
pub(crate) fn apply(store: &FileStore, selects: &[Select]) -> Result<FileStore> {
    let root = root_of(store)?;
    let mut part =
        Part { selects, arrays: BTreeMap::new(), documents: MemoryStore::new(), spans: BTreeMap::new() };
    let mut groups = Vec::new();
    match &root {
        Node::Array(array) => {
            part.arrays.insert(String::new(), array.clone());
        }
        Node::Group(group) => {
            groups.push((String::new(), group.attributes().clone()));
            group.visit(&mut |path, node| {
                match node {
                    Ok(Node::Array(array)) => {
                        part.arrays.insert(path.to_owned(), array.clone());
                    }
                    Ok(Node::Group(group)) => groups.push((path.to_owned(), group.attributes().clone())),
                    Err(error) => return Err(error.clone().at(format!("/{path}"))),
                }
                Ok(())
            })?;
        }
    }
    part.check()?;
    let mut inventories = Inventories::default();
    let options = OpenOptions::new().format(Format::V3);
    for (path, attributes) in groups {
        inventories.add(&path, Inventory::group(counted(&attributes)));
        options.create_group((Arc::new(part.documents.clone()), &path))?.set_attributes(attributes)?;
    }
    let mut chunks = BTreeMap::new();
    for (path, array) in part.arrays.clone() {
        let spans = part.spans_of(&path, &array)?;
        let shape: Vec<u64> = spans.iter().map(|span| span.length).collect();
        inventories.add(&path, Inventory::array(counted(array.attributes()), &shape));
        chunks.insert(path.clone(), part.array(&path, array, spans, &options)?);
    }
    let (location, left_out) = (store.location(), store.left_out().to_vec());
    Ok(FileStore::counted(location, part.documents, chunks, left_out, inventories))
}

/// The part of a file under construction.
struct Part<'a> {
    selects: &'a [Select],
    arrays: BTreeMap<String, Array>,
    documents: MemoryStore,
    /// The ranges found so far, by coordinate path and selection, so that each coordinate is read only once.
    spans: BTreeMap<(String, usize), Span>,
}

impl Part<'_> {
    /// Checks that the dimensions exist.
    fn check(&self) -> Result<()> {
        let names: std::collections::BTreeSet<&str> = self
            .arrays
            .values()
            .flat_map(|array| array.dimension_names().unwrap_or_default().iter().flatten())
            .map(String::as_str)
            .collect();
        for (number, select) in self.selects.iter().enumerate() {
            if self.selects.iter().take(number).any(|other| other.dimension() == select.dimension()) {
                let message =
                    format!("the dimension '{}' is selected twice; give one range", select.dimension());
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
            if !names.contains(select.dimension()) {
                let known: Vec<&str> = names.iter().copied().collect();
                let message = format!(
                    "no array has the dimension '{}'; the dimensions are {}",
                    select.dimension(),
                    known.join(", ")
                );
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        }
        Ok(())
    }

    /// Returns the range along each dimension of an array.
    fn spans_of(&mut self, path: &str, array: &Array) -> Result<Vec<Span>> {
        let mut spans: Vec<Span> = array.shape().iter().map(|&length| Span::whole(length)).collect();
        let names = array.dimension_names().unwrap_or_default().to_vec();
        for (number, select) in self.selects.iter().enumerate() {
            for (dim, name) in names.iter().enumerate() {
                let Some(span) = spans.get_mut(dim).filter(|_| name.as_deref() == Some(select.dimension()))
                else {
                    continue;
                };
                *span = self.span(number, select, path, span.length)?;
            }
        }
        Ok(spans)
    }

    /// Returns the range along a dimension of length `length` of the array at `path`.
    fn span(&mut self, number: usize, select: &Select, path: &str, length: u64) -> Result<Span> {
        if !select.needs_coordinate() {
            return select.of_indices(length);
        }
        let coordinate = self.coordinate(path, select.dimension());
        let Some((coordinate, array)) = coordinate else {
            let message = format!(
                "'/{path}' has no coordinate for the dimension '{0}'; select indices, such as {0}=0:10",
                select.dimension()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        };
        if array.shape() != [length] {
            let message = format!(
                "'/{path}' has {length} elements along the dimension '{}', but its coordinate has the shape {:?}",
                select.dimension(),
                array.shape()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        if let Some(span) = self.spans.get(&(coordinate.clone(), number)) {
            return Ok(*span);
        }
        let span = select.of_labels(&array).map_err(|error| error.at(format!("'/{coordinate}'")))?;
        self.spans.insert((coordinate, number), span);
        Ok(span)
    }

    /// Returns the coordinate for a dimension of an array, from the array's group or one of its ancestors.
    fn coordinate(&self, path: &str, dimension: &str) -> Option<(String, Array)> {
        let mut above = path;
        while !above.is_empty() {
            above = above.rsplit_once('/').map_or("", |(above, _)| above);
            let place = if above.is_empty() { dimension.to_owned() } else { format!("{above}/{dimension}") };
            if let Some(array) = self.arrays.get(&place).filter(|array| array.ndim() == 1) {
                return Some((place, array.clone()));
            }
        }
        None
    }

    /// Creates the metadata document of an array and the object that reads its chunks.
    fn array(
        &self,
        path: &str,
        array: Array,
        spans: Vec<Span>,
        options: &OpenOptions,
    ) -> Result<Box<dyn Chunks>> {
        let selected = Arc::new(Selected::new(array, spans)?);
        let mut document = selected.array.document()?;
        document.insert("shape".to_owned(), selected.shape().into());
        let chunks = Json::from(selected.chunk_shape.clone());
        let grid = json!({"name": "regular", "configuration": {"chunk_shape": chunks}});
        document.insert("chunk_grid".to_owned(), grid);
        let key = if path.is_empty() { "zarr.json".to_owned() } else { format!("{path}/zarr.json") };
        let bytes = Json::Object(document).to_string().into_bytes();
        self.documents.put(&Key::new(key)?, Payload::from(bytes.as_slice()), Condition::Always)?;
        let made = options.open((Arc::new(self.documents.clone()), path))?.into_array()?;
        let encoded = EncodedOnRead::new(&made, Box::new(Arc::clone(&selected)))?;
        Ok(Box::new(SelectedChunks { selected, encoded }))
    }
}
