//! Opening and listing nodes: the work on their documents.

use std::hint::black_box;
use std::sync::Arc;

use zarrox::codecs::{Blosc, Zstd};
use zarrox::prelude::*;
use zarrox::stores::MemoryStore;

use crate::Work;
use crate::arrays::options;

pub(crate) fn open_v2() -> Work {
    open(Format::V2)
}

pub(crate) fn open_v3() -> Work {
    open(Format::V3)
}

/// Prepares opening an array repeatedly, each time like a program that only opens this array.
fn open(format: Format) -> Work {
    let store = Arc::new(MemoryStore::new());
    let array = options().format(format).create_array((store.clone(), ""));
    array.shape([1000; 2]).data_type(DataType::Float32).compressor(Blosc::lz4()).create().unwrap();
    Box::new(move || {
        for _ in 0..50 {
            black_box(options().open((store.clone(), "")).unwrap().into_array().unwrap());
        }
    })
}

/// Prepares a listing of arrays and groups of v3.
pub(crate) fn list() -> Work {
    list_of(Format::V3)
}

/// Prepares a listing of arrays and groups of v2.
pub(crate) fn list_v2() -> Work {
    list_of(Format::V2)
}

/// Prepares a listing of the arrays and groups below a group.
fn list_of(format: Format) -> Work {
    let group = options().format(format).create_group((Arc::new(MemoryStore::new()), "")).unwrap();
    for number in 0..50 {
        group.create_group(format!("group-{number}")).unwrap();
        let array = group.create_array(format!("array-{number}"));
        array.shape([1000; 2]).data_type(DataType::Float32).compressor(Zstd::level(3)).create().unwrap();
    }
    Box::new(move || drop(black_box(group.children().unwrap())))
}
