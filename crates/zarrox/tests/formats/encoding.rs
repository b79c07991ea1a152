//! Codecs with a unique encoding give the same bytes as other programs: the arrays of the corpus with only such codecs are
//! written again, and their chunks compared byte by byte.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zarrox::json::Json;
use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{Array, CodecSpec, OpenOptions};
use zarrox_testkit::corpus::directory;

use crate::corpus::files::{copy_below, expected, writers};

/// The codecs whose encoded bytes are determined by the values. A shard may have its chunks in any order, so it is included only
/// with a single chunk.
const FIXED: &[&str] = &[
    "bitround",
    "bytes",
    "cast_value",
    "crc32c",
    "numcodecs.adler32",
    "numcodecs.astype",
    "numcodecs.base64",
    "numcodecs.bitround",
    "numcodecs.categorize",
    "numcodecs.crc32",
    "numcodecs.crc32c",
    "numcodecs.delta",
    "numcodecs.fixedscaleoffset",
    "numcodecs.fletcher32",
    "numcodecs.jenkins_lookup3",
    "numcodecs.json2",
    "numcodecs.msgpack2",
    "numcodecs.packbits",
    "numcodecs.quantize",
    "numcodecs.shuffle",
    "numcodecs.vlen-array",
    "packbits",
    "reshape",
    "scale_offset",
    "sharding_indexed",
    "transpose",
    "v2_filter",
    "vlen-bytes",
    "vlen-utf8",
    "zarrs.optional",
    "zarrs.squeeze",
    "zarrs.vlen",
    "zarrs.vlen_v2",
];

#[test]
fn unique_encodings_give_the_same_bytes() {
    let mut compared: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    let options = OpenOptions::new().data_type_fallback(true);
    for (writer, hierarchy, nodes) in hierarchies() {
        let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
        copy_below("", &directory(&writer).join(&hierarchy), &*copy);
        for (path, _) in nodes.as_object().unwrap().iter().filter(|(_, node)| is_comparable(node)) {
            // `corpus.rs` tests arrays that cannot be opened.
            let node = options.open((copy.clone(), path));
            let Ok(array) = node.and_then(Node::into_array) else { continue };
            let codecs = names(&array.codecs());
            if !codecs.iter().all(|name| FIXED.contains(&name.as_str())) || !is_one_chunk(&array) {
                continue;
            }
            let place = format!("{writer}/{hierarchy}/{path}");
            match encode_again(&array) {
                Err(error) => problems.push(format!("{place}: {error}")),
                Ok(Err(difference)) => problems.push(format!("{place}: {difference}")),
                Ok(Ok(0)) => {}
                Ok(Ok(chunks)) => {
                    codecs.into_iter().for_each(|name| *compared.entry(name).or_default() += chunks);
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let known = zarrox::codecs::registry();
    let missed = FIXED.iter().filter(|name| known.codecs().iter().any(|def| def.name == **name));
    let missed: Vec<_> = missed.filter(|name| !compared.contains_key(**name)).collect();
    assert!(missed.is_empty(), "nothing of these codecs was compared: {missed:?}");
}

/// All hierarchies: their writers, names and nodes.
fn hierarchies() -> Vec<(String, String, Json)> {
    let of_writer = |writer: String| {
        let all = expected(&writer);
        all.into_iter().map(move |(name, nodes)| (writer.clone(), name, nodes))
    };
    writers().into_iter().flat_map(of_writer).collect()
}

/// Returns true if an array has the same bytes when its own writer writes it again. The padding of structures and the upper bits
/// of small integers are unspecified.
fn is_comparable(node: &Json) -> bool {
    let is_open = node.get("fields").is_some() || node["data_type"] == "int2" || node["data_type"] == "int4";
    node["kind"] == "array" && node["lossy"] != true && !is_open
}

/// Returns the names of codecs, including nested ones.
fn names(codecs: &[CodecSpec]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for codec in codecs {
        all.insert(codec.name.clone());
        codec.configuration.values().for_each(|value| names_within(value, &mut all));
    }
    all
}

/// Returns the names of the codecs in a member of a configuration, if it is a list of codecs.
fn names_within(value: &Json, all: &mut BTreeSet<String>) {
    for codec in value.as_array().into_iter().flatten() {
        if let Some(name) = codec["name"].as_str() {
            all.insert(name.to_owned());
            let members = codec["configuration"].as_object();
            members.into_iter().flatten().for_each(|(_, value)| names_within(value, all));
        }
    }
}

/// Returns true if a shard has a single chunk, or there are no shards.
fn is_one_chunk(array: &Array) -> bool {
    let codecs = array.codecs();
    let mut shards = codecs.iter().filter(|codec| codec.name == "sharding_indexed");
    shards.all(|shard| shard.configuration["chunk_shape"] == Json::from(array.chunk_grid().largest_chunk()))
}

/// Erases the chunks of an array in memory, and writes their elements again. Returns the number of compared chunks: those that
/// were stored, and lie completely inside the array.
fn encode_again(array: &Array) -> zarrox::Result<Result<usize, String>> {
    let all = array.read::<DynArray>(..)?;
    let mut stored = Vec::new();
    for chunk in whole_chunks(array) {
        stored.extend(array.raw().read(&chunk)?.map(|encoded| (chunk, encoded)));
    }
    for (chunk, _) in &stored {
        array.raw().erase(chunk)?;
    }
    array.write(.., &all)?;
    let mut compared = 0;
    for (chunk, expected) in stored {
        let Some(found) = array.raw().read(&chunk)? else { continue };
        if found != expected {
            return Ok(Err(format!("chunk {chunk:?}: {found:02x?} instead of {expected:02x?}")));
        }
        compared += 1;
    }
    Ok(Ok(compared))
}

/// The indices of all chunks that lie within the array.
fn whole_chunks(array: &Array) -> Vec<Vec<u64>> {
    let stored = array.chunk_grid().largest_chunk();
    let mut chunks = vec![Vec::new()];
    for (length, size) in array.shape().iter().zip(stored) {
        let indices = 0..length / (*size).max(1);
        let longer =
            |chunk: Vec<u64>| indices.clone().map(move |index| [chunk.as_slice(), &[index]].concat());
        chunks = chunks.into_iter().flat_map(longer).collect();
    }
    chunks
}
