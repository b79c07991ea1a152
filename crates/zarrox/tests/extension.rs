//! Data types and codecs of the user's own, through the public registry.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array2, arr1};
use serde_json::json;
use zarrox::codec::{
    ArrayToArray, ChunkSpec, Codec, CodecDef, CodecError, CodecKind, same_from_v2, same_to_v2,
};
use zarrox::data_type::{Endian, Extension, Family, Mode, Storage, TypeString};
use zarrox::json::{Json, Map};
use zarrox::prelude::*;
use zarrox::stores::{Key, MemoryStore, Store};
use zarrox::strided::{View, ViewMut};
use zarrox::{CodecSpec, Error, ErrorKind, FillValue, OpenOptions, Registry, Result};

/// A share in percent, stored as one byte; its fill value is a string.
#[derive(Debug)]
struct Percent;

fn percent() -> DataType {
    let name = "example.percent".to_owned();
    DataType::Extension(Box::new(Extension { name, configuration: Map::new(), storage: Storage::Uint(1) }))
}

impl Family for Percent {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == "example.percent").then(|| Ok(percent()))
    }

    fn parse_v2(&self, _: &TypeString<'_>) -> Option<Result<DataType>> {
        None
    }

    fn examples(&self) -> Vec<DataType> {
        vec![percent()]
    }

    fn has(&self, data_type: &DataType) -> bool {
        *data_type == percent()
    }

    fn to_v2(&self, _: &DataType, _: Endian) -> Result<Json> {
        Err(Error::new(ErrorKind::Unsupported, "Zarr v2 has no percentages"))
    }

    fn fill_from_json(&self, _: &DataType, json: &Json, _: Mode) -> Result<FillValue> {
        let text = json.as_str().and_then(|text| text.strip_suffix('%'));
        let value: Option<u8> = text.and_then(|text| text.parse().ok());
        let value =
            value.ok_or_else(|| Error::new(ErrorKind::InvalidMetadata, "fill_value is not like \"5%\""))?;
        Ok(FillValue::new([value]))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        self.format(data_type, fill.as_bytes()).into()
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        format!("{}%", element[0])
    }
}

#[test]
fn a_data_type_of_the_users_own_works_like_any_other() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let known = OpenOptions::new().registry(zarrox::codecs::registry().with_data_types(Percent));
    let builder = known.create_array_in(store.clone(), "a").shape([3]).data_type(percent());
    let array = builder.fill_value_json(json!("7%")).create().unwrap();
    array.write_dyn(s![1], &DynArray::new(percent(), vec![], vec![50]).unwrap()).unwrap();
    let reopened = known.open_in(store.clone(), "a").unwrap().into_array().unwrap();
    assert_eq!(reopened.data_type(), &percent());
    let read = reopened.read_dyn(..).unwrap();
    let text: Vec<_> = read.as_bytes().iter().map(|b| reopened.format_element(&[*b]).unwrap()).collect();
    assert_eq!(text, ["7%", "50%", "7%"]);
    assert_eq!(reopened.read::<u8>(..).unwrap(), arr1(&[7, 50, 7]).into_dyn(), "as its storage");
    assert_eq!(reopened.read::<i8>(..).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    let unknown = OpenOptions::new().open_in(store, "a").unwrap_err();
    assert!(unknown.to_string().contains("unknown data type \"example.percent\""), "{unknown}");
    let v2 = known.create_array_in(Arc::new(MemoryStore::new()), "a").format(Format::V2).shape([3]);
    assert_eq!(v2.data_type(percent()).create().unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn two_takers_of_a_name_are_an_error() {
    let registry = Registry::new().with_data_types(Percent).with_data_types(Percent);
    let error = registry.data_type_from_v3(&json!("example.percent")).unwrap_err();
    assert!(error.to_string().contains("more than one"), "{error}");
    let registry = zarrox::codecs::registry().with_codec(&ADD_ONE).with_codec(&ADD_ONE);
    assert!(registry.codec("example.add_one").unwrap_err().to_string().contains("two"));
}

/// Adds one to every byte: an array→array codec that changes values, so that chunks are decoded whole.
#[derive(Debug)]
struct AddOne(ChunkSpec);

static ADD_ONE: CodecDef = CodecDef {
    name: "example.add_one",
    aliases: &[],
    v2_id: Some("add_one"),
    kind: CodecKind::ArrayToArray,
    create: |_, context| Ok(Codec::ArrayToArray(Box::new(AddOne(context.chunk.clone())))),
    from_v2: same_from_v2,
    to_v2: same_to_v2,
};

impl ArrayToArray for AddOne {
    fn configuration(&self) -> Map {
        Map::new()
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.0
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> std::result::Result<(), CodecError> {
        let (decoded, encoded) = (decoded.as_slice().unwrap(), encoded.as_slice_mut().unwrap());
        encoded.iter_mut().zip(decoded).for_each(|(to, from)| *to = from.wrapping_add(1));
        Ok(())
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> std::result::Result<(), CodecError> {
        let (encoded, decoded) = (encoded.as_slice().unwrap(), decoded.as_slice_mut().unwrap());
        decoded.iter_mut().zip(encoded).for_each(|(to, from)| *to = from.wrapping_sub(1));
        Ok(())
    }
}

#[test]
fn an_array_codec_of_the_users_own_works_in_every_place() {
    let add: CodecSpec = CodecSpec::new("example.add_one", Json::Null);
    let transpose: CodecSpec = Transpose::order([1, 0]).into();
    let bytes: CodecSpec = Bytes::little().into();
    let chains = [
        vec![add.clone(), bytes.clone()],
        vec![transpose.clone(), add.clone(), bytes.clone(), Zstd::level(1).into()],
        vec![add.clone(), transpose, add.clone(), bytes.clone(), Crc32c::default().into()],
        vec![Sharding::new([2, 3], [add.clone(), bytes.clone()]).into()],
        vec![add, Sharding::new([2, 3], [bytes]).into(), Gzip::level(1).into()],
    ];
    let known = OpenOptions::new().registry(zarrox::codecs::registry().with_codec(&ADD_ONE));
    for chain in chains {
        let builder = known.create_array_in(Arc::new(MemoryStore::new()), "a").shape([7, 8]).chunks([4, 6]);
        let array = builder.data_type(DataType::Int32).codecs(chain.clone()).fill_value(3).create().unwrap();
        let mut model = Array2::from_elem((7, 8), 3);
        array.write(s![..;2, 1..7;3], &ndarray::arr0(9)).unwrap();
        model.slice_mut(ndarray::s![..;2, 1..7;3]).fill(9);
        array.write(s![3, ..], &arr1(&[1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
        model.row_mut(3).assign(&arr1(&[1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(array.read::<i32>(..).unwrap(), model.clone().into_dyn(), "{chain:?}");
        let part = model.slice(ndarray::s![1..;2, ..;-3]).to_owned().into_dyn();
        assert_eq!(array.read::<i32>(s![1..;2, ..;-3]).unwrap(), part, "{chain:?}");
    }
}

#[test]
fn a_v2_filter_of_the_users_own_is_named_by_its_id() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let known =
        OpenOptions::new().format(Format::V2).registry(zarrox::codecs::registry().with_codec(&ADD_ONE));
    let builder = known.create_array_in(store.clone(), "a").shape([2]).data_type(DataType::UInt8);
    let chain = [CodecSpec::new("example.add_one", Json::Null), CodecSpec::new("bytes", Json::Null)];
    builder.codecs(chain).create().unwrap().write(.., &arr1(&[4_u8, 5])).unwrap();
    let zarray = store.get(&Key::new("a/.zarray").unwrap()).unwrap().unwrap();
    let zarray: Json = serde_json::from_slice(&zarray).unwrap();
    assert_eq!(zarray["filters"], json!([{"id": "add_one"}]));
    assert_eq!(store.get(&Key::new("a/0").unwrap()).unwrap().unwrap(), [5, 6].as_slice());
    let array = known.open_in(store, "a").unwrap().into_array().unwrap();
    assert_eq!(array.read::<u8>(..).unwrap(), arr1(&[4, 5]).into_dyn());
}
