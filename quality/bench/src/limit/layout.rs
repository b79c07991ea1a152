//! The layout of an array: its files, and how they store elements. It is requested from the library before the time is measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use zarrox::json::Json;
use zarrox::stores::MemoryStore;
use zarrox::{Array, prelude::*};
use zarrox::{OpenOptions, Selection};

use super::codecs::Codecs;
use crate::failure::Failure;
use crate::region::Region;

/// An array in a directory.
pub(super) struct Layout {
    pub(super) shape: Vec<usize>,
    /// The shape of a stored file.
    stored: Vec<usize>,
    /// The shape of a leaf, which is encoded as a whole: an inner chunk if there are shards.
    pub(super) leaf: Vec<usize>,
    pub(super) is_sharded: bool,
    /// The size of an element, and the size of the words in it whose byte order is reversed: 1 if no byte order is reversed.
    pub(super) width: usize,
    pub(super) word: usize,
    /// The axes in storage order, the slowest first.
    pub(super) order: Vec<usize>,
    pub(super) codecs: Codecs,
    pub(super) array: Array,
    path: PathBuf,
}

impl Layout {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let array = OpenOptions::new().open(path)?.into_array()?;
        let (shape, leaf) = (sizes(array.shape()), sizes(&array.unit_shape()));
        let (is_sharded, stored) = (array.shard_shape().is_some(), array.shard_shape().map(sizes));
        let (width, mut codecs) = (array.data_type().size(), Vec::new());
        for spec in array.codecs() {
            codecs.push((spec.name, serde_json::to_value(Json::Object(spec.configuration))?));
        }
        if let ([(_, sharding)], true) = (codecs.as_slice(), is_sharded) {
            codecs = inner_codecs(sharding)?;
        }
        let (mut order, mut word, mut all) = ((0..leaf.len()).collect(), 1, Codecs::default());
        for (name, configuration) in &codecs {
            match name.as_str() {
                "transpose" => order = serde_json::from_value(configuration["order"].clone())?,
                "bytes" => word = if configuration["endian"] == "big" { width } else { 1 },
                name => all.add(name, configuration)?,
            }
        }
        let (stored, path) = (stored.unwrap_or_else(|| leaf.clone()), path.to_owned());
        Ok(Self { shape, stored, leaf, is_sharded, width, word, order, codecs: all, array, path })
    }

    /// Returns the strides of a leaf's elements along each axis, in storage order.
    pub(super) fn leaf_strides(&self) -> Vec<usize> {
        let stored: Vec<usize> = self.order.iter().map(|&axis| self.leaf[axis]).collect();
        let mut by_axis = vec![0; stored.len()];
        strides(&stored, self.width).into_iter().zip(&self.order).for_each(|(it, &axis)| by_axis[axis] = it);
        by_axis
    }

    /// Returns the size of a leaf in bytes.
    pub(super) fn leaf_size(&self) -> usize {
        self.leaf.iter().product::<usize>() * self.width
    }

    /// Returns the number of leaves of a file along each axis.
    pub(super) fn leaves(&self) -> Vec<usize> {
        self.stored.iter().zip(&self.leaf).map(|(stored, leaf)| stored / leaf).collect()
    }

    pub(super) fn file(&self, chunk: &[usize]) -> Result<PathBuf, Failure> {
        let chunk: Vec<u64> = chunk.iter().map(|&index| index as u64).collect();
        Ok(self.path.join(self.array.raw().key(&chunk)?))
    }

    /// Returns the box that is covered by blocks of chunks.
    pub(super) fn of_blocks(&self, blocks: &Region) -> Region {
        let axes = blocks.iter().zip(&self.stored).zip(&self.shape);
        axes.map(|((it, chunk), &end)| (it.start * chunk).min(end)..(it.end * chunk).min(end)).collect()
    }

    /// Returns the flat indices of a selection: the library selects from an array whose elements are their own indices.
    pub(super) fn indices(&self, selection: &Selection) -> Result<Vec<usize>, Failure> {
        let count = self.shape.iter().product::<usize>() as u32;
        let indices = ndarray::ArrayD::from_shape_vec(self.shape.as_slice(), (0..count).collect())?;
        let array = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let array = array.shape(self.array.shape()).chunks(self.array.unit_shape()).no_compressor();
        let array = array.data_type(DataType::UInt32).create()?;
        array.write(.., &DynArray::from_values(DataType::UInt32, &indices)?)?;
        let selected = array.read::<DynArray>(selection)?.into_bytes();
        Ok(selected.as_chunks().0.iter().map(|index| u32::from_ne_bytes(*index) as usize).collect())
    }
}

/// Returns the codecs inside shards whose index is at the end, with a checksum.
fn inner_codecs(sharding: &Value) -> Result<Vec<(String, Value)>, Failure> {
    let codecs = |member: &str| sharding[member].as_array().cloned().unwrap_or_default();
    let name = |codec: &Value| codec["name"].as_str().unwrap_or_default().to_owned();
    let is_known = codecs("index_codecs").last().is_some_and(|codec| name(codec) == "crc32c");
    if !is_known || sharding["index_location"] == "start" {
        return Err(Failure::Unsupported("such an index of shards".to_owned()));
    }
    Ok(codecs("codecs").iter().map(|codec| (name(codec), codec["configuration"].clone())).collect())
}

fn sizes(lengths: &[u64]) -> Vec<usize> {
    lengths.iter().map(|&length| length as usize).collect()
}

/// Returns the strides of row-major elements of this size.
pub(super) fn strides(shape: &[usize], width: usize) -> Vec<usize> {
    let mut strides = vec![width; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}
