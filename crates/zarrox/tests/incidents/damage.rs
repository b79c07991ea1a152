//! Failing stores, and damaged chunks.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::Array1;
use zarrox::codecs::{Blosc, Crc32c, Zstd};
use zarrox::stores::{Key, MemoryStore, Operation, Store, StoreErrorKind, StoreExt};
use zarrox::{Array, prelude::*};
use zarrox::{ArrayBuilder, CodecSpec, ErrorKind, MissingChunks, OpenOptions};
use zarrox_testkit::faults::{Fault, FaultyStore};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn numbers(store: &Arc<dyn Store>, with: impl FnOnce(ArrayBuilder) -> ArrayBuilder) -> Array {
    let builder =
        OpenOptions::new().create_array((store.clone(), "a")).data_type(DataType::Int32).shape([64]);
    let array = with(builder).create().unwrap();
    array.write(.., Array1::from_iter(1..65)).unwrap();
    array
}

#[test]
fn incident_04_failures_are_not_read_as_fill_values() {
    let store = FaultyStore::new(memory());
    let array = numbers(&(Arc::new(store.clone()) as Arc<dyn Store>), |array| array.chunks([16]));
    let kinds = [
        (StoreErrorKind::Forbidden, ErrorKind::Forbidden),
        (StoreErrorKind::Unreachable, ErrorKind::Unreachable),
        (StoreErrorKind::TimedOut, ErrorKind::TimedOut),
    ];
    for (cause, kind) in kinds {
        // Reading also fails with the policy that missing chunks are fill values: these chunks are not missing.
        store.inject(Fault::fail(cause).key("a/c/2"));
        let error = array.read::<ArrayD<i32>>(..).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        store.heal();
        store.inject(Fault::fail(cause).on(&[Operation::Open, Operation::Get]));
        assert_eq!(OpenOptions::new().open((Arc::new(store.clone()), "a")).unwrap_err().kind(), kind);
        store.heal();
    }
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 65 * 32);
}

#[test]
fn incident_05_a_deleted_chunk_is_named() {
    let store = memory();
    numbers(&store, |array| array.chunks([16]));
    store.erase(&Key::new("a/c/2").unwrap()).unwrap();
    let strict = OpenOptions::new().missing_chunks(MissingChunks::Error);
    let array = strict.open((store, "a")).unwrap().into_array().unwrap();
    let error = array.read::<ArrayD<i32>>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("a/c/2"), "{error}");
    assert_eq!(array.read::<ArrayD<i32>>(..32).unwrap().sum(), 33 * 16);
}

#[test]
fn incident_15_damaged_headers_and_indexes_are_errors() {
    let compressors: [CodecSpec; 3] = [Blosc::zstd().into(), Zstd::level(1).into(), Crc32c::default().into()];
    for compressor in compressors {
        let name = compressor.name.clone();
        check_damage(&name, |array| array.chunks([16]).compressor(compressor));
    }
    check_damage("sharding", |array| array.chunks([4]).shards([32]).compressor(Zstd::level(1)));
}

/// Damages every byte of a stored object, and truncates it to every length: reading fails, or returns the usual number of
/// elements.
fn check_damage(name: &str, with: impl FnOnce(ArrayBuilder) -> ArrayBuilder) {
    let store = memory();
    let array = numbers(&store, with);
    let good = array.raw().read(&[1]).unwrap().unwrap();
    let mut refused = 0;
    for at in 0..good.len() {
        for byte in [0, 0x7f, 0xff, good[at] ^ 1] {
            let mut bad = good.to_vec();
            bad[at] = byte;
            refused += u32::from(is_refused(&array, &bad, &format!("{name}: byte {at} is {byte}")));
        }
        assert!(
            is_refused(&array, &good[..at], &format!("{name}: {at} bytes")),
            "{name}: {at} bytes are enough"
        );
    }
    assert!(refused > 0, "{name}");
    array.raw().write(&[1], &good).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 65 * 32, "{name}");
}

fn is_refused(array: &Array, stored: &[u8], what: &str) -> bool {
    array.raw().write(&[1], stored).unwrap();
    match array.read::<ArrayD<i32>>(..) {
        Ok(values) => {
            assert_eq!(values.len(), 64, "{what}");
            false
        }
        Err(error) => {
            let known = [ErrorKind::Corrupt, ErrorKind::Unsupported, ErrorKind::LimitExceeded];
            assert!(known.contains(&error.kind()), "{what}: {error}");
            true
        }
    }
}
