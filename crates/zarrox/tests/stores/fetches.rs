//! Tests of the amount of data that is read: the cost follows the selection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ndarray::Array2;
use zarrox::codecs::{Blosc, Bytes, Crc32c, Sharding, Zstd};
use zarrox::stores::{
    Call, Key, MemoryStore, Operation, Store, StoreError, StoreErrorKind, Value, Version, Wrapper, provided,
    wrapped,
};
use zarrox::{AccessOptions, ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};

/// The numbers of requests to a store.
#[derive(Debug, Default)]
struct Counts {
    opened: AtomicU64,
    reads: AtomicU64,
    bytes: AtomicU64,
    listings: AtomicU64,
    /// The number of the range from which on reading fails; 0 for never.
    broken_from: AtomicU64,
    /// True if values have versions.
    has_versions: AtomicBool,
}

impl Counts {
    /// Returns the numbers of opened values, read ranges and read bytes since the last call.
    fn take(&self) -> (u64, u64, u64) {
        let [opened, reads, bytes] =
            [&self.opened, &self.reads, &self.bytes].map(|n| n.swap(0, Ordering::Relaxed));
        (opened, reads, bytes)
    }
}

/// A store that counts, and whose values are not in memory.
#[derive(Clone, Debug)]
struct Counting(Arc<MemoryStore>, Arc<Counts>);

struct CountedValue(Box<dyn Value>, Arc<Counts>);

impl Value for CountedValue {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let read = self.1.reads.fetch_add(1, Ordering::Relaxed);
        if (1..=read).contains(&self.1.broken_from.load(Ordering::Relaxed)) {
            return Err(StoreError::new(StoreErrorKind::Unreachable, "reading", "the network is down"));
        }
        self.1.bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.0.read_at(offset, buffer)
    }

    fn version(&self) -> Option<Version> {
        // For values in memory, the bytes themselves are compared.
        self.0
            .as_bytes()
            .filter(|_| self.1.has_versions.load(Ordering::Relaxed))
            .map(|bytes| bytes.to_vec().into())
    }
}

impl Wrapper for Counting {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let counter = match call.operation() {
            Operation::Open => &self.1.opened,
            Operation::ListPrefix | Operation::ListDir => &self.1.listings,
            _ => return run(),
        };
        counter.fetch_add(1, Ordering::Relaxed);
        run()
    }

    fn value(&self, _: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        Box::new(CountedValue(value, self.1.clone()))
    }
}

impl Store for Counting {
    // All other operations open values.
    wrapped!(location capabilities open_with put);
    wrapped!(erase_if erase_prefix list_prefix list_dir lock);
    provided!(directory get get_ranges get_many size contains rename_prefix flush stamp hold exchange);
}

fn counted() -> (Arc<dyn Store>, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    (Arc::new(Counting(Arc::default(), counts.clone())), counts)
}

#[test]
fn opening_a_node_only_reads_its_documents() {
    for (format, opened) in [
        (Format::V3, 1),
        // The document of v3 is requested first, and the document of a group is not requested.
        (Format::V2, 3),
        (Format::V1, 5),
    ] {
        let (store, counts) = counted();
        let path = if format == Format::V1 { "" } else { "a/b" };
        let options = OpenOptions::new();
        options
            .create_array((store.clone(), path))
            .format(format)
            .shape([4])
            .data_type(DataType::Int8)
            .create()
            .unwrap();
        counts.take();
        options.open((store.clone(), path)).unwrap();
        assert_eq!(counts.take().0, opened, "{format}");
    }
    // Once a hierarchy is known to have an entry document, nodes are not looked for in other formats.
    for format in [Format::V3Draft, Format::V3Experimental] {
        let (store, counts) = counted();
        let root = OpenOptions::new().format(format).create_group((store, "")).unwrap();
        root.create_array("b").shape([4]).data_type(DataType::Int8).create().unwrap();
        counts.take();
        root.open("b").unwrap();
        assert_eq!(counts.take().0, 1, "{format}: the document of an array");
    }
}

#[test]
fn one_inner_chunk_of_a_shard_costs_two_range_reads() {
    let (store, counts) = counted();
    let builder =
        OpenOptions::new().create_array((store, "a")).shape([512, 512]).chunks([8, 8]).shards([512, 512]);
    let array = builder.data_type(DataType::UInt16).no_compressor().create().unwrap();
    let values = Array2::from_shape_fn((512, 512), |(i, j)| u16::try_from((i * 512 + j) % 65521).unwrap());
    array.write(.., &values).unwrap();
    counts.take();
    let read = array.read::<Array2<u16>>(s![8..16, 16..24]).unwrap();
    assert_eq!(read, values.slice(ndarray::s![8..16, 16..24]));
    let index = 64 * 64 * 16 + 4;
    assert_eq!(counts.take(), (1, 2, index + 128), "the index, and the inner chunk");
    // The inner chunks of a column are scattered in the shard. The inner chunks of a row are adjacent, and are
    // read at once.
    array.read::<ArrayD<u16>>(s![.., 0]).unwrap();
    assert_eq!(counts.take().1, 1 + 64);
    array.read::<ArrayD<u16>>(s![0, ..]).unwrap();
    assert_eq!(counts.take().1, 1 + 1);
}

#[test]
fn an_index_is_read_once_as_long_as_the_shard_is_the_same() {
    let (store, counts) = counted();
    counts.has_versions.store(true, Ordering::Relaxed);
    let builder =
        OpenOptions::new().create_array((store, "a")).shape([512, 512]).chunks([8, 8]).shards([512, 512]);
    let array = builder.data_type(DataType::UInt16).no_compressor().create().unwrap();
    array.write(.., 1_u16).unwrap();
    let other = array.clone();
    counts.take();
    assert_eq!(array.read::<ArrayD<u16>>(s![9, 16]).unwrap().sum(), 1);
    assert_eq!(counts.take().1, 2, "the index, and the inner chunk");
    assert_eq!(other.read::<ArrayD<u16>>(s![96..104, 80..88]).unwrap().sum(), 64);
    assert_eq!(counts.take(), (1, 1, 128), "the inner chunk alone");
    other.write(s![..10, ..], 0_u16).unwrap();
    other.write(s![9, 16], 5_u16).unwrap();
    counts.take();
    assert_eq!(array.read::<ArrayD<u16>>(s![..20, 16]).unwrap().sum(), 5 + 10);
    assert!(counts.take().1 >= 3, "another shard has another index");
}

/// In a directory, the index of a replaced file is not used if the file is old enough to be distinguished from
/// later files.
#[test]
fn an_index_of_a_file_that_was_replaced_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let builder = zarrox::create_array(directory.path().join("a.zarr")).shape([64]).chunks([4]).shards([64]);
    let array = builder.data_type(DataType::UInt16).create().unwrap();
    let file = directory.path().join("a.zarr/c/0");
    for round in 1..5_u16 {
        // Different inner chunks are written in each round, so that their ranges in the shard differ.
        array.write(.., 0_u16).unwrap();
        array.write(s![i64::from(round) * 4 - 4..,], round).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        for _ in 0..2 {
            assert_eq!(array.read::<ArrayD<u16>>(s![-1]).unwrap().sum(), round);
            assert_eq!(array.read::<ArrayD<u16>>(s![i64::from(round) * 4 - 4]).unwrap().sum(), round);
        }
    }
}

#[test]
fn one_element_of_a_large_blosc_chunk_decodes_one_block() {
    let (store, counts) = counted();
    let builder = OpenOptions::new().create_array((store, "a")).shape([4096, 4096]).chunks([4096, 4096]);
    let codec = Blosc::lz4().block_size(256 << 10);
    let array = builder.data_type(DataType::Float32).compressor(codec).create().unwrap();
    let values =
        Array2::from_shape_fn((4096, 4096), |(i, j)| f32::from(u16::try_from(i * j % 1000).unwrap()));
    array.write(.., &values).unwrap();
    let stored = array.raw().read(&[0, 0]).unwrap().unwrap().len() as u64;
    counts.take();
    assert_eq!(array.read::<ArrayD<f32>>(s![1234, 567]).unwrap().sum(), values[(1234, 567)]);
    let (opened, reads, bytes) = counts.take();
    assert_eq!((opened, reads), (1, 2), "the header with the places of the blocks, and a block");
    assert!(bytes < 4096 + stored / 16, "{bytes} of {stored}");
    assert_eq!(
        array.read::<ndarray::Array<f32, _>>(s![100..110, 5..20]).unwrap(),
        values.slice(ndarray::s![100..110, 5..20])
    );
    assert!(counts.take().2 < stored / 16);
}

#[test]
fn checksums_need_the_whole_object_unless_they_are_skipped() {
    let (store, counts) = counted();
    let builder = OpenOptions::new().create_array((store, "a")).shape([1000, 1000]).chunks([1000, 1000]);
    let codecs = [Bytes::little().into(), Crc32c::default().into()];
    let array = builder.data_type(DataType::Int16).codecs(codecs).create().unwrap();
    let values = Array2::from_shape_fn((1000, 1000), |(i, j)| i16::try_from((i + j) % 999).unwrap());
    array.write(.., &values).unwrap();
    let trusting = array.with_options(&AccessOptions::new().verify_checksums(false));
    counts.take();
    assert_eq!(array.read::<ArrayD<i16>>(s![5, 7]).unwrap().sum(), 12);
    assert_eq!(counts.take().2, 2_000_004);
    assert_eq!(trusting.read::<ArrayD<i16>>(s![5, 7]).unwrap().sum(), 12);
    assert_eq!(counts.take(), (1, 1, 2), "the element alone");
    assert_eq!(trusting.read::<ndarray::Array<i16, _>>(..).unwrap(), values);
    let mut stored = array.raw().read(&[0, 0]).unwrap().unwrap().to_vec();
    stored[100] ^= 1;
    array.raw().write(&[0, 0], &stored).unwrap();
    assert_eq!(array.read::<ArrayD<i16>>(s![5, 7]).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(trusting.read::<ArrayD<i16>>(s![5, 7]).unwrap().sum(), 12);
    assert_eq!(trusting.read::<ArrayD<i16>>(s![0, 50]).unwrap().sum(), 51);
}

#[test]
fn nested_shards_are_read_by_ranges_too() {
    let (store, counts) = counted();
    let inner = Sharding::new([2, 2], [Bytes::little().into(), Zstd::level(1).into()]);
    let builder = OpenOptions::new().create_array((store, "a")).shape([64, 64]).chunks([64, 64]);
    let chain = [Sharding::new([16, 16], [inner.into()]).into()];
    let array = builder.data_type(DataType::Int32).codecs(chain).create().unwrap();
    let values = Array2::from_shape_fn((64, 64), |(i, j)| i32::try_from(i * 64 + j).unwrap());
    array.write(.., &values).unwrap();
    counts.take();
    assert_eq!(array.read::<ArrayD<i32>>(s![33, 2]).unwrap().sum(), values[(33, 2)]);
    let (opened, reads, bytes) = counts.take();
    assert_eq!((opened, reads), (1, 3), "two indices and a chunk");
    assert!(bytes < 16 * 16 + 4 + 64 * 16 + 4 + 64, "{bytes}");
}

#[test]
fn raw_chunks_are_read_in_the_parts_that_are_needed() {
    let (store, counts) = counted();
    let builder = OpenOptions::new().create_array((store, "a")).shape([1024, 64, 64]).chunks([1024, 64, 64]);
    let array = builder.data_type(DataType::UInt8).no_compressor().create().unwrap();
    array.write(.., 3_u8).unwrap();
    counts.take();
    assert_eq!(array.read::<ArrayD<u8>>(s![..;512]).unwrap().shape(), [2, 64, 64]);
    assert_eq!(counts.take(), (1, 2, 2 * 4096), "two planes");
    assert_eq!(array.read::<ArrayD<u8>>(s![7, 8, 9]).unwrap().sum(), 3);
    assert_eq!(counts.take(), (1, 1, 1), "one element");
}

#[test]
fn points_in_a_shard_cost_its_index_and_neighbours_together() {
    let (store, counts) = counted();
    let options = OpenOptions::new();
    let array = options.create_array((store, "a")).shape([64, 64]).chunks([8, 8]).shards([64, 64]);
    let array = array.data_type(DataType::UInt16).no_compressor().create().unwrap();
    array.write(.., Array2::from_shape_fn((64, 64), |(y, x)| u16::try_from(y * 64 + x).unwrap())).unwrap();
    counts.take();
    // The points are in three inner chunks: two are adjacent in the shard, and one is distant.
    let points = array.vindex(([60, 1, 0, 7, 1], [60, 9, 3, 0, 9])).read::<ArrayD<u16>>().unwrap();
    assert_eq!(points.as_slice().unwrap(), [60 * 64 + 60, 73, 3, 448, 73]);
    let (opened, reads, bytes) = counts.take();
    assert_eq!((opened, reads), (1, 3), "the index, two inner chunks together, and one");
    assert_eq!(bytes, 64 * 16 + 4 + 3 * 128);
    // Adjacent inner chunks take one read, however many of their elements are selected.
    let rows: Vec<i64> = (0..640).map(|n| n * 7 % 64).collect();
    let columns: Vec<i64> = (0..640).map(|n| n * 11 % 64).collect();
    array.oindex((&rows, &columns)).read::<ArrayD<u16>>().unwrap();
    let (opened, reads, bytes) = counts.take();
    assert_eq!((opened, reads, bytes), (1, 2, 64 * 16 + 4 + 64 * 128));
}

#[test]
fn few_points_of_a_large_raw_chunk_are_read_alone() {
    let (store, counts) = counted();
    let array = OpenOptions::new().create_array((store, "a")).shape([1000, 1000]).chunks([1000, 1000]);
    let array = array.data_type(DataType::UInt32).no_compressor().create().unwrap();
    array
        .write(.., Array2::from_shape_fn((1000, 1000), |(y, x)| u32::try_from(y * 1000 + x).unwrap()))
        .unwrap();
    counts.take();
    let points = array.vindex(([999, 0, 500, 0], [999, 0, 500, 1])).read::<ArrayD<u32>>().unwrap();
    assert_eq!(points.as_slice().unwrap(), [999_999, 0, 500_500, 1]);
    assert_eq!(counts.take(), (1, 3, 16));
}

#[test]
fn few_elements_of_an_endless_grid_cost_few_chunks() {
    let (store, counts) = counted();
    let builder = OpenOptions::new().create_array((store, "a")).shape([1 << 40, 1 << 40]).chunks([1, 1]);
    let array = builder.data_type(DataType::UInt8).create().unwrap();
    array.write(s![1_i64 << 39, 5], 9_u8).unwrap();
    counts.take();
    let read = array.read::<ArrayD<u8>>(s![0..;1_i64 << 39, 5..7]).unwrap();
    assert_eq!(read, ndarray::arr2(&[[0, 0], [9, 0]]).into_dyn());
    assert_eq!(counts.take().0, 4);
    assert_eq!(counts.listings.load(Ordering::Relaxed), 1, "only creating has listed");
}

#[test]
fn writing_whole_chunks_reads_nothing() {
    let (store, counts) = counted();
    let builder = OpenOptions::new().create_array((store, "a")).shape([10, 8]).chunks([4, 4]);
    let array = builder.data_type(DataType::Int32).create().unwrap();
    counts.take();
    array.write(s![..8, ..], Array2::<i32>::ones((8, 8))).unwrap();
    array.write(s![4..8, ..], Array2::<i32>::ones((4, 8))).unwrap();
    assert_eq!(counts.take(), (0, 0, 0));
    array.write(s![8.., ..], Array2::<i32>::ones((2, 8))).unwrap();
    assert_eq!(counts.take(), (2, 0, 0), "chunks at the edge are merged: others may append behind it");
    array.write(s![3..8, ..], Array2::<i32>::ones((5, 8))).unwrap();
    assert_eq!(counts.take().0, 2, "one row of chunks is merged");
}

/// Large chunks are read and decompressed as a stream, so that the stored bytes are never in memory as a whole.
#[test]
fn large_compressed_chunks_are_streamed() {
    let (store, counts) = counted();
    let builder =
        OpenOptions::new().threads(1).create_array((store, "a")).shape([1000, 1000]).chunks([800, 800]);
    let array =
        builder.data_type(DataType::UInt32).compressor(Zstd::level(1).checksum(true)).create().unwrap();
    // Noise, which cannot be compressed.
    let noise = |(i, j)| u32::try_from((i * 1000 + j) % 65521).unwrap().wrapping_mul(2_654_435_761);
    let values = Array2::from_shape_fn((1000, 1000), noise);
    array.write(.., &values).unwrap();
    counts.take();
    assert_eq!(array.read::<ArrayD<u32>>(..).unwrap(), values.clone().into_dyn());
    let (opened, reads, bytes) = counts.take();
    assert!(opened == 4 && reads > 10 && bytes / reads <= 64 << 10, "{opened} {reads} {bytes}");
    let part = values.slice(ndarray::s![100..900;7, ..;-3]).to_owned().into_dyn();
    assert_eq!(array.read::<ArrayD<u32>>(s![100..900;7, ..;-3]).unwrap(), part);
    let stored = array.raw().read(&[0, 0]).unwrap().unwrap();
    for damaged in [&stored[..stored.len() - 1], &stored[..1000], &[], &[&stored[..], b"x"].concat()] {
        array.raw().write(&[0, 0], damaged).unwrap();
        let error = array.read::<ArrayD<u32>>(s![5, 5]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("chunk [0, 0]") && error.to_string().contains("zstd"), "{error}");
    }
    array.raw().write(&[0, 0], &stored).unwrap();
    counts.take();
    counts.broken_from.store(2, Ordering::Relaxed);
    let error = array.read::<ArrayD<u32>>(s![5, 5]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable, "not taken for damage: {error}");
    assert!(error.to_string().contains("the network is down"), "{error}");
}
