//! The memory of a copy of large chunks. Memory is counted, so this test is a separate program.

use std::sync::Arc;

use zarrox::codecs::Zstd;
use zarrox::prelude::*;
use zarrox::stores::{MemoryStore, Store};
use zarrox_testkit::allocator::{Counting, MEASURING, taken};
use zarrox_tools::Copier;

#[global_allocator]
static ALLOCATOR: Counting = MEASURING;

#[test]
fn a_large_chunk_is_in_memory_once() {
    const CHUNK: isize = 64 << 20;
    let (source, copy): (Arc<dyn Store>, Arc<dyn Store>) =
        (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    let array =
        zarrox::OpenOptions::new().create_array((source.clone(), "")).shape([CHUNK.unsigned_abs() as u64]);
    let array =
        array.chunks([CHUNK.unsigned_abs() as u64]).data_type(DataType::UInt8).compressor(Zstd::level(1));
    array.create().unwrap().write(.., ndarray::Array1::from_elem(CHUNK.unsigned_abs(), 1_u8)).unwrap();
    let copier = Copier::new().no_compressor().memory(1 << 20);
    let copying = || drop(copier.plan((source, ""), (copy.clone(), "")).unwrap().run().unwrap());
    let (most, _) = taken(copying);
    // The store of the copy also has the chunk, without compression.
    assert!((2 * CHUNK..3 * CHUNK - CHUNK / 2).contains(&most), "{most} bytes");
}
