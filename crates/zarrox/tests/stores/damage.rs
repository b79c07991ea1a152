//! Bad input: a clear error with the location, no panics, no lost data, and bounded memory.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::sync::Arc;

use ndarray::{Array1, arr1};
use zarrox::codecs::Zstd;
use zarrox::json::{Json, json};
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{Error, ErrorKind, OpenOptions};
use zarrox_testkit::errors::assert_error;

fn stored() -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().create_array((store.clone(), "t/a")).shape([8]).chunks([4]);
    let array =
        builder.data_type(DataType::Int32).compressor(Zstd::level(1).checksum(true)).create().unwrap();
    array.write(.., Array1::from_iter(0..8)).unwrap();
    (store, array)
}

fn with_metadata(document: &Json) -> zarrox::Result<Array> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let key = Key::new(if document["zarr_format"] == 2 { "a/.zarray" } else { "a/zarr.json" }).unwrap();
    store.set(&key, document.to_string().as_bytes(), Default::default()).unwrap();
    OpenOptions::new().open((store, "a"))?.into_array()
}

fn v3(changes: &[(&str, Json)]) -> Json {
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    for (pointer, value) in changes {
        *at(&mut document, pointer) = value.clone();
    }
    document
}

/// Returns the member at a JSON pointer: `/codecs/0/name`.
fn at<'a>(document: &'a mut Json, pointer: &str) -> &'a mut Json {
    pointer.split('/').skip(1).fold(document, |json, name| match json {
        Json::Array(list) => &mut list[name.parse::<usize>().unwrap()],
        object => &mut object[name],
    })
}

fn assert_says(error: &Error, kind: ErrorKind, parts: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "'{part}' is missing in: {error}");
    }
}

#[test]
fn a_damaged_chunk_is_named_and_other_chunks_stay_readable() {
    let (_, array) = stored();
    let good = array.raw().read(&[1]).unwrap().unwrap();
    for length in 0..good.len() {
        array.raw().write(&[1], &good[..length]).unwrap();
        let error = array.read::<ArrayD<i32>>(..).unwrap_err();
        let places = ["array '/t/a' in memory", "chunk [1] (key 't/a/c/1')", "zstd"];
        assert_says(&error, ErrorKind::Corrupt, &places);
    }
    for bit in 0..good.len() * 8 {
        let mut flipped = good.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        array.raw().write(&[1], &flipped).unwrap();
        // The checksum covers everything except a few bits of the header that have no effect.
        if let Ok(values) = array.read::<ArrayD<i32>>(..) {
            assert_eq!(values, Array1::from_iter(0..8).into_dyn(), "bit {bit}");
        }
    }
    let extended = [&good[..], b"x"].concat();
    array.raw().write(&[1], &extended).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(array.read::<ArrayD<i32>>(s![..4]).unwrap(), arr1(&[0, 1, 2, 3]).into_dyn());
    assert_eq!(
        array.write(s![5], 1).unwrap_err().kind(),
        ErrorKind::Corrupt,
        "no merge into a damaged chunk"
    );
    assert_eq!(array.raw().read(&[1]).unwrap().unwrap(), extended, "the stored chunk is unchanged");
    array.write(s![4..], 1).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![4..]).unwrap().sum(), 4, "writing it whole repairs it");
}

#[test]
fn an_error_gives_its_place_as_values() {
    let (store, array) = stored();
    store.set(&Key::new("t/a/c/1").unwrap(), b"no frame of Zstandard", Default::default()).unwrap();
    let error = array.read::<ArrayD<i32>>(..).unwrap_err();
    assert_eq!((error.path(), error.chunk(), error.key()), (Some("/t/a"), Some(&[1][..]), Some("t/a/c/1")));
    assert_eq!(error.codec(), Some("zstd"));
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(error.to_string().ends_with(&format!("codec 'zstd': {source}")), "{error}");
    let missing = OpenOptions::new().open((store, "t/b")).unwrap_err();
    assert_eq!((missing.kind(), missing.path(), missing.chunk()), (ErrorKind::NotFound, Some("/t/b"), None));
    let converted = std::io::Error::from(missing);
    assert_eq!(converted.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn an_error_in_a_shard_gives_the_inner_chunk_as_a_value() {
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([4, 8]);
    let array = builder.chunks([2, 2]).shards([4, 4]).data_type(DataType::Int32).create().unwrap();
    array.write(.., 7).unwrap();
    let raw = array.raw();
    let inner = raw.inner_chunks(&[0, 1]).unwrap().unwrap();
    let place = inner.into_iter().find(|chunk| chunk.index == [1, 2]).and_then(|chunk| chunk.place).unwrap();
    let mut shard = raw.read(&[0, 1]).unwrap().unwrap().to_vec();
    shard[usize::try_from(place.0).unwrap()] ^= 255;
    raw.write(&[0, 1], &shard).unwrap();
    let error = array.read::<ArrayD<i32>>(..).unwrap_err();
    assert_eq!((error.chunk(), error.inner_chunk()), (Some(&[0, 1][..]), Some(&[1, 0][..])), "{error}");
    assert_eq!(array.read::<ArrayD<i32>>(s![.., ..4]).unwrap().sum(), 16 * 7);
}

#[test]
fn a_chunk_of_the_wrong_length_is_damaged() {
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([4]).chunks([4]);
    let array = builder.data_type(DataType::Int32).no_compressor().create().unwrap();
    for length in [0, 1, 15, 17, 32] {
        array.raw().write(&[0], &vec![0; length]).unwrap();
        let error = array.read::<ArrayD<i32>>(s![0]).unwrap_err();
        assert_says(&error, ErrorKind::Corrupt, &["chunk [0]", &length.to_string(), "16"]);
    }
}

#[test]
fn a_damaged_shard_is_an_error_and_never_read_out_of_bounds() {
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([8]).chunks([2]);
    let builder = builder.shards([8]).data_type(DataType::Int32).compressor(Zstd::level(1).checksum(true));
    let array = builder.create().unwrap();
    let values = Array1::from_iter(1..9);
    array.write(.., &values).unwrap();
    let good = array.raw().read(&[0]).unwrap().unwrap();
    for length in 0..good.len() {
        array.raw().write(&[0], &good[..length]).unwrap();
        assert_says(
            &array.read::<ArrayD<i32>>(..).unwrap_err(),
            ErrorKind::Corrupt,
            &["chunk [0]", "sharding_indexed"],
        );
    }
    // The entries of these indexes point outside of the shard, overflow, or point into the index.
    // Their checksums are valid.
    let index = good.len() - 4 * 16 - 4;
    for (offset, length) in
        [(0, u64::MAX - 1), (u64::MAX - 1, 4), (1 << 40, 16), (0, 1 << 50), (index as u64, 68), (u64::MAX, 3)]
    {
        let mut broken = good.to_vec();
        broken[index..index + 8].copy_from_slice(&offset.to_le_bytes());
        broken[index + 8..index + 16].copy_from_slice(&length.to_le_bytes());
        let checksum = crc32c(&broken[index..index + 64]);
        broken[index + 64..].copy_from_slice(&checksum.to_le_bytes());
        array.raw().write(&[0], &broken).unwrap();
        let error = array.read::<ArrayD<i32>>(..).unwrap_err();
        assert_says(&error, ErrorKind::Corrupt, &["chunk [0]"]);
        assert_eq!(
            array.read::<ArrayD<i32>>(s![2..]).unwrap(),
            arr1(&[3, 4, 5, 6, 7, 8]).into_dyn(),
            "the others are whole"
        );
    }
}

/// Computes the CRC bit by bit from its definition, independently of the codec.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn metadata_that_breaks_the_rules_is_refused_by_name() {
    let cases = [
        (v3(&[("/shape", json!("4"))]), "shape"),
        (v3(&[("/shape", json!([4.5]))]), "shape"),
        (v3(&[("/data_type", json!("float33"))]), "float33"),
        (v3(&[("/chunk_grid/configuration/chunk_shape", json!([0]))]), "dimension 0"),
        (v3(&[("/codecs/0/name", json!("nosuch"))]), "nosuch"),
        (v3(&[("/codecs", json!([]))]), "bytes"),
        (
            v3(&[("/codecs", json!([{"name": "zstd", "configuration": {"level": 1, "checksum": false}}]))]),
            "zstd",
        ),
        (v3(&[("/codecs/0/configuration/endian", json!("middle"))]), "endian"),
        (v3(&[("/fill_value", json!([]))]), "fill_value"),
    ];
    for (document, named) in cases {
        let error = with_metadata(&document).unwrap_err();
        assert!(error.to_string().contains(named), "{document}: {error}");
        assert!(error.to_string().contains("/a"), "the node is named: {error}");
    }
}

#[test]
fn huge_numbers_take_no_memory() {
    // An array of the largest shape: opening it, describing it and reading a few elements takes no
    // time.
    let huge = json!([i64::MAX, i64::MAX]);
    let array = with_metadata(&v3(&[
        ("/shape", huge.clone()),
        ("/chunk_grid/configuration/chunk_shape", json!([1 << 20, 1 << 20])),
    ]))
    .unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![-2.., 5..7]).unwrap().shape(), [2, 2]);
    assert_eq!(array.info().unwrap().bytes, None);
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(
        array.read::<ArrayD<i32>>(s![..1 << 20, ..1 << 24]).unwrap_err().kind(),
        ErrorKind::OutOfMemory
    );
    // A chunk that does not fit into memory.
    let shape = [("/shape", huge.clone()), ("/chunk_grid/configuration/chunk_shape", huge)];
    assert_eq!(with_metadata(&v3(&shape)).unwrap_err().kind(), ErrorKind::LimitExceeded);
    // A chunk that fits into the address space, and few stored bytes that declare this size.
    let bomb = with_metadata(&v3(&[
        ("/shape", json!([1_u64 << 40])),
        ("/chunk_grid/configuration/chunk_shape", json!([1_u64 << 40])),
        ("/codecs", json!(["bytes", {"name": "gzip", "configuration": {"level": 1}}])),
    ]))
    .unwrap();
    bomb.raw().write(&[0], &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 3, 0]).unwrap();
    assert_eq!(bomb.read::<ArrayD<i32>>(s![0]).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(bomb.write(s![0], 1).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(
        bomb.write(.., 1).unwrap_err().kind(),
        ErrorKind::LimitExceeded,
        "one value for a whole chunk"
    );
    assert_eq!(bomb.raw().decode::<ArrayD<i32>>(&[0]).unwrap_err().kind(), ErrorKind::LimitExceeded);
    // A shape that exceeds the range of positions.
    let array = with_metadata(&v3(&[("/shape", json!([u64::MAX]))])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(s![0]).unwrap_err().kind(), ErrorKind::InvalidSelection);
}

#[test]
fn more_dimensions_than_can_be_recursed_over_are_refused() {
    let ones = json!(vec![1; 100_000]);
    let v3 = v3(&[("/shape", ones.clone()), ("/chunk_grid/configuration/chunk_shape", ones.clone())]);
    let v2 = json!({"zarr_format": 2, "shape": ones, "chunks": ones, "dtype": "<i4", "compressor": null,
        "fill_value": 0, "order": "C", "filters": null});
    for document in [v3, v2] {
        assert_says(&with_metadata(&document).unwrap_err(), ErrorKind::Unsupported, &["100000 dimensions"]);
    }
}

#[test]
fn an_index_whose_entries_overlap_does_not_multiply_the_stored_bytes() {
    let options = OpenOptions::new().chunk_limit(1 << 20);
    let builder = options.create_array((Arc::new(MemoryStore::new()), "a")).shape([1024]).chunks([1]);
    let builder = builder.shards([1024]).data_type(DataType::UInt8).compressor(Zstd::level(1));
    let array = builder.create().unwrap();
    let mut shard = vec![0; 10_000];
    let entry = [0_u64.to_le_bytes(), 10_000_u64.to_le_bytes()].concat();
    let index = entry.repeat(1024);
    shard.extend_from_slice(&index);
    shard.extend(crc32c(&index).to_le_bytes());
    array.raw().write(&[0], &shard).unwrap();
    for error in [array.write(s![5], 1_u8).unwrap_err(), array.read::<ArrayD<u8>>(..).unwrap_err()] {
        assert_says(&error, ErrorKind::Corrupt, &["chunk [0]", "sharding_indexed", "overlap"]);
    }
}

#[test]
fn a_damaged_chunk_at_the_edge_is_repaired_by_writing_all_of_it_that_is_inside() {
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([6]).chunks([4]);
    let array = builder.data_type(DataType::Int32).compressor(Zstd::level(1)).create().unwrap();
    array.raw().write(&[1], b"nonsense").unwrap();
    assert_eq!(array.write(s![4], 1).unwrap_err().kind(), ErrorKind::Corrupt);
    array.write(s![4..], 1).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), arr1(&[0, 0, 0, 0, 1, 1]).into_dyn());
}

#[test]
fn attributes_that_could_not_be_read_again_are_not_written() {
    let (store, mut array) = stored();
    let deep = (0..200).fold(Json::Null, |value, _| json!([value]));
    let error = array.update_attributes(|map| drop(map.insert("deep".to_owned(), deep.clone()))).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["nested"]);
    assert!(array.attributes().is_empty());
    assert!(OpenOptions::new().open((store, "t/a")).is_ok());
}

#[test]
fn opening_a_directory_without_a_node_is_not_found() {
    let directory = tempfile::tempdir().unwrap();
    let error = zarrox::open(directory.path()).unwrap_err();
    let path = directory.path().to_str().unwrap();
    assert_says(&error, ErrorKind::NotFound, &["no Zarr array or group", path, "v3, v2"]);
    assert_eq!(zarrox::open(directory.path().join("nothing")).unwrap_err().kind(), ErrorKind::NotFound);
    let file = directory.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert_error(zarrox::open(&file), ErrorKind::Unreachable, "is not a directory");
    assert_error(zarrox::create_group(&file), ErrorKind::Unreachable, "is not a directory");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "text");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_the_hierarchy() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = zarrox::create_group(&path).unwrap();
    let builder = root.create_array("a").shape([2]).data_type(DataType::UInt8).no_compressor();
    builder.create().unwrap().write(.., 1_u8).unwrap();
    std::fs::write(directory.path().join("secret"), [7, 7]).unwrap();
    std::fs::remove_file(path.join("a/c/0")).unwrap();
    std::os::unix::fs::symlink(directory.path().join("secret"), path.join("a/c/0")).unwrap();
    let array = root.open("a").unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap_err().kind(), ErrorKind::Forbidden);
    array.write(.., 2_u8).unwrap();
    assert_eq!(
        std::fs::read(directory.path().join("secret")).unwrap(),
        [7, 7],
        "the link is replaced, not followed"
    );
}

/// Mounts a small file system for a test, and unmounts it at the end.
#[cfg(target_os = "linux")]
struct Mount(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl Mount {
    /// Returns `None`, and reports the test as skipped, where mounting is not permitted.
    fn tmpfs(options: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mount = ["-t", "tmpfs", "-o", options, "tmpfs", directory.path().to_str().unwrap()];
        if std::process::Command::new("mount").args(mount).status().is_ok_and(|status| status.success()) {
            return Some(Self(directory));
        }
        zarrox_testkit::needs::missing("mounting", "run the tests as root");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.path()).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing_that_was_stored() {
    let Some(mount) = Mount::tmpfs("size=1m") else { return };
    let path = mount.path().join("a.zarr");
    let builder = zarrox::create_array(&path).shape([100, 100_000]).chunks([1, 100_000]);
    let mut array = builder.data_type(DataType::UInt8).no_compressor().create().unwrap();
    array.write(s![0, ..], 1_u8).unwrap();
    let error = array.write(.., 2_u8).unwrap_err();
    assert_says(&error, ErrorKind::StorageFull, &["array '/'", "chunk ["]);
    let error = array.append(ndarray::Array2::<u8>::ones((50, 100_000)), 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let array = zarrox::open_array(&path).unwrap();
    assert_eq!(array.shape(), [100, 100_000], "the failed append has not changed the shape");
    let first = array.read::<ArrayD<u8>>(s![0, ..]).unwrap();
    assert!(
        first.iter().all(|&v| v == 1) || first.iter().all(|&v| v == 2),
        "a chunk is the old one or the new one"
    );
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap().len(), 10_000_000, "every chunk is whole");
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_file_system_can_be_read_and_says_that_it_is_one() {
    let Some(mount) = Mount::tmpfs("size=4m") else { return };
    let path = mount.path().join("a.zarr");
    let array = zarrox::create_array(&path).shape([4]).data_type(DataType::Int32).create().unwrap();
    array.write(.., 5).unwrap();
    let remount = ["-o", "remount,ro", mount.path().to_str().unwrap()];
    assert!(std::process::Command::new("mount").args(remount).status().unwrap().success());
    let mut array = zarrox::open_array(&path).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 20);
    assert_eq!(array.write(.., 6).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(array.resize([2]).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(array.shape(), [4]);
    assert_eq!(zarrox::create_group(mount.path().join("new.zarr")).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 20);
}
