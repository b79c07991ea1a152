//! Data types and codecs of the user's own, through the public registry.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array2, arr1};
use zarrox::Strictness;
use zarrox::codec::{
    ArrayToArray, ArrayToBytes, BytesToBytes, ChunkSpec, Codec, CodecDef, CodecError, CodecKind, Elementwise,
    EncodeOptions, ReadRegion, Size,
};
use zarrox::codecs::{Bytes, Crc32c, Gzip, Sharding, Transpose, VlenUtf8, Zstd};
use zarrox::data_type::{Casting, Endian, Extension, Family, Number, Storage, TypeString};
use zarrox::json::{Json, Map, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::strided::{View, ViewMut};
use zarrox::{CodecSpec, Error, ErrorKind, FillValue, OpenOptions, Registry, Result};
use zarrox::{prelude::*, s};

/// A share in percent, stored as one byte; its fill value is a string.
#[derive(Debug)]
struct Percent;

fn percent() -> DataType {
    let name = "example.percent".to_owned();
    DataType::Extension(Box::new(Extension {
        name,
        configuration: Map::default(),
        storage: Storage::Uint(1),
    }))
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

    fn fill_from_json(&self, _: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
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
    let builder = known.create_array((store.clone(), "a")).shape([3]).data_type(percent());
    let array = builder.fill_value_json(json!("7%")).create().unwrap();
    array.write(s![1], DynArray::new(percent(), vec![], vec![50]).unwrap()).unwrap();
    let reopened = known.open((store.clone(), "a")).unwrap().into_array().unwrap();
    assert_eq!(reopened.data_type(), &percent());
    let read = reopened.read::<DynArray>(..).unwrap();
    let text: Vec<_> = read.as_bytes().iter().map(|b| reopened.format_element(&[*b]).unwrap()).collect();
    assert_eq!(text, ["7%", "50%", "7%"]);
    assert_eq!(reopened.read::<ArrayD<u8>>(..).unwrap(), arr1(&[7, 50, 7]).into_dyn(), "as its storage");
    assert_eq!(reopened.read::<ArrayD<i8>>(..).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    let unknown = OpenOptions::new().open((store, "a")).unwrap_err();
    assert!(unknown.to_string().contains("unknown data type \"example.percent\""), "{unknown}");
    let v2 = known.create_array((Arc::new(MemoryStore::new()), "a")).format(Format::V2).shape([3]);
    assert_eq!(v2.data_type(percent()).create().unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Sequences of the four letters of DNA, of any length.
#[derive(Debug)]
struct Sequences;

fn dna() -> DataType {
    let name = "example.dna".to_owned();
    DataType::Extension(Box::new(Extension {
        name,
        configuration: Map::default(),
        storage: Storage::Variable,
    }))
}

impl Family for Sequences {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == "example.dna").then(|| Ok(dna()))
    }

    fn parse_v2(&self, _: &TypeString<'_>) -> Option<Result<DataType>> {
        None
    }

    /// In v2, the codec determines the type of objects; here text with one more member.
    fn parse_object(&self, _: &Json, codec: &Map) -> Option<Result<DataType>> {
        (codec.get("id")? == "vlen-dna" || codec.contains_key("dna")).then(|| Ok(dna()))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![dna()]
    }

    fn has(&self, data_type: &DataType) -> bool {
        *data_type == dna()
    }

    fn to_v2(&self, _: &DataType, _: Endian) -> Result<Json> {
        Err(Error::new(ErrorKind::Unsupported, "no codec of v2 says that its elements are DNA"))
    }

    fn default_codec(&self, _: &DataType) -> Option<CodecSpec> {
        Some(VlenUtf8.into())
    }

    fn fill_from_json(&self, _: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
        let letters = json.as_str().filter(|text| text.chars().all(|letter| "ACGT".contains(letter)));
        let letters = letters
            .ok_or_else(|| Error::new(ErrorKind::InvalidMetadata, format!("fill_value {json} is not DNA")))?;
        Ok(FillValue::new(letters.as_bytes()))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        self.format(data_type, fill.as_bytes()).into()
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        String::from_utf8_lossy(element).into_owned()
    }
}

#[test]
fn a_type_of_variable_length_of_the_users_own() {
    let registry = zarrox::codecs::registry().with_data_types(Sequences);
    let known = OpenOptions::new().registry(registry.clone());
    for shards in [None, Some([4])] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let builder = known.create_array((store.clone(), "a")).shape([5]).chunks([2]).data_type(dna());
        let builder = match shards {
            Some(shards) => builder.shards(shards),
            None => builder,
        };
        let array = builder.fill_value_json(json!("TA")).create().unwrap();
        let written = DynArray::from_elements(dna(), vec![3], ["ACGT", "", "GATTACA"]).unwrap();
        array.write(s![1..4], &written).unwrap();
        let reopened = known.open((store.clone(), "a")).unwrap().into_array().unwrap();
        assert_eq!(reopened.data_type(), &dna());
        let read = reopened.read::<DynArray>(s![..;-1]).unwrap();
        let shown: Vec<_> = read.elements().map(|e| reopened.format_element(e).unwrap()).collect();
        assert_eq!(shown, ["TA", "GATTACA", "", "ACGT", "TA"]);
        assert_eq!(reopened.read::<DynArray>(s![1..4]).unwrap(), written);
        assert_eq!(read.to::<ArrayD<String>>().unwrap_err().kind(), ErrorKind::DataTypeMismatch);
        let unknown = OpenOptions::new().open((store, "a")).unwrap_err();
        assert!(unknown.to_string().contains("unknown data type \"example.dna\""), "{unknown}");
    }
    let refused = |format, fill| {
        let builder = known.create_array((Arc::new(MemoryStore::new()), "a")).format(format).shape([1]);
        builder.data_type(dna()).fill_value_json(fill).create().unwrap_err().to_string()
    };
    assert!(refused(Format::V3, json!("X")).contains("fill_value \"X\" is not DNA"));
    assert!(
        refused(Format::V2, json!("A")).contains("no codec of v2"),
        "{}",
        refused(Format::V2, json!("A"))
    );
    let object = |codec: Json| registry.object_type_from_v2(codec.as_object());
    assert_eq!(object(json!({"id": "vlen-dna"})).unwrap(), dna());
    let both = object(json!({"id": "vlen-utf8", "dna": true})).unwrap_err();
    assert!(both.to_string().contains("several registered"), "{both}");
}

/// Temperatures in hundredths of a degree, in both formats.
#[derive(Debug)]
struct Temperatures;

fn celsius() -> DataType {
    let name = "example.celsius".to_owned();
    DataType::Extension(Box::new(Extension { name, configuration: Map::default(), storage: Storage::Int(2) }))
}

impl Family for Temperatures {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == "example.celsius").then(|| Ok(celsius()))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        (dtype.kind == 'T' && dtype.rest == "2").then(|| Ok(celsius()))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![celsius()]
    }

    fn has(&self, data_type: &DataType) -> bool {
        *data_type == celsius()
    }

    fn to_v2(&self, _: &DataType, endian: Endian) -> Result<Json> {
        Ok(format!("{}T2", endian.character()).into())
    }

    fn fill_from_json(&self, _: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
        let hundredths = json.as_i64().and_then(|value| i16::try_from(value).ok());
        let hundredths =
            hundredths.ok_or_else(|| Error::new(ErrorKind::InvalidMetadata, "no temperature"))?;
        Ok(FillValue::new(hundredths.to_ne_bytes()))
    }

    fn fill_to_v3(&self, _: &DataType, fill: &FillValue) -> Json {
        i16::from_ne_bytes(fill.as_bytes().try_into().unwrap()).into()
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        format!("{}°", f64::from(i16::from_ne_bytes(element.try_into().unwrap())) / 100.0)
    }

    fn number(&self, _: &DataType, element: &[u8]) -> Option<Number> {
        Some(Number::Float(f64::from(i16::from_ne_bytes(element.try_into().ok()?)) / 100.0))
    }

    fn write_number(&self, _: &DataType, number: Number, element: &mut [u8]) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, as the trait wants it")]
        let hundredths = (number.to_f64() * 100.0).round() as i16;
        element.copy_from_slice(&hundredths.to_ne_bytes());
        true
    }
}

#[test]
fn a_field_can_be_of_a_type_of_the_users_own() {
    let registry = zarrox::codecs::registry().with_data_types(Temperatures);
    let known = OpenOptions::new().registry(registry.clone());
    let station = DataType::structure([("id", DataType::UInt8), ("air", celsius())]).unwrap();
    for (format, document) in [(Format::V2, "a/.zarray"), (Format::V3, "a/zarr.json")] {
        for endian in [Endian::Little, Endian::Big] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let builder = known.create_array((store.clone(), "a")).format(format).endian(endian);
            let builder =
                builder.shape([3]).data_type(station.clone()).fill_value_json(json!({"id": 7, "air": -1800}));
            builder.create().unwrap().field("air").slice(s![1]).write(ndarray::arr0(2150_i16)).unwrap();
            let array = known.open((store.clone(), "a")).unwrap().into_array().unwrap();
            assert_eq!(array.data_type(), &station);
            let read = array.read::<DynArray>(s![..2]).unwrap();
            let shown: Vec<_> = read.elements().map(|e| array.format_element(e).unwrap()).collect();
            assert_eq!(shown, ["(7, -18°)", "(7, 21.5°)"]);
            let air = read.field("air").unwrap().cast(&DataType::Float32, Casting::Exact, &registry).unwrap();
            assert_eq!(air.to::<ArrayD<f32>>().unwrap(), arr1(&[-18.0, 21.5]).into_dyn());
            let back = air.cast(&celsius(), Casting::Exact, &registry).unwrap();
            assert_eq!(back.to::<ArrayD<i16>>().unwrap(), arr1(&[-1800, 2150]).into_dyn());
            let stored = store.get(&Key::new(document).unwrap()).unwrap().unwrap();
            let name = if format == Format::V3 { "example.celsius" } else { "T2" };
            assert!(String::from_utf8_lossy(&stored).contains(name));
            let unknown = OpenOptions::new().open((store, "a")).unwrap_err();
            assert!(unknown.to_string().contains("field 'air': unknown data type"), "{unknown}");
        }
    }
}

#[test]
fn two_owners_of_a_type_are_an_error() {
    let registry = Registry::new().with_data_types(Percent).with_data_types(Percent);
    let error = registry.default_scalar(&percent()).unwrap_err();
    assert_eq!(error.to_string(), "several registered families have the data type 'example.percent'");
    let none = Registry::new().default_scalar(&percent()).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::Unsupported);
}

#[test]
fn two_takers_of_a_name_are_an_error() {
    let registry = Registry::new().with_data_types(Percent).with_data_types(Percent);
    let error = registry.data_type_from_v3(&json!("example.percent")).unwrap_err();
    assert!(error.to_string().contains("several registered"), "{error}");
    let registry = zarrox::codecs::registry().with_codec(&ADD_ONE).with_codec(&ADD_ONE);
    assert!(registry.codec("example.add_one").unwrap_err().to_string().contains("two"));
}

/// Adds one to every byte: an array→array codec that changes values, so that chunks are decoded whole.
#[derive(Debug)]
struct AddOne(ChunkSpec);

static ADD_ONE: CodecDef = CodecDef::new("example.add_one", CodecKind::ArrayToArray, |_, context| {
    Ok(Codec::ArrayToArray(Box::new(AddOne(context.chunk.clone()))))
})
.v2_id("add_one");

impl ArrayToArray for AddOne {
    fn configuration(&self) -> Map {
        Map::default()
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
        let builder = known.create_array((Arc::new(MemoryStore::new()), "a")).shape([7, 8]).chunks([4, 6]);
        let array = builder.data_type(DataType::Int32).codecs(chain.clone()).fill_value(3).create().unwrap();
        let mut model = Array2::from_elem((7, 8), 3);
        array.write(s![..;2, 1..7;3], ndarray::arr0(9)).unwrap();
        model.slice_mut(ndarray::s![..;2, 1..7;3]).fill(9);
        array.write(s![3, ..], arr1(&[1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
        model.row_mut(3).assign(&arr1(&[1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), model.clone().into_dyn(), "{chain:?}");
        let part = model.slice(ndarray::s![1..;2, ..;-3]).to_owned().into_dyn();
        assert_eq!(array.read::<ArrayD<i32>>(s![1..;2, ..;-3]).unwrap(), part, "{chain:?}");
    }
}

#[test]
fn a_v2_filter_of_the_users_own_is_named_by_its_id() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let known =
        OpenOptions::new().format(Format::V2).registry(zarrox::codecs::registry().with_codec(&ADD_ONE));
    let builder = known.create_array((store.clone(), "a")).shape([2]).data_type(DataType::UInt8);
    let chain = [CodecSpec::new("example.add_one", Json::Null), CodecSpec::new("bytes", Json::Null)];
    builder.codecs(chain).create().unwrap().write(.., arr1(&[4_u8, 5])).unwrap();
    let zarray = store.get(&Key::new("a/.zarray").unwrap()).unwrap().unwrap();
    let zarray: Json = serde_json::from_slice(&zarray).unwrap();
    assert_eq!(zarray["filters"], json!([{"id": "add_one"}]));
    assert_eq!(store.get(&Key::new("a/0").unwrap()).unwrap().unwrap(), [5, 6].as_slice());
    let array = known.open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap(), arr1(&[4, 5]).into_dyn());
}

/// Stores every element minus a step of the configuration: an elementwise codec, so that parts of chunks can be decoded alone.
#[derive(Debug)]
struct Less {
    step: u8,
    chunk: ChunkSpec,
}

static LESS: CodecDef = CodecDef::new("example.less", CodecKind::ArrayToArray, |configuration, context| {
    let step = configuration.get("step").and_then(Json::as_u64).and_then(|step| u8::try_from(step).ok());
    let step = step.ok_or_else(|| CodecError::invalid("'step' should be a number below 256"))?;
    if *context.chunk.storage() != Storage::Uint(1) {
        return Err(CodecError::unsupported("it is for elements of uint8"));
    }
    let fill = context.chunk.fill().as_bytes().iter().map(|byte| byte.wrapping_sub(step)).collect::<Vec<_>>();
    let shape: Vec<u64> = context.chunk.shape().iter().map(|&length| length as u64).collect();
    let chunk = ChunkSpec::new(&shape, Storage::Uint(1), FillValue::new(fill))?;
    Ok(Codec::ArrayToArray(Box::new(Less { step, chunk })))
})
.v2_id("less");

impl Elementwise for Less {
    fn configuration(&self) -> Map {
        Map::from_iter([("step".to_owned(), self.step.into())])
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.chunk
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> std::result::Result<(), CodecError> {
        if decoded.contains(&13) {
            return Err(CodecError::invalid("13 brings bad luck"));
        }
        encoded.iter_mut().zip(decoded).for_each(|(to, from)| *to = from.wrapping_sub(self.step));
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> std::result::Result<(), CodecError> {
        if encoded.contains(&66) {
            return Err(CodecError::corrupt("66 is never stored"));
        }
        decoded.iter_mut().zip(encoded).for_each(|(to, from)| *to = from.wrapping_add(self.step));
        Ok(())
    }
}

/// Stores the elements from the last to the first.
#[derive(Debug)]
struct Backwards(ChunkSpec);

static BACKWARDS: CodecDef = CodecDef::new("example.backwards", CodecKind::ArrayToBytes, |_, context| {
    Ok(Codec::ArrayToBytes(Box::new(Backwards(context.chunk.clone()))))
})
.aliases(&["example.reverse"])
.v2_id("backwards");

impl ArrayToBytes for Backwards {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn encoded_size(&self) -> Size {
        Size::Exact(self.0.size())
    }

    fn decode(&self, encoded: &[u8], mut region: ReadRegion<'_>) -> std::result::Result<(), CodecError> {
        if encoded.len() != self.0.size() {
            return Err(CodecError::corrupt(format!("{} bytes are not a chunk", encoded.len())));
        }
        let elements: Vec<u8> = encoded.chunks_exact(self.0.item()).rev().flatten().copied().collect();
        region.copy_from(&View::contiguous(&elements, self.0.shape(), self.0.item()));
        Ok(())
    }

    fn encode(
        &self,
        chunk: &View<'_>,
        _: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> std::result::Result<bool, CodecError> {
        let mut elements = Vec::new();
        chunk.append_to(&mut elements, 1);
        encoded.extend(elements.chunks_exact(self.0.item()).rev().flatten());
        Ok(true)
    }
}

/// Appends a byte with the sum of all bytes.
#[derive(Debug)]
struct Sum;

static SUM: CodecDef =
    CodecDef::new("example.sum", CodecKind::BytesToBytes, |_, _| Ok(Codec::BytesToBytes(Box::new(Sum))))
        .v2_id("sum");

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

impl BytesToBytes for Sum {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.plus(1)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> std::result::Result<(), CodecError> {
        encoded.extend_from_slice(decoded);
        encoded.push(sum(decoded));
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> std::result::Result<usize, CodecError> {
        let bytes = match encoded.split_last() {
            Some((stored, bytes)) if *stored == sum(bytes) => bytes,
            _ => return Err(CodecError::corrupt("the sum is another")),
        };
        let room = decoded.len();
        decoded.get_mut(..bytes.len()).ok_or_else(|| CodecError::overflow(room))?.copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

fn with_all_kinds() -> Registry {
    zarrox::codecs::registry().with_codec(&LESS).with_codec(&BACKWARDS).with_codec(&SUM)
}

fn all_kinds(step: u8) -> [CodecSpec; 3] {
    [
        CodecSpec::new("example.less", json!({"step": step})),
        CodecSpec::new("example.backwards", Json::Null),
        CodecSpec::new("example.sum", Json::Null),
    ]
}

#[test]
fn codecs_of_all_three_kinds_of_the_users_own_in_v2_and_v3() {
    let options = OpenOptions::new().registry(with_all_kinds());
    for (format, document, key) in
        [(Format::V2, "a/.zarray", "a/0.0"), (Format::V3, "a/zarr.json", "a/c/0/0")]
    {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let builder = options.create_array((store.clone(), "a")).format(format).shape([3, 4]).chunks([2, 3]);
        let array =
            builder.data_type(DataType::UInt8).codecs(all_kinds(1)).fill_value(9_u8).create().unwrap();
        let data = Array2::from_shape_fn((3, 4), |(row, column)| u8::try_from(20 * row + column).unwrap());
        array.write(.., &data).unwrap();
        let stored = store.get(&Key::new(key).unwrap()).unwrap().unwrap();
        assert_eq!(stored, [21, 20, 19, 1, 0, 255, 60].as_slice(), "less, backwards, sum");
        let metadata = store.get(&Key::new(document).unwrap()).unwrap().unwrap();
        let metadata: Json = serde_json::from_slice(&metadata).unwrap();
        if format == Format::V2 {
            assert_eq!(metadata["filters"], json!([{"id": "less", "step": 1}, {"id": "backwards"}]));
            assert_eq!(metadata["compressor"], json!({"id": "sum"}));
        } else {
            assert_eq!(metadata["codecs"][0], json!({"name": "example.less", "configuration": {"step": 1}}));
        }
        let array = options.open((store.clone(), "a")).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<u8>>(..).unwrap(), data.clone().into_dyn());
        let part = data.slice(ndarray::s![..;2, 1..;2]).to_owned().into_dyn();
        assert_eq!(array.read::<ArrayD<u8>>(s![..;2, 1..;2]).unwrap(), part);
        array.write(s![1, 1..3], arr1(&[70_u8, 71])).unwrap();
        assert_eq!(array.read::<ArrayD<u8>>(s![1, ..]).unwrap(), arr1(&[20, 70, 71, 23]).into_dyn());
    }
}

#[test]
fn a_failing_codec_of_the_users_own_is_named() {
    let options = OpenOptions::new().registry(with_all_kinds());
    let create = |codecs: &[CodecSpec], data_type: DataType| {
        let builder =
            options.create_array((Arc::new(MemoryStore::new()), "a")).shape([4]).data_type(data_type);
        builder.codecs(codecs.to_vec()).create()
    };
    let says = |error: Error, parts: &[&str]| {
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let bad = [CodecSpec::new("example.less", json!({"step": 256})), CodecSpec::new("bytes", Json::Null)];
    says(create(&bad, DataType::UInt8).unwrap_err(), &["codec 'example.less': 'step' should be"]);
    says(create(&all_kinds(1), DataType::Int16).unwrap_err(), &["codec 'example.less': it is for elements"]);
    let twice = [&all_kinds(1)[..], &all_kinds(1)[1..2]].concat();
    says(create(&twice, DataType::UInt8).unwrap_err(), &["codec 'example.backwards' needs an array"]);

    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = options.create_array((store.clone(), "a")).shape([4]).data_type(DataType::UInt8);
    let array = builder.codecs(all_kinds(1)).create().unwrap();
    let unlucky = array.write(.., arr1(&[1_u8, 13, 2, 3])).unwrap_err();
    says(unlucky, &["codec 'example.less': 13 brings bad luck"]);
    array.write(.., arr1(&[1_u8, 2, 3, 67])).unwrap();
    let never = array.read::<ArrayD<u8>>(..).unwrap_err();
    assert_eq!(never.kind(), ErrorKind::Corrupt);
    says(never, &["codec 'example.less': 66 is never stored", "a/c/0"]);
    let key = Key::new("a/c/0").unwrap();
    for (damaged, parts) in [
        ([1, 2, 3, 4, 5].as_slice(), ["codec 'example.sum': the sum is another", "a/c/0"]),
        ([1, 2, 3, 6].as_slice(), ["codec 'example.backwards'", "3 bytes are not a chunk"]),
    ] {
        store.set(&key, damaged, Condition::Always).unwrap();
        let error = array.read::<ArrayD<u8>>(..).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        says(error, &parts);
    }
}

#[test]
fn two_codecs_of_one_name_are_an_error_wherever_it_is_met() {
    const fn sum_like(name: &'static str) -> CodecDef {
        CodecDef::new(name, CodecKind::BytesToBytes, |_, _| Ok(Codec::BytesToBytes(Box::new(Sum))))
    }
    static SAME_NAME: CodecDef = sum_like("example.sum").v2_id("other");
    static SAME_ALIAS: CodecDef = sum_like("example.reverse");
    static SAME_ID: CodecDef = sum_like("example.other").v2_id("sum");
    let two = |registry: Registry, name: &str, v2: bool| {
        let found = if v2 { registry.codec_from_v2(name, &Map::default()) } else { registry.codec(name) };
        found.is_err_and(|error| error.to_string() == format!("two registered codecs have the name '{name}'"))
    };
    assert!(two(with_all_kinds().with_codec(&SAME_NAME), "example.sum", false));
    assert!(two(with_all_kinds().with_codec(&SAME_ALIAS), "example.reverse", false));
    assert!(two(with_all_kinds().with_codec(&SAME_ID), "sum", true));
    let options = OpenOptions::new().registry(with_all_kinds().with_codec(&SAME_NAME));
    let builder = options.create_array((Arc::new(MemoryStore::new()), "a")).shape([4]);
    let error = builder.data_type(DataType::UInt8).codecs(all_kinds(1)).create().unwrap_err();
    assert!(error.to_string().contains("two registered codecs have the name 'example.sum'"), "{error}");
}

#[test]
fn arrays_of_unknown_codecs_are_opened_for_their_metadata_and_refuse_their_elements() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array =
        zarrox::create_array(&path).shape([4]).chunks([2]).data_type(DataType::UInt8).create().unwrap();
    array.write(.., arr1(&[1_u8, 2, 3, 4])).unwrap();
    let document = path.join("zarr.json");
    let with_unknown = std::fs::read_to_string(&document).unwrap().replace("\"zstd\"", "\"nosuch\"");
    std::fs::write(&document, with_unknown).unwrap();
    assert_eq!(zarrox::open(&path).unwrap_err().kind(), ErrorKind::Unsupported);
    let looking = OpenOptions::new().metadata_only(true);
    let mut array = looking.open(&path).unwrap().into_array().unwrap();
    assert_eq!(array.unreadable(), Some("unknown codec 'nosuch'"));
    assert_eq!(array.codecs()[1].name, "nosuch");
    let info = array.info().unwrap();
    assert_eq!((info.chunks_stored, info.chunk_bytes), (2, Some(4)));
    assert!(array.read::<ArrayD<u8>>(..).unwrap_err().to_string().contains("unknown codec 'nosuch'"));
    assert_eq!(array.write(.., arr1(&[0_u8; 4])).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(path.join("c/0").exists(), "not even fill values are written");
    array.update_attributes(|attributes| drop(attributes.insert("a".to_owned(), json!(1)))).unwrap();
    assert_eq!(looking.open(&path).unwrap().attributes()["a"], 1);
    let new = looking.create_array(directory.path().join("b.zarr")).shape([4]).data_type(DataType::UInt8);
    let refused = new.compressor(CodecSpec::new("nosuch", Json::Null)).create();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported, "no unreadable array is created");
}
