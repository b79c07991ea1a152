//! Arrays read as their stored bytes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array2, arr1};
use zarrox::codecs::Delta;
use zarrox::codecs::Zlib;
use zarrox::data_type::Endian;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{AccessOptions, ArrayBuilder, Consolidated, ErrorKind, OpenOptions, Upkeep};
use zarrox::{prelude::*, s};

const FILL: f32 = -1.5;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn builder(store: Arc<dyn Store>, format: Format, endian: Endian) -> ArrayBuilder {
    let builder = OpenOptions::new().create_array((store, "a")).format(format).endian(endian);
    builder
        .shape([5, 7])
        .chunks([2, 3])
        .data_type(DataType::Float32)
        .fill_value(FILL)
        .compressor(Zlib::level(1))
}

fn values() -> Array2<f32> {
    Array2::from_shape_fn((5, 7), |(y, x)| f32::from(u8::try_from(10 * y + x).unwrap()))
}

/// Returns the bytes of numbers in a byte order.
fn bytes_of<'a>(values: impl IntoIterator<Item = &'a f32>, endian: Endian) -> Vec<u8> {
    let of = |value: &f32| match endian {
        Endian::Little => value.to_le_bytes(),
        Endian::Big => value.to_be_bytes(),
    };
    values.into_iter().flat_map(of).collect()
}

#[test]
fn bytes_are_those_of_the_byte_order() {
    for format in [Format::V2, Format::V3] {
        for endian in [Endian::Little, Endian::Big] {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let array = builder(memory(), format, endian).order(order).create().unwrap();
                // One chunk is left out, and one is written in part.
                array.write(s![..4, ..5], values().slice(ndarray::s![..4, ..5])).unwrap();
                let expected = array.read::<ArrayD<f32>>(..).unwrap();
                let stored = array.raw().as_bytes().unwrap();
                assert_eq!(*stored.data_type(), DataType::RawBits(4));
                assert_eq!(
                    stored.read::<DynArray>(..).unwrap().as_bytes(),
                    bytes_of(&expected, endian),
                    "{format}"
                );
                assert_eq!(stored.fill_bytes().as_bytes(), bytes_of([&FILL], endian));
            }
        }
    }
}

#[test]
fn numbers_are_read_after_their_bytes_were_written() {
    for endian in [Endian::Little, Endian::Big] {
        let array = builder(memory(), Format::V2, endian).create().unwrap();
        let stored = array.raw().as_bytes().unwrap();
        let part = values().slice_move(ndarray::s![1..4, 2..7]);
        let raw = DynArray::new(DataType::RawBits(4), vec![3, 5], bytes_of(&part, endian)).unwrap();
        stored.write(s![1..4, 2..7], &raw).unwrap();
        let mut expected = Array2::from_elem((5, 7), FILL);
        expected.slice_mut(ndarray::s![1..4, 2..7]).assign(&part);
        assert_eq!(array.read::<ndarray::Array<f32, _>>(..).unwrap(), expected);
        // A chunk that only contains fill values is not stored any more, as with numbers.
        let fill = DynArray::new(DataType::RawBits(4), vec![3, 5], bytes_of(&[FILL; 15], endian)).unwrap();
        stored.write(s![1..4, 2..7], &fill).unwrap();
        assert_eq!(array.info().unwrap().chunks_stored, 0);
    }
}

#[test]
fn an_array_of_bytes_grows_and_shrinks() {
    let store = memory();
    let mut stored =
        builder(store.clone(), Format::V2, Endian::Big).create().unwrap().raw().as_bytes().unwrap();
    let raw = DynArray::new(DataType::RawBits(4), vec![1, 7], bytes_of(&[2.0; 7], Endian::Big)).unwrap();
    stored.append(&raw, 0).unwrap();
    stored.resize([6, 2]).unwrap();
    stored.resize([6, 3]).unwrap();
    let array = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(*array.data_type(), DataType::Float32);
    assert_eq!(array.read::<ArrayD<f32>>(s![5]).unwrap(), arr1(&[2.0, 2.0, FILL]).into_dyn());
}

#[test]
fn there_are_none_where_numbers_are_changed_or_chunks_are_divided() {
    let delta = builder(memory(), Format::V2, Endian::Big).filter(Delta::new(">f4")).create().unwrap();
    assert!(delta.raw().as_bytes().is_none());
    let sharded = builder(memory(), Format::V3, Endian::Big).shards([4, 6]).create().unwrap();
    assert!(sharded.raw().as_bytes().is_none());
    let builder = OpenOptions::new().create_array((memory(), "a")).shape([3]);
    let text = DataType::string();
    assert!(builder.data_type(text).create().unwrap().raw().as_bytes().is_none());
}

#[test]
fn decoded_chunks_are_not_taken_for_each_other() {
    let array = builder(memory(), Format::V2, Endian::Big).create().unwrap();
    array.write(.., values()).unwrap();
    let array = array.with_options(&AccessOptions::new().chunk_cache(1 << 20));
    let stored = array.raw().as_bytes().unwrap();
    for _ in 0..2 {
        assert_eq!(array.read::<ndarray::Array<f32, _>>(..).unwrap(), values());
        assert_eq!(stored.read::<DynArray>(..).unwrap().as_bytes(), bytes_of(&values(), Endian::Big));
    }
}

#[test]
fn metadata_that_is_out_of_date_is_noticed() {
    let store = memory();
    let root = OpenOptions::new().format(Format::V2).create_group((store.clone(), "")).unwrap();
    builder(store.clone(), Format::V2, Endian::Big).create().unwrap().write(.., values()).unwrap();
    root.consolidate_metadata().unwrap();
    let open = || {
        let options = OpenOptions::new().consolidated(Consolidated::Require);
        let group = options.open((store.clone(), "")).unwrap().into_group().unwrap();
        group.open("a").unwrap().into_array().unwrap().raw().as_bytes().unwrap()
    };
    assert_eq!(open().read::<DynArray>(..).unwrap().as_bytes(), bytes_of(&values(), Endian::Big));
    let leaving = OpenOptions::new().consolidated_upkeep(Upkeep::Leave);
    leaving.open((store.clone(), "a")).unwrap().into_array().unwrap().resize([5, 8]).unwrap();
    assert_eq!(open().read::<DynArray>(..).unwrap_err().kind(), ErrorKind::InvalidMetadata);
}
